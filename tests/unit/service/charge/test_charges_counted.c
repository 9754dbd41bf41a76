/* SPDX-License-Identifier: Apache-2.0 */

/* The counts of charges, refunds and queries in the meter. */

#include "base/shared/meter.h"
#include "service/charge/charges.h"
#include "service/reconcile/reconcile.h"
#include "service/refund/refunds.h"
#include "shop.h"

#define NOW apr_time_from_sec(1800000000)

static shop_t *shop;
static pay_api_key_t *key;
static pay_meter_t *meter;

static void set_up(const pay_acquirer_t *acquirer)
{
    shop_clock_set(NOW);
    shop = shop_open(unit_dir());
    shop->service.acquirer[PAY_TEST] = acquirer;
    key = shop_key(shop, PAY_TEST);
    memset(&script, 0, sizeof(script));
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = "A1B2C3"};
    meter = pay_meter_init(apr_pcalloc(unit_pool, pay_meter_size()));
    pay_meter_use(meter);
}

static const pay_problem_t *create(const char *reference)
{
    const pay_caller_t caller = pay_caller_of_key(key, NULL);
    pay_charge_t *charge;
    int replayed;

    return pay_charge_create(&charge, &replayed, &shop->service, &caller,
                             shop_request(reference, "tok_test_success"), "", unit_pool);
}

static void check(const char *name, int successful, int failed, int pending)
{
    int got[3] = {(int)pay_meter_read(meter, PAY_METER_CHARGE_SUCCESSFUL),
                  (int)pay_meter_read(meter, PAY_METER_CHARGE_FAILED),
                  (int)pay_meter_read(meter, PAY_METER_CHARGE_PENDING)};

    ck_assert_msg(got[0] == successful && got[1] == failed && got[2] == pending,
                  "%s: %d successful, %d failed, %d pending", name, got[0], got[1], got[2]);
    ck_assert_uint_eq(pay_meter_read(meter, PAY_METER_CHARGE_SUCCESSFUL_LIVE), 0);
}

static apr_uint64_t asked(void)
{
    pay_meter_times_t times;

    pay_meter_read_times(&times, meter, PAY_METER_ACQUIRER);
    return times.count;
}

static const struct {
    const char *name;
    int is_pure;
    apr_status_t status;
    pay_outcome_kind_t kind;
    int successful, failed, pending;
} rows[] = {
    {"approved", 0, APR_SUCCESS, PAY_OUTCOME_APPROVED, 1, 0, 0},
    {"declined", 0, APR_SUCCESS, PAY_OUTCOME_DECLINED, 0, 1, 0},
    {"unknown", 0, APR_SUCCESS, PAY_OUTCOME_UNKNOWN, 0, 0, 1},
    {"it fails", 0, APR_EGENERAL, PAY_OUTCOME_APPROVED, 0, 0, 1},
    {"not sent", 0, PAYMENTS_NOT_SENT, PAY_OUTCOME_UNKNOWN, 0, 0, 0},
    {"pure, approved", 1, APR_SUCCESS, PAY_OUTCOME_APPROVED, 1, 0, 0},
    {"pure, declined", 1, APR_SUCCESS, PAY_OUTCOME_DECLINED, 0, 1, 0},
    {"pure, unknown", 1, APR_SUCCESS, PAY_OUTCOME_UNKNOWN, 0, 0, 1},
    {"pure, not sent", 1, PAYMENTS_NOT_SENT, PAY_OUTCOME_UNKNOWN, 0, 0, 0},
};

/* Once, however often it is requested; an acquirer of this process takes no time. */
START_TEST(test_counted_once)
{
    const int calls = rows[_i].status == PAYMENTS_NOT_SENT ? 3 : 1;
    int i;

    set_up(rows[_i].is_pure ? &script_pure_acquirer : &script_acquirer);
    script.status = rows[_i].status;
    script.outcome.kind = rows[_i].kind;
    for (i = 0; i < 3; i++) {
        ck_assert_msg((create("order-1") != NULL) == (calls == 3), "%s", rows[_i].name);
        check(rows[_i].name, rows[_i].successful, rows[_i].failed, rows[_i].pending);
    }
    ck_assert_int_eq(script.calls, calls);
    ck_assert_uint_eq(asked(), rows[_i].is_pure ? 0 : (apr_uint64_t)calls);
}
END_TEST

/* Reconciliation was faster: the outcome is counted by it, not by the charge that came late. */
static void decide_meanwhile(const payments_charge_t *charge, const payments_refund_t *refund)
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

START_TEST(test_who_decided_counts)
{
    set_up(&script_acquirer);
    script.meanwhile = decide_meanwhile;
    ck_assert_ptr_null(create("order-1"));
    check("decided by another", 0, 0, 0);
}
END_TEST

static apr_status_t resolve_fails(pay_charge_t **out, int *changed, pay_store_t *store,
                                  const pay_scope_t *scope, apr_uint64_t seq,
                                  const pay_outcome_t *outcome, apr_time_t due_at, apr_pool_t *p)
{
    (void)store, (void)scope, (void)seq, (void)outcome, (void)due_at, (void)p;
    *out = NULL;
    *changed = 0;
    return PAY_STORE_EDOWN;
}

START_TEST(test_outcome_not_stored)
{
    set_up(&script_acquirer);
    store_script.charge_resolve = resolve_fails;
    ck_assert_ptr_null(create("order-1"));
    check("answered pending", 0, 0, 1);
}
END_TEST

static int step(void)
{
    apr_array_header_t *services = apr_array_make(unit_pool, 1, sizeof(pay_service_t *));
    int settled;

    APR_ARRAY_PUSH(services, pay_service_t *) = &shop->service;
    ck_assert_int_eq(pay_reconcile_step(&settled, shop->store, services, unit_pool), APR_SUCCESS);
    return settled;
}

START_TEST(test_reconciled)
{
    set_up(&script_acquirer);
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    ck_assert_ptr_null(create("order-1"));
    check("pending", 0, 0, 1);
    shop_clock_set(NOW + apr_time_from_sec(2));
    ck_assert_int_eq(step(), 0);
    check("asked, unknown still", 0, 0, 1);
    script.outcome.kind = PAY_OUTCOME_APPROVED;
    shop_clock_set(NOW + apr_time_from_sec(200));
    ck_assert_int_eq(step(), 1);
    check("decided", 1, 0, 1);
    ck_assert_int_eq(step(), 0);
    check("nothing is due", 1, 0, 1);
    ck_assert_uint_eq(asked(), 3);
}
END_TEST

START_TEST(test_refunds_are_timed)
{
    const pay_refund_request_t request = {.reference = "order-1", .channel = "API"};
    pay_caller_t caller;
    pay_refund_t *refund;
    int replayed;

    set_up(&script_acquirer);
    caller = pay_caller_of_key(key, NULL);
    ck_assert_ptr_null(create("order-1"));
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    ck_assert_ptr_null(
        pay_refund_create(&refund, &replayed, &shop->service, &caller, &request, unit_pool));
    ck_assert_uint_eq(asked(), 2);
    shop_clock_set(NOW + apr_time_from_sec(2));
    (void)step();
    ck_assert_uint_eq(asked(), 3);
    check("a refund is no charge", 1, 0, 0);
}
END_TEST

static const struct {
    pay_mode_t mode;
    pay_charge_state_t decided;
    pay_meter_counter_t want;
} count_rows[] = {
    {PAY_TEST, PAY_CHARGE_SUCCESSFUL, PAY_METER_CHARGE_SUCCESSFUL},
    {PAY_TEST, PAY_CHARGE_FAILED, PAY_METER_CHARGE_FAILED},
    {PAY_TEST, PAY_CHARGE_PENDING, PAY_METER_CHARGE_PENDING},
    {PAY_LIVE, PAY_CHARGE_SUCCESSFUL, PAY_METER_CHARGE_SUCCESSFUL_LIVE},
    {PAY_LIVE, PAY_CHARGE_FAILED, PAY_METER_CHARGE_FAILED_LIVE},
    {PAY_LIVE, PAY_CHARGE_PENDING, PAY_METER_CHARGE_PENDING_LIVE},
};

START_TEST(test_modes)
{
    const pay_charge_t charge = {.scope = {1, count_rows[_i].mode},
                                 .state = PAY_CHARGE_REVERSED, /* by refunds since */
                                 .decided_state = count_rows[_i].decided};
    int i;

    meter = pay_meter_init(apr_pcalloc(unit_pool, pay_meter_size()));
    pay_meter_use(meter);
    pay_service_count(&charge);
    for (i = 0; i < PAY_METER_COUNTER_COUNT; i++) {
        ck_assert_uint_eq(pay_meter_read(meter, (pay_meter_counter_t)i),
                          (pay_meter_counter_t)i == count_rows[_i].want);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_counted_once, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_who_decided_counts);
    tcase_add_test(tcase, test_outcome_not_stored);
    tcase_add_test(tcase, test_reconciled);
    tcase_add_test(tcase, test_refunds_are_timed);
    tcase_add_loop_test(tcase, test_modes, 0, UNIT_ROWS(count_rows));
}

UNIT_PROGRAM(add)
