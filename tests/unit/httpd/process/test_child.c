/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/server_slots.h"

#include "unit.h"

static const struct {
    const char *name;
    int daemons, threads;
    pay_slots_limits_t want;
} rows[] = {
    {"unknown", 0, 0, {.count = 1, .process_max = 1, .line = 0, .reserve = 0}},
    {"one worker", 1, 1, {.count = 1, .process_max = 1, .line = 0, .reserve = 0}},
    {"two processes", 2, 1, {.count = 1, .process_max = 1, .line = 0, .reserve = 0}},
    {"three processes", 3, 1, {.count = 1, .process_max = 1, .line = 0, .reserve = 0}},
    {"four processes", 4, 1, {.count = 2, .process_max = 1, .line = 1, .reserve = 1}},
    {"one process of five threads", 1, 5, {.count = 2, .process_max = 2, .line = 1, .reserve = 1}},
    {"event by default", 16, 25, {.count = 200, .process_max = 12, .line = 100, .reserve = 25}},
    {"prefork by default", 256, 1, {.count = 128, .process_max = 1, .line = 64, .reserve = 16}},
};

START_TEST(test_limits)
{
    const pay_slots_limits_t got = pay_server_slots_limits(rows[_i].daemons, rows[_i].threads);
    const pay_slots_limits_t *want = &rows[_i].want;

    ck_assert_msg(got.count == want->count && got.process_max == want->process_max
                      && got.line == want->line && got.reserve == want->reserve,
                  "%s: %d %d %d %d", rows[_i].name, got.count, got.process_max, got.line,
                  got.reserve);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_limits, 0, UNIT_ROWS(rows));
}

UNIT_PROGRAM(add)
