/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_PAGE_HIDE_H
#define PAY_HTTPD_CALL_PAGE_HIDE_H

/*
 * A page's id is a secret between shop and payer: it is kept out of what logs are made of, as far
 * as a module can (docs/checkout.md, "Logs").
 */

#include <httpd.h>

/* Makes the request line and Referer name no page. Again, where they name none, it does nothing. */
void pay_page_hide(request_rec *r);

/* The path in place of the page's own. */
char *pay_page_hidden_path(const request_rec *r);

#endif
