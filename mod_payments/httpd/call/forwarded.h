/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_FORWARDED_H
#define PAY_HTTPD_CALL_FORWARDED_H

/* Whether a request comes from its apparent sender, or was passed on by a proxy. */

#include <httpd.h>

/*
 * Returns 1 if a proxy reports that it passes the request on (Forwarded, X-Forwarded-*, Via,
 * X-Real-IP), or if mod_remoteip has believed one: the peer of the connection is then not the
 * client.
 */
int pay_forwarded_is(const request_rec *r);

/*
 * Returns 1 if this machine itself passes it on, as mod_proxy does for a RewriteRule [P] of a
 * .htaccess: the connection is from loopback or from the address that it came to, and has a header
 * that mod_proxy always adds. A program on this machine that connects by itself cannot be
 * recognised.
 */
int pay_forwarded_is_by_us(const request_rec *r);

/* Returns 1 if the connection itself comes from 127.0.0.0/8 or ::1. */
int pay_forwarded_is_loopback(const apr_sockaddr_t *address);

#endif
