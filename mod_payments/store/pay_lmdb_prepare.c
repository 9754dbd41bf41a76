/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_env.h"

#include "store/pay_lmdb_open.h"

#include <apr_strings.h>
#include <string.h>
#include <unistd.h>

apr_status_t pay_lmdb_prepare(const char **reason, const char *path,
                              const pay_store_options_t *options, apr_uid_t uid, apr_gid_t gid,
                              apr_pool_t *p)
{
    pay_store_options_t creating = *options;
    pay_lmdb_reason_t text;
    apr_status_t rv;
    pay_lmdb_t db;

    *reason = pay_lmdb_path_fault(path);
    if (*reason) {
        return APR_EINVAL;
    }
    creating.create = 1;
    creating.read_only = 0;
    pay_lmdb_handle_init(&db, apr_pstrdup(p, path), &creating);
    rv = pay_lmdb_ready(reason, &db.store, p);
    (void)pay_lmdb_handle_close(&db); /* no environment may live across the fork that follows */
    pthread_mutex_destroy(&db.mutex);
    if (rv != APR_SUCCESS || geteuid() != 0) {
        return rv;
    }
    text.text[0] = '\0';
    rv = pay_lmdb_place_give(db.path, uid, gid, &text);
    if (rv != APR_SUCCESS) {
        *reason = apr_pstrdup(p, text.text);
    }
    return rv;
}
