/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/endpoint.h"

#include "ctl/message.h"

#include <apr_strings.h>
#include <string.h>

ctl_exit_t ctl_endpoint_get(pay_endpoint_t **out, ctl_t *ctl, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind)
{
    apr_status_t rv;

    rv = pay_store_endpoint_get(out, ctl->store, scope, kind, ctl->pool);
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

void ctl_endpoint_details(ctl_table_t *table, const pay_endpoint_t *endpoint)
{
    apr_pool_t *p = ctl_table_pool(table);

    ctl_detail(table, "failing", pay_endpoint_is_failing(endpoint) ? "yes" : "no");
    ctl_detail_number(table, "failures in a row", endpoint->failures);
    ctl_detail_time(table, "failing since", endpoint->failing_since);
    ctl_detail_time(table, "next delivery", endpoint->due_at);
    ctl_detail_time(table, "last try", endpoint->answered_at);
    ctl_detail(table, "last answer",
               ctl_answer_text(endpoint->answered_at, endpoint->status, endpoint->error, p));
}

void ctl_endpoint_members(pay_writer_t *w, const pay_endpoint_t *endpoint)
{
    pay_writer_bool(w, "failing", pay_endpoint_is_failing(endpoint));
    pay_writer_integer(w, "failures", endpoint->failures);
    pay_writer_time(w, "failingSince", endpoint->failing_since);
    pay_writer_time(w, "dueAt", endpoint->due_at);
    pay_writer_time(w, "answeredAt", endpoint->answered_at);
    pay_writer_integer(w, "status", endpoint->status);
    pay_writer_string(w, "error", endpoint->error);
}

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
