/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/refund.h"

#define ROWS 7

static const pay_time_range_t ever = {-APR_INT64_MAX, APR_INT64_MAX};

static apr_array_header_t *page(int i, pay_page_cursor_t *cursor, const pay_time_range_t *range,
                                int limit)
{
    apr_array_header_t *rows;

    ck_assert_int_eq(pay_store_refund_page(&rows, cursor, till->store, &till->scopes[i], range,
                                           limit, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_le(rows->nelts, limit);
    return rows;
}

/* All references of the range in parts of `limit`, in one line; each part goes on where a client's
 * would. */
static const char *pages(int i, const pay_time_range_t *range, int limit)
{
    pay_page_cursor_t cursor = {.started = 0};
    const char *line = "";
    apr_array_header_t *rows;
    int n, calls = 0;

    do {
        pay_page_cursor_t kept = {
            .created_at = cursor.created_at, .seq = cursor.seq, .started = cursor.started};

        cursor = kept;
        rows = page(i, &cursor, range, limit);
        for (n = 0; n < rows->nelts; n++) {
            line = apr_pstrcat(unit_pool, line, *line ? " " : "",
                               APR_ARRAY_IDX(rows, n, pay_refund_t *)->refund_reference, NULL);
        }
        ck_assert_int_le(++calls, ROWS + 2);
    } while (!cursor.done);
    return line;
}

/* Refunds of each scope in turn, a second apart except for the last two; the references, newest
 * first. */
static void fill(const char *want[TILL_SCOPES])
{
    pay_refund_t *refund;
    int i, n;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        want[i] = "";
    }
    for (n = 0; n < ROWS; n++) {
        till_clock += n < ROWS - 1 ? apr_time_from_sec(1) : 0;
        for (i = 0; i < TILL_SCOPES; i++) {
            refund = till_refund(i, "order-1", 10 + n, PAY_REFUND_OPENED);
            (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
            want[i] = apr_pstrcat(unit_pool, refund->refund_reference, n ? " " : "", want[i], NULL);
        }
    }
}

START_TEST(test_pages)
{
    static const int limits[] = {1, 2, 3, ROWS, ROWS + 1, PAY_STORE_ROWS_MAX};
    const char *want[TILL_SCOPES];
    int i, n;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_str_eq(pages(i, &ever, 1), "");
    }
    fill(want);
    for (i = 0; i < TILL_SCOPES; i++) {
        for (n = 0; n < UNIT_ROWS(limits); n++) {
            ck_assert_str_eq(pages(i, &ever, limits[n]), want[i]);
        }
    }
}
END_TEST

/* Seconds after TILL_NOW, both inclusive; the last two rows are of one millisecond. */
static const struct {
    const char *name;
    int from, to;
    int count;
} range_cases[] = {
    {"all", 1, 6, 7},      {"the oldest", 1, 1, 1}, {"the newest two", 6, 6, 2},
    {"before", -9, 0, 0},  {"behind", 7, 99, 0},    {"inside", 2, 4, 3},
    {"reversed", 5, 2, 0},
};

START_TEST(test_range)
{
    const pay_time_range_t range = {TILL_NOW + apr_time_from_sec(range_cases[_i].from),
                                    TILL_NOW + apr_time_from_sec(range_cases[_i].to)};
    const char *want[TILL_SCOPES];
    const char *at;
    int i, count;

    fill(want);
    for (i = 0; i < TILL_SCOPES; i++) {
        at = pages(i, &range, 2);
        count = *at != '\0';
        for (; *at; at++) {
            count += *at == ' ';
        }
        ck_assert_msg(count == range_cases[_i].count, "%s: %d", range_cases[_i].name, count);
    }
}
END_TEST

/* Rows of an unfinished import are skipped, before 1970 too; once finished they are there. */
START_TEST(test_import)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 4, sizeof(pay_refund_t *));
    const char *want[TILL_SCOPES];
    pay_import_t run;
    int at, n;

    fill(want);
    for (n = 0; n < 3; n++) {
        APR_ARRAY_PUSH(rows, pay_refund_t *) =
            till_history(1, n, n ? TILL_NOW + apr_time_from_sec(2 * n) : -apr_time_from_sec(86400),
                         PAY_REFUND_PROCESSED, "order-1", 1);
    }
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[1], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(pages(1, &ever, 2), want[1]);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    for (n = 0; n < 3; n++) {
        ck_assert_ptr_nonnull(
            strstr(pages(1, &ever, 2), APR_ARRAY_IDX(rows, n, pay_refund_t *)->refund_reference));
    }
    ck_assert_str_eq(pages(0, &ever, 2), want[0]);
    ck_assert_str_eq(pages(2, &ever, 2), want[2]);
}
END_TEST

/* Where it ended it stays. */
START_TEST(test_done)
{
    pay_page_cursor_t cursor = {.started = 0};
    const char *want[TILL_SCOPES];

    ck_assert_int_eq(page(0, &cursor, &ever, 1)->nelts, 0);
    ck_assert_int_eq(cursor.done, 1);
    fill(want);
    ck_assert_int_eq(page(0, &cursor, &ever, 1)->nelts, 0);
}
END_TEST

START_TEST(test_bad_row)
{
    pay_page_cursor_t cursor = {.started = 0}, other = {.started = 0};
    const char *want[TILL_SCOPES];
    apr_array_header_t *rows;
    pay_store_key_t key;

    fill(want);
    if (_i) {
        pay_store_refund_key(&key, &till->scopes[0], TILL_NOW, 99);
    } else {
        pay_store_key_of_scope(&key, &till->scopes[0]);
        pay_store_key_u64(&key, APR_UINT64_MAX - 1);
    }
    till_plant(PAY_TABLE_REFUND, &key, "x", 1);
    ck_assert_int_eq(pay_store_refund_page(&rows, &cursor, till->store, &till->scopes[0], &ever,
                                           PAY_STORE_ROWS_MAX, unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_int_eq(page(1, &other, &ever, PAY_STORE_ROWS_MAX)->nelts, ROWS);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_pages);
    tcase_add_loop_test(tcase, test_range, 0, UNIT_ROWS(range_cases));
    tcase_add_test(tcase, test_import);
    tcase_add_test(tcase, test_done);
    tcase_add_loop_test(tcase, test_bad_row, 0, 2);
}

UNIT_PROGRAM(add)
