/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_ORDER_H
#define PAY_MODEL_ORDER_H

/*
 * Orders: checkouts as the clients of another published API make and query them (docs/api.md,
 * "Orders"). Pure.
 */

#include "model/checkout.h"
#include "model/fee_request.h"

struct pay_json_t;
struct pay_problem_t;
struct pay_writer_t;

/*
 * Writes the answer to order/create. `page_url`: the hosted page, absolute. Every member that a
 * strict decoder of a published client expects is present, if only as "", 0 or null.
 * PAY_VIEW_PUBLIC contains nothing of the payer: anyone who has a public key may name another's
 * order and get this answer.
 */
void pay_order_created_to_json(struct pay_writer_t *w, const pay_charge_t *charge,
                               const pay_account_t *account, const char *page_url, pay_view_t view);

/* Writes the answer to order/fee. */
void pay_order_fee_to_json(struct pay_writer_t *w, const pay_fee_request_t *request,
                           apr_int64_t fee_minor);

/*
 * Reads the reference that order/verify and order/status name; returns NULL and sets *out, or
 * returns a problem.
 */
const struct pay_problem_t *
pay_order_reference_from_json(const char **out, const struct pay_json_t *body, apr_pool_t *p);

/*
 * Writes the state of an order. Its words are "Successful", "Pending" and "Failed", which includes
 * refunded ones; totalAmountCharged is 0 unless the shop has the money, because clients look at it
 * alone. fee is 0: clients subtract it from the total, because to them it is an amount that the
 * payer paid on top. PAY_VIEW_PUBLIC contains nothing of the payer.
 */
void pay_order_state_to_json(struct pay_writer_t *w, const pay_charge_t *charge, pay_view_t view);

#endif
