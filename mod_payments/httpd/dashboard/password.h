/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_PASSWORD_H
#define PAY_HTTPD_DASHBOARD_PASSWORD_H

/* Whether a password is the signed-in person's own, as the site's authentication says. */

#include <httpd.h>

typedef enum pay_dashboard_password_verdict_t {
    PAY_PASSWORD_RIGHT,
    PAY_PASSWORD_WRONG,
    PAY_PASSWORD_UNJUDGED /* any would do: the site judges something else */
} pay_dashboard_password_verdict_t;

/*
 * 1 when the person has signed in by Basic authentication, so that there is a password to ask for.
 * 0 for other kinds, and where a verified client certificate stands for one (FakeBasicAuth).
 */
int pay_dashboard_has_password(request_rec *r);

/* Asks the site's authentication, which logs a wrong one as ever. Nothing of `r` changes. */
pay_dashboard_password_verdict_t pay_dashboard_judge_password(request_rec *r, const char *typed);

#endif
