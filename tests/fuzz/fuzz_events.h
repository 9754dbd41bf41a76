/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_EVENTS_H
#define FUZZ_EVENTS_H

/* Endpoints of the store of fuzz_store.h, which receive its events. */

#include "fuzz_store.h"

static inline void fuzz_events_endpoints(void)
{
    pay_endpoint_t wanted = {
        .scope = fuzz_store.scope, .enabled = 1, .address = "there", .secret = "sealed"};
    pay_endpoint_t *endpoint;
    int kind;

    for (kind = PAY_ENDPOINT_WEBHOOK; kind <= PAY_ENDPOINT_KIND_LAST; kind++) {
        wanted.kind = (pay_endpoint_kind_t)kind;
        CHECK(pay_store_endpoint_put(&endpoint, fuzz_store.store, &wanted, NULL, fuzz_store.pool)
              == APR_SUCCESS);
    }
}

#endif
