/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/keyring.h"
#include "ctl/message.h"

#include "service/account/endpoints.h"

#include <string.h>

/* What is shown of a webhook. */
typedef struct webhook_t {
    pay_endpoint_t endpoint;
    const char *account;
    const char *secret; /* NULL: it cannot be read */
} webhook_t;

static void switched_get(ctl_value_t *value, const void *row)
{
    value->text = ((const webhook_t *)row)->endpoint.enabled ? "on" : "off";
}

#define AT(member) CTL_FIELD(webhook_t, member)
#define SHOWN (CTL_DETAILS | CTL_JSON)

static const ctl_column_t columns[] = {
    {SHOWN, "account", "account", CTL_TEXT, AT(account)},
    {SHOWN, "mode", "mode", CTL_ENUM, AT(endpoint.scope.mode), .word = pay_mode_name},
    {SHOWN, "URL", "url", CTL_TEXT, AT(endpoint.address)},
    {CTL_DETAILS, "switched", NULL, CTL_TEXT, .get = switched_get},
    {CTL_JSON, NULL, "enabled", CTL_BOOL, AT(endpoint.enabled)},
    {CTL_JSON, NULL, "secret", CTL_TEXT, AT(secret)},
    {SHOWN, "old secret signs until", "oldSecretUntil", CTL_TIME, AT(endpoint.old_secret_until)},
    {SHOWN, NULL, NULL, CTL_GROUP, AT(endpoint), .group = ctl_endpoint_columns},
    {SHOWN, "created", "createdAt", CTL_TIME, AT(endpoint.created_at)},
    {SHOWN, "updated", "updatedAt", CTL_TIME, AT(endpoint.updated_at)},
    {0},
};

static const ctl_view_t webhook_view = {.columns = columns, .is_details = 1};

static void webhook_print(ctl_t *ctl, const pay_endpoint_t *endpoint, const pay_account_t *account)
{
    webhook_t webhook = {*endpoint, account->name, NULL};
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
