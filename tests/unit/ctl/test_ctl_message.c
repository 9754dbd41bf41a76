/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/message.h"

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_MAX 300

static const struct {
    const char *name;
    const char *fields[2]; /* at fault; NULL: no field */
    const char *want;
} field_rows[] = {
    {"none", {NULL, NULL}, "paymentsctl: It is not valid.\n"},
    {"a name", {"/amount", NULL}, "paymentsctl: --amount: is wrong\n"},
    {"two words", {"/customer_note", NULL}, "paymentsctl: --customer-note: is wrong\n"},
    {"the first day", {"/startDate", NULL}, "paymentsctl: --from: is wrong\n"},
    {"the last day", {"/endDate", NULL}, "paymentsctl: --to: is wrong\n"},
    {"two of them", {"/email", "/card"}, "paymentsctl: --email: is wrong; --card: is wrong\n"},
};

static pay_problem_t *problem_with(const char *const fields[2])
{
    pay_problem_t *problem = pay_problem_make(PAY_ERR_INVALID, NULL, APR_SUCCESS, unit_pool);
    int i;

    problem->message = "It is not valid.";
    for (i = 0; i < 2 && fields[i]; i++) {
        pay_problem_add(&problem, fields[i], "is wrong", unit_pool);
    }
    return problem;
}

/* The message about it on standard error. */
static const char *said_of(ctl_exit_t *code, const pay_problem_t *problem)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/said", NULL);
    const int fd = open(path, O_CREAT | O_RDWR, 0600), before = dup(STDERR_FILENO);
    char text[OUTPUT_MAX] = "";

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    *code = ctl_fail_problem(problem, unit_pool);
    (void)fflush(stderr);
    ck_assert_int_eq(dup2(before, STDERR_FILENO), STDERR_FILENO);
    (void)close(before);
    ck_assert_int_ge(pread(fd, text, sizeof(text) - 1, 0), 0);
    (void)close(fd);
    return apr_pstrdup(unit_pool, text);
}

START_TEST(test_fields)
{
    ctl_exit_t code;
    const char *said = said_of(&code, problem_with(field_rows[_i].fields));

    ck_assert_msg(strcmp(said, field_rows[_i].want) == 0, "%s: %s", field_rows[_i].name, said);
    ck_assert_int_eq(code, CTL_EXIT_ILLEGAL);
}
END_TEST

static const struct {
    const char *name;
    pay_error_t error;
    apr_status_t cause;
    ctl_exit_t want;
} code_rows[] = {
    {"a value", PAY_ERR_INVALID, APR_SUCCESS, CTL_EXIT_ILLEGAL},
    {"what is stored", PAY_ERR_REFERENCE_REUSED, APR_SUCCESS, CTL_EXIT_REFUSED},
    {"the store", PAY_ERR_STORE_UNAVAILABLE, APR_SUCCESS, CTL_EXIT_ACCESS},
    {"a damaged store", PAY_ERR_STORE_UNAVAILABLE, PAY_STORE_ECORRUPT, CTL_EXIT_NOT_VALID},
    {"a commit that nobody knows of", PAY_ERR_STORE_UNAVAILABLE, PAY_STORE_EUNKNOWN,
     CTL_EXIT_UNKNOWN},
};

START_TEST(test_codes)
{
    ctl_exit_t code;

    (void)said_of(&code,
                  pay_problem_make(code_rows[_i].error, NULL, code_rows[_i].cause, unit_pool));
    ck_assert_msg(code == code_rows[_i].want, "%s: %d", code_rows[_i].name, code);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_fields, 0, UNIT_ROWS(field_rows));
    tcase_add_loop_test(tcase, test_codes, 0, UNIT_ROWS(code_rows));
}

UNIT_PROGRAM(add)
