/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_SERVICE_H
#define PAY_SERVICE_SERVICE_H

/*
 * The environment of the use cases: one per virtual host and child process, or one in paymentsctl.
 * Immutable after it was filled in; used by many threads. From this floor up, errors are `const
 * pay_problem_t *`, NULL meaning success.
 */

#include "acquirer/acquirer.h"
#include "base/problem.h"
#include "base/shared/failure_table.h"
#include "base/shared/slots.h"
#include "store/store.h"

#define PAY_SEND_BEFORE_MS 5000 /* a charge not sent this long after its open never is */
#define PAY_ACQUIRER_TIMEOUT_DEFAULT apr_time_from_sec(20)
#define PAY_SLOT_WAIT_DEFAULT apr_time_from_msec(500)
#define PAY_RECONCILE_AFTER_MS 30000 /* reconciliation leaves a row alone this much longer */

struct pay_actor_t;
struct pay_key_usage_t;
struct pay_keyring_t;

typedef struct pay_policy_t {
    const apr_array_header_t *currencies; /* of const char *, upper case; NULL: every currency */
    int refund_days_max;                  /* longest range of a refund list, 0: any */
    apr_interval_time_t acquirer_timeout; /* for an acquirer without one of its own */
    apr_interval_time_t refund_repeat_window; /* R5 rule; 0: off */
    apr_interval_time_t late_after;           /* absent for so long: it has failed */
    apr_interval_time_t pending_alert;        /* pending for longer: a person must look */
    int late_refund;                          /* 1: late approvals are refunded; 0: a person
                                               * decides */
    apr_interval_time_t refund_sync;          /* between fetches of refunds; 0: no fetches */
    apr_interval_time_t checkout_lifetime;    /* unpaid for longer: abandoned */
    apr_interval_time_t slot_wait;            /* longest wait for a place for a live call */
    const char *return_hosts; /* in addition to the account's own (model/return_hosts.h); NULL:
                               * none */
    pay_failure_limit_t failure_limit[PAY_MODE_COUNT][PAY_FAILURE_KINDS];
} pay_policy_t;

typedef struct pay_service_t {
    pay_store_t *store;
    const char *account_name; /* only this account's keys are valid here; NULL: any account's */
    const pay_acquirer_t *acquirer[PAY_MODE_COUNT]; /* of new charges; NULL: none for this mode */
    const apr_array_header_t *acquirers; /* of const pay_acquirer_t *: Live Mode's, including those
                                          * that only old charges went through; NULL: none */
    int deferred;            /* 1: live refunds are written for the server to send (paymentsctl) */
    pay_slots_t *slots;      /* of Live Mode's calls; NULL: no limit (paymentsctl) */
    apr_uint32_t slots_base; /* distinguishes accounts of different stores in `slots` */
    const struct pay_actor_t *actor; /* the person who makes changes through it, each with an entry
                                      * in the audit (service/change.h); NULL: no person */
    const struct pay_keyring_t *keyring; /* NULL: there is no master key; work that needs it
                                          * waits */
    struct pay_key_usage_t *usage;       /* NULL: last use of keys is not recorded */
    pay_failure_table_t *failures;       /* NULL: failures are not counted (paymentsctl) */
    apr_uint64_t failures_store;         /* identifies the store there */
    pay_policy_t policy;
} pay_service_t;

/* The originator of a piece of work. */
typedef struct pay_caller_t {
    const pay_account_t *account;
    pay_scope_t scope;
    pay_key_kind_t key_kind;
    const char *key_id;          /* "" for paymentsctl */
    const char *idempotency_key; /* NULL: not given */
} pay_caller_t;

/* Returns the caller whose key was authenticated. */
pay_caller_t pay_caller_of_key(const pay_api_key_t *key, const char *idempotency_key);

/*
 * Judges whether work of `mode` may be started for the account: 403 B02 while live work is switched
 * off, or if no acquirer is configured for the mode. NULL: it may.
 */
const pay_problem_t *pay_service_judge_mode(const pay_service_t *service,
                                            const pay_account_t *account, pay_mode_t mode,
                                            apr_pool_t *p);

/* The process that works on a row opened now, and its deadlines. */
typedef struct pay_deadline_t {
    pay_worker_t worker;
    apr_int64_t send_before_ms; /* boot clock */
    apr_int64_t wait_until_ms;  /* boot clock */
    apr_time_t due_at;          /* wall clock */
} pay_deadline_t;

pay_deadline_t pay_deadline_make(const pay_acquirer_t *acquirer);

/* The defaults of the directives: PaymentsAcquirerLateAfter and PaymentsPendingAlert. */
#define PAY_LATE_AFTER_DEFAULT apr_time_from_sec(3600)
#define PAY_PENDING_ALERT_DEFAULT apr_time_from_sec(3600)

/*
 * Makes the use of the caller's Idempotency-Key for a request of these normalised values; *out is
 * NULL if no key was given.
 */
const pay_problem_t *pay_caller_use(const pay_idempotency_t **out, const pay_caller_t *caller,
                                    pay_operation_t operation, const char *const *values,
                                    apr_size_t count, apr_pool_t *p);

/* Finds the idempotency record of the key; *out is NULL without a use or a record. 409 D1 if it
 * belongs to a different request. */
const pay_problem_t *pay_service_recall(pay_idempotency_record_t **out,
                                        const pay_service_t *service, const pay_scope_t *scope,
                                        const pay_idempotency_t *use, apr_pool_t *p);

/* Returns 409 D1 for an Idempotency-Key. */
const pay_problem_t *pay_problem_of_key(apr_pool_t *p);

/* Returns 404 N1 in the words of the contract; text that cannot be a reference is not repeated. */
const pay_problem_t *pay_problem_of_reference(const char *reference, apr_pool_t *p);

/* Returns the charge in the form for a query of its acquirer: `charge`, or a copy in `p` that does
 * not say when it was opened. In a restored store a charge that was lost and sent again is older
 * there, under a name that only a copy of this store can produce. */
const pay_charge_t *pay_service_asked(pay_store_t *store, const pay_charge_t *charge,
                                      apr_pool_t *p);

/* Counts a charge that was decided now, or is answered as pending: never a replay. */
void pay_service_count(const pay_charge_t *charge);

/* Returns a store's status as the client's problem (503 E2, 500 E1); not for APR_SUCCESS or
 * APR_NOTFOUND. */
const pay_problem_t *pay_problem_of_store(apr_status_t status, apr_pool_t *p);

#endif
