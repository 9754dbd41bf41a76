/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_RETURN_HOSTS_H
#define PAY_MODEL_RETURN_HOSTS_H

/* The hosts that payers of public keys may be sent back to (docs/checkout.md, "The way back").
 * Pure.
 */

#include "base/net/url.h"

#define PAY_RETURN_HOSTS_MAX 32
#define PAY_RETURN_HOSTS_LEN_MAX 4000 /* bytes of a list */
#define PAY_RETURN_HOSTS_FAULT                                                                     \
    "want at most 32 hosts such as shop.example, shop.example:8443 and *.shop.example (its "       \
    "subdomains), with xn-- if a name has non-ASCII letters"

/*
 * *out is `list` (as this function made it before, "" at first) with the hosts of `text` (blanks
 * between them), each once, in lower case and without a dot at the end. 0: one of them is none, or
 * they are too many.
 */
int pay_return_hosts_add(const char **out, const char *list, const char *text, apr_pool_t *p);

/*
 * 1 when one of them is the URL's host and port; one without a port stands for the port of the
 * URL's own scheme, and one with "*." for every name below, not for the name itself.
 */
int pay_return_hosts_has(const char *list, const pay_url_t *url, apr_pool_t *p);

/* What a person is told of where the URL leads: "shop.example", "shop.example:8443". */
const char *pay_return_host_shown(const pay_url_t *url, apr_pool_t *p);

#endif
