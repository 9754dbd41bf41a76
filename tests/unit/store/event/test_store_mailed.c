/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/mailed.h"

#include "outlet.h"

#define HOUR apr_time_from_sec(3600)
#define TEST_SCOPE 0 /* of the till's */
#define LIVE_SCOPE 1
#define PAYER "payer@shop.example"

typedef struct work_t {
    const char *address;
    apr_time_t until;
    int rows;
} work_t;

static int count_work(pay_rows_txn_t *txn, void *baton)
{
    work_t *work = baton;

    return pay_store_mailed_count(&work->until, txn, &till->scopes[LIVE_SCOPE], work->address,
                                  till_clock, unit_pool);
}

/* When there is room again, from now; 0: it may be sent. */
static apr_interval_time_t count(const char *address)
{
    work_t work = {.address = address};

    till_raw(count_work, &work);
    return work.until ? work.until - till_clock : 0;
}

static int rows_work(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t key = {7, "mailed/"}, row;
    work_t *work = baton;
    MDB_cursor *cursor;
    int rc;

    ck_assert_int_eq(mdb_cursor_open(txn->native, pay_lmdb_dbi(PAY_TABLE_META), &cursor), 0);
    rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&row), MDB_SET_RANGE);
    while (!rc && key.len > 7 && !memcmp(key.data, "mailed/", 7)) {
        ck_assert_uint_le(row.len, PAY_STORE_MAILED_MAX * 8);
        work->rows++;
        rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&row), MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return 0;
}

static int rows(void)
{
    work_t work = {.rows = 0};

    till_raw(rows_work, &work);
    return work.rows;
}

START_TEST(test_five_within_an_hour)
{
    int i;

    for (i = 0; i < PAY_STORE_MAILED_MAX; i++) {
        ck_assert_int_eq(count(PAYER), 0);
        till_clock += HOUR / 6;
    }
    ck_assert_int_eq(count(PAYER), HOUR / 6);
    ck_assert_int_eq(count("payer+again@shop.example"), HOUR / 6);
    ck_assert_int_eq(count("other@shop.example"), 0);
    till_reopen();
    ck_assert_int_eq(count(PAYER), HOUR / 6);
    till_clock += HOUR / 6 - 1;
    ck_assert_int_eq(count(PAYER), 1);
    till_clock += 1;
    ck_assert_int_eq(count(PAYER), 0);
    ck_assert_int_eq(count(PAYER), HOUR / 6);
}
END_TEST

/* A date in the future counts no more than an old one, however far the clock was ahead. */
START_TEST(test_clock)
{
    static const apr_interval_time_t steps[] = {HOUR, 24 * HOUR, 365 * 24 * HOUR,
                                                -1,   -HOUR,     -365 * 24 * HOUR};
    int i;

    for (i = 0; i < PAY_STORE_MAILED_MAX; i++) {
        ck_assert_int_eq(count(PAYER), 0);
    }
    ck_assert_int_eq(count(PAYER), HOUR);
    till_clock += steps[_i];
    for (i = 0; i < PAY_STORE_MAILED_MAX; i++) {
        ck_assert_int_eq(count(PAYER), 0);
    }
    ck_assert_int_eq(count(PAYER), HOUR);
}
END_TEST

/* As many payers as there are: old counts are removed as new ones come. */
START_TEST(test_old_rows_go)
{
    int i, round, most = 0;

    for (round = 0; round < 5; round++) {
        for (i = 0; i < 100; i++) {
            ck_assert_int_eq(count(apr_psprintf(unit_pool, "p%d.%d@b.example", round, i)), 0);
        }
        most = rows() > most ? rows() : most;
        till_clock += HOUR;
    }
    ck_assert_int_le(most, 150);
    ck_assert_int_ge(rows(), 100);
}
END_TEST

static int remove_work(pay_rows_txn_t *txn, void *baton)
{
    return pay_store_mailed_remove(txn, &till->scopes[LIVE_SCOPE], ((const work_t *)baton)->address,
                                   unit_pool);
}

START_TEST(test_remove)
{
    work_t work = {.address = PAYER};

    till_raw(remove_work, &work);
    ck_assert_int_eq(count(PAYER), 0);
    ck_assert_int_eq(rows(), 1);
    till_raw(remove_work, &work);
    ck_assert_int_eq(rows(), 0);
}
END_TEST

START_TEST(test_bad_row)
{
    pay_store_key_t key;
    int i;

    pay_store_key_start(&key);
    (void)pay_store_key_bytes(&key, "mailed/x", 8);
    till_plant(PAY_TABLE_META, &key, "x", 1);
    for (i = 0; i < 20; i++) {
        ck_assert_int_eq(count(apr_psprintf(unit_pool, "p%d@b.example", i)), 0);
    }
}
END_TEST

/* ---- as events are taken */

static void charges(int i, int wanted)
{
    int k;

    for (k = 0; k < wanted; k++) {
        (void)till_charge(i, apr_psprintf(unit_pool, "order-%d", k), 1000);
    }
}

START_TEST(test_the_sixth_receipt_waits)
{
    apr_array_header_t *taken;
    const pay_event_t *event;

    outlet_open(LIVE_SCOPE, PAY_ENDPOINT_RECEIPT);
    outlet_open(LIVE_SCOPE, PAY_ENDPOINT_NOTICE);
    charges(LIVE_SCOPE, 12);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 12 + PAY_STORE_MAILED_MAX);
    ck_assert_int_eq(outlet_take(100, OUTLET_ANY)->nelts, 0);
    ck_assert_ptr_null(strstr(outlet_waiting(LIVE_SCOPE), "notice"));
    till_clock += HOUR - 1;
    ck_assert_int_eq(outlet_take(100, OUTLET_ANY)->nelts, 0);
    till_clock += 1;
    taken = outlet_take(100, OUTLET_ANY);
    ck_assert_int_eq(taken->nelts, PAY_STORE_MAILED_MAX);
    event = outlet_event(taken, 0);
    ck_assert_int_eq(event->failures, 0);
    /* A later attempt of a counted one, and one that was never sent, change no count. */
    (void)outlet_finish_all(taken, PAY_EVENT_FAILED);
    till_clock += apr_time_from_sec(10);
    ck_assert_int_eq(outlet_take(100, OUTLET_ANY)->nelts, 1); /* it probes a relay that fails */
    till_clock += HOUR;
    till_check_clean();
}
END_TEST

/* Another payer's receipts are sent, however many of the first one's are due before them. */
START_TEST(test_who_has_enough_holds_up_nobody)
{
    pay_charge_t *charge;
    int budget = 1;

    outlet_open(LIVE_SCOPE, PAY_ENDPOINT_RECEIPT);
    charges(LIVE_SCOPE, 60);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), PAY_STORE_MAILED_MAX);
    till_clock += HOUR;
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), PAY_STORE_MAILED_MAX);
    charge = till_proposal(LIVE_SCOPE, "others", 1000);
    charge->email = "other@shop.example";
    till_clock += HOUR;
    {
        pay_charge_t *opened;
        pay_claim_t claim;

        ck_assert_int_eq(
            pay_store_charge_open(&opened, &claim, till->store, charge, NULL, NULL, unit_pool),
            APR_SUCCESS);
        ck_assert_int_eq(till_resolve(&opened, LIVE_SCOPE, opened->seq, PAY_OUTCOME_APPROVED), 1);
    }
    while (budget <= 20 && strstr(outlet_waiting(LIVE_SCOPE), " 61.1 ")) {
        (void)outlet_finish_all(outlet_take(100, 1), PAY_EVENT_DELIVERED);
        budget++;
    }
    ck_assert_int_le(budget, 8);
}
END_TEST

static const struct {
    const char *name;
    int scope;
    const char *recipients;
    const char *merchant; /* NULL: nobody gets notices */
    int notices;
    int withheld;
} receivers[] = {
    {"nobody is listed", TEST_SCOPE, "", NULL, 0, 1},
    {"others are listed", TEST_SCOPE, "ada@shop.example @other.example", "o@shop.example", 1, 1},
    {"the payer is listed", TEST_SCOPE, "ada@shop.example " PAYER, NULL, 0, 0},
    {"the payer's domain is listed", TEST_SCOPE, "@shop.example", NULL, 0, 0},
    {"the payer is the merchant", TEST_SCOPE, "", "Payer@Shop.example", 1, 0},
    {"the merchant gets nothing any more", TEST_SCOPE, "", PAYER, 0, 1},
    {"Live Mode", LIVE_SCOPE, "", NULL, 0, 0},
};

START_TEST(test_test_mode)
{
    const int scope = receivers[_i].scope;
    const pay_endpoint_switch_t to = {.scope = till->scopes[scope],
                                      .kind = PAY_ENDPOINT_RECEIPT,
                                      .enabled = 1,
                                      .recipients = receivers[_i].recipients};
    const pay_endpoint_switch_t merchant = {.scope = till->scopes[scope],
                                            .kind = PAY_ENDPOINT_NOTICE,
                                            .enabled = 1,
                                            .address = receivers[_i].merchant};
    apr_array_header_t *switches = apr_array_make(unit_pool, 2, sizeof(pay_endpoint_switch_t));
    apr_array_header_t *taken;

    APR_ARRAY_PUSH(switches, pay_endpoint_switch_t) = to;
    if (receivers[_i].merchant) {
        APR_ARRAY_PUSH(switches, pay_endpoint_switch_t) = merchant;
    }
    ck_assert_int_eq(pay_store_endpoint_switch(till->store, switches, unit_pool), APR_SUCCESS);
    if (receivers[_i].merchant && !receivers[_i].notices) {
        outlet_shut(scope, PAY_ENDPOINT_NOTICE);
    }
    charges(scope, 1);
    taken = outlet_take(1, OUTLET_ANY);
    ck_assert_int_eq(taken->nelts, 1);
    ck_assert_msg(APR_ARRAY_IDX(taken, 0, pay_taken_t).withheld == receivers[_i].withheld, "%s",
                  receivers[_i].name);
    ck_assert_int_eq(rows(), receivers[_i].withheld ? 0 : 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_five_within_an_hour);
    tcase_add_loop_test(tcase, test_clock, 0, 6);
    tcase_add_test(tcase, test_old_rows_go);
    tcase_add_test(tcase, test_remove);
    tcase_add_test(tcase, test_bad_row);
    tcase_add_test(tcase, test_the_sixth_receipt_waits);
    tcase_add_test(tcase, test_who_has_enough_holds_up_nobody);
    tcase_add_loop_test(tcase, test_test_mode, 0, UNIT_ROWS(receivers));
}

UNIT_PROGRAM(add)
