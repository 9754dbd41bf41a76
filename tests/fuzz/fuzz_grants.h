/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_GRANTS_H
#define FUZZ_GRANTS_H

/* The grant that the store of fuzz_store.h holds, and what is done to grants. */

#include "fuzz_store.h"

#include "base/pay_writer.h"
#include "store/pay_lmdb_grant.h"

#define FUZZ_HOST "pay.example.com"
#define FUZZ_USER "ada"

static inline void fuzz_grants_make(void)
{
    pay_grant_verdict_t verdict;
    pay_grant_t *grant;

    CHECK(fuzz_store.ops->grant_put(&grant, &verdict, fuzz_store.store, "shop", FUZZ_HOST,
                                    FUZZ_USER, PAY_ROLE_OWNER, 0, fuzz_store.pool)
          == APR_SUCCESS);
    CHECK(verdict == PAY_GRANT_DONE);
}

/* A grant that decodes is written as it was, and its host and user are what grants are given to. */
static inline void fuzz_grants_decode(const MDB_val *key, const MDB_val *row, apr_pool_t *p)
{
    pay_grant_t *grant, *again;
    const char *host;
    MDB_val written;
    int rc;

    rc = pay_lmdb_grant_decode(&grant, key, row, p);
    CHECK(rc == 0 || rc == PAY_LMDB_BAD_ROW);
    CHECK((rc == 0) == (grant != NULL));
    if (rc) {
        return;
    }
    CHECK(grant->role >= PAY_ROLE_VIEWER && grant->role <= PAY_ROLE_LAST);
    CHECK(pay_grant_host(&host, grant->host, p) == APR_SUCCESS && !strcmp(host, grant->host));
    CHECK(pay_grant_user_check(grant->user) == APR_SUCCESS);
    CHECK(pay_lmdb_grant_encode(&written, grant, p) == 0);
    CHECK(((const unsigned char *)row->mv_data)[1] != ((const unsigned char *)written.mv_data)[1]
          || (row->mv_size == written.mv_size
              && !memcmp(row->mv_data, written.mv_data, row->mv_size)));
    CHECK(pay_lmdb_grant_decode(&again, key, &written, p) == 0);
}

/* What is read is a grant; ECORRUPT only where the check found a fault. */
static inline void fuzz_grants_read(apr_size_t faults, apr_pool_t *p)
{
    const pay_store_ops_t *ops = fuzz_store.ops;
    apr_array_header_t *grants;
    pay_grant_t *grant;
    apr_status_t rv;
    int i;

    rv = ops->grant_get(&grant, fuzz_store.store, "shop", FUZZ_HOST, FUZZ_USER, p);
    CHECK(rv == APR_SUCCESS || rv == APR_NOTFOUND || (rv == PAY_STORE_ECORRUPT && faults > 0));
    rv = ops->grant_list_user(&grants, fuzz_store.store, FUZZ_HOST, FUZZ_USER, p);
    CHECK(rv == APR_SUCCESS || (rv == PAY_STORE_ECORRUPT && faults > 0));
    rv = ops->grant_list(&grants, fuzz_store.store, "shop", p);
    CHECK(rv == APR_SUCCESS || rv == APR_NOTFOUND || (rv == PAY_STORE_ECORRUPT && faults > 0));
    for (i = 0; rv == APR_SUCCESS && i < grants->nelts; i++) {
        pay_grant_to_json(pay_writer_make(0, p), NULL, APR_ARRAY_IDX(grants, i, pay_grant_t *));
    }
}

/* Whatever these answer, nothing ends the process. */
static inline void fuzz_grants_write(apr_pool_t *p)
{
    const pay_store_ops_t *ops = fuzz_store.ops;
    pay_grant_verdict_t verdict;
    pay_grant_t *grant;

    (void)ops->grant_put(&grant, &verdict, fuzz_store.store, "shop", FUZZ_HOST, FUZZ_USER,
                         PAY_ROLE_VIEWER, 1, p);
    (void)ops->grant_delete(&verdict, fuzz_store.store, "shop", FUZZ_HOST, FUZZ_USER, 1, p);
    (void)ops->grant_delete(&verdict, fuzz_store.store, "shop", FUZZ_HOST, FUZZ_USER, 0, p);
}

#endif
