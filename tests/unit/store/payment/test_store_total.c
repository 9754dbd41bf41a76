/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/total.h"
#include "store/record/scope.h"

#include <errno.h>

#define SEC(n) apr_time_from_sec(n)
#define STEP PAY_TOTAL_STEP
#define MANY 5000 /* rows of one step and currency: more than one list examines */

static const pay_time_range_t always = {APR_INT64_MIN, APR_INT64_MAX};

static apr_array_header_t *list(int i, const pay_time_range_t *range, const pay_total_t *after,
                                int limit)
{
    apr_array_header_t *totals;

    ck_assert_int_eq(pay_store_total_list(&totals, till->store, &till->scopes[i], range, after,
                                          limit, unit_pool),
                     APR_SUCCESS);
    return totals;
}

/* The one total of the scope. */
static const pay_total_t *only(int i)
{
    apr_array_header_t *totals = list(i, &always, NULL, 10);

    ck_assert_int_eq(totals->nelts, 1);
    return &APR_ARRAY_IDX(totals, 0, pay_total_t);
}

/* All minor units of a sum below PAY_SUM_LOW_END. */
static apr_int64_t minor(const pay_sum_t *sum)
{
    ck_assert(sum->high == 0);
    return sum->low;
}

static int count_rows(pay_rows_txn_t *txn, void *baton)
{
    MDB_stat stat;
    int rc;

    rc = mdb_stat(txn->native, pay_lmdb_dbi(PAY_TABLE_TOTAL), &stat);
    *(size_t *)baton = stat.ms_entries;
    return rc;
}

static size_t rows(void)
{
    size_t count;

    till_raw(count_rows, &count);
    return count;
}

START_TEST(test_what_is_counted)
{
    const pay_total_t *total;
    pay_charge_t *charge;
    pay_refund_t *refund;
    int i, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_open(i, "pending", 1000);
        charge = till_open(i, "unknown", 1000);
        (void)till_resolve(&charge, i, charge->seq, PAY_OUTCOME_UNKNOWN);
        ck_assert_int_eq(list(i, &always, NULL, 10)->nelts, 0);
        charge = till_open(i, "declined", 7777);
        (void)till_resolve(&charge, i, charge->seq, PAY_OUTCOME_DECLINED);
        total = only(i);
        ck_assert(total->failed == 1 && total->charges == 0 && minor(&total->charged) == 0);
        ck_assert(total->from == pay_total_step(TILL_NOW));
        ck_assert_str_eq(total->currency, "NGN");
        (void)till_charge(i, "paid", 1000);
        (void)till_charge(i, "back", 500 + i);
        refund = till_refund(i, "back", 0, PAY_REFUND_OPENED);
        ck_assert(only(i)->refunds == 0); /* it is pending */
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
        refund = till_refund(i, "paid", 100, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_DECLINED);
        total = only(i);
        ck_assert(total->charges == 2 && minor(&total->charged) == 1500 + i); /* reversed too */
        ck_assert(total->refunds == 1 && minor(&total->refunded) == 500 + i);
        ck_assert(total->failed == 1);
        /* A decided one is not counted again. */
        (void)till_resolve(&charge, i, till_find(i, "paid")->seq, PAY_OUTCOME_DECLINED);
        ck_assert(only(i)->charges == 2 && only(i)->failed == 1);
    }
    till_check_clean();
    refund = till_refund(_i, "paid", 100, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    ck_assert(only(_i)->refunds == 2 && minor(&only(_i)->refunded) == 600 + _i);
    ck_assert_int_eq(pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[_i],
                                           refund->refund_reference, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert(only(_i)->refunds == 1 && minor(&only(_i)->refunded) == 500 + _i);
    till_check_clean();
}
END_TEST

/* By the time it was created, in its currency, whenever it is decided. */
START_TEST(test_steps_and_currencies)
{
    pay_charge_t *proposal, *charge, *early;
    apr_array_header_t *totals;
    pay_claim_t claim;

    till_clock = pay_total_step(TILL_NOW) - SEC(1);
    early = till_open(_i, "early", 100);
    till_clock += SEC(1);
    (void)till_charge(_i, "late", 10);
    proposal = till_proposal(_i, "euro", 3);
    apr_cpystrn(proposal->money.currency, "EUR", sizeof(proposal->money.currency));
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    (void)till_resolve(&charge, _i, charge->seq, PAY_OUTCOME_APPROVED);
    till_clock += 10 * STEP;
    (void)till_resolve(&early, _i, early->seq, PAY_OUTCOME_APPROVED);
    totals = list(_i, &always, NULL, 10);
    ck_assert_int_eq(totals->nelts, 3);
    ck_assert(APR_ARRAY_IDX(totals, 0, pay_total_t).from == pay_total_step(TILL_NOW) - STEP);
    ck_assert(minor(&APR_ARRAY_IDX(totals, 0, pay_total_t).charged) == 100);
    ck_assert_str_eq(APR_ARRAY_IDX(totals, 1, pay_total_t).currency, "EUR");
    ck_assert(minor(&APR_ARRAY_IDX(totals, 1, pay_total_t).charged) == 3);
    ck_assert_str_eq(APR_ARRAY_IDX(totals, 2, pay_total_t).currency, "NGN");
    ck_assert(minor(&APR_ARRAY_IDX(totals, 2, pay_total_t).charged) == 10);
    till_check_clean();
}
END_TEST

/* One batch of history: `count` records of 5 each from `number` on, a step apart. */
static pay_import_t import(int i, int number, int count, pay_refund_state_t state)
{
    apr_array_header_t *records = apr_array_make(unit_pool, count, sizeof(pay_refund_t *));
    pay_import_t run;
    int n, at;

    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    for (n = 0; n < count; n++) {
        APR_ARRAY_PUSH(records, pay_refund_t *) =
            till_history(i, number + n, TILL_NOW - n * STEP, state, NULL, 5);
    }
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, records, unit_pool),
                     APR_SUCCESS);
    return run;
}

static void finish(pay_import_t *run)
{
    ck_assert_int_eq(pay_store_import_finish(run, till->store, unit_pool), APR_SUCCESS);
}

START_TEST(test_imports)
{
    pay_refund_t *refund;
    pay_import_t run;

    (void)till_charge(_i, "order-1", 100);
    refund = till_refund(_i, "order-1", 30, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    run = import(_i, 0, 3, PAY_REFUND_PROCESSED);
    ck_assert(only(_i)->refunds == 1); /* it is not finished */
    ck_assert_uint_eq(rows(), 1 + 3);
    till_check_clean();
    finish(&run);
    ck_assert_int_eq(list(_i, &always, NULL, 10)->nelts, 3);
    run = import(_i, 10, 3, PAY_REFUND_PROCESSED);
    ck_assert_int_eq(pay_store_import_abort(&run, till->store, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(rows(), 1 + 3); /* nothing of the aborted one is left */
    run = import(_i, 20, 3, PAY_REFUND_PROCESSED);
    finish(&run);
    run = import(_i, 30, 3, PAY_REFUND_FAILED); /* counts nothing */
    finish(&run);
    run = import(_i, 40, 3, PAY_REFUND_PENDING); /* nor does this */
    finish(&run);
    ck_assert_uint_eq(rows(), 1 + 3 + 3);
    ck_assert_int_eq(list(_i, &always, NULL, 10)->nelts, 3);
    ck_assert(APR_ARRAY_IDX(list(_i, &always, NULL, 10), 0, pay_total_t).refunds == 2);
    ck_assert(APR_ARRAY_IDX(list(_i, &always, NULL, 10), 2, pay_total_t).refunds == 3);
    ck_assert(minor(&APR_ARRAY_IDX(list(_i, &always, NULL, 10), 2, pay_total_t).refunded) == 40);
    till_check_clean();
}
END_TEST

/* The counts of a killed import are removed by the next one. */
START_TEST(test_left_import)
{
    pay_import_t run;

    (void)import(_i, 0, 3, PAY_REFUND_PROCESSED);
    ck_assert_uint_eq(rows(), 3);
    run = import(_i, 10, 2, PAY_REFUND_PROCESSED); /* this process: the first one is gone */
    ck_assert_uint_eq(rows(), 2);
    ck_assert_int_eq(list(_i, &always, NULL, 10)->nelts, 0);
    finish(&run);
    ck_assert_int_eq(list(_i, &always, NULL, 10)->nelts, 2);
    till_check_clean();
}
END_TEST

/* An unknown amount is one refund of nothing; without a currency it is not counted. */
START_TEST(test_amount_not_known)
{
    apr_array_header_t *records = apr_array_make(unit_pool, 2, sizeof(pay_refund_t *));
    pay_refund_t *refund;
    pay_import_t run;
    int at;

    APR_ARRAY_PUSH(records, pay_refund_t *) =
        till_history(_i, 1, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 0);
    refund = till_history(_i, 2, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 0);
    refund->money.currency[0] = '\0';
    APR_ARRAY_PUSH(records, pay_refund_t *) = refund;
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[_i], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, records, unit_pool),
                     APR_SUCCESS);
    finish(&run);
    ck_assert(only(_i)->refunds == 1 && minor(&only(_i)->refunded) == 0);
    till_check_clean();
}
END_TEST

typedef struct range_case_t {
    const char *name;
    int from, to; /* steps from the first one; `to` its last microsecond when `whole` */
    int whole;
    int first, count; /* of five totals, a step apart */
} range_case_t;

static const range_case_t range_cases[] = {
    {"all", -1, 9, 1, 0, 5},
    {"the first", 0, 0, 0, 0, 1},
    {"the first to its end", 0, 0, 1, 0, 1},
    {"the last", 4, 4, 0, 4, 1},
    {"some", 1, 3, 0, 1, 3},
    {"before", -3, -1, 1, 0, 0},
    {"after", 5, 9, 1, 0, 0},
    {"no time at all", 3, 2, 0, 0, 0},
};

START_TEST(test_range)
{
    const range_case_t *row = &range_cases[_i];
    const apr_time_t first = pay_total_step(TILL_NOW) - 4 * STEP;
    pay_time_range_t range;
    apr_array_header_t *totals;
    pay_import_t run;
    int i, n;

    for (i = 0; i < TILL_SCOPES; i++) {
        run = import(i, 0, 5, PAY_REFUND_PROCESSED);
        finish(&run);
    }
    range.from = first + row->from * STEP;
    range.to = first + row->to * STEP + (row->whole ? STEP - 1 : 0);
    for (i = 0; i < TILL_SCOPES; i++) {
        totals = list(i, &range, NULL, 10);
        ck_assert_msg(totals->nelts == row->count, "%s: %d", row->name, totals->nelts);
        for (n = 0; n < totals->nelts; n++) {
            ck_assert_msg(APR_ARRAY_IDX(totals, n, pay_total_t).from
                              == first + (row->first + n) * STEP,
                          "%s: total %d", row->name, n);
        }
    }
}
END_TEST

/* Chunk by chunk of any size: each total once, in order, whole. */
START_TEST(test_chunks)
{
    static const char *const currencies[] = {"EUR", "NGN", "USD"};
    pay_total_t last = {.from = 0};
    const pay_total_t *after = NULL;
    apr_array_header_t *totals;
    pay_import_t run;
    pay_charge_t *charge, *proposal;
    pay_claim_t claim;
    int n, seen = 0;

    for (n = 0; n < 9; n++) {
        till_clock = TILL_NOW + n / 3 * STEP;
        proposal = till_proposal(1, apr_psprintf(unit_pool, "order-%d", n), 100 + n);
        apr_cpystrn(proposal->money.currency, currencies[n % 3], PAY_CURRENCY_LEN + 1);
        ck_assert_int_eq(
            pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
            APR_SUCCESS);
        (void)till_resolve(&charge, 1, charge->seq, PAY_OUTCOME_APPROVED);
    }
    run = import(1, 0, 1, PAY_REFUND_PROCESSED); /* joins the second total */
    finish(&run);
    do {
        totals = list(1, &always, after, _i);
        ck_assert_int_le(totals->nelts, _i);
        for (n = 0; n < totals->nelts; n++) {
            last = APR_ARRAY_IDX(totals, n, pay_total_t);
            after = &last;
            ck_assert(last.from == pay_total_step(TILL_NOW) + seen / 3 * STEP);
            ck_assert_str_eq(last.currency, currencies[seen % 3]);
            ck_assert(minor(&last.charged) == 100 + seen);
            ck_assert(last.refunds == (seen == 1));
            seen++;
        }
    } while (totals->nelts > 0);
    ck_assert_int_eq(seen, 9);
}
END_TEST

static int plant_many(pay_rows_txn_t *txn, void *baton)
{
    pay_refund_t refund = {.scope = till->scopes[0], .money = {5, "NGN"}};
    pay_store_scope_t last;
    int n, rc;

    (void)baton;
    rc = pay_store_scope_get(&last, txn, &refund.scope);
    last.import_given = MANY + MANY;
    last.import_done = MANY;
    if (!rc) {
        rc = pay_store_scope_put(txn, &refund.scope, &last, unit_pool);
    }
    for (n = 1; n <= MANY && !rc; n++) {
        refund.created_at = 0; /* rows that are not visible yet */
        refund.import_number = (apr_uint32_t)(MANY + n);
        rc = pay_store_total_refund(txn, &refund, 1, unit_pool);
        refund.created_at = STEP;
        refund.import_number = (apr_uint32_t)n;
        rc = rc ? rc : pay_store_total_refund(txn, &refund, 1, unit_pool);
    }
    refund.created_at = 2 * STEP;
    return rc ? rc : pay_store_total_refund(txn, &refund, 1, unit_pool);
}

/* A list that has examined many rows ends, but never within a total nor without one. */
START_TEST(test_many_imports)
{
    apr_array_header_t *totals;

    till_raw(plant_many, NULL);
    totals = list(0, &always, NULL, 10);
    ck_assert_int_eq(totals->nelts, 1);
    ck_assert(APR_ARRAY_IDX(totals, 0, pay_total_t).from == STEP);
    ck_assert(APR_ARRAY_IDX(totals, 0, pay_total_t).refunds == MANY);
    totals = list(0, &always, &APR_ARRAY_IDX(totals, 0, pay_total_t), 10);
    ck_assert_int_eq(totals->nelts, 1);
    ck_assert(APR_ARRAY_IDX(totals, 0, pay_total_t).from == 2 * STEP);
    totals = list(0, &always, &APR_ARRAY_IDX(totals, 0, pay_total_t), 10);
    ck_assert_int_eq(totals->nelts, 0);
}
END_TEST

static void total_key(pay_store_key_t *key, int i, apr_uint32_t import_number)
{
    pay_store_total_t row = {.scope = till->scopes[i], .import_number = import_number};

    row.total.from = pay_total_step(TILL_NOW);
    memcpy(row.total.currency, "NGN", sizeof(row.total.currency));
    pay_store_total_key(key, &row);
}

typedef enum act_t { ACT_CHARGE, ACT_REFUND, ACT_TAKE_BACK, ACT_IMPORT, ACT_ABORT } act_t;

/* The decision goes on, whatever the state of its total. */
static const struct {
    const char *name;
    act_t act;
    const char *bytes; /* of the damaged row; NULL: it is gone */
    int clean;         /* nothing is wrong afterwards */
} damaged_cases[] = {
    {"a charge", ACT_CHARGE, "\x01\x01", 0},
    {"a refund", ACT_REFUND, "\x01\x01", 0},
    {"a refund that is taken back", ACT_TAKE_BACK, "\x01\x01", 0},
    {"taken back from nothing", ACT_TAKE_BACK, NULL, 0},
    {"a row of an import", ACT_IMPORT, "\x01\x01", 0},
    {"an import that is aborted", ACT_ABORT, "\x01\x01", 0},
    {"aborted, taken from nothing", ACT_ABORT, NULL, 1},
};

static void act(act_t what, const char *refund_reference, pay_import_t *run)
{
    apr_array_header_t *records = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_charge_t *charge = till_find(1, "order-2");
    pay_refund_t *refund = NULL;
    int at, changed = 1;
    apr_status_t rv = APR_SUCCESS;

    switch (what) {
    case ACT_CHARGE:
        changed = till_resolve(&charge, 1, charge->seq, PAY_OUTCOME_APPROVED);
        break;
    case ACT_REFUND:
        changed = till_refund_resolve(&refund, 1, refund_reference, PAY_OUTCOME_APPROVED);
        break;
    case ACT_TAKE_BACK:
        rv = pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[1], "rfd_1",
                                   unit_pool);
        break;
    case ACT_IMPORT:
        APR_ARRAY_PUSH(records, pay_refund_t *) =
            till_history(1, 50, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 5);
        rv = pay_store_import_rows(run, &at, till->store, records, unit_pool);
        break;
    case ACT_ABORT:
        rv = pay_store_import_abort(run, till->store, unit_pool);
        break;
    }
    ck_assert_int_eq(rv, APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

static void damaged_key(pay_store_key_t *key, int i)
{
    total_key(key, 1, damaged_cases[i].act >= ACT_IMPORT);
}

/* As it was planted: nothing was written over it, or in its place. */
static int check_untouched(pay_rows_txn_t *txn, void *baton)
{
    const char *bytes = damaged_cases[*(int *)baton].bytes;
    pay_store_key_t key;
    pay_bytes_t at, val;
    int rc;

    damaged_key(&key, *(int *)baton);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&val, txn, PAY_TABLE_TOTAL, &at);
    ck_assert_int_eq(rc, bytes ? 0 : PAY_ROWS_NOTFOUND);
    ck_assert(!bytes || (val.len == 2 && memcmp(val.data, bytes, 2) == 0));
    return 0;
}

START_TEST(test_damaged)
{
    const char *name = damaged_cases[_i].name, *bytes = damaged_cases[_i].bytes;
    pay_refund_t *first, *second;
    pay_store_key_t key;
    pay_import_t run;

    (void)till_charge(1, "order-1", 100);
    (void)till_open(1, "order-2", 7);
    first = till_refund(1, "order-1", 40, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&first, 1, first->refund_reference, PAY_OUTCOME_APPROVED);
    second = till_refund(1, "order-1", 10, PAY_REFUND_OPENED);
    run = import(1, 0, 1, PAY_REFUND_PROCESSED);
    till_check_clean();
    damaged_key(&key, _i);
    till_plant(PAY_TABLE_TOTAL, &key, bytes, bytes ? 2 : 0);
    till_lines[PAY_LOG_ERR] = 0;

    act(damaged_cases[_i].act, second->refund_reference, &run);
    ck_assert_msg(till_lines[PAY_LOG_ERR] == 1, "%s: %d lines", name, till_lines[PAY_LOG_ERR]);
    till_raw(check_untouched, &_i);
    if (damaged_cases[_i].clean) {
        till_check_clean();
        return;
    }
    ck_assert_msg(till_faults("total") > 0, "%s: check finds nothing", name);
    ck_assert_msg(strstr(till_fault, "total") != NULL, "%s: %s", name, till_fault);
}
END_TEST

/* A failure of LMDB itself still fails: the transaction must not be committed. */
START_TEST(test_lmdb_fails)
{
    pay_refund_t refund = {.scope = till->scopes[0], .money = {5, "NGN"}};
    pay_rows_txn_t txn;
    int rc;

    ck_assert_int_eq(pay_rows_begin(&txn, till->store), APR_SUCCESS);
    rc = pay_store_total_refund(&txn, &refund, 1, unit_pool);
    pay_rows_end(&txn);
    ck_assert_int_eq(rc, EACCES);
    ck_assert_uint_eq(rows(), 0);
}
END_TEST

typedef struct bad_t {
    const char *name;
    apr_time_t from;
    const char *currency;
    pay_total_t total; /* its numbers */
    int cut;           /* bytes taken from the row */
} bad_t;

static const bad_t bad_cases[] = {
    {"counts nothing", 0, "NGN", {.charges = 0}, 0},
    {"between two steps", 1, "NGN", {.charges = 1}, 0},
    {"no currency", 0, "ngn", {.charges = 1}, 0},
    {"a sum below zero", 0, "NGN", {.charges = 1, .charged = {-1, 0}}, 0},
    {"a low part below zero", 0, "NGN", {.charges = 1, .refunded = {0, -1}}, 0},
    {"a low part too large", 0, "NGN", {.charges = 1, .charged = {0, PAY_SUM_LOW_END}}, 0},
    {"cut short", 0, "NGN", {.charges = 1}, 1},
};

static int plant_bad(pay_rows_txn_t *txn, void *baton)
{
    const bad_t *bad = baton;
    pay_refund_t refund = {.scope = till->scopes[1], .money = {5, "NGN"}, .created_at = 0};
    pay_store_total_t row = {.scope = till->scopes[1], .total = bad->total};
    const apr_int64_t numbers[] = {(apr_int64_t)bad->total.charges, bad->total.charged.high,
                                   bad->total.charged.low,          (apr_int64_t)bad->total.failed,
                                   (apr_int64_t)bad->total.refunds, bad->total.refunded.high,
                                   bad->total.refunded.low};
    pay_store_key_t key, bytes;
    pay_bytes_t at, val;
    size_t i;
    int rc;

    /* The head of a row as the store writes it, then our numbers. */
    rc = pay_store_total_refund(txn, &refund, 1, unit_pool);
    pay_store_total_of_refund(&row, &refund);
    pay_store_total_key(&key, &row);
    at = pay_store_key_val(&key);
    rc = rc ? rc : pay_rows_get(&val, txn, PAY_TABLE_TOTAL, &at);
    if (rc) {
        return rc;
    }
    pay_store_key_start(&bytes);
    (void)pay_store_key_bytes(&bytes, val.data, val.len - sizeof(numbers));
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        pay_store_key_u64(&bytes, (apr_uint64_t)numbers[i]);
    }
    rc = pay_rows_del(txn, PAY_TABLE_TOTAL, &at);
    row.total.from = bad->from;
    memcpy(row.total.currency, bad->currency, sizeof(row.total.currency));
    pay_store_total_key(&key, &row);
    at = pay_store_key_val(&key);
    val = pay_store_key_val(&bytes);
    val.len -= (size_t)bad->cut;
    return rc ? rc : pay_rows_put(txn, PAY_TABLE_TOTAL, &at, &val, 0);
}

START_TEST(test_bad_row)
{
    bad_t bad = bad_cases[_i];
    const bad_t good = {"good", 0, "NGN", {.charges = 1}, 0};
    apr_array_header_t *totals;
    apr_status_t rv;

    rv = pay_rows_commit(till->store, pay_turn_all(), 0, plant_bad, &bad);
    ck_assert_int_eq(rv, APR_SUCCESS);
    rv = pay_store_total_list(&totals, till->store, &till->scopes[1], &always, NULL, 10, unit_pool);
    ck_assert_msg(rv == PAY_STORE_ECORRUPT, "%s: status %d", bad.name, rv);
    ck_assert_int_eq(list(0, &always, NULL, 10)->nelts, 0);
    if (bad.from == 0 && strcmp(bad.currency, "NGN") == 0) { /* else it is another key */
        pay_store_key_t key;
        pay_store_total_t row = {.scope = till->scopes[1], .total = {.currency = "NGN"}};

        pay_store_total_key(&key, &row);
        till_plant(PAY_TABLE_TOTAL, &key, NULL, 0);
        bad = good;
        till_raw(plant_bad, &bad); /* the same code makes a row that decodes */
        ck_assert(only(1)->charges == 1);
    }
}
END_TEST

START_TEST(test_key_of_wrong_length)
{
    apr_array_header_t *totals;
    pay_store_key_t key;

    total_key(&key, 1, 0);
    key.len--;
    till_plant(PAY_TABLE_TOTAL, &key, "x", 1);
    ck_assert_int_eq(
        pay_store_total_list(&totals, till->store, &till->scopes[1], &always, NULL, 10, unit_pool),
        PAY_STORE_ECORRUPT);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_what_is_counted, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_steps_and_currencies, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_imports, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_left_import, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_amount_not_known, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_range, 0, UNIT_ROWS(range_cases));
    tcase_add_loop_test(tcase, test_chunks, 1, 11);
    tcase_add_test(tcase, test_many_imports);
    tcase_add_loop_test(tcase, test_damaged, 0, UNIT_ROWS(damaged_cases));
    tcase_add_test(tcase, test_lmdb_fails);
    tcase_add_loop_test(tcase, test_bad_row, 0, UNIT_ROWS(bad_cases));
    tcase_add_test(tcase, test_key_of_wrong_length);
}

UNIT_PROGRAM(add)
