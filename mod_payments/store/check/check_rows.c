/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/payment/checkout.h"
#include "store/record/rows.h"
#include "store/record/rows_count.h"
#include "store/rows_scan.h"

#include <string.h>

/* A damaged checkout is told with its table, and makes the number unsure. */
static int count_strangers(apr_uint64_t *out, int *unsure, pay_store_check_t *check,
                           const pay_scope_t *scope)
{
    pay_checkout_t *checkout;
    pay_store_key_t prefix;
    pay_rows_scan_t scan =
        pay_rows_scan(check->txn, PAY_TABLE_CHECKOUT, &prefix, NULL, PAY_ROWS_FROM);
    apr_pool_t *row_pool;
    MDB_val key, row;
    int rc;

    *out = 0;
    *unsure = 0;
    apr_pool_create(&row_pool, check->ptemp);
    pay_store_key_of_scope(&prefix, scope);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc) {
        if (pay_store_checkout_decode(&checkout, &key, &row, row_pool) != MDB_SUCCESS) {
            *unsure = 1;
        } else if (checkout->stranger) {
            (*out)++;
        }
        apr_pool_clear(row_pool);
        rc = pay_rows_next(&key, &row, &scan);
    }
    apr_pool_destroy(row_pool);
    return pay_rows_scan_end(&scan, rc);
}

int pay_store_check_rows(pay_store_check_t *check, const MDB_val *key, const pay_scope_t *scope,
                         const pay_store_scope_t *last)
{
    apr_uint64_t rows, strangers;
    int rc, unsure;

    if (last->rows_told == 0) { /* not counted since an earlier version wrote it */
        return MDB_SUCCESS;
    }
    rc = pay_store_rows_count(&rows, check->txn, scope);
    if (!rc) {
        rc = count_strangers(&strangers, &unsure, check, scope);
    }
    if (rc) {
        return rc;
    }
    if (rows != last->rows_told - 1) {
        pay_store_check_fault(check, PAY_TABLE_SCOPE, key,
                              "counts %" APR_UINT64_T_FMT
                              " idempotency records, events, tokens, links and checkouts, there "
                              "are %" APR_UINT64_T_FMT,
                              last->rows_told - 1, rows);
    }
    if (!unsure && strangers != last->strangers) {
        pay_store_check_fault(check, PAY_TABLE_SCOPE, key,
                              "counts %" APR_UINT64_T_FMT
                              " unpaid checkouts of public keys and links, there are "
                              "%" APR_UINT64_T_FMT,
                              last->strangers, strangers);
    }
    return MDB_SUCCESS;
}
