/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHARGE_DECISIONS_H
#define PAY_SERVICE_CHARGE_DECISIONS_H

/*
 * A person's decision about a charge or refund that no machine could decide (docs/live-mode.md,
 * "When a person must decide"), whichever way it is made. No acquirer is queried: only the store
 * changes.
 */

#include "service/service.h"

/* The result of a person's decision. */
typedef enum pay_decision_t {
    PAY_DECISION_DONE,
    PAY_DECISION_BUSY,         /* a process is at work on it: its acquirer's answer decides */
    PAY_DECISION_MEANWHILE,    /* it was decided since it was read */
    PAY_DECISION_REFUNDED,     /* it cannot have failed: pay_decision_refund says why */
    PAY_DECISION_STAYS_FAILED, /* the shop already knows it as failed: it can only be closed as
                                * failed */
    PAY_DECISION_NOT_WAITING   /* it does not wait for a decision */
} pay_decision_t;

/* Judges a person's reason. Returns the predicate of "must be"; NULL if it is valid. */
const char *pay_decision_reason_fault(const char *reason);

/* Makes the outcome of a person's decision. */
pay_outcome_t pay_decision_outcome(int approved, const char *reason);

/*
 * Decide the charge (refund) as it was read; *out is its present state, also if nothing was
 * changed. With PAY_DECISION_BUSY pay_decision_wait returns how long that may last. Statuses are
 * the store's.
 */
apr_status_t pay_charge_decide(pay_charge_t **out, pay_decision_t *decision, pay_store_t *store,
                               const pay_charge_t *charge, const pay_outcome_t *outcome,
                               apr_pool_t *p);
apr_status_t pay_refund_decide(pay_refund_t **out, pay_decision_t *decision, pay_store_t *store,
                               const pay_refund_t *refund, const pay_outcome_t *outcome,
                               apr_pool_t *p);

/*
 * The same on a person's request, with an entry in the audit (service/change.h). NULL: it was
 * decided. 409 D2: a process is at work on it; 409 D1: it was decided meanwhile, cannot be decided
 * so, or does not wait for a decision; *out is its present state.
 */
const pay_problem_t *pay_charge_resolve(pay_charge_t **out, const pay_service_t *service,
                                        const pay_charge_t *charge, const pay_outcome_t *outcome,
                                        apr_pool_t *p);
const pay_problem_t *pay_refund_resolve(pay_refund_t **out, const pay_service_t *service,
                                        const pay_refund_t *refund, const pay_outcome_t *outcome,
                                        apr_pool_t *p);

/*
 * Returns the reference of a refund of the charge that did not fail; "one" if it is not listed
 * here.
 */
const char *pay_decision_refund(pay_store_t *store, const pay_charge_t *charge, apr_pool_t *p);

/* Returns the time for which it may still be busy, in seconds rounded up, at least 1. */
int pay_decision_wait(apr_interval_time_t busy_for);

/* Returns a few words on why it waits for a person; NULL if it does not. */
const char *pay_held_text(pay_held_t held);

#endif
