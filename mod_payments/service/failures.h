/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_FAILURES_H
#define PAY_SERVICE_FAILURES_H

/*
 * Payments that fail too often (docs/directives.md, PaymentsFailureLimit). An attempt is judged
 * after its reference was looked up and before anything is written or an acquirer is called; it is
 * noted once its failure is stored, by whoever stored it.
 */

#include "base/shared/failure_table.h"
#include "service/service.h"

/* Who tries to pay with what, as far as it is known: NULL or "" where it is not. */
typedef struct pay_attempt_t {
    pay_scope_t scope;
    int is_visitor;      /* a public key's, or a page's: not the shop's own server */
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
 * NULL, or 429 L2 with the time to wait. An account that is above its limit refuses what has a
 * token, an e-mail address or, of a visitor, a network that failed a short while ago; and every
 * visitor once others of them have failed half as often again.
 */
const pay_problem_t *pay_failures_judge(const pay_service_t *service, const pay_attempt_t *attempt,
                                        apr_pool_t *p);

/* Counts a failure of the attempt. Where a block begins the log and the account's audit say so. */
void pay_failures_note(const pay_service_t *service, const pay_attempt_t *attempt, apr_pool_t *p);

/*
 * The same for a charge that was decided now with this outcome; nothing unless the payer's means
 * were declined. `address` is of the payer; NULL: as the row has it.
 */
void pay_failures_note_charge(const pay_service_t *service, const pay_charge_t *charge,
                              const pay_outcome_t *outcome, const char *address, apr_pool_t *p);

/* Blocks of the account in this mode: array of pay_failure_item_t, bounded; *count: of all. */
apr_array_header_t *pay_failures_list(int *count, const pay_service_t *service,
                                      const pay_scope_t *scope, apr_pool_t *p);

/* 404 N1: there is no such block. */
const pay_problem_t *pay_failures_find(pay_failure_item_t *out, const pay_service_t *service,
                                       const pay_scope_t *scope, const char *id, apr_pool_t *p);

/* Ends a block, for service->actor. No entry in the audit, no change. */
const pay_problem_t *pay_failures_lift(const pay_service_t *service, const pay_scope_t *scope,
                                       const char *id, apr_pool_t *p);

#endif
