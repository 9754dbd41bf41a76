/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"

#include "model/charge.h"
#include "service/account/accounts.h"

#include <apr_strings.h>
#include <string.h>

/* An account, and for details what it has stored. */
typedef struct shown_t {
    pay_account_t account;
    pay_account_rows_t rows;
} shown_t;

static void fees_get(ctl_value_t *value, const void *row)
{
    const char *fees = ((const pay_account_t *)row)->settings.fees;

    value->text = *fees ? fees : "none";
}

static void quota_get(ctl_value_t *value, const void *row)
{
    const int quota = ((const shown_t *)row)->rows.rows_max;

    value->text = quota ? apr_itoa(value->pool, quota) : "none";
}

#define AT(member) CTL_FIELD(pay_account_t, member)
#define OF_ROWS(member) CTL_NUMBER, CTL_FIELD(pay_account_rows_t, member)

static const ctl_column_t rows_columns[] = {
    {CTL_ONE, "rows, test", "test", OF_ROWS(rows[PAY_TEST])},
    {CTL_ONE, "rows, live", "live", OF_ROWS(rows[PAY_LIVE])},
    {CTL_ONE, "audit entries", "audit", OF_ROWS(entries)},
    {0},
};

static const ctl_column_t visitors_columns[] = {
    {CTL_ONE, "unpaid of visitors, test", "test", OF_ROWS(anonymous[PAY_TEST])},
    {CTL_ONE, "unpaid of visitors, live", "live", OF_ROWS(anonymous[PAY_LIVE])},
    {0},
};

/* Rows of a list are accounts, those of details are shown_t, which begins with one. */
static const ctl_column_t columns[] = {
    {CTL_BOTH, "name", NULL, CTL_TEXT, AT(name)},
    {CTL_BOTH, "number", NULL, CTL_NUMBER, AT(number)},
    {CTL_BOTH, "mode", NULL, CTL_ENUM, AT(mode), .word = pay_mode_name},
    {CTL_BOTH, "key prefix", NULL, CTL_TEXT, AT(settings.key_prefix)},
    {CTL_BOTH, "currency", NULL, CTL_TEXT, AT(settings.currency)},
    {CTL_BOTH, "timezone", NULL, CTL_TEXT, AT(settings.timezone)},
    {CTL_DETAILS, "fees", NULL, CTL_TEXT, .get = fees_get},
    {CTL_BOTH, "created", NULL, CTL_TIME, AT(created_at)},
    {CTL_ONE, NULL, "rows", CTL_GROUP, CTL_FIELD(shown_t, rows), .group = rows_columns},
    {CTL_ONE, NULL, "unpaidOfVisitors", CTL_GROUP, CTL_FIELD(shown_t, rows),
     .group = visitors_columns},
    {CTL_DETAILS, "quota", NULL, CTL_TEXT, .get = quota_get},
    {CTL_MORE, NULL, "quota", CTL_NUMBER, CTL_FIELD(shown_t, rows.rows_max)},
    {0},
};

static void account_members(pay_writer_t *w, const void *row)
{
    pay_account_members_to_json(w, row);
}

static const ctl_view_t account_view = {.columns = columns, .members = account_members};

static const ctl_view_t shown_view = {
    .columns = columns, .is_details = 1, .members = account_members};

static ctl_exit_t name_check(const char *name)
{
    apr_status_t rv;

    if (strlen(name) > PAY_ACCOUNT_NAME_MAX) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "account name: want at most %d bytes",
                        PAY_ACCOUNT_NAME_MAX);
    }
    rv = pay_account_name_check(name);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "account name: want a-z, 0-9, '.', '_' and '-', first a "
                                          "letter or digit");
    }
    return CTL_OK;
}

ctl_exit_t ctl_account_find(pay_account_t **out, ctl_t *ctl, const char *name)
{
    ctl_exit_t failed;
    apr_status_t rv;

    *out = NULL;
    failed = name_check(name);
    if (failed) {
        return failed;
    }
    rv = pay_store_account_get(out, ctl->service.store, name, ctl->pool);
    if (rv == APR_NOTFOUND) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "there is no account %s; 'paymentsctl account list' lists the accounts",
                        name);
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read the account");
    }
    return CTL_OK;
}

ctl_exit_t ctl_scope_find(pay_scope_t *out, pay_account_t **account, ctl_t *ctl)
{
    ctl_exit_t failed;

    memset(out, 0, sizeof(*out));
    *account = NULL;
    failed = ctl_option_mode(&out->mode, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_account_find(account, ctl, ctl->arg[0]);
    if (failed) {
        return failed;
    }
    out->account = (*account)->number;
    return CTL_OK;
}

ctl_exit_t ctl_reference_find(const char **reference, pay_scope_t *out, pay_account_t **account,
                              ctl_t *ctl, const char *name, int max, const char *want)
{
    ctl_exit_t failed;

    *reference = ctl->arg[1];
    failed = ctl_scope_find(out, account, ctl);
    if (failed) {
        return failed;
    }
    if (strlen(*reference) > (size_t)max) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "%s: want at most %d characters", name, max);
    }
    if (pay_reference_check(*reference) != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "%s: want %s", name, want);
    }
    return CTL_OK;
}

/* The settings given as options; those that were not given are NULL. */
static ctl_exit_t settings_read(pay_account_settings_t *out, const ctl_t *ctl)
{
    pay_problem_t *faults = NULL;

    out->key_prefix = ctl->option[CTL_OPTION_KEY_PREFIX];
    out->currency = ctl->option[CTL_OPTION_CURRENCY];
    out->timezone = ctl->option[CTL_OPTION_TIMEZONE];
    out->shop_name = ctl->option[CTL_OPTION_SHOP_NAME];
    out->shop_logo = ctl->option[CTL_OPTION_SHOP_LOGO];
    out->shop_text = ctl->option[CTL_OPTION_SHOP_TEXT];
    out->return_hosts = ctl->option[CTL_OPTION_RETURN_HOST];
    out->fees = ctl->option[CTL_OPTION_FEE];
    pay_account_settings_judge(out, &faults, ctl->pool);
    return faults ? ctl_fail_problem(faults, ctl->pool) : CTL_OK;
}

ctl_exit_t ctl_account_create(ctl_t *ctl)
{
    const char *name = ctl->arg[0];
    const pay_problem_t *problem;
    pay_account_settings_t given;
    pay_account_t *account;
    ctl_exit_t failed;

    failed = name_check(name);
    if (failed) {
        return failed;
    }
    failed = settings_read(&given, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_open(ctl); /* only now: a wrong command line makes no store */
    if (failed) {
        return failed;
    }
    problem = pay_account_open(&account, &ctl->service, name, &given, ctl->pool);
    if (problem && problem->error == PAY_ERR_REFERENCE_REUSED) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "account %s exists already; 'paymentsctl account set' changes it", name);
    }
    if (problem) {
        return ctl_fail_service(problem, "cannot create the account", ctl->pool);
    }
    ctl_row_print(ctl, &account_view, account);
    return CTL_OK;
}

ctl_exit_t ctl_account_show(ctl_t *ctl)
{
    pay_account_t *account;
    shown_t shown;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_account_find(&account, ctl, ctl->arg[0]);
    if (failed) {
        return failed;
    }
    shown.account = *account;
    rv = pay_store_account_rows(&shown.rows, ctl->service.store, account->number, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read what the account has stored");
    }
    ctl_row_print(ctl, &shown_view, &shown);
    return CTL_OK;
}

ctl_exit_t ctl_account_set(ctl_t *ctl)
{
    const pay_problem_t *problem;
    pay_account_settings_t settings;
    pay_account_t *account;
    ctl_exit_t failed;

    failed = settings_read(&settings, ctl);
    if (failed) {
        return failed;
    }
    if (!settings.key_prefix && !settings.currency && !settings.timezone && !settings.shop_name
        && !settings.shop_logo && !settings.shop_text && !settings.return_hosts && !settings.fees) {
        return ctl_fail(CTL_EXIT_USAGE, "nothing to set; see 'paymentsctl account set --help'");
    }
    failed = ctl_account_find(&account, ctl, ctl->arg[0]);
    if (failed) {
        return failed;
    }
    problem = pay_account_change(&account, &ctl->service, account, &settings, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot change the account", ctl->pool);
    }
    ctl_row_print(ctl, &account_view, account);
    return CTL_OK;
}

ctl_exit_t ctl_account_mode(ctl_t *ctl)
{
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_mode_t mode;
    ctl_exit_t failed;
    apr_status_t rv;

    rv = pay_mode_parse(&mode, ctl->arg[1]);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "mode: want test or live");
    }
    failed = ctl_account_find(&account, ctl, ctl->arg[0]);
    if (failed) {
        return failed;
    }
    problem = pay_account_switch(&account, &ctl->service, account, mode, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot change the account's mode", ctl->pool);
    }
    ctl_row_print(ctl, &account_view, account);
    if (mode == PAY_LIVE) {
        ctl_note(
            "From now on live keys of %s start charges and refunds that move money. Check that "
            "the server has a PaymentsAcquirer for this account, which paymentsctl cannot "
            "see: without one live charges are refused with 403.",
            account->name);
    }
    return CTL_OK;
}

ctl_exit_t ctl_account_list(ctl_t *ctl)
{
    apr_array_header_t *accounts;
    apr_uint64_t limit;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_option_limit(&limit, ctl);
    if (failed) {
        return failed;
    }
    rv = pay_store_account_list(&accounts, ctl->service.store, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the accounts");
    }
    ctl_list_print(ctl, &account_view, accounts, limit);
    return CTL_OK;
}
