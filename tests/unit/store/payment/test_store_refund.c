/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/charge.h"

#include <pthread.h>

#define RACERS 8
#define RACES 12
#define WINDOW apr_time_from_sec(600)

/* The refunds of a charge of 1,000 before the judged request. */
typedef enum before_t {
    BEFORE_PENDING_CHARGE, /* the charge itself is not decided */
    BEFORE_FAILED_CHARGE,
    BEFORE_NOTHING,
    BEFORE_PENDING_400,
    BEFORE_PROCESSED_400,
    BEFORE_FAILED_400,
    BEFORE_PENDING_ALL,
    BEFORE_PROCESSED_ALL,
    BEFORE_UNKNOWN_400 /* queried, still pending */
} before_t;

static const struct {
    const char *name;
    before_t before;
    apr_int64_t amount_minor; /* 0: the whole remainder */
    pay_refund_verdict_t want;
    apr_int64_t want_minor;
} judge_cases[] = {
    {"of a pending charge", BEFORE_PENDING_CHARGE, 0, PAY_REFUND_REFUSED_STATE, 0},
    {"of a failed charge", BEFORE_FAILED_CHARGE, 100, PAY_REFUND_REFUSED_STATE, 0},
    {"all", BEFORE_NOTHING, 0, PAY_REFUND_OPENED, 1000},
    {"all by its amount", BEFORE_NOTHING, 1000, PAY_REFUND_OPENED, 1000},
    {"one above all", BEFORE_NOTHING, 1001, PAY_REFUND_REFUSED_ABOVE, 0},
    {"part", BEFORE_NOTHING, 1, PAY_REFUND_OPENED, 1},
    {"the rest", BEFORE_PROCESSED_400, 0, PAY_REFUND_OPENED, 600},
    {"the rest by its amount", BEFORE_PROCESSED_400, 600, PAY_REFUND_OPENED, 600},
    {"one above the rest", BEFORE_PROCESSED_400, 601, PAY_REFUND_REFUSED_ABOVE, 0},
    {"all while one is pending", BEFORE_PENDING_400, 0, PAY_REFUND_REFUSED_BUSY, 0},
    {"part while one is pending", BEFORE_PENDING_400, 100, PAY_REFUND_REFUSED_BUSY, 0},
    {"part while one is unknown", BEFORE_UNKNOWN_400, 100, PAY_REFUND_REFUSED_BUSY, 0},
    {"above all while one is pending", BEFORE_PENDING_400, 1001, PAY_REFUND_REFUSED_ABOVE, 0},
    {"all while all is pending", BEFORE_PENDING_ALL, 0, PAY_REFUND_REFUSED_BUSY, 0},
    {"part while all is pending", BEFORE_PENDING_ALL, 1, PAY_REFUND_REFUSED_BUSY, 0},
    {"all after all", BEFORE_PROCESSED_ALL, 0, PAY_REFUND_REFUSED_FULL, 0},
    {"part after all", BEFORE_PROCESSED_ALL, 1, PAY_REFUND_REFUSED_FULL, 0},
    {"a failed one gives back", BEFORE_FAILED_400, 0, PAY_REFUND_OPENED, 1000},
};

static void prepare(int i, before_t before)
{
    pay_charge_t *charge = till_open(i, "order-1", 1000);
    pay_refund_t *refund;

    if (before == BEFORE_PENDING_CHARGE) {
        return;
    }
    (void)till_resolve(&charge, i, charge->seq,
                       before == BEFORE_FAILED_CHARGE ? PAY_OUTCOME_DECLINED
                                                      : PAY_OUTCOME_APPROVED);
    if (before == BEFORE_FAILED_CHARGE || before == BEFORE_NOTHING) {
        return;
    }
    refund = till_refund(i, "order-1",
                         before == BEFORE_PENDING_ALL || before == BEFORE_PROCESSED_ALL ? 0 : 400,
                         PAY_REFUND_OPENED);
    if (before == BEFORE_PROCESSED_400 || before == BEFORE_PROCESSED_ALL) {
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    } else if (before == BEFORE_FAILED_400) {
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_DECLINED);
    } else if (before == BEFORE_UNKNOWN_400) {
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_UNKNOWN);
    }
}

START_TEST(test_judge)
{
    const char *name = judge_cases[_i].name;
    apr_int64_t pending;
    pay_refund_verdict_t verdict;
    pay_idempotency_record_t *record;
    pay_refund_t *refund;
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        prepare(i, judge_cases[_i].before);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        pending = till_find(i, "order-1")->refunds_pending_minor;
        ck_assert_int_eq(
            pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                  till_refund_proposal(i, "order-1", judge_cases[_i].amount_minor),
                                  NULL, 0, unit_pool),
            APR_SUCCESS);
        ck_assert_msg(verdict == judge_cases[_i].want, "%s: verdict %d", name, (int)verdict);
        ck_assert_msg(charge->refunds_pending_minor == pending + judge_cases[_i].want_minor,
                      "%s: pending", name);
        ck_assert_msg((refund != NULL) == (verdict == PAY_REFUND_OPENED), "%s: out", name);
        if (refund) {
            ck_assert_msg(refund->money.amount_minor == judge_cases[_i].want_minor, "%s: amount",
                          name);
            ck_assert_str_eq(refund->money.currency, "NGN");
            ck_assert_int_eq(refund->state, PAY_REFUND_PENDING);
            ck_assert(refund->charge_seq == charge->seq && refund->seq >= 1);
        }
        ck_assert(till_find(i, "order-1")->refunds_pending_minor == charge->refunds_pending_minor);
    }
    till_check_clean();
}
END_TEST

static int refunded_all_there_is(pay_rows_txn_t *txn, void *baton)
{
    pay_charge_t *charge = baton;

    charge->refunded_minor = APR_INT64_MAX;
    charge->refunds_pending_minor = APR_INT64_MAX;
    return pay_store_charge_put(txn, charge, unit_pool);
}

/* A row may contain sums that overflow a subtraction in one step. */
START_TEST(test_largest_sums)
{
    till_raw(refunded_all_there_is, till_charge(0, "order-1", 1000));
    ck_assert_ptr_null(till_refund(0, "order-1", 0, PAY_REFUND_REFUSED_FULL));
    ck_assert_ptr_null(till_refund(0, "order-1", 1, PAY_REFUND_REFUSED_FULL));
}
END_TEST

static const struct {
    const char *name;
    pay_outcome_kind_t first; /* of the refund before */
    apr_interval_time_t later;
    apr_interval_time_t window;
    apr_int64_t amount_minor;
    const char *customer_note, *merchant_note;
    pay_refund_verdict_t want;
} repeat_cases[] = {
    {"the same at once", PAY_OUTCOME_APPROVED, 0, WINDOW, 100, "c", "m",
     PAY_REFUND_REFUSED_REPEATED},
    {"the same while it is pending", PAY_OUTCOME_UNKNOWN, 0, WINDOW, 100, "c", "m",
     PAY_REFUND_REFUSED_REPEATED},
    {"pending for long", PAY_OUTCOME_UNKNOWN, 2 * WINDOW, WINDOW, 100, "c", "m",
     PAY_REFUND_REFUSED_REPEATED},
    {"at the window's end", PAY_OUTCOME_APPROVED, WINDOW, WINDOW, 100, "c", "m",
     PAY_REFUND_REFUSED_REPEATED},
    {"past the window's end", PAY_OUTCOME_APPROVED, WINDOW + 1000, WINDOW, 100, "c", "m",
     PAY_REFUND_OPENED},
    {"another amount", PAY_OUTCOME_APPROVED, 0, WINDOW, 101, "c", "m", PAY_REFUND_OPENED},
    {"another customer note", PAY_OUTCOME_APPROVED, 0, WINDOW, 100, "C", "m", PAY_REFUND_OPENED},
    {"no customer note", PAY_OUTCOME_APPROVED, 0, WINDOW, 100, NULL, "m", PAY_REFUND_OPENED},
    {"another merchant note", PAY_OUTCOME_APPROVED, 0, WINDOW, 100, "c", "", PAY_REFUND_OPENED},
    {"the rule is off", PAY_OUTCOME_APPROVED, 0, 0, 100, "c", "m", PAY_REFUND_OPENED},
    {"the rule is off, it is pending", PAY_OUTCOME_UNKNOWN, 0, 0, 100, "c", "m",
     PAY_REFUND_REFUSED_BUSY},
    {"all that is left is no repetition", PAY_OUTCOME_APPROVED, 0, WINDOW, 0, "c", "m",
     PAY_REFUND_OPENED},
    {"the first one failed", PAY_OUTCOME_DECLINED, 0, WINDOW, 100, "c", "m", PAY_REFUND_OPENED},
};

static pay_refund_verdict_t open_noted(pay_refund_t **out, int i, apr_int64_t amount_minor,
                                       const char *customer_note, const char *merchant_note,
                                       apr_interval_time_t window)
{
    pay_refund_t *proposal = till_refund_proposal(i, "order-1", amount_minor);
    pay_refund_verdict_t verdict;
    pay_idempotency_record_t *record;
    pay_charge_t *charge;

    proposal->customer_note = customer_note;
    proposal->merchant_note = merchant_note;
    ck_assert_int_eq(pay_store_refund_open(out, &charge, &verdict, &record, till->store, proposal,
                                           NULL, window, unit_pool),
                     APR_SUCCESS);
    return verdict;
}

START_TEST(test_repeat)
{
    const char *name = repeat_cases[_i].name;
    pay_refund_t *first[TILL_SCOPES], *refund;
    pay_refund_verdict_t verdict;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        verdict = open_noted(&first[i], i, 100, "c", "m", WINDOW);
        ck_assert_int_eq(verdict, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, i, first[i]->refund_reference, repeat_cases[_i].first);
    }
    till_clock = TILL_NOW + repeat_cases[_i].later;
    for (i = 0; i < TILL_SCOPES; i++) {
        verdict =
            open_noted(&refund, i, repeat_cases[_i].amount_minor, repeat_cases[_i].customer_note,
                       repeat_cases[_i].merchant_note, repeat_cases[_i].window);
        ck_assert_msg(verdict == repeat_cases[_i].want, "%s: verdict %d", name, (int)verdict);
        if (verdict == PAY_REFUND_REFUSED_REPEATED) {
            ck_assert_str_eq(refund->refund_reference, first[i]->refund_reference);
        }
    }
    till_check_clean();
}
END_TEST

START_TEST(test_repeat_is_found_behind_others)
{
    pay_refund_t *refund;
    int n;

    (void)till_charge(_i, "order-1", 1000);
    for (n = 1; n <= 5; n++) {
        ck_assert_int_eq(open_noted(&refund, _i, 10 * n, "c", "m", WINDOW), PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    }
    ck_assert_int_eq(open_noted(&refund, _i, 10, "c", "m", WINDOW), PAY_REFUND_REFUSED_REPEATED);
    ck_assert_str_eq(refund->refund_reference, "rfd_1");
}
END_TEST

static const struct {
    const char *name;
    const char *reference;
    const char *currency;
    const char *refund_reference, *id;
    apr_status_t want;
} refused_cases[] = {
    {"no such charge", "order-2", "NGN", "new", "new", APR_NOTFOUND},
    {"another currency", "order-1", "USD", "new", "new", APR_EINVAL},
    {"the reference is in use", "order-1", "NGN", "rfd_1", "new", APR_EEXIST},
    {"the id is in use", "order-1", "NGN", "new", "ref_1", APR_EEXIST},
    {"well", "order-1", "NGN", "new", "new", APR_SUCCESS},
};

START_TEST(test_refused)
{
    pay_refund_verdict_t verdict;
    pay_idempotency_record_t *record;
    pay_refund_t *refund, *proposal;
    pay_charge_t *charge;
    apr_status_t rv;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        till->names = 0;
        (void)till_charge(i, "order-1", 1000);
        refund = till_refund(i, "order-1", 10, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
        proposal = till_refund_proposal(i, refused_cases[_i].reference, 100);
        proposal->id = refused_cases[_i].id;
        proposal->refund_reference = refused_cases[_i].refund_reference;
        apr_cpystrn(proposal->money.currency, refused_cases[_i].currency, 4);
        rv = pay_store_refund_open(&refund, &charge, &verdict, &record, till->store, proposal, NULL,
                                   0, unit_pool);
        ck_assert_msg(rv == refused_cases[_i].want, "%s: %d", refused_cases[_i].name, rv);
        ck_assert_msg((refund == NULL) == (rv != APR_SUCCESS), "%s", refused_cases[_i].name);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_find)
{
    pay_refund_t *refund, *found;
    int i;

    (void)till_charge(_i, "order-1", 1000);
    refund = till_refund(_i, "order-1", 250, PAY_REFUND_OPENED);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(pay_store_refund_find(&found, till->store, &till->scopes[i],
                                               refund->refund_reference, unit_pool),
                         i == _i ? APR_SUCCESS : APR_NOTFOUND);
        ck_assert((found == NULL) == (i != _i));
    }
    ck_assert_int_eq(pay_store_refund_find(&found, till->store, &till->scopes[_i],
                                           refund->refund_reference, unit_pool),
                     APR_SUCCESS);
    ck_assert(found->money.amount_minor == 250 && found->created_at == TILL_NOW);
    ck_assert_str_eq(found->transaction_reference, "order-1");
}
END_TEST

/* ---- a refusal that may pass is judged again under the same key */

static pay_refund_verdict_t open_keyed(pay_refund_t **out, int i, apr_int64_t amount_minor)
{
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    ck_assert_int_eq(pay_store_refund_open(out, &charge, &verdict, &record, till->store,
                                           till_refund_proposal(i, "order-1", amount_minor),
                                           till_use(PAY_OPERATION_REFUND, "key-1", "a"), WINDOW,
                                           unit_pool),
                     APR_SUCCESS);
    ck_assert_ptr_null(record);
    return verdict;
}

static const struct {
    const char *name;
    apr_int64_t amount_minor; /* 0: all */
    pay_refund_verdict_t want;
} history_cases[] = {
    {"nothing is left of it", 0, PAY_REFUND_REFUSED_FULL},
    {"a part, nothing is left", 100, PAY_REFUND_REFUSED_FULL},
    {"above what is left", 500, PAY_REFUND_REFUSED_ABOVE},
};

/* Pending history, which may be removed with its import, settles nothing. */
START_TEST(test_pending_history_is_no_reason_to_keep)
{
    apr_int64_t amount_minor = history_cases[_i].amount_minor, pending;
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_import_t import;
    pay_refund_t *refund;
    int at;

    pending = history_cases[_i].want == PAY_REFUND_REFUSED_FULL ? 1000 : 600;
    (void)till_charge(0, "order-1", 1000);
    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(0, 1, TILL_NOW, PAY_REFUND_PENDING, "order-1", pending);
    ck_assert_int_eq(pay_store_import_begin(&import, till->store, &till->scopes[0], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&import, &at, till->store, rows, unit_pool),
                     APR_SUCCESS);
    ck_assert(till_find(0, "order-1")->refund_at_acquirer == 0);
    ck_assert_msg(open_keyed(&refund, 0, amount_minor) == history_cases[_i].want, "%s",
                  history_cases[_i].name);
    ck_assert_ptr_null(till_idempotency(0, till_use(PAY_OPERATION_REFUND, "key-1", "a")));
    ck_assert_int_eq(pay_store_import_abort(&import, till->store, unit_pool), APR_SUCCESS);
    ck_assert_msg(open_keyed(&refund, 0, amount_minor) == PAY_REFUND_OPENED, "%s",
                  history_cases[_i].name);
    till_check_clean();
}
END_TEST

/* A void checkout is not decided: its payer's money may still come, and then be refunded. */
START_TEST(test_void_is_no_reason_to_keep)
{
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    pay_refund_t *refund;
    int voided;

    charge = till_checkout(_i, "order-1", 1000);
    ck_assert_int_eq(pay_store_charge_void(&charge, &voided, &record, till->store,
                                           &till->scopes[_i], "order-1", NULL, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(voided, 1);
    ck_assert_int_eq(open_keyed(&refund, _i, 100), PAY_REFUND_REFUSED_STATE);
    ck_assert_int_eq(till_resolve(&charge, _i, charge->seq, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(open_keyed(&refund, _i, 100), PAY_REFUND_OPENED);
    till_check_clean();
}
END_TEST

/* ---- races: the sum of refunds never exceeds the charge */

typedef struct racer_t {
    pay_refund_t *proposals[RACES];
    apr_pool_t *pool;
    int failed;
} racer_t;

static void racer_make(racer_t *racer, int number)
{
    int n;

    memset(racer, 0, sizeof(*racer));
    ck_assert_int_eq(apr_pool_create(&racer->pool, unit_pool), APR_SUCCESS);
    for (n = 0; n < RACES; n++) {
        racer->proposals[n] =
            till_refund_proposal(n % TILL_SCOPES, "order-1", n % 4 ? 300 + number : 0);
    }
}

/* Each refund that is opened is resolved at once: two of three are processed. */
static void *race(void *data)
{
    racer_t *racer = data;
    pay_refund_verdict_t verdict;
    pay_idempotency_record_t *record;
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_outcome_kind_t kind;
    int n, changed;

    for (n = 0; n < RACES; n++) {
        racer->failed |= pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                               racer->proposals[n], NULL, 0, racer->pool)
                         != APR_SUCCESS;
        if (racer->failed || verdict != PAY_REFUND_OPENED) {
            continue;
        }
        kind = refund->seq % 3 ? PAY_OUTCOME_APPROVED : PAY_OUTCOME_DECLINED;
        racer->failed |=
            pay_store_refund_resolve(&refund, &changed, till->store, &refund->scope,
                                     refund->refund_reference, till_outcome(kind), 0, racer->pool)
                != APR_SUCCESS
            || !changed;
    }
    return NULL;
}

static void check_race(void)
{
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        charge = till_find(i, "order-1");
        ck_assert(charge->refunded_minor > 0 && charge->refunded_minor <= 1000);
        ck_assert(charge->refunds_pending_minor == 0);
    }
    till_check_clean(); /* sums and states of every charge */
}

START_TEST(test_threads_race)
{
    pthread_t threads[RACERS];
    racer_t racers[RACERS];
    int r;

    for (r = 0; r < TILL_SCOPES; r++) {
        (void)till_charge(r, "order-1", 1000);
    }
    for (r = 0; r < RACERS; r++) {
        racer_make(&racers[r], r);
    }
    for (r = 0; r < RACERS; r++) {
        ck_assert_int_eq(pthread_create(&threads[r], NULL, race, &racers[r]), 0);
    }
    for (r = 0; r < RACERS; r++) {
        pthread_join(threads[r], NULL);
        ck_assert(!racers[r].failed);
    }
    check_race();
}
END_TEST

START_TEST(test_processes_race)
{
    racer_t racers[RACERS];
    int r;

    for (r = 0; r < TILL_SCOPES; r++) {
        (void)till_charge(r, "order-1", 1000);
    }
    for (r = 0; r < RACERS; r++) {
        racer_make(&racers[r], r);
    }
    till_race(racers, sizeof(racers[0]), RACERS, race);
    for (r = 0; r < RACERS; r++) {
        ck_assert(!racers[r].failed);
    }
    check_race();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_judge, 0, UNIT_ROWS(judge_cases));
    tcase_add_test(tcase, test_largest_sums);
    tcase_add_loop_test(tcase, test_repeat, 0, UNIT_ROWS(repeat_cases));
    tcase_add_loop_test(tcase, test_repeat_is_found_behind_others, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_refused, 0, UNIT_ROWS(refused_cases));
    tcase_add_loop_test(tcase, test_find, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_pending_history_is_no_reason_to_keep, 0,
                        UNIT_ROWS(history_cases));
    tcase_add_loop_test(tcase, test_void_is_no_reason_to_keep, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_threads_race);
    tcase_add_test(tcase, test_processes_race);
}

UNIT_PROGRAM(add)
