/* SPDX-License-Identifier: Apache-2.0 */
#include "service/checkout_token.h"

#include "base/text/id.h"

#define TOKEN_PREFIX "tok_"

const pay_problem_t *pay_checkout_token_draw(pay_outcome_t *outcome, const pay_charge_t *charge,
                                             apr_pool_t *p)
{
    apr_status_t rv;

    if (charge->kind != PAY_CHARGE_CHECKOUT || charge->scope.mode != PAY_TEST
        || charge->channel != PAY_CHANNEL_CARD || outcome->kind != PAY_OUTCOME_APPROVED) {
        return NULL;
    }
    rv = pay_id_make(&outcome->token, TOKEN_PREFIX, PAY_KEY_BITS, p);
    return rv == APR_SUCCESS ? NULL : pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
}
