/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHARGE_CHARGE_RULES_H
#define PAY_SERVICE_CHARGE_CHARGE_RULES_H

#include "model/charge_request.h"
#include "service/service.h"

/*
 * What account, configuration and token (of `look`) allow of a charge whose reference is new. NULL:
 * it may be made, of *card (empty where the acquirer alone knows the token); else 403, 400 with
 * every field at fault, or the store's trouble.
 */
const pay_problem_t *pay_charge_judge(const pay_card_t **card, const pay_service_t *service,
                                      const pay_caller_t *caller,
                                      const pay_charge_request_t *request,
                                      const pay_charge_look_t *look, apr_pool_t *p);
/* The token to look up with the reference; NULL: the request's is known without the store. */
const char *pay_charge_stored_token(const pay_charge_request_t *request);

/* 1 when PaymentsCurrencies allows it. */
int pay_charge_currency_is_allowed(const pay_service_t *service, const char *currency);

/*
 * By which the acquirer of `mode` will know what has this reference of the shop's; "": by that
 * reference itself, as Test Mode's does, which decides inside of this process. APR_EINVAL, logged:
 * the account has no secret.
 */
apr_status_t pay_charge_acquirer_name(const char **out, const pay_account_t *account,
                                      pay_mode_t mode, const char *reference, apr_pool_t *p);

#endif
