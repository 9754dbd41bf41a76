/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_PAGE_H
#define PAY_HTTPD_PAGE_PAGE_H

/*
 * The hosted payment page (docs/checkout.md): /payment/page/{id} below PaymentsBasePath, for
 * payers' browsers. Pages are not calls: no key is needed or read, and answers are HTML.
 */

#include "httpd/call/call.h"

/* Answers a request whose call is a page. Returns what a handler returns. */
int pay_page_serve(request_rec *r, pay_call_t *call);

#endif
