/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include "store/lmdb/open.h"

#include <apr_strings.h>

/*
 * Schema version 1 is the first, so there is nothing older to bring up to date: what remains is to
 * tell a store of this version from one that a newer program wrote, and both are left as they are.
 */
apr_status_t pay_lmdb_upgrade(const char **text, const char *path,
                              const pay_store_options_t *options, int dry_run, apr_pool_t *p)
{
    pay_store_options_t looking = *options;
    apr_status_t rv;
    pay_store_t db;

    (void)dry_run; /* nothing is written either way */
    *text = pay_lmdb_path_fault(path);
    if (*text) {
        return APR_EINVAL;
    }
    looking.create = 0;
    pay_lmdb_handle_init(&db, apr_pstrdup(p, path), &looking);
    rv = pay_store_ready(text, &db, p);
    (void)pay_lmdb_handle_close(&db);
    pthread_mutex_destroy(&db.mutex);
    if (rv == APR_SUCCESS) {
        *text = apr_psprintf(p,
                             "store %s has schema version %u, which this program uses: nothing "
                             "to do",
                             db.path, (unsigned int)PAY_STORE_SCHEMA_VERSION);
    }
    return rv;
}
