/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/range.h"

#include "unit.h"

#include <string.h>

static const struct {
    const char *name;
    const char *zone;
    const char *from, *to; /* NULL: not given */
    ctl_exit_t exit;
    const char *first, *last;
} rows[] = {
    {"all", "UTC", NULL, NULL, CTL_OK, "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"},
    {"all of Lagos", "Africa/Lagos", NULL, NULL, CTL_OK, "0000-01-01T00:00:00Z",
     "9999-12-31T23:59:59.999Z"},
    {"whole days", "UTC", "2026-01-01", "2026-01-02", CTL_OK, "2026-01-01T00:00:00Z",
     "2026-01-02T23:59:59.999999Z"},
    {"one day in Lagos", "Africa/Lagos", "2026-01-01", "2026-01-01", CTL_OK, "2025-12-31T23:00:00Z",
     "2026-01-01T22:59:59.999999Z"},
    {"from a day on", "Africa/Lagos", "2026-01-01", NULL, CTL_OK, "2025-12-31T23:00:00Z",
     "9999-12-31T23:59:59.999Z"},
    {"to a day", "Africa/Lagos", NULL, "2026-01-01", CTL_OK, "0000-01-01T00:00:00Z",
     "2026-01-01T22:59:59.999999Z"},
    {"to the second", "UTC", "2026-01-01T12:00:00Z", "2026-01-01T12:00:00Z", CTL_OK,
     "2026-01-01T12:00:00Z", "2026-01-01T12:00:00Z"},
    {"reversed", "UTC", "2026-01-02", "2026-01-01", CTL_EXIT_ILLEGAL, NULL, NULL},
    {"no such day", "UTC", "2026-02-30", NULL, CTL_EXIT_ILLEGAL, NULL, NULL},
    {"no such zone", "Africa/Atlantis", NULL, NULL, CTL_EXIT_ACCESS, NULL, NULL},
};

START_TEST(test_ranges)
{
    ctl_t ctl = {.pool = unit_pool};
    pay_account_t account = {.settings = pay_account_settings_builtin};
    pay_time_range_t range;
    apr_time_t first, last;

    account.settings.timezone = rows[_i].zone;
    ctl.option[CTL_OPTION_FROM] = rows[_i].from;
    ctl.option[CTL_OPTION_TO] = rows[_i].to;
    ck_assert_msg(ctl_range_read(&range, &ctl, &account) == rows[_i].exit, "%s", rows[_i].name);
    if (rows[_i].exit == CTL_OK) {
        ck_assert_int_eq(pay_time_parse(&first, rows[_i].first), APR_SUCCESS);
        ck_assert_int_eq(pay_time_parse(&last, rows[_i].last), APR_SUCCESS);
        ck_assert_msg(range.from == first && range.to == last, "%s", rows[_i].name);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_ranges, 0, UNIT_ROWS(rows));
}

UNIT_PROGRAM(add)
