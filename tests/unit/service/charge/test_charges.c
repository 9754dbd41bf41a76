/* SPDX-License-Identifier: Apache-2.0 */
#include "shop_scripted.h"

#include <pthread.h>

#define THREADS 8

/* ---- outcomes and replays, as the simulator decides */

static const struct {
    const char *name;
    const char *token;
    pay_charge_state_t state;
    const char *code;
    int replayed;
} outcome_cases[] = {
    {"approved", "tok_test_success", PAY_CHARGE_SUCCESSFUL, "00", 1},
    {"declined", "tok_test_declined", PAY_CHARGE_FAILED, "05", 1},
    {"expired", "tok_test_expired_card", PAY_CHARGE_FAILED, "54", 1},
    {"no answer", "tok_test_timeout", PAY_CHARGE_PENDING, "", 0},
    {"an error", "tok_test_error", PAY_CHARGE_PENDING, "", 0},
};

START_TEST(test_outcome)
{
    const char *name = outcome_cases[_i].name;
    const pay_charge_request_t *request = shop_request("order-1", outcome_cases[_i].token);
    pay_charge_t *first, *again;
    int replayed;

    shop = shop_open(unit_dir());
    key = shop_key(shop, PAY_TEST);
    ck_assert_ptr_null(create(&first, &replayed, request));
    ck_assert_msg(first->state == outcome_cases[_i].state, "%s: state %d", name, first->state);
    ck_assert_str_eq(first->code, outcome_cases[_i].code);
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(first->money.amount_minor, 1050);
    ck_assert_str_eq(first->acquirer, "simulator");
    ck_assert_str_eq(first->key_id, key->id);
    ck_assert_str_eq(first->request_ip, "192.0.2.1");
    ck_assert_str_ne(first->card.last4, "");

    ck_assert_ptr_null(create(&again, &replayed, request));
    ck_assert_msg(replayed == outcome_cases[_i].replayed, "%s: replayed %d", name, replayed);
    ck_assert_uint_eq(again->seq, first->seq);
    ck_assert_int_eq(again->state, first->state);
    ck_assert_int_eq(again->decided_at, first->decided_at);
}
END_TEST

/* From the acquirer and from one that is called before the charge is written. */
START_TEST(test_unknown_is_due_in_a_second)
{
    pay_charge_t *charge;
    int replayed;

    shop_clock_set(apr_time_from_sec(1800000000));
    set_up_scripted();
    shop->service.acquirer[PAY_TEST] = _i ? &script_pure_acquirer : &script_acquirer;
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "tok_test_success")));
    ck_assert_int_eq(charge->due_at, shop_clock + apr_time_from_sec(1));
    ck_assert_int_eq(charge->worker.pid, 0);
}
END_TEST

static const struct {
    const char *name;
    const char *token;
    const char *amount;
    const char *email;
    const char *currency;
    int same;
} reuse_cases[] = {
    {"the same", "tok_test_success", "10.5", "PAYER@shop.example", "ngn", 1},
    {"another token", "tok_test_declined", "10.50", "payer@shop.example", "NGN", 0},
    {"another amount", "tok_test_success", "10.51", "payer@shop.example", "NGN", 0},
    {"another payer", "tok_test_success", "10.50", "other@shop.example", "NGN", 0},
    {"another currency", "tok_test_success", "10.50", "payer@shop.example", "USD", 0},
};

START_TEST(test_reuse)
{
    const char *name = reuse_cases[_i].name, *reason;
    pay_charge_request_t *second;
    const pay_problem_t *problem;
    const pay_json_t *json;
    pay_charge_t *charge;
    char *text;
    int replayed;

    set_up_scripted();
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "tok_test_success")));
    text =
        apr_psprintf(unit_pool,
                     "{\"reference\":\"order-1\",\"token\":\"%s\",\"amount\":%s,\"email\":\"%s\","
                     "\"currency\":\"%s\",\"firstName\":\"Ada\"}",
                     reuse_cases[_i].token, reuse_cases[_i].amount, reuse_cases[_i].email,
                     reuse_cases[_i].currency);
    ck_assert_int_eq(pay_json_parse(&json, &reason, text, strlen(text), unit_pool), APR_SUCCESS);
    ck_assert_ptr_null(pay_charge_request_from_json(&second, json, "NGN", unit_pool));
    problem = create(&charge, &replayed, second);
    if (reuse_cases[_i].same) {
        ck_assert_msg(!problem && replayed, "%s: no replay", name);
    } else {
        shop_check_problem(name, problem, 409, "D1");
        ck_assert_ptr_null(charge);
        ck_assert_int_eq(replayed, 0);
    }
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

/* ---- retries after the account's default currency was changed */

static pay_charge_request_t *read_request(const char *amount, const char *more,
                                          const char *default_currency)
{
    pay_charge_request_t *request;
    const pay_json_t *json;
    const char *reason;
    char *text = apr_psprintf(unit_pool,
                              "{\"reference\":\"order-1\",\"token\":\"tok_test_success\","
                              "\"email\":\"payer@shop.example\",\"amount\":%s%s}",
                              amount, more);

    ck_assert_int_eq(pay_json_parse(&json, &reason, text, strlen(text), unit_pool), APR_SUCCESS);
    ck_assert_ptr_null(pay_charge_request_from_json(&request, json, default_currency, unit_pool));
    return request;
}

static const struct {
    const char *name;
    const char *first;
    const char *first_default;
    const char *second;
    const char *second_default;
    const char *more; /* of the second */
    int same;
} default_cases[] = {
    {"the same", "1000", "NGN", "1000", "JPY", "", 1},
    {"to one with more decimals", "1000", "JPY", "1000", "NGN", "", 1},
    {"decimals that the new default has not", "10.50", "NGN", "10.5", "JPY", "", 1},
    {"another amount", "1000", "NGN", "1001", "JPY", "", 0},
    {"another amount in decimals", "10.50", "NGN", "10.51", "JPY", "", 0},
    {"more decimals than the first could have", "1000", "JPY", "1000.50", "NGN", "", 0},
    {"the new default named", "1000", "NGN", "1000", "JPY", ",\"currency\":\"JPY\"", 0},
};

START_TEST(test_default_currency_changes)
{
    const char *name = default_cases[_i].name;
    pay_charge_t *first, *again;
    const pay_problem_t *problem;
    int replayed;

    set_up_scripted();
    ck_assert_ptr_null(
        create(&first, &replayed,
               read_request(default_cases[_i].first, "", default_cases[_i].first_default)));
    problem = create(&again, &replayed,
                     read_request(default_cases[_i].second, default_cases[_i].more,
                                  default_cases[_i].second_default));
    if (default_cases[_i].same) {
        ck_assert_msg(!problem && replayed, "%s: no replay", name);
        ck_assert_uint_eq(again->seq, first->seq);
        ck_assert_str_eq(again->money.currency, default_cases[_i].first_default);
        ck_assert_int_eq(again->money.amount_minor, first->money.amount_minor);
    } else {
        shop_check_problem(name, problem, 409, "D1");
    }
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

START_TEST(test_decimals_of_the_default_are_judged)
{
    const pay_problem_t *problem;
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    problem = create(&charge, &replayed, read_request("10.5", "", "JPY"));
    shop_check_problem("new reference", problem, 400, "T1");
    ck_assert_str_eq(shop_fields(problem), "/amount");
    check_unknown("new reference", "order-1");
    ck_assert_int_eq(script.calls, 0);
}
END_TEST

/* ---- the same request while the first is at work */

static void retry_meanwhile(const payments_charge_t *charge, const payments_refund_t *refund)
{
    const pay_problem_t *problem;
    pay_charge_t *out;
    int replayed;

    ck_assert_ptr_null(refund);
    problem = create(&out, &replayed, shop_request(charge->reference, charge->token));
    shop_check_problem("in flight", problem, 409, "D2");
    ck_assert_int_eq(problem->retry_after, 1);
    ck_assert_ptr_null(out);
}

START_TEST(test_in_flight)
{
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    script.meanwhile = retry_meanwhile;
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "tok_test_success")));
    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

/* Its time is over, whatever its worker does: the outcome is unknown. */
static apr_status_t open_stale(pay_charge_t **out, pay_claim_t *claim, pay_store_t *store,
                               const pay_charge_t *proposal, const pay_outcome_t *outcome,
                               const pay_idempotency_t *use, apr_pool_t *p)
{
    pay_charge_t stale = *proposal;

    stale.wait_until_ms = pay_time_boot_ms() - 1;
    return STORE_REAL(charge_open)(out, claim, store, &stale, outcome, use, p);
}

static apr_status_t resolve_fails(pay_charge_t **out, int *changed, pay_store_t *store,
                                  const pay_scope_t *scope, apr_uint64_t seq,
                                  const pay_outcome_t *outcome, apr_time_t due_at, apr_pool_t *p)
{
    (void)store, (void)scope, (void)seq, (void)outcome, (void)due_at, (void)p;
    *out = NULL;
    *changed = 0;
    return PAY_STORE_EBUSY;
}

START_TEST(test_unresolved_is_pending)
{
    const pay_charge_request_t *request = shop_request("order-1", "tok_test_success");
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    store_script.charge_resolve = resolve_fails;
    ck_assert_ptr_null(create(&charge, &replayed, request));
    ck_assert_int_eq(charge->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(replayed, 0);
    shop_check_problem("its worker lives", create(&charge, &replayed, request), 409, "D2");

    store_script.charge_open = open_stale;
    request = shop_request("order-2", "tok_test_success");
    ck_assert_ptr_null(create(&charge, &replayed, request));
    ck_assert_ptr_null(create(&charge, &replayed, request));
    ck_assert_int_eq(charge->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(script.calls, 2);
}
END_TEST

static void decline_meanwhile(const payments_charge_t *charge, const payments_refund_t *refund)
{
    const pay_outcome_t declined = {.kind = PAY_OUTCOME_DECLINED,
                                    .code = "05",
                                    .message = "Do not honor",
                                    .authorization_code = ""};
    pay_charge_t *out, *row = shop_stored(shop, charge->reference);
    int changed;

    (void)refund;
    ck_assert_int_eq(STORE_REAL(charge_resolve)(&out, &changed, shop->store, &row->scope, row->seq,
                                                &declined, 0, unit_pool),
                     APR_SUCCESS);
}

START_TEST(test_first_outcome_stands)
{
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    script.meanwhile = decline_meanwhile;
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "tok_test_success")));
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_str_eq(charge->code, "05");
}
END_TEST

static const struct {
    const char *name;
    apr_status_t status;
    pay_outcome_kind_t kind;
    pay_charge_state_t want;
} pure_cases[] = {
    {"approved", APR_SUCCESS, PAY_OUTCOME_APPROVED, PAY_CHARGE_SUCCESSFUL},
    {"declined", APR_SUCCESS, PAY_OUTCOME_DECLINED, PAY_CHARGE_FAILED},
    {"unknown", APR_SUCCESS, PAY_OUTCOME_UNKNOWN, PAY_CHARGE_PENDING},
    {"it fails", APR_EGENERAL, PAY_OUTCOME_APPROVED, PAY_CHARGE_PENDING},
};

static void nothing_is_stored(const payments_charge_t *charge, const payments_refund_t *refund)
{
    (void)refund;
    check_unknown("it is asked first", charge->reference);
}

/* An acquirer that leaves no trace is called first; then charge and outcome are one transaction. */
START_TEST(test_one_transaction)
{
    const char *name = pure_cases[_i].name;
    pay_charge_t *charge, *stored;
    int replayed;

    set_up_scripted();
    shop->service.acquirer[PAY_TEST] = &script_pure_acquirer;
    script.status = pure_cases[_i].status;
    script.outcome.kind = pure_cases[_i].kind;
    script.meanwhile = nothing_is_stored;
    store_script.charge_resolve = resolve_fails;
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "tok_test_success")));
    ck_assert_msg(charge->state == pure_cases[_i].want, "%s: state %d", name, charge->state);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(
        STORE_REAL(charge_find)(&stored, shop->store, &key->scope, "order-1", unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(stored->state, pure_cases[_i].want);
    ck_assert_int_eq(stored->decided_state, pure_cases[_i].want);
    ck_assert_int_eq(stored->worker.pid, 0);
    ck_assert_int_eq(stored->due_at != 0, stored->state == PAY_CHARGE_PENDING);
    ck_assert_str_eq(stored->code, stored->state == PAY_CHARGE_PENDING ? "" : "00");
}
END_TEST

START_TEST(test_pure_one_that_was_not_sent)
{
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    shop->service.acquirer[PAY_TEST] = &script_pure_acquirer;
    script.status = PAYMENTS_NOT_SENT;
    shop_check_problem("not sent",
                       create(&charge, &replayed, shop_request("order-1", "tok_test_success")), 503,
                       "E2");
    check_unknown("nothing is written", "order-1");
    script.status = APR_SUCCESS;
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "tok_test_success")));
    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
}
END_TEST

START_TEST(test_pure_one_is_replayed)
{
    const pay_charge_request_t *request = shop_request("order-1", "tok_test_success");
    pay_charge_t *first, *again;
    int replayed;

    set_up_scripted();
    shop->service.acquirer[PAY_TEST] = &script_pure_acquirer;
    ck_assert_ptr_null(create(&first, &replayed, request));
    script.outcome.kind = PAY_OUTCOME_DECLINED;
    ck_assert_ptr_null(create(&again, &replayed, request));
    ck_assert_int_eq(replayed, 1);
    ck_assert_int_eq(again->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_str_eq(again->authorization_code, first->authorization_code);
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

typedef struct racer_t {
    pthread_barrier_t *start;
    pay_charge_request_t *request;
    const pay_problem_t *problem;
    pay_charge_t *charge;
    int replayed;
} racer_t;

static void *race(void *data)
{
    racer_t *racer = data;
    const pay_caller_t caller = pay_caller_of_key(key, NULL);
    apr_pool_t *p;

    apr_pool_create(&p, NULL);
    pthread_barrier_wait(racer->start);
    racer->problem = pay_charge_create(&racer->charge, &racer->replayed, &shop->service, &caller,
                                       racer->request, "192.0.2.1", p);
    return NULL;
}

START_TEST(test_same_instant_charges_once)
{
    racer_t racers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    int i;

    set_up_scripted();
    pthread_barrier_init(&start, NULL, THREADS);
    for (i = 0; i < THREADS; i++) {
        racers[i] = (racer_t){&start, shop_request("order-1", "tok_test_success"), NULL, NULL, 0};
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (racers[i].problem) {
            shop_check_problem("the others", racers[i].problem, 409, "D2");
        } else {
            ck_assert_uint_eq(racers[i].charge->seq, 1);
        }
    }
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

/* ---- what is judged when */

static void store_token(const char *text, const char *email, int revoked)
{
    pay_token_t token = {{shop->account->number, PAY_TEST},
                         text,
                         {"555555", "4444", "Mastercard", "NG", "debit"},
                         email,
                         0,
                         0};
    pay_token_t *out;

    ck_assert_int_eq(pay_store_token_create(&out, shop->store, &token, unit_pool), APR_SUCCESS);
    if (revoked) {
        ck_assert_int_eq(pay_store_token_revoke(&out, shop->store, &token.scope, text, unit_pool),
                         APR_SUCCESS);
    }
}

START_TEST(test_known_reference_comes_first)
{
    apr_array_header_t *none = apr_array_make(unit_pool, 1, sizeof(const char *));
    pay_charge_request_t *request = shop_request("order-1", "tok_abc");
    pay_token_t *token;
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    store_token("tok_abc", "payer@shop.example", 0);
    ck_assert_ptr_null(create(&charge, &replayed, request));
    ck_assert_int_eq(pay_store_token_revoke(&token, shop->store, &key->scope, "tok_abc", unit_pool),
                     APR_SUCCESS);
    shop->service.policy.currencies = none;
    shop->service.acquirer[PAY_TEST] = NULL;
    ck_assert_ptr_null(create(&charge, &replayed, request));
    ck_assert_int_eq(replayed, 1);
}
END_TEST

/* Whether it is new or known, charged or refused: reference and token are looked up together. */
static const struct {
    const char *name;
    const char *token;
    int is_refused;
} read_cases[] = {
    {"a test token", "tok_test_success", 0},
    {"a token of the store", "tok_abc", 0},
    {"an unknown token", "tok_none", 1},
};

START_TEST(test_one_read_transaction)
{
    const char *name = read_cases[_i].name;
    const pay_charge_request_t *request = shop_request("order-1", read_cases[_i].token);
    pay_charge_t *charge;
    int replayed, turn;

    set_up_scripted();
    shop->service.acquirer[PAY_TEST] = &script_pure_acquirer;
    store_token("tok_abc", "payer@shop.example", 0);
    for (turn = 0; turn < 2; turn++) {
        store_reads = 0;
        ck_assert_msg(!create(&charge, &replayed, request) == !read_cases[_i].is_refused, "%s",
                      name);
        ck_assert_msg(store_reads == 1, "%s: %d read transactions", name, store_reads);
    }
}
END_TEST

/* A decline counts for the limit of failures, whether the acquirer was called before the charge was
 * written or after it; an approval does not. */
static const struct {
    const char *name;
    const pay_acquirer_t *acquirer;
    pay_outcome_kind_t outcome;
    int is_refused;
} limit_cases[] = {
    {"a decline before", &script_pure_acquirer, PAY_OUTCOME_DECLINED, 1},
    {"an approval before", &script_pure_acquirer, PAY_OUTCOME_APPROVED, 0},
    {"a decline after", &script_acquirer, PAY_OUTCOME_DECLINED, 1},
    {"an approval after", &script_acquirer, PAY_OUTCOME_APPROVED, 0},
};

START_TEST(test_failure_limit)
{
    static const unsigned char secret[PAY_FAILURE_SECRET_LEN] = "a secret";
    void *memory = apr_pcalloc(unit_pool, pay_failure_table_size());
    const pay_problem_t *problem;
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    shop->service.acquirer[PAY_TEST] = limit_cases[_i].acquirer;
    script.outcome.kind = limit_cases[_i].outcome;
    ck_assert_int_eq(pay_failure_table_init(&shop->service.failures, memory, secret), APR_SUCCESS);
    shop->service.policy.failure_limit[PAY_TEST][PAY_FAILURE_CARD] =
        (pay_failure_limit_t){1, apr_time_from_sec(600)};
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "tok_test_success")));
    problem = create(&charge, &replayed, shop_request("order-2", "tok_test_success"));
    ck_assert_msg(!problem == !limit_cases[_i].is_refused, "%s", limit_cases[_i].name);
    if (problem) {
        shop_check_problem(limit_cases[_i].name, problem, 429, "L2");
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_outcome, 0, UNIT_ROWS(outcome_cases));
    tcase_add_loop_test(tcase, test_unknown_is_due_in_a_second, 0, 2);
    tcase_add_loop_test(tcase, test_one_transaction, 0, UNIT_ROWS(pure_cases));
    tcase_add_test(tcase, test_pure_one_that_was_not_sent);
    tcase_add_test(tcase, test_pure_one_is_replayed);
    tcase_add_loop_test(tcase, test_reuse, 0, UNIT_ROWS(reuse_cases));
    tcase_add_loop_test(tcase, test_default_currency_changes, 0, UNIT_ROWS(default_cases));
    tcase_add_test(tcase, test_decimals_of_the_default_are_judged);
    tcase_add_test(tcase, test_in_flight);
    tcase_add_test(tcase, test_unresolved_is_pending);
    tcase_add_test(tcase, test_first_outcome_stands);
    tcase_add_test(tcase, test_same_instant_charges_once);
    tcase_add_test(tcase, test_known_reference_comes_first);
    tcase_add_loop_test(tcase, test_one_read_transaction, 0, UNIT_ROWS(read_cases));
    tcase_add_loop_test(tcase, test_failure_limit, 0, UNIT_ROWS(limit_cases));
}

UNIT_PROGRAM(add)
