/* SPDX-License-Identifier: Apache-2.0 */
#include "reconcile_rows.h"

#include "service/charge/charges.h"
#include "service/refund/refunds.h"

#include <sys/wait.h>

static pay_api_key_t *key;

static void set_up_in(const char *dir, const pay_acquirer_t *test_acquirer)
{
    shop_set_up(dir);
    shop->service.acquirer[PAY_TEST] = test_acquirer;
    key = shop_key(shop, PAY_TEST);
}

static void set_up(const pay_acquirer_t *test_acquirer)
{
    set_up_in(unit_dir(), test_acquirer);
}

static const pay_problem_t *charge_create(pay_charge_t **out, int *replayed, const char *reference,
                                          const char *token)
{
    const pay_caller_t caller = pay_caller_of_key(key, NULL);

    return pay_charge_create(out, replayed, &shop->service, &caller, shop_request(reference, token),
                             "", unit_pool);
}

static pay_charge_t *charge(const char *reference, const char *token)
{
    pay_charge_t *out;
    int replayed;

    ck_assert_ptr_null(charge_create(&out, &replayed, reference, token));
    return out;
}

static pay_charge_t *find(const char *reference)
{
    pay_charge_t *out;

    ck_assert_int_eq(STORE_REAL(charge_find)(&out, shop->store, &key->scope, reference, unit_pool),
                     APR_SUCCESS);
    return out;
}

START_TEST(test_simulator_settles)
{
    pay_charge_t *replay;
    int replayed;

    set_up(&shop_simulator);
    charge("late", "tok_test_timeout");
    charge("error", "tok_test_error");
    charge("decided", "tok_test_success");
    ck_assert_int_eq(step(), 0); /* not due yet */
    shop_clock_set(NOW + SECOND);
    ck_assert_int_eq(step(), 2);
    ck_assert_int_eq(find("late")->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(find("error")->state, PAY_CHARGE_FAILED);
    ck_assert_int_eq(find("late")->due_at, 0);
    ck_assert_int_eq(step(), 0);
    ck_assert_ptr_null(charge_create(&replay, &replayed, "late", "tok_test_timeout"));
    ck_assert_int_eq(replayed, 1);
}
END_TEST

START_TEST(test_back_off)
{
    static const int waits[] = {1, 1, 2, 4, 8, 16, 32, 60, 60}; /* seconds; the first by create */
    apr_time_t due = NOW;
    int i;

    set_up(&script_acquirer);
    charge("order-1", "tok_test_success");
    for (i = 0; i < UNIT_ROWS(waits); i++) {
        due += apr_time_from_sec(waits[i]);
        ck_assert_int_eq(find("order-1")->due_at, due);
        shop_clock_set(due - 1);
        ck_assert_int_eq(step(), 0);
        ck_assert_msg(script.queries == i, "asked %d times before %d", script.queries, i);
        shop_clock_set(due);
        ck_assert_int_eq(step(), 0);
        ck_assert_msg(script.queries == i + 1, "asked %d times at %d", script.queries, i);
    }
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = ""};
    script.status = APR_TIMEUP; /* an answer that comes with an error does not count */
    shop_clock_set(due + MINUTE);
    ck_assert_int_eq(step(), 0);
    script.status = APR_SUCCESS;
    shop_clock_set(due + 2 * MINUTE);
    ck_assert_int_eq(step(), 1);
    ck_assert_int_eq(find("order-1")->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

START_TEST(test_at_most_a_batch)
{
    int i;

    set_up(&script_acquirer);
    for (i = 0; i <= PAY_RECONCILE_BATCH_MAX; i++) {
        charge(apr_psprintf(unit_pool, "order-%d", i), "tok_test_success");
    }
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_DECLINED,
                                     .code = "05",
                                     .message = "Do not honor",
                                     .authorization_code = ""};
    shop_clock_set(NOW + SECOND);
    ck_assert_int_eq(step(), PAY_RECONCILE_BATCH_MAX);
    ck_assert_int_eq(script.queries, PAY_RECONCILE_BATCH_MAX);
    ck_assert_int_eq(step(), 1);
}
END_TEST

static void let_the_lease_pass(const payments_charge_t *asked, const payments_refund_t *refund)
{
    (void)asked, (void)refund;
    shop_clock_set(shop_clock + MINUTE);
}

START_TEST(test_lease_passes)
{
    set_up(&script_acquirer);
    charge("order-1", "tok_test_success");
    charge("order-2", "tok_test_success");
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = ""};
    script.meanwhile = let_the_lease_pass;
    shop_clock_set(NOW + SECOND);
    ck_assert_int_eq(step(), 1);
    ck_assert_int_eq(script.queries, 1);
    script.meanwhile = NULL;
    ck_assert_int_eq(step(), 1);
    ck_assert_int_eq(script.queries, 2);
}
END_TEST

START_TEST(test_other_acquirers)
{
    pay_service_t other;

    set_up(&script_acquirer);
    charge("order-1", "tok_test_success");
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = ""};
    other = shop->service;
    other.acquirer[PAY_TEST] = &shop_simulator;
    other.acquirer[PAY_LIVE] = &script_acquirer; /* another mode's is not queried */
    shop_clock_set(NOW + SECOND);
    ck_assert_int_eq(step_of(&other, NULL), 0);
    ck_assert_int_eq(find("order-1")->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(find("order-1")->due_at, NOW + 2 * SECOND);
    shop_clock_set(NOW + 2 * SECOND);
    ck_assert_int_eq(step_of(NULL, NULL), 0);
    ck_assert_int_eq(script.queries, 0);
    shop_clock_set(NOW + 4 * SECOND);
    ck_assert_int_eq(step_of(&other, &shop->service), 1);
    ck_assert_int_eq(script.queries, 1);
}
END_TEST

static const struct {
    const char *name;
    pay_outcome_kind_t kind;
    pay_refund_state_t state;
    int settled;
    apr_int64_t refunded_minor;
    apr_int64_t pending_minor;
} refund_cases[] = {
    {"processed", PAY_OUTCOME_APPROVED, PAY_REFUND_PROCESSED, 1, 100, 0},
    {"failed", PAY_OUTCOME_DECLINED, PAY_REFUND_FAILED, 1, 0, 0},
    {"unknown", PAY_OUTCOME_UNKNOWN, PAY_REFUND_PENDING, 0, 0, 100},
};

START_TEST(test_refund)
{
    const pay_refund_request_t request = {"order-1", "1", NULL, NULL, "API"};
    const char *name = refund_cases[_i].name;
    pay_refund_t *refund, *found;
    pay_caller_t caller;
    int replayed;

    set_up(&script_acquirer);
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = ""};
    charge("order-1", "tok_test_success");
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    caller = pay_caller_of_key(key, NULL);
    ck_assert_ptr_null(
        pay_refund_create(&refund, &replayed, &shop->service, &caller, &request, unit_pool));
    ck_assert_int_eq(refund->state, PAY_REFUND_PENDING);
    script.outcome.kind = refund_cases[_i].kind;
    shop_clock_set(NOW + SECOND);
    ck_assert_msg(step() == refund_cases[_i].settled, "%s", name);
    ck_assert_ptr_null(
        pay_refund_get(&found, &shop->service, &key->scope, refund->refund_reference, unit_pool));
    ck_assert_msg(found->state == refund_cases[_i].state, "%s: %d", name, found->state);
    ck_assert_int_eq(find("order-1")->refunded_minor, refund_cases[_i].refunded_minor);
    ck_assert_int_eq(find("order-1")->refunds_pending_minor, refund_cases[_i].pending_minor);
}
END_TEST

static apr_status_t resolve_fails(pay_charge_t **out, int *changed, pay_store_t *store,
                                  const pay_scope_t *scope, apr_uint64_t seq,
                                  const pay_outcome_t *outcome, apr_time_t due_at, apr_pool_t *p)
{
    (void)store, (void)scope, (void)seq, (void)outcome, (void)due_at, (void)p;
    *out = NULL;
    *changed = 0;
    return PAY_STORE_EBUSY;
}

START_TEST(test_lost_answer_is_asked_again)
{
    set_up(&shop_simulator);
    charge("order-1", "tok_test_timeout");
    shop_clock_set(NOW + SECOND);
    store_script.charge_resolve = resolve_fails;
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(logged("PAY00231: "), 1);
    store_script.charge_resolve = NULL;
    ck_assert_int_eq(step(), 0); /* leased */
    shop_clock_set(NOW + SECOND + MINUTE);
    ck_assert_int_eq(step(), 1);
}
END_TEST

static void decide_meanwhile(const payments_charge_t *asked, const payments_refund_t *refund)
{
    pay_charge_t *out = find(asked->reference);
    int changed;

    (void)refund;
    ck_assert_int_eq(STORE_REAL(charge_resolve)(&out, &changed, shop->store, &out->scope, out->seq,
                                                &script.outcome, 0, unit_pool),
                     APR_SUCCESS);
}

START_TEST(test_decided_by_another)
{
    set_up(&script_acquirer);
    charge("order-1", "tok_test_success");
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = ""};
    script.meanwhile = decide_meanwhile;
    shop_clock_set(NOW + SECOND);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 1);
    ck_assert_int_eq(find("order-1")->state, PAY_CHARGE_SUCCESSFUL);
}
END_TEST

static void die(const payments_charge_t *asked, const payments_refund_t *refund)
{
    (void)asked, (void)refund;
    _exit(0);
}

/* The process ends after its charge was sent and before the outcome was stored. */
START_TEST(test_crash)
{
    const char *dir = unit_dir();
    pay_charge_t *retried;
    int replayed, status;
    pid_t child;

    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        set_up_in(dir, &script_acquirer);
        script.meanwhile = die;
        charge("order-1", "tok_test_success");
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    set_up_in(dir, &script_acquirer);
    ck_assert_ptr_null(charge_create(&retried, &replayed, "order-1", "tok_test_success"));
    ck_assert_int_eq(retried->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(script.calls, 0);
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = ""};
    shop_clock_set(retried->due_at - 1);
    ck_assert_int_eq(step(), 0);
    shop_clock_set(retried->due_at);
    ck_assert_int_eq(step(), 1);
    ck_assert_int_eq(find("order-1")->state, PAY_CHARGE_SUCCESSFUL);
}
END_TEST

static apr_status_t take_fails(apr_array_header_t **out, pay_store_t *store, apr_time_t now,
                               apr_interval_time_t lease, int limit, apr_pool_t *p)
{
    (void)store, (void)now, (void)lease, (void)limit, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

START_TEST(test_store_down)
{
    apr_array_header_t *none = apr_array_make(unit_pool, 1, sizeof(pay_service_t *));
    int settled = 7;

    set_up(&script_acquirer);
    store_script.due_take = take_fails;
    ck_assert_int_eq(pay_reconcile_step(&settled, shop->store, none, unit_pool), PAY_STORE_EDOWN);
    ck_assert_int_eq(settled, 0);
}
END_TEST

/* ---- who asks */

static const struct {
    const char *name;
    const char *account;       /* of the service; NULL: any */
    const char *first, *later; /* names of its acquirers; NULL: none */
    int asked;
} places[] = {
    {"its own", "demo", "scripted", NULL, 1},
    {"one for old charges only", "demo", "relay@new.example", "scripted", 1},
    {"another name", "demo", "relay@new.example", NULL, 0},
    {"another's name", "demo", "scripted2", "scripte", 0},
    {"none", "demo", NULL, NULL, 0},
    {"another account's", "other", "scripted", NULL, 0},
    {"no account's", NULL, "scripted", NULL, 0},
    {"an account that is not there", "renamed", "scripted", NULL, 0},
};

/* Live charges are queried only by their account's service, at the acquirer that they went to. */
START_TEST(test_place)
{
    pay_acquirer_t first = script_acquirer, later = script_acquirer;
    apr_array_header_t *acquirers;
    pay_account_t *other;
    pay_service_t other_service;

    set_up(&script_acquirer);
    ck_assert_int_eq(pay_store_account_create(&other, shop->store, "other",
                                              &pay_account_settings_builtin, unit_pool),
                     APR_SUCCESS);
    other_service = shop->service;
    other_service.account_name = "other";
    first.name = places[_i].first;
    later.name = places[_i].later;
    shop->service.account_name = places[_i].account;
    shop->service.acquirer[PAY_LIVE] = first.name ? &first : NULL;
    acquirers = apr_array_make(unit_pool, 2, sizeof(const pay_acquirer_t *));
    if (first.name) {
        APR_ARRAY_PUSH(acquirers, const pay_acquirer_t *) = &first;
    }
    if (later.name) {
        APR_ARRAY_PUSH(acquirers, const pay_acquirer_t *) = &later;
    }
    shop->service.acquirers = acquirers;
    shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    script_say('+');
    shop_clock_set(NOW + MINUTE);
    ck_assert_msg(step_of(&other_service, &shop->service) == places[_i].asked, "%s",
                  places[_i].name);
    ck_assert_int_eq(script.queries, places[_i].asked);
    ck_assert_msg(charge_of("order-1")->held
                      == (places[_i].asked ? PAY_NOT_HELD : PAY_HELD_NO_ACQUIRER),
                  "%s", places[_i].name);
}
END_TEST

static apr_status_t account_fails(pay_account_t **out, pay_store_t *store, const char *name,
                                  apr_pool_t *p)
{
    (void)store, (void)name, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

/* An acquirer that cannot be looked up is not missing. */
START_TEST(test_accounts_cannot_be_read)
{
    apr_array_header_t *services = apr_array_make(unit_pool, 1, sizeof(const pay_service_t *));
    int settled;

    set_up(&script_acquirer);
    APR_ARRAY_PUSH(services, const pay_service_t *) = &shop->service;
    shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    shop_clock_set(NOW + MINUTE);
    store_script.account_get = account_fails;
    ck_assert_int_eq(pay_reconcile_step(&settled, shop->store, services, unit_pool),
                     PAY_STORE_EDOWN);
    ck_assert_int_eq(script.queries, 0);
    ck_assert_int_eq(charge_of("order-1")->held, PAY_NOT_HELD);
}
END_TEST

/* A call that begins ends before the lease does. */
START_TEST(test_lease_is_longer_than_a_call)
{
    set_up(&script_acquirer);
    acquirer.timeout = 50 * SECOND;
    shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    shop_charge_open(shop, &live, "order-2", PAY_CHARGE_TOKENIZED);
    shop_clock_set(NOW + MINUTE);
    script.meanwhile = let_the_lease_pass; /* a minute of 100 s: the second one would take 50 s */
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 1);
    ck_assert_int_eq(charge_of("order-2")->due_at, NOW + MINUTE + 100 * SECOND);
}
END_TEST

/* ---- an acquirer that is out of order */

#define ROWS 12

static _Alignas(16) char breaker_memory[256];

static void set_up_breaker(void)
{
    int i;

    set_up(&script_acquirer);
    ck_assert_uint_le(pay_breaker_size(), sizeof(breaker_memory));
    acquirer.breaker = pay_breaker_init(breaker_memory);
    for (i = 0; i < ROWS; i++) {
        shop_charge_open(shop, &live, apr_psprintf(unit_pool, "order-%d", i), PAY_CHARGE_TOKENIZED);
    }
    shop_clock_set(NOW + MINUTE);
}

START_TEST(test_breaker)
{
    apr_int64_t retry_after_ms;
    int i, ticket;

    set_up_breaker();
    for (i = 0; i < PAY_BREAKER_FAILURES; i++) {
        ticket = pay_breaker_enter(acquirer.breaker, &retry_after_ms);
        ck_assert_int_ne(ticket, 0);
        pay_breaker_failure(acquirer.breaker, ticket);
    }
    ck_assert_int_eq(pay_breaker_state(acquirer.breaker), PAY_BREAKER_OPEN);
    script_say('U');
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 1);
    shop_clock_set(NOW + HOUR); /* a successful one makes way for the rest */
    script_say('+');
    ck_assert_int_eq(step(), ROWS);
    ck_assert_int_eq(script.queries, 1 + ROWS);
}
END_TEST

START_TEST(test_credentials)
{
    set_up_breaker();
    script_say('U');
    script.trouble = PAYMENTS_CREDENTIALS;
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 1);
    ck_assert_int_eq(pay_breaker_is_faulty(acquirer.breaker), 1);
    script.trouble = PAYMENTS_NO_TROUBLE;
    script_say('-');
    shop_clock_set(NOW + HOUR);
    ck_assert_int_eq(step(), ROWS);
    ck_assert_int_eq(pay_breaker_is_faulty(acquirer.breaker), 0);
}
END_TEST

START_TEST(test_patience)
{
    set_up_breaker();
    acquirer.breaker = NULL;
    script_say('U');
    script.trouble = PAYMENTS_BUSY;
    script.retry_after = 5 * SECOND;
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 1);
}
END_TEST

/* The others are still queried. */
START_TEST(test_breaker_of_one)
{
    set_up_breaker();
    pay_breaker_fault(acquirer.breaker);
    charge("order-99", "tok_test_success");
    shop_clock_set(shop_clock + MINUTE);
    script_say('U');
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 2);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_place, 0, UNIT_ROWS(places));
    tcase_add_test(tcase, test_accounts_cannot_be_read);
    tcase_add_test(tcase, test_lease_is_longer_than_a_call);
    tcase_add_test(tcase, test_breaker);
    tcase_add_test(tcase, test_credentials);
    tcase_add_test(tcase, test_patience);
    tcase_add_test(tcase, test_breaker_of_one);
    tcase_add_test(tcase, test_simulator_settles);
    tcase_add_test(tcase, test_back_off);
    tcase_add_test(tcase, test_at_most_a_batch);
    tcase_add_test(tcase, test_lease_passes);
    tcase_add_test(tcase, test_other_acquirers);
    tcase_add_loop_test(tcase, test_refund, 0, UNIT_ROWS(refund_cases));
    tcase_add_test(tcase, test_lost_answer_is_asked_again);
    tcase_add_test(tcase, test_decided_by_another);
    tcase_add_test(tcase, test_crash);
    tcase_add_test(tcase, test_store_down);
}

UNIT_PROGRAM(add)
