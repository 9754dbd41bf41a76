/* SPDX-License-Identifier: Apache-2.0 */
#include "service/charge/decisions.h"
#include "service/history/parts.h"

#include "history_fixture.h"
#include "store/payment/due.h"
#include "store/payment/refund.h"
#include "store_script.h"

#include <sys/wait.h>
#include <unistd.h>

/* The effect of a refund made elsewhere on a charge of 10.00 of ours. */
static const struct {
    const char *name;
    const char *status;
    const char *amount;
    const char *currency;
    apr_int64_t refunded, pending;
    pay_charge_state_t state;
} elsewhere[] = {
    {"processed, of a part", "processed", "5.00", "NGN", 500, 0, PAY_CHARGE_SUCCESSFUL},
    {"processed, of all", "processed", "10.00", "NGN", 1000, 0, PAY_CHARGE_REVERSED},
    {"processed, of more", "processed", "10.01", "NGN", 1001, 0, PAY_CHARGE_REVERSED},
    {"pending", "pending", "5.00", "NGN", 0, 500, PAY_CHARGE_SUCCESSFUL},
    {"failed", "failed", "5.00", "NGN", 0, 0, PAY_CHARGE_SUCCESSFUL},
    {"in another currency", "processed", "5.00", "USD", 0, 0, PAY_CHARGE_SUCCESSFUL},
    {"of no amount", "processed", NULL, NULL, 0, 0, PAY_CHARGE_SUCCESSFUL},
};

START_TEST(test_elsewhere)
{
    payments_record_t *record;
    pay_refund_t *refund;
    pay_charge_t *charge;

    (void)books_charge("shop-1", 1000);
    record = books_add(books, "1", elsewhere[_i].status);
    record->amount = elsewhere[_i].amount;
    record->currency = elsewhere[_i].currency;
    record->transaction_reference = books_reference("shop-1");
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);

    charge = till_find(BOOKS_SCOPE, "shop-1");
    ck_assert_msg(charge->refunded_minor == elsewhere[_i].refunded, "%s", elsewhere[_i].name);
    ck_assert_msg(charge->refunds_pending_minor == elsewhere[_i].pending, "%s", elsewhere[_i].name);
    ck_assert_msg(charge->state == elsewhere[_i].state, "%s", elsewhere[_i].name);
    refund = books_find("up_1");
    ck_assert_str_eq(refund->id, "id_1");
    ck_assert_str_eq(refund->transaction_reference, "shop-1");
    ck_assert_str_eq(refund->channel, "dashboard");
    ck_assert_int_eq(refund->created_at, record->created_at);
    ck_assert_uint_ne(refund->import_number, 0);
    ck_assert_int_eq(books_listed(), 1);
    /* The refundable amount here shrinks by it. */
    if (elsewhere[_i].state == PAY_CHARGE_SUCCESSFUL) {
        (void)till_refund(BOOKS_SCOPE, "shop-1",
                          1001 - elsewhere[_i].refunded - elsewhere[_i].pending,
                          PAY_REFUND_REFUSED_ABOVE);
    } else {
        (void)till_refund(BOOKS_SCOPE, "shop-1", 1, PAY_REFUND_REFUSED_FULL);
    }
    check_again();
}
END_TEST

/* Its state is followed, into the charge's amounts and back. */
static const struct {
    const char *name;
    const char *first, *then;
    pay_refund_state_t state;
    pay_held_t held;
    apr_int64_t refunded;
    int changed;
} later[] = {
    {"processed", "pending", "processed", PAY_REFUND_PROCESSED, PAY_NOT_HELD, 500, 1},
    {"failed", "pending", "failed", PAY_REFUND_FAILED, PAY_NOT_HELD, 0, 1},
    {"failed after all", "processed", "failed", PAY_REFUND_FAILED, PAY_NOT_HELD, 0, 1},
    {"processed after all", "failed", "processed", PAY_REFUND_FAILED, PAY_HELD_LATE, 0, 1},
    {"pending again", "processed", "pending", PAY_REFUND_PROCESSED, PAY_NOT_HELD, 500, 0},
};

START_TEST(test_later)
{
    payments_record_t *record;
    pay_history_news_t news;
    pay_refund_t *refund;

    (void)books_charge("shop-1", 500);
    record = books_add(books, "1", later[_i].first);
    record->transaction_reference = books_reference("shop-1");
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
    record->status = later[_i].then;
    till_clock += apr_time_from_sec(60);
    news = fetch(APR_SUCCESS);
    ck_assert_msg((int)news.changed == later[_i].changed, "%s", later[_i].name);
    refund = books_find("up_1");
    ck_assert_msg(refund->state == later[_i].state, "%s", later[_i].name);
    ck_assert_msg(refund->held == later[_i].held, "%s", later[_i].name);
    ck_assert_msg(till_find(BOOKS_SCOPE, "shop-1")->refunded_minor == later[_i].refunded, "%s",
                  later[_i].name);
    check_again();
    record->amount = "4.00"; /* a reported outcome is not changed */
    news = fetch(APR_SUCCESS);
    ck_assert_uint_eq(news.changed, 0);
    ck_assert_uint_eq(news.refused, 1);
    ck_assert_int_eq(books_find("up_1")->money.amount_minor, 500);
    check_again();
}
END_TEST

/* A refund that becomes known before its charge is decided. */
START_TEST(test_charge_that_is_pending)
{
    pay_charge_t *pending = books_open("shop-1", 500);

    books_add(books, "1", "processed")->transaction_reference = books_reference("shop-1");
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
    till_check_clean();
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(till_resolve(&pending, BOOKS_SCOPE, pending->seq, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->state, PAY_CHARGE_REVERSED);
    check_again();
}
END_TEST

/* Refunded less charged, and how many of each, of the scope. */
static const char *totals(void)
{
    const pay_time_range_t all = {0, till_clock + DAY};
    apr_array_header_t *list;
    const pay_total_t *total;
    const char *text = "";
    int i;

    ck_assert_int_eq(
        pay_store_total_list(&list, till->store, &window.scope, &all, NULL, 100, unit_pool),
        APR_SUCCESS);
    for (i = 0; i < list->nelts; i++) {
        total = &APR_ARRAY_IDX(list, i, pay_total_t);
        text = apr_psprintf(unit_pool, "%s%d charged, %d failed, %d refunded; ", text,
                            (int)total->charges, (int)total->failed, (int)total->refunds);
    }
    return text;
}

static const struct {
    const char *name;
    const char *status; /* of the refund */
} undecided[] = {{"processed", "processed"}, {"pending", "pending"}};

/* A refund shows that its charge was approved: a decline is not believed, from any source. */
START_TEST(test_charge_that_is_declined)
{
    pay_charge_t *charge = books_open("shop-1", 500), *as_read;
    pay_outcome_t outcome = *till_outcome(PAY_OUTCOME_DECLINED);
    pay_decision_t decision;
    int changed;

    books_add(books, "1", undecided[_i].status)->transaction_reference = books_reference("shop-1");
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
    ck_assert_int_eq(till_resolve(&charge, BOOKS_SCOPE, charge->seq, PAY_OUTCOME_DECLINED), 0);
    as_read = till_find(BOOKS_SCOPE, "shop-1");
    ck_assert_int_eq(as_read->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(as_read->held, PAY_HELD_DIFFERENT);
    ck_assert(as_read->due_at > till_clock && as_read->due_at <= till_clock + DAY);
    ck_assert_str_eq(totals(), _i ? "" : "0 charged, 0 failed, 1 refunded; ");
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 1);
    ck_assert_ptr_nonnull(strstr(till_line, "PAY00783"));
    outcome = pay_decision_outcome(0, "not on the statement");
    ck_assert_int_eq(
        pay_charge_decide(&charge, &decision, till->store, as_read, &outcome, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(decision, PAY_DECISION_REFUNDED);
    ck_assert_str_eq(pay_decision_refund(till->store, as_read, unit_pool), "up_1");
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &charge->scope,
                                              charge->seq, &outcome, 0, unit_pool),
                     APR_SUCCESS); /* nor if the refund came meanwhile */
    ck_assert_int_eq(changed, 0);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(till_resolve(&charge, BOOKS_SCOPE, charge->seq, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->held, PAY_NOT_HELD);
    till_check_clean();
}
END_TEST

/*
 * A charge that was approved after it failed is not a charge of ours, and its refund not a refund.
 */
static const struct {
    const char *name;
    int late;  /* the approval is known */
    int asked; /* or its acquirer will be queried about it */
    int refused;
} of_failed[] = {
    {"approved late", 1, 0, 0},
    {"asked about late", 0, 1, 0},
    {"declined for good", 0, 0, 1},
};

START_TEST(test_charge_that_failed)
{
    const pay_late_step_t found = {.from = PAY_LATE_NONE,
                                   .to = PAY_LATE_FOUND,
                                   .outcome = till_outcome(PAY_OUTCOME_APPROVED),
                                   .held = PAY_HELD_LATE};
    pay_outcome_t declined = *till_outcome(PAY_OUTCOME_DECLINED);
    pay_charge_t *charge = books_open("shop-1", 500);
    pay_history_news_t news;
    const char *before;
    int changed;

    declined.late_check_at = of_failed[_i].asked ? till_clock + DAY : 0;
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &window.scope,
                                              charge->seq, &declined, 0, unit_pool),
                     APR_SUCCESS);
    if (of_failed[_i].late) {
        ck_assert_int_eq(pay_store_charge_late(&charge, &changed, till->store, &window.scope,
                                               charge->seq, &found, unit_pool),
                         APR_SUCCESS);
    }
    before = totals();
    ck_assert_str_eq(before, "0 charged, 1 failed, 0 refunded; ");
    books_add(books, "1", "processed")->transaction_reference = books_reference("shop-1");
    news = fetch(APR_SUCCESS);
    ck_assert_msg(news.added == 0, "%s", of_failed[_i].name);
    ck_assert_msg((int)news.refused == of_failed[_i].refused, "%s", of_failed[_i].name);
    ck_assert_str_eq(totals(), before);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->refunded_minor, 0);
    check_again();
}
END_TEST

/* Charges or refunds of another account of the store are its own, whatever is listed here. */
START_TEST(test_of_another_account)
{
    const pay_scope_t others = {till->scopes[0].account, PAY_LIVE};
    pay_charge_t *proposal = till_proposal(0, "shop-9", 500), *charge;
    payments_record_t *record = books_add(books, "1", "processed");
    pay_claim_t claim;

    proposal->scope = others;
    proposal->acquirer_reference = _i == 2 ? "elsewhere" : books_reference("shop-9");
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    record->transaction_reference = books_reference(_i == 1 ? "shop-8" : "shop-9");
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, _i == 0 ? 0 : 1);
    check_again();
}
END_TEST

/* Removes the query from the row. */
static int forget_work(pay_rows_txn_t *txn, void *baton)
{
    pay_refund_t *refund = baton;
    pay_store_refund_t *row;
    int rc;

    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, &refund->scope,
                                   refund->refund_reference, unit_pool);
    if (!rc) {
        row->refund.due_at = 0;
        row->refund.acquirer = "";
        rc = pay_store_refund_put(txn, row, unit_pool);
    }
    return rc;
}

static void forget(pay_refund_t *refund)
{
    till_raw(forget_work, refund);
}

/* One that is pending there is queried by the acquirer's reference, however it was added. */
START_TEST(test_pending_is_asked_about)
{
    payments_record_t *record = books_add(books, "1", "pending");
    pay_refund_t *refund;
    apr_array_header_t *due;

    record->transaction_reference = books_reference("shop-1");
    (void)books_charge("shop-1", 1000);
    if (_i) { /* left so by a version that queried nothing */
        record->created_at = record->updated_at = TILL_NOW - 3600 * apr_time_from_sec(1);
        ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
        refund = books_find("up_1");
        forget(refund);
        till_check_clean();
    }
    (void)fetch(APR_SUCCESS);
    refund = books_find("up_1");
    ck_assert_int_gt(refund->due_at, till_clock);
    ck_assert_int_le(refund->due_at, till_clock + apr_time_from_sec(60));
    ck_assert_str_eq(refund->acquirer, "books@acquirer.example");
    check_again();
    ck_assert_int_eq(pay_store_due_take(&due, till->store, refund->due_at, 1, 10, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(due->nelts, 1);
    ck_assert_str_eq(APR_ARRAY_IDX(due, 0, pay_due_t).refund->refund_reference, "up_1");
    record->status = _i ? "failed" : "processed";
    ck_assert_uint_eq(fetch(APR_SUCCESS).changed, 1);
    ck_assert_int_eq(books_find("up_1")->due_at, 0);
    check_again();
}
END_TEST

static apr_status_t import_fails(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    (void)import, (void)store, (void)p;
    return PAY_STORE_EDOWN;
}

/* A partial import that cannot be taken back is not part of the next one. */
START_TEST(test_not_taken_back)
{

    (void)books_charge("shop-1", 500);
    books_add(books, "1", "processed")->transaction_reference = books_reference("shop-1");
    store_script.import_finish = import_fails;
    (void)fetch(PAY_STORE_EDOWN);
    ck_assert_int_eq(till_logged("PAY00441"), 0);
    store_script.import_abort = import_fails;
    (void)fetch(PAY_STORE_EDOWN);
    ck_assert_int_eq(till_logged("PAY00441"), 1);
    store_script = (store_script_t){0};
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->refunded_minor, 500);
    ck_assert_int_eq(till_logged("PAY00441"), 1);
    check_again();
}
END_TEST

/* The shop's own text may have been used at the acquirer by others: it names no charge. */
START_TEST(test_charge_of_the_same_name)
{
    (void)books_charge("shop-1", 500);
    books_add(books, "1", "processed")->transaction_reference = "shop-1";
    books_add(books, "2", "processed")->transaction_reference = "not known here";
    books_add(books, "3", "processed")->transaction_reference = NULL;
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 3);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->refunded_minor, 0);
    ck_assert_ptr_null(
        books_find("up_1")->transaction_reference); /* the shop would take it for its own */
    ck_assert_str_eq(books_find("up_1")->acquirer_charge, "shop-1");
    ck_assert_str_eq(books_find("up_2")->transaction_reference, "not known here");
    ck_assert_ptr_null(books_find("up_3")->transaction_reference);
    ck_assert_int_eq(books_listed(), 3);
    check_again();
}
END_TEST

/* History that was imported from a file is matched by the acquirer's reference. */
START_TEST(test_imported_before)
{
    pay_refund_t *old =
        till_history(BOOKS_SCOPE, 1, TILL_NOW - DAY, PAY_REFUND_PENDING, "shop-1", 500);
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    payments_record_t *record;
    pay_import_t import;
    int at;

    (void)books_charge("shop-1", 500);
    APR_ARRAY_PUSH(rows, pay_refund_t *) = old;
    ck_assert_int_eq(pay_store_import_begin(&import, till->store, &window.scope, unit_pool), 0);
    ck_assert_int_eq(pay_store_import_rows(&import, &at, till->store, rows, unit_pool), 0);
    ck_assert_int_eq(pay_store_import_finish(&import, till->store, unit_pool), 0);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->refunds_pending_minor, 500);
    record = books_add(books, "1", "processed");
    record->id = old->id;
    record->reference = old->refund_reference;
    record->merchant_note = "other than in the file";
    ck_assert_uint_eq(fetch(APR_SUCCESS).changed, 1);
    ck_assert_int_eq(books_listed(), 1);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->state, PAY_CHARGE_REVERSED);
    check_again();
}
END_TEST

/* An id that is known with another reference: that row alone is left out, at any position. */
START_TEST(test_id_that_is_known)
{
    static const char *const names[] = {"2", "3", "4"};
    pay_history_news_t news;
    int i;

    (void)books_add(books, "1", "processed");
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
    for (i = 0; i < UNIT_ROWS(names); i++) {
        payments_record_t *record = books_add(books, names[i], "processed");

        record->id = i == _i ? "id_1" : record->id;
    }
    till_clock += apr_time_from_sec(60);
    news = fetch(APR_SUCCESS);
    ck_assert_uint_eq(news.added, UNIT_ROWS(names) - 1);
    ck_assert_uint_eq(news.refused, 1);
    ck_assert_int_eq(books_listed(), UNIT_ROWS(names));
}
END_TEST

/* Only so many are taken from one call; the same window again finds the rest. */
static const struct {
    const char *name;
    int count, full;
} many[] = {
    {"as many as one call takes", PAY_HISTORY_CHANGES_MAX, 0},
    {"one more", PAY_HISTORY_CHANGES_MAX + 1, 1},
};

START_TEST(test_many)
{
    pay_history_news_t news;
    int i;

    for (i = 0; i < many[_i].count; i++) {
        (void)books_add(books, apr_itoa(unit_pool, i), "processed");
    }
    (void)books_add(books, "0", "processed"); /* the acquirer lists one twice */
    books->count -= !many[_i].full;
    news = fetch(APR_SUCCESS);
    ck_assert_msg(news.full == many[_i].full, "%s", many[_i].name);
    ck_assert_uint_eq(news.added, PAY_HISTORY_CHANGES_MAX);
    if (news.full) {
        news = fetch(APR_SUCCESS);
        ck_assert_int_eq(news.full, 0);
        ck_assert_uint_eq(news.added, 1);
    }
    ck_assert_int_eq(books_listed(), many[_i].count);
    till_check_clean();
}
END_TEST

static void begin_import(void)
{
    pay_import_t import;
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        till_reopen();
        _exit(pay_store_import_begin(&import, till->store, &window.scope, unit_pool) != 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* The remains of an import whose process died are removed; they delay nobody. */
START_TEST(test_import_of_a_dead_process)
{
    till_close();
    begin_import();
    till_reopen();
    window.store = till->store;
    (void)books_add(books, "1", "processed");
    ck_assert_uint_eq(fetch(APR_SUCCESS).added, 1);
    check_again();
}
END_TEST

/* An acquirer that fails in the middle has reported nothing. */
START_TEST(test_acquirer_fails)
{
    const char *before = till_snapshot();
    pay_history_news_t news;

    (void)books_add(books, "1", "processed");
    books->failures = 1;
    news = fetch(APR_EGENERAL);
    ck_assert_int_eq(news.silent, 1);
    ck_assert_str_eq(before, till_snapshot());
    news = fetch(APR_SUCCESS);
    ck_assert_int_eq(news.silent, 0);
    ck_assert_uint_eq(news.added, 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_elsewhere, 0, UNIT_ROWS(elsewhere));
    tcase_add_loop_test(tcase, test_later, 0, UNIT_ROWS(later));
    tcase_add_test(tcase, test_charge_that_is_pending);
    tcase_add_loop_test(tcase, test_charge_that_is_declined, 0, UNIT_ROWS(undecided));
    tcase_add_loop_test(tcase, test_charge_that_failed, 0, UNIT_ROWS(of_failed));
    tcase_add_loop_test(tcase, test_of_another_account, 0, 3);
    tcase_add_loop_test(tcase, test_pending_is_asked_about, 0, 2);
    tcase_add_test(tcase, test_not_taken_back);
    tcase_add_test(tcase, test_charge_of_the_same_name);
    tcase_add_test(tcase, test_imported_before);
    tcase_add_loop_test(tcase, test_id_that_is_known, 0, 3);
    tcase_add_loop_test(tcase, test_many, 0, UNIT_ROWS(many));
    tcase_add_test(tcase, test_import_of_a_dead_process);
    tcase_add_test(tcase, test_acquirer_fails);
}

UNIT_PROGRAM(add)
