/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_CHECKOUTS_H
#define FUZZ_CHECKOUTS_H

/* The checkout in the store of fuzz_store.h, and operations on it. */

#include "fuzz_page.h"
#include "fuzz_store.h"

#include "store/payment/charge.h"
#include "store/payment/checkout.h"

/* Decodes a checkout and encodes it again, into *written. Returns 0 if it does not decode, or is
 * under a key that no charge has. */
static inline int fuzz_checkouts_decode(pay_bytes_t *written, const pay_bytes_t *key,
                                        const pay_bytes_t *row, apr_pool_t *p)
{
    pay_checkout_t *checkout;
    int rc;

    rc = pay_store_checkout_decode(&checkout, key, row, p);
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK((rc == 0) == (checkout != NULL));
    if (rc || key->len != PAY_STORE_CHARGE_KEY_LEN) {
        return 0;
    }
    CHECK(pay_page_id_is(checkout->page_id));
    CHECK((unsigned int)checkout->step < PAY_CHECKOUT_STEP_COUNT);
    CHECK(pay_store_checkout_encode(written, checkout, p) == 0);
    return 1;
}

/* Moves the checkout on; any result is allowed, but nothing may end the process. */
static inline void fuzz_checkouts_move(apr_uint64_t seq, pay_checkout_step_t from,
                                       pay_checkout_step_t to, apr_time_t now, apr_pool_t *p)
{
    const pay_checkout_move_t move = {.from = from,
                                      .to = to,
                                      .now = now,
                                      .channel = PAY_CHANNEL_CARD,
                                      .due_at = to == PAY_CHECKOUT_SENT ? FUZZ_NOW : 0};
    pay_charge_t *charge;
    int changed;

    (void)pay_store_checkout_move(&charge, &changed, fuzz_store.store, &fuzz_store.scope, seq,
                                  &move, p);
}

/* Finds it by its page (ECORRUPT only if the check found a fault), then pays or expires it. */
static inline void fuzz_checkouts_use(apr_size_t faults, apr_pool_t *p)
{
    pay_store_page_t page;
    pay_charge_t *charge;
    apr_status_t rv;

    rv = pay_store_page_find(&page, fuzz_store.store, fuzz_page.page_id, p);
    CHECK(rv == APR_SUCCESS || rv == APR_NOTFOUND || (rv == PAY_STORE_ECORRUPT && faults > 0));
    CHECK(rv != APR_SUCCESS || !page.charge != !page.link);
    CHECK(rv != APR_SUCCESS || !page.charge || page.charge->checkout);
    if (pay_store_charge_find(&charge, fuzz_store.store, &fuzz_store.scope, "checkout", p)
        == APR_SUCCESS) {
        fuzz_checkouts_move(charge->seq, PAY_CHECKOUT_OPEN, PAY_CHECKOUT_SENT, FUZZ_NOW - 1, p);
        fuzz_checkouts_move(charge->seq, PAY_CHECKOUT_OPEN, PAY_CHECKOUT_EXPIRED, FUZZ_NOW, p);
        fuzz_checkouts_move(charge->seq, PAY_CHECKOUT_SENT, PAY_CHECKOUT_CANCELLED, FUZZ_NOW - 1,
                            p);
    }
}

#endif
