/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/refund.h"

#define SEC(n) apr_time_from_sec(n)
#define MS APR_TIME_C(1000)

static char buffer[PAY_STORE_CHUNK_SIZE];

/* The next chunk in `cursor`, appended to *text. */
static apr_size_t next_chunk(pay_refund_cursor_t *cursor, const char **text, int i, apr_time_t from,
                             apr_time_t to)
{
    pay_time_range_t range = {from, to};
    apr_size_t len, count;

    ck_assert_int_eq(pay_store_refund_scan(cursor, &len, &count, till->store, &till->scopes[i],
                                           &range, buffer, sizeof(buffer)),
                     APR_SUCCESS);
    ck_assert_uint_le(len, sizeof(buffer));
    *text = apr_pstrcat(unit_pool, *text, apr_pstrmemdup(unit_pool, buffer, len), NULL);
    return count;
}

/* The whole list; *count is the sum of the chunks' counts. */
static const char *list(int *count, int i, apr_time_t from, apr_time_t to)
{
    pay_refund_cursor_t cursor = {.done = 0};
    const char *text = "";

    *count = 0;
    while (!cursor.done) {
        *count += (int)next_chunk(&cursor, &text, i, from, to);
    }
    ck_assert_uint_eq(next_chunk(&cursor, &text, i, from, to), 0); /* done stays done */
    return text;
}

/* The ids of the list in their order, "a,b,c"; each record ends before the comma. */
static const char *ids_of(const char *text)
{
    const char *at = text, *ids = "", *end;

    while ((at = strstr(at, "{\"id\":\"")) != NULL) {
        ck_assert(at == text || (at[-1] == ',' && at[-2] == '}'));
        at += strlen("{\"id\":\"");
        end = strchr(at, '"');
        ids = apr_pstrcat(unit_pool, ids, *ids ? "," : "",
                          apr_pstrmemdup(unit_pool, at, (apr_size_t)(end - at)), NULL);
        at = end;
    }
    return ids;
}

static void check_list(const char *name, int i, apr_time_t from, apr_time_t to, const char *want)
{
    const char *got;
    int count, commas = 0;
    const char *at;

    got = ids_of(list(&count, i, from, to));
    ck_assert_msg(strcmp(got, want) == 0, "%s: got '%s', want '%s'", name, got, want);
    for (at = want; *at; at++) {
        commas += *at == ',';
    }
    ck_assert_msg(count == (*want ? commas + 1 : 0), "%s: count %d", name, count);
}

/* Refunds of 10 each at NOW, NOW + 1 s twice, NOW + 3 s, in every scope in turn. */
static void make_four(void)
{
    static const int seconds[] = {0, 1, 1, 3};
    pay_refund_t *refund;
    int i, n;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
    }
    for (n = 0; n < 4; n++) {
        till_clock = TILL_NOW + SEC(seconds[n]);
        for (i = 0; i < TILL_SCOPES; i++) {
            till->names = 10 * i + n;
            refund = till_refund(i, "order-1", 10, PAY_REFUND_OPENED);
            (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
        }
    }
}

static const struct {
    const char *name;
    apr_time_t from, to;
    int first, count; /* of the four */
} range_cases[] = {
    {"all", TILL_NOW, TILL_NOW + SEC(3), 0, 4},
    {"from the beginning of time to its end", APR_INT64_MIN, APR_INT64_MAX, 0, 4},
    {"both ends are in", TILL_NOW + SEC(1), TILL_NOW + SEC(1), 1, 2},
    {"from is in", TILL_NOW, TILL_NOW, 0, 1},
    {"just after from", TILL_NOW + 1, TILL_NOW + SEC(3), 1, 3},
    {"just before to", TILL_NOW, TILL_NOW + SEC(3) - 1, 0, 3},
    {"between", TILL_NOW + SEC(2), TILL_NOW + SEC(2), 0, 0},
    {"before", 0, TILL_NOW - 1, 0, 0},
    {"after", TILL_NOW + SEC(3) + 1, APR_INT64_MAX, 0, 0},
    {"the wrong way round", TILL_NOW + SEC(3), TILL_NOW, 0, 0},
};

START_TEST(test_range)
{
    const char *want;
    int i, n;

    make_four();
    for (i = 0; i < TILL_SCOPES; i++) {
        want = "";
        for (n = range_cases[_i].first; n < range_cases[_i].first + range_cases[_i].count; n++) {
            want = apr_psprintf(unit_pool, "%s%sref_%d", want, *want ? "," : "", 10 * i + n + 1);
        }
        check_list(range_cases[_i].name, i, range_cases[_i].from, range_cases[_i].to, want);
    }
}
END_TEST

START_TEST(test_text_is_the_record)
{
    pay_refund_t *refund;
    const char *text;
    int count;

    (void)till_charge(_i, "order-1", 1000);
    refund = till_refund(_i, "order-1", 1000, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    text = list(&count, _i, 0, APR_INT64_MAX);
    ck_assert_str_eq(text, pay_store_refund_text(refund, unit_pool));
    ck_assert_ptr_nonnull(strstr(text, "\"processed\""));
}
END_TEST

/* Imports `count` records of scope `i`, numbered from `number`, `ms` milliseconds after NOW. */
static void import(int i, int number, int count, apr_interval_time_t after, int finish)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, count, sizeof(pay_refund_t *));
    pay_import_t run;
    int n, at;

    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    for (n = 0; n < count; n++) {
        APR_ARRAY_PUSH(rows, pay_refund_t *) =
            till_history(i, number + n, TILL_NOW + after + n * MS, PAY_REFUND_PROCESSED, NULL, 100);
        if (rows->nelts == PAY_STORE_ROWS_MAX || n == count - 1) {
            ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool),
                             APR_SUCCESS);
            apr_array_clear(rows);
        }
    }
    if (finish) {
        ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    }
}

START_TEST(test_chunks)
{
    pay_refund_cursor_t cursor = {.done = 0};
    const char *text = "";
    int i, n, chunks = 0, count = 0;
    char id[16];

    for (i = 0; i < TILL_SCOPES; i++) {
        import(i, 0, 700, 0, 1);
    }
    while (!cursor.done) {
        count += (int)next_chunk(&cursor, &text, _i, 0, APR_INT64_MAX);
        chunks++;
    }
    ck_assert_int_eq(count, 700);
    ck_assert_int_gt(chunks, 2);
    text = ids_of(text);
    for (n = 0; n < 700; n++) {
        apr_snprintf(id, sizeof(id), n < 699 ? "old_%d," : "old_%d", n);
        ck_assert_msg(strncmp(text, id, strlen(id)) == 0, "record %d is missing", n);
        text += strlen(id);
    }
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(test_view)
{
    pay_refund_cursor_t cursor = {.done = 0};
    const char *text = "";
    pay_refund_t *refund;
    int i, count = 0, later;

    for (i = 0; i < TILL_SCOPES; i++) {
        import(i, 0, 400, 0, 1);
    }
    count += (int)next_chunk(&cursor, &text, _i, 0, APR_INT64_MAX);
    ck_assert_int_eq(cursor.done, 0);
    /* Refunds after the first chunk are not part of the view, at any position. */
    till_clock = TILL_NOW + SEC(1);
    (void)till_charge(_i, "order-1", 1000);
    refund = till_refund(_i, "order-1", 10, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    import(_i, 1000, 400, SEC(1), 1);
    while (!cursor.done) {
        count += (int)next_chunk(&cursor, &text, _i, 0, APR_INT64_MAX);
    }
    ck_assert_int_eq(count, 400);
    ck_assert_ptr_null(strstr(text, "rfd_"));
    ck_assert_ptr_null(strstr(text, "old_1000"));
    (void)list(&later, _i, 0, APR_INT64_MAX);
    ck_assert_int_eq(later, 801);
}
END_TEST

START_TEST(test_state_is_the_latest)
{
    pay_refund_t *first, *refund;
    const char *text;
    int count;

    (void)till_charge(_i, "order-1", 1000);
    (void)till_charge(_i, "order-2", 1000);
    first = till_refund(_i, "order-1", 10, PAY_REFUND_OPENED);
    till_clock = TILL_NOW + SEC(1);
    (void)till_refund(_i, "order-2", 10, PAY_REFUND_OPENED);
    till_clock = TILL_NOW + SEC(100);
    (void)till_refund_resolve(&refund, _i, first->refund_reference, PAY_OUTCOME_DECLINED);
    text = list(&count, _i, 0, APR_INT64_MAX);
    ck_assert_int_eq(count, 2);
    ck_assert_ptr_nonnull(strstr(text, "\"failed\""));
    ck_assert(strstr(text, "\"failed\"") < strchr(text + 1, '{')); /* it kept its place */
}
END_TEST

START_TEST(test_visits_of_a_call_are_bounded)
{
    pay_refund_cursor_t cursor = {.done = 0};
    const char *text = "";

    /* 5,000 rows of an unfinished import: examined, not returned. */
    import(_i, 0, 5000, 0, 0);
    ck_assert_uint_eq(next_chunk(&cursor, &text, _i, 0, APR_INT64_MAX), 0);
    ck_assert_int_eq(cursor.done, 0);
    ck_assert_uint_eq(next_chunk(&cursor, &text, _i, 0, APR_INT64_MAX), 0);
    ck_assert_int_eq(cursor.done, 1);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(test_comma_after_an_empty_chunk)
{
    pay_refund_cursor_t cursor = {.done = 0};
    const char *text = "";
    pay_refund_t *refund;
    int n;

    import(_i, 0, 4500, 0, 0);
    till_clock = TILL_NOW + SEC(10);
    (void)till_charge(_i, "order-1", 1000);
    for (n = 0; n < 2; n++) {
        refund = till_refund(_i, "order-1", 10, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    }
    ck_assert_uint_eq(next_chunk(&cursor, &text, _i, 0, APR_INT64_MAX), 0);
    ck_assert_uint_eq(next_chunk(&cursor, &text, _i, 0, APR_INT64_MAX), 2);
    ck_assert_int_eq(cursor.done, 1);
    ck_assert_int_eq(text[0], '{');
    ck_assert_str_eq(ids_of(text), "ref_1,ref_2");
}
END_TEST

START_TEST(test_largest_record)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 3, sizeof(pay_refund_t *));
    pay_refund_t *refund;
    pay_import_t run;
    const char *text;
    char *note = apr_palloc(unit_pool, 16001);
    int n, at, count;

    /* Notes of characters that are escaped to two bytes each: a record of just below 32 KiB. */
    memset(note, '"', 16000);
    note[16000] = '\0';
    for (n = 0; n < 3; n++) {
        refund = till_history(_i, n, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 100);
        refund->customer_note = note;
        APR_ARRAY_PUSH(rows, pay_refund_t *) = refund;
    }
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[_i], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    text = list(&count, _i, 0, APR_INT64_MAX);
    ck_assert_int_eq(count, 3);
    ck_assert_str_eq(ids_of(text), "old_0,old_1,old_2");
}
END_TEST

START_TEST(test_bad_row_ends_the_list)
{
    pay_time_range_t range = {0, APR_INT64_MAX};
    pay_refund_cursor_t cursor = {.done = 0};
    apr_size_t len, count;
    pay_store_key_t key;

    make_four();
    pay_store_refund_key(&key, &till->scopes[_i], TILL_NOW + SEC(2), 99);
    till_plant(PAY_TABLE_REFUND, &key, "{}", 2);
    ck_assert_int_eq(pay_store_refund_scan(&cursor, &len, &count, till->store, &till->scopes[_i],
                                           &range, buffer, sizeof(buffer)),
                     PAY_STORE_ECORRUPT);
    check_list("another scope's", (_i + 1) % TILL_SCOPES, TILL_NOW, TILL_NOW,
               apr_psprintf(unit_pool, "ref_%d", 10 * ((_i + 1) % TILL_SCOPES) + 1));
}
END_TEST

static const struct {
    const char *name;
    size_t text_len;
    apr_status_t want;
} length_cases[] = {
    {"the longest", PAY_REFUND_TEXT_MAX, APR_SUCCESS},
    {"one more", PAY_REFUND_TEXT_MAX + 1, PAY_STORE_ECORRUPT},
    {"fits no chunk", PAY_STORE_CHUNK_SIZE + 1, PAY_STORE_ECORRUPT},
};

START_TEST(test_long_row_ends_the_list)
{
    const char *name = length_cases[_i].name;
    size_t len = PAY_STORE_REFUND_HEAD_LEN + length_cases[_i].text_len;
    pay_time_range_t range = {0, APR_INT64_MAX};
    pay_refund_cursor_t cursor = {.done = 0};
    unsigned char *row = apr_pcalloc(unit_pool, len);
    apr_status_t rv = APR_SUCCESS;
    apr_size_t chunk_len, count;
    pay_store_key_t key;
    int calls;

    make_four();
    memset(row + PAY_STORE_REFUND_HEAD_LEN, ' ', length_cases[_i].text_len);
    row[0] = PAY_STORE_REFUND_VERSION;
    row[8] = 4; /* the seq, within the view; no import, no fields */
    pay_store_refund_key(&key, &till->scopes[0], TILL_NOW + SEC(2), 4);
    till_plant(PAY_TABLE_REFUND, &key, row, len);
    for (calls = 0; calls < 10 && rv == APR_SUCCESS && !cursor.done; calls++) {
        rv = pay_store_refund_scan(&cursor, &chunk_len, &count, till->store, &till->scopes[0],
                                   &range, buffer, sizeof(buffer));
    }
    ck_assert_msg(rv == length_cases[_i].want, "%s: %d", name, rv);
    ck_assert_msg(cursor.done == (rv == APR_SUCCESS), "%s: %d calls", name, calls);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_range, 0, UNIT_ROWS(range_cases));
    tcase_add_loop_test(tcase, test_text_is_the_record, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_chunks, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_view, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_state_is_the_latest, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_visits_of_a_call_are_bounded, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_comma_after_an_empty_chunk, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_largest_record, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_bad_row_ends_the_list, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_long_row_ends_the_list, 0, UNIT_ROWS(length_cases));
}

UNIT_PROGRAM(add)
