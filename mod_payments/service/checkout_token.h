/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHECKOUT_TOKEN_H
#define PAY_SERVICE_CHECKOUT_TOKEN_H

#include "service/service.h"

/*
 * Draws the token for the payer of a checkout if the outcome approves one that was paid by card in
 * Test Mode; in Live Mode the acquirer's own token counts. Called before the transaction that
 * stores the outcome. 500 if there is no randomness.
 */
const pay_problem_t *pay_checkout_token_draw(pay_outcome_t *outcome, const pay_charge_t *charge,
                                             apr_pool_t *p);

#endif
