/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_FORWARDED_H
#define PAY_HTTPD_CALL_FORWARDED_H

/* Whether a request comes from whom it seems to, or was passed on by a proxy. */

#include <httpd.h>

/*
 * 1 when a proxy says that it passes the request on (Forwarded, X-Forwarded-*, Via, X-Real-IP), or
 * mod_remoteip has believed one: who is at the other end of the connection is not who asks.
 */
int pay_forwarded_is(const request_rec *r);

/*
 * 1 when this machine itself passes it on, as mod_proxy does for a RewriteRule [P] of a .htaccess:
 * the connection is from loopback or from the address that it came to, and a header that mod_proxy
 * always adds says so. A program on this machine that connects by itself cannot be told.
 */
int pay_forwarded_is_by_us(const request_rec *r);

/* 1 when the connection itself comes from 127.0.0.0/8 or ::1. */
int pay_forwarded_is_loopback(const apr_sockaddr_t *address);

#endif
