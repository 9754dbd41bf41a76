/* SPDX-License-Identifier: Apache-2.0 */
#include "breaker_fixture.h"
#include "limited.h"
#include "shop.h"

#include "base/log.h"
#include "base/shared/meter.h"
#include "service/acquiring.h"

/* Calls for visitors: a public key, a hosted page. Their actions do not affect the shop's key. */

#define CALLS_MAX 8

static pay_acquirer_t acquirer;
static pay_charge_t charge;
static pay_service_t service;
static const pay_scope_t live = {1, PAY_LIVE};

static void set_up(void)
{
    pay_meter_use(pay_meter_init(apr_pcalloc(unit_pool, pay_meter_size())));
    memset(&script, 0, sizeof(script));
    script.outcome.kind = PAY_OUTCOME_APPROVED;
    acquirer = script_acquirer;
    acquirer.breaker = make_breaker(); /* and the clock */
    acquirer.visitor_breaker = pay_breaker_init(apr_palloc(unit_pool, pay_breaker_size()));
    acquirer.slots = slots_of(CALLS_MAX);
    service = (pay_service_t){.slots = slots_of(2 * CALLS_MAX)};
    pay_charge_init(&charge);
    charge.reference = "order-1";
    charge.token = "card_9";
    charge.money = (pay_money_t){100, "NGN"};
}

typedef const pay_problem_t *enter_t(pay_acquiring_t *out, const pay_service_t *service,
                                     const pay_scope_t *scope, const pay_acquirer_t *acquirer,
                                     apr_pool_t *p);

/* One call; 0: it was refused. */
static int call(enter_t *enter_as)
{
    pay_acquiring_t acquiring;
    pay_outcome_t out;

    if (enter_as(&acquiring, &service, &live, &acquirer, unit_pool)) {
        return 0;
    }
    (void)pay_acquiring_charge(&out, &acquiring, &charge, unit_pool);
    pay_acquiring_leave(&acquiring);
    ck_assert_int_eq(pay_slots_count(acquirer.slots) + pay_slots_count(service.slots), 0);
    return 1;
}

static int of_visitor(void)
{
    return call(pay_acquiring_enter_visitor);
}

static int of_shop(void)
{
    return call(pay_acquiring_enter);
}

static int question(void)
{
    pay_acquiring_t acquiring;
    pay_outcome_t out;

    if (!pay_acquiring_enter_query(&acquiring, &service, &live, &acquirer)) {
        return 0;
    }
    (void)pay_acquiring_visitor_query(&out, &acquiring, &charge, unit_pool);
    pay_acquiring_leave(&acquiring);
    return 1;
}

static const struct {
    const char *name;
    apr_status_t status;
    payments_trouble_t trouble;
    int calls;          /* until it refuses visitors */
    apr_int64_t for_ms; /* so long */
} failures[] = {
    {"no answer", APR_TIMEUP, PAYMENTS_NO_TROUBLE, PAY_BREAKER_FAILURES, PAY_BREAKER_OPEN_MS},
    {"busy", APR_SUCCESS, PAYMENTS_BUSY, 1, 7000},
    {"its key is refused", APR_SUCCESS, PAYMENTS_CREDENTIALS, 1, PAY_BREAKER_TRIAL_MS},
};

/* Visitors wait, the shop's own calls go on; and the cause ends by itself. */
START_TEST(test_failures)
{
    const char *name = failures[_i].name;
    int n;

    set_up();
    script.status = failures[_i].status;
    script.trouble = failures[_i].trouble;
    script.retry_after = apr_time_from_sec(7);
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    for (n = 0; n < failures[_i].calls; n++) {
        ck_assert_msg(of_visitor(), "%s: call %d", name, n);
    }
    ck_assert_msg(!of_visitor() && !question(), "%s: one more", name);
    ck_assert_msg(pay_breaker_state(acquirer.breaker) == PAY_BREAKER_CLOSED, "%s", name);
    ck_assert_msg(!pay_breaker_is_faulty(acquirer.breaker), "%s", name);
    script.status = APR_SUCCESS;
    script.trouble = PAYMENTS_NO_TROUBLE;
    script.outcome.kind = PAY_OUTCOME_APPROVED;
    for (n = 0; n < 3; n++) {
        ck_assert_msg(of_shop(), "%s: the shop's call %d", name, n);
        ck_assert_msg(!of_visitor(), "%s: visitors before their time", name);
    }
    pass_ms(failures[_i].for_ms);
    ck_assert_msg(of_visitor() && of_visitor(), "%s: visitors after it", name);
}
END_TEST

/* Queries that payers cause are visitors' as well. */
START_TEST(test_question)
{
    set_up();
    script.trouble = PAYMENTS_BUSY;
    script.retry_after = apr_time_from_sec(7);
    ck_assert(question());
    ck_assert(!question() && !of_visitor());
    script.trouble = PAYMENTS_NO_TROUBLE;
    ck_assert(of_shop());
    pass_ms(7000);
    script.trouble = PAYMENTS_CREDENTIALS;
    ck_assert(question());
    ck_assert(pay_breaker_is_faulty(acquirer.visitor_breaker));
    ck_assert(!pay_breaker_is_faulty(acquirer.breaker));
}
END_TEST

/* An answered query shows that the key is valid, for both. */
START_TEST(test_key_is_known)
{
    pay_acquirer_news_t news;
    pay_outcome_t out;

    set_up();
    pay_breaker_fault(acquirer.breaker);
    pay_breaker_fault(acquirer.visitor_breaker);
    script.verdict = PAYMENTS_ABSENT;
    (void)pay_acquiring_query(&out, &news, &acquirer, NULL, &charge, 0, unit_pool);
    ck_assert(!pay_breaker_is_faulty(acquirer.breaker));
    ck_assert(!pay_breaker_is_faulty(acquirer.visitor_breaker));
}
END_TEST

/* Results of the shop's own calls also apply to visitors. If only visitors come, one of them
 * probes; if it fails, that does not count for the shop's calls. */
START_TEST(test_shops_failures)
{
    int n;

    set_up();
    script.status = APR_TIMEUP;
    for (n = 0; n < PAY_BREAKER_FAILURES; n++) {
        ck_assert(of_shop());
    }
    ck_assert(!of_shop() && !of_visitor() && !question());
    pass_ms(PAY_BREAKER_OPEN_MS);
    ck_assert(of_visitor());
    ck_assert_int_eq(pay_breaker_state(acquirer.breaker), PAY_BREAKER_OPEN);
    script.status = APR_SUCCESS;
    ck_assert(of_visitor());
    ck_assert_int_eq(pay_breaker_state(acquirer.breaker), PAY_BREAKER_CLOSED);
    ck_assert(of_shop() && of_visitor());
}
END_TEST

/* A refused key: one call a minute tries, of either kind, and nothing else needs to be pending. */
START_TEST(test_refused_key)
{
    set_up();
    script.trouble = PAYMENTS_CREDENTIALS;
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    ck_assert(of_shop());
    ck_assert(!of_shop() && !of_visitor());
    pass_ms(PAY_BREAKER_TRIAL_MS);
    ck_assert(of_shop());
    ck_assert(!of_shop());
    pass_ms(PAY_BREAKER_TRIAL_MS);
    script.trouble = PAYMENTS_NO_TROUBLE;
    script.outcome.kind = PAY_OUTCOME_APPROVED;
    ck_assert(of_visitor());
    ck_assert(of_shop() && of_visitor());
}
END_TEST

/* Half of the places at the acquirer, and of this server's slots. */
START_TEST(test_places)
{
    pay_acquiring_t place[CALLS_MAX], none;
    int n;

    set_up();
    for (n = 0; n < CALLS_MAX / 2; n++) {
        ck_assert_ptr_null(
            pay_acquiring_enter_visitor(&place[n], &service, &live, &acquirer, unit_pool));
    }
    ck_assert_ptr_nonnull(
        pay_acquiring_enter_visitor(&none, &service, &live, &acquirer, unit_pool));
    ck_assert_int_eq(pay_acquiring_enter_query(&none, &service, &live, &acquirer), 0);
    for (; n < CALLS_MAX; n++) {
        ck_assert_ptr_null(pay_acquiring_enter(&place[n], &service, &live, &acquirer, unit_pool));
    }
    while (n-- > 0) {
        pay_acquiring_leave(&place[n]);
    }
    service.slots = slots_of(2);
    ck_assert_ptr_null(
        pay_acquiring_enter_visitor(&place[0], &service, &live, &acquirer, unit_pool));
    ck_assert_int_eq(pay_acquiring_enter_query(&none, &service, &live, &acquirer), 0);
    ck_assert_ptr_null(pay_acquiring_enter(&place[1], &service, &live, &acquirer, unit_pool));
    pay_acquiring_leave(&place[0]);
    pay_acquiring_leave(&place[1]);
}
END_TEST

static int lines[3];

static void count_line(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    (void)baton, (void)level, (void)status;
    lines[0] += !strncmp(text, "PAY00740: ", 10);
    lines[1] += !strncmp(text, "PAY00741: ", 10);
    lines[2] += !strncmp(text, "PAY00742: ", 10);
}

/* The log names the account. */
START_TEST(test_told)
{
    int n;

    set_up();
    pay_log_set_sink(count_line, NULL);
    script.status = APR_TIMEUP;
    for (n = 0; n < PAY_BREAKER_FAILURES; n++) {
        (void)of_visitor();
    }
    pass_ms(PAY_BREAKER_OPEN_MS);
    script.status = APR_SUCCESS;
    (void)of_visitor();
    script.trouble = PAYMENTS_CREDENTIALS;
    (void)of_visitor();
    (void)of_visitor();
    pay_log_set_sink(NULL, NULL);
    for (n = 0; n < UNIT_ROWS(lines); n++) {
        ck_assert_msg(lines[n] == 1, "line %d: %d", n, lines[n]);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_failures, 0, UNIT_ROWS(failures));
    tcase_add_test(tcase, test_question);
    tcase_add_test(tcase, test_key_is_known);
    tcase_add_test(tcase, test_shops_failures);
    tcase_add_test(tcase, test_refused_key);
    tcase_add_test(tcase, test_places);
    tcase_add_test(tcase, test_told);
}

UNIT_PROGRAM(add)
