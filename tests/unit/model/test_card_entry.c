/* SPDX-License-Identifier: Apache-2.0 */
#include "model/card_entry.h"

#include "base/problem.h"
#include "unit.h"

#include <string.h>

#define GOOD "5555555555554444"
#define NOW APR_INT64_C(1790000000000000)       /* 2026-09-21T14:13:20Z */
#define MONTH_END APR_INT64_C(1790812799999999) /* 2026-09-30, its last microsecond */

static const struct {
    const char *name;
    pay_card_entry_t entry;
    const char *faults; /* "" for none: the card of GOOD */
} entries[] = {
    {"right", {GOOD, "09/29", "123"}, ""},
    {"blanks and dashes", {" 5555-5555 5555 4444 ", "09/29", "123"}, ""},
    {"a code of four", {GOOD, "09/29", "1234"}, ""},
    {"a whole year", {GOOD, "09/2029", "123"}, ""},
    {"a blank", {GOOD, "09 29", "123"}, ""},
    {"nothing between", {GOOD, "0929", "123"}, ""},
    {"nothing between, a whole year", {GOOD, "092029", "123"}, ""},
    {"blanks around the stroke", {GOOD, " 09 / 29 ", "123"}, ""},
    {"a dash", {GOOD, "09-29", "123"}, ""},
    {"this month", {GOOD, "09/26", "123"}, ""},
    {"the last year that is believed", {GOOD, "09/2076", "123"}, ""},
    {"a year on", {GOOD, "09/2077", "123"}, "/expiry"},
    {"last month", {GOOD, "08/26", "123"}, "/expiry"},
    {"last year", {GOOD, "12/25", "123"}, "/expiry"},
    {"a year of the last century", {GOOD, "09/1999", "123"}, "/expiry"},
    {"month 0", {GOOD, "00/29", "123"}, "/expiry"},
    {"month 13", {GOOD, "13/29", "123"}, "/expiry"},
    {"one digit of a month", {GOOD, "9/29", "123"}, "/expiry"},
    {"three digits of a year", {GOOD, "09/029", "123"}, "/expiry"},
    {"five digits of a year", {GOOD, "09/20290", "123"}, "/expiry"},
    {"two strokes", {GOOD, "09//29", "123"}, "/expiry"},
    {"a day", {GOOD, "09/29/01", "123"}, "/expiry"},
    {"letters behind", {GOOD, "09/29x", "123"}, "/expiry"},
    {"an empty expiry", {GOOD, "", "123"}, "/expiry"},
    {"one digit", {GOOD, "0", "123"}, "/expiry"},
    {"no expiry", {GOOD, NULL, "123"}, "/expiry"},
    {"a code of two", {GOOD, "09/29", "12"}, "/csc"},
    {"a code of five", {GOOD, "09/29", "12345"}, "/csc"},
    {"a code with a blank", {GOOD, "09/29", "12 3"}, "/csc"},
    {"an empty code", {GOOD, "09/29", ""}, "/csc"},
    {"no code", {GOOD, "09/29", NULL}, "/csc"},
    {"a real card", {"4111111111111111", "09/29", "123"}, "/number"},
    {"a digit more", {GOOD "4", "09/29", "123"}, "/number"},
    {"a digit less", {"555555555555444", "09/29", "123"}, "/number"},
    {"an empty number", {"", "09/29", "123"}, "/number"},
    {"no number", {NULL, "09/29", "123"}, "/number"},
    {"a real card, and more", {"4111111111111111", "09/20", "1"}, "/number/expiry/csc"},
    {"nothing at all", {NULL, NULL, NULL}, "/number/expiry/csc"},
};

START_TEST(test_judge)
{
    const pay_card_entry_t *entry = &entries[_i].entry;
    const pay_problem_t *problem;
    const pay_field_error_t *field;
    const pay_card_t *card;
    const char *faults = "";
    int i;

    problem = pay_card_entry_judge(&card, entry, NOW, unit_pool);
    for (i = 0; problem && i < problem->fields->nelts; i++) {
        field = &APR_ARRAY_IDX(problem->fields, i, pay_field_error_t);
        faults = apr_pstrcat(unit_pool, faults, field->field, NULL);
        ck_assert_msg(!entry->number || strlen(entry->number) < 4
                          || !strstr(field->reason, entry->number),
                      "%s", entries[_i].name);
    }
    ck_assert_msg(strcmp(faults, entries[_i].faults) == 0, "%s: %s", entries[_i].name, faults);
    ck_assert_msg(!card == !!problem, "%s", entries[_i].name);
    ck_assert_msg(!card || strcmp(card->last4, "4444") == 0, "%s", entries[_i].name);
    ck_assert_msg(!problem || problem->status == 400, "%s", entries[_i].name);
}
END_TEST

/* To the last microsecond of its month, in UTC. */
START_TEST(test_month_ends)
{
    const pay_card_entry_t entry = {GOOD, "09/26", "123"};
    const pay_card_t *card;

    ck_assert_ptr_null(pay_card_entry_judge(&card, &entry, MONTH_END, unit_pool));
    ck_assert_ptr_nonnull(pay_card_entry_judge(&card, &entry, MONTH_END + 1, unit_pool));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_judge, 0, UNIT_ROWS(entries));
    tcase_add_test(tcase, test_month_ends);
}

UNIT_PROGRAM(add)
