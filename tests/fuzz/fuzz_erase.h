/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_ERASE_H
#define FUZZ_ERASE_H

/* Searches in the store of fuzz_store.h, and erasing. */

#include "fuzz_store.h"

#define FUZZ_STEPS_MAX 1000

/* ECORRUPT only if the check found a fault; each search comes to an end. */
static inline void fuzz_erase_search(apr_size_t faults, apr_pool_t *p)
{
    const pay_charge_filter_t filter = {.email = "ada@example.com",
                                        .range = {APR_INT64_MIN, APR_INT64_MAX}};
    pay_charge_cursor_t cursor = {.done = 0};
    pay_page_cursor_t place = {.done = 0};
    apr_status_t rv = APR_SUCCESS;
    apr_array_header_t *list;
    pay_waiting_t waiting;
    int steps;

    for (steps = 0; rv == APR_SUCCESS && !cursor.done; steps++) {
        CHECK(steps < FUZZ_STEPS_MAX);
        rv = pay_store_charge_search(&list, &cursor, fuzz_store.store, &fuzz_store.scope, &filter,
                                     1, p);
    }
    CHECK(rv == APR_SUCCESS || (rv == PAY_STORE_ECORRUPT && faults > 0));
    rv = APR_SUCCESS;
    for (steps = 0; rv == APR_SUCCESS && !place.done; steps++) {
        CHECK(steps < FUZZ_STEPS_MAX);
        rv = pay_store_refund_page(&list, &place, fuzz_store.store, &fuzz_store.scope,
                                   &filter.range, 1, p);
    }
    CHECK(rv == APR_SUCCESS || (rv == PAY_STORE_ECORRUPT && faults > 0));
    rv = pay_store_waiting_count(&waiting, fuzz_store.store, &fuzz_store.scope, FUZZ_STEPS_MAX);
    CHECK(rv == APR_SUCCESS || (rv == PAY_STORE_ECORRUPT && faults > 0));
}

/* Erases a payer, then empties the scope: either ends, or stops at a damaged row. */
static inline void fuzz_erase_all(apr_pool_t *p)
{
    pay_erasure_t erasure = {.done = 0};
    pay_reset_t reset = {.done = 0};
    apr_status_t rv = APR_SUCCESS;
    int steps;

    for (steps = 0; rv == APR_SUCCESS && !erasure.done; steps++) {
        CHECK(steps < FUZZ_STEPS_MAX);
        rv = pay_store_payer_erase(&erasure, fuzz_store.store, &fuzz_store.scope, "ada@example.com",
                                   p);
    }
    rv = APR_SUCCESS;
    for (steps = 0; rv == APR_SUCCESS && !reset.done; steps++) {
        CHECK(steps < FUZZ_STEPS_MAX);
        rv = pay_store_scope_reset(&reset, fuzz_store.store, &fuzz_store.scope, p);
    }
}

#endif
