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
 * 0: Live, one that the acquirer opened no page for has failed at once: nobody can ever pay it. One
 * of another state had a page, also where that was blanked since, with what is known of its payer.
 */
int pay_checkout_was_opened(const pay_charge_t *charge);

#endif
