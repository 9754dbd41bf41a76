/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_PROBLEM_H
#define PAY_BASE_PROBLEM_H

/* The table of errors that clients see (docs/api.md, "Errors"). */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_tables.h>

typedef enum pay_error_t {
    PAY_ERR_INVALID,              /* 400 T1 */
    PAY_ERR_EMPTY,                /* 400 400 */
    PAY_ERR_UNAUTHORIZED,         /* 401 B01 */
    PAY_ERR_FORBIDDEN,            /* 403 B02 */
    PAY_ERR_REFERENCE_UNKNOWN,    /* 404 N1 */
    PAY_ERR_PATH_UNKNOWN,         /* 404 N2 */
    PAY_ERR_METHOD,               /* 405 M1 */
    PAY_ERR_NOT_ACCEPTABLE,       /* 406 A1 */
    PAY_ERR_REFERENCE_REUSED,     /* 409 D1 */
    PAY_ERR_IN_PROGRESS,          /* 409 D2 */
    PAY_ERR_NOT_REFUNDABLE,       /* 409 R1 */
    PAY_ERR_REFUND_ABOVE,         /* 409 R2 */
    PAY_ERR_REFUND_FULL,          /* 409 R3 */
    PAY_ERR_REFUND_BUSY,          /* 409 R4 */
    PAY_ERR_REFUND_REPEATED,      /* 409 R5 */
    PAY_ERR_AMOUNT_DIFFERS,       /* 409 V1 */
    PAY_ERR_NOT_VOIDABLE,         /* 409 V2; also for a closed payment link */
    PAY_ERR_BODY_TOO_LARGE,       /* 413 S1 */
    PAY_ERR_MEDIA_TYPE,           /* 415 U1 */
    PAY_ERR_RATE,                 /* 429 L1 */
    PAY_ERR_FAILURES,             /* 429 L2: too many payments failed (PaymentsFailureLimit) */
    PAY_ERR_INTERNAL,             /* 500 E1 */
    PAY_ERR_NOT_IMPLEMENTED,      /* 501 I1 */
    PAY_ERR_STORE_UNAVAILABLE,    /* 503 E2 */
    PAY_ERR_BUSY,                 /* 503 E2: a limit on work in flight */
    PAY_ERR_ACQUIRER_UNAVAILABLE, /* 503 E2 */
    PAY_ERR_STATUS,               /* any other status of Apache's: code is the number */
    PAY_ERR_COUNT
} pay_error_t;

typedef struct pay_field_error_t {
    const char *field;  /* JSON pointer (RFC 6901), "/amount"; path parts as "/startDate" */
    const char *reason; /* completes "the field must be ..."; never repeats the value */
} pay_field_error_t;

typedef struct pay_problem_t {
    pay_error_t error;
    int status;                 /* HTTP */
    const char *code;           /* responseCode */
    const char *message;        /* for the client */
    int retry_after;            /* seconds for Retry-After, 0: no header */
    apr_array_header_t *fields; /* of pay_field_error_t, NULL if no field is at fault */
    apr_status_t cause;         /* for the log only */
    apr_pool_t *pool;
} pay_problem_t;

/*
 * Makes a problem of the table with its standard message. `field` (static or in `p`) may be NULL;
 * otherwise its reason is the message. `cause` is APR_SUCCESS if there is no cause. Never NULL.
 */
pay_problem_t *pay_problem_make(pay_error_t error, const char *field, apr_status_t cause,
                                apr_pool_t *p);

/* Does the same with another message. */
pay_problem_t *pay_problem_makef(pay_error_t error, apr_pool_t *p, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Makes a problem for a status that Apache raised: the table's row for it, else PAY_ERR_STATUS with
 * its number.
 */
pay_problem_t *pay_problem_from_status(int status, apr_pool_t *p);

/* Adds a field at fault. If `*problem` is NULL, makes a PAY_ERR_INVALID first. */
void pay_problem_add(pay_problem_t **problem, const char *field, const char *reason, apr_pool_t *p);

#endif
