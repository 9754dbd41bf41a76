/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include "store/lmdb/open.h"
#include "store/record/limits.h"
#include "store/record/rows.h"

#include <apr_strings.h>

apr_status_t pay_lmdb_prepare(const char **reason, const char *path,
                              const pay_store_options_t *options, apr_pool_t *p)
{
    pay_store_options_t creating = *options;
    apr_status_t rv;
    pay_store_t db;

    *reason = pay_lmdb_path_fault(path);
    if (*reason) {
        return APR_EINVAL;
    }
    creating.create = 1;
    creating.read_only = 0;
    pay_lmdb_handle_init(&db, apr_pstrdup(p, path), &creating);
    rv = pay_store_ready(reason, &db, p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_limits_put(&db, &creating, p);
        if (rv == APR_SUCCESS) {
            rv = pay_store_rows_prepare(&db, p);
        }
        if (rv != APR_SUCCESS) {
            *reason = pay_store_status_text(rv);
        }
    }
    (void)pay_lmdb_handle_close(&db); /* who uses it opens it without `create` */
    pthread_mutex_destroy(&db.mutex);
    return rv;
}
