/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/parts.h"

#include "history_fixture.h"

/* Each of these is refused, and the one after it is still kept. */
static const struct {
    const char *name;
    payments_record_t record;
    apr_interval_time_t ahead; /* of createdAt */
    const char *fault;
} refused[] = {
    {"no reference", {.id = "id", .status = "processed"}, -DAY, "has no reference"},
    {"empty reference", {.reference = "", .status = "processed"}, -DAY, "has no reference"},
    {"no such reference",
     {.id = "id", .reference = "a b", .status = "processed"},
     -DAY,
     "/refundReference"},
    {"a card's number",
     {.id = "id", .reference = "5555555555554444", .status = "processed"},
     -DAY,
     "refund of no usable reference: /refundReference"},
    {"no such id", {.id = "a b", .reference = "r", .status = "processed"}, -DAY, "/id"},
    {"no status", {.reference = "r"}, -DAY, "its status"},
    {"unknown status", {.reference = "r", .status = "Processed"}, -DAY, "its status"},
    {"no currency", {.reference = "r", .status = "failed", .amount = "1"}, -DAY, "/currency"},
    {"no such currency",
     {.reference = "r", .status = "failed", .currency = "XXQ"},
     -DAY,
     "/currency"},
    {"no such amount",
     {.reference = "r", .status = "failed", .amount = "1.001", .currency = "NGN"},
     -DAY,
     "/amount"},
    {"nothing",
     {.reference = "r", .status = "failed", .amount = "0", .currency = "NGN"},
     -DAY,
     "/amount"},
    {"no time", {.reference = "r", .status = "failed"}, 0, "its createdAt"},
    {"too far ahead", {.reference = "r", .status = "failed"}, 300001000, "its createdAt"},
    {"id of another",
     {.id = "id_1", .reference = "r", .status = "failed"},
     -DAY,
     "different content"},
};

START_TEST(test_refused)
{
    payments_record_t *record = books_add(books, "1", "processed");
    pay_history_news_t news;
    const char *fault;

    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
    books->count = 0;
    books->records[books->count] = refused[_i].record;
    record = &books->records[books->count++];
    record->created_at = refused[_i].ahead ? TILL_NOW + refused[_i].ahead : 0;
    (void)books_add(books, "2", "processed");
    window.to = TILL_NOW + DAY / 2;
    window.from = window.to - 7 * DAY;

    news = fetch(APR_SUCCESS);
    ck_assert_msg(news.refused == 1 && news.faults->nelts == 1, "%s", refused[_i].name);
    fault = APR_ARRAY_IDX(news.faults, 0, const char *);
    ck_assert_msg(strstr(fault, refused[_i].fault) != NULL, "%s: %s", refused[_i].name, fault);
    ck_assert_ptr_null(strstr(fault, "5555"));
    ck_assert_uint_eq(news.added, 1);
    ck_assert_int_eq(books_listed(), 2);
    (void)books_find("up_2");
    till_check_clean();
}
END_TEST

START_TEST(test_five_minutes_ahead)
{
    books_add(books, "1", "processed")->created_at = TILL_NOW + 300000000;
    window.to = TILL_NOW + DAY;
    window.from = TILL_NOW;
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
    check_again();
}
END_TEST

/* Texts that may not be kept are left out: the amount counts nevertheless. */
START_TEST(test_texts_left_out)
{
    payments_record_t *record = books_add(books, "1", "processed");
    char *long_note = apr_pcalloc(unit_pool, PAY_NOTE_BYTES_MAX + 2);
    pay_refund_t *refund;

    (void)books_charge("shop-1", 500);
    record->transaction_reference = books_reference("shop-1");
    record->merchant_note = "card 5555555555554444";
    record->customer_note = "kept with it would be this";
    record->updated_at = APR_INT64_MAX;
    record = books_add(books, "2", "processed");
    record->id = NULL;
    record->channel = "";
    record->customer_note = memset(long_note, 'n', PAY_NOTE_BYTES_MAX);
    record = books_add(books, "3", "processed");
    record->customer_note = apr_pstrcat(unit_pool, long_note, "n", NULL);
    record = books_add(books, "4", "processed");
    record->merchant_note = "\xff";
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 4);
    refund = books_find("up_1");
    ck_assert_ptr_null(refund->merchant_note);
    ck_assert_ptr_null(refund->customer_note);
    ck_assert_str_eq(refund->transaction_reference, "shop-1");
    ck_assert_int_eq(refund->updated_at, refund->created_at);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->refunded_minor, 500);
    refund = books_find("up_2");
    ck_assert_str_eq(refund->id, "up_2");
    ck_assert_ptr_null(refund->channel);
    ck_assert_str_eq(refund->customer_note, long_note);
    ck_assert_ptr_null(books_find("up_3")->customer_note);
    ck_assert_ptr_null(books_find("up_4")->merchant_note);
    check_again();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_refused, 0, UNIT_ROWS(refused));
    tcase_add_test(tcase, test_five_minutes_ahead);
    tcase_add_test(tcase, test_texts_left_out);
}

UNIT_PROGRAM(add)
