/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_STREAM_H
#define PAY_HTTPD_CALL_STREAM_H

/* A JSON array that is answered piece by piece, so that its length costs no memory. */

#include "base/problem.h"

#include <apr_buckets.h>
#include <httpd.h>

typedef struct pay_stream_t {
    request_rec *r;
    const char *what; /* for the log: "a refund list" */
    /*
     * Reads the next piece, the first without a comma before it, and appends it to `bb`, whose
     * bytes live until they are sent; `length` is how many. No transaction is open afterwards.
     * `done` is set with the last one. A problem: nothing was appended. `p` is cleared before the
     * next call.
     */
    const pay_problem_t *(*next)(struct pay_stream_t *stream, apr_bucket_brigade *bb,
                                 apr_pool_t *p);
    apr_size_t length;
    int done;
} pay_stream_t;

/*
 * Reads the first piece and answers: with its problem, or 200 and the array. What fails later
 * cannot become an error any more, and must not look whole: the connection is cut, which the log
 * tells. Returns what a handler returns.
 */
int pay_stream_send(pay_stream_t *stream);

#endif
