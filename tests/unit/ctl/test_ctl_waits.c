/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "shown.h"
#include "store_script.h"

/* Commands that wait for the server: their messages while nothing happens, and how they end. */

#define STEPS 5

static const char *said; /* on standard error */

static ctl_exit_t run_it(ctl_exit_t (*run)(ctl_t *), ctl_t *ctl, const char **output)
{
    const char *out, *err;
    int out_before, err_before;
    ctl_exit_t got;

    err = output_away(stderr, &err_before);
    out = output_open(&out_before);
    got = run(ctl);
    *output = shown_squeeze(output_read(out, out_before));
    said = output_back(stderr, err, err_before);
    return got;
}

static apr_status_t account_get(pay_account_t **out, pay_store_t *store, const char *name,
                                apr_pool_t *p)
{
    (void)store;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->name = name;
    (*out)->number = 7;
    (*out)->settings = pay_account_settings_builtin;
    return APR_SUCCESS;
}

/* ---- refund sync */

#define STILL                                                                                      \
    "No server seems to work on it: one with a PaymentsAcquirer for this account must run. The "   \
    "request stays, and this command keeps waiting.\n"
#define SAME                                                                                       \
    {                                                                                              \
        .asked = 0                                                                                 \
    }
#define DONE .answered = 1, .done_until = SHOWN_AT(2)

/* The store's state, so many milliseconds after the command looked last. */
typedef struct look_t {
    int ms;
    apr_status_t rv;
    pay_history_t now; /* error NULL: "" */
} look_t;

static const struct sync_row_t {
    const char *name;
    look_t looks[STEPS];
    ctl_exit_t want;
    const char *says; /* on standard error */
    const char *prints;
} sync_rows[] = {
    {"at once",
     {{0, 0, {DONE, .seen = 4, .added = 3, .changed = 2}}},
     CTL_OK,
     "",
     "4 seen, 3 new, 2 changed\n"},
    {"after a long silence, which is told once",
     {{14999, 0, SAME}, {1, 0, SAME}, {1, 0, SAME}, {0, 0, {DONE}}},
     CTL_OK,
     STILL,
     "0 seen, 0 new, 0 changed\n"},
    {"of which nothing is said before",
     {{14999, 0, SAME}, {0, 0, {DONE}}},
     CTL_OK,
     "",
     "0 seen, 0 new, 0 changed\n"},
    {"records are seen",
     {{14000, 0, {.seen = 1}}, {14000, 0, {.seen = 1}}, {0, 0, {DONE}}},
     CTL_OK,
     "",
     "0 seen, 0 new, 0 changed\n"},
    {"some are new",
     {{14000, 0, {.added = 1}}, {14000, 0, {.added = 1}}, {0, 0, {DONE}}},
     CTL_OK,
     "",
     "0 seen, 0 new, 0 changed\n"},
    {"some are changed",
     {{14000, 0, {.changed = 1}}, {14000, 0, {.changed = 1}}, {0, 0, {DONE}}},
     CTL_OK,
     "",
     "0 seen, 0 new, 0 changed\n"},
    {"some are refused",
     {{14000, 0, {.refused = 1}}, {14000, 0, {.refused = 1}}, {0, 0, {DONE}}},
     CTL_OK,
     "",
     "0 seen, 0 new, 0 changed\n"},
    {"a window is done",
     {{14000, 0, {.done_until = 1}}, {14000, 0, {.done_until = 1}}, {0, 0, {DONE}}},
     CTL_OK,
     "",
     "0 seen, 0 new, 0 changed\n"},
    {"silence, work, silence",
     {{15000, 0, SAME}, {1, 0, {.seen = 1}}, {15000, 0, {.seen = 1}}, {0, 0, {DONE}}},
     CTL_OK,
     STILL STILL,
     "0 seen, 0 new, 0 changed\n"},
    {"what keeps it is told once, in place of the silence",
     {{1, 0, {.error = "busy"}}, {20000, 0, {.error = "busy"}}, {0, 0, {DONE}}},
     CTL_OK,
     "The server says: busy\n",
     "0 seen, 0 new, 0 changed\n"},
    {"another fault",
     {{1, 0, {.error = "busy"}}, {1, 0, {.error = "down"}}, {0, 0, {DONE}}},
     CTL_OK,
     "The server says: busy\nThe server says: down\n",
     "0 seen, 0 new, 0 changed\n"},
    {"another range was asked for",
     {{0, 0, {.asked = 2}}},
     CTL_EXIT_UNKNOWN,
     "paymentsctl: it has ended, and another range was requested before its result was read\n",
     ""},
    {"it was given up",
     {{0, 0, {.answered = 1, .done_until = SHOWN_AT(1), .seen = 3, .error = "no key"}}},
     CTL_EXIT_ACCESS,
     "paymentsctl: the server gave up after 3 refunds: no key\n",
     ""},
    {"some were not kept",
     {{0, 0, {DONE, .seen = 3, .refused = 2, .error = "see the log"}}},
     CTL_EXIT_ACCESS,
     "paymentsctl: see the log\n",
     "3 seen, 0 new, 0 changed, 2 refused\n"},
    {"the store fails", {{0, PAY_STORE_ECORRUPT, SAME}}, CTL_EXIT_NOT_VALID, NULL, ""},
};

static const struct sync_row_t *sync_row;
static int look;

static apr_status_t history_ask(pay_history_t **out, pay_store_t *store, const pay_scope_t *scope,
                                apr_time_t from, apr_time_t to, apr_pool_t *p)
{
    const pay_history_t history = {
        .scope = *scope, .asked = 1, .from = SHOWN_AT(1), .to = SHOWN_AT(2), .error = ""};

    (void)store, (void)from, (void)to;
    *out = apr_pmemdup(p, &history, sizeof(history));
    return APR_SUCCESS;
}

static apr_status_t history_get(pay_history_t **out, pay_store_t *store, const pay_scope_t *scope,
                                apr_pool_t *p)
{
    const look_t *at = &sync_row->looks[look++];

    (void)store;
    unit_boot_pass(at->ms);
    *out = apr_pmemdup(p, &at->now, sizeof(at->now));
    (*out)->scope = *scope;
    (*out)->asked = at->now.asked ? at->now.asked : 1;
    (*out)->from = SHOWN_AT(1);
    (*out)->to = SHOWN_AT(2);
    (*out)->error = apr_pstrdup(p, at->now.error ? at->now.error : "");
    return at->rv;
}

START_TEST(test_sync)
{
    static const store_script_t ops = {
        .account_get = account_get, .history_ask = history_ask, .history_get = history_get};
    ctl_t ctl = {.service.store = STORE_NONE, .pool = unit_pool, .arg = {"shop", NULL}};
    const char *output;
    ctl_exit_t got;

    store_script = ops;
    sync_row = &sync_rows[_i];
    look = 0;
    ctl.option[CTL_OPTION_MODE] = "live";
    ctl.option[CTL_OPTION_FROM] = "2001-09-09";
    ctl.option[CTL_OPTION_TO] = "2001-09-10";
    unit_boot_stop(1000000);
    got = run_it(ctl_refund_sync, &ctl, &output);
    ck_assert_msg(got == sync_row->want, "%s: exit status %d", sync_row->name, (int)got);
    ck_assert_msg(strcmp(output, sync_row->prints) == 0, "%s: %s", sync_row->name, output);
    ck_assert_msg(!sync_row->says || strcmp(said, sync_row->says) == 0, "%s: %s", sync_row->name,
                  said);
}
END_TEST

/* ---- webhook test, mail test */

#define NO_NEWS                                                                                    \
    {                                                                                              \
        .failures = 0                                                                              \
    }
#define TAKEN .answered_at = SHOWN_AT(5), .status = 200
#define WAITED                                                                                     \
    "paymentsctl: the test was not sent within 20 seconds: the server is not running, or "         \
    "sends it later; 'paymentsctl event deliver --once' sends it now\n"

static const struct test_row_t {
    const char *name;
    struct {
        int ms;
        apr_status_t rv;
        pay_event_t now;
    } looks[STEPS];
    pay_endpoint_t then; /* the endpoint's state once the event is gone */
    apr_status_t then_rv;
    ctl_exit_t want;
    const char *says;   /* NULL: not compared; the following likewise */
    const char *prints; /* its end */
} test_rows[] = {
    {"delivered", {{0, APR_NOTFOUND, NO_NEWS}}, {TAKEN}, 0, CTL_OK, "", "|delivered\nanswer|200\n"},
    {"delivered after a while",
     {{19000, 0, NO_NEWS}, {0, APR_NOTFOUND, NO_NEWS}},
     {TAKEN},
     0,
     CTL_OK,
     "",
     "|delivered\nanswer|200\n"},
    {"dropped",
     {{0, APR_NOTFOUND, NO_NEWS}},
     {.answered_at = SHOWN_AT(5) - 1, .status = 200},
     0,
     CTL_EXIT_UNKNOWN,
     "paymentsctl: the test event was dropped, or another test took its place, before it was "
     "sent\n",
     "|dropped\nanswer|-\n"},
    {"not taken",
     {{0, 0, {.failures = 1, .answered_at = SHOWN_AT(6), .status = 500, .error = "busy"}}},
     NO_NEWS,
     0,
     CTL_EXIT_REFUSED,
     "paymentsctl: the test was not accepted: 500: busy\n",
     "|failed\nanswer|500: busy\n"},
    {"given up untried",
     {{0, 0, {.parked_at = SHOWN_AT(6)}}},
     NO_NEWS,
     0,
     CTL_EXIT_REFUSED,
     "paymentsctl: the test was not accepted: no try\n",
     "|failed\nanswer|-\n"},
    {"nobody sends it",
     {{19999, 0, NO_NEWS}, {1, 0, NO_NEWS}},
     NO_NEWS,
     0,
     CTL_EXIT_UNKNOWN,
     WAITED,
     "|waiting\nanswer|-\n"},
    {"the event cannot be read",
     {{0, PAY_STORE_ECORRUPT, NO_NEWS}},
     NO_NEWS,
     0,
     CTL_EXIT_NOT_VALID,
     NULL,
     ""},
    {"nor the endpoint",
     {{0, APR_NOTFOUND, NO_NEWS}},
     NO_NEWS,
     PAY_STORE_ECORRUPT,
     CTL_EXIT_NOT_VALID,
     NULL,
     ""},
};

static const struct test_row_t *test_row;
static pay_endpoint_kind_t tested;

static apr_status_t endpoint_get(pay_endpoint_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 pay_endpoint_kind_t kind, apr_pool_t *p)
{
    (void)store;
    *out = apr_pmemdup(p, &test_row->then, sizeof(test_row->then));
    (*out)->scope = *scope;
    (*out)->kind = kind;
    (*out)->enabled = 1;
    (*out)->error = "";
    return look > 0 ? test_row->then_rv : APR_SUCCESS;
}

static apr_status_t event_test(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                               pay_endpoint_kind_t kind, apr_pool_t *p)
{
    (void)store;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->scope = *scope;
    (*out)->endpoint = tested = kind;
    (*out)->kind = PAY_EVENT_TEST;
    (*out)->sequence = 1;
    (*out)->created_at = SHOWN_AT(5);
    (*out)->error = (*out)->answer = "";
    return APR_SUCCESS;
}

static apr_status_t event_get(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                              const pay_event_t *place, apr_pool_t *p)
{
    const int at = look++;

    ck_assert_int_lt(at, STEPS);
    unit_boot_pass(test_row->looks[at].ms);
    (void)event_test(out, store, scope, place->endpoint, p);
    (*out)->failures = test_row->looks[at].now.failures;
    (*out)->parked_at = test_row->looks[at].now.parked_at;
    (*out)->answered_at = test_row->looks[at].now.answered_at;
    (*out)->status = test_row->looks[at].now.status;
    if (test_row->looks[at].now.error) {
        (*out)->error = test_row->looks[at].now.error;
    }
    return test_row->looks[at].rv;
}

static apr_status_t delivery_get(pay_delivery_t **out, pay_store_t *store, apr_pool_t *p)
{
    (void)store;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->mail_relay = "smtp://mail.example:25";
    return APR_SUCCESS;
}

static const store_script_t test_ops = {.account_get = account_get,
                                        .endpoint_get = endpoint_get,
                                        .event_test = event_test,
                                        .event_get = event_get,
                                        .delivery_get = delivery_get};

START_TEST(test_tests)
{
    static const struct {
        ctl_exit_t (*run)(ctl_t *ctl);
        pay_endpoint_kind_t kind;
    } both[] = {{ctl_webhook_test, PAY_ENDPOINT_WEBHOOK}, {ctl_mail_test, PAY_ENDPOINT_NOTICE}};
    const char *output;
    ctl_exit_t got;
    int i;

    store_script = test_ops;
    test_row = &test_rows[_i];
    unit_boot_stop(1000000);
    for (i = 0; i < UNIT_ROWS(both); i++) {
        ctl_t ctl = {.service.store = STORE_NONE, .pool = unit_pool, .arg = {"shop", NULL}};

        look = 0;
        ctl.option[CTL_OPTION_MODE] = "test";
        got = run_it(both[i].run, &ctl, &output);
        ck_assert_msg(got == test_row->want, "%s: exit status %d", test_row->name, (int)got);
        ck_assert_msg(strstr(output, test_row->prints) != NULL, "%s: %s", test_row->name, output);
        ck_assert_msg(!test_row->says || strcmp(said, test_row->says) == 0, "%s: %s",
                      test_row->name, said);
        ck_assert_int_eq(tested, both[i].kind);
    }
}
END_TEST

/* ---- what cannot be tested at all */

static const struct {
    const char *name;
    ctl_exit_t (*run)(ctl_t *ctl);
    int there, enabled; /* the endpoint */
    const char *relay;  /* NULL: no server has stored how it delivers */
    const char *says;   /* a part of it */
} off_rows[] = {
    {"no webhook", ctl_webhook_test, 0, 0, NULL, "has no webhook in test mode"},
    {"one that is off", ctl_webhook_test, 1, 0, NULL, "the webhook is switched off"},
    {"no address", ctl_mail_test, 0, 0, "smtp://mail.example:25", "has no merchant's address"},
    {"one that is off", ctl_mail_test, 1, 0, "smtp://mail.example:25", "has no merchant's address"},
    {"no server", ctl_mail_test, 1, 1, NULL, "no e-mail can be sent"},
    {"no relay", ctl_mail_test, 1, 1, "", "no e-mail can be sent"},
};

static int off;

static apr_status_t endpoint_off(pay_endpoint_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 pay_endpoint_kind_t kind, apr_pool_t *p)
{
    (void)store, (void)scope;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->kind = kind;
    (*out)->enabled = off_rows[off].enabled;
    return off_rows[off].there ? APR_SUCCESS : APR_NOTFOUND;
}

static apr_status_t delivery_off(pay_delivery_t **out, pay_store_t *store, apr_pool_t *p)
{
    (void)store;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->mail_relay = off_rows[off].relay;
    return off_rows[off].relay ? APR_SUCCESS : APR_NOTFOUND;
}

START_TEST(test_what_cannot_be_tested)
{
    static const store_script_t ops = {
        .account_get = account_get, .endpoint_get = endpoint_off, .delivery_get = delivery_off};
    ctl_t ctl = {.service.store = STORE_NONE, .pool = unit_pool, .arg = {"shop", NULL}};
    const char *output;

    store_script = ops;
    off = _i;
    ctl.option[CTL_OPTION_MODE] = "test";
    ck_assert_int_eq(run_it(off_rows[_i].run, &ctl, &output), CTL_EXIT_REFUSED);
    ck_assert_msg(strstr(said, off_rows[_i].says) != NULL, "%s: %s", off_rows[_i].name, said);
    ck_assert_str_eq(output, "");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_sync, 0, UNIT_ROWS(sync_rows));
    tcase_add_loop_test(tcase, test_tests, 0, UNIT_ROWS(test_rows));
    tcase_add_loop_test(tcase, test_what_cannot_be_tested, 0, UNIT_ROWS(off_rows));
}

UNIT_PROGRAM(add)
