/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_URL_H
#define PAY_BASE_NET_URL_H

/* Absolute URLs (RFC 3986) as libcurl reads them: the same parser dials them. Pure. */

#include <apr_errno.h>
#include <apr_pools.h>

typedef struct pay_url_t {
    const char *scheme; /* lower case: "https", "http", "smtp", "smtps" */
    const char *host;   /* lower case ASCII; IPv6 in brackets */
    int port;           /* the scheme's when none was given */
    const char *text;   /* the whole URL as libcurl writes it, without a fragment */
} pay_url_t;

/*
 * APR_EINVAL: *fault is a sentence on what is wanted that repeats nothing secret: no host, user or
 * password in it, another scheme than one of `schemes` ("https http"), control characters, blanks,
 * longer than 1,000 bytes.
 */
apr_status_t pay_url_parse(pay_url_t **out, const char **fault, const char *text,
                           const char *schemes, apr_pool_t *p);

/* 1 when `authority` (of a Host header: "shop.example", "[::1]:8443", any case) is the URL's host
 * and port; without a port it stands for the port of the URL's own scheme. */
int pay_url_is_at(const pay_url_t *url, const char *authority);

#endif
