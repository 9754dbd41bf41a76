/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_FAILURES_H
#define PAY_SERVICE_FAILURES_H

/*
 * Payments that fail too often (docs/directives.md, PaymentsFailureLimit). An attempt is judged
 * after its reference was looked up and before anything is written or an acquirer is called; the
 * process that stores its failure then notes it.
 */

#include "base/shared/failure_table.h"
#include "service/service.h"

/* The payer and the means of payment of an attempt, as far as known: NULL or "" if not. */
typedef struct pay_attempt_t {
    pay_scope_t scope;
    int is_visitor;      /* with a public key, or on a page: not from the shop's own server */
    const char *address; /* of the payer, never of the shop's server */
    const char *email;
    const char *token;
    const pay_card_t *card; /* typed on a page of Test Mode */
    const char *link;       /* reference of a payment link */
} pay_attempt_t;

/* One block as the dashboard shows it. */
typedef struct pay_failure_item_t {
    const char *id;
    const char *kind;
    const char *hint;
    apr_time_t until;
} pay_failure_item_t;

const char *pay_failure_kind_name(pay_failure_kind_t kind);

/*
 * Returns NULL, or 429 L2 with the time to wait. An account above its limit refuses a token, an
 * e-mail address or, for a visitor, a network that failed a short while ago; and every visitor once
 * others have failed half as often again.
 */
const pay_problem_t *pay_failures_judge(const pay_service_t *service, const pay_attempt_t *attempt,
                                        apr_pool_t *p);

/*
 * Counts a failure of the attempt. If a block begins, writes that to the log and the account's
 * audit.
 */
void pay_failures_note(const pay_service_t *service, const pay_attempt_t *attempt, apr_pool_t *p);

/*
 * Does the same for a charge that was decided now with this outcome; does nothing unless the
 * payer's means were declined. `address` is the payer's; NULL: as in the row.
 */
void pay_failures_note_charge(const pay_service_t *service, const pay_charge_t *charge,
                              const pay_outcome_t *outcome, const char *address, apr_pool_t *p);

/*
 * Lists blocks of the account in this mode: array of pay_failure_item_t, bounded; *count: of all.
 */
apr_array_header_t *pay_failures_list(int *count, const pay_service_t *service,
                                      const pay_scope_t *scope, apr_pool_t *p);

/* 404 N1: there is no such block. */
const pay_problem_t *pay_failures_find(pay_failure_item_t *out, const pay_service_t *service,
                                       const pay_scope_t *scope, const char *id, apr_pool_t *p);

/* Ends a block, for service->actor. Without an entry in the audit nothing is changed. */
const pay_problem_t *pay_failures_lift(const pay_service_t *service, const pay_scope_t *scope,
                                       const char *id, apr_pool_t *p);

#endif
