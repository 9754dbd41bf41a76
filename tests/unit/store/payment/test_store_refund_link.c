/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/acquirer.h"
#include "store/payment/refund.h"
#include "store/payment/refund_link.h"

#define SEC(n) apr_time_from_sec(n)
#define THEIR "0123456789abcdef0123456789abcdef" /* the acquirer's name for order-1 */
#define LIVE 1                                   /* the scope that the tests check */

/* Of rows of earlier versions, which have no names of an unknown charge and of a request. */
#define OLDER_FIELDS 22

/* ---- how things come to be */

static pay_charge_t *open_charge(const char *reference, apr_int64_t amount_minor, const char *name)
{
    pay_charge_t *proposal = till_proposal(LIVE, reference, amount_minor);
    pay_charge_t *charge;
    pay_claim_t claim;

    proposal->acquirer_reference = name;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    return charge;
}

static pay_charge_t *approve(pay_charge_t *charge)
{
    ck_assert_int_eq(till_resolve(&charge, LIVE, charge->seq, PAY_OUTCOME_APPROVED), 1);
    return charge;
}

/* A refund as the acquirer's list contains it. */
static void fetch(int number, pay_refund_state_t state, const char *name, apr_int64_t amount_minor)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_refund_t *row = till_history(LIVE, number, TILL_NOW, state, NULL, amount_minor);
    pay_import_t run;
    int at;

    row->acquirer_charge = name;
    APR_ARRAY_PUSH(rows, pay_refund_t *) = row;
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[LIVE], unit_pool),
                     APR_SUCCESS);
    run.by_acquirer = 1;
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
}

static pay_refund_t *fetched(int number)
{
    pay_refund_t *refund;

    ck_assert_int_eq(pay_store_refund_find(&refund, till->store, &till->scopes[LIVE],
                                           apr_psprintf(unit_pool, "oldref_%d", number), unit_pool),
                     APR_SUCCESS);
    return refund;
}

static pay_refund_link_t try_link(int number, int change)
{
    pay_refund_link_t verdict;
    pay_refund_t *refund;
    pay_charge_t *charge;

    ck_assert_int_eq(
        pay_store_refund_link(&refund, &charge, &verdict, till->store, &till->scopes[LIVE],
                              apr_psprintf(unit_pool, "oldref_%d", number), change, unit_pool),
        APR_SUCCESS);
    ck_assert_str_eq(refund->refund_reference, apr_psprintf(unit_pool, "oldref_%d", number));
    return verdict;
}

/* ---- either order ends the same */

typedef struct given_t {
    pay_refund_state_t state;
    apr_int64_t amount_minor;
} given_t;

static const struct {
    const char *name;
    given_t refunds[2];
    pay_charge_state_t state;
    apr_int64_t refunded, pending;
} order_cases[] = {
    {"all of it", {{PAY_REFUND_PROCESSED, 1000}}, PAY_CHARGE_REVERSED, 1000, 0},
    {"a part", {{PAY_REFUND_PROCESSED, 400}}, PAY_CHARGE_SUCCESSFUL, 400, 0},
    {"two parts",
     {{PAY_REFUND_PROCESSED, 400}, {PAY_REFUND_PROCESSED, 600}},
     PAY_CHARGE_REVERSED,
     1000,
     0},
    {"one that is pending", {{PAY_REFUND_PENDING, 400}}, PAY_CHARGE_SUCCESSFUL, 0, 400},
    {"one that failed",
     {{PAY_REFUND_FAILED, 1000}, {PAY_REFUND_PROCESSED, 1}},
     PAY_CHARGE_SUCCESSFUL,
     1,
     0},
    {"more than the charge", {{PAY_REFUND_PROCESSED, 1700}}, PAY_CHARGE_REVERSED, 1700, 0},
};

enum { BEFORE_IT_IS_OPENED, BEFORE_IT_IS_DECIDED, AFTER_IT, ORDERS };

static void fetch_all(const given_t *refunds)
{
    int i;

    for (i = 0; i < 2 && refunds[i].amount_minor; i++) {
        fetch(i + 1, refunds[i].state, THEIR, refunds[i].amount_minor);
    }
}

START_TEST(test_either_order)
{
    const int order = _i % ORDERS;
    const given_t *refunds = order_cases[_i / ORDERS].refunds;
    const char *name = order_cases[_i / ORDERS].name;
    pay_charge_t *charge;
    int i;

    if (order == BEFORE_IT_IS_OPENED) {
        fetch_all(refunds);
        ck_assert_str_eq(fetched(1)->transaction_reference, THEIR);
        ck_assert_str_eq(fetched(1)->acquirer_charge, THEIR);
        till_check_clean();
    }
    charge = open_charge("order-1", 1000, THEIR);
    if (order == BEFORE_IT_IS_DECIDED) {
        fetch_all(refunds);
    }
    till_check_clean();
    (void)approve(charge);
    if (order == AFTER_IT) {
        fetch_all(refunds);
    }
    charge = till_find(LIVE, "order-1");
    ck_assert_msg(charge->state == order_cases[_i / ORDERS].state, "%s, %d", name, order);
    ck_assert_msg(charge->refunded_minor == order_cases[_i / ORDERS].refunded, "%s, %d", name,
                  order);
    ck_assert_msg(charge->refunds_pending_minor == order_cases[_i / ORDERS].pending, "%s, %d", name,
                  order);
    for (i = 0; i < 2 && refunds[i].amount_minor; i++) {
        ck_assert_str_eq(fetched(i + 1)->transaction_reference, "order-1");
        ck_assert_str_eq(fetched(i + 1)->acquirer_charge, "");
        ck_assert_uint_eq(fetched(i + 1)->charge_seq, charge->seq);
        ck_assert_int_eq(try_link(i + 1, 1), PAY_REFUND_LINK_KNOWN);
    }
    fetch_all(refunds); /* again: it is known, by any name */
    ck_assert(till_find(LIVE, "order-1")->refunded_minor == charge->refunded_minor);
    till_reopen();
    till_check_clean();
}
END_TEST

/* The remainder can be refunded, no more. */
START_TEST(test_what_is_left)
{
    fetch(1, PAY_REFUND_PROCESSED, THEIR, 400);
    (void)approve(open_charge("order-1", 1000, THEIR));
    (void)till_refund(LIVE, "order-1", 601, PAY_REFUND_REFUSED_ABOVE);
    ck_assert(till_refund(LIVE, "order-1", 0, PAY_REFUND_OPENED)->money.amount_minor == 600);
    till_check_clean();
}
END_TEST

/* ---- what does not belong together */

static const struct {
    const char *name;
    const char *charge;    /* the acquirer's name for the charge of the refund */
    const char *reference; /* of the charge that is opened, which it calls THEIR */
    const char *currency;
    const char *shown; /* as its transactionReference, once the charge is there */
} apart_cases[] = {
    {"of another charge", "another", "order-1", "NGN", "another"},
    {"of a longer name", THEIR "0", "order-1", "NGN", THEIR "0"},
    {"of a shorter name", "0123", "order-1", "NGN", "0123"},
    {"of one with the shop's text", "order-1", "order-1", "NGN", NULL},
    {"in another currency", THEIR, "order-1", "EUR", "order-1"},
    {"that names none", "", "order-1", "NGN", NULL},
};

START_TEST(test_apart)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    const int first = _i % 2;
    const char *name = apart_cases[_i / 2].name;
    pay_refund_t *row = till_history(LIVE, 1, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 400);
    pay_charge_t *charge = NULL;
    pay_import_t run;
    int at;

    apr_cpystrn(row->money.currency, apart_cases[_i / 2].currency, sizeof(row->money.currency));
    row->acquirer_charge = apart_cases[_i / 2].charge;
    APR_ARRAY_PUSH(rows, pay_refund_t *) = row;
    if (!first) {
        charge = open_charge(apart_cases[_i / 2].reference, 1000, THEIR);
    }
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[LIVE], unit_pool),
                     APR_SUCCESS);
    run.by_acquirer = 1;
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(run.unlinked, 1);
    if (first) {
        charge = open_charge(apart_cases[_i / 2].reference, 1000, THEIR);
    }
    charge = approve(charge);
    ck_assert_msg(charge->refunded_minor == 0, "%s", name);
    ck_assert_msg(fetched(1)->charge_seq == 0, "%s", name);
    ck_assert_pstr_eq(fetched(1)->transaction_reference, apart_cases[_i / 2].shown);
    ck_assert_str_eq(fetched(1)->acquirer_charge, apart_cases[_i / 2].charge);
    ck_assert_int_ne(try_link(1, 1), PAY_REFUND_LINKED);
    till_check_clean();
}
END_TEST

/* Scopes do not meet. */
START_TEST(test_another_scope)
{
    pay_charge_t *proposal = till_proposal(0, "order-1", 1000);
    pay_charge_t *charge;
    pay_claim_t claim;

    fetch(1, PAY_REFUND_PROCESSED, THEIR, 400);
    proposal->acquirer_reference = THEIR;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert(charge->refunded_minor == 0);
    ck_assert_uint_eq(fetched(1)->charge_seq, 0);
    till_check_clean();
}
END_TEST

/* ---- a charge that is taken back */

START_TEST(test_withdrawn)
{
    pay_charge_t *charge;

    fetch(1, PAY_REFUND_PROCESSED, THEIR, 400);
    fetch(2, PAY_REFUND_FAILED, THEIR, 300);
    fetch(3, PAY_REFUND_PENDING, THEIR, 200);
    charge = open_charge("order-1", 1000, THEIR);
    ck_assert(charge->refunded_minor == 400 && charge->refunds_pending_minor == 200);
    ck_assert_int_eq(
        pay_store_charge_withdraw(till->store, &till->scopes[LIVE], charge->seq, unit_pool),
        APR_SUCCESS);
    ck_assert_uint_eq(fetched(1)->charge_seq, 0);
    ck_assert_str_eq(fetched(2)->acquirer_charge, THEIR);
    ck_assert_str_eq(fetched(3)->transaction_reference, THEIR);
    till_check_clean();
    charge = approve(open_charge("order-1", 1000, THEIR));
    ck_assert(charge->refunded_minor == 400 && charge->refunds_pending_minor == 200);
    till_check_clean();
}
END_TEST

/* An import that is removed returns their amounts to charges that were opened meanwhile. */
START_TEST(test_import_is_taken_back)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 2, sizeof(pay_refund_t *));
    pay_refund_t *row;
    pay_import_t run;
    int i, at;

    for (i = 1; i <= 2; i++) {
        row = till_history(LIVE, i, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 400);
        row->acquirer_charge = i == 1 ? THEIR : "another";
        APR_ARRAY_PUSH(rows, pay_refund_t *) = row;
    }
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[LIVE], unit_pool),
                     APR_SUCCESS);
    run.by_acquirer = 1;
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert(approve(open_charge("order-1", 1000, THEIR))->refunded_minor == 400);
    ck_assert_int_eq(pay_store_import_abort(&run, till->store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(till_find(LIVE, "order-1")->refunded_minor, 0);
    (void)open_charge("order-2", 1000, "another");
    ck_assert_int_eq(till_find(LIVE, "order-2")->refunded_minor, 0);
    till_check_clean();
}
END_TEST

/* ---- rows of earlier versions */

/* The row has no more fields than an earlier version writes: added ones are empty. */
static int older_work(pay_rows_txn_t *txn, void *baton)
{
    const pay_refund_t *refund = baton;
    pay_store_refund_head_t head;
    pay_store_key_t key;
    pay_bytes_t at, row;

    pay_store_refund_key(&key, &refund->scope, refund->created_at, refund->seq);
    at = pay_store_key_val(&key);
    ck_assert_int_eq(pay_rows_get(&row, txn, PAY_TABLE_REFUND, &at), 0);
    ck_assert_int_eq(pay_store_refund_head(&head, &at, &row), 0);
    ck_assert_uint_le(((const unsigned char *)head.fields.data)[1], OLDER_FIELDS);
    return 0;
}

/* As an earlier version imported it: the acquirer's name is in the record alone. */
static void fetch_as_before(int number, const char *shown, apr_int64_t amount_minor)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_import_t run;
    int at;

    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(LIVE, number, TILL_NOW, PAY_REFUND_PROCESSED, shown, amount_minor);
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[LIVE], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    till_raw(older_work, fetched(number));
    ck_assert_uint_eq(fetched(number)->charge_seq, 0);
    ck_assert_str_eq(fetched(number)->acquirer_charge, "");
    ck_assert_str_eq(fetched(number)->asked_digest, "");
}

START_TEST(test_mends_what_is_unlinked)
{
    const char *before;

    fetch_as_before(1, THEIR, 400);
    ck_assert(approve(open_charge("order-1", 1000, THEIR))->refunded_minor == 0);
    till_check_clean();
    before = till_snapshot();
    ck_assert_int_eq(try_link(1, 0), PAY_REFUND_LINKED);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(try_link(1, 1), PAY_REFUND_LINKED);
    ck_assert(till_find(LIVE, "order-1")->refunded_minor == 400);
    ck_assert_str_eq(fetched(1)->transaction_reference, "order-1");
    ck_assert_int_eq(try_link(1, 1), PAY_REFUND_LINK_KNOWN);
    ck_assert(till_find(LIVE, "order-1")->refunded_minor == 400);
    till_check_clean();
}
END_TEST

/* If its charge is still unknown, the name is stored from here on. */
START_TEST(test_keeps_the_name_of_what_is_unlinked)
{
    fetch_as_before(1, THEIR, 1000);
    fetch_as_before(2, "order-1", 700); /* the acquirer's own text, which is a charge's here, too */
    (void)open_charge("order-1", 500, "another");
    ck_assert_int_eq(try_link(1, 0), PAY_REFUND_LINK_NONE);
    ck_assert_str_eq(fetched(1)->acquirer_charge, "");
    ck_assert_int_eq(try_link(1, 1), PAY_REFUND_LINK_NONE);
    ck_assert_int_eq(try_link(2, 1), PAY_REFUND_LINK_NONE);
    ck_assert_str_eq(fetched(1)->acquirer_charge, THEIR);
    ck_assert_str_eq(fetched(1)->transaction_reference, THEIR);
    ck_assert_str_eq(fetched(2)->acquirer_charge, "order-1");
    ck_assert_ptr_null(fetched(2)->transaction_reference);
    till_check_clean();
    ck_assert_int_eq(approve(open_charge("order-2", 1000, THEIR))->state, PAY_CHARGE_REVERSED);
    till_check_clean();
}
END_TEST

START_TEST(test_no_such_refund)
{
    pay_refund_link_t verdict;
    pay_refund_t *refund;
    pay_charge_t *charge;

    ck_assert_int_eq(pay_store_refund_link(&refund, &charge, &verdict, till->store,
                                           &till->scopes[LIVE], "oldref_1", 1, unit_pool),
                     APR_NOTFOUND);
    ck_assert_ptr_null(refund);
}
END_TEST

/* More than one transaction may change: the rest waits for the command. */
START_TEST(test_many)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_refund_t *row;
    pay_import_t run;
    int i, at;

    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[LIVE], unit_pool),
                     APR_SUCCESS);
    run.by_acquirer = 1;
    for (i = 1; i <= PAY_STORE_REFUND_LINKS_MAX + 1; i++) {
        row = till_history(LIVE, i, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 1);
        row->acquirer_charge = THEIR;
        APR_ARRAY_PUSH(rows, pay_refund_t *) = row;
        if (rows->nelts == PAY_STORE_ROWS_MAX || i > PAY_STORE_REFUND_LINKS_MAX) {
            ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool),
                             APR_SUCCESS);
            apr_array_clear(rows);
        }
    }
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    (void)approve(open_charge("order-1", 5000, THEIR));
    ck_assert_int_eq(till_logged("PAY00720"), 1);
    ck_assert(till_find(LIVE, "order-1")->refunded_minor == PAY_STORE_REFUND_LINKS_MAX);
    ck_assert_int_eq(try_link(PAY_STORE_REFUND_LINKS_MAX + 1, 1), PAY_REFUND_LINKED);
    ck_assert(till_find(LIVE, "order-1")->refunded_minor == PAY_STORE_REFUND_LINKS_MAX + 1);
    till_check_clean();
}
END_TEST

/* ---- damage */

START_TEST(test_check_tells)
{
    pay_store_key_t key;
    pay_refund_t *refund;

    fetch(1, PAY_REFUND_PROCESSED, THEIR, 400);
    refund = fetched(1);
    ck_assert(pay_store_acquirer_unlinked_key(&key, &refund->scope, THEIR, refund->seq));
    till_plant(PAY_TABLE_ACQUIRER, &key, NULL, 0);
    ck_assert_int_eq(till_faults("not found by the acquirer's name of its charge"), 1);
    ck_assert_int_ne(till_fault[0], '\0');
    fetch(2, PAY_REFUND_PROCESSED, "another", 400);
    refund = fetched(2);
    ck_assert(pay_store_acquirer_unlinked_key(&key, &refund->scope, "a third", refund->seq));
    till_plant(PAY_TABLE_ACQUIRER, &key, "x", 1);
    ck_assert_int_eq(till_faults("leads to nothing of that name at the acquirer"), 2);
    ck_assert_int_ne(till_fault[0], '\0');
    /* Neither keeps a charge from being opened. */
    (void)open_charge("order-1", 1000, "a third");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_either_order, 0, ORDERS * UNIT_ROWS(order_cases));
    tcase_add_test(tcase, test_what_is_left);
    tcase_add_loop_test(tcase, test_apart, 0, 2 * UNIT_ROWS(apart_cases));
    tcase_add_test(tcase, test_another_scope);
    tcase_add_test(tcase, test_withdrawn);
    tcase_add_test(tcase, test_import_is_taken_back);
    tcase_add_test(tcase, test_mends_what_is_unlinked);
    tcase_add_test(tcase, test_keeps_the_name_of_what_is_unlinked);
    tcase_add_test(tcase, test_no_such_refund);
    tcase_add_test(tcase, test_many);
    tcase_add_test(tcase, test_check_tells);
}

UNIT_PROGRAM(add)
