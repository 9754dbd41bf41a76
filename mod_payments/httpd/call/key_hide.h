/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_KEY_HIDE_H
#define PAY_HTTPD_CALL_KEY_HIDE_H

/*
 * A secret key in a URL is no key (docs/api.md, "Authentication"), but it is a secret still: it is
 * kept out of what logs are made of, as far as a module can.
 */

#include <httpd.h>

/*
 * Where a secret key stands in the URL of `r`, plain or percent-encoded: the request line and the
 * query name neither, and its text is in call->url_key. For URLs that are ours, before anybody has
 * read the query. Does nothing else.
 */
void pay_key_hide(request_rec *r);

/* The same for the path, which is needed until the request is over. */
void pay_key_hide_path(request_rec *r);

#endif
