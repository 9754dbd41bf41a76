/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_ORDER_H
#define PAY_MODEL_ORDER_H

/*
 * Orders: checkouts as the clients of another published API make them and ask for them
 * (docs/api.md, "Orders"). Pure.
 */

#include "model/checkout.h"
#include "model/fee_request.h"

struct pay_json_t;
struct pay_problem_t;
struct pay_writer_t;

/*
 * The answer to order/create. `page_url`: the hosted page, absolute. Every member that a strict
 * decoder of a published client wants is there, if only "", 0 or null. PAY_VIEW_PUBLIC tells
 * nothing of the payer: whoever has a public key may name another's order, and be answered with it.
 */
void pay_order_created_to_json(struct pay_writer_t *w, const pay_charge_t *charge,
                               const pay_account_t *account, const char *page_url, pay_view_t view);

/* The answer to order/fee. */
void pay_order_fee_to_json(struct pay_writer_t *w, const pay_fee_request_t *request,
                           apr_int64_t fee_minor);

/* The reference that order/verify and order/status name; NULL and *out set, or a problem. */
const struct pay_problem_t *
pay_order_reference_from_json(const char **out, const struct pay_json_t *body, apr_pool_t *p);

/*
 * What became of an order. Its words are "Successful", "Pending" and "Failed", which one that was
 * given back is too; totalAmountCharged is 0 unless the shop has the money, because clients look at
 * it alone. fee is 0: clients subtract it from that, because to them it is what the payer paid on
 * top. PAY_VIEW_PUBLIC tells nothing of the payer.
 */
void pay_order_state_to_json(struct pay_writer_t *w, const pay_charge_t *charge, pay_view_t view);

#endif
