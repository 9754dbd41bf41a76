/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CHARGE_RULES_H
#define PAY_CHARGE_RULES_H

#include "model/pay_charge_request.h"
#include "service/pay_service.h"

/*
 * What account, configuration and token allow of a charge whose reference is new. NULL: it may be
 * made, of *card (empty where the acquirer alone knows the token); else 403, 400 with every field
 * at fault, or the store's trouble.
 */
const pay_problem_t *pay_charge_judge(const pay_card_t **card, const pay_service_t *service,
                                      const pay_caller_t *caller,
                                      const pay_charge_request_t *request, apr_pool_t *p);

#endif
