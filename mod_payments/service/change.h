/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHANGE_H
#define PAY_SERVICE_CHANGE_H

/*
 * The audit's words for a change, whichever way a person makes it: each kind of change has its
 * words here, and each use case on this floor begins its change here. Texts that only the
 * transaction knows (the role before, the amount that was left) are set by the store, which is the
 * same for every caller. No text contains a secret.
 */

#include "service/service.h"

/* The person who makes changes through a service. Texts live as long as the service. */
typedef struct pay_actor_t {
    const char *who;  /* the site's user, or "root (uid 0)" */
    const char *from; /* "dashboard pay.example.com 192.0.2.7", "paymentsctl" */
    int has_quota;    /* 1: PaymentsAccountQuota bounds the entries, 0: unbounded (paymentsctl) */
} pay_actor_t;

typedef enum pay_change_t {
    PAY_CHANGE_ACCOUNT_CREATE,
    PAY_CHANGE_ACCOUNT_SET,
    PAY_CHANGE_ACCOUNT_LIVE,
    PAY_CHANGE_ACCOUNT_TEST,
    PAY_CHANGE_ACCOUNT_GRANT,
    PAY_CHANGE_ACCOUNT_REVOKE,
    PAY_CHANGE_ACCOUNT_RESET,
    PAY_CHANGE_KEY_CREATE,
    PAY_CHANGE_KEY_IMPORT,
    PAY_CHANGE_KEY_REVOKE,
    PAY_CHANGE_KEY_ROTATE,
    PAY_CHANGE_TOKEN_CREATE,
    PAY_CHANGE_TOKEN_REVOKE,
    PAY_CHANGE_CHARGE_RESOLVE,
    PAY_CHANGE_REFUND_CREATE,
    PAY_CHANGE_REFUND_IMPORT,
    PAY_CHANGE_REFUND_LINK,
    PAY_CHANGE_REFUND_RESOLVE,
    PAY_CHANGE_REFUND_SYNC,
    PAY_CHANGE_LINK_CREATE,
    PAY_CHANGE_LINK_DISABLE,
    PAY_CHANGE_PAYER_ERASE,
    PAY_CHANGE_WEBHOOK_SET,
    PAY_CHANGE_WEBHOOK_OFF,
    PAY_CHANGE_WEBHOOK_RENEW,
    PAY_CHANGE_WEBHOOK_TEST,
    PAY_CHANGE_EVENT_RETRY,
    PAY_CHANGE_EVENT_DROP,
    PAY_CHANGE_MAIL_SET,
    PAY_CHANGE_MAIL_TEST,
    PAY_CHANGE_ENCRYPTION_CREATE,
    PAY_CHANGE_ENCRYPTION_RENEW,
    PAY_CHANGE_STORE_CONFIRM,
    PAY_CHANGE_STORE_RESEAL,
    PAY_CHANGE_FAILURE_LIFT,
    /* Not changes: noted beside them by the server or the dashboard. */
    PAY_CHANGE_FAILURE_LIMIT,
    PAY_CHANGE_EXPORT_CHARGES,
    PAY_CHANGE_EXPORT_REFUNDS,
    PAY_CHANGE_REFUSED,
    PAY_CHANGE_COUNT
} pay_change_t;

/* Returns the audit's `what`: the words of paymentsctl's command if there is one. */
const char *pay_change_name(pay_change_t change);

/*
 * Sets *out to a handle of service->store for one change: the first change through it writes the
 * entry in its own transaction (pay_store_audited). `account` 0: the whole store, or the store
 * knows better; `subject` is an id or a name, `detail` a few words, "" if not needed or the
 * store sets it. Without service->actor *out is service->store, and no entry is written. The handle
 * and the texts live as long as `p`.
 */
apr_status_t pay_change_begin(pay_store_t **out, const pay_service_t *service, pay_change_t change,
                              apr_uint32_t account, const char *subject, const char *detail,
                              apr_pool_t *p);

/* Does the same for a change in one mode: the detail is "test", or "test: TEXT". */
apr_status_t pay_change_begin_in(pay_store_t **out, const pay_service_t *service,
                                 pay_change_t change, const pay_scope_t *scope, const char *subject,
                                 const char *text, apr_pool_t *p);

/* Writes an entry without a change of the store, in a transaction of its own. */
apr_status_t pay_change_note(const pay_service_t *service, pay_change_t change,
                             apr_uint32_t account, const char *subject, const char *detail,
                             apr_pool_t *p);

#endif
