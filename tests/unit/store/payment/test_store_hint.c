/* SPDX-License-Identifier: Apache-2.0 */
#include "rows_watch.h"
#include "till.h"

#include "store/payment/hint.h"

#define REFERENCE "order-2"

static pay_charge_t *charge;
static pay_refund_t *refund;

static void open_pending(void)
{
    charge = till_open(0, REFERENCE, 1000);
}

static void open_decided(void)
{
    pay_charge_t *proposal = till_proposal(0, REFERENCE, 1000);
    pay_claim_t claim;

    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store, proposal,
                                           till_outcome(PAY_OUTCOME_APPROVED),
                                           till_use(PAY_OPERATION_CHARGE, "key-2", "1"), unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
}

static void decide(void)
{
    ck_assert_int_eq(till_resolve(&charge, 0, charge->seq, PAY_OUTCOME_APPROVED), 1);
}

static void decline(void)
{
    ck_assert_int_eq(till_resolve(&charge, 0, charge->seq, PAY_OUTCOME_DECLINED), 1);
}

static void open_refund(void)
{
    refund = till_refund(0, REFERENCE, 100, PAY_REFUND_OPENED);
}

static void refund_with_key(void)
{
    pay_refund_t *proposal = till_refund_proposal(0, REFERENCE, 100);
    pay_refund_verdict_t verdict;
    pay_idempotency_record_t *record;

    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           proposal, till_use(PAY_OPERATION_REFUND, "key-3", "1"),
                                           0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_REFUND_OPENED);
}

static void process_refund(void)
{
    ck_assert_int_eq(
        till_refund_resolve(&refund, 0, refund->refund_reference, PAY_OUTCOME_APPROVED), 1);
}

static void open_all(void)
{
    open_decided();
    open_refund();
}

/*
 * Rows that each reads by their keys without announcing them are those it learns of on its way: the
 * turn's own row of table scope, which comes with the turn, and the charge of a refund. Endpoints
 * are read in order, not by their keys, and if a scope has none the epoch is not read.
 */
static const struct {
    const char *name;
    void (*before)(void);
    void (*work)(void);
    const char *unhinted, *unread;
} rows[] = {
    {"a charge is opened", NULL, open_pending, "scope ", ""},
    {"a charge is opened and decided", NULL, open_decided, "scope ", "endpoint meta "},
    {"a charge is approved", open_pending, decide, "total ", "checkout endpoint meta "},
    {"a charge is declined", open_pending, decline, "total ", "checkout account endpoint meta "},
    {"a refund is opened", open_decided, open_refund, "scope ", ""},
    {"a refund with a key", open_decided, refund_with_key, "scope ", ""},
    {"a refund is processed", open_all, process_refund, "charge total ", "endpoint meta "},
};

START_TEST(test_what_is_read_is_told)
{
    const char *name = rows[_i].name;

    if (rows[_i].before) {
        rows[_i].before();
    }
    rows_watch();
    rows[_i].work();
    ck_assert_msg(!strcmp(rows_watch_unhinted(), rows[_i].unhinted), "%s: reads %s", name,
                  rows_watch_unhinted());
    ck_assert_msg(!strcmp(rows_watch_unread(), rows[_i].unread), "%s: tells of %s", name,
                  rows_watch_unread());
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_what_is_read_is_told, 0, UNIT_ROWS(rows));
}

UNIT_PROGRAM(add)
