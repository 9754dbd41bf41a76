/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_STRANGER_H
#define PAY_HTTPD_CALL_STRANGER_H

/* Whether the administrator's rules keep anybody out. */

#include <httpd.h>

/*
 * 1 when the Require rules that hold for `r` would let in somebody from nowhere in particular: from
 * an address that no list of the administrator's has, without a name, a password or a header.
 * httpd grants silently where there is no rule, and tells nobody; so the same rules are asked once
 * more. For use behind the access checks, in a handler.
 */
int pay_stranger_is_let_in(request_rec *r);

#endif
