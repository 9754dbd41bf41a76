/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_ENDPOINTS_H
#define PAY_SERVICE_ACCOUNT_ENDPOINTS_H

/* Sets the destinations of an account's events, whichever way a person does it. Changes leave an
 * entry in the audit (service/change.h). */

#include "service/service.h"

#define PAY_WEBHOOK_OVERLAP_DEFAULT apr_time_from_sec(24 * 3600)

/* *out is NULL if it was never set. */
const pay_problem_t *pay_endpoint_find(pay_endpoint_t **out, const pay_service_t *service,
                                       const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                       apr_pool_t *p);

/* Sets *out to `url` in its stored form for `mode`; 400 on /url. Live Mode accepts https only. */
const pay_problem_t *pay_webhook_url(const char **out, const char *url, pay_mode_t mode,
                                     apr_pool_t *p);

/*
 * Sends events of the scope to `url` from now on; NULL: to nobody, and *out is NULL if there was no
 * webhook. *secret is the first secret of a webhook that had none, to be shown once, else NULL. 400
 * on /url; 409 if its secret was changed meanwhile, and nothing is changed; 503 without a master
 * key.
 */
const pay_problem_t *pay_webhook_set(pay_endpoint_t **out, const char **secret,
                                     const pay_service_t *service, const pay_scope_t *scope,
                                     const char *url, apr_pool_t *p);

/* Makes a new secret, to be shown once; the previous one also signs for `overlap`, or ends now if
 * that is 0. 409 if there is no webhook, if the previous secret does not open and so cannot sign,
 * or if it was changed meanwhile. */
const pay_problem_t *pay_webhook_renew(pay_endpoint_t **out, const char **secret,
                                       const pay_service_t *service, const pay_scope_t *scope,
                                       apr_interval_time_t overlap, apr_pool_t *p);

typedef struct pay_mail_settings_t {
    int notices;         /* to the merchant: 1, 0, -1: unchanged */
    const char *address; /* of the merchant; NULL: unchanged */
    int receipts;        /* to payers: 1, 0, -1: unchanged */
    /* Payers that receive them in Test Mode, as pay_recipients_read makes them; NULL: unchanged. */
    const char *test_recipients;
} pay_mail_settings_t;

/* Normalises addresses as a person typed them. Adds faults to *problem (NULL: none so far), 400 on
 * /merchantAddress, /testRecipients. */
void pay_mail_settings_judge(pay_mail_settings_t *settings, pay_problem_t **problem, apr_pool_t *p);

/*
 * Sets the recipients of e-mails in both modes, in one transaction: everything or nothing. An
 * endpoint that was never on is not switched off.
 */
const pay_problem_t *pay_mail_set(const pay_service_t *service, apr_uint32_t account,
                                  const pay_mail_settings_t *settings, apr_pool_t *p);

#endif
