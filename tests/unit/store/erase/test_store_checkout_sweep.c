/* SPDX-License-Identifier: Apache-2.0 */
#include "link_goods.h"
#include "outlet.h"

#include "store/lmdb/env.h"
#include "store/payment/checkout.h"
#include "store/record/rows.h"

#define KEEP PAY_STORE_CHECKOUT_KEEP
#define HOUR apr_time_from_sec(60 * 60)
#define DAY (24 * HOUR)
#define LINK "shop-1"

static const pay_outcome_t approved = {
    .kind = PAY_OUTCOME_APPROVED, .code = "00", .message = "Approved"};
static const pay_outcome_t declined = {.kind = PAY_OUTCOME_DECLINED, .code = "05", .message = "No"};
static const pay_outcome_t absent = {.kind = PAY_OUTCOME_DECLINED,
                                     .message = "Not received.",
                                     .late_check_at = TILL_NOW + 100 * KEEP};

typedef enum maker_t { BY_PUBLIC_KEY, BY_SECRET_KEY, BY_PAGE, BY_PAGE_ONCE } maker_t;
typedef enum end_t { DECLINED, CANCELLED, EXPIRED, VOIDED, PAID, OPEN, ABSENT, ASKED } end_t;
typedef enum after_t { NOTHING, CONTRADICTED, REFUNDED_ELSEWHERE, UNTOLD } after_t;

static const char *public_key(int i)
{
    pay_api_key_t key = {.scope = till->scopes[i], .kind = PAY_KEY_PUBLIC};
    pay_api_key_t *made;

    key.id = apr_psprintf(unit_pool, "public_%d", i);
    memset(key.digest, 64 + i, sizeof(key.digest));
    ck_assert_int_eq(pay_store_key_create(&made, till->store, &key, unit_pool), APR_SUCCESS);
    return key.id;
}

static pay_charge_t *make(int i, maker_t maker, const char *key_id, const char *reference)
{
    pay_charge_t *proposal = till_proposal(i, reference, LINK_AMOUNT_MINOR), *charge;
    pay_checkout_t *checkout = checkout_make(till_clock + apr_time_from_sec(60), unit_pool);
    pay_claim_t claim;

    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->token = "";
    proposal->checkout = checkout;
    if (till->scopes[i].mode == PAY_LIVE) {
        proposal->acquirer_reference = "0123456789abcdef0123456789abcdef";
    }
    if (maker == BY_PUBLIC_KEY) {
        proposal->key_id = key_id;
    } else if (maker != BY_SECRET_KEY) {
        proposal->key_id = "";
        checkout->link = LINK;
    }
    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store, proposal, NULL,
                                           till_use(PAY_OPERATION_INITIATE, reference, "a"),
                                           unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    return charge;
}

static void move_to(const pay_charge_t *charge, pay_checkout_step_t to, apr_time_t due_at)
{
    const pay_checkout_move_t what = {
        .from = PAY_CHECKOUT_OPEN, .to = to, .now = till_clock, .due_at = due_at};
    pay_charge_t *moved;
    int changed;

    ck_assert_int_eq(pay_store_checkout_move(&moved, &changed, till->store, &charge->scope,
                                             charge->seq, &what, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

static void decide(const pay_charge_t *charge, const pay_outcome_t *outcome)
{
    pay_charge_t *decided;
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&decided, &changed, till->store, &charge->scope,
                                              charge->seq, outcome, 0, unit_pool),
                     APR_SUCCESS);
}

static void end(const pay_charge_t *charge, end_t how)
{
    pay_charge_t *voided;
    pay_idempotency_record_t *record;
    int done;

    switch (how) {
    case DECLINED:
        decide(charge, &declined);
        return;
    case ABSENT:
        decide(charge, &absent);
        return;
    case PAID:
        decide(charge, &approved);
        return;
    case CANCELLED:
        move_to(charge, PAY_CHECKOUT_CANCELLED, 0);
        return;
    case ASKED:
        move_to(charge, PAY_CHECKOUT_CANCELLED, till_clock + HOUR);
        return;
    case EXPIRED:
        till_clock += apr_time_from_sec(61);
        move_to(charge, PAY_CHECKOUT_EXPIRED, 0);
        return;
    case VOIDED:
        ck_assert_int_eq(pay_store_charge_void(&voided, &done, &record, till->store, &charge->scope,
                                               charge->reference, NULL, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(done, 1);
        return;
    case OPEN:
        return;
    }
}

static void history(int i, const char *reference)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_import_t run;
    int at;

    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(i, 1, TILL_NOW, PAY_REFUND_PENDING, reference, 1);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
}

static int sweep_at(apr_time_t now, int limit)
{
    const apr_time_t was = till_clock;
    int count;

    till_clock = now;
    ck_assert_int_eq(pay_store_checkout_sweep(&count, till->store, now, limit, unit_pool),
                     APR_SUCCESS);
    till_clock = was;
    return count;
}

static int is_there(int i, const char *reference)
{
    pay_charge_t *charge;

    return pay_store_charge_find(&charge, till->store, &till->scopes[i], reference, unit_pool)
           == APR_SUCCESS;
}

static apr_uint64_t anonymous(int i)
{
    const pay_scope_t *scope = &till->scopes[i];
    pay_account_rows_t rows;

    ck_assert_int_eq(pay_store_account_rows(&rows, till->store, scope->account, unit_pool),
                     APR_SUCCESS);
    return rows.anonymous[scope->mode];
}

static const struct {
    const char *name;
    maker_t maker;
    end_t end;
    after_t after;
    int scope; /* 0 and 2: Test Mode; 1: Live Mode */
    int goes;
} cases[] = {
    {"declined", BY_PUBLIC_KEY, DECLINED, NOTHING, 0, 1},
    {"declined, live", BY_PUBLIC_KEY, DECLINED, NOTHING, 1, 1},
    {"cancelled", BY_PUBLIC_KEY, CANCELLED, NOTHING, 2, 1},
    {"expired", BY_PUBLIC_KEY, EXPIRED, NOTHING, 0, 1},
    {"voided", BY_PUBLIC_KEY, VOIDED, NOTHING, 0, 1},
    {"of a link's page", BY_PAGE, CANCELLED, NOTHING, 0, 1},
    {"of a link that is paid once, by which it is judged", BY_PAGE_ONCE, CANCELLED, NOTHING, 0, 0},
    {"of a secret key", BY_SECRET_KEY, DECLINED, NOTHING, 0, 0},
    {"paid", BY_PUBLIC_KEY, PAID, NOTHING, 0, 0},
    {"still open", BY_PUBLIC_KEY, OPEN, NOTHING, 0, 0},
    {"absent, and asked about late", BY_PUBLIC_KEY, ABSENT, NOTHING, 0, 0},
    {"cancelled, and its acquirer is asked", BY_PUBLIC_KEY, ASKED, NOTHING, 1, 0},
    {"voided, and its acquirer is asked", BY_PUBLIC_KEY, VOIDED, NOTHING, 1, 0},
    {"approved after all", BY_PUBLIC_KEY, DECLINED, CONTRADICTED, 0, 0},
    {"history refunds it", BY_PUBLIC_KEY, DECLINED, REFUNDED_ELSEWHERE, 0, 0},
    {"the shop was not told of it yet", BY_PUBLIC_KEY, DECLINED, UNTOLD, 0, 0},
};

START_TEST(test_which)
{
    const int i = cases[_i].scope, goes = cases[_i].goes;
    const char *key_id = public_key(i), *name = cases[_i].name;
    pay_charge_t *charge;
    int n;

    if (cases[_i].maker == BY_PAGE || cases[_i].maker == BY_PAGE_ONCE) {
        link_make(i, LINK, cases[_i].maker == BY_PAGE_ONCE);
    }
    if (cases[_i].after == UNTOLD) {
        outlet_open(i, PAY_ENDPOINT_WEBHOOK);
    }
    sweep_at(till_clock, 100); /* no row of an earlier version is there */
    charge = make(i, cases[_i].maker, key_id, "order-1");
    end(charge, cases[_i].end);
    if (cases[_i].after == CONTRADICTED) {
        decide(charge, &approved);
    } else if (cases[_i].after == REFUNDED_ELSEWHERE) {
        history(i, "order-1");
    }
    till_check_clean();
    sweep_at(till_clock + KEEP - 1000, 100);
    ck_assert_msg(is_there(i, "order-1"), "%s: too early", name);
    for (n = 0; n < 3; n++) { /* a row that cannot be removed is no obstacle, however often it is
                               * examined */
        sweep_at(till_clock + KEEP + n * (HOUR + 1), 100);
        ck_assert_msg(is_there(i, "order-1") == !goes, "%s", name);
        till_check_clean();
    }
    if (goes) {
        ck_assert_uint_eq(anonymous(i), 0);
        (void)make(i, cases[_i].maker, key_id, "order-1"); /* the reference is free again */
        till_check_clean();
    }
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t made; /* by how much the clock was ahead when it was made and ended */
    apr_interval_time_t set;  /* by how much it is ahead at the first look */
    int again;                /* the machine was restarted since it was made */
    apr_interval_time_t first, goes; /* how long after its end that is, and when it is removed */
} clock_cases[] = {
    {"a clock that is right", 0, 0, 0, HOUR, KEEP},
    {"a clock that is ahead: its payer may be at the acquirer's page", 0, KEEP + 8 * DAY, 0, HOUR,
     KEEP + 8 * DAY + 2 * HOUR},
    {"one that is ahead since the machine was started", 0, KEEP + 8 * DAY, 1, HOUR, HOUR},
    {"ended by a clock that was ahead", 400 * DAY, 0, 0, HOUR, KEEP + HOUR},
    {"ended by one that was ahead by less than a day", DAY - HOUR, 0, 0, HOUR, KEEP + DAY - HOUR},
};

/* How long one of Live Mode is kept: by the boot clock at least as long as the setting, and by a
 * clock that was ahead no longer than from the time when that is noticed. */
START_TEST(test_clocks)
{
    const char *key_id = public_key(1), *name = clock_cases[_i].name;
    const apr_time_t began = till_clock;

    sweep_at(till_clock, 100);
    till_clock += clock_cases[_i].made;
    till_steps += clock_cases[_i].made;
    end(make(1, BY_PUBLIC_KEY, key_id, "order-1"), CANCELLED);
    till_clock = began;
    till_steps = clock_cases[_i].set;
    till_boot += clock_cases[_i].again;
    sweep_at(began + clock_cases[_i].set + clock_cases[_i].first, 100);
    till_check_clean();
    ck_assert_msg(is_there(1, "order-1") == (clock_cases[_i].goes > clock_cases[_i].first), "%s",
                  name);
    till_steps = 0;
    if (clock_cases[_i].goes > clock_cases[_i].first) {
        sweep_at(began + clock_cases[_i].goes - 1000, 100);
        ck_assert_msg(is_there(1, "order-1"), "%s: too early", name);
    }
    sweep_at(began + clock_cases[_i].goes + 2 * HOUR, 100); /* it may wait for its next look */
    ck_assert_msg(!is_there(1, "order-1"), "%s", name);
    till_check_clean();
}
END_TEST

/* A part in one turn; with `off` nothing is removed. */
START_TEST(test_parts)
{
    const char *key_id = public_key(0);
    int n, left = 0;

    for (n = 0; n < 5; n++) {
        end(make(0, BY_PUBLIC_KEY, key_id, apr_psprintf(unit_pool, "order-%d", n)), CANCELLED);
    }
    ck_assert_uint_eq(anonymous(0), 5);
    till->store->options.checkout_keep = 0;
    (void)sweep_at(till_clock + 10 * KEEP, 2); /* the walk of an earlier version's */
    (void)sweep_at(till_clock + 10 * KEEP, 2);
    (void)sweep_at(till_clock + 10 * KEEP, 2);
    ck_assert_int_eq(sweep_at(till_clock + 10 * KEEP, 2), 0);
    ck_assert_uint_eq(anonymous(0), 5);
    till->store->options.checkout_keep = KEEP;
    ck_assert_int_eq(sweep_at(till_clock + KEEP, 2), 2);
    ck_assert_int_eq(sweep_at(till_clock + KEEP, 2), 2);
    ck_assert_int_eq(sweep_at(till_clock + KEEP, 2), 1);
    ck_assert_int_eq(sweep_at(till_clock + KEEP, 2), 0);
    for (n = 0; n < 5; n++) {
        left += is_there(0, apr_psprintf(unit_pool, "order-%d", n));
    }
    ck_assert_int_eq(left, 0);
    till_check_clean();
}
END_TEST

/* ---- stores of an earlier version: no table, no count, rows without the later fields */

#define OLDER_CHECKOUT_FIELDS 12
#define OLDER_SCOPE_FIELDS 11

typedef struct row_t {
    pay_bytes_t key, val;
} row_t;

static void shorten(pay_rows_txn_t *txn, pay_table_t table, int fields)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 8, sizeof(row_t));
    MDB_cursor *cursor;
    pay_bytes_t key, val = {0, NULL};
    row_t *row;
    int i, rc;

    ck_assert_int_eq(mdb_cursor_open(txn->native, pay_lmdb_dbi(table), &cursor), 0);
    for (rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_FIRST); !rc;
         rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_NEXT)) {
        row = apr_array_push(rows);
        row->key.data = apr_pmemdup(unit_pool, key.data, key.len);
        row->key.len = key.len;
        row->val = val;
        till_cut(&row->val, fields);
    }
    mdb_cursor_close(cursor);
    for (i = 0; i < rows->nelts; i++) {
        row = &APR_ARRAY_IDX(rows, i, row_t);
        ck_assert_int_eq(pay_rows_put(txn, table, &row->key, &row->val, 0), 0);
    }
}

static int age_work(pay_rows_txn_t *txn, void *baton)
{
    (void)baton;
    shorten(txn, PAY_TABLE_CHECKOUT, OLDER_CHECKOUT_FIELDS);
    shorten(txn, PAY_TABLE_SCOPE, OLDER_SCOPE_FIELDS);
    return mdb_drop(txn->native, pay_lmdb_dbi(PAY_TABLE_CHECKOUT_SWEEP), 1);
}

static void prepare(void)
{
    const pay_store_options_t options = till->store->options;
    const char *reason = NULL;

    till_close();
    ck_assert_int_eq(pay_store_prepare(&reason, till->url, &options, unit_pool), APR_SUCCESS);
    till_reopen();
}

START_TEST(test_older_store)
{
    const char *key_id = public_key(0);
    pay_account_rows_t before, after;

    link_make(0, LINK, 0);
    end(make(0, BY_PUBLIC_KEY, key_id, "gone-1"), CANCELLED);
    end(make(0, BY_PAGE, key_id, "gone-2"), DECLINED);
    end(make(0, BY_PUBLIC_KEY, key_id, "paid"), PAID);
    end(make(0, BY_SECRET_KEY, key_id, "ours"), CANCELLED);
    (void)make(0, BY_PUBLIC_KEY, key_id, "open");
    ck_assert_int_eq(
        pay_store_account_rows(&before, till->store, till->scopes[0].account, unit_pool),
        APR_SUCCESS);
    ck_assert_uint_eq(before.anonymous[PAY_TEST], 3);
    till_raw(age_work, NULL);
    prepare();
    till_check_clean();
    ck_assert_int_eq(
        pay_store_account_rows(&after, till->store, till->scopes[0].account, unit_pool),
        APR_SUCCESS);
    ck_assert_uint_eq(after.rows[PAY_TEST], before.rows[PAY_TEST]);
    ck_assert_uint_eq(after.anonymous[PAY_TEST], 0); /* the walk finds them */
    ck_assert_int_eq(sweep_at(till_clock + KEEP - 1000, 2), 2);
    ck_assert_int_eq(sweep_at(till_clock + KEEP - 1000, 2), 2);
    (void)sweep_at(till_clock + KEEP - 1000, 2);
    ck_assert_uint_eq(anonymous(0), 3);
    till_check_clean();
    (void)sweep_at(till_clock + KEEP, 10);
    ck_assert(!is_there(0, "gone-1") && !is_there(0, "gone-2"));
    ck_assert(is_there(0, "paid") && is_there(0, "ours") && is_there(0, "open"));
    ck_assert_uint_eq(anonymous(0), 1);
    till_check_clean();
}
END_TEST

/* A program that only reads an older store does without the table. */
START_TEST(test_older_store_read_only)
{
    pay_store_options_t options = till->store->options;
    pay_store_t *store;
    apr_size_t faults;
    const char *reason = NULL;

    end(make(0, BY_PUBLIC_KEY, public_key(0), "order-1"), CANCELLED);
    till_raw(age_work, NULL);
    till_close();
    options.read_only = 1;
    ck_assert_int_eq(pay_store_open(&store, till->url, &options, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_ready(&reason, store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_check(&faults, store, NULL, NULL, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(faults, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_which, 0, UNIT_ROWS(cases));
    tcase_add_loop_test(tcase, test_clocks, 0, UNIT_ROWS(clock_cases));
    tcase_add_test(tcase, test_parts);
    tcase_add_test(tcase, test_older_store);
    tcase_add_test(tcase, test_older_store_read_only);
}

UNIT_PROGRAM(add)
