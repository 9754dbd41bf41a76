/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHANGE_H
#define PAY_SERVICE_CHANGE_H

/*
 * What the audit says of a change, whichever way a person makes it: each kind of change has its
 * words here, and each use case on this floor begins its change here. Texts that only the
 * transaction knows (the role before, the amount that was left) are set by the store, which is the
 * same for everybody. Nothing of it is a secret.
 */

#include "service/service.h"

/* Who makes changes through a service. Texts live as long as the service. */
typedef struct pay_actor_t {
    const char *who;  /* the site's user, or "root (uid 0)" */
    const char *from; /* "dashboard pay.example.com 192.0.2.7", "paymentsctl" */
    int has_quota;    /* 1: PaymentsAccountQuota bounds the entries, 0: any number (paymentsctl) */
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
    /* No changes: what the server, or the dashboard, notes beside them. */
    PAY_CHANGE_FAILURE_LIMIT,
    PAY_CHANGE_EXPORT_CHARGES,
    PAY_CHANGE_EXPORT_REFUNDS,
    PAY_CHANGE_REFUSED,
    PAY_CHANGE_COUNT
} pay_change_t;

/* The words of the audit's `what`: those of paymentsctl's command where there is one. */
const char *pay_change_name(pay_change_t change);

/*
 * *out is a handle of service->store for one change: the first change through it leaves the entry
 * in its own transaction (pay_store_audited). `account` 0: the whole store, or the store knows
 * better; `subject` is an id or a name, `detail` a few words, "" where there are none or the store
 * says them. Without service->actor *out is service->store, and no entry is left. The handle and
 * the texts live as long as `p`.
 */
apr_status_t pay_change_begin(pay_store_t **out, const pay_service_t *service, pay_change_t change,
                              apr_uint32_t account, const char *subject, const char *detail,
                              apr_pool_t *p);

/* The same for a change in one mode: the detail is "test", or "test: TEXT". */
apr_status_t pay_change_begin_in(pay_store_t **out, const pay_service_t *service,
                                 pay_change_t change, const pay_scope_t *scope, const char *subject,
                                 const char *text, apr_pool_t *p);

/* Writes an entry that has no change of the store's, in a transaction of its own. */
apr_status_t pay_change_note(const pay_service_t *service, pay_change_t change,
                             apr_uint32_t account, const char *subject, const char *detail,
                             apr_pool_t *p);

#endif
