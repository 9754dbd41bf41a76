/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_METER_H
#define PAY_BASE_SHARED_METER_H

/*
 * Counters and histograms in memory that all processes of the server share. Every floor may count;
 * without a meter counting has no effect. Lock-free, any thread. docs/operations.md lists them.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_time.h>

typedef struct pay_meter_t pay_meter_t;

typedef enum pay_meter_counter_t {
    PAY_METER_CHARGE_SUCCESSFUL, /* charges decided, by outcome and mode: test first, then live */
    PAY_METER_CHARGE_SUCCESSFUL_LIVE,
    PAY_METER_CHARGE_FAILED,
    PAY_METER_CHARGE_FAILED_LIVE,
    PAY_METER_CHARGE_PENDING, /* answered 202; counted again once decided */
    PAY_METER_CHARGE_PENDING_LIVE,
    PAY_METER_WEBHOOK_DELIVERED,
    PAY_METER_WEBHOOK_FAILED,
    PAY_METER_WEBHOOK_PARKED,
    PAY_METER_MAIL_DELIVERED,
    PAY_METER_MAIL_FAILED,
    PAY_METER_MAIL_PARKED,
    PAY_METER_REFUSED_IN_FLIGHT, /* charges and refunds that got 503 because of the acquirer */
    PAY_METER_REFUSED_BREAKER,   /* before anything was written, by reason */
    PAY_METER_REFUSED_CREDENTIALS,
    PAY_METER_REFUSED_SLOTS,
    PAY_METER_ACQUIRER_UNKNOWN,     /* calls that ended with an unknown outcome of the payment */
    PAY_METER_ACQUIRER_NOT_SENT,    /* calls that did not reach the acquirer */
    PAY_METER_ACQUIRER_QUERIES,     /* queries for the outcome of a payment */
    PAY_METER_FAILURE_LIMITED_CARD, /* payments refused after failures, by what was counted */
    PAY_METER_FAILURE_LIMITED_LINK,
    PAY_METER_FAILURE_LIMITED_ADDRESS,
    PAY_METER_FAILURE_LIMITED_ACCOUNT,
    PAY_METER_COUNTER_COUNT
} pay_meter_counter_t;

typedef enum pay_meter_histogram_t {
    PAY_METER_COMMIT,           /* of one commit of the store */
    PAY_METER_ACQUIRER,         /* of one call to an acquirer that leaves this process */
    PAY_METER_DELIVERY,         /* of one delivery attempt */
    PAY_METER_ACQUIRER_CONNECT, /* parts of such a call, each from its start; not observed if */
    PAY_METER_ACQUIRER_TLS,     /* unknown or not needed (a reused connection) */
    PAY_METER_ACQUIRER_FIRST_BYTE,
    PAY_METER_HISTOGRAM_COUNT
} pay_meter_histogram_t;

#define PAY_METER_OPERATIONS_MAX 32 /* rows of requests by operation */
#define PAY_METER_BUCKETS 17        /* of a histogram, 100 us to 30 s; one more above */
#define PAY_METER_STATUSES 27       /* of HTTP; the last one for all that have no row */
#define PAY_METER_LAYOUT 4          /* incremented when the meaning of the memory changes */

apr_size_t pay_meter_size(void);
/*
 * `memory`: pay_meter_size() bytes, zeroed, aligned as malloc's; a meter that is already there is
 * used as it is.
 */
pay_meter_t *pay_meter_init(void *memory);

/* Sets the meter that this process counts in; NULL for no meter. Called while single-threaded. */
void pay_meter_use(pay_meter_t *meter);

void pay_meter_add(pay_meter_counter_t counter, apr_uint64_t count);
void pay_meter_observe(pay_meter_histogram_t histogram, apr_interval_time_t time);
/* Counts one answered request; `operation` is the caller's number, from 0. */
void pay_meter_request(int operation, int status);

/* The clock for observed times: monotonic, with an arbitrary start. */
apr_time_t pay_meter_now(void);

/* --- reading: sums over all processes, each number exact, read one after the other --- */

typedef struct pay_meter_times_t {
    apr_uint64_t bucket[PAY_METER_BUCKETS + 1]; /* not cumulative; the last one is above all
                                                 * bounds */
    apr_uint64_t count;
    apr_uint64_t sum_us;
} pay_meter_times_t;

apr_uint64_t pay_meter_read(const pay_meter_t *meter, pay_meter_counter_t counter);
void pay_meter_read_times(pay_meter_times_t *out, const pay_meter_t *meter,
                          pay_meter_histogram_t histogram);
/* `row`: 0 to PAY_METER_STATUSES - 1. */
apr_uint64_t pay_meter_read_requests(const pay_meter_t *meter, int operation, int row);

/* Returns the upper end of a bucket, inclusive. */
apr_interval_time_t pay_meter_bound(int bucket);
/* Returns the status of a row; 0 for the last one. */
int pay_meter_status(int row);

#endif
