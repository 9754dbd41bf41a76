/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHARGE_CHARGE_RULES_H
#define PAY_SERVICE_CHARGE_CHARGE_RULES_H

#include "model/charge_request.h"
#include "service/service.h"

/*
 * Judges a charge with a new reference by account, configuration and token (of `look`). Returns
 * NULL if it may be made, with *card (empty if only the acquirer knows the token); else 403, 400
 * with every field at fault, or a problem of the store.
 */
const pay_problem_t *pay_charge_judge(const pay_card_t **card, const pay_service_t *service,
                                      const pay_caller_t *caller,
                                      const pay_charge_request_t *request,
                                      const pay_charge_look_t *look, apr_pool_t *p);
/*
 * Returns the token to look up with the reference; NULL: the request's is known without the store.
 */
const char *pay_charge_stored_token(const pay_charge_request_t *request);

/* Returns 1 if PaymentsCurrencies allows it. */
int pay_charge_currency_is_allowed(const pay_service_t *service, const char *currency);

/*
 * Makes the name by which the acquirer of `mode` will know the payment with this reference of the
 * shop; "": the reference itself, as for Test Mode's, which decides inside of this process.
 * APR_EINVAL, logged: the account has no secret.
 */
apr_status_t pay_charge_acquirer_name(const char **out, const pay_account_t *account,
                                      pay_mode_t mode, const char *reference, apr_pool_t *p);

#endif
