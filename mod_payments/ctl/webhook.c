/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/audit.h"
#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/keyring.h"
#include "ctl/message.h"

#include "base/net/url.h"
#include "service/account/endpoints.h"
#include "service/webhook.h"

#include <apr_strings.h>
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

/* *url NULL: "off"; *place without its path. Whether its host may be called is judged when it is.
 */
static ctl_exit_t url_read(const char **url, const char **place, const ctl_t *ctl)
{
    const char *text = ctl->arg[1];
    const char *fault;
    pay_url_t *parsed;
    apr_status_t rv;

    *url = NULL;
    *place = NULL;
    if (strcmp(text, "off") == 0) {
        return CTL_OK;
    }
    if (strlen(text) > PAY_ENDPOINT_ADDRESS_MAX) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "the URL: want at most %d bytes",
                        PAY_ENDPOINT_ADDRESS_MAX);
    }
    rv = pay_url_parse(&parsed, &fault, text, "https http", ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "the URL: %s", fault);
    }
    *url = parsed->text;
    *place = apr_psprintf(ctl->pool, "%s://%s:%d", parsed->scheme, parsed->host, (int)parsed->port);
    return CTL_OK;
}

/* Stores the URL, NULL: switches off; makes the master key for the first secret where there is
 * none.
 */
static ctl_exit_t webhook_put(ctl_t *ctl, const pay_scope_t *scope, const char *url,
                              const pay_endpoint_t *stored, const pay_account_t *account)
{
    pay_service_t service = {.store = ctl->store};
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
    service.keyring = ctl->keyring;
    problem = pay_webhook_set(&endpoint, &secret, &service, scope, url, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot store the webhook", ctl->pool);
    }
    webhook_print(ctl, endpoint, account);
    return CTL_OK;
}

/* What stands behind the host of a URL may be a secret of the receiver's. */
static void webhook_say(ctl_t *ctl, const pay_scope_t *scope, const char *where)
{
    ctl_audit_say(ctl, "webhook",
                  apr_pstrcat(ctl->pool, pay_mode_name(scope->mode), ": ", where, NULL));
}

ctl_exit_t ctl_webhook_set(ctl_t *ctl)
{
    pay_endpoint_t *stored;
    pay_account_t *account;
    pay_scope_t scope;
    const char *url, *place;
    ctl_exit_t failed;

    failed = url_read(&url, &place, ctl);
    if (failed) {
        return failed;
    }
    if (!url) {
        failed = ctl_webhook_find(&stored, &account, ctl);
        if (failed) {
            return failed;
        }
        scope = stored->scope;
    } else {
        failed = ctl_scope_find(&scope, &account, ctl);
        if (!failed) {
            failed = ctl_endpoint_get(&stored, ctl, &scope, PAY_ENDPOINT_WEBHOOK);
        }
        if (failed) {
            return failed;
        }
    }
    webhook_say(ctl, &scope, url ? place : "off");
    return webhook_put(ctl, &scope, url, stored, account);
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
