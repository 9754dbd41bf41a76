/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHECKOUT_LINK_PAGE_H
#define PAY_SERVICE_CHECKOUT_LINK_PAGE_H

/* A payer's action on the page of a payment link: enters name and amount, and gets a checkout. */

#include "service/checkout/checkouts.h"

/* As the payer typed them; NULL: nothing. */
typedef struct pay_link_payer_t {
    const char *amount; /* only for a link without an amount */
    const char *email;
    const char *first_name;
    const char *last_name;
} pay_link_payer_t;

/*
 * Makes a checkout of the page's link for the payer, like pay_checkout_create for a request that
 * names the link. 400 with the fields at fault, named as in that request
 * ("/checkoutCustomerData/email").
 */
const pay_problem_t *pay_link_page_pay(const pay_charge_t **out, pay_service_t *service,
                                       const pay_page_t *page, const pay_link_payer_t *payer,
                                       const char *page_root, const char *request_ip,
                                       apr_pool_t *p);

#endif
