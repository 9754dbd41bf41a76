/* SPDX-License-Identifier: Apache-2.0 */
#include "payers.h"

#define SCOPE 1
#define MANY (PAY_STORE_CASCADE_ROWS_MAX + 50)

static int leave_at; /* the number of the refund at which a charge is left; 0: none */

static int begin(int *leave, pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                 pay_charge_t *charge)
{
    (void)cascade;
    (void)txn;
    *leave = strcmp(charge->reference, "not-this-one") == 0;
    return 0;
}

static int event(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_event_t *event)
{
    cascade->events_done++;
    return pay_store_event_remove(txn, event);
}

static int refund(int *leave, pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                  pay_store_refund_t *row)
{
    (void)txn;
    (void)row;
    *leave = leave_at > 0 && (int)cascade->refunds_done == leave_at - 1;
    cascade->refunds_done++;
    return 0;
}

static int charge(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_charge_t *charge)
{
    (void)txn;
    (void)charge;
    cascade->charges_done++;
    return 0;
}

static const pay_store_visitor_t visitor = {
    .begin = begin, .event = event, .refund = refund, .charge = charge};

typedef struct sums_t {
    int transactions;
    apr_uint64_t charges, refunds, events;
} sums_t;

/* Between two transactions of a batch delete the store is consistent. */
static void counted(const pay_store_cascade_t *cascade, void *baton)
{
    sums_t *sums = baton;

    till_check_clean();
    sums->transactions++;
    sums->charges += cascade->charges_done;
    sums->refunds += cascade->refunds_done;
    sums->events += cascade->events_done;
}

static sums_t cascade_of(const apr_uint64_t *seqs, int count)
{
    apr_array_header_t *charges = apr_array_make(unit_pool, count, sizeof(apr_uint64_t));
    pay_store_cascade_t cascade = {
        .visitor = &visitor, .scope = &till->scopes[SCOPE], .charges = charges, .p = unit_pool};
    sums_t sums = {.transactions = 0};
    int n;

    for (n = 0; n < count; n++) {
        APR_ARRAY_PUSH(charges, apr_uint64_t) = seqs[n];
    }
    ck_assert_int_eq(pay_store_cascade(&cascade, till->store, counted, &sums), APR_SUCCESS);
    return sums;
}

/* All of a charge with more rows than a transaction visits, and all of the next one. */
START_TEST(test_many_rows)
{
    erase_events_t plant = {.endpoint = PAY_ENDPOINT_RECEIPT, .count = MANY};
    apr_uint64_t seqs[3];
    sums_t sums;
    int i;

    leave_at = 0;
    for (i = 0; i < TILL_SCOPES; i++) {
        outlet_open_all(i);
        (void)erase_charge(i, "first", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
        (void)erase_charge(i, "second", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    }
    plant.charge = till_find(SCOPE, "first");
    till_raw(erase_events_work, &plant);
    erase_history(SCOPE, "first", 0, PAY_STORE_ROWS_MAX);
    seqs[0] = plant.charge->seq;
    seqs[1] = 99; /* none exists */
    seqs[2] = till_find(SCOPE, "second")->seq;
    sums = cascade_of(seqs, UNIT_ROWS(seqs));
    ck_assert_uint_eq(sums.charges, 2);
    ck_assert_uint_eq(sums.refunds, PAY_STORE_ROWS_MAX);
    ck_assert_uint_eq(sums.events, MANY + 3 + 3);
    ck_assert_int_eq(sums.transactions, 3);
    ck_assert_str_eq(outlet_waiting(SCOPE), "");
    ck_assert_int_eq(erase_count(0, PAY_TABLE_EVENT), 3 + 3);
}
END_TEST

/* A charge that is skipped stays, and the work goes on after it. */
START_TEST(test_left)
{
    apr_uint64_t seqs[3];
    sums_t sums;

    (void)erase_charge(SCOPE, "not-this-one", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    (void)erase_charge(SCOPE, "refunded", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    (void)erase_charge(SCOPE, "last", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    erase_history(SCOPE, "refunded", 0, 5);
    for (leave_at = 0; leave_at < 5; leave_at += 2) {
        seqs[0] = 1;
        seqs[1] = 2;
        seqs[2] = 3;
        sums = cascade_of(seqs, UNIT_ROWS(seqs));
        ck_assert_int_eq((int)sums.refunds, leave_at ? leave_at : 5);
        ck_assert_uint_eq(sums.charges, leave_at ? 1 : 2);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_many_rows);
    tcase_add_test(tcase, test_left);
}

UNIT_PROGRAM(add)
