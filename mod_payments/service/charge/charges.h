/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHARGE_CHARGES_H
#define PAY_SERVICE_CHARGE_CHARGES_H

#include "model/charge_request.h"
#include "service/service.h"

/*
 * Makes a charge, or returns the one that already has its reference (docs/api.md, "Charges"). NULL:
 * *out is the charge, *replayed is 1 if it was decided by an earlier request. The charge is durable
 * as pending before the acquirer is called; after that call the result is never a problem. An
 * Idempotency-Key that belongs to a charge with another reference is 409 D1. `request_ip` is the
 * payer-side address for the record.
 */
const pay_problem_t *pay_charge_create(pay_charge_t **out, int *replayed, pay_service_t *service,
                                       const pay_caller_t *caller,
                                       const pay_charge_request_t *request, const char *request_ip,
                                       apr_pool_t *p);

#endif
