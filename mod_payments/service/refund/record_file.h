/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_REFUND_RECORD_FILE_H
#define PAY_SERVICE_REFUND_RECORD_FILE_H

/*
 * Splits a file into the JSON objects that it contains: one JSON array of objects, or one object a
 * line. It is read in pieces of fixed size, so its length does not matter. Objects are separated by
 * their brackets only; the parser decides whether each one is JSON. Used by one thread.
 */

#include <apr_errno.h>
#include <apr_pools.h>

#define PAY_RECORD_MAX (64 * 1024) /* bytes of one object */

typedef struct pay_record_file_t pay_record_file_t;

typedef struct pay_record_t {
    const char *text; /* text[len] is NUL; valid until the next call */
    apr_size_t len;
    apr_uint64_t line; /* from 1: where the object begins */
} pay_record_t;

/* `path` must name a regular file: APR_EINVAL otherwise. Closed with `p`. */
apr_status_t pay_record_file_open(pay_record_file_t **out, const char *path, apr_pool_t *p);

/*
 * Reads the next object. APR_EOF: there are no more, and the file ends correctly. APR_EINVAL: the
 * file is empty or malformed, see pay_record_file_fault. Other codes: it could not be read.
 */
apr_status_t pay_record_file_next(pay_record_t *out, pay_record_file_t *file);

/*
 * Returns a sentence that names the line, once pay_record_file_next has returned APR_EINVAL; lives
 * with the file.
 */
const char *pay_record_file_fault(const pay_record_file_t *file);

/* Begins again at the first object. */
apr_status_t pay_record_file_rewind(pay_record_file_t *file);

#endif
