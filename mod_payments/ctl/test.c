/* SPDX-License-Identifier: Apache-2.0 */

/* webhook test, mail test: writes a test event, waits until a dispatcher sends it, and prints the
 * result. */

#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/message.h"

#include "base/text/time.h"
#include "service/outbox/events.h"

#include <apr_time.h>

#define WAIT_MS_MAX (20 * 1000)
#define WAIT_STEP apr_time_from_msec(50)

typedef enum test_end_t {
    TEST_DELIVERED,
    TEST_FAILED,
    TEST_WAITING, /* not sent yet */
    TEST_GONE     /* not sent: dropped, or replaced by another test */
} test_end_t;

static const char *const end_names[] = {"delivered", "failed", "waiting", "dropped"};

typedef struct test_t {
    const pay_event_t *event; /* its last known state */
    test_end_t end;
    apr_time_t answered_at;
    int status;
    const char *error;
} test_t;

static void id_get(ctl_value_t *value, const void *row)
{
    value->text = pay_event_id(((const test_t *)row)->event, value->pool);
}

static void result_get(ctl_value_t *value, const void *row)
{
    value->text = end_names[((const test_t *)row)->end];
}

static void answer_get(ctl_value_t *value, const void *row)
{
    const test_t *test = row;

    value->text = ctl_answer_text(test->answered_at, test->status, test->error, value->pool);
}

#define AT(member) CTL_FIELD(test_t, member)
#define SHOWN (CTL_DETAILS | CTL_JSON)

static const ctl_column_t columns[] = {
    {SHOWN, "id", "id", CTL_TEXT, .get = id_get},
    {SHOWN, "result", "result", CTL_TEXT, .get = result_get},
    {CTL_DETAILS, "answer", NULL, CTL_TEXT, .get = answer_get},
    {CTL_JSON, NULL, "answeredAt", CTL_TIME, AT(answered_at)},
    {CTL_JSON, NULL, "status", CTL_NUMBER, AT(status)},
    {CTL_JSON, NULL, "error", CTL_TEXT, AT(error)},
    {SHOWN, "its body", "answer", CTL_TEXT, CTL_BEHIND(test_t, event, pay_event_t, answer)},
    {0},
};

static const ctl_view_t test_view = {.columns = columns, .is_details = 1};

/* The event is gone: delivered if the endpoint has answered since it was created. */
static apr_status_t test_gone(test_t *test, ctl_t *ctl)
{
    pay_endpoint_t *endpoint;
    apr_status_t rv;

    rv = pay_store_endpoint_get(&endpoint, ctl->service.store, &test->event->scope,
                                test->event->endpoint, ctl->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    test->end = TEST_GONE;
    if (endpoint->answered_at >= test->event->created_at) {
        test->end = TEST_DELIVERED;
        test->answered_at = endpoint->answered_at;
        test->status = endpoint->status;
        test->error = endpoint->error;
    }
    return APR_SUCCESS;
}

/* Waits until the event has been attempted or is gone. */
static apr_status_t test_wait(test_t *test, ctl_t *ctl)
{
    const apr_int64_t until_ms = pay_time_boot_ms() + WAIT_MS_MAX;
    pay_event_t *event;
    apr_pool_t *step;
    apr_status_t rv;

    apr_pool_create(&step, ctl->pool);
    do {
        apr_pool_clear(step);
        rv =
            pay_store_event_get(&event, ctl->service.store, &test->event->scope, test->event, step);
        if (rv == APR_NOTFOUND) {
            return test_gone(test, ctl);
        }
        if (rv != APR_SUCCESS) {
            return rv;
        }
        if (event->parked_at || event->failures > 0) {
            test->event = event; /* `step` stays */
            test->end = TEST_FAILED;
            test->answered_at = event->answered_at;
            test->status = event->status;
            test->error = event->error;
            return APR_SUCCESS;
        }
        apr_sleep(WAIT_STEP);
    } while (pay_time_boot_ms() < until_ms);
    return APR_SUCCESS;
}

static ctl_exit_t test_tell(const ctl_t *ctl, const test_t *test)
{
    const char *answer;

    ctl_row_print(ctl, &test_view, test);
    switch (test->end) {
    case TEST_DELIVERED:
        return CTL_OK;
    case TEST_FAILED:
        answer = ctl_answer_text(test->answered_at, test->status, test->error, ctl->pool);
        return ctl_fail(CTL_EXIT_REFUSED, "the test was not accepted: %s",
                        answer ? answer : "no try");
    case TEST_GONE:
        return ctl_fail(CTL_EXIT_UNKNOWN, "the test event was dropped, or another test took its "
                                          "place, before it was sent");
    case TEST_WAITING:
        break;
    }
    return ctl_fail(CTL_EXIT_UNKNOWN,
                    "the test was not sent within %d seconds: the server is not running, or "
                    "sends it later; 'paymentsctl event deliver --once' sends it now",
                    WAIT_MS_MAX / 1000);
}

static ctl_exit_t test_run(ctl_t *ctl, const pay_endpoint_t *endpoint)
{
    test_t test = {.end = TEST_WAITING, .error = ""};
    const pay_problem_t *problem;
    pay_event_t *event;
    apr_status_t rv;

    problem = pay_event_test(&event, &ctl->service, &endpoint->scope, endpoint->kind, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot create the test event", ctl->pool);
    }
    test.event = event;
    rv = test_wait(&test, ctl);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read the result of the test");
    }
    return test_tell(ctl, &test);
}

ctl_exit_t ctl_webhook_test(ctl_t *ctl)
{
    pay_endpoint_t *endpoint;
    pay_account_t *account;
    ctl_exit_t failed;

    failed = ctl_webhook_find(&endpoint, &account, ctl);
    if (failed) {
        return failed;
    }
    if (!endpoint->enabled) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "the webhook is switched off; 'paymentsctl webhook set' switches it on");
    }
    return test_run(ctl, endpoint);
}

ctl_exit_t ctl_mail_test(ctl_t *ctl)
{
    pay_delivery_t *delivery;
    pay_endpoint_t *endpoint;
    pay_account_t *account;
    pay_scope_t scope;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_endpoint_get(&endpoint, ctl, &scope, PAY_ENDPOINT_NOTICE);
    if (failed) {
        return failed;
    }
    if (!endpoint || !endpoint->enabled) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "account %s has no merchant's address; 'paymentsctl mail set "
                        "--merchant-address' sets it",
                        account->name);
    }
    rv = pay_store_delivery_get(&delivery, ctl->service.store, ctl->pool);
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return ctl_fail_status(rv, "cannot read the server's delivery settings");
    }
    if (rv == APR_NOTFOUND || !*delivery->mail_relay) {
        return ctl_fail(CTL_EXIT_REFUSED, "no e-mail can be sent: the server has no "
                                          "PaymentsMailRelay, could not read its login (see its "
                                          "error log), or was not restarted since it got one");
    }
    return test_run(ctl, endpoint);
}
