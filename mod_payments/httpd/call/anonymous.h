/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_ANONYMOUS_H
#define PAY_HTTPD_CALL_ANONYMOUS_H

/* The anonymous probe: whether the administrator's rules keep anybody out. */

#include <httpd.h>

/*
 * Returns 1 if the Require rules in force for `r` would let in an anonymous client: from an address
 * that is on no list of the administrator, without a name, a password or a header. httpd grants
 * silently if there is no rule, and reports this nowhere, so the same rules are evaluated once
 * more. Called after the access checks, in a handler.
 */
int pay_anonymous_is_let_in(request_rec *r);

#endif
