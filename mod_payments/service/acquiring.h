/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACQUIRING_H
#define PAY_SERVICE_ACQUIRING_H

/*
 * A call to an acquirer, whoever makes it: its place among the calls under way, the circuit
 * breaker, times and counters, and the log line about a failure.
 */

#include "acquirer/acquirer.h"
#include "base/problem.h"

struct pay_service_t;

/*
 * A place that was taken; the caller must pass it to one of the calls below, or to
 * pay_acquiring_leave.
 */
typedef struct pay_acquiring_t {
    const pay_acquirer_t *acquirer;
    int slot;           /* of the acquirer's slots */
    int ticket;         /* of the breaker, entered and without a result so far; else 0 */
    int visitor_ticket; /* of the visitors' own, likewise */
    int visitor;        /* 1: for the holder of a public key, or on a hosted page */
    pay_slots_t *calls; /* Live Mode's of this server; NULL: no slot of these was taken */
    int call;           /* the slot */
} pay_acquiring_t;

/*
 * Finds the account's acquirer of this name, for payments that were sent through it; NULL: not
 * configured.
 */
const pay_acquirer_t *pay_acquiring_find(const struct pay_service_t *service, pay_mode_t mode,
                                         const char *name);

/*
 * Takes a place for a charge, refund or checkout of this scope, among the calls of this server and
 * among those of the acquirer, before anything is written. If none is free it waits for both,
 * PaymentsSlotWait in all. 503 with Retry-After if none is free by then or the queue is full, while
 * the breaker is open, or while the acquirer refuses our credentials. Test Mode takes no slot of
 * the server: it never waits for an outside service.
 */
const pay_problem_t *pay_acquiring_enter(pay_acquiring_t *out, const struct pay_service_t *service,
                                         const pay_scope_t *scope, const pay_acquirer_t *acquirer,
                                         apr_pool_t *p);
/*
 * Does the same for a visitor, who has a public key or only the address of a page: at most half of
 * the places, and a breaker beside the other one; failures of visitors open only that one.
 */
const pay_problem_t *pay_acquiring_enter_visitor(pay_acquiring_t *out,
                                                 const struct pay_service_t *service,
                                                 const pay_scope_t *scope,
                                                 const pay_acquirer_t *acquirer, apr_pool_t *p);
/*
 * Does the same for a call that no client waits for: a place at the acquirer, at once or not at
 * all.
 */
const pay_problem_t *pay_acquiring_enter_own(pay_acquiring_t *out, const pay_acquirer_t *acquirer,
                                             apr_pool_t *p);
/*
 * Takes a place for a query that a visitor caused: returns 1 if a visitor's checkout would get one
 * at once. It does not count as a probe of a breaker, nor 0 as a refusal.
 */
int pay_acquiring_enter_query(pay_acquiring_t *out, const struct pay_service_t *service,
                              const pay_scope_t *scope, const pay_acquirer_t *acquirer);
/* Releases the place; a call that was never made is skipped at the breaker. May be repeated. */
void pay_acquiring_leave(pay_acquiring_t *acquiring);

/* Statuses and *out as of pay_acquirer_charge and _refund; failures are logged. */
apr_status_t pay_acquiring_charge(pay_outcome_t *out, pay_acquiring_t *acquiring,
                                  const pay_charge_t *charge, apr_pool_t *p);
apr_status_t pay_acquiring_refund(pay_outcome_t *out, pay_acquiring_t *acquiring,
                                  const pay_refund_t *refund, const pay_charge_t *charge,
                                  apr_pool_t *p);
apr_status_t pay_acquiring_late_refund(pay_outcome_t *out, pay_acquiring_t *acquiring,
                                       const pay_charge_t *charge, apr_pool_t *p);

/*
 * Requests the acquirer's page for a checkout; statuses as of pay_acquirer_checkout; failures are
 * logged.
 */
apr_status_t pay_acquiring_checkout(const char **page_url, pay_acquiring_t *acquiring,
                                    const pay_charge_t *charge, const char *return_url,
                                    apr_pool_t *p);

/*
 * Queries take no place of their own, and neither open nor close a breaker; a successful one ends
 * the refusal of our credentials. `refund` NULL: of the charge; with `late` 1: of the refund of its
 * late approval.
 */
apr_status_t pay_acquiring_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                 const pay_acquirer_t *acquirer, const pay_refund_t *refund,
                                 const pay_charge_t *charge, int late, apr_pool_t *p);
/* Makes the query that a place was taken for, about a charge. */
apr_status_t pay_acquiring_visitor_query(pay_outcome_t *out, const pay_acquiring_t *acquiring,
                                         const pay_charge_t *charge, apr_pool_t *p);

/*
 * Draws the token for the payer of a checkout if the outcome approves one that was paid by card in
 * Test Mode; in Live Mode the acquirer's own token counts. Called before the transaction that
 * stores the outcome. 500 if there is no randomness.
 */
const pay_problem_t *pay_checkout_token_draw(pay_outcome_t *outcome, const pay_charge_t *charge,
                                             apr_pool_t *p);

/* A query of any kind was answered: our credentials are not refused. */
void pay_acquiring_is_known(const pay_acquirer_t *acquirer);

#endif
