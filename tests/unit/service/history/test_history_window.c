/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/window.h"

#include "books.h"

#define DAY apr_time_from_sec(24 * 3600)
#define TAG "tag4tag4tag4tag4tag4tag4"

static books_t *books;
static pay_history_window_t window;

static void set_up(void)
{
    till_set_up();
    books = books_make();
    window = (pay_history_window_t){.store = till->store,
                                    .scope = till->scopes[BOOKS_SCOPE],
                                    .acquirer = books_acquirer(books),
                                    .timeout = apr_time_from_sec(20),
                                    .from = TILL_NOW - 7 * DAY,
                                    .to = TILL_NOW};
}

static pay_history_news_t fetch_for(apr_status_t want)
{
    pay_history_news_t news;

    ck_assert_int_eq(pay_history_window_fetch(&news, &window, unit_pool), want);
    ck_assert_uint_eq(news.refused < PAY_HISTORY_FAULTS_MAX ? news.refused : PAY_HISTORY_FAULTS_MAX,
                      news.faults->nelts);
    return news;
}

static pay_history_news_t fetch(void)
{
    return fetch_for(APR_SUCCESS);
}

/* A second time nothing of it is new, or written; nothing is logged except refused records. */
static void check_again(const char *name)
{
    const char *before = till_snapshot();
    pay_history_news_t news;
    int alerts = till_lines[PAY_LOG_ALERT], warnings = till_lines[PAY_LOG_WARNING];

    till_clock += apr_time_from_sec(60);
    news = fetch();
    ck_assert_msg(news.added == 0 && news.changed == 0, "%s: %d added, %d changed", name,
                  (int)news.added, (int)news.changed);
    ck_assert_msg(!strcmp(before, till_snapshot()), "%s: the store changed", name);
    ck_assert_msg(till_lines[PAY_LOG_ALERT] == alerts && till_lines[PAY_LOG_WARNING] == warnings,
                  "%s: %s", name, till_line);
    till_check_clean();
}

/* A refund of 5.00 of ours in some state, that the acquirer has under our tag or its reference. */
static const struct {
    const char *name;
    pay_refund_state_t here;
    int named; /* the acquirer's reference is known here */
    const char *there;
    const char *amount;
    pay_refund_state_t want;
    pay_held_t held;
    int changed;
    int alerts;
    int refused;
} pairs[] = {
    {"pending, pending", PAY_REFUND_PENDING, 0, "pending", "5.00", PAY_REFUND_PENDING, 0, 0, 0, 0},
    {"pending, processed", PAY_REFUND_PENDING, 0, "processed", "5.00", PAY_REFUND_PROCESSED, 0, 1,
     0, 0},
    {"pending, failed", PAY_REFUND_PENDING, 0, "failed", "5.00", PAY_REFUND_FAILED, 0, 1, 0, 0},
    {"pending by name, processed", PAY_REFUND_PENDING, 1, "processed", "5.00", PAY_REFUND_PROCESSED,
     0, 1, 0, 0},
    {"processed, pending", PAY_REFUND_PROCESSED, 1, "pending", "5.00", PAY_REFUND_PROCESSED, 0, 0,
     0, 0},
    {"processed, processed", PAY_REFUND_PROCESSED, 1, "processed", "5.00", PAY_REFUND_PROCESSED, 0,
     0, 0, 0},
    {"processed by tag, processed", PAY_REFUND_PROCESSED, 0, "processed", "5.0",
     PAY_REFUND_PROCESSED, 0, 0, 0, 0},
    {"processed, failed", PAY_REFUND_PROCESSED, 1, "failed", "5.00", PAY_REFUND_FAILED, 0, 1, 0, 0},
    {"failed, pending", PAY_REFUND_FAILED, 0, "pending", "5.00", PAY_REFUND_FAILED, 0, 0, 0, 0},
    {"failed, processed", PAY_REFUND_FAILED, 0, "processed", "5.00", PAY_REFUND_FAILED,
     PAY_HELD_LATE, 1, 1, 0},
    {"failed, failed", PAY_REFUND_FAILED, 1, "failed", "5.00", PAY_REFUND_FAILED, 0, 0, 0, 0},
    {"pending, processed with less", PAY_REFUND_PENDING, 0, "processed", "4.99", PAY_REFUND_PENDING,
     PAY_HELD_DIFFERENT, 1, 1, 0},
    {"pending, failed with more", PAY_REFUND_PENDING, 0, "failed", "5.01", PAY_REFUND_PENDING,
     PAY_HELD_DIFFERENT, 1, 1, 0},
    {"pending, pending with no amount at all", PAY_REFUND_PENDING, 0, "pending", "five",
     PAY_REFUND_PENDING, PAY_HELD_DIFFERENT, 1, 1, 0},
    {"pending, processed and no amount told", PAY_REFUND_PENDING, 0, "processed", "",
     PAY_REFUND_PROCESSED, 0, 1, 0, 0},
    {"failed, processed with less", PAY_REFUND_FAILED, 0, "processed", "4.99", PAY_REFUND_FAILED,
     PAY_HELD_DIFFERENT, 1, 2, 0},
    {"failed, failed with less", PAY_REFUND_FAILED, 0, "failed", "4.99", PAY_REFUND_FAILED,
     PAY_HELD_DIFFERENT, 1, 1, 0},
    {"processed, processed with less", PAY_REFUND_PROCESSED, 1, "processed", "4.99",
     PAY_REFUND_PROCESSED, 0, 0, 0, 1},
    {"pending, of no known status", PAY_REFUND_PENDING, 0, "refunded", "5.00", PAY_REFUND_PENDING,
     0, 0, 0, 1},
    {"pending, of no status", PAY_REFUND_PENDING, 0, NULL, "5.00", PAY_REFUND_PENDING, 0, 0, 0, 1},
};

static void resolve(const pay_refund_t *refund, pay_outcome_kind_t kind, const char *named)
{
    pay_outcome_t outcome = *till_outcome(kind);
    pay_refund_t *out;
    int changed;

    outcome.acquirer_reference = named;
    ck_assert_int_eq(pay_store_refund_resolve(&out, &changed, till->store, &window.scope,
                                              refund->refund_reference, &outcome,
                                              TILL_NOW + apr_time_from_sec(60), unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

START_TEST(test_pairs)
{
    static const pay_outcome_kind_t kinds[] = {PAY_OUTCOME_UNKNOWN, PAY_OUTCOME_APPROVED,
                                               PAY_OUTCOME_DECLINED};
    const apr_int64_t charged = 2000;
    pay_history_news_t news;
    payments_record_t *record;
    pay_refund_t *refund;
    pay_charge_t *charge;

    (void)books_charge("shop-1", charged);
    refund = books_refund("shop-1", 500, TAG);
    resolve(refund, kinds[pairs[_i].here], pairs[_i].named ? "up_1" : NULL);
    record = books_add(books, "1", pairs[_i].there);
    record->amount = pairs[_i].amount;
    record->tag = pairs[_i].named ? "" : TAG;
    record->transaction_reference = books_reference("shop-1");
    memset(till_lines, 0, sizeof(till_lines));

    news = fetch();
    ck_assert_uint_eq(news.seen, 1);
    ck_assert_uint_eq(news.added, 0);
    ck_assert_msg((int)news.changed == pairs[_i].changed, "%s", pairs[_i].name);
    ck_assert_msg((int)news.refused == pairs[_i].refused, "%s", pairs[_i].name);
    ck_assert_msg(till_lines[PAY_LOG_ALERT] == pairs[_i].alerts, "%s: %s", pairs[_i].name,
                  till_line);
    ck_assert_int_eq(till_logged("PAY00440"), pairs[_i].held == PAY_HELD_DIFFERENT);
    refund = books_find(refund->refund_reference);
    ck_assert_msg(refund->state == pairs[_i].want, "%s", pairs[_i].name);
    ck_assert_msg(refund->held == pairs[_i].held, "%s", pairs[_i].name);
    ck_assert_int_eq(refund->money.amount_minor, 500);
    ck_assert_int_eq(books_listed(), 1);
    if (pairs[_i].want != pairs[_i].here && pairs[_i].here == PAY_REFUND_PENDING) {
        ck_assert_str_eq(refund->acquirer_reference, "up_1");
    }
    charge = till_find(BOOKS_SCOPE, "shop-1");
    ck_assert_int_eq(charge->refunded_minor, pairs[_i].want == PAY_REFUND_PROCESSED ? 500 : 0);
    ck_assert_int_eq(charge->refunds_pending_minor, pairs[_i].want == PAY_REFUND_PENDING ? 500 : 0);
    check_again(pairs[_i].name);
}
END_TEST

START_TEST(test_currency_differs)
{
    payments_record_t *record;
    pay_refund_t *refund;

    (void)books_charge("shop-1", 2000);
    refund = books_refund("shop-1", 500, TAG);
    record = books_add(books, "1", "processed");
    record->tag = TAG;
    record->currency = "USD";
    ck_assert_uint_eq(fetch().changed, 1);
    refund = books_find(refund->refund_reference);
    ck_assert_int_eq(refund->state, PAY_REFUND_PENDING);
    ck_assert_int_eq(refund->held, PAY_HELD_DIFFERENT);
    check_again("currency");
    record->currency = "ngn"; /* the acquirer's books were corrected */
    ck_assert_uint_eq(fetch().changed, 1);
    refund = books_find(refund->refund_reference);
    ck_assert_int_eq(refund->state, PAY_REFUND_PROCESSED);
    ck_assert_int_eq(refund->held, PAY_NOT_HELD);
    check_again("mended");
}
END_TEST

/* A refund is not taken away from the process that is still sending it. */
START_TEST(test_in_flight)
{
    pay_refund_t *proposal, *refund;
    pay_refund_verdict_t verdict;
    payments_record_t *record;
    pay_charge_t *charge;
    pay_idempotency_record_t *known;

    (void)books_charge("shop-1", 2000);
    proposal = till_refund_proposal(BOOKS_SCOPE, "shop-1", 500);
    proposal->tag = TAG;
    proposal->worker = pay_worker_self();
    proposal->send_before_ms = pay_time_boot_ms() + 60000;
    proposal->wait_until_ms = pay_time_boot_ms() + 120000;
    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &known, till->store,
                                           proposal, NULL, 0, unit_pool),
                     APR_SUCCESS);
    record = books_add(books, "1", "processed");
    record->tag = TAG;
    record->amount = "6.00";
    ck_assert_uint_eq(fetch().changed, 0);
    ck_assert_int_eq(books_find(refund->refund_reference)->held, PAY_NOT_HELD);
    check_again("in flight");
    record->amount = "5.00"; /* an equal record is as good as the answer that it waits for */
    ck_assert_uint_eq(fetch().changed, 1);
    ck_assert_int_eq(books_find(refund->refund_reference)->state, PAY_REFUND_PROCESSED);
    check_again("decided");
}
END_TEST

/* A person decided that a refund which failed here, and was found processed, is correct. */
START_TEST(test_held_once)
{
    payments_record_t *record;
    pay_refund_t *refund;
    int changed;

    (void)books_charge("shop-1", 2000);
    refund = books_refund("shop-1", 500, TAG);
    resolve(refund, PAY_OUTCOME_DECLINED, NULL);
    record = books_add(books, "1", "processed");
    record->tag = TAG;
    ck_assert_uint_eq(fetch().changed, 1);
    ck_assert_int_eq(pay_store_refund_late(&refund, &changed, till->store, &window.scope,
                                           refund->refund_reference, NULL, 0, PAY_NOT_HELD,
                                           "the payer has it", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_uint_eq(fetch().changed, 0);
    refund = books_find(refund->refund_reference);
    ck_assert_int_eq(refund->held, PAY_NOT_HELD);
    ck_assert_str_eq(refund->resolution, "the payer has it");
    check_again("resolved");
}
END_TEST

/* So is one that differs, whatever happened to it there. */
START_TEST(test_different_once)
{
    payments_record_t *record;
    pay_refund_t *refund;
    int changed;

    (void)books_charge("shop-1", 2000);
    refund = books_refund("shop-1", 500, TAG);
    resolve(refund, PAY_OUTCOME_DECLINED, NULL);
    record = books_add(books, "1", _i ? "processed" : "failed");
    record->amount = "4.99";
    record->tag = TAG;
    ck_assert_uint_eq(fetch().changed, 1);
    ck_assert_int_eq(books_find(refund->refund_reference)->held, PAY_HELD_DIFFERENT);
    ck_assert_int_eq(pay_store_refund_late(&refund, &changed, till->store, &window.scope,
                                           refund->refund_reference, NULL, 0, PAY_NOT_HELD,
                                           "they correct it", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_uint_eq(fetch().changed, 0);
    ck_assert_int_eq(books_find(refund->refund_reference)->held, PAY_NOT_HELD);
    check_again("resolved");
}
END_TEST

/* The tag of one of ours in the note of another refund does not make it ours. */
START_TEST(test_copied_tag)
{
    payments_record_t *record;
    pay_refund_t *refund;

    (void)books_charge("shop-1", 2000);
    refund = books_refund("shop-1", 500, TAG);
    record = books_add(books, "1", "processed");
    record->tag = TAG;
    record = books_add(books, "2", "failed");
    record->tag = TAG;
    record->transaction_reference = books_reference("shop-1");
    books->count = 1;
    ck_assert_uint_eq(fetch().changed, 1);
    books->count = 2;
    ck_assert_uint_eq(fetch().added, 1);
    ck_assert_int_eq(books_find(refund->refund_reference)->state, PAY_REFUND_PROCESSED);
    ck_assert_int_eq(books_find("up_2")->state, PAY_REFUND_FAILED);
    check_again("copied");
}
END_TEST

/* With two of one tag it is unknown which is ours: neither decides it, in any order. */
static const struct {
    pay_outcome_kind_t here;
    const char *first, *second;
    pay_refund_state_t want;
} twins[] = {
    {PAY_OUTCOME_UNKNOWN, "failed", "processed", PAY_REFUND_PENDING},
    {PAY_OUTCOME_UNKNOWN, "processed", "failed", PAY_REFUND_PENDING},
    {PAY_OUTCOME_UNKNOWN, "pending", "processed", PAY_REFUND_PENDING},
    {PAY_OUTCOME_UNKNOWN, "processed", "processed", PAY_REFUND_PENDING},
    {PAY_OUTCOME_UNKNOWN, "pending", "pending", PAY_REFUND_PENDING},
    {PAY_OUTCOME_DECLINED, "failed", "processed", PAY_REFUND_FAILED},
    {PAY_OUTCOME_DECLINED, "processed", "failed", PAY_REFUND_FAILED},
};

START_TEST(test_two_of_one_tag)
{
    pay_refund_t *refund;

    (void)books_charge("shop-1", 2000);
    refund = books_refund("shop-1", 500, TAG);
    resolve(refund, twins[_i].here, NULL);
    books_add(books, "1", twins[_i].first)->tag = TAG;
    books_add(books, "2", twins[_i].second)->tag = TAG;
    ck_assert_uint_eq(fetch().changed, 1);
    refund = books_find(refund->refund_reference);
    ck_assert_int_eq(refund->state, twins[_i].want);
    ck_assert_int_eq(refund->held, PAY_HELD_DIFFERENT);
    ck_assert_str_eq(refund->acquirer_reference, "");
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->refunds_pending_minor,
                     twins[_i].want == PAY_REFUND_PENDING ? 500 : 0);
    check_again("twins");
}
END_TEST

/* A record under our own reference in the acquirer's books is another refund, and is not kept. */
START_TEST(test_reference_of_ours)
{
    payments_record_t *record;
    pay_history_news_t news;
    pay_refund_t *refund;
    const char *before;

    (void)books_charge("shop-1", 2000);
    refund = books_refund("shop-1", 500, TAG);
    record = books_add(books, "1", "processed");
    record->reference = refund->refund_reference;
    before = till_snapshot();
    news = fetch();
    ck_assert_uint_eq(news.refused, 1);
    ck_assert_ptr_nonnull(strstr(APR_ARRAY_IDX(news.faults, 0, const char *), "made here"));
    ck_assert_str_eq(before, till_snapshot());
}
END_TEST

/* Our own refund of a charge that was approved late is in the charge's record. */
START_TEST(test_refund_of_a_late_approval)
{
    const pay_late_step_t late = {.from = PAY_LATE_NONE,
                                  .to = PAY_LATE_REFUNDING,
                                  .tag = TAG,
                                  .outcome = till_outcome(PAY_OUTCOME_APPROVED),
                                  .due_at = TILL_NOW + DAY};
    pay_charge_t *charge = books_open("shop-1", 500);
    payments_record_t *record;
    int changed;

    ck_assert_int_eq(till_resolve(&charge, BOOKS_SCOPE, charge->seq, PAY_OUTCOME_DECLINED), 1);
    ck_assert_int_eq(pay_store_charge_late(&charge, &changed, till->store, &window.scope,
                                           charge->seq, &late, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    record = books_add(books, "1", "processed");
    record->tag = TAG;
    record->transaction_reference = books_reference("shop-1");
    ck_assert_uint_eq(fetch().seen, 1);
    ck_assert_int_eq(books_listed(), 0);
    check_again("late");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_pairs, 0, UNIT_ROWS(pairs));
    tcase_add_test(tcase, test_currency_differs);
    tcase_add_test(tcase, test_in_flight);
    tcase_add_test(tcase, test_held_once);
    tcase_add_loop_test(tcase, test_different_once, 0, 2);
    tcase_add_test(tcase, test_copied_tag);
    tcase_add_loop_test(tcase, test_two_of_one_tag, 0, UNIT_ROWS(twins));
    tcase_add_test(tcase, test_reference_of_ours);
    tcase_add_test(tcase, test_refund_of_a_late_approval);
}

UNIT_PROGRAM(add)
