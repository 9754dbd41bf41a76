/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_FEE_REQUEST_H
#define PAY_MODEL_FEE_REQUEST_H

/* A request for the fee of a charge (docs/api.md, "Fees"). Pure. */

#include "model/charge.h"

struct pay_json_t;
struct pay_problem_t;
struct pay_writer_t;

typedef struct pay_fee_request_t {
    pay_money_t money;
    pay_channel_t channel; /* card if not given */
} pay_fee_request_t;

/*
 * Sets *out from a request's body: amount, currency, and the channel under any of the names that
 * clients use. `default_currency` is the account's. Returns NULL, or a problem that lists every
 * member at fault.
 */
const struct pay_problem_t *pay_fee_request_from_json(pay_fee_request_t *out,
                                                      const struct pay_json_t *body,
                                                      const char *default_currency, apr_pool_t *p);

/* Writes the answer to transaction-fee: the whole envelope. */
void pay_fee_to_json(struct pay_writer_t *w, const pay_fee_request_t *request,
                     apr_int64_t fee_minor);

#endif
