/* SPDX-License-Identifier: Apache-2.0 */
#include "base/problem.h"

#include <apr_strings.h>
#include <assert.h>
#include <stdarg.h>

#define RETRY_SOON 1  /* seconds: the work in the way takes about as long as one charge */
#define RETRY_LATER 5 /* seconds: something must be repaired, or a queue must drain */

typedef struct row_t {
    int status;
    const char *code;
    const char *message;
    int retry_after;
    int stands_for_status; /* 1: the row for this status if Apache raises it */
} row_t;

static const row_t rows[] = {
    [PAY_ERR_INVALID] = {400, "T1", "Invalid request parameter.", 0, 1},
    [PAY_ERR_EMPTY] = {400, "400", "Empty request not allowed.", 0, 0},
    [PAY_ERR_UNAUTHORIZED] = {401, "B01", "Invalid Merchant Authorization.", 0, 1},
    [PAY_ERR_FORBIDDEN] = {403, "B02", "Invalid Merchant Authorization for this operation.", 0, 1},
    [PAY_ERR_REFERENCE_UNKNOWN] = {404, "N1", "no record found for transaction with this reference",
                                   0, 0},
    [PAY_ERR_PATH_UNKNOWN] = {404, "N2", "There is no such operation.", 0, 1},
    [PAY_ERR_METHOD] = {405, "M1", "This operation does not allow the request's method.", 0, 1},
    [PAY_ERR_NOT_ACCEPTABLE] = {406, "A1",
                                "Only application/json, text/json or text/plain can be returned.",
                                0, 1},
    [PAY_ERR_REFERENCE_REUSED] = {409, "D1",
                                  "The reference was already used for a different request.", 0, 0},
    [PAY_ERR_IN_PROGRESS] = {409, "D2", "The same request is still being worked on.", RETRY_SOON,
                             0},
    [PAY_ERR_NOT_REFUNDABLE] = {409, "R1", "Only a successful transaction can be refunded.", 0, 0},
    [PAY_ERR_REFUND_ABOVE] = {409, "R2", "The amount is above what is left to refund.", 0, 0},
    [PAY_ERR_REFUND_FULL] = {409, "R3", "The transaction is already fully refunded.", 0, 0},
    [PAY_ERR_REFUND_BUSY] = {409, "R4",
                             "Another refund of the transaction is still being worked on.",
                             RETRY_SOON, 0},
    [PAY_ERR_REFUND_REPEATED] = {409, "R5", "The same partial refund was just made.", 0, 0},
    [PAY_ERR_AMOUNT_DIFFERS] = {409, "V1", "The amount does not match the transaction.", 0, 0},
    [PAY_ERR_NOT_VOIDABLE] = {409, "V2", "Only a checkout that is still pending can be voided.", 0,
                              0},
    [PAY_ERR_BODY_TOO_LARGE] = {413, "S1", "The request body is too large.", 0, 1},
    [PAY_ERR_MEDIA_TYPE] = {415, "U1",
                            "The request body must be JSON and its Content-Type must say so.", 0,
                            1},
    [PAY_ERR_RATE] = {429, "L1", "There are too many requests.", RETRY_SOON, 1},
    [PAY_ERR_FAILURES] = {429, "L2", "Too many payments failed. Try again later.", RETRY_SOON, 0},
    [PAY_ERR_INTERNAL] = {500, "E1", "The server failed to process the request.", 0, 1},
    [PAY_ERR_NOT_IMPLEMENTED] = {501, "I1", "This operation is not available on this server yet.",
                                 0, 1},
    [PAY_ERR_STORE_UNAVAILABLE] = {503, "E2", "The service is unavailable at the moment.",
                                   RETRY_LATER, 1},
    [PAY_ERR_BUSY] = {503, "E2", "The service is busy at the moment.", RETRY_LATER, 0},
    [PAY_ERR_ACQUIRER_UNAVAILABLE] = {503, "E2", "The card acquirer is unavailable at the moment.",
                                      RETRY_LATER, 0},
    [PAY_ERR_STATUS] = {500, "500", "The request cannot be processed.", 0, 0},
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == PAY_ERR_COUNT, "one row per error");

/* Sentences for statuses without a row of their own. */
static const struct {
    int status;
    const char *message;
} raised[] = {
    {408, "The request did not arrive in time."},
    {411, "The request needs a Content-Length."},
    {414, "The request's URL is too long."},
    {417, "The request's Expect header cannot be met."},
    {421, "The request was sent to the wrong server."},
    {426, "The request needs another protocol."},
    {431, "The request's header fields are too large."},
    {502, "A server behind this one gave no valid answer."},
    {504, "A server behind this one did not answer in time."},
    {505, "The request's HTTP version is not supported."},
};

pay_problem_t *pay_problem_make(pay_error_t error, const char *field, apr_status_t cause,
                                apr_pool_t *p)
{
    pay_problem_t *problem = apr_pcalloc(p, sizeof(*problem));
    const row_t *row;

    assert((int)error >= 0);
    assert(error < PAY_ERR_COUNT);
    row = &rows[error];
    problem->error = error;
    problem->status = row->status;
    problem->code = row->code;
    problem->message = row->message;
    problem->retry_after = row->retry_after;
    problem->cause = cause;
    problem->pool = p;
    if (field) {
        pay_problem_add(&problem, field, row->message, p);
    }
    return problem;
}

pay_problem_t *pay_problem_makef(pay_error_t error, apr_pool_t *p, const char *format, ...)
{
    pay_problem_t *problem = pay_problem_make(error, NULL, APR_SUCCESS, p);
    va_list args;

    va_start(args, format);
    problem->message = apr_pvsprintf(p, format, args);
    va_end(args);
    return problem;
}

pay_problem_t *pay_problem_from_status(int status, apr_pool_t *p)
{
    pay_problem_t *problem;
    size_t i;

    for (i = 0; i < PAY_ERR_COUNT; i++) {
        if (rows[i].stands_for_status && rows[i].status == status) {
            return pay_problem_make((pay_error_t)i, NULL, APR_SUCCESS, p);
        }
    }
    if (status < 400 || status > 599) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, APR_SUCCESS, p);
    }
    problem = pay_problem_make(PAY_ERR_STATUS, NULL, APR_SUCCESS, p);
    problem->status = status;
    problem->code = apr_itoa(p, status);
    for (i = 0; i < sizeof(raised) / sizeof(raised[0]); i++) {
        if (raised[i].status == status) {
            problem->message = raised[i].message;
        }
    }
    return problem;
}

void pay_problem_add(pay_problem_t **problem, const char *field, const char *reason, apr_pool_t *p)
{
    pay_field_error_t fault = {field, reason};

    if (!*problem) {
        *problem = pay_problem_make(PAY_ERR_INVALID, NULL, APR_SUCCESS, p);
    }
    if (!(*problem)->fields) {
        (*problem)->fields = apr_array_make((*problem)->pool, 4, sizeof(pay_field_error_t));
    }
    APR_ARRAY_PUSH((*problem)->fields, pay_field_error_t) = fault;
}
