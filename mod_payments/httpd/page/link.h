/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_LINK_H
#define PAY_HTTPD_PAGE_LINK_H

/* The page of a payment link (docs/checkout.md), where a payer enters name and amount. */

#include "base/text/html.h"
#include "service/checkout/link_page.h"

#include <httpd.h>

/* Answers GET, HEAD and POST. Returns what a handler returns. */
int pay_page_link_serve(request_rec *r, pay_service_t *service, const pay_page_t *page);

/* The page as HTML; pure. */
typedef struct pay_page_link_view_t {
    const pay_page_t *page;
    const char *authority;         /* of the request */
    apr_time_t now;                /* a link that cannot be paid at that time says why */
    const pay_problem_t *faults;   /* of the payer's input; NULL: none */
    const pay_link_payer_t *payer; /* the payer's input; NULL: nothing yet */
} pay_page_link_view_t;
const pay_html_t *pay_page_link_html(const pay_page_link_view_t *view, apr_pool_t *p);

/* Live Mode: links to the checkout's page, which leads to the acquirer's. */
const pay_html_t *pay_page_link_onward(const pay_page_link_view_t *view, const char *page_id,
                                       apr_pool_t *p);

#endif
