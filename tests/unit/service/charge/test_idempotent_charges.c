/* SPDX-License-Identifier: Apache-2.0 */
#include "limited.h"
#include "service/charge/charges.h"
#include "service/refund/refunds.h"
#include "shop.h"

#define DAY apr_time_from_sec(24 * 3600)

static shop_t *shop;
static pay_caller_t caller;
static int replayed;

static void set_up(void)
{
    shop_clock_set(apr_time_from_sec(1800000000));
    shop = shop_open(unit_dir());
    shop->service.acquirer[PAY_TEST] = &script_acquirer;
    memset(&script, 0, sizeof(script));
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = "A1B2C3"};
    caller = pay_caller_of_key(shop_key(shop, PAY_TEST), NULL);
}

static const pay_problem_t *charge(pay_charge_t **out, const char *key, const char *reference)
{
    caller.idempotency_key = key;
    return pay_charge_create(out, &replayed, &shop->service, &caller,
                             shop_request(reference, "tok_test_success"), "192.0.2.1", unit_pool);
}

static void check_key_used(const char *name, const pay_problem_t *problem)
{
    shop_check_problem(name, problem, 409, "D1");
    ck_assert_str_eq(problem->message,
                     "The Idempotency-Key was already used for a different request.");
    ck_assert_str_eq(shop_fields(problem), "");
}

static void check_unknown(const char *reference)
{
    pay_charge_t *found;

    ck_assert_int_eq(
        STORE_REAL(charge_find)(&found, shop->store, &caller.scope, reference, unit_pool),
        APR_NOTFOUND);
}

static void expire(void)
{
    int count = 100;

    while (count == 100) {
        ck_assert_int_eq(
            pay_store_idempotency_expire(&count, shop->store, pay_time_now(), 100, unit_pool),
            APR_SUCCESS);
    }
}

START_TEST(test_key_stands_for_one_reference)
{
    pay_charge_t *first, *again;

    set_up();
    ck_assert_ptr_null(charge(&first, "k-1", "order-1"));
    ck_assert_int_eq(replayed, 0);
    ck_assert_ptr_null(charge(&again, "k-1", "order-1"));
    ck_assert_int_eq(replayed, 1);
    ck_assert_uint_eq(again->seq, first->seq);
    check_key_used("another reference", charge(&again, "k-1", "order-2"));
    ck_assert_ptr_null(again);
    ck_assert_int_eq(replayed, 0);
    check_unknown("order-2");
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

/* The reference takes precedence over the key. */
START_TEST(test_reference_first)
{
    const pay_problem_t *problem;
    pay_charge_t *first, *again;

    set_up();
    ck_assert_ptr_null(charge(&first, "k-1", "order-1"));
    ck_assert_ptr_null(charge(&again, "k-2", "order-1"));
    ck_assert_int_eq(replayed, 1);
    ck_assert_ptr_null(charge(&again, NULL, "order-1"));
    ck_assert_int_eq(replayed, 1);
    ck_assert_ptr_null(charge(&again, "k-3", "order-3"));
    ck_assert_ptr_null(charge(&again, "k-3", "order-1"));
    ck_assert_uint_eq(again->seq, first->seq);
    caller.idempotency_key = "k-1";
    problem = pay_charge_create(&again, &replayed, &shop->service, &caller,
                                shop_request("order-1", "tok_test_declined"), "", unit_pool);
    shop_check_problem("another token", problem, 409, "D1");
    ck_assert_str_eq(shop_fields(problem), "/reference");
    ck_assert_int_eq(script.calls, 2);
}
END_TEST

START_TEST(test_apart)
{
    const pay_refund_request_t request = {"order-1", NULL, NULL, NULL, "API"};
    pay_charge_t *made;
    pay_refund_t *refund;

    set_up();
    ck_assert_ptr_null(charge(&made, "k-1", "order-1"));
    ck_assert_ptr_null(
        pay_refund_create(&refund, &replayed, &shop->service, &caller, &request, unit_pool));
    ck_assert_int_eq(replayed, 0);
    caller.key_kind = PAY_KEY_PUBLIC;
    ck_assert_ptr_null(charge(&made, "k-1", "order-2"));
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(script.calls, 3);
}
END_TEST

/* A charge of which nothing was sent frees its reference and its key. */
START_TEST(test_not_sent)
{
    pay_charge_t *made;

    set_up();
    script.status = PAYMENTS_NOT_SENT;
    shop_check_problem("not sent", charge(&made, "k-1", "order-1"), 503, "E2");
    script.status = APR_SUCCESS;
    ck_assert_ptr_null(charge(&made, "k-1", "order-2"));
    check_key_used("now used", charge(&made, "k-1", "order-1"));
}
END_TEST

/* A refusal before anything is written leaves the key unused. */
START_TEST(test_refused)
{
    pay_acquirer_t *acquirer = limited(&script_acquirer, 1);
    pay_charge_t *made;
    int slot;

    set_up();
    shop->service.acquirer[PAY_TEST] = acquirer;
    slot = pay_slots_take(acquirer->slots, 0);
    shop_check_problem("no place", charge(&made, "k-1", "order-1"), 503, "E2");
    pay_slots_give(acquirer->slots, slot);
    caller.idempotency_key = "k-1";
    shop_check_problem("token",
                       pay_charge_create(&made, &replayed, &shop->service, &caller,
                                         shop_request("order-1", "tok_none"), "", unit_pool),
                       400, "T1");
    ck_assert_ptr_null(charge(&made, "k-1", "order-2"));
    check_key_used("now used", charge(&made, "k-1", "order-1"));
    ck_assert_int_eq(pay_slots_count(acquirer->slots), 0);
}
END_TEST

static const struct {
    const char *name;
    pay_outcome_kind_t outcome;
    apr_time_t later;
    int used; /* the key still is */
} time_cases[] = {
    {"within its time", PAY_OUTCOME_APPROVED, DAY - apr_time_from_sec(60), 1},
    {"after its time", PAY_OUTCOME_APPROVED, DAY + apr_time_from_sec(60), 0},
    {"declined, after its time", PAY_OUTCOME_DECLINED, DAY + apr_time_from_sec(60), 0},
    {"pending for long", PAY_OUTCOME_UNKNOWN, 30 * DAY, 1},
};

START_TEST(test_time)
{
    const char *name = time_cases[_i].name;
    const pay_problem_t *problem;
    pay_charge_t *made;

    set_up();
    script.outcome.kind = time_cases[_i].outcome;
    ck_assert_ptr_null(charge(&made, "k-1", "order-1"));
    shop_clock += time_cases[_i].later;
    expire();
    problem = charge(&made, "k-1", "order-2");
    if (time_cases[_i].used) {
        check_key_used(name, problem);
    } else {
        ck_assert_msg(problem == NULL, "%s: %s", name, problem ? problem->message : "");
    }
    ck_assert_ptr_null(charge(&made, "k-9", "order-1")); /* the reference is always known */
    ck_assert_msg(replayed == (time_cases[_i].outcome != PAY_OUTCOME_UNKNOWN), "%s", name);
}
END_TEST

static void meanwhile(const payments_charge_t *pending, const payments_refund_t *refund)
{
    pay_charge_t *out;

    (void)pending, (void)refund;
    shop_check_problem("the same", charge(&out, "k-1", "order-1"), 409, "D2");
    check_key_used("another reference", charge(&out, "k-1", "order-2"));
}

START_TEST(test_at_work)
{
    pay_charge_t *made;

    set_up();
    script.meanwhile = meanwhile;
    ck_assert_ptr_null(charge(&made, "k-1", "order-1"));
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_key_stands_for_one_reference);
    tcase_add_test(tcase, test_reference_first);
    tcase_add_test(tcase, test_apart);
    tcase_add_test(tcase, test_not_sent);
    tcase_add_test(tcase, test_refused);
    tcase_add_loop_test(tcase, test_time, 0, UNIT_ROWS(time_cases));
    tcase_add_test(tcase, test_at_work);
}

UNIT_PROGRAM(add)
