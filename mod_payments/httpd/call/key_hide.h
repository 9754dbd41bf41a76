/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_KEY_HIDE_H
#define PAY_HTTPD_CALL_KEY_HIDE_H

/*
 * A secret key in a URL does not count as a key (docs/api.md, "Authentication"), but is still a
 * secret: it is kept out of the data that logs use, as far as a module can.
 */

#include <httpd.h>

/*
 * If a secret key is in the URL of `r`, plain or percent-encoded, removes it from the request line
 * and the query, and sets call->url_key to its text. For URLs that are ours, before anything has
 * read the query. Does nothing else.
 */
void pay_key_hide(request_rec *r);

/* Does the same for the path, which is needed until the request is over. */
void pay_key_hide_path(request_rec *r);

#endif
