/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"

#include "service/account/accounts.h"

#include <apr_strings.h>
#include <string.h>

static const char *const titles[] = {"NAME",     "NUMBER",   "MODE",    "KEY PREFIX",
                                     "CURRENCY", "TIMEZONE", "CREATED", NULL};

static void account_cells(ctl_table_t *table, const void *row)
{
    const pay_account_t *account = row;

    ctl_table_cell(table, account->name);
    ctl_table_number(table, account->number);
    ctl_table_cell(table, pay_mode_name(account->mode));
    ctl_table_cell(table, account->settings.key_prefix);
    ctl_table_cell(table, account->settings.currency);
    ctl_table_cell(table, account->settings.timezone);
    ctl_table_time(table, account->created_at);
}

static void account_json(pay_writer_t *w, const void *row)
{
    pay_account_to_json(w, NULL, row);
}

static const ctl_view_t account_view = {
    .titles = titles, .cells = account_cells, .json = account_json};

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
    rv = pay_store_account_get(out, ctl->store, name, ctl->pool);
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

/* ---- show: with what it has stored */

typedef struct shown_t {
    const pay_account_t *account;
    pay_account_rows_t rows;
} shown_t;

static void shown_cells(ctl_table_t *table, const void *row)
{
    const shown_t *shown = row;
    const pay_account_t *account = shown->account;
    const pay_account_rows_t *rows = &shown->rows;

    ctl_detail(table, "name", account->name);
    ctl_detail_number(table, "number", account->number);
    ctl_detail(table, "mode", pay_mode_name(account->mode));
    ctl_detail(table, "key prefix", account->settings.key_prefix);
    ctl_detail(table, "currency", account->settings.currency);
    ctl_detail(table, "timezone", account->settings.timezone);
    ctl_detail(table, "fees", *account->settings.fees ? account->settings.fees : "none");
    ctl_detail_time(table, "created", account->created_at);
    ctl_detail_number(table, "rows, test", rows->rows[PAY_TEST]);
    ctl_detail_number(table, "rows, live", rows->rows[PAY_LIVE]);
    ctl_detail_number(table, "audit entries", rows->entries);
    ctl_detail_number(table, "unpaid of visitors, test", rows->strangers[PAY_TEST]);
    ctl_detail_number(table, "unpaid of visitors, live", rows->strangers[PAY_LIVE]);
    ctl_detail(table, "quota",
               rows->rows_max ? apr_itoa(ctl_table_pool(table), rows->rows_max) : "none");
}

static void shown_json(pay_writer_t *w, const void *row)
{
    const shown_t *shown = row;
    const pay_account_rows_t *rows = &shown->rows;

    pay_writer_object_open(w, NULL);
    pay_account_members_to_json(w, shown->account);
    pay_writer_object_open(w, "rows");
    pay_writer_integer(w, "test", (apr_int64_t)rows->rows[PAY_TEST]);
    pay_writer_integer(w, "live", (apr_int64_t)rows->rows[PAY_LIVE]);
    pay_writer_integer(w, "audit", (apr_int64_t)rows->entries);
    pay_writer_object_close(w);
    pay_writer_object_open(w, "unpaidOfVisitors");
    pay_writer_integer(w, "test", (apr_int64_t)rows->strangers[PAY_TEST]);
    pay_writer_integer(w, "live", (apr_int64_t)rows->strangers[PAY_LIVE]);
    pay_writer_object_close(w);
    pay_writer_integer(w, "quota", rows->rows_max);
    pay_writer_object_close(w);
}

static const ctl_view_t shown_view = {
    .titles = ctl_detail_titles, .cells = shown_cells, .json = shown_json};

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
    shown.account = account;
    rv = pay_store_account_rows(&shown.rows, ctl->store, account->number, ctl->pool);
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
    rv = pay_store_account_list(&accounts, ctl->store, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the accounts");
    }
    ctl_list_print(ctl, &account_view, accounts, limit);
    return CTL_OK;
}
