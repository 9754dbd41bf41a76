/* SPDX-License-Identifier: Apache-2.0 */

/* store confirm: shows what a store restored from a copy brings back, and ends its hold. */

#include "base/text/time.h"
#include "base/text/timezone.h"
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/output.h"
#include "service/account/upkeep.h"

#include <apr_strings.h>
#include <stdio.h>

#define COUNT_MAX 100000                     /* larger counts are shown as this */
#define DATE_LEN 10                          /* of a time's text */
#define REFUNDS_MAX (PAY_STORE_ROWS_MAX - 1) /* listed per account; then a line says so */
#define DAY apr_time_from_sec(24 * 3600)

typedef struct brought_t {
    const char *account;
    const char *mode; /* NULL: both */
    const char *what, *name;
    const char *which;
    apr_time_t since; /* 0: none */
} brought_t;

#define AT(member) CTL_FIELD(brought_t, member)
#define SHOWN (CTL_TABLE | CTL_JSON)

static const ctl_column_t columns[] = {
    {SHOWN, "account", "account", CTL_TEXT, AT(account)},
    {SHOWN, "mode", "mode", CTL_TEXT, AT(mode)},
    {CTL_TABLE, "what", NULL, CTL_TEXT, AT(what)},
    {CTL_JSON, NULL, "what", CTL_TEXT, AT(name)},
    {SHOWN, "which", "which", CTL_TEXT, AT(which)},
    {SHOWN, "since", "since", CTL_TIME, AT(since)},
    {0},
};

static const ctl_view_t brought_view = {.columns = columns};

static const char *number_text(int number, apr_pool_t *p)
{
    return number < COUNT_MAX ? apr_itoa(p, number) : apr_psprintf(p, "%d or more", COUNT_MAX);
}

/* ---- the parts of an account */

static apr_status_t keys_list(ctl_list_t *list, const ctl_t *ctl, const pay_account_t *account)
{
    const apr_time_t now = pay_time_now();
    const pay_api_key_t *key;
    apr_array_header_t *keys;
    apr_status_t rv;
    int i;

    rv = pay_store_key_list(&keys, ctl->service.store, account->name, ctl->pool);
    for (i = 0; rv == APR_SUCCESS && i < keys->nelts; i++) {
        key = APR_ARRAY_IDX(keys, i, const pay_api_key_t *);
        if (pay_api_key_is_valid(key, now)) {
            const brought_t row = {
                account->name,
                pay_mode_name(key->scope.mode),
                apr_psprintf(ctl->pool, "%s key that works", pay_key_kind_name(key->kind)),
                "key",
                key->id,
                key->created_at};

            ctl_list_row(list, &row);
        }
    }
    return rv;
}

static apr_status_t refunds_list(ctl_list_t *list, const ctl_t *ctl, const pay_account_t *account)
{
    const pay_scope_t scope = {account->number, PAY_LIVE};
    const pay_refund_t *refund;
    apr_array_header_t *refunds;
    apr_status_t rv;
    int i;

    rv = pay_store_refund_waiting(&refunds, ctl->service.store, &scope, PAY_STORE_ROWS_MAX,
                                  ctl->pool);
    for (i = 0; rv == APR_SUCCESS && i < refunds->nelts && i < REFUNDS_MAX; i++) {
        refund = APR_ARRAY_IDX(refunds, i, const pay_refund_t *);
        const brought_t row = {account->name, pay_mode_name(PAY_LIVE),  "refund that waits",
                               "refund",      refund->refund_reference, refund->created_at};

        ctl_list_row(list, &row);
    }
    if (rv == APR_SUCCESS && refunds->nelts > REFUNDS_MAX) {
        const brought_t more = {account->name, pay_mode_name(PAY_LIVE), "refunds that wait",
                                "refunds",     "more than are listed",  0};

        ctl_list_row(list, &more);
    }
    return rv;
}

static apr_status_t counts_list(ctl_list_t *list, const ctl_t *ctl, const pay_account_t *account,
                                pay_mode_t mode)
{
    const pay_scope_t scope = {account->number, mode};
    pay_waiting_t waiting;
    apr_status_t rv;

    rv = pay_store_waiting_count(&waiting, ctl->service.store, &scope, COUNT_MAX);
    if (rv == APR_SUCCESS && waiting.tokens > 0) {
        const brought_t row = {account->name,
                               pay_mode_name(mode),
                               "card tokens",
                               "tokens",
                               number_text(waiting.tokens, ctl->pool),
                               0};

        ctl_list_row(list, &row);
    }
    if (rv == APR_SUCCESS && waiting.events > 0) {
        const brought_t row = {account->name,
                               pay_mode_name(mode),
                               "events not delivered",
                               "events",
                               number_text(waiting.events, ctl->pool),
                               0};

        ctl_list_row(list, &row);
    }
    return rv;
}

static apr_status_t grants_list(ctl_list_t *list, const ctl_t *ctl, const pay_account_t *account)
{
    apr_array_header_t *grants;
    const pay_grant_t *grant;
    apr_status_t rv;
    int i;

    rv = pay_store_grant_list(&grants, ctl->service.store, account->name, ctl->pool);
    for (i = 0; rv == APR_SUCCESS && i < grants->nelts; i++) {
        grant = APR_ARRAY_IDX(grants, i, const pay_grant_t *);
        const brought_t row = {account->name,
                               NULL,
                               apr_psprintf(ctl->pool, "grant of %s", pay_role_name(grant->role)),
                               "grant",
                               apr_pstrcat(ctl->pool, grant->user, " on ", grant->host, NULL),
                               grant->created_at};

        ctl_list_row(list, &row);
    }
    return rv;
}

static apr_status_t sync_list(ctl_list_t *list, const ctl_t *ctl, const pay_account_t *account)
{
    apr_time_t from;
    apr_status_t rv;
    int wanted, synced;

    rv = pay_store_epoch_synced(&wanted, &synced, &from, ctl->service.store, account, ctl->pool);
    if (rv == APR_SUCCESS && wanted) {
        const brought_t row = {account->name,
                               pay_mode_name(PAY_LIVE),
                               "refunds of the acquirer",
                               "sync",
                               synced ? "fetched since" : "not fetched since",
                               0};

        ctl_list_row(list, &row);
    }
    return rv;
}

static apr_status_t account_brings(ctl_list_t *list, const ctl_t *ctl, const pay_account_t *account)
{
    apr_status_t rv;

    rv = sync_list(list, ctl, account);
    if (rv == APR_SUCCESS) {
        rv = refunds_list(list, ctl, account);
    }
    if (rv == APR_SUCCESS) {
        rv = keys_list(list, ctl, account);
    }
    if (rv == APR_SUCCESS) {
        rv = grants_list(list, ctl, account);
    }
    if (rv == APR_SUCCESS) {
        rv = counts_list(list, ctl, account, PAY_TEST);
    }
    return rv == APR_SUCCESS ? counts_list(list, ctl, account, PAY_LIVE) : rv;
}

/* ---- the command */

static ctl_exit_t brought_list(ctl_t *ctl)
{
    apr_array_header_t *accounts;
    ctl_list_t *list;
    apr_status_t rv;
    int i;

    rv = pay_store_account_list(&accounts, ctl->service.store, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the accounts");
    }
    list = ctl_list_open(ctl, &brought_view, 0);
    for (i = 0; rv == APR_SUCCESS && i < accounts->nelts; i++) {
        rv = account_brings(list, ctl, APR_ARRAY_IDX(accounts, i, const pay_account_t *));
    }
    ctl_list_close(list);
    return rv == APR_SUCCESS ? CTL_OK : ctl_fail_status(rv, "cannot read all of the store");
}

static const char *date_of(apr_time_t when, apr_pool_t *p)
{
    char text[PAY_TIME_TEXT_LEN + 1];

    return apr_pstrndup(p, pay_time_format(text, when), DATE_LEN);
}

/* Prints dates with one more day at both ends: they are days in the account's time zone. */
static ctl_exit_t unsynced_fail(ctl_t *ctl, const pay_account_t *account)
{
    apr_time_t from = 0;
    int wanted, synced;

    (void)pay_store_epoch_synced(&wanted, &synced, &from, ctl->service.store, account, ctl->pool);
    return ctl_fail(CTL_EXIT_REFUSED,
                    "the refunds of account %s were not fetched since: while the server runs, "
                    "run 'paymentsctl refund sync %s --mode live --from %s --to %s' first, or "
                    "confirm it --unsynced, which may refund twice",
                    account->name, account->name, from ? date_of(from - DAY, ctl->pool) : "DATE",
                    date_of(pay_time_now() + DAY, ctl->pool));
}

static ctl_exit_t confirm(ctl_t *ctl)
{
    const int allow_unsynced = ctl->option[CTL_OPTION_UNSYNCED] != NULL;
    const pay_problem_t *problem;
    const pay_account_t *unsynced;
    int was_held;

    problem = pay_restore_confirm(&was_held, &unsynced, &ctl->service, allow_unsynced, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot confirm it", ctl->pool);
    }
    if (unsynced) {
        return unsynced_fail(ctl, unsynced);
    }
    ctl_note(was_held ? "Live refunds and live events are sent again."
                      : "Nothing was held: there is nothing to confirm.");
    return CTL_OK;
}

ctl_exit_t ctl_store_confirm(ctl_t *ctl)
{
    char began[PAY_TIME_TEXT_LEN + 1];
    pay_epoch_t epoch;
    apr_status_t rv;

    if (ctl->option[CTL_OPTION_UNSYNCED] && !ctl->option[CTL_OPTION_YES]) {
        return ctl_fail(CTL_EXIT_USAGE, "--unsynced goes with --yes");
    }
    if (ctl->option[CTL_OPTION_YES]) {
        return confirm(ctl);
    }
    rv = pay_store_epoch_find(&epoch, ctl->service.store);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read whether the store was restored");
    }
    if (!epoch.held) {
        ctl_note("Nothing is held: there is nothing to confirm.");
        return brought_list(ctl);
    }
    ctl_note("The store was restored from a copy on %s. Live refunds and live events wait until "
             "'store confirm --yes'.",
             pay_time_format(began, epoch.began_at));
    return brought_list(ctl);
}
