/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/keyring.h"
#include "ctl/message.h"

#include "service/account/endpoints.h"

#include <string.h>

/* What is shown of a webhook. */
typedef struct webhook_t {
    const pay_endpoint_t *endpoint;
    const char *account;
    const char *secret; /* NULL: it cannot be read */
} webhook_t;

static void webhook_details(ctl_table_t *table, const void *row)
{
    const webhook_t *webhook = row;
    const pay_endpoint_t *endpoint = webhook->endpoint;

    ctl_detail(table, "account", webhook->account);
    ctl_detail(table, "mode", pay_mode_name(endpoint->scope.mode));
    ctl_detail(table, "URL", endpoint->address);
    ctl_detail(table, "switched", endpoint->enabled ? "on" : "off");
    ctl_detail_time(table, "old secret signs until", endpoint->old_secret_until);
    ctl_endpoint_details(table, endpoint);
    ctl_detail_time(table, "created", endpoint->created_at);
    ctl_detail_time(table, "updated", endpoint->updated_at);
}

static void webhook_json(pay_writer_t *w, const void *row)
{
    const webhook_t *webhook = row;
    const pay_endpoint_t *endpoint = webhook->endpoint;

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "account", webhook->account);
    pay_writer_string(w, "mode", pay_mode_name(endpoint->scope.mode));
    pay_writer_string(w, "url", endpoint->address);
    pay_writer_bool(w, "enabled", endpoint->enabled);
    pay_writer_string(w, "secret", webhook->secret);
    pay_writer_time(w, "oldSecretUntil", endpoint->old_secret_until);
    ctl_endpoint_members(w, endpoint);
    pay_writer_time(w, "createdAt", endpoint->created_at);
    pay_writer_time(w, "updatedAt", endpoint->updated_at);
    pay_writer_object_close(w);
}

static const ctl_view_t webhook_view = {
    .titles = ctl_detail_titles, .cells = webhook_details, .json = webhook_json};

static void webhook_print(ctl_t *ctl, const pay_endpoint_t *endpoint, const pay_account_t *account)
{
    webhook_t webhook = {endpoint, account->name, NULL};
    apr_status_t rv;

    if (ctl->json && ctl->keyring) {
        rv = pay_keyring_open(&webhook.secret, ctl->keyring,
                              pay_endpoint_secret_context(&endpoint->scope, ctl->pool),
                              endpoint->secret, ctl->pool);
        if (rv != APR_SUCCESS) {
            webhook.secret = NULL;
        }
    }
    ctl_row_print(ctl, &webhook_view, &webhook);
}

/* *url NULL: "off". */
static ctl_exit_t url_read(const char **url, const ctl_t *ctl, pay_mode_t mode)
{
    const char *text = ctl->arg[1];
    const pay_problem_t *problem;

    *url = NULL;
    if (strcmp(text, "off") == 0) {
        return CTL_OK;
    }
    problem = pay_webhook_url(url, text, mode, ctl->pool);
    if (problem && strlen(text) > PAY_ENDPOINT_ADDRESS_MAX) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "the URL: want at most %d bytes",
                        PAY_ENDPOINT_ADDRESS_MAX);
    }
    return problem ? ctl_fail_problem(problem, ctl->pool) : CTL_OK;
}

/* Stores the URL, NULL: switches off; makes the master key for the first secret where there is
 * none.
 */
static ctl_exit_t webhook_put(ctl_t *ctl, const pay_scope_t *scope, const char *url,
                              const pay_endpoint_t *stored, const pay_account_t *account)
{
    const pay_problem_t *problem;
    pay_endpoint_t *endpoint;
    const char *secret;
    ctl_exit_t failed;

    if (url && (!stored || !*stored->secret)) {
        failed = ctl_keyring_need(ctl, 1);
        if (failed) {
            return failed;
        }
    }
    problem = pay_webhook_set(&endpoint, &secret, &ctl->service, scope, url, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot store the webhook", ctl->pool);
    }
    webhook_print(ctl, endpoint, account);
    return CTL_OK;
}

ctl_exit_t ctl_webhook_set(ctl_t *ctl)
{
    pay_endpoint_t *stored = NULL;
    pay_account_t *account;
    pay_scope_t scope;
    const char *url = NULL;
    ctl_exit_t failed;

    failed = ctl_scope_find(&scope, &account, ctl);
    if (!failed) {
        failed = url_read(&url, ctl, scope.mode);
    }
    if (!failed) {
        failed = url ? ctl_endpoint_get(&stored, ctl, &scope, PAY_ENDPOINT_WEBHOOK)
                     : ctl_webhook_find(&stored, &account, ctl);
    }
    return failed ? failed : webhook_put(ctl, &scope, url, stored, account);
}

ctl_exit_t ctl_webhook_show(ctl_t *ctl)
{
    pay_endpoint_t *endpoint;
    pay_account_t *account;
    ctl_exit_t failed;

    failed = ctl_webhook_find(&endpoint, &account, ctl);
    if (failed) {
        return failed;
    }
    webhook_print(ctl, endpoint, account);
    return CTL_OK;
}
