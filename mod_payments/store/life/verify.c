/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include "store/lmdb/open.h"

#include <apr_strings.h>

static void fault_ignore(void *baton, const char *text)
{
    (void)baton;
    (void)text;
}

/* `reason` of what is wrong with an open store, APR_SUCCESS if nothing is. */
static apr_status_t verify_open(const char **reason, pay_store_t *db, apr_pool_t *p)
{
    apr_size_t faults = 0;
    apr_status_t rv;
    int agree;

    rv = pay_lmdb_pages_agree(&agree, db);
    if (rv == APR_SUCCESS && !agree) {
        *reason = "another process still has the previous content of data.mdb open";
        return PAY_STORE_EDOWN;
    }
    if (rv == APR_SUCCESS) {
        rv = pay_lmdb_pages_touch(db);
    }
    if (rv == APR_SUCCESS) {
        rv = pay_store_check(&faults, db, fault_ignore, NULL, p);
    }
    if (rv == APR_SUCCESS && faults > 0) {
        *reason = apr_psprintf(p, "the check found %" APR_SIZE_T_FMT " faults", faults);
        return PAY_STORE_ECORRUPT;
    }
    if (rv != APR_SUCCESS) {
        *reason = pay_store_status_text(rv);
    }
    return rv;
}

apr_status_t pay_lmdb_verify(const char **reason, const char *path,
                             const pay_store_options_t *options, apr_pool_t *p)
{
    pay_store_options_t looking = *options;
    apr_status_t rv;
    pay_store_t db;

    *reason = pay_lmdb_path_fault(path);
    if (*reason) {
        return APR_EINVAL;
    }
    looking.create = 0;
    looking.read_only = 1;
    looking.shared = NULL;
    looking.mark = NULL; /* it is set, and refuses all other uses */
    pay_lmdb_handle_init(&db, apr_pstrdup(p, path), &looking);
    rv = pay_store_ready(reason, &db, p);
    if (rv == APR_SUCCESS) {
        rv = verify_open(reason, &db, p);
    }
    (void)pay_lmdb_handle_close(&db);
    pthread_mutex_destroy(&db.mutex);
    return rv;
}
