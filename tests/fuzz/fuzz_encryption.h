/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_ENCRYPTION_H
#define FUZZ_ENCRYPTION_H

/* The encryption key of the store of fuzz_store.h. */

#include "fuzz_store.h"
#include "store/account/encryption_key.h"

static inline void fuzz_encryption_key(void)
{
    const pay_encryption_key_t wanted = {
        .scope = fuzz_store.scope, .public_pem = "public", .sealed = "sealed"};
    pay_encryption_key_t *made;

    CHECK(pay_store_encryption_key_put(&made, fuzz_store.store, &wanted, 0, fuzz_store.pool)
          == APR_SUCCESS);
}

/* Returns 1 if the row decodes; `written` is then its encoding. */
static inline int fuzz_encryption_decode(pay_bytes_t *written, const pay_bytes_t *key,
                                         const pay_bytes_t *row, apr_pool_t *p)
{
    pay_bytes_t at = *key, stored;
    pay_encryption_key_t *record;
    pay_rows_txn_t txn;
    int rc;

    rc = pay_store_encryption_key_decode(&record, key, row, p);
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK((rc == 0) == (record != NULL));
    if (rc) {
        return 0;
    }
    txn = fuzz_store_begin(0);
    CHECK(pay_store_encryption_key_store(&txn, record, p) == 0);
    CHECK(pay_rows_get(&stored, &txn, PAY_TABLE_ENCRYPTION_KEY, &at) == 0);
    written->len = stored.len;
    written->data = apr_pmemdup(p, stored.data, stored.len);
    mdb_txn_abort(txn.native);
    return 1;
}

static inline apr_status_t fuzz_encryption_read(apr_pool_t *p)
{
    pay_encryption_key_t *record;
    apr_array_header_t *list;
    apr_status_t rv;

    rv = pay_store_encryption_key_get(&record, fuzz_store.store, &fuzz_store.scope, p);
    CHECK((rv == APR_SUCCESS) == (record != NULL));
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return rv;
    }
    return pay_store_encryption_key_list(&list, fuzz_store.store, NULL, 100, p);
}

static inline void fuzz_encryption_write(apr_pool_t *p)
{
    const pay_encryption_key_t wanted = {
        .scope = fuzz_store.scope, .public_pem = "p", .sealed = "s"};
    pay_encryption_key_t *record;
    int changed;

    (void)pay_store_encryption_key_reseal(&changed, fuzz_store.store, &fuzz_store.scope, "sealed",
                                          "anew", p);
    (void)pay_store_encryption_key_put(&record, fuzz_store.store, &wanted, 0, p);
}

#endif
