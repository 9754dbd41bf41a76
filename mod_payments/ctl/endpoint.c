/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/endpoint.h"

#include "ctl/message.h"

#include <apr_strings.h>
#include <string.h>

ctl_exit_t ctl_endpoint_get(pay_endpoint_t **out, ctl_t *ctl, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind)
{
    apr_status_t rv;

    rv = pay_store_endpoint_get(out, ctl->service.store, scope, kind, ctl->pool);
    if (rv == APR_NOTFOUND) {
        *out = NULL;
        return CTL_OK;
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, kind == PAY_ENDPOINT_WEBHOOK ? "cannot read the webhook"
                                                                : "cannot read the mail settings");
    }
    return CTL_OK;
}

ctl_exit_t ctl_webhook_find(pay_endpoint_t **out, pay_account_t **account, ctl_t *ctl)
{
    pay_scope_t scope;
    ctl_exit_t failed;

    *out = NULL;
    failed = ctl_scope_find(&scope, account, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_endpoint_get(out, ctl, &scope, PAY_ENDPOINT_WEBHOOK);
    if (failed) {
        return failed;
    }
    if (!*out) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "account %s has no webhook in %s mode; 'paymentsctl webhook set' sets it",
                        (*account)->name, pay_mode_name(scope.mode));
    }
    return CTL_OK;
}

const char *ctl_answer_text(apr_time_t answered_at, int status, const char *error, apr_pool_t *p)
{
    if (!answered_at) {
        return NULL;
    }
    if (!status) {
        return *error ? error : "no answer";
    }
    if (strstr(error, apr_itoa(p, status))) {
        return error; /* it names the status already */
    }
    return apr_psprintf(p, "%d%s%s", status, *error ? ": " : "", error);
}

static void failing_get(ctl_value_t *value, const void *row)
{
    value->number = pay_endpoint_is_failing(row);
}

static void answer_get(ctl_value_t *value, const void *row)
{
    const pay_endpoint_t *endpoint = row;

    value->text =
        ctl_answer_text(endpoint->answered_at, endpoint->status, endpoint->error, value->pool);
}

#define AT(member) CTL_FIELD(pay_endpoint_t, member)
#define SHOWN (CTL_DETAILS | CTL_JSON)

const ctl_column_t ctl_endpoint_columns[] = {
    {SHOWN, "failing", "failing", CTL_BOOL, .get = failing_get},
    {SHOWN, "failures in a row", "failures", CTL_NUMBER, AT(failures)},
    {SHOWN, "failing since", "failingSince", CTL_TIME, AT(failing_since)},
    {SHOWN, "next delivery", "dueAt", CTL_TIME, AT(due_at)},
    {SHOWN, "last try", "answeredAt", CTL_TIME, AT(answered_at)},
    {CTL_DETAILS, "last answer", NULL, CTL_TEXT, .get = answer_get},
    {CTL_JSON, NULL, "status", CTL_NUMBER, AT(status)},
    {CTL_JSON, NULL, "error", CTL_TEXT, AT(error)},
    {0},
};

const char *ctl_endpoint_line(const pay_endpoint_t *endpoint, apr_pool_t *p)
{
    const char *answer =
        ctl_answer_text(endpoint->answered_at, endpoint->status, endpoint->error, p);

    if (!answer) {
        return "nothing sent yet";
    }
    if (pay_endpoint_is_failing(endpoint)) {
        return apr_psprintf(p, "failing, %lu in a row; last answer %s",
                            (unsigned long)endpoint->failures, answer);
    }
    return apr_psprintf(p, "last answer %s", answer);
}
