/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_RECONCILE_PARTS_H
#define PAY_SERVICE_RECONCILE_PARTS_H

/* Declarations that the pay_reconcile*.c files share; no other file includes it. */

#include "service/acquiring.h"
#include "service/reconcile/reconcile.h"

/* The reaction of an acquirer to a query. */
typedef struct pay_reconcile_answer_t {
    int answered;                 /* 1: it answered, -1: it did not; 0: it was not queried */
    apr_interval_time_t patience; /* that it asks us to wait */
} pay_reconcile_answer_t;

/* A row that was taken, and the acquirer to query. */
typedef struct pay_reconcile_row_t {
    pay_store_t *store;
    const pay_service_t *service;   /* NULL: no service has the acquirer, which is then NULL too */
    const pay_acquirer_t *acquirer; /* that it was sent through, or will be */
    const pay_charge_t *charge;
    const pay_refund_t *refund;     /* NULL: the row is of the charge */
    apr_time_t begin_before;        /* after it the lease may end before the answer is stored */
    pay_reconcile_answer_t *answer; /* set by the query */
    apr_pool_t *pool;
} pay_reconcile_row_t;

/* The common part of queried charges and refunds. */
typedef struct pay_reconcile_subject_t {
    const char *noun; /* "charge", "refund" */
    const char *reference;
    const char *acquirer;
    const pay_scope_t *scope;
    const char *absent_message; /* of the outcome if it is absent for good */
    apr_time_t created_at;      /* by the present clock, as far as known */
    apr_time_t decided_at;
    apr_uint32_t attempts;
    apr_time_t absent_since;
    pay_moment_t absent_from;
    pay_held_t held;
} pay_reconcile_subject_t;

/* The result of a query. */
typedef struct pay_reconcile_finding_t {
    pay_outcome_t outcome;
    pay_acquirer_news_t news;
    apr_time_t due_at;
} pay_reconcile_finding_t;

/* --- service/reconcile/reconcile.c --- */
/* Reads the account numbers of services, as they are in the store now; accounts may be renamed. */
apr_status_t pay_reconcile_accounts(apr_uint32_t **out, pay_store_t *store,
                                    const apr_array_header_t *services, apr_pool_t *p);
/* Sets service and acquirer of the row, and until when its lease lets it begin. */
void pay_reconcile_place(pay_reconcile_row_t *row, const apr_array_header_t *services,
                         const apr_uint32_t *accounts, apr_time_t lease_end);
/* Returns the lease of one take: longer than any call of theirs. */
apr_interval_time_t pay_reconcile_lease(const apr_array_header_t *services);
/* Returns 0 if its breaker is not closed, or if it refuses our key. */
int pay_reconcile_in_order(const pay_acquirer_t *acquirer);
/*
 * Returns 1 if the store was restored and nobody confirmed it (model/epoch.h), or if that is
 * unknown.
 */
int pay_reconcile_is_put_back(const pay_reconcile_row_t *row);
/* Returns 1 for Live Mode's work while the account is in Test Mode, or if that is unknown. */
int pay_reconcile_is_off(const pay_reconcile_row_t *row, pay_mode_t mode);
/* Queries the row and stores the answer, or sends it if it waits. Returns 1 if it was decided. */
int pay_reconcile_row(const pay_reconcile_row_t *row);

/* --- service/reconcile/judge.c --- */
pay_reconcile_subject_t pay_reconcile_subject(const pay_reconcile_row_t *row);
/* Queries the acquirer; does nothing if there is no acquirer. `late` 1: about the refund of a late
 * approval. */
void pay_reconcile_ask(pay_reconcile_finding_t *out, const pay_reconcile_row_t *row, int late);
/*
 * Returns `due_at`, or a sooner time if our key was refused: no payment is sent until a query
 * succeeds.
 */
apr_time_t pay_reconcile_soon(const pay_reconcile_finding_t *finding, apr_time_t due_at,
                              apr_time_t now);
/* Turns the finding for a pending row into an outcome that may be stored. */
void pay_reconcile_judge(pay_reconcile_finding_t *finding, const pay_reconcile_row_t *row);
/* Returns how long an absence that was first reported at `from` must still be repeated; 0: it is
 * believed. One of another boot of the machine, or without a boot, begins again. */
apr_interval_time_t pay_reconcile_absent_for(const pay_reconcile_row_t *row,
                                             const pay_moment_t *from);
/* Returns why a person should look at a row that stays undecided; `since` is when that began. */
pay_held_t pay_reconcile_held(const pay_reconcile_finding_t *finding,
                              const pay_reconcile_row_t *row, apr_time_t since);
/* Logs why a person should look at it, if the reason is new. */
void pay_reconcile_tell(const pay_reconcile_subject_t *subject, pay_held_t held);

/* --- service/reconcile/checkout.c --- */
/*
 * Returns 1 if it is a checkout that its payer has not paid, as far as known, or that was closed.
 */
int pay_reconcile_is_checkout(const pay_charge_t *charge);
int pay_reconcile_checkout(const pay_reconcile_row_t *row);

/* --- service/reconcile/charge.c, service/reconcile/refund.c, service/reconcile/late.c --- */
int pay_reconcile_charge(const pay_reconcile_row_t *row);
int pay_reconcile_refund(const pay_reconcile_row_t *row);
/* A waiting refund: sends it once, if its acquirer reports that it does not have it. */
int pay_reconcile_refund_send(const pay_reconcile_row_t *row);
/* Of a payment that failed for absence. Nothing is decided: 0. */
int pay_reconcile_charge_late(const pay_reconcile_row_t *row);
int pay_reconcile_refund_late(const pay_reconcile_row_t *row);

#endif
