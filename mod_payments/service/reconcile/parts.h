/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_RECONCILE_PARTS_H
#define PAY_SERVICE_RECONCILE_PARTS_H

/* What the pay_reconcile*.c files share; nobody else includes it. */

#include "service/acquiring.h"
#include "service/reconcile/reconcile.h"

/* What was learnt of an acquirer that was asked. */
typedef struct pay_reconcile_answer_t {
    int answered;                 /* 1: it said something, -1: it did not; 0: it was not asked */
    apr_interval_time_t patience; /* that it asks for */
} pay_reconcile_answer_t;

/* A row that was taken, and who can ask about it. */
typedef struct pay_reconcile_row_t {
    pay_store_t *store;
    const pay_service_t *service;   /* NULL: none has the acquirer, as the next */
    const pay_acquirer_t *acquirer; /* that it was sent through, or will be */
    const pay_charge_t *charge;
    const pay_refund_t *refund;     /* NULL: it is about the charge */
    apr_time_t begin_before;        /* later its lease may end before the answer is stored */
    pay_reconcile_answer_t *answer; /* set when it is asked about */
    apr_pool_t *pool;
} pay_reconcile_row_t;

/* What charges and refunds have in common that are asked about. */
typedef struct pay_reconcile_subject_t {
    const char *noun; /* "charge", "refund" */
    const char *reference;
    const char *acquirer;
    const pay_scope_t *scope;
    const char *absent_message; /* of the outcome, when it is absent for good */
    apr_time_t created_at;      /* by the clock of now, as far as that is known */
    apr_time_t decided_at;
    apr_uint32_t attempts;
    apr_time_t absent_since;
    pay_moment_t absent_from;
    pay_held_t held;
} pay_reconcile_subject_t;

/* What was found out about it. */
typedef struct pay_reconcile_finding_t {
    pay_outcome_t outcome;
    pay_acquirer_news_t news;
    apr_time_t due_at;
} pay_reconcile_finding_t;

/* --- service/reconcile/reconcile.c --- */
/* Account numbers of services, as the store has them now; accounts may be renamed. */
apr_status_t pay_reconcile_accounts(apr_uint32_t **out, pay_store_t *store,
                                    const apr_array_header_t *services, apr_pool_t *p);
/* Sets service and acquirer of the row, and how long its lease lets it begin. */
void pay_reconcile_place(pay_reconcile_row_t *row, const apr_array_header_t *services,
                         const apr_uint32_t *accounts, apr_time_t lease_end);
/* The lease of one take: longer than any call of theirs. */
apr_interval_time_t pay_reconcile_lease(const apr_array_header_t *services);
/* 0: its breaker is not closed, or it refuses our key. */
int pay_reconcile_in_order(const pay_acquirer_t *acquirer);
/* 1 if the store was put back and nobody confirmed it (model/epoch.h), or nobody can tell. */
int pay_reconcile_is_put_back(const pay_reconcile_row_t *row);
/* 1 for Live Mode's work while the account is in Test Mode, or nobody can tell. */
int pay_reconcile_is_off(const pay_reconcile_row_t *row, pay_mode_t mode);
/* Asks and stores the answer, or sends what waits. 1: it was decided. */
int pay_reconcile_row(const pay_reconcile_row_t *row);

/* --- service/reconcile/judge.c --- */
pay_reconcile_subject_t pay_reconcile_subject(const pay_reconcile_row_t *row);
/* The acquirer's answer of now; nothing when there is no acquirer. `late` 1: of the refund of a
 * late approval. */
void pay_reconcile_ask(pay_reconcile_finding_t *out, const pay_reconcile_row_t *row, int late);
/* `due_at`, or sooner where our key was refused: no payment goes through until a question does. */
apr_time_t pay_reconcile_soon(const pay_reconcile_finding_t *finding, apr_time_t due_at,
                              apr_time_t now);
/* What follows from the finding for a row that is pending: an outcome that may be stored. */
void pay_reconcile_judge(pay_reconcile_finding_t *finding, const pay_reconcile_row_t *row);
/* How long an absence that was first told at `from` still has to be repeated; 0: it is believed.
 * One of another boot of the machine, or of none, begins anew. */
apr_interval_time_t pay_reconcile_absent_for(const pay_reconcile_row_t *row,
                                             const pay_moment_t *from);
/* Why a person should look at a row that stays undecided; `since` when that began. */
pay_held_t pay_reconcile_held(const pay_reconcile_finding_t *finding,
                              const pay_reconcile_row_t *row, apr_time_t since);
/* Tells the log why a person should look at it, when the reason is a new one. */
void pay_reconcile_tell(const pay_reconcile_subject_t *subject, pay_held_t held);

/* --- service/reconcile/checkout.c --- */
/* 1 when it is a checkout that its payer has not paid, as far as is known, or that was closed. */
int pay_reconcile_is_checkout(const pay_charge_t *charge);
int pay_reconcile_checkout(const pay_reconcile_row_t *row);

/* --- service/reconcile/charge.c, service/reconcile/refund.c, service/reconcile/late.c --- */
int pay_reconcile_charge(const pay_reconcile_row_t *row);
int pay_reconcile_refund(const pay_reconcile_row_t *row);
/* A refund that waits: sent once, when its acquirer says that it has none. */
int pay_reconcile_refund_send(const pay_reconcile_row_t *row);
/* Of what failed for absence. Nothing is decided: 0. */
int pay_reconcile_charge_late(const pay_reconcile_row_t *row);
int pay_reconcile_refund_late(const pay_reconcile_row_t *row);

#endif
