/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pay_reconcile.h"

#include "service/pay_charges.h"
#include "service/pay_refunds.h"
#include "shop.h"

#include <sys/wait.h>
#include <unistd.h>

#define SECOND apr_time_from_sec(1)
#define MINUTE apr_time_from_sec(60)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define NOW apr_time_from_sec(1800000000)

static shop_t *shop;
static pay_api_key_t *key;

static void set_up(const pay_acquirer_t *acquirer)
{
    shop_clock_set(NOW);
    shop = shop_open(unit_dir());
    shop->service.acquirer[PAY_TEST] = acquirer;
    key = shop_key(shop, PAY_TEST);
    memset(&script, 0, sizeof(script));
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

    ck_assert_int_eq(shop->real->charge_find(&out, shop->store, &key->scope, reference, unit_pool),
                     APR_SUCCESS);
    return out;
}

static int step_with(pay_service_t *first, pay_service_t *second)
{
    apr_array_header_t *services = apr_array_make(unit_pool, 2, sizeof(pay_service_t *));
    int settled;

    if (first) {
        APR_ARRAY_PUSH(services, pay_service_t *) = first;
    }
    if (second) {
        APR_ARRAY_PUSH(services, pay_service_t *) = second;
    }
    ck_assert_int_eq(pay_reconcile_step(&settled, shop->store, services, unit_pool), APR_SUCCESS);
    return settled;
}

static int step(void)
{
    return step_with(&shop->service, NULL);
}

static const struct {
    const char *name;
    apr_interval_time_t age;
    apr_uint32_t attempts;
    apr_interval_time_t wait;
} next_cases[] = {
    {"none asked", 0, 0, SECOND},
    {"first", 2 * SECOND, 1, SECOND},
    {"second", 3 * SECOND, 2, 2 * SECOND},
    {"sixth", MINUTE, 6, 32 * SECOND},
    {"seventh", 2 * MINUTE, 7, MINUTE},
    {"many", HOUR - SECOND, 0xffffffffu, MINUTE},
    {"an hour", HOUR, 60, HOUR},
    {"an hour, few asked", HOUR, 1, HOUR},
    {"weeks", 90 * DAY - SECOND, 2000, HOUR},
    {"90 days", 90 * DAY, 2200, DAY},
    {"years", 4000 * DAY, 0xffffffffu, DAY},
    {"a clock that stepped back", -DAY, 1, SECOND},
};

START_TEST(test_next)
{
    apr_time_t next = pay_reconcile_next(NOW, NOW - next_cases[_i].age, next_cases[_i].attempts);

    ck_assert_msg(next == NOW + next_cases[_i].wait, "%s: %d s", next_cases[_i].name,
                  (int)apr_time_sec(next - NOW));
}
END_TEST

START_TEST(test_simulator_settles)
{
    pay_charge_t *replay;
    int replayed;

    set_up(&pay_acquirer_simulator);
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
    script.outcome = (pay_outcome_t){PAY_OUTCOME_APPROVED, "00", "Approved", ""};
    script.status = APR_TIMEUP; /* what comes with an error is no word of the acquirer's */
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
    script.outcome = (pay_outcome_t){PAY_OUTCOME_DECLINED, "05", "Do not honor", ""};
    shop_clock_set(NOW + SECOND);
    ck_assert_int_eq(step(), PAY_RECONCILE_BATCH_MAX);
    ck_assert_int_eq(script.queries, PAY_RECONCILE_BATCH_MAX);
    ck_assert_int_eq(step(), 1);
}
END_TEST

static void let_the_lease_pass(const pay_charge_t *asked, const pay_refund_t *refund)
{
    (void)asked, (void)refund;
    shop_clock_set(shop_clock + MINUTE);
}

START_TEST(test_lease_passes)
{
    set_up(&script_acquirer);
    charge("order-1", "tok_test_success");
    charge("order-2", "tok_test_success");
    script.outcome = (pay_outcome_t){PAY_OUTCOME_APPROVED, "00", "Approved", ""};
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
    script.outcome = (pay_outcome_t){PAY_OUTCOME_APPROVED, "00", "Approved", ""};
    other = shop->service;
    other.acquirer[PAY_TEST] = &pay_acquirer_simulator;
    other.acquirer[PAY_LIVE] = &script_acquirer; /* another mode's is not asked */
    shop_clock_set(NOW + SECOND);
    ck_assert_int_eq(step_with(&other, NULL), 0);
    ck_assert_int_eq(find("order-1")->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(find("order-1")->due_at, NOW + 2 * SECOND);
    shop_clock_set(NOW + 2 * SECOND);
    ck_assert_int_eq(step_with(NULL, NULL), 0);
    ck_assert_int_eq(script.queries, 0);
    shop_clock_set(NOW + 4 * SECOND);
    ck_assert_int_eq(step_with(&other, &shop->service), 1);
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
    script.outcome = (pay_outcome_t){PAY_OUTCOME_APPROVED, "00", "Approved", ""};
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
    set_up(&pay_acquirer_simulator);
    charge("order-1", "tok_test_timeout");
    shop_clock_set(NOW + SECOND);
    shop->ops.charge_resolve = resolve_fails;
    ck_assert_int_eq(step(), 0);
    shop->ops.charge_resolve = shop->real->charge_resolve;
    ck_assert_int_eq(step(), 0); /* leased */
    shop_clock_set(NOW + SECOND + MINUTE);
    ck_assert_int_eq(step(), 1);
}
END_TEST

static void decide_meanwhile(const pay_charge_t *asked, const pay_refund_t *refund)
{
    pay_charge_t *out;
    int changed;

    (void)refund;
    ck_assert_int_eq(shop->real->charge_resolve(&out, &changed, shop->store, &asked->scope,
                                                asked->seq, &script.outcome, 0, unit_pool),
                     APR_SUCCESS);
}

START_TEST(test_decided_by_another)
{
    set_up(&script_acquirer);
    charge("order-1", "tok_test_success");
    script.outcome = (pay_outcome_t){PAY_OUTCOME_APPROVED, "00", "Approved", ""};
    script.meanwhile = decide_meanwhile;
    shop_clock_set(NOW + SECOND);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 1);
    ck_assert_int_eq(find("order-1")->state, PAY_CHARGE_SUCCESSFUL);
}
END_TEST

static void die(const pay_charge_t *asked, const pay_refund_t *refund)
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

    memset(&script, 0, sizeof(script));
    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        shop = shop_open(dir);
        shop->service.acquirer[PAY_TEST] = &script_acquirer;
        key = shop_key(shop, PAY_TEST);
        script.meanwhile = die;
        charge("order-1", "tok_test_success");
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    shop = shop_open(dir);
    shop->service.acquirer[PAY_TEST] = &script_acquirer;
    key = shop_key(shop, PAY_TEST);
    ck_assert_ptr_null(charge_create(&retried, &replayed, "order-1", "tok_test_success"));
    ck_assert_int_eq(retried->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(script.calls, 0);
    script.outcome = (pay_outcome_t){PAY_OUTCOME_APPROVED, "00", "Approved", ""};
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
    shop->ops.due_take = take_fails;
    ck_assert_int_eq(pay_reconcile_step(&settled, shop->store, none, unit_pool), PAY_STORE_EDOWN);
    ck_assert_int_eq(settled, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_next, 0, UNIT_ROWS(next_cases));
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

int main(void)
{
    return unit_run("reconcile", add);
}
