/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CHECKOUT_ANSWER_H
#define PAY_MODEL_CHECKOUT_ANSWER_H

/* The answer to the requests that make a checkout (docs/api.md, "Checkouts"). Pure. */

#include "model/checkout.h"

struct pay_writer_t;

/* `page_url`: the hosted page, absolute. `public_key`: the caller's own; "" for a secret key. */
void pay_checkout_answer_to_json(struct pay_writer_t *w, const pay_charge_t *charge,
                                 const char *page_url, const char *public_key);

/*
 * Returns 0 for a Live Mode checkout that failed at once because the acquirer opened no page:
 * nobody can ever pay it. One in another state had a page, even if its address was erased with the
 * data of its payer.
 */
int pay_checkout_was_opened(const pay_charge_t *charge);

#endif
