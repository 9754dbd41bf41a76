/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_RETURN_HOSTS_H
#define PAY_MODEL_RETURN_HOSTS_H

/* The hosts to which payers of public keys may return (docs/checkout.md, "The way back"). Pure. */

#include "base/net/url.h"

#define PAY_RETURN_HOSTS_MAX 32
#define PAY_RETURN_HOSTS_LEN_MAX 4000 /* bytes of a list */
#define PAY_RETURN_HOSTS_FAULT                                                                     \
    "want at most 32 hosts such as shop.example, shop.example:8443 and *.shop.example (its "       \
    "subdomains), with xn-- if a name has non-ASCII letters"

/*
 * Sets *out to `list` (an earlier result of this function, "" at first) with the hosts of `text`
 * (separated by blanks) added, each once, in lower case and without a final dot. Returns 0 if one
 * of them is not valid, or if there are too many.
 */
int pay_return_hosts_add(const char **out, const char *list, const char *text, apr_pool_t *p);

/*
 * Returns 1 if one of them is the URL's host and port; one without a port means the default port of
 * the URL's scheme, and one with "*." every name below, but not the name itself.
 */
int pay_return_hosts_has(const char *list, const pay_url_t *url, apr_pool_t *p);

/* Returns the destination of the URL for people: "shop.example", "shop.example:8443". */
const char *pay_return_host_shown(const pay_url_t *url, apr_pool_t *p);

#endif
