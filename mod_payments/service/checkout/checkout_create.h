/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHECKOUT_CHECKOUT_CREATE_H
#define PAY_SERVICE_CHECKOUT_CHECKOUT_CREATE_H

#include "model/checkout_request.h"
#include "service/service.h"

#define PAY_CHECKOUT_LIFETIME_DEFAULT apr_time_from_sec(3600)
#define PAY_PAGE_RETURN_SUFFIX ".return" /* after a page's id: where Live Mode's payer returns */

/*
 * Makes a checkout: a pending charge with a page. `page_root`: the absolute URL in front of the
 * page's id. Idempotent on the reference, and by Idempotency-Key, like a charge: *replayed is 1 for
 * one that was made before, or that the payer of a link that can be paid once has begun to pay. 409
 * D1, D2, for a link V2; 404 N1: there is no such link; 400 on /amount, /currency; 403 B02 while
 * live work is off; 501 I1 if the acquirer of Live Mode has no pages. In Live Mode the acquirer is
 * called once; if it opens no page, *out has failed.
 */
const pay_problem_t *pay_checkout_create(const pay_charge_t **out, int *replayed,
                                         pay_service_t *service, const pay_caller_t *caller,
                                         const pay_checkout_request_t *request,
                                         const char *page_root, const char *request_ip,
                                         apr_pool_t *p);

#endif
