/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#define OLDER_FIELDS 12 /* as an older version writes them; numbers were appended */
#define DAY apr_time_from_sec(24 * 3600)
#define FROM (TILL_NOW - 31 * DAY)
#define TO TILL_NOW

static pay_history_t *get(int i)
{
    pay_history_t *history;

    ck_assert_int_eq(pay_store_history_get(&history, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(history->scope.account, till->scopes[i].account);
    ck_assert_int_eq(history->scope.mode, till->scopes[i].mode);
    return history;
}

static pay_history_t *ask(int i, apr_time_t from, apr_time_t to, apr_status_t want)
{
    pay_history_t *history;

    ck_assert_int_eq(
        pay_store_history_ask(&history, till->store, &till->scopes[i], from, to, unit_pool), want);
    return history;
}

static void put(const pay_history_t *history)
{
    ck_assert_int_eq(pay_store_history_put(till->store, history, unit_pool), APR_SUCCESS);
}

static void check(const pay_history_t *got, const pay_history_t *want)
{
    ck_assert_int_eq(got->fetched_until, want->fetched_until);
    ck_assert_int_eq(got->due_at, want->due_at);
    ck_assert_int_eq(got->far_at, want->far_at);
    ck_assert_int_eq(got->pending_from, want->pending_from);
    ck_assert_uint_eq(got->asked, want->asked);
    ck_assert_uint_eq(got->answered, want->answered);
    ck_assert_int_eq(got->from, want->from);
    ck_assert_int_eq(got->to, want->to);
    ck_assert_int_eq(got->done_until, want->done_until);
    ck_assert_uint_eq(got->seen, want->seen);
    ck_assert_uint_eq(got->added, want->added);
    ck_assert_uint_eq(got->changed, want->changed);
    ck_assert_uint_eq(got->refused, want->refused);
    ck_assert_str_eq(got->error, want->error);
}

/* Removes the last fields from the row of scope 0. */
static int age_work(pay_rows_txn_t *txn, void *baton)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    (void)baton;
    pay_store_key_start(&key);
    (void)pay_store_key_bytes(&key, "history/", 8);
    pay_store_key_scope(&key, &till->scopes[0]);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_META, &at);
    if (rc) {
        return rc;
    }
    till_cut(&row, OLDER_FIELDS);
    return pay_rows_put(txn, PAY_TABLE_META, &at, &row, 0);
}

/* A row of a version that never looked further back. */
START_TEST(test_older_row)
{
    pay_history_t *history = ask(0, FROM, TO, APR_SUCCESS);
    pay_history_t want = *history;

    history->fetched_until = want.fetched_until = TILL_NOW - DAY;
    history->far_at = TILL_NOW;
    history->pending_from = FROM;
    put(history);
    till_raw(age_work, NULL);
    check(get(0), &want);
    put(history);
    want = *history;
    check(get(0), &want);
    till_check_clean();
}
END_TEST

START_TEST(test_every_scope_has_an_empty_one)
{
    static const pay_history_t empty = {.error = ""};
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        check(get(i), &empty);
    }
}
END_TEST

/* The request and the server's own notes stay, each in its scope. */
START_TEST(test_rows_of_scopes)
{
    pay_history_t *history;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        history = ask(i, FROM + i, TO, APR_SUCCESS);
        ck_assert_uint_eq(history->asked, 1);
        ck_assert_uint_eq(history->answered, 0);
        history->fetched_until = TILL_NOW - DAY - i;
        history->due_at = TILL_NOW + DAY + i;
        history->far_at = TILL_NOW + 2 * DAY + i;
        history->pending_from = TILL_NOW - 40 * DAY - i;
        history->done_until = FROM + 7 * DAY + i;
        history->seen = 70 + (apr_uint64_t)i;
        history->added = 50 + (apr_uint64_t)i;
        history->changed = 30 + (apr_uint64_t)i;
        history->refused = 10 + (apr_uint64_t)i;
        history->error = apr_psprintf(unit_pool, "error %d", i);
        put(history);
    }
    till_close();
    till_reopen();
    for (i = 0; i < TILL_SCOPES; i++) {
        const pay_history_t want = {.fetched_until = TILL_NOW - DAY - i,
                                    .due_at = TILL_NOW + DAY + i,
                                    .far_at = TILL_NOW + 2 * DAY + i,
                                    .pending_from = TILL_NOW - 40 * DAY - i,
                                    .asked = 1,
                                    .from = FROM + i,
                                    .to = TO,
                                    .done_until = FROM + 7 * DAY + i,
                                    .seen = 70 + (apr_uint64_t)i,
                                    .added = 50 + (apr_uint64_t)i,
                                    .changed = 30 + (apr_uint64_t)i,
                                    .refused = 10 + (apr_uint64_t)i,
                                    .error = apr_psprintf(unit_pool, "error %d", i)};

        check(get(i), &want);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_one_request_at_a_time)
{
    pay_history_t *history, *second;
    const char *before;

    history = ask(0, FROM, TO, APR_SUCCESS);
    before = till_snapshot();
    second = ask(0, TO, TO, APR_EBUSY);
    ck_assert_int_eq(second->from, FROM); /* the one that is under way */
    ck_assert_str_eq(before, till_snapshot());

    history->done_until = TO;
    history->seen = 3;
    history->refused = 1;
    history->error = "one was refused";
    history->fetched_until = TILL_NOW - DAY;
    history->due_at = TILL_NOW;
    history->answered = history->asked;
    put(history);
    ck_assert_uint_eq(get(0)->refused, 1);

    second = ask(0, TO, TO, APR_SUCCESS);
    check(second, &(pay_history_t){.fetched_until = TILL_NOW - DAY,
                                   .due_at = TILL_NOW,
                                   .asked = 2,
                                   .answered = 1,
                                   .from = TO,
                                   .to = TO,
                                   .error = ""});
    check(get(0), second);
}
END_TEST

static const struct {
    const char *name;
    apr_time_t from, to;
    apr_status_t want;
} ranges[] = {
    {"one moment", TO, TO, APR_SUCCESS},      {"the epoch", 0, TO, APR_EINVAL},
    {"before the epoch", -1, TO, APR_EINVAL}, {"the first moment after it", 1, TO, APR_SUCCESS},
    {"reversed", TO, TO - 1, APR_EINVAL},
};

START_TEST(test_ranges)
{
    pay_history_t *history;

    history = ask(1, ranges[_i].from, ranges[_i].to, ranges[_i].want);
    ck_assert_msg((history != NULL) == (ranges[_i].want == APR_SUCCESS), "%s", ranges[_i].name);
    ck_assert_uint_eq(get(1)->asked, ranges[_i].want == APR_SUCCESS);
}
END_TEST

/* The request ends now at the latest: there is nothing later to fetch. */
static const struct {
    const char *name;
    apr_time_t from, to, want;
} ends[] = {
    {"in the past", FROM, TILL_NOW - DAY, TILL_NOW - DAY},
    {"now", FROM, TILL_NOW, TILL_NOW},
    {"ahead", FROM, TILL_NOW + DAY, TILL_NOW},
    {"begins ahead, too", TILL_NOW + DAY, TILL_NOW + 2 * DAY, TILL_NOW + DAY},
};

START_TEST(test_ends)
{
    ck_assert_msg(ask(1, ends[_i].from, ends[_i].to, APR_SUCCESS)->to == ends[_i].want, "%s",
                  ends[_i].name);
}
END_TEST

/*
 * A process that is late with a window of a request leaves its later part alone, and another
 * request's.
 */
static const struct {
    const char *name;
    apr_uint64_t asked, answered;
    apr_time_t done_until;
    int overtaken;
} stale[] = {
    {"further", 3, 2, FROM + 14 * DAY, 0},     {"as far", 3, 2, FROM + 7 * DAY, 0},
    {"less far", 3, 2, FROM + 7 * DAY - 1, 1}, {"ended", 3, 3, FROM + 7 * DAY, 0},
    {"the one before", 2, 2, TO, 1},           {"the one before, not ended", 2, 1, TO, 1},
};

START_TEST(test_stale_writers)
{
    pay_history_t *history, row;
    int i;

    for (i = 1; i <= 3; i++) {
        history = ask(2, FROM, TO, APR_SUCCESS);
        history->answered = i < 3 ? history->asked : 2;
        history->done_until = FROM + 7 * DAY;
        history->seen = 7;
        put(history);
    }
    row = *get(2);
    row.asked = stale[_i].asked;
    row.answered = stale[_i].answered;
    row.done_until = stale[_i].done_until;
    row.seen = 9;
    row.error = "late";
    row.from = 1; /* the request is the requester's */
    row.to = 2;
    row.fetched_until = TILL_NOW - 5;
    row.due_at = TILL_NOW + 5;
    put(&row);

    history = get(2);
    ck_assert_msg(history->seen == (stale[_i].overtaken ? 7U : 9U), "%s", stale[_i].name);
    ck_assert_str_eq(history->error, stale[_i].overtaken ? "" : "late");
    ck_assert_uint_eq(history->asked, 3);
    ck_assert_uint_eq(history->answered, stale[_i].overtaken ? 2 : stale[_i].answered);
    ck_assert_int_eq(history->from, FROM);
    ck_assert_int_eq(history->to, TO);
    ck_assert_int_eq(history->fetched_until, TILL_NOW - 5);
    ck_assert_int_eq(history->due_at, TILL_NOW + 5);
}
END_TEST

/* A request that ended stays so, whichever process was still at work on it. */
START_TEST(test_ended_request_stays_ended)
{
    pay_history_t *history = ask(0, FROM, TO, APR_SUCCESS), late = *history;

    history->done_until = TO;
    history->answered = 1;
    history->seen = 12;
    put(history);
    late.done_until = TO;
    late.seen = 1;
    put(&late);
    ck_assert_uint_eq(get(0)->answered, 1);
    ck_assert_uint_eq(get(0)->seen, 12);
}
END_TEST

START_TEST(test_error_is_cut)
{
    pay_history_t *history = ask(0, FROM, TO, APR_SUCCESS);
    char text[PAY_HISTORY_ERROR_MAX + 2];

    memset(text, 'e', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    history->error = text;
    put(history);
    ck_assert_uint_eq(strlen(get(0)->error), PAY_HISTORY_ERROR_MAX);
    text[PAY_HISTORY_ERROR_MAX] = '\0';
    put(history);
    ck_assert_str_eq(get(0)->error, text);
}
END_TEST

START_TEST(test_what_is_no_row)
{
    pay_history_t *history = ask(0, FROM, TO, APR_SUCCESS);

    history->answered = 2;
    ck_assert_int_eq(pay_store_history_put(till->store, history, unit_pool), APR_EINVAL);
    history->answered = 1;
    history->error = NULL;
    ck_assert_int_eq(pay_store_history_put(till->store, history, unit_pool), APR_EINVAL);
    ck_assert_uint_eq(get(0)->answered, 0);
}
END_TEST

static const struct {
    const char *name;
    unsigned char bytes[20];
    size_t len;
} damaged[] = {
    {"no row at all", {1, 1, 0}, 3},
    {"another version", {9, 1, 0, 0, 0, 0, 0, 0, 0, 1}, 10},
    {"ends early", {1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, 13},
};

START_TEST(test_damaged_rows)
{
    pay_history_t *history = (pay_history_t *)&damaged;
    pay_store_key_t key;

    pay_store_key_start(&key);
    ck_assert(pay_store_key_bytes(&key, "history/", 8));
    pay_store_key_scope(&key, &till->scopes[0]);
    till_plant(PAY_TABLE_META, &key, damaged[_i].bytes, damaged[_i].len);
    ck_assert_msg(pay_store_history_get(&history, till->store, &till->scopes[0], unit_pool)
                      == PAY_STORE_ECORRUPT,
                  "%s", damaged[_i].name);
    ck_assert_ptr_null(history);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 1);
    ck_assert_int_eq(
        pay_store_history_ask(&history, till->store, &till->scopes[0], FROM, TO, unit_pool),
        PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(history);
    ck_assert_uint_eq(get(1)->asked, 0); /* the others' are well */
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_older_row);
    tcase_add_test(tcase, test_every_scope_has_an_empty_one);
    tcase_add_test(tcase, test_rows_of_scopes);
    tcase_add_test(tcase, test_one_request_at_a_time);
    tcase_add_loop_test(tcase, test_ends, 0, UNIT_ROWS(ends));
    tcase_add_loop_test(tcase, test_ranges, 0, UNIT_ROWS(ranges));
    tcase_add_loop_test(tcase, test_stale_writers, 0, UNIT_ROWS(stale));
    tcase_add_test(tcase, test_ended_request_stays_ended);
    tcase_add_test(tcase, test_error_is_cut);
    tcase_add_test(tcase, test_what_is_no_row);
    tcase_add_loop_test(tcase, test_damaged_rows, 0, UNIT_ROWS(damaged));
}

UNIT_PROGRAM(add)
