/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "limited.h"
#include "service/reconcile/reconcile.h"
#include "service/refund/refunds.h"
#include "shop_charge.h"
#include "watched.h"

#include <pthread.h>

#define NOW apr_time_from_sec(1800000000)
#define DAY apr_time_from_sec(24 * 3600)
#define THREADS 8

static shop_t *shop;
static pay_caller_t caller;
static int replayed;

/* A shop in Live Mode with charges "order-1" and "order-2" of 10.50 NGN in both modes. */
static void set_up(void)
{
    static const pay_account_settings_t same = {.key_prefix = NULL};
    static const char *const references[] = {"order-1", "order-2"};
    pay_mode_t live = PAY_LIVE;
    pay_scope_t scope;
    int i;

    shop_clock_set(NOW);
    shop = shop_open(unit_dir());
    ck_assert_int_eq(
        pay_store_account_set(&shop->account, shop->store, "demo", &same, &live, unit_pool),
        APR_SUCCESS);
    shop->service.acquirer[PAY_TEST] = &script_acquirer;
    shop->service.acquirer[PAY_LIVE] = &script_acquirer;
    memset(&script, 0, sizeof(script));
    script.outcome =
        (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED, .code = "00", .message = "Approved"};
    caller = pay_caller_of_key(shop_key(shop, PAY_TEST), "k-1");
    for (i = 0; i < 4; i++) {
        scope = (pay_scope_t){shop->account->number, i < 2 ? PAY_TEST : PAY_LIVE};
        shop_charge(shop, &scope, references[i % 2]);
    }
}

static const pay_problem_t *refund(pay_refund_t **out, const char *key, const char *reference,
                                   const char *amount)
{
    const pay_refund_request_t request = {reference, amount, NULL, "for us", "API"};

    caller.idempotency_key = key;
    return pay_refund_create(out, &replayed, &shop->service, &caller, &request, unit_pool);
}

static const char *answer(const pay_refund_t *refund_made)
{
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_refund_answer_to_json(w, refund_made);
    return w->text;
}

static const char *record(const pay_refund_t *refund_made)
{
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_refund_to_json(w, NULL, refund_made);
    return w->text;
}

static apr_int64_t refunded_minor(void)
{
    pay_charge_t *charge;

    ck_assert_int_eq(
        STORE_REAL(charge_find)(&charge, shop->store, &caller.scope, "order-1", unit_pool),
        APR_SUCCESS);
    return charge->refunded_minor;
}

/* Like housekeeping, until nothing is due. */
static void expire(void)
{
    int count = 100;

    while (count == 100) {
        ck_assert_int_eq(
            pay_store_idempotency_expire(&count, shop->store, pay_time_now(), 100, unit_pool),
            APR_SUCCESS);
    }
}

/* The acquirer reverses its earlier report on the refund. */
static void take_back(const pay_refund_t *made)
{
    pay_refund_t *failed;
    int changed;

    ck_assert_int_eq(pay_store_refund_fail(&failed, &changed, shop->store, &caller.scope,
                                           made->refund_reference, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_int_eq(failed->state, PAY_REFUND_FAILED);
}

/* ---- replays */

START_TEST(test_replay)
{
    static const char *const notations[] = {"4.20", "4.2", "4.200", "42e-1", "0.42E+1"};
    pay_refund_t *first, *again;
    const char *text;
    int i;

    set_up();
    ck_assert_ptr_null(refund(&first, "k-1", "order-1", "4.20"));
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(first->state, PAY_REFUND_PROCESSED);
    text = answer(first);
    ck_assert_str_eq(text, record(first));
    for (i = 0; i < UNIT_ROWS(notations); i++) {
        shop_clock += apr_time_from_sec(5);
        ck_assert_ptr_null(refund(&again, "k-1", "order-1", notations[i]));
        ck_assert_int_eq(replayed, 1);
        ck_assert_str_eq(answer(again), text);
    }
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(refunded_minor(), 420);
}
END_TEST

/* Changes that a replay may meet in between: none of them changes the answer. */
static const struct {
    const char *name;
    const char *amount; /* NULL: all */
    pay_outcome_kind_t outcome;
    apr_time_t later;
    int test_mode; /* the account is switched to Test Mode */
    int no_acquirer;
    int taken_back;
} later_cases[] = {
    {"a year later", "4.20", PAY_OUTCOME_APPROVED, 365 * DAY, 0, 0, 0},
    {"refused, a year later", "4.20", PAY_OUTCOME_DECLINED, 365 * DAY, 0, 0, 0},
    {"all of it, a year later", NULL, PAY_OUTCOME_APPROVED, 365 * DAY, 0, 0, 0},
    {"in Test Mode since", "4.20", PAY_OUTCOME_APPROVED, 60, 1, 0, 0},
    {"no acquirer any more", "4.20", PAY_OUTCOME_APPROVED, 60, 0, 1, 0},
    {"taken back since", "4.20", PAY_OUTCOME_APPROVED, 60, 0, 0, 1},
    {"all of it taken back since", NULL, PAY_OUTCOME_APPROVED, 2 * DAY, 1, 1, 1},
};

START_TEST(test_replay_later)
{
    const char *name = later_cases[_i].name, *amount = later_cases[_i].amount, *text;
    static const pay_account_settings_t same = {.key_prefix = NULL};
    pay_mode_t test = PAY_TEST;
    pay_refund_t *first, *again;

    set_up();
    caller = pay_caller_of_key(shop_key(shop, PAY_LIVE), "k-1");
    script.outcome.kind = later_cases[_i].outcome;
    ck_assert_ptr_null(refund(&first, "k-1", "order-1", amount));
    text = answer(first);
    shop_clock += later_cases[_i].later;
    expire();
    if (later_cases[_i].taken_back) {
        take_back(first);
    }
    if (later_cases[_i].test_mode) {
        ck_assert_int_eq(
            pay_store_account_set(&shop->account, shop->store, "demo", &same, &test, unit_pool),
            APR_SUCCESS);
        caller.account = shop->account;
        shop_check_problem(name, refund(&again, "k-2", "order-1", amount), 403, "B02");
    }
    if (later_cases[_i].no_acquirer) {
        shop->service.acquirer[PAY_LIVE] = NULL;
        shop_check_problem(name, refund(&again, "k-2", "order-1", amount), 403, "B02");
    }
    ck_assert_ptr_null(refund(&again, "k-1", "order-1", amount));
    ck_assert_msg(replayed == 1, "%s: not replayed", name);
    ck_assert_msg(!strcmp(answer(again), text), "%s: %s", name, answer(again));
    ck_assert_msg((strcmp(record(again), text) != 0) == later_cases[_i].taken_back, "%s: %s", name,
                  record(again));
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

START_TEST(test_unknown_then_decided)
{
    apr_array_header_t *services = apr_array_make(unit_pool, 1, sizeof(pay_service_t *));
    pay_refund_t *first, *again;
    const char *text;
    int settled;

    set_up();
    APR_ARRAY_PUSH(services, pay_service_t *) = &shop->service;
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    ck_assert_ptr_null(refund(&first, "k-1", "order-1", "4.20"));
    ck_assert_int_eq(first->state, PAY_REFUND_PENDING);
    shop_clock += apr_time_from_sec(1);
    ck_assert_ptr_null(refund(&again, "k-1", "order-1", "4.20"));
    ck_assert_int_eq(replayed, 0); /* there is no decision to replay yet */
    ck_assert_str_eq(answer(again), answer(first));
    ck_assert_str_eq(answer(again), record(first));

    shop_clock += 2 * DAY;
    expire();
    script.outcome.kind = PAY_OUTCOME_APPROVED;
    ck_assert_int_eq(pay_reconcile_step(&settled, shop->store, services, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(settled, 1);
    ck_assert_ptr_null(refund(&again, "k-1", "order-1", "4.20"));
    ck_assert_int_eq(replayed, 1);
    text = answer(again);
    ck_assert_ptr_nonnull(strstr(text, "\"status\":\"processed\""));
    ck_assert_ptr_nonnull(strstr(text, first->refund_reference));
    shop_clock += 2 * DAY;
    expire();
    take_back(again);
    ck_assert_ptr_null(refund(&again, "k-1", "order-1", "4.20"));
    ck_assert_str_eq(answer(again), text);
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

/* ---- which requests are the same */

static const struct {
    const char *name;
    const char *reference;
    const char *amount;
    const char *customer_note;
    const char *merchant_note;
} other_cases[] = {
    {"another amount", "order-1", "4.21", "for you", "for us"},
    {"another reference", "order-2", "4.20", "for you", "for us"},
    {"another customer's note", "order-1", "4.20", "for us", "for us"},
    {"no customer's note", "order-1", "4.20", NULL, "for us"},
    {"an empty merchant's note", "order-1", "4.20", "for you", ""},
    {"notes turned", "order-1", "4.20", "for us", "for you"},
};

START_TEST(test_other_request)
{
    const pay_refund_request_t request = {"order-1", "4.20", "for you", "for us", "API"};
    const pay_refund_request_t other = {other_cases[_i].reference, other_cases[_i].amount,
                                        other_cases[_i].customer_note,
                                        other_cases[_i].merchant_note, "API"};
    const pay_problem_t *problem;
    pay_refund_t *made;

    set_up();
    ck_assert_ptr_null(
        pay_refund_create(&made, &replayed, &shop->service, &caller, &request, unit_pool));
    problem = pay_refund_create(&made, &replayed, &shop->service, &caller, &other, unit_pool);
    shop_check_problem(other_cases[_i].name, problem, 409, "D1");
    ck_assert_str_eq(problem->message,
                     "The Idempotency-Key was already used for a different request.");
    ck_assert_ptr_null(made);
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

static const struct {
    const char *name;
    const char *key;
    const char *amount;
    pay_key_kind_t kind;
    pay_mode_t mode;
} apart_cases[] = {
    {"another key", "k-2", "4.20", PAY_KEY_SECRET, PAY_TEST},
    {"a key in another case", "K-1", "4.20", PAY_KEY_SECRET, PAY_TEST},
    {"another operation", "k-1", NULL, PAY_KEY_SECRET, PAY_TEST},
    {"a public key's", "k-1", "4.20", PAY_KEY_PUBLIC, PAY_TEST},
    {"another mode", "k-1", "4.20", PAY_KEY_SECRET, PAY_LIVE},
    {"no key", NULL, "4.21", PAY_KEY_SECRET, PAY_TEST},
};

/* With a key there is no R5 rule: another key means another refund. */
START_TEST(test_apart)
{
    const char *name = apart_cases[_i].name;
    const pay_problem_t *problem;
    pay_refund_t *first, *made;

    set_up();
    ck_assert_ptr_null(refund(&first, "k-1", "order-1", "4.20"));
    caller.key_kind = apart_cases[_i].kind;
    caller.scope.mode = apart_cases[_i].mode;
    problem = refund(&made, apart_cases[_i].key, "order-1", apart_cases[_i].amount);
    ck_assert_msg(problem == NULL, "%s: %s", name, problem ? problem->message : "");
    ck_assert_msg(replayed == 0, "%s: replayed", name);
    ck_assert_str_ne(made->refund_reference, first->refund_reference);
    ck_assert_int_eq(script.calls, 2);
}
END_TEST

START_TEST(test_without_a_key_r5)
{
    pay_refund_t *made;

    set_up();
    ck_assert_ptr_null(refund(&made, "k-1", "order-1", "4.20"));
    shop_check_problem("no key", refund(&made, NULL, "order-1", "4.20"), 409, "R5");
}
END_TEST

/* ---- refusals */

typedef enum refusal_t { R1, R2, R3 } refusal_t;

static const struct {
    const char *name;
    refusal_t refusal;
    const char *code;
    const char *amount;
} refusal_cases[] = {
    {"never successful", R1, "R1", NULL},  {"part, never successful", R1, "R1", "7"},
    {"above what is left", R2, "R2", "7"}, {"nothing left", R3, "R3", NULL},
    {"part, nothing left", R3, "R3", "7"},
};

/* The acquirer's report on charge "order-3". */
static void charge_decide(pay_outcome_kind_t kind)
{
    const pay_outcome_t outcome = {.kind = kind, .code = "00"};
    pay_charge_t *charge;
    int changed;

    ck_assert_int_eq(
        STORE_REAL(charge_find)(&charge, shop->store, &caller.scope, "order-3", unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(STORE_REAL(charge_resolve)(&charge, &changed, shop->store, &caller.scope,
                                                charge->seq, &outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

/* Causes the refusal; `undo` removes its cause, if possible. */
static void cause(refusal_t refusal, pay_refund_t **undo)
{
    if (refusal == R1) {
        shop_charge_open(shop, &caller.scope, "order-3", PAY_CHARGE_TOKENIZED);
        charge_decide(PAY_OUTCOME_DECLINED);
        return;
    }
    shop_charge(shop, &caller.scope, "order-3");
    ck_assert_ptr_null(refund(undo, "k-cause", "order-3", refusal == R2 ? "4" : NULL));
}

START_TEST(test_refusal)
{
    const char *name = refusal_cases[_i].name, *amount = refusal_cases[_i].amount;
    const char *code = refusal_cases[_i].code, *message, *fields;
    const pay_problem_t *problem;
    pay_refund_t *made, *undo = NULL;

    set_up();
    cause(refusal_cases[_i].refusal, &undo);
    problem = refund(&made, "k-1", "order-3", amount);
    shop_check_problem(name, problem, 409, code);
    ck_assert_int_eq(replayed, 0);
    message = problem->message;
    fields = shop_fields(problem);
    if (undo) {
        take_back(undo);
    }

    shop_clock += DAY - apr_time_from_sec(60);
    expire();
    problem = refund(&made, "k-1", "order-3", amount);
    shop_check_problem(name, problem, 409, code);
    ck_assert_msg(replayed == 1, "%s: not replayed", name);
    ck_assert_str_eq(problem->message, message);
    ck_assert_str_eq(shop_fields(problem), fields);
    ck_assert_ptr_null(made);
    shop_check_problem(name, refund(&made, "k-1", "order-3", amount ? "6.99" : NULL), 409,
                       amount ? "D1" : code);

    shop_clock += apr_time_from_sec(120);
    expire();
    problem = refund(&made, "k-1", "order-3", amount);
    ck_assert_msg((problem == NULL) == (undo != NULL), "%s: after it was forgotten", name);
    ck_assert_int_eq(replayed, 0);
}
END_TEST

/*
 * A refusal that is no decision about the refund is not stored: the next attempt is judged again.
 */
START_TEST(test_not_kept)
{
    pay_acquirer_t *acquirer = limited(&script_acquirer, 1);
    pay_refund_t *made;
    int slot;

    set_up();
    shop_check_problem("unknown", refund(&made, "k-1", "order-9", "1"), 404, "N1");
    shop_check_problem("form", refund(&made, "k-1", "order-1", "1.005"), 400, "T1");
    shop->service.acquirer[PAY_TEST] = acquirer;
    slot = pay_slots_take(acquirer->slots, 0);
    shop_check_problem("no place", refund(&made, "k-1", "order-1", "1"), 503, "E2");
    pay_slots_give(acquirer->slots, slot);
    shop->service.acquirer[PAY_TEST] = &shop_simulator;
    shop_check_problem("elsewhere", refund(&made, "k-1", "order-1", "1"), 503, "E2");
    shop->service.acquirer[PAY_TEST] = &script_acquirer;
    ck_assert_ptr_null(refund(&made, "k-1", "order-1", "2"));
    ck_assert_int_eq(replayed, 0);
    shop_check_problem("form before the key", refund(&made, "k-1", "order-1", "2.005"), 400, "T1");
    shop_charge_open(shop, &caller.scope, "order-3", PAY_CHARGE_TOKENIZED);
    shop_check_problem("not decided yet", refund(&made, "k-2", "order-3", "2"), 409, "R1");
    charge_decide(PAY_OUTCOME_APPROVED);
    ck_assert_ptr_null(refund(&made, "k-2", "order-3", "2"));
    ck_assert_int_eq(replayed, 0);
}
END_TEST

/* ---- at once */

static void meanwhile(const payments_charge_t *charge, const payments_refund_t *pending)
{
    const pay_problem_t *problem;
    pay_refund_t *out;

    ck_assert_int_eq(shop_stored(shop, charge->reference)->refunds_pending_minor,
                     pending->amount_minor);
    problem = refund(&out, "k-1", "order-1", "4.20");
    shop_check_problem("the same", problem, 409, "D2");
    ck_assert_int_gt(problem->retry_after, 0);
    ck_assert_int_eq(replayed, 0);
    shop_check_problem("another", refund(&out, "k-1", "order-1", "4.21"), 409, "D1");
    problem = refund(&out, "k-2", "order-1", "4.21");
    shop_check_problem("another refund", problem, 409, "R4");
    ck_assert_int_gt(problem->retry_after, 0);
}

START_TEST(test_at_work)
{
    pay_refund_t *made;

    set_up();
    script.meanwhile = meanwhile;
    ck_assert_ptr_null(refund(&made, "k-1", "order-1", "4.20"));
    script.meanwhile = NULL;
    ck_assert_int_eq(script.calls, 1);
    ck_assert_ptr_null(refund(&made, "k-2", "order-1", "4.21")); /* R4 was not stored */
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(refunded_minor(), 841);
}
END_TEST

static apr_status_t find_nothing(pay_idempotency_record_t **out, pay_store_t *store,
                                 const pay_scope_t *scope, const pay_idempotency_t *use,
                                 apr_pool_t *p)
{
    (void)store, (void)scope, (void)use, (void)p;
    *out = NULL;
    return APR_NOTFOUND;
}

/* Another request with the key comes between the look and the write. */
START_TEST(test_beaten)
{
    pay_acquirer_t *acquirer = limited(&script_acquirer, 4);
    pay_refund_t *first, *again;

    set_up();
    shop->service.acquirer[PAY_TEST] = acquirer;
    ck_assert_ptr_null(refund(&first, "k-1", "order-1", "4.20"));
    store_script.idempotency_find = find_nothing;
    ck_assert_ptr_null(refund(&again, "k-1", "order-1", "4.2"));
    ck_assert_int_eq(replayed, 1);
    ck_assert_str_eq(answer(again), answer(first));
    shop_check_problem("another", refund(&again, "k-1", "order-1", "4.21"), 409, "D1");
    ck_assert_ptr_null(again);
    shop_check_problem("above", refund(&again, "k-2", "order-1", "7"), 409, "R2");
    ck_assert_int_eq(replayed, 0);
    shop_check_problem("above again", refund(&again, "k-2", "order-1", "7"), 409, "R2");
    ck_assert_int_eq(replayed, 1);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(pay_slots_count(acquirer->slots), 0);
}
END_TEST

typedef struct racer_t {
    apr_pool_t *pool;
    const pay_problem_t *problem;
    pay_refund_t *refund;
    int replayed;
} racer_t;

static void *race(void *baton)
{
    const pay_refund_request_t request = {"order-1", "1", NULL, NULL, "API"};
    racer_t *racer = baton;

    racer->problem = pay_refund_create(&racer->refund, &racer->replayed, &shop->service, &caller,
                                       &request, racer->pool);
    return NULL;
}

START_TEST(test_race)
{
    racer_t racers[THREADS];
    pthread_t threads[THREADS];
    pay_refund_t *made;
    int i, first = 0;

    set_up();
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(apr_pool_create(&racers[i].pool, unit_pool), APR_SUCCESS);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(refunded_minor(), 100);
    ck_assert_ptr_null(pay_refund_create(&made, &replayed, &shop->service, &caller,
                                         &(pay_refund_request_t){"order-1", "1", NULL, NULL, "API"},
                                         unit_pool));
    for (i = 0; i < THREADS; i++) {
        if (racers[i].problem) {
            shop_check_problem("racer", racers[i].problem, 409, "D2");
        } else {
            first += !racers[i].replayed;
            ck_assert_str_eq(answer(racers[i].refund), answer(made));
        }
    }
    ck_assert_int_eq(first, 1);
}
END_TEST

/* ---- faults */

static apr_status_t find_fails(pay_idempotency_record_t **out, pay_store_t *store,
                               const pay_scope_t *scope, const pay_idempotency_t *use,
                               apr_pool_t *p)
{
    (void)store, (void)scope, (void)use, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

static apr_status_t charge_fails(pay_charge_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 const char *reference, apr_pool_t *p)
{
    (void)store, (void)scope, (void)reference, (void)p;
    *out = NULL;
    return PAY_STORE_ECORRUPT;
}

static apr_status_t find_text(pay_idempotency_record_t **out, pay_store_t *store,
                              const pay_scope_t *scope, const pay_idempotency_t *use, apr_pool_t *p)
{
    (void)store, (void)scope, (void)use;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->same_request = 1;
    (*out)->text = "{}";
    return APR_SUCCESS;
}

START_TEST(test_faults)
{
    pay_refund_t *made;

    set_up();
    store_script.idempotency_find = find_fails;
    shop_check_problem("down", refund(&made, "k-1", "order-1", "1"), 503, "E2");
    watch();
    store_script.idempotency_find = find_text;
    shop_check_problem("no refund", refund(&made, "k-1", "order-1", "1"), 500, "E1");
    ck_assert_int_eq(logged("PAY00242: "), 1);
    ck_assert_ptr_null(made);
    store_script.idempotency_find = find_fails;
    ck_assert_ptr_null(refund(&made, NULL, "order-1", "1")); /* without a key there is no look-up */
    store_script.idempotency_find = NULL;
    ck_assert_ptr_null(refund(&made, "k-1", "order-1", "2"));
    store_script.charge_find = charge_fails;
    ck_assert_ptr_null(refund(&made, "k-1", "order-1", "2")); /* stored: no charge is needed */
    ck_assert_int_eq(replayed, 1);
    shop_check_problem("another", refund(&made, "k-1", "order-1", "3"), 409, "D1");
    shop_check_problem("form", refund(&made, "k-1", "order-1", "1e15"), 400, "T1");
    shop_check_problem("new", refund(&made, "k-2", "order-1", "3"), 500, "E1");
    ck_assert_ptr_null(made);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_replay);
    tcase_add_loop_test(tcase, test_replay_later, 0, UNIT_ROWS(later_cases));
    tcase_add_test(tcase, test_unknown_then_decided);
    tcase_add_loop_test(tcase, test_other_request, 0, UNIT_ROWS(other_cases));
    tcase_add_loop_test(tcase, test_apart, 0, UNIT_ROWS(apart_cases));
    tcase_add_test(tcase, test_without_a_key_r5);
    tcase_add_loop_test(tcase, test_refusal, 0, UNIT_ROWS(refusal_cases));
    tcase_add_test(tcase, test_not_kept);
    tcase_add_test(tcase, test_at_work);
    tcase_add_test(tcase, test_beaten);
    tcase_add_test(tcase, test_race);
    tcase_add_test(tcase, test_faults);
}

UNIT_PROGRAM(add)
