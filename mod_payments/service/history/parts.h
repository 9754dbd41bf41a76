/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_HISTORY_PARTS_H
#define PAY_SERVICE_HISTORY_PARTS_H

/* Declarations that the pay_history_*.c files share; no other file includes it. */

#include "service/history/window.h"

/* --- service/history/record.c: an acquirer's record, which is not trusted --- */

/* Returns 0 if its status is not one that a refund has. */
int pay_history_record_state(pay_refund_state_t *out, const payments_record_t *record);

/* Returns 0 if amount or currency differ from `money`; values that either side lacks agree. */
int pay_history_record_agrees(const payments_record_t *record, const pay_money_t *money);

/*
 * Makes a row of history: of `charge`, or (NULL) of the charge that the record names. Texts that
 * must not be kept are left out. APR_EINVAL: it cannot be kept at all, and *reason says why.
 */
apr_status_t pay_history_record_read(pay_refund_t **out, const char **reason,
                                     const payments_record_t *record, const pay_scope_t *scope,
                                     const pay_charge_t *charge, apr_pool_t *p);

/* Counts a record that is not kept, and notes why; `reference` may be anything. */
void pay_history_refuse(pay_history_news_t *news, const char *reference, const char *reason);

/*
 * How far back the server looks by itself, and how old a refund may be for its events to be sent:
 * banks take weeks for refunds, and may reverse them after that.
 */
#define PAY_HISTORY_FAR_DAYS 35

/* --- service/history/visit.c: one window of one account, and its consequences --- */

#define PAY_HISTORY_COMPLAINT_MAX 512
/* The store cannot be used, and has logged that. */
#define PAY_HISTORY_STORE_AGAIN apr_time_from_sec(30)

/*
 * An account, and the progress of this process with it: if it is lost, its windows are fetched
 * again.
 */
typedef struct pay_history_account_t {
    const pay_service_t *service;
    const pay_acquirer_t *acquirer;
    apr_time_t not_before;    /* wall clock; 0: it may be queried at once */
    int tries;                /* failures of the request's window */
    int round_failed;         /* the last one failed, and that was logged */
    int was_request;          /* the last window was a request's */
    apr_time_t round_from;    /* start of the next window of the round under way; 0: no round */
    apr_time_t far_from;      /* start of the next window of the look further back; 0: no look */
    apr_time_t pending_from;  /* the oldest pending one that it has seen so far; 0: none */
    int far_failed;           /* the last one failed, and that was logged */
    apr_uint32_t round_epoch; /* of the store (model/epoch.h), if the round covers everything
                               * since */
    char complaint[PAY_HISTORY_COMPLAINT_MAX]; /* the last one about records of a round */
    char far_complaint[PAY_HISTORY_COMPLAINT_MAX];
} pay_history_account_t;

typedef struct pay_history_visit_t {
    pay_store_t *store;
    pay_history_account_t *account;
    pay_history_t *history;
    pay_history_news_t news;
    apr_time_t now;
    apr_time_t from, to; /* of the window */
    apr_pool_t *p;
} pay_history_visit_t;

/* Fetch the next window of the requested range, or of the server's own round. Statuses are the
 * store's. */
apr_status_t pay_history_visit_request(pay_history_visit_t *visit);
apr_status_t pay_history_visit_round(pay_history_visit_t *visit);
/* Fetches the next window before a round's: once a day, for late decisions. */
apr_status_t pay_history_visit_far(pay_history_visit_t *visit);
/* Ends the request, because the account's acquirer lists the refunds of other accounts too. */
apr_status_t pay_history_visit_refuse(pay_history_visit_t *visit);
/* Time between two looks further back. */
#define PAY_HISTORY_FAR_EVERY apr_time_from_sec(24 * 3600)

/* --- service/history/add.c --- */

/* Writes the refunds (of pay_refund_t *) by imports of their own; statuses as of the window. */
apr_status_t pay_history_add(pay_history_news_t *news, const pay_history_window_t *window,
                             const apr_array_header_t *fresh, apr_pool_t *p);

#endif
