/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_HIDE_H
#define PAY_HTTPD_CALL_HIDE_H

/* Secrets in URLs are kept out of the data that logs use, as far as a module can. */

#include <httpd.h>

/*
 * A secret key in a URL does not count as a key (docs/api.md, "Authentication"), but is still a
 * secret. If one is in the URL of `r`, plain or percent-encoded, removes it from the request line
 * and the query, and sets call->url_key to its text. For URLs that are ours, before anything has
 * read the query. Does nothing else.
 */
void pay_key_hide(request_rec *r);

/* Does the same for the path, which is needed until the request is over. */
void pay_key_hide_path(request_rec *r);

/*
 * A page's id is a secret between shop and payer (docs/checkout.md, "Logs"): removes it from the
 * request line and Referer. Does nothing if they contain none.
 */
void pay_page_hide(request_rec *r);

/* Returns the path that replaces the page's own. */
char *pay_page_hidden_path(const request_rec *r);

#endif
