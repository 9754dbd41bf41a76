/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHECKOUT_LINKS_H
#define PAY_SERVICE_CHECKOUT_LINKS_H

/* Payment links: made, found and disabled for paymentsctl and the dashboard, which leaves an entry
 * in the audit (service/change.h), and what one says of
 * the checkouts that are made from it (docs/api.md, "Payment links"). */

#include "model/checkout_request.h"
#include "model/link.h"
#include "service/service.h"

/* A new one of the account. 400 with the fields at fault; 409 D1 when the reference is taken. */
const pay_problem_t *pay_link_make(const pay_link_t **out, const pay_service_t *service,
                                   const pay_account_t *account, pay_mode_t mode,
                                   const pay_link_form_t *form, apr_pool_t *p);

/* 404 N1. */
const pay_problem_t *pay_link_find(const pay_link_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, const char *reference, apr_pool_t *p);

/* No checkout is made from it any more; those that are open can be paid. One that is disabled
 * already stays as it is. 404 N1. */
const pay_problem_t *pay_link_disable(const pay_link_t **out, const pay_service_t *service,
                                      const pay_scope_t *scope, const char *reference,
                                      apr_pool_t *p);

/*
 * Holds a request that names a link against it: *out is the request with what only the link says.
 * 404 N1: there is no such link; 400 on /amount, /currency: they are not the link's. Whether it can
 * be paid now is for the transaction that opens the checkout.
 */
const pay_problem_t *pay_link_apply(const pay_checkout_request_t **out, pay_store_t *store,
                                    const pay_scope_t *scope, const pay_checkout_request_t *request,
                                    apr_pool_t *p);

/* Why no checkout was opened from the link, as a problem: 409 V2, 404 N1. */
const pay_problem_t *pay_problem_of_link(pay_claim_t claim, const char *reference, apr_pool_t *p);

#endif
