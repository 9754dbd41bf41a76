/* SPDX-License-Identifier: Apache-2.0 */
#include "limited.h"
#include "shop.h"

#include "base/log.h"
#include "base/shared/meter.h"
#include "service/acquiring.h"

#include <apr_strings.h>
#include <pthread.h>
#include <unistd.h>

static pay_meter_t *meter;
static pay_acquirer_t acquirer;
static pay_charge_t charge;
static pay_service_t service; /* of both modes, without slots of its own */
static const pay_scope_t live = {1, PAY_LIVE};

static void set_up(int calls_max)
{
    meter = pay_meter_init(apr_pcalloc(unit_pool, pay_meter_size()));
    pay_meter_use(meter);
    memset(&script, 0, sizeof(script));
    script.outcome.kind = PAY_OUTCOME_APPROVED;
    acquirer = script_acquirer;
    acquirer.breaker = pay_breaker_init(apr_pcalloc(unit_pool, pay_breaker_size()));
    acquirer.slots = slots_of(calls_max);
    service = (pay_service_t){.slots = NULL};
    pay_charge_init(&charge);
    charge.reference = "order-1";
    charge.token = "card_9";
    charge.money = (pay_money_t){100, "NGN"};
}

static apr_uint64_t counted(pay_meter_counter_t counter)
{
    return pay_meter_read(meter, counter);
}

/* One charge, entered for; the problem if it was refused. */
static const pay_problem_t *call(pay_outcome_t *out, apr_status_t *status)
{
    pay_acquiring_t acquiring;
    const pay_problem_t *problem;

    problem = pay_acquiring_enter(&acquiring, &service, &live, &acquirer, unit_pool);
    if (problem) {
        return problem;
    }
    *status = pay_acquiring_charge(out, &acquiring, &charge, unit_pool);
    pay_acquiring_leave(&acquiring);
    pay_acquiring_leave(&acquiring); /* may be repeated */
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
    return NULL;
}

/* One above the limit is refused, and there is room again when one has left. */
START_TEST(test_in_flight)
{
    pay_acquiring_t places[3];
    const pay_problem_t *problem;

    set_up(2);
    ck_assert_ptr_null(pay_acquiring_enter(&places[0], &service, &live, &acquirer, unit_pool));
    ck_assert_ptr_null(pay_acquiring_enter(&places[1], &service, &live, &acquirer, unit_pool));
    problem = pay_acquiring_enter(&places[2], &service, &live, &acquirer, unit_pool);
    shop_check_problem("one above", problem, 503, "E2");
    ck_assert_int_eq(problem->retry_after, 1);
    ck_assert_uint_eq(counted(PAY_METER_REFUSED_IN_FLIGHT), 1);
    pay_acquiring_leave(&places[2]);
    pay_acquiring_leave(&places[0]);
    ck_assert_ptr_null(pay_acquiring_enter(&places[2], &service, &live, &acquirer, unit_pool));
    pay_acquiring_leave(&places[1]);
    pay_acquiring_leave(&places[2]);
    ck_assert_int_eq(pay_breaker_state(acquirer.breaker), PAY_BREAKER_CLOSED);
}
END_TEST

/* ---- slots of the server's own */

#define LONG_WAIT apr_time_from_sec(50)

/* A service with so many slots, and a line, for calls that wait so long. */
static void set_up_slots(int count, apr_interval_time_t wait)
{
    const pay_slots_limits_t limits = {count, count, 4, 1};

    set_up(8);
    service.slots = pay_slots_init(apr_palloc(unit_pool, pay_slots_size(&limits)), &limits);
    service.policy.slot_wait = wait;
}

/* Accounts of one number in two stores have a share of their own each; Test Mode takes none. */
START_TEST(test_slots)
{
    const pay_scope_t test = {1, PAY_TEST};
    pay_acquiring_t places[4];
    const pay_problem_t *problem;
    pay_service_t other;

    set_up_slots(2, 0);
    other = service;
    other.slots_base = 1000;
    ck_assert_ptr_null(pay_acquiring_enter(&places[0], &service, &live, &acquirer, unit_pool));
    problem = pay_acquiring_enter(&places[1], &service, &live, &acquirer, unit_pool);
    ck_assert_ptr_null(problem);
    ck_assert_int_eq(pay_slots_count(service.slots), 2);
    problem = pay_acquiring_enter(&places[2], &service, &live, &acquirer, unit_pool);
    shop_check_problem("no slot", problem, 503, "E2");
    ck_assert_int_eq(problem->error, PAY_ERR_BUSY);
    ck_assert_int_gt(problem->retry_after, 0);
    ck_assert_uint_eq(counted(PAY_METER_REFUSED_SLOTS), 1);
    ck_assert_uint_eq(counted(PAY_METER_REFUSED_IN_FLIGHT), 0);
    ck_assert_ptr_null(pay_acquiring_enter(&places[3], &service, &test, &acquirer, unit_pool));
    ck_assert_int_eq(pay_acquiring_enter_query(&places[2], &other, &live, &acquirer), 0);
    pay_acquiring_leave(&places[0]);
    ck_assert_ptr_null(pay_acquiring_enter(&places[0], &other, &live, &acquirer, unit_pool));
    pay_acquiring_leave(&places[0]);
    ck_assert_int_eq(pay_acquiring_enter_query(&places[0], &other, &live, &acquirer), 1);
    pay_acquiring_leave(&places[0]);
    pay_acquiring_leave(&places[1]);
    pay_acquiring_leave(&places[1]);
    ck_assert_int_eq(pay_slots_count(service.slots), 0);
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 1);
    pay_acquiring_leave(&places[3]);
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
}
END_TEST

typedef struct entrant_t {
    pay_acquiring_t place;
    const pay_problem_t *problem;
    apr_pool_t *pool; /* its thread's own */
    pthread_t thread;
} entrant_t;

static void *enter(void *arg)
{
    entrant_t *entrant = arg;

    apr_pool_create_unmanaged(&entrant->pool);
    entrant->problem =
        pay_acquiring_enter(&entrant->place, &service, &live, &acquirer, entrant->pool);
    return NULL;
}

static void start(entrant_t *entrant)
{
    ck_assert_int_eq(pthread_create(&entrant->thread, NULL, enter, entrant), 0);
    while (pay_slots_waiting(service.slots) == 0) {
        usleep(100);
    }
}

static void check_entered(entrant_t *entrant)
{
    ck_assert_int_eq(pthread_join(entrant->thread, NULL), 0);
    ck_assert_ptr_null(entrant->problem);
    pay_acquiring_leave(&entrant->place);
    apr_pool_destroy(entrant->pool);
}

START_TEST(test_waits_for_a_slot)
{
    pay_acquiring_t place;
    entrant_t entrant;

    set_up_slots(1, LONG_WAIT);
    ck_assert_ptr_null(pay_acquiring_enter(&place, &service, &live, &acquirer, unit_pool));
    start(&entrant);
    pay_acquiring_leave(&place);
    check_entered(&entrant);
    ck_assert_int_eq(pay_slots_count(service.slots) + pay_slots_waiting(service.slots), 0);
}
END_TEST

/* A call that waits for its acquirer keeps no slot from those who could use it. */
START_TEST(test_waits_for_a_place)
{
    const pay_scope_t another = {2, PAY_LIVE};
    pay_acquiring_t place, others[3];
    pay_acquirer_t of_another;
    entrant_t entrant;
    int i;

    set_up_slots(8, LONG_WAIT);
    of_another = acquirer;
    of_another.slots = slots_of(3);
    acquirer.slots = slots_of(1);
    ck_assert_ptr_null(pay_acquiring_enter(&place, &service, &live, &acquirer, unit_pool));
    start(&entrant);
    for (i = 0; i < 3; i++) {
        ck_assert_ptr_null(
            pay_acquiring_enter(&others[i], &service, &another, &of_another, unit_pool));
    }
    ck_assert_int_eq(pay_slots_count(service.slots), 4);
    ck_assert_int_eq(pay_slots_waiting(service.slots), 1);
    pay_acquiring_leave(&place);
    check_entered(&entrant);
    for (i = 0; i < 3; i++) {
        pay_acquiring_leave(&others[i]);
    }
    ck_assert_int_eq(pay_slots_count(service.slots) + pay_slots_waiting(service.slots), 0);
}
END_TEST

/* In vain: the acquirer's limit is counted. */
START_TEST(test_waits_in_vain)
{
    pay_acquiring_t place, late;

    set_up_slots(2, apr_time_from_msec(50));
    acquirer.slots = slots_of(1);
    ck_assert_ptr_null(pay_acquiring_enter(&place, &service, &live, &acquirer, unit_pool));
    shop_check_problem("in vain", pay_acquiring_enter(&late, &service, &live, &acquirer, unit_pool),
                       503, "E2");
    ck_assert_uint_eq(counted(PAY_METER_REFUSED_IN_FLIGHT), 1);
    ck_assert_uint_eq(counted(PAY_METER_REFUSED_SLOTS), 0);
    ck_assert_int_eq(pay_slots_count(service.slots), 1);
    ck_assert_int_eq(pay_slots_waiting(service.slots), 0);
    pay_acquiring_leave(&place);
}
END_TEST

/* ---- calls */

static const struct {
    const char *name;
    apr_status_t status;
    payments_verdict_t verdict; /* UNKNOWN: that of the script's outcome */
    pay_outcome_kind_t kind;
    pay_breaker_state_t want; /* after as many as open it */
    int unknown, not_sent;    /* counted each time */
} calls[] = {
    {"approved", APR_SUCCESS, PAYMENTS_UNKNOWN, PAY_OUTCOME_APPROVED, PAY_BREAKER_CLOSED, 0, 0},
    {"declined", APR_SUCCESS, PAYMENTS_UNKNOWN, PAY_OUTCOME_DECLINED, PAY_BREAKER_CLOSED, 0, 0},
    {"pending", APR_SUCCESS, PAYMENTS_PENDING, PAY_OUTCOME_UNKNOWN, PAY_BREAKER_CLOSED, 1, 0},
    {"different", APR_SUCCESS, PAYMENTS_DIFFERENT, PAY_OUTCOME_UNKNOWN, PAY_BREAKER_CLOSED, 1, 0},
    {"no sense", APR_SUCCESS, PAYMENTS_UNKNOWN, PAY_OUTCOME_UNKNOWN, PAY_BREAKER_OPEN, 1, 0},
    {"no time", APR_TIMEUP, PAYMENTS_UNKNOWN, PAY_OUTCOME_APPROVED, PAY_BREAKER_OPEN, 1, 0},
    {"not sent", PAYMENTS_NOT_SENT, PAYMENTS_UNKNOWN, PAY_OUTCOME_UNKNOWN, PAY_BREAKER_OPEN, 0, 1},
};

START_TEST(test_breaker)
{
    const char *name = calls[_i].name;
    const pay_problem_t *problem;
    pay_outcome_t out;
    apr_status_t rv;
    int n;

    set_up(2);
    script.status = calls[_i].status;
    script.verdict = calls[_i].verdict;
    script.outcome.kind = calls[_i].kind;
    for (n = 0; n < PAY_BREAKER_FAILURES; n++) {
        ck_assert_msg(pay_breaker_state(acquirer.breaker) == PAY_BREAKER_CLOSED, "%s: call %d",
                      name, n);
        ck_assert_ptr_null(call(&out, &rv));
        ck_assert_int_eq(rv, calls[_i].status);
    }
    ck_assert_msg(pay_breaker_state(acquirer.breaker) == calls[_i].want, "%s", name);
    ck_assert_uint_eq(counted(PAY_METER_ACQUIRER_UNKNOWN),
                      (apr_uint64_t)(calls[_i].unknown * PAY_BREAKER_FAILURES));
    ck_assert_uint_eq(counted(PAY_METER_ACQUIRER_NOT_SENT),
                      (apr_uint64_t)(calls[_i].not_sent * PAY_BREAKER_FAILURES));
    problem = call(&out, &rv);
    if (calls[_i].want == PAY_BREAKER_CLOSED) {
        ck_assert_msg(problem == NULL, "%s", name);
        return;
    }
    shop_check_problem(name, problem, 503, "E2");
    ck_assert_int_ge(problem->retry_after, 1);
    ck_assert_uint_eq(counted(PAY_METER_REFUSED_BREAKER), 1);
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
    ck_assert_int_eq(script.calls, PAY_BREAKER_FAILURES);
}
END_TEST

/* ---- pages of checkouts */

static const char *page_url;

static apr_status_t script_page(payments_page_t *out, void *context,
                                const payments_checkout_t *checkout, apr_interval_time_t timeout,
                                apr_pool_t *p)
{
    (void)context, (void)checkout, (void)timeout, (void)p;
    out->url = page_url;
    out->trouble = script.trouble;
    return script.status;
}

static pay_log_level_t page_level; /* of PAY00570; -1: not logged */

static void page_sink(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    (void)baton, (void)status;
    if (!strncmp(text, "PAY00570: ", 10)) {
        page_level = level;
    }
}

static const struct {
    const char *name;
    apr_status_t status;
    const char *url;
    payments_trouble_t trouble;
    pay_breaker_state_t breaker; /* after as many as open it */
    int unknown;                 /* counted each time */
    int level;                   /* of the log line; -1: no line */
} pages[] = {
    {"a page", APR_SUCCESS, "https://bank.example/1", 0, PAY_BREAKER_CLOSED, 0, -1},
    {"it opens none", APR_SUCCESS, NULL, 0, PAY_BREAKER_CLOSED, 0, PAY_LOG_INFO},
    {"no URL of a page", APR_SUCCESS, "", 0, PAY_BREAKER_OPEN, 1, PAY_LOG_WARNING},
    {"without TLS", APR_SUCCESS, "http://bank.example/1", 0, PAY_BREAKER_OPEN, 1, PAY_LOG_WARNING},
    {"busy", APR_SUCCESS, NULL, PAYMENTS_BUSY, PAY_BREAKER_OPEN, 1, PAY_LOG_WARNING},
    {"no answer", APR_TIMEUP, NULL, 0, PAY_BREAKER_OPEN, 1, PAY_LOG_WARNING},
    {"not sent", PAYMENTS_NOT_SENT, NULL, 0, PAY_BREAKER_OPEN, 0, -1},
};

/* A payer, or a public key, may request what the acquirer refuses: its charges go on. */
START_TEST(test_page)
{
    static const payments_acquirer_t connector = {SCRIPT_CONNECTOR, .checkout = script_page};
    const pay_problem_t *problem = NULL;
    pay_acquiring_t acquiring;
    const char *url;
    int n;

    set_up(2);
    acquirer.connector = &connector;
    script.status = pages[_i].status;
    script.trouble = pages[_i].trouble;
    page_url = pages[_i].url;
    page_level = (pay_log_level_t)-1;
    pay_log_set_sink(page_sink, NULL);
    for (n = 0; n < PAY_BREAKER_FAILURES && !problem; n++) {
        problem = pay_acquiring_enter(&acquiring, &service, &live, &acquirer, unit_pool);
        if (!problem) {
            (void)pay_acquiring_checkout(&url, &acquiring, &charge, "", unit_pool);
            pay_acquiring_leave(&acquiring);
        }
    }
    pay_log_set_sink(NULL, NULL);
    ck_assert_msg((int)page_level == pages[_i].level, "%s: %d", pages[_i].name, (int)page_level);
    ck_assert_msg(pay_breaker_state(acquirer.breaker) == pages[_i].breaker, "%s", pages[_i].name);
    if (pages[_i].trouble == PAYMENTS_NO_TROUBLE) {
        ck_assert_int_eq(n, PAY_BREAKER_FAILURES);
        ck_assert_uint_eq(counted(PAY_METER_ACQUIRER_UNKNOWN),
                          (apr_uint64_t)(pages[_i].unknown * PAY_BREAKER_FAILURES));
    }
}
END_TEST

/* A refused key stops all calls, until a query is answered. */
START_TEST(test_credentials)
{
    const pay_problem_t *problem;
    pay_acquirer_news_t news;
    pay_outcome_t out;
    apr_status_t rv;
    int n;

    set_up(2);
    script.trouble = PAYMENTS_CREDENTIALS;
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    ck_assert_ptr_null(call(&out, &rv));
    ck_assert_int_eq(pay_breaker_is_faulty(acquirer.breaker), 1);
    for (n = 1; n <= 3; n++) {
        problem = call(&out, &rv);
        shop_check_problem("faulty", problem, 503, "E2");
        ck_assert_int_gt(problem->retry_after, 1);
        ck_assert_uint_eq(counted(PAY_METER_REFUSED_CREDENTIALS), (apr_uint64_t)n);
    }
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(pay_acquiring_query(&out, &news, &acquirer, NULL, &charge, 0, unit_pool),
                     APR_SUCCESS);
    shop_check_problem("still refused", call(&out, &rv), 503, "E2");
    script.trouble = PAYMENTS_NO_TROUBLE;
    script.verdict = PAYMENTS_ABSENT;
    ck_assert_int_eq(pay_acquiring_query(&out, &news, &acquirer, NULL, &charge, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_breaker_is_faulty(acquirer.breaker), 0);
    script.verdict = PAYMENTS_APPROVED;
    ck_assert_ptr_null(call(&out, &rv));
    ck_assert_uint_eq(counted(PAY_METER_ACQUIRER_QUERIES), 2);
}
END_TEST

/* Asked to wait, nothing is sent for that long. */
START_TEST(test_busy)
{
    const pay_problem_t *problem;
    pay_outcome_t out;
    apr_status_t rv;

    set_up(2);
    script.trouble = PAYMENTS_BUSY;
    script.retry_after = apr_time_from_sec(7);
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    ck_assert_ptr_null(call(&out, &rv));
    problem = call(&out, &rv);
    shop_check_problem("busy", problem, 503, "E2");
    ck_assert_int_ge(problem->retry_after, 6);
    ck_assert_int_le(problem->retry_after, 7);
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

enum { LINE_OPENED, LINE_CLOSED, LINE_DIFFERENT, LINES };
static int lines[LINES];

static void count_line(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    (void)baton, (void)status;
    lines[LINE_OPENED] += level == PAY_LOG_ERR && !strncmp(text, "PAY00454: ", 10);
    lines[LINE_CLOSED] += !strncmp(text, "PAY00455: ", 10);
    lines[LINE_DIFFERENT] += level == PAY_LOG_ALERT && !strncmp(text, "PAY00453: ", 10);
}

/* Logs once that it opened and once that it closed; a different payment is logged as an alert. */
START_TEST(test_told)
{
    pay_outcome_t out;
    apr_status_t rv;
    int n;

    set_up(2);
    acquirer.account = "demo";
    pay_log_set_sink(count_line, NULL);
    script.status = APR_TIMEUP;
    for (n = 0; n < PAY_BREAKER_FAILURES; n++) {
        (void)call(&out, &rv);
    }
    ck_assert_int_eq(lines[LINE_OPENED], 1);
    script.status = APR_SUCCESS;
    pay_breaker_init(acquirer.breaker);
    for (n = 0; n < 3; n++) {
        (void)call(&out, &rv);
    }
    ck_assert_int_eq(lines[LINE_CLOSED], 0); /* it was closed all the time */
    script.verdict = PAYMENTS_DIFFERENT;
    (void)call(&out, &rv);
    pay_log_set_sink(NULL, NULL);
    ck_assert_int_eq(lines[LINE_OPENED], 1);
    ck_assert_int_eq(lines[LINE_DIFFERENT], 1);
}
END_TEST

/* A call that entered and called nothing leaves the breaker as it was. */
START_TEST(test_left_without_a_call)
{
    pay_acquiring_t acquiring;
    int n;

    set_up(2);
    for (n = 0; n < 2 * PAY_BREAKER_FAILURES; n++) {
        ck_assert_ptr_null(pay_acquiring_enter(&acquiring, &service, &live, &acquirer, unit_pool));
        pay_acquiring_leave(&acquiring);
    }
    ck_assert_int_eq(pay_breaker_state(acquirer.breaker), PAY_BREAKER_CLOSED);
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
}
END_TEST

static const struct {
    const char *name;
    pay_mode_t mode;
    const char *acquirer;
    const char *want; /* NULL: not configured */
} find_cases[] = {
    {"the simulator", PAY_TEST, "simulator", "simulator"},
    {"another mode's", PAY_LIVE, "simulator", NULL},
    {"the one for new charges", PAY_LIVE, "new", "new"},
    {"one that only old charges went through", PAY_LIVE, "old", "old"},
    {"that one is not Test Mode's", PAY_TEST, "old", NULL},
    {"one that is gone", PAY_LIVE, "gone", NULL},
};

START_TEST(test_find)
{
    static const pay_acquirer_t of_new = {.connector = &script_connector, .name = "new"};
    static const pay_acquirer_t of_old = {.connector = &script_connector, .name = "old"};
    apr_array_header_t *list = apr_array_make(unit_pool, 2, sizeof(const pay_acquirer_t *));
    const pay_service_t both = {.acquirer = {&shop_simulator, &of_new}, .acquirers = list};
    const pay_acquirer_t *found;

    APR_ARRAY_PUSH(list, const pay_acquirer_t *) = &of_new;
    APR_ARRAY_PUSH(list, const pay_acquirer_t *) = &of_old;
    found = pay_acquiring_find(&both, find_cases[_i].mode, find_cases[_i].acquirer);
    ck_assert_msg(!found == !find_cases[_i].want, "%s", find_cases[_i].name);
    if (found) {
        ck_assert_str_eq(found->name, find_cases[_i].want);
    }
}
END_TEST

static const struct {
    const char *name;
    apr_status_t status;
    payments_trouble_t trouble;
    int calls;
    apr_status_t want; /* beside the queue */
    const char *line;  /* of the last one */
} log_rows[] = {
    {"no sense", APR_EGENERAL, PAYMENTS_NO_TROUBLE, 1, APR_SUCCESS,
     "PAY00203: acquirer scripted failed on charge order-1 of account demo: its outcome is "
     "unknown"},
    {"an answer without end", APR_ENOSPC, PAYMENTS_NO_TROUBLE, 1, APR_SUCCESS, "PAY00203: "},
    {"no time", APR_TIMEUP, PAYMENTS_NO_TROUBLE, 1, APR_TIMEUP, "PAY00203: "},
    {"key refused", APR_SUCCESS, PAYMENTS_CREDENTIALS, 1, APR_SUCCESS,
     "PAY00450: acquirer scripted refuses the key of account demo: "},
    {"key refused before", APR_SUCCESS, PAYMENTS_CREDENTIALS, 2, APR_SUCCESS,
     "PAY00452: acquirer scripted of account demo is not called: its key "},
    {"failures", APR_TIMEUP, PAYMENTS_NO_TROUBLE, PAY_BREAKER_FAILURES + 1, APR_SUCCESS,
     "PAY00452: acquirer scripted of account demo is not called: it is left alone "},
    {"too many", APR_SUCCESS, PAYMENTS_NO_TROUBLE, 0, APR_SUCCESS,
     "PAY00452: acquirer scripted of account demo is not called: the maximum "},
};

static char line[400];
static apr_status_t line_status;

static void sink(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    (void)baton;
    (void)level;
    apr_cpystrn(line, text, sizeof(line));
    line_status = status;
}

/* Many accounts may call one acquirer: each line names the account of the call, and the cause. */
START_TEST(test_log)
{
    pay_acquiring_t acquiring;
    pay_outcome_t out;
    apr_status_t rv;
    int n;

    set_up(log_rows[_i].calls ? 2 : 0);
    acquirer.account = "demo";
    script.status = log_rows[_i].status;
    script.trouble = log_rows[_i].trouble;
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    pay_log_set_sink(sink, NULL);
    for (n = 0; n < log_rows[_i].calls; n++) {
        (void)call(&out, &rv);
    }
    if (!log_rows[_i].calls) {
        ck_assert_ptr_nonnull(
            pay_acquiring_enter(&acquiring, &service, &live, &acquirer, unit_pool));
    }
    pay_log_set_sink(NULL, NULL);
    ck_assert_msg(strncmp(line, log_rows[_i].line, strlen(log_rows[_i].line)) == 0, "%s: %s",
                  log_rows[_i].name, line);
    ck_assert_msg(line_status == log_rows[_i].want, "%s: %d", log_rows[_i].name, line_status);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_log, 0, UNIT_ROWS(log_rows));
    tcase_add_test(tcase, test_in_flight);
    tcase_add_test(tcase, test_slots);
    tcase_add_test(tcase, test_waits_for_a_slot);
    tcase_add_test(tcase, test_waits_for_a_place);
    tcase_add_test(tcase, test_waits_in_vain);
    tcase_add_loop_test(tcase, test_breaker, 0, UNIT_ROWS(calls));
    tcase_add_loop_test(tcase, test_page, 0, UNIT_ROWS(pages));
    tcase_add_test(tcase, test_credentials);
    tcase_add_test(tcase, test_busy);
    tcase_add_test(tcase, test_told);
    tcase_add_test(tcase, test_left_without_a_call);
    tcase_add_loop_test(tcase, test_find, 0, UNIT_ROWS(find_cases));
}

UNIT_PROGRAM(add)
