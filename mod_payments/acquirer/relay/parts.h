/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_RELAY_PARTS_H
#define PAY_ACQUIRER_RELAY_PARTS_H

/* Declarations that the files of the relay share (acquirer/pay_relay_*.c). */

#include "acquirer/mod_payments.h"
#include "base/text/time.h"
#include "base/text/writer.h"
#include "model/account.h"

#include <apr_thread_mutex.h>

#define PAY_RELAY_KEPT_MAX 64 /* idle connections */
/* A connection that was idle for longer is not used again: servers close silent connections after
 * some seconds (httpd after 5), and a request that meets the end is lost. */
#define PAY_RELAY_IDLE_MS_MAX 4000
#define PAY_RELAY_ANSWER_MAX (256 * 1024)     /* bytes of any answer except a list */
#define PAY_RELAY_LIST_MAX (16 * 1024 * 1024) /* bytes of a window of a list */
#define PAY_RELAY_WINDOW_DAYS 7               /* of a list, between its two dates at most */

struct pay_relay_line_t;

/* One for each process, used by all its threads. */
typedef struct pay_relay_t {
    const char *base;    /* URL without a slash at its end */
    const char *host;    /* and the account whose calls go there, for the log */
    const char *ca_file; /* NULL: the system's */
    pay_mode_t mode;     /* the upstream's, from the form of the key */
    const apr_array_header_t *get_headers;
    const apr_array_header_t *post_headers;
    apr_int64_t idle_ms_max; /* PAY_RELAY_IDLE_MS_MAX; tests may change it */
    volatile apr_uint32_t stopping;
    apr_thread_mutex_t *mutex; /* of the following */
    struct pay_relay_line_t *kept;
    int kept_count;
    int apart;      /* the log says that its clock and ours differ */
    int sums_told;  /* the log says that its charges do not report refunds */
    char told[200]; /* the last line that was logged about the upstream */
    apr_int64_t told_ms;
} pay_relay_t;

/* The relation of the two clocks, from the Date of its answers. */
typedef enum pay_relay_dates_t {
    PAY_RELAY_DATES_AGREE, /* also as long as there was no answer */
    PAY_RELAY_DATES_NONE,
    PAY_RELAY_DATES_APART
} pay_relay_dates_t;

/* The largest allowed difference: answering and sending take time, too. */
#define PAY_RELAY_APART_MAX apr_time_from_sec(5 * 60)

/* A call of the connector, which may take several requests. */
typedef struct pay_relay_call_t {
    pay_relay_t *relay;
    payments_times_t *times; /* NULL: not needed */
    apr_int64_t began_ms;    /* boot clock; the deadline likewise */
    apr_int64_t until_ms;
    int requests;              /* made so far */
    pay_relay_dates_t dates;   /* of all answers: the worst */
    apr_interval_time_t ahead; /* how far its clock is ahead, by the last answer; 0: not known */
    apr_interval_time_t apart; /* the same for a clock that differs too much */
} pay_relay_call_t;

/* A complete HTTP answer. */
typedef struct pay_relay_reply_t {
    int status;
    const char *text;
    apr_size_t len;
    int retry_after; /* seconds; -1: absent */
    int replayed;    /* 1: it repeats the answer to an earlier request */
} pay_relay_reply_t;

/* ---- exchange: one HTTP request, on an idle connection if there is one */

apr_status_t pay_relay_lines_open(pay_relay_t *relay, apr_pool_t *p);
pay_relay_call_t pay_relay_call_begin(pay_relay_t *relay, payments_times_t *times,
                                      apr_interval_time_t timeout);
/*
 * Sends POST with `body`, or GET if it is NULL, at most once. PAYMENTS_NOT_SENT; APR_ENOSPC: the
 * answer is longer than `len_max`; APR_TIMEUP, APR_EINTR (the process ends), APR_EGENERAL: there is
 * no answer. *out lives in `p`.
 */
apr_status_t pay_relay_exchange(pay_relay_reply_t *out, pay_relay_call_t *call, const char *path,
                                const pay_writer_t *body, apr_size_t len_max, apr_pool_t *p);
/* Logs a fault of the upstream, the same one once a minute. Names no secret. */
void pay_relay_tell(pay_relay_t *relay, const char *sentence);

/*
 * ---- slots of the connector; all but refund_query are in the same files as the parts they share
 */

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
