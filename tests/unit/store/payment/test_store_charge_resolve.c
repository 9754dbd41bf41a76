/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/charge.h"
#include "store/payment/due.h"

#include <pthread.h>

#define RACERS 8

static const struct {
    const char *name;
    pay_outcome_kind_t first, second;
    pay_charge_state_t want_state;
    int want_changed;      /* by the second */
    const char *want_kept; /* contradiction */
} resolve_cases[] = {
    {"approved twice", PAY_OUTCOME_APPROVED, PAY_OUTCOME_APPROVED, PAY_CHARGE_SUCCESSFUL, 0, ""},
    {"declined twice", PAY_OUTCOME_DECLINED, PAY_OUTCOME_DECLINED, PAY_CHARGE_FAILED, 0, ""},
    {"approved, then unknown", PAY_OUTCOME_APPROVED, PAY_OUTCOME_UNKNOWN, PAY_CHARGE_SUCCESSFUL, 0,
     ""},
    {"declined, then unknown", PAY_OUTCOME_DECLINED, PAY_OUTCOME_UNKNOWN, PAY_CHARGE_FAILED, 0, ""},
    {"unknown, then approved", PAY_OUTCOME_UNKNOWN, PAY_OUTCOME_APPROVED, PAY_CHARGE_SUCCESSFUL, 1,
     ""},
    {"unknown, then declined", PAY_OUTCOME_UNKNOWN, PAY_OUTCOME_DECLINED, PAY_CHARGE_FAILED, 1, ""},
    {"unknown twice", PAY_OUTCOME_UNKNOWN, PAY_OUTCOME_UNKNOWN, PAY_CHARGE_PENDING, 1, ""},
    {"approved, then declined", PAY_OUTCOME_APPROVED, PAY_OUTCOME_DECLINED, PAY_CHARGE_SUCCESSFUL,
     0, "declined 05: Do not honour"},
    {"declined, then approved", PAY_OUTCOME_DECLINED, PAY_OUTCOME_APPROVED, PAY_CHARGE_FAILED, 0,
     "approved 00: Approved"},
};

START_TEST(test_resolve)
{
    const char *name = resolve_cases[_i].name;
    int contradicts = resolve_cases[_i].want_kept[0] != '\0';
    pay_charge_t *charge, *stored;
    int i, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        till_open(i, "order-1", 100);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        till_clock = TILL_NOW + apr_time_from_sec(1);
        ck_assert_msg(till_resolve(&charge, i, 1, resolve_cases[_i].first) == 1, "%s", name);
        till_clock = TILL_NOW + apr_time_from_sec(2);
        changed = till_resolve(&charge, i, 1, resolve_cases[_i].second);
        ck_assert_msg(changed == resolve_cases[_i].want_changed, "%s: changed", name);
        stored = till_find(i, "order-1");
        ck_assert_msg(charge->state == resolve_cases[_i].want_state, "%s: told", name);
        ck_assert_msg(stored->state == resolve_cases[_i].want_state, "%s: state", name);
        ck_assert_msg(stored->decided_state == resolve_cases[_i].want_state, "%s: decided", name);
        ck_assert_str_eq(stored->contradiction, resolve_cases[_i].want_kept);
        if (!changed) { /* only the contradiction changed */
            ck_assert(stored->decided_at == TILL_NOW + apr_time_from_sec(1));
            ck_assert(stored->updated_at == stored->decided_at);
        }
    }
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], contradicts ? TILL_SCOPES : 0);
    ck_assert_int_eq(till_logged("PAY00151"), contradicts ? TILL_SCOPES : 0);
    till_check_clean();
}
END_TEST

START_TEST(test_decided_is_frozen)
{
    pay_charge_t *charge;

    till_open(_i, "order-1", 100);
    (void)till_resolve(&charge, _i, 1, PAY_OUTCOME_APPROVED);
    charge = till_find(_i, "order-1");
    ck_assert_str_eq(charge->code, "00");
    ck_assert_str_eq(charge->message, "Approved");
    ck_assert_str_eq(charge->authorization_code, "A1B2C3");
    ck_assert_int_eq(charge->answer_version, PAY_CHARGE_ANSWER_VERSION);
    ck_assert(charge->due_at == 0);
    (void)till_resolve(&charge, _i, 1, PAY_OUTCOME_DECLINED);
    (void)till_resolve(&charge, _i, 1, PAY_OUTCOME_DECLINED);
    charge = till_find(_i, "order-1");
    ck_assert_str_eq(charge->code, "00");
    ck_assert_str_eq(charge->message, "Approved");
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 2);
    ck_assert_ptr_nonnull(strstr(till_line, "order-1"));
    ck_assert_ptr_nonnull(strstr(till_line, till->key_ids[_i]));
    ck_assert_ptr_null(strstr(till_line, "payer@"));
    ck_assert_ptr_null(strstr(till_line, "tok_"));
}
END_TEST

START_TEST(test_unknown_releases_the_worker)
{
    pay_charge_t *proposal = till_proposal(_i, "order-1", 100), *charge;
    pay_claim_t claim;

    proposal->worker = pay_worker_self();
    proposal->send_before_ms = APR_INT64_MAX / 2;
    proposal->wait_until_ms = APR_INT64_MAX / 2;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(pay_charge_in_flight(charge), 1);
    ck_assert_int_eq(charge->wait_until_at, TILL_NOW + PAY_WORKER_TERM_MAX);
    (void)till_resolve(&charge, _i, 1, PAY_OUTCOME_UNKNOWN);
    charge = till_find(_i, "order-1");
    ck_assert_int_eq(pay_charge_in_flight(charge), 0);
    ck_assert(charge->worker.pid == 0 && charge->send_before_ms == 0);
    ck_assert(charge->wait_until_ms == 0 && charge->wait_until_at == 0);
    ck_assert(charge->due_at == TILL_NOW + apr_time_from_sec(5));
    ck_assert_uint_eq(charge->attempts, 0);
}
END_TEST

static int close_work(pay_rows_txn_t *txn, void *baton)
{
    pay_charge_t *charge;
    int rc;

    rc = pay_store_charge_get(&charge, txn, &till->scopes[0], 1, unit_pool);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(pay_store_charge_become(charge, *(const pay_charge_state_t *)baton), 1);
    charge->due_at = 0;
    return pay_store_charge_put(txn, charge, unit_pool);
}

/* Closing a checkout decides nothing: only an approval counts then, and only once. */
static const struct {
    const char *name;
    pay_charge_state_t closed;
    pay_outcome_kind_t first, second;
    pay_charge_state_t want_state;
    int want_first, want_second; /* changed */
    const char *want_kept;       /* contradiction */
} closed_cases[] = {
    {"void, approved", PAY_CHARGE_VOID, PAY_OUTCOME_APPROVED, PAY_OUTCOME_UNKNOWN,
     PAY_CHARGE_SUCCESSFUL, 1, 0, ""},
    {"void, approved twice", PAY_CHARGE_VOID, PAY_OUTCOME_APPROVED, PAY_OUTCOME_APPROVED,
     PAY_CHARGE_SUCCESSFUL, 1, 0, ""},
    {"void, approved, then declined", PAY_CHARGE_VOID, PAY_OUTCOME_APPROVED, PAY_OUTCOME_DECLINED,
     PAY_CHARGE_SUCCESSFUL, 1, 0, "declined 05: Do not honour"},
    {"void, declined twice", PAY_CHARGE_VOID, PAY_OUTCOME_DECLINED, PAY_OUTCOME_DECLINED,
     PAY_CHARGE_VOID, 0, 0, ""},
    {"void, unknown twice", PAY_CHARGE_VOID, PAY_OUTCOME_UNKNOWN, PAY_OUTCOME_UNKNOWN,
     PAY_CHARGE_VOID, 0, 0, ""},
    {"void, declined, then approved", PAY_CHARGE_VOID, PAY_OUTCOME_DECLINED, PAY_OUTCOME_APPROVED,
     PAY_CHARGE_SUCCESSFUL, 0, 1, ""},
    {"abandoned, approved", PAY_CHARGE_ABANDONED, PAY_OUTCOME_APPROVED, PAY_OUTCOME_UNKNOWN,
     PAY_CHARGE_SUCCESSFUL, 1, 0, ""},
    {"abandoned, declined, then unknown", PAY_CHARGE_ABANDONED, PAY_OUTCOME_DECLINED,
     PAY_OUTCOME_UNKNOWN, PAY_CHARGE_ABANDONED, 0, 0, ""},
};

START_TEST(test_closed)
{
    const char *name = closed_cases[_i].name, *before;
    pay_charge_state_t closed = closed_cases[_i].closed;
    int contradicts = closed_cases[_i].want_kept[0] != '\0';
    pay_charge_t *charge;
    int changed;

    (void)till_checkout(0, "order-1", 100);
    till_raw(close_work, &closed);
    before = till_snapshot();
    till_clock = TILL_NOW + apr_time_from_sec(1);
    changed = till_resolve(&charge, 0, 1, closed_cases[_i].first);
    ck_assert_msg(changed == closed_cases[_i].want_first, "%s: first", name);
    if (!changed) {
        ck_assert_msg(strcmp(till_snapshot(), before) == 0, "%s: written", name);
    }
    changed = till_resolve(&charge, 0, 1, closed_cases[_i].second);
    ck_assert_msg(changed == closed_cases[_i].want_second, "%s: second", name);
    charge = till_find(0, "order-1");
    ck_assert_msg(charge->state == closed_cases[_i].want_state, "%s: state", name);
    ck_assert_str_eq(charge->contradiction, closed_cases[_i].want_kept);
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], contradicts);
    ck_assert(charge->due_at == 0);
    if (charge->state == PAY_CHARGE_SUCCESSFUL) {
        ck_assert_int_eq(charge->decided_state, PAY_CHARGE_SUCCESSFUL);
        ck_assert(charge->decided_at == till_clock && charge->updated_at == till_clock);
        ck_assert_str_eq(charge->authorization_code, "A1B2C3");
    } else {
        ck_assert_int_eq(charge->decided_state, PAY_CHARGE_PENDING);
        ck_assert_str_eq(charge->code, "");
    }
    till_check_clean();
}
END_TEST

/* Imported history may have refunded it before the charge was known to be successful. */
START_TEST(test_reversed_at_once)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_charge_t *charge;
    pay_import_t run;
    int at;

    (void)till_open(_i, "order-1", 100);
    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(_i, 1, TILL_NOW, PAY_REFUND_PROCESSED, "order-1", 100);
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[_i], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(till_find(_i, "order-1")->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(till_resolve(&charge, _i, 1, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_REVERSED);
    ck_assert_int_eq(charge->decided_state, PAY_CHARGE_REVERSED); /* as it is always reported */
    /* No move of the table is made twice: reversed to successful is for refunds alone. */
    ck_assert_int_eq(till_resolve(&charge, _i, 1, PAY_OUTCOME_APPROVED), 0);
    ck_assert_int_eq(till_find(_i, "order-1")->state, PAY_CHARGE_REVERSED);
    till_check_clean();
}
END_TEST

START_TEST(test_no_such_charge)
{
    pay_charge_t *charge;
    int changed;

    till_open((_i + 1) % TILL_SCOPES, "order-1", 100);
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[_i], 1,
                                              till_outcome(PAY_OUTCOME_APPROVED), 0, unit_pool),
                     APR_NOTFOUND);
    ck_assert_ptr_null(charge);
    ck_assert_int_eq(changed, 0);
}
END_TEST

START_TEST(test_bad_row)
{
    pay_charge_t *charge;
    pay_store_key_t key;
    int changed;

    till_open(_i, "order-1", 100);
    pay_store_charge_key(&key, &till->scopes[_i], 1);
    till_plant(PAY_TABLE_CHARGE, &key, "\x01\x01", 2);
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[_i], 1,
                                              till_outcome(PAY_OUTCOME_APPROVED), 0, unit_pool),
                     PAY_STORE_ECORRUPT);
}
END_TEST

/* Both the worker and reconciliation may answer at the same time. */
typedef struct racer_t {
    pay_outcome_kind_t kind;
    apr_pool_t *pool;
    int changed;
    pay_charge_t *out;
    apr_status_t rv;
} racer_t;

static void *race(void *data)
{
    racer_t *racer = data;

    racer->rv =
        pay_store_charge_resolve(&racer->out, &racer->changed, till->store, &till->scopes[0], 1,
                                 till_outcome(racer->kind), 0, racer->pool);
    return NULL;
}

START_TEST(test_race)
{
    pthread_t threads[RACERS];
    racer_t racers[RACERS];
    pay_charge_state_t state;
    int r, changed = 0;

    till_open(0, "order-1", 100);
    for (r = 0; r < RACERS; r++) {
        racers[r].kind = r % 2 ? PAY_OUTCOME_APPROVED : PAY_OUTCOME_DECLINED;
        ck_assert_int_eq(apr_pool_create(&racers[r].pool, unit_pool), APR_SUCCESS);
    }
    for (r = 0; r < RACERS; r++) {
        ck_assert_int_eq(pthread_create(&threads[r], NULL, race, &racers[r]), 0);
    }
    for (r = 0; r < RACERS; r++) {
        pthread_join(threads[r], NULL);
    }
    state = till_find(0, "order-1")->state;
    for (r = 0; r < RACERS; r++) {
        ck_assert_int_eq(racers[r].rv, APR_SUCCESS);
        ck_assert_int_eq(racers[r].out->state, state); /* every caller gets the same */
        changed += racers[r].changed;
    }
    ck_assert_int_eq(changed, 1);
}
END_TEST

/* A person's decision that repeats a recent one contradicts nobody. */
START_TEST(test_person_comes_late)
{
    const pay_outcome_t late = {.kind = PAY_OUTCOME_DECLINED, .resolution = "never arrived"};
    pay_charge_t *charge;
    int changed;

    till_open(_i, "order-1", 100);
    (void)till_resolve(&charge, _i, 1, PAY_OUTCOME_APPROVED);
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[_i], 1,
                                              &late, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 0);
    charge = till_find(_i, "order-1");
    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_str_eq(charge->contradiction, "");
    ck_assert_str_eq(charge->resolution, "");
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 0);
    till_check_clean();
}
END_TEST

static pay_charge_t *resolved(int i, const pay_outcome_t *outcome)
{
    pay_charge_t *charge = till_open(i, "order-1", 100);
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[i],
                                              charge->seq, outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    return till_find(i, "order-1");
}

/* An amount that the acquirer has refunded since is not refunded here, in part or whole. */
START_TEST(test_spent)
{
    const pay_outcome_t reversed = {.kind = PAY_OUTCOME_APPROVED, .spent = 1};
    const pay_outcome_t declined = {.kind = PAY_OUTCOME_DECLINED, .spent = 1};
    pay_charge_t *charge = resolved(0, &reversed);

    ck_assert_int_eq(charge->state, PAY_CHARGE_REVERSED);
    ck_assert_int_eq(charge->decided_state, PAY_CHARGE_REVERSED);
    ck_assert_int_eq(charge->spent, 1);
    ck_assert(pay_charge_refunded_minor(charge) == 100 && charge->refunded_minor == 0);
    (void)till_refund(0, "order-1", 1, PAY_REFUND_REFUSED_FULL);
    (void)till_refund(0, "order-1", 0, PAY_REFUND_REFUSED_FULL);
    ck_assert_int_eq(till_find(0, "order-1")->refunds_pending_minor, 0);
    ck_assert_int_eq(resolved(1, &declined)->spent, 0);
    till_check_clean();
}
END_TEST

static void set_fees(const char *fees)
{
    static const char *const names[] = {"early", "late"};
    const pay_account_settings_t settings = {.fees = fees};
    pay_account_t *account;
    int i;

    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(
            pay_store_account_set(&account, till->store, names[i], &settings, NULL, unit_pool),
            APR_SUCCESS);
        ck_assert_str_eq(account->settings.fees, fees);
    }
}

static apr_int64_t fee_of(int i, const char *reference, pay_outcome_kind_t kind)
{
    pay_charge_t *charge = till_open(i, reference, 1000);

    ck_assert_int_eq(till_resolve(&charge, i, charge->seq, kind), 1);
    ck_assert(charge->fee_minor == till_find(i, reference)->fee_minor);
    return charge->fee_minor;
}

static apr_int64_t fees_kept(int i)
{
    static const pay_time_range_t always = {APR_INT64_MIN, APR_INT64_MAX};
    apr_array_header_t *totals;

    ck_assert_int_eq(
        pay_store_total_list(&totals, till->store, &till->scopes[i], &always, NULL, 10, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(totals->nelts, 1);
    return APR_ARRAY_IDX(totals, 0, pay_total_t).fees.low;
}

/* By the rules at the time of its approval; nothing changes it later. */
START_TEST(test_fee)
{
    pay_charge_t *charge;
    pay_refund_t *refund;

    ck_assert(fee_of(_i, "before", PAY_OUTCOME_APPROVED) == 0);
    charge = till_open(_i, "waits", 1000);
    set_fees("NGN 1.5% + 0.50; NGN bank_transfer 9.00");
    ck_assert(fee_of(_i, "declined", PAY_OUTCOME_DECLINED) == 0);
    ck_assert(fee_of(_i, "unknown", PAY_OUTCOME_UNKNOWN) == 0);
    ck_assert(fee_of(_i, "order-1", PAY_OUTCOME_APPROVED) == 65);
    ck_assert(fees_kept(_i) == 65);
    (void)till_resolve(&charge, _i, charge->seq, PAY_OUTCOME_APPROVED);
    ck_assert(charge->fee_minor == 65);
    set_fees("");
    refund = till_refund(_i, "order-1", 0, PAY_REFUND_OPENED); /* the acquirer keeps its fee */
    (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    charge = till_find(_i, "order-1");
    ck_assert(charge->state == PAY_CHARGE_REVERSED && charge->fee_minor == 65);
    ck_assert(till_find(_i, "before")->fee_minor == 0);
    ck_assert(fees_kept(_i) == 130);
    till_check_clean();
}
END_TEST

/* A decision about money does not wait for an unreadable account. */
START_TEST(test_fee_of_a_damaged_account)
{
    pay_store_key_t key;

    set_fees("NGN 50%");
    pay_store_key_start(&key);
    pay_store_key_u32(&key, till->scopes[0].account);
    (void)till_open(0, "order-1", 1000);
    till_plant(PAY_TABLE_ACCOUNT, &key, "\xff", 1);
    ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_PENDING);
    ck_assert(resolved(1, &(pay_outcome_t){.kind = PAY_OUTCOME_APPROVED})->fee_minor == 50);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 0);
    ck_assert(till_resolve(&(pay_charge_t *){NULL}, 0, 1, PAY_OUTCOME_APPROVED) == 1);
    ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert(till_find(0, "order-1")->fee_minor == 0);
    ck_assert_int_gt(till_lines[PAY_LOG_ERR], 0);
}
END_TEST

/* A refund of the acquirer's books, which is known here from now on. */
static void fetch(int number, apr_int64_t amount_minor)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_import_t run;
    int at;

    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(0, number, TILL_NOW, PAY_REFUND_PROCESSED, "order-1", amount_minor);
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[0], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
}

static void check_refunded(apr_int64_t shown_minor, apr_int64_t there_minor)
{
    const pay_charge_t *charge = till_find(0, "order-1");

    ck_assert(pay_charge_refunded_minor(charge) == shown_minor);
    ck_assert(charge->refunded_there_minor == there_minor);
    till_check_clean();
}

/* An amount that the acquirer has refunded counts until its refunds are known here. */
START_TEST(test_given_back_in_part)
{
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_APPROVED, .refunded_minor = 40};
    pay_charge_t *charge = resolved(0, &outcome);
    pay_refund_t *refund;

    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    check_refunded(40, 40);
    (void)till_refund(0, "order-1", 61, PAY_REFUND_REFUSED_ABOVE);
    refund = till_refund(0, "order-1", 10, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, 0, refund->refund_reference, PAY_OUTCOME_APPROVED);
    check_refunded(50, 50);
    fetch(1, 25);
    check_refunded(50, 50);
    fetch(2, 15);
    check_refunded(50, 0);
    refund = till_refund(0, "order-1", 0, PAY_REFUND_OPENED);
    ck_assert(refund->money.amount_minor == 50);
    (void)till_refund_resolve(&refund, 0, refund->refund_reference, PAY_OUTCOME_APPROVED);
    ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_REVERSED);
    check_refunded(100, 0);
}
END_TEST

/* One of ours that the acquirer reverses, before the others are known. */
START_TEST(test_given_back_and_taken_back)
{
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_APPROVED, .refunded_minor = 40};
    pay_refund_t *refund;
    int changed;

    (void)resolved(0, &outcome);
    refund = till_refund(0, "order-1", 0, PAY_REFUND_OPENED);
    ck_assert(refund->money.amount_minor == 60);
    (void)till_refund_resolve(&refund, 0, refund->refund_reference, PAY_OUTCOME_APPROVED);
    ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_REVERSED);
    ck_assert_int_eq(pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[0],
                                           refund->refund_reference, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_SUCCESSFUL);
    check_refunded(40, 40);
}
END_TEST

/* The card of its token here is not replaced by the acquirer's data. */
START_TEST(test_known_card_stays)
{
    static const pay_card_t other = {"411111", "1111", "Visa", "GH", "credit"};
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_APPROVED, .card = &other};
    const pay_charge_t *charge = resolved(_i, &outcome);

    ck_assert_str_eq(charge->card.first6, "555555");
    ck_assert_str_eq(charge->card.last4, "4444");
    ck_assert_str_ne(charge->card.issuer, "Visa");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_resolve, 0, UNIT_ROWS(resolve_cases));
    tcase_add_loop_test(tcase, test_decided_is_frozen, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_unknown_releases_the_worker, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_closed, 0, UNIT_ROWS(closed_cases));
    tcase_add_loop_test(tcase, test_reversed_at_once, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_no_such_charge, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_bad_row, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_person_comes_late, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_spent);
    tcase_add_loop_test(tcase, test_fee, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_fee_of_a_damaged_account);
    tcase_add_test(tcase, test_given_back_in_part);
    tcase_add_test(tcase, test_given_back_and_taken_back);
    tcase_add_loop_test(tcase, test_known_card_stays, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_race);
}

UNIT_PROGRAM(add)
