/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/clock.h"
#include "base/shared/slots.h"
#include "unit.h"

#include <apr_pools.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* Work of visitors: at most half of everything, under any load. */

#define MANY 1000000
#define SLOTS_MAX 64
#define LONG_MS 50000
#define VISITOR(account) ((account) | PAY_SLOTS_VISITOR)

static pay_slots_t *make_slots(int count, int process_max, int line)
{
    const pay_slots_limits_t limits = {count, process_max, line, (line + 3) / 4};

    return pay_slots_init(apr_palloc(unit_pool, pay_slots_size(&limits)), &limits);
}

static int take_all(pay_slots_t *slots, apr_uint64_t account, int count)
{
    int got = 0;

    while (count-- > 0) {
        got += pay_slots_take(slots, account) >= 0;
    }
    return got;
}

static const struct {
    const char *name;
    int count;
    int process_max;
    int others;   /* slots that another account has before */
    int visitors; /* how many the visitors of one account get */
    int own;      /* and its own work after that */
} half_rows[] = {
    {"half", 8, MANY, 0, 4, 4},
    {"odd", 9, MANY, 0, 5, 4},
    {"one", 1, 1, 0, 1, 0},
    {"two", 2, MANY, 0, 1, 1},
    {"of a process", 64, 8, 0, 4, 4},
    {"as many as leave half free", 8, MANY, 1, 3, 2},
    {"half of the share of two accounts", 8, MANY, 4, 2, 2},
    {"up to half of the share", 8, MANY, 6, 2, 0},
};

START_TEST(test_half)
{
    const char *name = half_rows[_i].name;
    pay_slots_t *slots = make_slots(half_rows[_i].count, half_rows[_i].process_max, 0);
    int got;

    ck_assert_int_eq(take_all(slots, 2, half_rows[_i].others), half_rows[_i].others);
    got = take_all(slots, VISITOR(1), SLOTS_MAX);
    ck_assert_msg(got == half_rows[_i].visitors, "%s: visitors: %d", name, got);
    got = take_all(slots, 1, SLOTS_MAX);
    ck_assert_msg(got == half_rows[_i].own, "%s: own: %d", name, got);
}
END_TEST

/* Visitors of all accounts together have half, too; the others' own work has the rest. */
START_TEST(test_half_of_all)
{
    pay_slots_t *slots = make_slots(16, MANY, 0);
    apr_uint64_t account;
    int got = 0;

    for (account = 1; account <= 10; account++) {
        got += take_all(slots, VISITOR(account), 2);
    }
    ck_assert_int_eq(got, 8);
    for (account = 11; account <= 18; account++) {
        ck_assert_int_eq(take_all(slots, account, 1), 1);
    }
    ck_assert_int_eq(pay_slots_count(slots), 16);
}
END_TEST

/* A waiter in a thread of its own. */
typedef struct waiter_t {
    pay_slots_t *slots;
    apr_uint64_t account;
    apr_uint64_t lane;
    int held; /* -1: none yet; else a slot of its own, whose lane is not available */
    int slot;
    _Atomic int over;
    pthread_t thread;
} waiter_t;

static void *wait_in_line(void *arg)
{
    waiter_t *one = arg;
    const apr_int64_t until_ms = pay_clock_ms() + LONG_MS;

    one->slot = one->held < 0 ? pay_slots_take_until(one->slots, one->account, one->lane, until_ms)
                              : pay_slots_again(one->slots, one->held, until_ms);
    atomic_store(&one->over, 1);
    return NULL;
}

static void start_waiter(waiter_t *one)
{
    const int before = pay_slots_waiting(one->slots);

    atomic_init(&one->over, 0);
    ck_assert_int_eq(pthread_create(&one->thread, NULL, wait_in_line, one), 0);
    while (pay_slots_waiting(one->slots) == before) {
        ck_assert_int_eq(atomic_load(&one->over), 0);
        usleep(100);
    }
}

static int end_waiter(waiter_t *one)
{
    ck_assert_int_eq(pthread_join(one->thread, NULL), 0);
    return one->slot;
}

/* Visitors fill at most half of the queue, and the account's own work passes them. */
START_TEST(test_line)
{
    pay_slots_t *slots = make_slots(4, MANY, 8);
    waiter_t waiters[4], own;
    int i, last;

    ck_assert_int_eq(take_all(slots, VISITOR(1), 4), 2);
    for (i = 0; i < 4; i++) {
        waiters[i] = (waiter_t){.slots = slots, .account = VISITOR(1), .held = -1};
        start_waiter(&waiters[i]);
    }
    ck_assert_int_eq(pay_slots_take_until(slots, VISITOR(1), 0, pay_clock_ms() + LONG_MS), -1);
    ck_assert_int_ge(pay_slots_take(slots, 1), 0);
    last = pay_slots_take(slots, 1);
    ck_assert_int_ge(last, 0);
    own = (waiter_t){.slots = slots, .account = 1, .held = -1};
    start_waiter(&own);
    pay_slots_give(slots, last);
    ck_assert_int_ge(end_waiter(&own), 0);
    for (i = 0; i < 4; i++) {
        ck_assert_int_eq(atomic_load(&waiters[i].over), 0);
    }
    for (i = 0; i < 2; i++) {
        pay_slots_give(slots, i); /* a visitor's */
    }
    for (i = 0; i < 4; i++) {
        ck_assert_int_ge(end_waiter(&waiters[i]), 0);
        pay_slots_give(slots, waiters[i].slot);
    }
}
END_TEST

/* A visitor that stands aside for its lane delays no own work of the same lane, nor the other way:
 * what is too much for one is not for the other. */
START_TEST(test_lane)
{
    enum { LANE = 1, SHORT_MS = 20 };
    const apr_uint64_t first = _i ? VISITOR(1) : 1, second = _i ? 1 : VISITOR(1);
    pay_slots_t *slots = make_slots(8, MANY, 8);
    waiter_t aside = {.slots = slots, .account = first, .lane = LANE};
    int slot;

    aside.held = pay_slots_take_until(slots, first, LANE, pay_clock_ms() + LONG_MS);
    start_waiter(&aside);
    slot = pay_slots_take_until(slots, second, LANE, pay_clock_ms() + SHORT_MS);
    ck_assert_int_ge(slot, 0);
    pay_slots_give(slots, slot);
    ck_assert_int_ge(end_waiter(&aside), 0);
    pay_slots_give(slots, aside.slot);
    ck_assert_int_eq(pay_slots_count(slots) + pay_slots_waiting(slots), 0);
}
END_TEST

static void add_cases(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_half, 0, UNIT_ROWS(half_rows));
    tcase_add_test(tcase, test_half_of_all);
    tcase_add_test(tcase, test_line);
    tcase_add_loop_test(tcase, test_lane, 0, 2);
}

UNIT_PROGRAM(add_cases)
