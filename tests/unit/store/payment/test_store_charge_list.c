/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/charge.h"

#define SEC(n) apr_time_from_sec(n)
#define CHARGES 7

static const pay_time_range_t always = {APR_INT64_MIN, APR_INT64_MAX};

/* Seconds of the clock, from TILL_NOW, at which charges 1 to CHARGES are made. */
typedef struct clock_t {
    const char *name;
    int at[CHARGES];
    int order[CHARGES]; /* the list's, by seq */
} case_t;

static const case_t clocks[] = {
    {"a clock that runs", {0, 1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6, 7}},
    {"a clock that stands still", {0, 0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6, 7}},
    {"a small step back is not believed", {0, 9, 8, 8, 9, 10, 10}, {1, 2, 3, 4, 5, 6, 7}},
    {"a large step back", {0, 100, 200, 50, 51, 150, 300}, {1, 4, 5, 2, 6, 3, 7}},
    {"two steps back", {0, 100, 50, 200, 20, 21, 300}, {1, 5, 6, 3, 2, 4, 7}},
    {"back to the very same time", {0, 100, 0, 100, 0, 100, 200}, {1, 3, 5, 2, 4, 6, 7}},
};

static void fill(int i, const case_t *row)
{
    int n;

    for (n = 0; n < CHARGES; n++) {
        till_clock = TILL_NOW + SEC(row->at[n]);
        (void)till_open(i, apr_psprintf(unit_pool, "order-%d", 9 - n), 100);
    }
}

static apr_array_header_t *list(int i, const pay_time_range_t *range, const pay_charge_t *after,
                                int limit)
{
    apr_array_header_t *charges;

    ck_assert_int_eq(pay_store_charge_list(&charges, till->store, &till->scopes[i], range, after,
                                           limit, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_le(charges->nelts, limit);
    return charges;
}

/* Every chunk size gives every charge once, whatever the clock did, and only the scope's own. */
START_TEST(test_clocks_and_chunks)
{
    const case_t *row = &clocks[_i];
    apr_array_header_t *charges;
    pay_charge_t *after;
    int i, n, limit, seen;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(list(i, &always, NULL, 1)->nelts, 0);
        fill(i, row);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        for (limit = 1; limit <= CHARGES + 1; limit++) {
            after = NULL;
            seen = 0;
            do {
                charges = list(i, &always, after, limit);
                for (n = 0; n < charges->nelts; n++) {
                    after = APR_ARRAY_IDX(charges, n, pay_charge_t *);
                    ck_assert_msg(seen < CHARGES && after->seq == (apr_uint64_t)row->order[seen],
                                  "%s: charge %d of the list is %d", row->name, seen,
                                  (int)after->seq);
                    ck_assert_uint_eq(after->scope.account, till->scopes[i].account);
                    ck_assert_int_eq(after->scope.mode, till->scopes[i].mode);
                    seen++;
                }
            } while (charges->nelts > 0);
            ck_assert_msg(seen == CHARGES, "%s: %d charges by %d", row->name, seen, limit);
        }
    }
    till_check_clean();
}
END_TEST

/* Charges made after the position of a list neither appear in it nor move anything. */
START_TEST(test_made_meanwhile)
{
    apr_array_header_t *charges;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        fill(i, &clocks[0]);
        charges = list(i, &always, NULL, 3);
        till_clock = TILL_NOW - SEC(100); /* the clock steps back */
        (void)till_open(i, "before", 100);
        till_clock = TILL_NOW + SEC(100);
        (void)till_open(i, "behind", 100);
        charges = list(i, &always, APR_ARRAY_IDX(charges, 2, pay_charge_t *), 10);
        ck_assert_int_eq(charges->nelts, CHARGES - 3 + 1);
        ck_assert(APR_ARRAY_IDX(charges, 0, pay_charge_t *)->seq == 4);
        ck_assert_str_eq(APR_ARRAY_IDX(charges, CHARGES - 3, pay_charge_t *)->reference, "behind");
    }
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t from, to; /* from TILL_NOW */
    int first, count;
} range_cases[] = {
    {"all", 0, SEC(6), 1, 7},
    {"both ends are in", SEC(2), SEC(4), 3, 3},
    {"one instant", SEC(3), SEC(3), 4, 1},
    {"just after one", SEC(3) + 1, SEC(5), 5, 2},
    {"just before one", SEC(3), SEC(5) - 1, 4, 2},
    {"before all", -SEC(9), -1, 0, 0},
    {"after all", SEC(6) + 1, SEC(100), 0, 0},
    {"no time at all", SEC(3), SEC(2), 0, 0},
};

START_TEST(test_range)
{
    pay_charge_t early = {.created_at = TILL_NOW - SEC(1), .seq = 99};
    apr_array_header_t *charges;
    pay_time_range_t range;
    int i, n;

    for (i = 0; i < TILL_SCOPES; i++) {
        fill(i, &clocks[0]);
    }
    range.from = TILL_NOW + range_cases[_i].from;
    range.to = TILL_NOW + range_cases[_i].to;
    for (i = 0; i < TILL_SCOPES; i++) {
        charges = list(i, &range, NULL, PAY_STORE_ROWS_MAX);
        ck_assert_msg(charges->nelts == range_cases[_i].count, "%s: %d", range_cases[_i].name,
                      charges->nelts);
        for (n = 0; n < charges->nelts; n++) {
            ck_assert(APR_ARRAY_IDX(charges, n, pay_charge_t *)->seq
                      == (apr_uint64_t)(range_cases[_i].first + n));
        }
        /* `after` never reaches back before the range. */
        charges = list(i, &range, &early, PAY_STORE_ROWS_MAX);
        ck_assert_msg(_i == 5 || charges->nelts == range_cases[_i].count, "%s: %d",
                      range_cases[_i].name, charges->nelts);
    }
}
END_TEST

/* A withdrawn charge leaves the list, and its place may be taken again. */
START_TEST(test_withdrawn)
{
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        fill(i, &clocks[1]);
        ck_assert_int_eq(pay_store_charge_withdraw(till->store, &till->scopes[i], 3, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(list(i, &always, NULL, 10)->nelts, CHARGES - 1);
        ck_assert(APR_ARRAY_IDX(list(i, &always, NULL, 10), 2, pay_charge_t *)->seq == 4);
    }
    till_check_clean();
}
END_TEST

typedef enum spoil_t {
    SPOIL_CHARGE_GONE,
    SPOIL_OTHER_TIME,
    SPOIL_KEY_SHORT,
    SPOIL_ENTRY_GONE
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
    apr_status_t want_list, want_withdraw;
    int want_rows;
} spoil_cases[] = {
    {"the charge is gone", SPOIL_CHARGE_GONE, PAY_STORE_ECORRUPT, APR_NOTFOUND, 0},
    {"an entry at another time", SPOIL_OTHER_TIME, PAY_STORE_ECORRUPT, APR_SUCCESS, 0},
    {"a key that is too short", SPOIL_KEY_SHORT, PAY_STORE_ECORRUPT, APR_SUCCESS, 0},
    {"the entry is gone", SPOIL_ENTRY_GONE, APR_SUCCESS, APR_SUCCESS, 1},
};

START_TEST(test_spoiled)
{
    apr_array_header_t *charges;
    pay_store_key_t key;
    apr_status_t rv;

    (void)till_open(1, "order-1", 100);
    till_clock += SEC(1);
    (void)till_open(1, "order-2", 100);
    pay_store_charge_time_key(&key, &till->scopes[1], TILL_NOW, 1);
    switch (spoil_cases[_i].how) {
    case SPOIL_CHARGE_GONE:
        pay_store_charge_key(&key, &till->scopes[1], 1);
        till_plant(PAY_TABLE_CHARGE, &key, NULL, 0);
        break;
    case SPOIL_OTHER_TIME:
        pay_store_charge_time_key(&key, &till->scopes[1], TILL_NOW - 1, 1);
        till_plant(PAY_TABLE_CHARGE_BY_TIME, &key, "", 0);
        break;
    case SPOIL_KEY_SHORT:
        key.len--;
        till_plant(PAY_TABLE_CHARGE_BY_TIME, &key, "", 0);
        break;
    default:
        till_plant(PAY_TABLE_CHARGE_BY_TIME, &key, NULL, 0);
    }
    rv = pay_store_charge_list(&charges, till->store, &till->scopes[1], &always, NULL, 10,
                               unit_pool);
    ck_assert_msg(rv == spoil_cases[_i].want_list, "%s: list %d", spoil_cases[_i].name, rv);
    if (rv == APR_SUCCESS) {
        ck_assert_int_eq(charges->nelts, spoil_cases[_i].want_rows);
    }
    ck_assert_int_eq(list(2, &always, NULL, 10)->nelts, 0);
    rv = pay_store_charge_withdraw(till->store, &till->scopes[1], 1, unit_pool);
    ck_assert_msg(rv == spoil_cases[_i].want_withdraw, "%s: withdraw %d", spoil_cases[_i].name, rv);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_clocks_and_chunks, 0, UNIT_ROWS(clocks));
    tcase_add_test(tcase, test_made_meanwhile);
    tcase_add_loop_test(tcase, test_range, 0, UNIT_ROWS(range_cases));
    tcase_add_test(tcase, test_withdrawn);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoil_cases));
}

UNIT_PROGRAM(add)
