/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_PASSWORD_H
#define PAY_HTTPD_DASHBOARD_PASSWORD_H

/* Whether a password is the signed-in person's own, by the site's authentication. */

#include <httpd.h>

typedef enum pay_dashboard_password_verdict_t {
    PAY_PASSWORD_RIGHT,
    PAY_PASSWORD_WRONG,
    PAY_PASSWORD_UNJUDGED /* any password would pass: the site judges something else */
} pay_dashboard_password_verdict_t;

/*
 * Returns 1 if the person has signed in by Basic authentication, so that there is a password to ask
 * for. Returns 0 for other kinds, and if a verified client certificate stands for a password
 * (FakeBasicAuth).
 */
int pay_dashboard_has_password(request_rec *r);

/* Asks the site's authentication, which logs a wrong password as usual. Does not change `r`. */
pay_dashboard_password_verdict_t pay_dashboard_judge_password(request_rec *r, const char *typed);

#endif
