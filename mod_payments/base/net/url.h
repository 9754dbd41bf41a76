/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_URL_H
#define PAY_BASE_NET_URL_H

/* Absolute URLs (RFC 3986) as libcurl reads them: the same parser is used to connect. Pure. */

#include <apr_errno.h>
#include <apr_pools.h>

typedef struct pay_url_t {
    const char *scheme; /* lower case: "https", "http", "smtp", "smtps" */
    const char *host;   /* lower case ASCII; IPv6 in brackets */
    int port;           /* the scheme's default if the URL has no port */
    const char *text;   /* the whole URL as libcurl writes it, without a fragment */
} pay_url_t;

/*
 * APR_EINVAL: no host, a user or password, a scheme that is not in `schemes` ("https http"),
 * control characters, blanks, or more than 1,000 bytes. *fault is then a sentence that says what is
 * expected and repeats nothing secret.
 */
apr_status_t pay_url_parse(pay_url_t **out, const char **fault, const char *text,
                           const char *schemes, apr_pool_t *p);

/* Returns 1 if `authority` (of a Host header: "shop.example", "[::1]:8443", any case) is the URL's
 * host and port; if it has no port, the default port of the URL's scheme is meant. */
int pay_url_is_at(const pay_url_t *url, const char *authority);

#endif
