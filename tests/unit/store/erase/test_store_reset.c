/* SPDX-License-Identifier: Apache-2.0 */
#include "link_goods.h"
#include "payers.h"

#define SCOPE 2 /* Test Mode; its Live Mode and another account's Test Mode are on either side */

static const pay_table_t emptied[] = {
    PAY_TABLE_TOKEN,     PAY_TABLE_CHARGE,           PAY_TABLE_CHARGE_REF,
    PAY_TABLE_REFUND,    PAY_TABLE_REFUND_REF,       PAY_TABLE_REFUND_ID,
    PAY_TABLE_EVENT,     PAY_TABLE_REFUND_BY_CHARGE, PAY_TABLE_REFUND_REPEAT,
    PAY_TABLE_EVENT_DUE, PAY_TABLE_CHARGE_BY_TIME,   PAY_TABLE_IDEMPOTENCY,
    PAY_TABLE_TOTAL,     PAY_TABLE_EVENT_PARKED,     PAY_TABLE_ACQUIRER,
    PAY_TABLE_HELD,      PAY_TABLE_CHECKOUT,
};

static pay_reset_t reset(int i, int steps)
{
    pay_reset_t at;
    int n;

    memset(&at, 0, sizeof(at));
    for (n = 0; !at.done && n < steps; n++) {
        ck_assert_int_eq(pay_store_scope_reset(&at, till->store, &till->scopes[i], unit_pool),
                         APR_SUCCESS);
        till_check_clean();
    }
    return at;
}

static void hold_empty(int i)
{
    int n;

    for (n = 0; n < UNIT_ROWS(emptied); n++) {
        ck_assert_msg(erase_count(i, emptied[n]) == 0, "table %s: %d rows",
                      pay_rows_table_name(emptied[n]), erase_count(i, emptied[n]));
    }
}

START_TEST(test_emptied)
{
    int before[UNIT_ROWS(emptied)][TILL_SCOPES], n, i;
    pay_store_stat_t stat;
    pay_charge_t *charge;
    pay_reset_t at;

    erase_fill();
    for (n = 0; n < UNIT_ROWS(emptied); n++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            before[n][i] = erase_count(i, emptied[n]);
            ck_assert_msg(before[n][i] > 0 || emptied[n] == PAY_TABLE_EVENT_PARKED, "table %s",
                          pay_rows_table_name(emptied[n]));
        }
    }
    at = reset(SCOPE, ERASE_STEPS_MAX);
    ck_assert_int_eq(at.done, 1);
    ck_assert_uint_eq(at.charges, 8);
    ck_assert_uint_eq(at.refunds, 3 + 3 + 3 + 2);
    ck_assert_uint_eq(at.tokens, 2);
    ck_assert_uint_eq(at.answers, 2 * 3);
    ck_assert_uint_eq(at.left, 0);
    hold_empty(SCOPE);
    for (n = 0; n < UNIT_ROWS(emptied); n++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            ck_assert(i == SCOPE || erase_count(i, emptied[n]) == before[n][i]);
        }
    }
    ck_assert_int_eq(erase_count(SCOPE, PAY_TABLE_ENDPOINT), 3);
    /* Numbers go on; references and names are free again. */
    charge = erase_charge(SCOPE, "paid-ada", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    ck_assert_uint_eq(charge->seq, 9);
    (void)erase_refund(SCOPE, "paid-ada", 100, 1,
                       till_use(PAY_OPERATION_REFUND, "refund-ada", "x"));
    till_check_clean();
    ck_assert_int_eq(pay_store_stat(&stat, till->store, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(stat.pending, 2 * 2 * 2 + 1);
}
END_TEST

START_TEST(test_live)
{
    const char *before;
    pay_reset_t at;

    erase_fill();
    before = till_snapshot();
    memset(&at, 0, sizeof(at));
    ck_assert_int_eq(pay_store_scope_reset(&at, till->store, &till->scopes[1], unit_pool),
                     APR_EINVAL);
    ck_assert_str_eq(till_snapshot(), before);
}
END_TEST

/* Killed after any step and begun again, it ends empty. */
START_TEST(test_killed)
{
    int steps;

    erase_fill();
    for (steps = 0; steps < 6; steps++) {
        (void)reset(SCOPE, steps);
    }
    ck_assert_int_eq(reset(SCOPE, ERASE_STEPS_MAX).done, 1);
    hold_empty(SCOPE);
}
END_TEST

/* Rows made while it runs stay, and so does a charge that was refunded meanwhile. */
START_TEST(test_made_meanwhile)
{
    pay_reset_t at;

    erase_fill();
    memset(&at, 0, sizeof(at));
    till_clock += apr_time_from_sec(10);
    ck_assert_int_eq(pay_store_scope_reset(&at, till->store, &till->scopes[SCOPE], unit_pool),
                     APR_SUCCESS);
    till_clock += apr_time_from_sec(10);
    (void)erase_charge(SCOPE, "later", 1, till_outcome(PAY_OUTCOME_APPROVED),
                       till_use(PAY_OPERATION_CHARGE, "later", "x"));
    (void)erase_charge(SCOPE, "older", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    at.charge_seq = till_find(SCOPE, "older")->seq - 1;
    erase_token(SCOPE, "token-later", ERASE_EMAIL);
    while (!at.done) {
        ck_assert_int_eq(pay_store_scope_reset(&at, till->store, &till->scopes[SCOPE], unit_pool),
                         APR_SUCCESS);
        till_check_clean();
    }
    ck_assert_int_eq(erase_count(SCOPE, PAY_TABLE_CHARGE), 1);
    ck_assert_int_eq(erase_count(SCOPE, PAY_TABLE_TOKEN), 1);
    (void)till_find(SCOPE, "older");
}
END_TEST

/* Rows dated by a clock that was ahead still count as earlier, and rows made meanwhile do not. */
START_TEST(test_made_while_the_clock_was_ahead)
{
    pay_reset_t at;
    int i;

    till_clock += apr_time_from_sec(365 * 24 * 3600);
    if (_i) {
        (void)erase_charge(SCOPE, "order-1", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        erase_token(i, "token", ERASE_EMAIL);
        erase_keep(i, "key", "text");
    }
    till_clock = TILL_NOW;
    memset(&at, 0, sizeof(at));
    ck_assert_int_eq(pay_store_scope_reset(&at, till->store, &till->scopes[SCOPE], unit_pool),
                     APR_SUCCESS);
    till_clock += apr_time_from_sec(10);
    erase_token(SCOPE, "token-later", ERASE_EMAIL);
    while (!at.done) {
        ck_assert_int_eq(pay_store_scope_reset(&at, till->store, &till->scopes[SCOPE], unit_pool),
                         APR_SUCCESS);
        till_check_clean();
    }
    ck_assert_int_eq(erase_count(SCOPE, PAY_TABLE_CHARGE), 0);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(erase_count(i, PAY_TABLE_TOKEN), 1);
        ck_assert_int_eq(erase_count(i, PAY_TABLE_IDEMPOTENCY), i != SCOPE);
    }
}
END_TEST

START_TEST(test_refunded_meanwhile)
{
    pay_refund_t *refund;
    pay_reset_t at;

    (void)erase_charge(SCOPE, "order-1", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    (void)erase_charge(SCOPE, "order-2", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    memset(&at, 0, sizeof(at));
    ck_assert_int_eq(pay_store_scope_reset(&at, till->store, &till->scopes[SCOPE], unit_pool),
                     APR_SUCCESS);
    refund = erase_refund(SCOPE, "order-1", 100, 1, till_use(PAY_OPERATION_REFUND, "late", "x"));
    (void)till_refund_resolve(&refund, SCOPE, refund->refund_reference, PAY_OUTCOME_APPROVED);
    while (!at.done) {
        ck_assert_int_eq(pay_store_scope_reset(&at, till->store, &till->scopes[SCOPE], unit_pool),
                         APR_SUCCESS);
        till_check_clean();
    }
    ck_assert_uint_eq(at.charges, 1);
    ck_assert_uint_eq(at.left, 1);
    ck_assert_int_eq(till_find(SCOPE, "order-1")->refunded_minor, 100);
    at = reset(SCOPE, ERASE_STEPS_MAX);
    ck_assert_uint_eq(at.charges, 1);
    hold_empty(SCOPE);
}
END_TEST

/* Work in flight of a process is left to it. */
START_TEST(test_in_flight)
{
    pay_charge_t *proposal, *charge;
    pay_claim_t claim;
    pay_reset_t at;

    proposal = erase_proposal(SCOPE, "busy", 1);
    proposal->worker = pay_worker_self();
    proposal->send_before_ms = proposal->wait_until_ms = pay_time_boot_ms() + 600000;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    at = reset(SCOPE, ERASE_STEPS_MAX);
    ck_assert_uint_eq(at.charges, 0);
    ck_assert_uint_eq(at.left, 1);
    (void)till_resolve(&charge, SCOPE, charge->seq, PAY_OUTCOME_APPROVED);
    at = reset(SCOPE, ERASE_STEPS_MAX);
    ck_assert_uint_eq(at.left, 0);
    hold_empty(SCOPE);
}
END_TEST

/* Links stay, and count the remaining checkouts: one that was paid once may be paid again. */
START_TEST(test_links)
{
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)link_make(i, "once", 1);
        (void)link_make(i, "often", 0);
        charge = link_begin(i, "once", ERASE_EMAIL);
        ck_assert_int_eq(till_resolve(&charge, i, charge->seq, PAY_OUTCOME_APPROVED), 1);
        charge = link_begin(i, "often", ERASE_EMAIL);
        ck_assert_int_eq(till_resolve(&charge, i, charge->seq, PAY_OUTCOME_APPROVED), 1);
        (void)link_begin(i, "often", ERASE_OTHER);
        ck_assert_uint_eq(link_get(i, "once")->paid, 1);
    }
    ck_assert_int_eq(link_open(&charge, SCOPE, "once", ERASE_OTHER, unit_pool),
                     PAY_CLAIM_LINK_USED);
    ck_assert_uint_eq(reset(SCOPE, ERASE_STEPS_MAX).charges, 3);
    hold_empty(SCOPE);
    ck_assert_uint_eq(link_get(SCOPE, "once")->paid, 0);
    ck_assert_uint_eq(link_get(SCOPE, "often")->paid, 0);
    ck_assert_uint_eq(link_get(1, "once")->paid, 1);
    (void)link_begin(SCOPE, "once", ERASE_OTHER);
    till_check_clean();
}
END_TEST

/* More than one transaction, or one part, removes. */
START_TEST(test_many)
{
    erase_events_t plant = {.endpoint = PAY_ENDPOINT_WEBHOOK,
                            .count = PAY_STORE_CASCADE_ROWS_MAX + 50};
    pay_reset_t at;
    int n;

    erase_fill();
    plant.charge = till_find(SCOPE, "paid-ada");
    till_raw(erase_events_work, &plant);
    erase_history(SCOPE, "paid-ada", 1000, PAY_STORE_ROWS_MAX);
    erase_history(SCOPE, "elsewhere", 3000, PAY_STORE_ROWS_MAX);
    for (n = 0; n < PAY_STORE_CASCADE_CHARGES_MAX + 1; n++) {
        (void)erase_charge(SCOPE, apr_psprintf(unit_pool, "order-%d", n), 1,
                           till_outcome(PAY_OUTCOME_APPROVED), NULL);
    }
    at = reset(SCOPE, ERASE_STEPS_MAX);
    ck_assert_uint_eq(at.charges, 8 + PAY_STORE_CASCADE_CHARGES_MAX + 1);
    ck_assert_uint_eq(at.refunds, 11 + 2 * PAY_STORE_ROWS_MAX);
    hold_empty(SCOPE);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_emptied);
    tcase_add_test(tcase, test_live);
    tcase_add_test(tcase, test_killed);
    tcase_add_loop_test(tcase, test_made_while_the_clock_was_ahead, 0, 2);
    tcase_add_test(tcase, test_made_meanwhile);
    tcase_add_test(tcase, test_refunded_meanwhile);
    tcase_add_test(tcase, test_in_flight);
    tcase_add_test(tcase, test_links);
    tcase_add_test(tcase, test_many);
}

UNIT_PROGRAM(add)
