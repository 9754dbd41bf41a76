/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_ENDPOINTS_H
#define PAY_SERVICE_ACCOUNT_ENDPOINTS_H

/* Where an account's events go is set here, whichever way it is said. Changes leave an entry in the
 * audit (service/change.h). */

#include "service/service.h"

#define PAY_WEBHOOK_OVERLAP_DEFAULT apr_time_from_sec(24 * 3600)

/* *out NULL: it was never set. */
const pay_problem_t *pay_endpoint_find(pay_endpoint_t **out, const pay_service_t *service,
                                       const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                       apr_pool_t *p);

/* *out is `url` as it is stored for `mode`; 400 on /url. Live Mode has https only. */
const pay_problem_t *pay_webhook_url(const char **out, const char *url, pay_mode_t mode,
                                     apr_pool_t *p);

/*
 * Events of the scope go to `url` from now on; NULL: nowhere, *out NULL when there was no webhook.
 * *secret is the first secret of a webhook that had none, to be shown once, else NULL. 400 on /url;
 * 409 when its secret was changed meanwhile, and nothing is; 503 without a master key.
 */
const pay_problem_t *pay_webhook_set(pay_endpoint_t **out, const char **secret,
                                     const pay_service_t *service, const pay_scope_t *scope,
                                     const char *url, apr_pool_t *p);

/* A new secret, to be shown once; the one before signs beside it for `overlap`, and 0 ends it now.
 * 409 when there is no webhook, when the one before does not open and so cannot sign, and when it
 * was changed meanwhile. */
const pay_problem_t *pay_webhook_renew(pay_endpoint_t **out, const char **secret,
                                       const pay_service_t *service, const pay_scope_t *scope,
                                       apr_interval_time_t overlap, apr_pool_t *p);

typedef struct pay_mail_settings_t {
    int notices;         /* to the merchant: 1, 0, -1: as they are */
    const char *address; /* of the merchant; NULL: the one there */
    int receipts;        /* to payers: 1, 0, -1: as they are */
    /* Test Mode's payers that get them, as pay_recipients_read makes it; NULL: as they are. */
    const char *test_recipients;
} pay_mail_settings_t;

/* Brings addresses as they were typed into the form in which they are stored. Faults are added to
 * *problem (NULL: there was none before), 400 on /merchantAddress, /testRecipients. */
void pay_mail_settings_judge(pay_mail_settings_t *settings, pay_problem_t **problem, apr_pool_t *p);

/*
 * Says who gets e-mails in both modes, in one transaction: all of it, or nothing. What was never on
 * is not switched off.
 */
const pay_problem_t *pay_mail_set(const pay_service_t *service, apr_uint32_t account,
                                  const pay_mail_settings_t *settings, apr_pool_t *p);

#endif
