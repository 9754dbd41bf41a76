/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_PAGE_HIDE_H
#define PAY_HTTPD_CALL_PAGE_HIDE_H

/*
 * A page's id is a secret between shop and payer: it is kept out of the data that logs use, as far
 * as a module can (docs/checkout.md, "Logs").
 */

#include <httpd.h>

/* Removes the page's id from the request line and Referer. Does nothing if they contain none. */
void pay_page_hide(request_rec *r);

/* Returns the path that replaces the page's own. */
char *pay_page_hidden_path(const request_rec *r);

#endif
