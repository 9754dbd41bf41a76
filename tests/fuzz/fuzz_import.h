/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_IMPORT_H
#define FUZZ_IMPORT_H

/* The imported history in the store of fuzz_store.h. */

#include "fuzz_store.h"

/* A record of history, imported under the name "kept". */
static inline void fuzz_import_make(void)
{
    pay_refund_t record = {.id = "kept",
                           .refund_reference = "kept",
                           .scope = fuzz_store.scope,
                           .money = {500, "NGN"},
                           .channel = "dashboard",
                           .merchant_note = "returned",
                           .state = PAY_REFUND_PROCESSED,
                           .transaction_reference = "known",
                           .created_at = APR_TIME_C(1767323045678000),
                           .updated_at = APR_TIME_C(1767323045678000)};
    apr_array_header_t *records = apr_array_make(fuzz_store.pool, 1, sizeof(pay_refund_t *));
    pay_import_t import;
    int at;

    APR_ARRAY_PUSH(records, pay_refund_t *) = &record;
    CHECK(pay_store_import_begin(&import, fuzz_store.store, &fuzz_store.scope, fuzz_store.pool)
          == APR_SUCCESS);
    CHECK(pay_store_import_rows(&import, &at, fuzz_store.store, records, fuzz_store.pool)
          == APR_SUCCESS);
    CHECK(pay_store_import_finish(&import, fuzz_store.store, fuzz_store.pool) == APR_SUCCESS);
}

#endif
