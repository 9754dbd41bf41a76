/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_HISTORY_PARTS_H
#define PAY_SERVICE_HISTORY_PARTS_H

/* What the pay_history_*.c files share; nobody else includes it. */

#include "service/history/window.h"

/* --- service/history/record.c: what an acquirer's record says, which is not trusted --- */

/* 0: its status is none that a refund has. */
int pay_history_record_state(pay_refund_state_t *out, const payments_record_t *record);

/* 0 when amount or currency are others than `money`; what either side does not tell, agrees. */
int pay_history_record_agrees(const payments_record_t *record, const pay_money_t *money);

/*
 * As a row of history: of `charge`, or (NULL) of what the record names. Texts that may not be kept
 * are left out. APR_EINVAL: it cannot be kept at all, and *reason says why.
 */
apr_status_t pay_history_record_read(pay_refund_t **out, const char **reason,
                                     const payments_record_t *record, const pay_scope_t *scope,
                                     const pay_charge_t *charge, apr_pool_t *p);

/* Counts a record that is not kept, and says why; `reference` may be anything. */
void pay_history_refuse(pay_history_news_t *news, const char *reference, const char *reason);

/* How far back the server looks by itself, and who is told what it finds: refunds take banks weeks,
 * and may be taken back after that. */
#define PAY_HISTORY_FAR_DAYS 35

/* --- service/history/turn.c: one window of one account, and what comes of it --- */

#define PAY_HISTORY_COMPLAINT_MAX 512
/* The store cannot be used, and said so in the log. */
#define PAY_HISTORY_STORE_AGAIN apr_time_from_sec(30)

/* An account, and where this process stands with it: what is lost with it is fetched again. */
typedef struct pay_history_account_t {
    const pay_service_t *service;
    const pay_acquirer_t *acquirer;
    apr_time_t not_before;   /* wall clock; 0: it may be asked at once */
    int tries;               /* of the request's window that failed */
    int round_failed;        /* the last one did, and was told */
    int was_request;         /* the last window was a request's */
    apr_time_t round_from;   /* where the next window of the round under way begins; 0: none is */
    apr_time_t far_from;     /* where the next window of the look further back begins; 0: none is */
    apr_time_t pending_from; /* the oldest one that it has seen pending so far; 0: none */
    int far_failed;          /* the last one did, and was told */
    apr_uint32_t round_epoch; /* of the store (model/epoch.h), if the round holds all since */
    char complaint[PAY_HISTORY_COMPLAINT_MAX]; /* the last one about records of a round */
    char far_complaint[PAY_HISTORY_COMPLAINT_MAX];
} pay_history_account_t;

typedef struct pay_history_turn_t {
    pay_store_t *store;
    pay_history_account_t *account;
    pay_history_t *history;
    pay_history_news_t news;
    apr_time_t now;
    apr_time_t from, to; /* of the window */
    apr_pool_t *p;
} pay_history_turn_t;

/* The next window of the range that was asked for, or of the server's own round. Statuses are the
 * store's. */
apr_status_t pay_history_turn_request(pay_history_turn_t *turn);
apr_status_t pay_history_turn_round(pay_history_turn_t *turn);
/* The next window of what lies before a round: once a day, for what is decided late. */
apr_status_t pay_history_turn_far(pay_history_turn_t *turn);
/* Ends the request, because the account's acquirer lists the refunds of others too. */
apr_status_t pay_history_turn_refuse(pay_history_turn_t *turn);
/* Between two looks further back. */
#define PAY_HISTORY_FAR_EVERY apr_time_from_sec(24 * 3600)

/* --- service/history/add.c --- */

/* Writes the refunds (of pay_refund_t *) by imports of their own; statuses as of the window. */
apr_status_t pay_history_add(pay_history_news_t *news, const pay_history_window_t *window,
                             const apr_array_header_t *fresh, apr_pool_t *p);

#endif
