/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/events.h"

#include "service/change.h"
#include "shop.h"

static shop_t *shop;
static pay_scope_t scope;
static const pay_actor_t actor = {.who = "ada", .from = "paymentsctl"};

static void set_up(void)
{
    pay_endpoint_t endpoint = {.kind = PAY_ENDPOINT_WEBHOOK,
                               .enabled = 1,
                               .address = "https://a.example/",
                               .secret = "",
                               .old_secret = "",
                               .error = ""};
    pay_endpoint_t *stored;

    shop = shop_open(unit_dir());
    shop->service.actor = &actor;
    scope.account = shop->account->number;
    endpoint.scope = scope;
    ck_assert_int_eq(pay_store_endpoint_put(&stored, shop->store, &endpoint, NULL, unit_pool),
                     APR_SUCCESS);
}

/* The newest entry as "WHAT|SUBJECT|DETAIL"; "": none exists. */
static const char *newest(void)
{
    apr_array_header_t *list;
    const pay_audit_t *entry;

    ck_assert_int_eq(pay_store_audit_list(&list, shop->store, scope.account, 0, 1, unit_pool),
                     APR_SUCCESS);
    if (list->nelts == 0) {
        return "";
    }
    entry = APR_ARRAY_IDX(list, 0, const pay_audit_t *);
    return apr_pstrcat(unit_pool, entry->what, "|", entry->subject, "|", entry->detail, NULL);
}

static pay_event_t *sent(void)
{
    pay_event_t *event;

    ck_assert_ptr_null(
        pay_event_test(&event, &shop->service, &scope, PAY_ENDPOINT_WEBHOOK, unit_pool));
    return event;
}

typedef const pay_problem_t *change_fn(pay_event_t **out, const pay_service_t *service,
                                       const pay_event_t *event, apr_pool_t *p);

static const struct {
    const char *what;
    change_fn *change;
    int is_gone;
} change_cases[] = {
    {"event retry", pay_event_retry, 0},
    {"event drop", pay_event_drop, 1},
};

START_TEST(test_change)
{
    const pay_event_t *event = sent();
    const char *id = pay_event_id(event, unit_pool);
    const pay_problem_t *problem;
    pay_event_t *found, *out;

    ck_assert_str_eq(newest(), "webhook test|webhook|test");
    ck_assert_ptr_null(pay_event_find(&found, &shop->service, &scope, id, unit_pool));
    ck_assert_ptr_null(change_cases[_i].change(&out, &shop->service, found, unit_pool));
    ck_assert_str_eq(pay_event_id(out, unit_pool), id);
    ck_assert_str_eq(newest(),
                     apr_pstrcat(unit_pool, change_cases[_i].what, "|", id, "|test", NULL));
    problem = pay_event_find(&found, &shop->service, &scope, id, unit_pool);
    if (!change_cases[_i].is_gone) {
        ck_assert_ptr_null(problem);
        return;
    }
    shop_check_problem(change_cases[_i].what, problem, 404, "N1");
    shop_check_problem(change_cases[_i].what,
                       change_cases[_i].change(&out, &shop->service, event, unit_pool), 404, "N1");
    ck_assert_ptr_null(out);
}
END_TEST

static const struct {
    const char *name;
    const char *id;
} id_cases[] = {
    {"malformed", "evt_1"},
    {"empty", ""},
    {"there is none", "evt_010000000000000000000000000000000000000000"},
};

START_TEST(test_unknown)
{
    pay_event_t *event;

    shop_check_problem(id_cases[_i].name,
                       pay_event_find(&event, &shop->service, &scope, id_cases[_i].id, unit_pool),
                       404, "N1");
    ck_assert_ptr_null(event);
    ck_assert_str_eq(newest(), "");
}
END_TEST

START_TEST(test_nowhere)
{
    const pay_scope_t live = {scope.account, PAY_LIVE};
    pay_event_t *event;

    shop_check_problem(
        "no webhook",
        pay_event_test(&event, &shop->service, &live, PAY_ENDPOINT_WEBHOOK, unit_pool), 409, "D1");
    shop_check_problem(
        "nobody gets notices",
        pay_event_test(&event, &shop->service, &scope, PAY_ENDPOINT_NOTICE, unit_pool), 409, "D1");
    ck_assert_ptr_null(event);
    ck_assert_str_eq(newest(), "");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_change, 0, UNIT_ROWS(change_cases));
    tcase_add_loop_test(tcase, test_unknown, 0, UNIT_ROWS(id_cases));
    tcase_add_test(tcase, test_nowhere);
}

UNIT_PROGRAM(add)
