/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/parts.h"

#include "outlet.h"

#include "history_fixture.h"
#include "store_script.h"

/* Events to a shop about refunds that were made elsewhere. */

#define TOLD_SO_FAR "webhook 1.1 transaction successful; "
#define HOUR apr_time_from_sec(3600)

static void set_up_webhook(void)
{
    set_up();
    (void)outlet_open(BOOKS_SCOPE, PAY_ENDPOINT_WEBHOOK);
}

/* A charge of 10.00 that was made two days ago; then, in letters: a refund of 5.00 that is fetched
 * as processed (p), pending (w), failed (f), and a fetch (.). Capitals: of 10.00. A digit: the
 * first one is processed (1), failed (2) now. */
static const struct {
    const char *name;
    const char *acts;
    apr_time_t ago; /* of the refunds */
    const char *want;
} cases[] = {
    {"of a part", "p.", HOUR, TOLD_SO_FAR "webhook 1.2 refund processed behind"},
    {"of all", "P.", HOUR,
     TOLD_SO_FAR "webhook 1.2 refund processed behind; webhook 1.3 transaction reversed behind"},
    {"of all, fetched again", "P..", HOUR,
     TOLD_SO_FAR "webhook 1.2 refund processed behind; webhook 1.3 transaction reversed behind"},
    {"in two parts at once", "pp.", HOUR,
     TOLD_SO_FAR "webhook 1.2 refund processed behind; webhook 1.3 refund processed behind; "
                 "webhook 1.4 transaction reversed behind"},
    {"in two parts, one after the other", "p.p.", HOUR,
     TOLD_SO_FAR "webhook 1.2 refund processed behind; webhook 1.3 refund processed behind; "
                 "webhook 1.4 transaction reversed behind"},
    {"of more than all", "P.p.", HOUR,
     TOLD_SO_FAR "webhook 1.2 refund processed behind; webhook 1.3 transaction reversed behind; "
                 "webhook 1.4 refund processed behind"},
    {"pending", "w.", HOUR, "webhook 1.1 transaction successful"},
    {"pending, then processed", "W.1.", HOUR,
     TOLD_SO_FAR "webhook 1.2 refund processed behind; webhook 1.3 transaction reversed behind"},
    {"pending, then failed", "w.2.", HOUR, TOLD_SO_FAR "webhook 1.2 refund failed behind"},
    {"that had failed", "f.", HOUR, "webhook 1.1 transaction successful"},
    {"of all, taken back", "P.2.", HOUR,
     TOLD_SO_FAR "webhook 1.2 refund processed behind; webhook 1.3 transaction reversed behind; "
                 "webhook 1.4 refund failed behind; webhook 1.5 transaction successful behind"},
    {"made before the charge was made here", "P.", 3 * DAY, "webhook 1.1 transaction successful"},
};

static void act(char letter, apr_time_t ago)
{
    static int names;
    payments_record_t *record;

    switch (letter) {
    case '.':
        till_clock += apr_time_from_sec(1);
        window.from = till_clock - 7 * DAY;
        window.to = till_clock;
        (void)fetch(APR_SUCCESS);
        return;
    case '1':
    case '2':
        books->records[0].status = letter == '1' ? "processed" : "failed";
        return;
    default:
        record = books_add(books, apr_itoa(unit_pool, ++names),
                           strchr("wW", letter)   ? "pending"
                           : strchr("fF", letter) ? "failed"
                                                  : "processed");
        record->amount = letter < 'a' ? "10.00" : "5.00";
        record->transaction_reference = books_reference("shop-1");
        record->created_at = record->updated_at = till_clock - ago;
    }
}

START_TEST(test_told)
{
    const char *letter;

    (void)books_charge("shop-1", 1000);
    till_clock += 2 * DAY;
    for (letter = cases[_i].acts; *letter; letter++) {
        act(*letter, cases[_i].ago);
    }
    ck_assert_msg(!strcmp(outlet_waiting(BOOKS_SCOPE), cases[_i].want), "%s: %s", cases[_i].name,
                  outlet_waiting(BOOKS_SCOPE));
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    int spent;
    apr_int64_t refunded_minor; /* as the acquirer reports with its approval, of 10.00 */
    const char *acts;
    const char *want;
} before_cases[] = {
    {"reversed", 1, 0, "P.",
     "webhook 1.1 transaction reversed; webhook 1.2 refund processed behind"},
    {"given back", 0, 1000, "P.",
     "webhook 1.1 transaction reversed; webhook 1.2 refund processed behind"},
    {"given back in parts", 0, 1000, "p.p.",
     "webhook 1.1 transaction reversed; webhook 1.2 refund processed behind; "
     "webhook 1.3 refund processed behind"},
    {"given back in part, then the rest", 0, 500, "p.p.",
     TOLD_SO_FAR "webhook 1.2 refund processed behind; webhook 1.3 refund processed behind; "
                 "webhook 1.4 transaction reversed behind"},
};

/* A reversal before the charge was decided here was reported with its decision. */
START_TEST(test_reversed_before)
{
    pay_outcome_t outcome = *till_outcome(PAY_OUTCOME_APPROVED);
    pay_charge_t *charge = books_open("shop-1", 1000);
    const char *letter;
    int changed;

    outcome.spent = before_cases[_i].spent;
    outcome.refunded_minor = before_cases[_i].refunded_minor;
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &charge->scope,
                                              charge->seq, &outcome, 0, unit_pool),
                     APR_SUCCESS);
    till_clock += 2 * DAY;
    for (letter = before_cases[_i].acts; *letter; letter++) {
        act(*letter, HOUR);
    }
    ck_assert_msg(!strcmp(outlet_waiting(BOOKS_SCOPE), before_cases[_i].want), "%s: %s",
                  before_cases[_i].name, outlet_waiting(BOOKS_SCOPE));
    till_check_clean();
}
END_TEST

/* The amount that the acquirer refunded before the charge was decided is not a refund here: one of
 * the others reverses the charge, and its failure takes that back. */
START_TEST(test_rest_taken_back)
{
    pay_outcome_t outcome = *till_outcome(PAY_OUTCOME_APPROVED);
    pay_charge_t *charge = books_open("shop-1", 1000);
    pay_refund_t *refund;
    int changed;

    outcome.refunded_minor = 500;
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &charge->scope,
                                              charge->seq, &outcome, 0, unit_pool),
                     APR_SUCCESS);
    refund = books_refund("shop-1", 500, "tag-1");
    (void)till_refund_resolve(&refund, BOOKS_SCOPE, refund->refund_reference, PAY_OUTCOME_APPROVED);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->state, PAY_CHARGE_REVERSED);
    ck_assert_int_eq(pay_store_refund_fail(&refund, &changed, till->store, &charge->scope,
                                           refund->refund_reference, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_str_eq(outlet_waiting(BOOKS_SCOPE), TOLD_SO_FAR
                     "webhook 1.2 refund processed behind; webhook 1.3 transaction reversed "
                     "behind; webhook 1.4 refund failed behind; "
                     "webhook 1.5 transaction successful behind");
    till_check_clean();
}
END_TEST

/* Weeks old: a person who fetches them by hand wants them listed. */
START_TEST(test_old_ones)
{
    (void)books_charge("shop-1", 1000);
    act('P', 0);
    till_clock += 36 * DAY;
    window.from = TILL_NOW - DAY;
    window.to = TILL_NOW + DAY;
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->state, PAY_CHARGE_REVERSED);
    ck_assert_str_eq(outlet_waiting(BOOKS_SCOPE), "webhook 1.1 transaction successful");
    till_check_clean();
}
END_TEST

/* An event of a refund that was removed because the store was full is sent when it is stored. */
static apr_status_t finish_fails(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    (void)import, (void)store, (void)p;
    return PAY_STORE_EFULL;
}

START_TEST(test_taken_back)
{

    (void)books_charge("shop-1", 1000);
    act('P', 0);
    store_script.import_finish = finish_fails;
    (void)fetch(PAY_STORE_EFULL);
    ck_assert_str_eq(outlet_waiting(BOOKS_SCOPE), "webhook 1.1 transaction successful");
    store_script = (store_script_t){0};
    act('.', 0);
    ck_assert_str_eq(outlet_waiting(BOOKS_SCOPE),
                     TOLD_SO_FAR "webhook 1.2 refund processed behind; "
                                 "webhook 1.3 transaction reversed behind");
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up_webhook, till_tear_down);
    tcase_add_loop_test(tcase, test_told, 0, UNIT_ROWS(cases));
    tcase_add_loop_test(tcase, test_reversed_before, 0, UNIT_ROWS(before_cases));
    tcase_add_test(tcase, test_rest_taken_back);
    tcase_add_test(tcase, test_old_ones);
    tcase_add_test(tcase, test_taken_back);
}

UNIT_PROGRAM(add)
