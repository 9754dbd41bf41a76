/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_RELAY_PARTS_H
#define PAY_ACQUIRER_RELAY_PARTS_H

/* What the files of the relay share (acquirer/pay_relay_*.c). */

#include "acquirer/mod_payments.h"
#include "base/text/time.h"
#include "base/text/writer.h"
#include "model/account.h"

#include <apr_thread_mutex.h>

#define PAY_RELAY_KEPT_MAX 64 /* connections kept for the next calls */
/* A connection that was not used for longer is not used again: servers close what says nothing for
 * some seconds (httpd after 5), and a request that meets the end is lost. */
#define PAY_RELAY_IDLE_MS_MAX 4000
#define PAY_RELAY_ANSWER_MAX (256 * 1024)     /* bytes of an answer but a list */
#define PAY_RELAY_LIST_MAX (16 * 1024 * 1024) /* bytes of a list's window */
#define PAY_RELAY_WINDOW_DAYS 7               /* of a list, between its two dates at most */

struct pay_relay_line_t;

/* Of a process, used by all its threads. */
typedef struct pay_relay_t {
    const char *base;    /* URL without a slash at its end */
    const char *host;    /* and whose calls go there, for the log */
    const char *ca_file; /* NULL: the system's */
    pay_mode_t mode;     /* the upstream's, as the key tells */
    const apr_array_header_t *get_headers;
    const apr_array_header_t *post_headers;
    apr_int64_t idle_ms_max; /* PAY_RELAY_IDLE_MS_MAX; tests may change it */
    volatile apr_uint32_t stopping;
    apr_thread_mutex_t *mutex; /* of the rest */
    struct pay_relay_line_t *kept;
    int kept_count;
    int apart;      /* its clock and ours differ, as the log was told */
    int sums_told;  /* the log has that its charges do not say what was given back */
    char told[200]; /* the last line that was logged about the upstream */
    apr_int64_t told_ms;
} pay_relay_t;

/* What the Date of its answers says of the two clocks. */
typedef enum pay_relay_dates_t {
    PAY_RELAY_DATES_AGREE, /* as long as there was no answer, too */
    PAY_RELAY_DATES_NONE,
    PAY_RELAY_DATES_APART
} pay_relay_dates_t;

/* By how much they may differ: what is answered and sent takes time, too. */
#define PAY_RELAY_APART_MAX apr_time_from_sec(5 * 60)

/* A call of the connector, which may take several requests. */
typedef struct pay_relay_call_t {
    pay_relay_t *relay;
    payments_times_t *times; /* NULL: nobody asks */
    apr_int64_t began_ms;    /* boot clock, as the next */
    apr_int64_t until_ms;
    int requests;              /* made so far */
    pay_relay_dates_t dates;   /* of all answers: the worst */
    apr_interval_time_t ahead; /* by which its clock is, as the last one says; 0: not told */
    apr_interval_time_t apart; /* the same of one that is too far apart */
} pay_relay_call_t;

/* An HTTP answer that came whole. */
typedef struct pay_relay_reply_t {
    int status;
    const char *text;
    apr_size_t len;
    int retry_after; /* seconds; -1: not told */
    int replayed;    /* 1: it is the answer to an earlier request, as it was then */
} pay_relay_reply_t;

/* ---- exchange: one HTTP request, on a kept connection where there is one */

apr_status_t pay_relay_lines_open(pay_relay_t *relay, apr_pool_t *p);
pay_relay_call_t pay_relay_call_begin(pay_relay_t *relay, payments_times_t *times,
                                      apr_interval_time_t timeout);
/*
 * POST of `body`, GET where it is NULL, at most once. PAYMENTS_NOT_SENT; APR_ENOSPC: the answer is
 * longer than `len_max`; APR_TIMEUP, APR_EINTR (the process ends), APR_EGENERAL: there is none.
 * *out lives in `p`.
 */
apr_status_t pay_relay_exchange(pay_relay_reply_t *out, pay_relay_call_t *call, const char *path,
                                const pay_writer_t *body, apr_size_t len_max, apr_pool_t *p);
/* Logs what is wrong with the upstream, the same thing once a minute. Names no secret. */
void pay_relay_tell(pay_relay_t *relay, const char *sentence);

/* ---- slots of the connector, but for refund_query in the same files as what they share */

apr_status_t pay_relay_charge(payments_answer_t *out, void *context,
                              const payments_charge_t *charge, apr_interval_time_t timeout,
                              apr_pool_t *p);
apr_status_t pay_relay_charge_query(payments_answer_t *out, void *context,
                                    const payments_charge_t *charge, apr_interval_time_t timeout,
                                    apr_pool_t *p);
apr_status_t pay_relay_refund(payments_answer_t *out, void *context,
                              const payments_refund_t *refund, const payments_charge_t *charge,
                              apr_interval_time_t timeout, apr_pool_t *p);
apr_status_t pay_relay_refund_query(payments_answer_t *out, void *context,
                                    const payments_refund_t *refund,
                                    const payments_charge_t *charge, apr_interval_time_t timeout,
                                    apr_pool_t *p);
apr_status_t pay_relay_refund_list(void *context, apr_time_t from, apr_time_t to,
                                   payments_record_fn *found, void *baton,
                                   apr_interval_time_t timeout, apr_pool_t *p);
apr_status_t pay_relay_checkout(payments_page_t *out, void *context,
                                const payments_checkout_t *checkout, apr_interval_time_t timeout,
                                apr_pool_t *p);

#endif
