/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHECKOUT_LINKS_H
#define PAY_SERVICE_CHECKOUT_LINKS_H

/* Payment links: made, found and disabled by paymentsctl and the dashboard, with an entry in the
 * audit (service/change.h), and the rules of a link for its checkouts (docs/api.md, "Payment
 * links"). */

#include "model/checkout_request.h"
#include "model/link.h"
#include "service/service.h"

/* Makes a link of the account. 400 with the fields at fault; 409 D1 if the reference is taken. */
const pay_problem_t *pay_link_make(const pay_link_t **out, const pay_service_t *service,
                                   const pay_account_t *account, pay_mode_t mode,
                                   const pay_link_form_t *form, apr_pool_t *p);

/* 404 N1. */
const pay_problem_t *pay_link_find(const pay_link_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, const char *reference, apr_pool_t *p);

/* No checkout is made from it from now on; open ones can still be paid. One that is already
 * disabled stays as it is. 404 N1. */
const pay_problem_t *pay_link_disable(const pay_link_t **out, const pay_service_t *service,
                                      const pay_scope_t *scope, const char *reference,
                                      apr_pool_t *p);

/*
 * Applies a link to a request that names it: *out is the request with the values of the link. 404
 * N1: there is no such link; 400 on /amount, /currency: they are not the link's. Whether it can be
 * paid now is decided by the transaction that opens the checkout.
 */
const pay_problem_t *pay_link_apply(const pay_checkout_request_t **out, pay_store_t *store,
                                    const pay_scope_t *scope, const pay_checkout_request_t *request,
                                    apr_pool_t *p);

/* Returns why no checkout was opened from the link, as a problem: 409 V2, 404 N1. */
const pay_problem_t *pay_problem_of_link(pay_claim_t claim, const char *reference, apr_pool_t *p);

#endif
