/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_STREAM_H
#define PAY_HTTPD_CALL_STREAM_H

/* A JSON array that is sent piece by piece, so that its length costs no memory. */

#include "base/problem.h"

#include <apr_buckets.h>
#include <httpd.h>

typedef struct pay_stream_t {
    request_rec *r;
    const char *what; /* for the log: "a refund list" */
    /*
     * Reads the next piece, the first without a comma before it, and appends it to `bb`, whose
     * bytes live until they are sent; sets `length` to their number. No transaction is open
     * afterwards. Sets `done` with the last one. If it returns a problem, nothing was appended. `p`
     * is cleared before the next call.
     */
    const pay_problem_t *(*next)(struct pay_stream_t *stream, apr_bucket_brigade *bb,
                                 apr_pool_t *p);
    apr_size_t length;
    int done;
} pay_stream_t;

/*
 * Reads the first piece and answers: with its problem, or with 200 and the array. A later failure
 * can no longer become an error, and the array must not look complete: the connection is cut, which
 * is logged. Returns what a handler returns.
 */
int pay_stream_send(pay_stream_t *stream);

#endif
