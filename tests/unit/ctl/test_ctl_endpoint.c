/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/endpoint.h"

#include "unit.h"

#define NOW 1767225600000000
#define REFUSED "The mail relay answered 550"

static const struct {
    const char *name;
    pay_endpoint_t endpoint;
    const char *want;
} line_rows[] = {
    {"no try", {.error = ""}, "nothing sent yet"},
    {"taken", {.answered_at = NOW, .status = 204, .error = ""}, "last answer 204"},
    {"refused", {.answered_at = NOW, .status = 500, .error = "busy"}, "last answer 500: busy"},
    {"refused in words that name the status",
     {.answered_at = NOW, .status = 550, .error = REFUSED},
     "last answer " REFUSED},
    {"no answer", {.answered_at = NOW, .error = ""}, "last answer no answer"},
    {"no answer, and why", {.answered_at = NOW, .error = "timeout"}, "last answer timeout"},
    {"one failure less",
     {.answered_at = NOW, .status = 500, .error = "", .failures = PAY_ENDPOINT_FAILURES_MAX - 1},
     "last answer 500"},
    {"it fails",
     {.answered_at = NOW, .status = 500, .error = "", .failures = PAY_ENDPOINT_FAILURES_MAX},
     "failing, 5 in a row; last answer 500"},
};

START_TEST(test_lines)
{
    const char *line = ctl_endpoint_line(&line_rows[_i].endpoint, unit_pool);

    ck_assert_pstr_eq(line, line_rows[_i].want);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_lines, 0, UNIT_ROWS(line_rows));
}

UNIT_PROGRAM(add)
