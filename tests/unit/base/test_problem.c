/* SPDX-License-Identifier: Apache-2.0 */
#include "base/problem.h"

#include "unit.h"

#include <string.h>

/* docs/api.md's table. A message of NULL is a sentence of our own. */
static const struct {
    const char *name;
    pay_error_t error;
    int status;
    const char *code;
    const char *message;
    int retry_after;
} rows[] = {
    {"invalid", PAY_ERR_INVALID, 400, "T1", "Invalid request parameter.", 0},
    {"empty", PAY_ERR_EMPTY, 400, "400", "Empty request not allowed.", 0},
    {"unauthorized", PAY_ERR_UNAUTHORIZED, 401, "B01", "Invalid Merchant Authorization.", 0},
    {"forbidden", PAY_ERR_FORBIDDEN, 403, "B02",
     "Invalid Merchant Authorization for this operation.", 0},
    {"reference unknown", PAY_ERR_REFERENCE_UNKNOWN, 404, "N1", NULL, 0},
    {"path unknown", PAY_ERR_PATH_UNKNOWN, 404, "N2", NULL, 0},
    {"method", PAY_ERR_METHOD, 405, "M1", NULL, 0},
    {"not acceptable", PAY_ERR_NOT_ACCEPTABLE, 406, "A1", NULL, 0},
    {"reference reused", PAY_ERR_REFERENCE_REUSED, 409, "D1", NULL, 0},
    {"in progress", PAY_ERR_IN_PROGRESS, 409, "D2", NULL, 1},
    {"not refundable", PAY_ERR_NOT_REFUNDABLE, 409, "R1", NULL, 0},
    {"refund above", PAY_ERR_REFUND_ABOVE, 409, "R2", NULL, 0},
    {"refund full", PAY_ERR_REFUND_FULL, 409, "R3", NULL, 0},
    {"refund busy", PAY_ERR_REFUND_BUSY, 409, "R4", NULL, 1},
    {"refund repeated", PAY_ERR_REFUND_REPEATED, 409, "R5", NULL, 0},
    {"amount differs", PAY_ERR_AMOUNT_DIFFERS, 409, "V1", NULL, 0},
    {"not voidable", PAY_ERR_NOT_VOIDABLE, 409, "V2", NULL, 0},
    {"body too large", PAY_ERR_BODY_TOO_LARGE, 413, "S1", NULL, 0},
    {"media type", PAY_ERR_MEDIA_TYPE, 415, "U1", NULL, 0},
    {"rate", PAY_ERR_RATE, 429, "L1", NULL, 1},
    {"failures", PAY_ERR_FAILURES, 429, "L2", NULL, 1},
    {"internal", PAY_ERR_INTERNAL, 500, "E1", NULL, 0},
    {"later", PAY_ERR_NOT_IMPLEMENTED, 501, "I1", NULL, 0},
    {"store unavailable", PAY_ERR_STORE_UNAVAILABLE, 503, "E2", NULL, 5},
    {"busy", PAY_ERR_BUSY, 503, "E2", NULL, 5},
    {"acquirer unavailable", PAY_ERR_ACQUIRER_UNAVAILABLE, 503, "E2", NULL, 5},
    {"status", PAY_ERR_STATUS, 500, "500", NULL, 0},
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == PAY_ERR_COUNT, "one case per error");

START_TEST(test_make)
{
    const pay_problem_t *problem;

    problem = pay_problem_make(rows[_i].error, NULL, APR_ENOMEM, unit_pool);
    ck_assert_msg(problem->error == rows[_i].error, "%s: error", rows[_i].name);
    ck_assert_msg(problem->status == rows[_i].status, "%s: %d", rows[_i].name, problem->status);
    ck_assert_msg(strcmp(problem->code, rows[_i].code) == 0, "%s: %s", rows[_i].name,
                  problem->code);
    ck_assert_msg(problem->retry_after == rows[_i].retry_after, "%s: retry after %d", rows[_i].name,
                  problem->retry_after);
    ck_assert_msg(problem->message && strlen(problem->message) > 10, "%s: message", rows[_i].name);
    if (rows[_i].message) {
        ck_assert_str_eq(problem->message, rows[_i].message);
    }
    ck_assert_ptr_null(problem->fields);
    ck_assert_int_eq(problem->cause, APR_ENOMEM);
    ck_assert_ptr_eq(problem->pool, unit_pool);
}
END_TEST

static const struct {
    const char *name;
    int status;
    pay_error_t want;
    int want_status;
    const char *want_code;
} status_rows[] = {
    {"bad request", 400, PAY_ERR_INVALID, 400, "T1"},
    {"no credentials", 401, PAY_ERR_UNAUTHORIZED, 401, "B01"},
    {"forbidden", 403, PAY_ERR_FORBIDDEN, 403, "B02"},
    {"not found is a path", 404, PAY_ERR_PATH_UNKNOWN, 404, "N2"},
    {"method", 405, PAY_ERR_METHOD, 405, "M1"},
    {"not acceptable", 406, PAY_ERR_NOT_ACCEPTABLE, 406, "A1"},
    {"request time-out", 408, PAY_ERR_STATUS, 408, "408"},
    {"conflict has no one row", 409, PAY_ERR_STATUS, 409, "409"},
    {"length required", 411, PAY_ERR_STATUS, 411, "411"},
    {"too large", 413, PAY_ERR_BODY_TOO_LARGE, 413, "S1"},
    {"media type", 415, PAY_ERR_MEDIA_TYPE, 415, "U1"},
    {"expectation", 417, PAY_ERR_STATUS, 417, "417"},
    {"rate", 429, PAY_ERR_RATE, 429, "L1"},
    {"header fields", 431, PAY_ERR_STATUS, 431, "431"},
    {"internal", 500, PAY_ERR_INTERNAL, 500, "E1"},
    {"method unknown", 501, PAY_ERR_NOT_IMPLEMENTED, 501, "I1"},
    {"bad gateway", 502, PAY_ERR_STATUS, 502, "502"},
    {"unavailable", 503, PAY_ERR_STORE_UNAVAILABLE, 503, "E2"},
    {"last", 599, PAY_ERR_STATUS, 599, "599"},
    {"one past the last", 600, PAY_ERR_INTERNAL, 500, "E1"},
    {"no error", 200, PAY_ERR_INTERNAL, 500, "E1"},
    {"just no error", 399, PAY_ERR_INTERNAL, 500, "E1"},
    {"nothing", 0, PAY_ERR_INTERNAL, 500, "E1"},
};

START_TEST(test_from_status)
{
    const pay_problem_t *problem = pay_problem_from_status(status_rows[_i].status, unit_pool);

    ck_assert_msg(problem->error == status_rows[_i].want, "%s: error %d", status_rows[_i].name,
                  problem->error);
    ck_assert_msg(problem->status == status_rows[_i].want_status, "%s: %d", status_rows[_i].name,
                  problem->status);
    ck_assert_msg(strcmp(problem->code, status_rows[_i].want_code) == 0, "%s: %s",
                  status_rows[_i].name, problem->code);
    ck_assert_msg(problem->message && *problem->message, "%s: message", status_rows[_i].name);
}
END_TEST

START_TEST(test_field)
{
    const pay_problem_t *problem;
    const pay_field_error_t *fault;

    problem = pay_problem_make(PAY_ERR_REFERENCE_REUSED, "/reference", APR_SUCCESS, unit_pool);
    ck_assert_int_eq(problem->error, PAY_ERR_REFERENCE_REUSED);
    ck_assert_int_eq(problem->fields->nelts, 1);
    fault = &APR_ARRAY_IDX(problem->fields, 0, pay_field_error_t);
    ck_assert_str_eq(fault->field, "/reference");
    ck_assert_str_eq(fault->reason, problem->message);
}
END_TEST

START_TEST(test_add)
{
    pay_problem_t *problem = NULL;
    int i;

    for (i = 0; i < 9; i++) {
        pay_problem_add(&problem, apr_psprintf(unit_pool, "/field%d", i), "It is missing.",
                        unit_pool);
    }
    ck_assert_int_eq(problem->error, PAY_ERR_INVALID);
    ck_assert_int_eq(problem->status, 400);
    ck_assert_str_eq(problem->message, "Invalid request parameter.");
    ck_assert_int_eq(problem->fields->nelts, 9);
    ck_assert_str_eq(APR_ARRAY_IDX(problem->fields, 8, pay_field_error_t).field, "/field8");
    ck_assert_str_eq(APR_ARRAY_IDX(problem->fields, 0, pay_field_error_t).reason, "It is missing.");
}
END_TEST

START_TEST(test_message)
{
    const pay_problem_t *problem;

    problem = pay_problem_makef(PAY_ERR_REFERENCE_UNKNOWN, unit_pool,
                                "no record found for transaction with reference %s", "order-1");
    ck_assert_int_eq(problem->status, 404);
    ck_assert_str_eq(problem->code, "N1");
    ck_assert_str_eq(problem->message, "no record found for transaction with reference order-1");
    ck_assert_ptr_null(problem->fields);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_make, 0, UNIT_ROWS(rows));
    tcase_add_loop_test(tcase, test_from_status, 0, UNIT_ROWS(status_rows));
    tcase_add_test(tcase, test_field);
    tcase_add_test(tcase, test_add);
    tcase_add_test(tcase, test_message);
}

UNIT_PROGRAM(add)
