/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"

#include <string.h>

static const char *const titles[] = {"KIND",     "REFERENCE", "ACCOUNT", "MODE", "AMOUNT",
                                     "CURRENCY", "WHY",       "SINCE",   NULL};

static const char *const csv_titles[] = {
    "kind",          "reference", "account",           "mode",
    "status",        "amount",    "currency",          "why",
    "since",         "acquirer",  "acquirerReference", "transactionReference",
    "paymentStatus", NULL};

/* One row, of a charge or of a refund. */
typedef struct held_t {
    const char *kind;
    const char *reference; /* of the charge or refund itself */
    const char *charge;    /* NULL: not known */
    const char *account;
    pay_mode_t mode;
    const char *status, *exact; /* of a refund the same word */
    const pay_money_t *money;
    pay_held_t why;
    apr_time_t since; /* pending since, or of a late approval failed since */
    const char *acquirer;
    const char *acquirer_reference;
} held_t;

/* History may have left the amount out. */
static int is_told(const pay_money_t *money)
{
    return money->currency[0] != '\0';
}

static void held_cells(ctl_table_t *table, const void *row)
{
    const held_t *held = row;

    ctl_table_cell(table, held->kind);
    ctl_table_cell(table, held->reference);
    ctl_table_cell(table, held->account);
    ctl_table_cell(table, pay_mode_name(held->mode));
    ctl_table_amount(table, held->money->amount_minor, held->money->currency);
    ctl_table_cell(table, held->money->currency);
    ctl_table_cell(table, pay_held_name(held->why));
    ctl_table_time(table, held->since);
}

static void held_json(pay_writer_t *w, const void *row)
{
    const held_t *held = row;
    const pay_money_t *money = held->money;
    char amount[PAY_MONEY_TEXT_MAX];

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "kind", held->kind);
    pay_writer_string(w, "reference", held->reference);
    pay_writer_string(w, "account", held->account);
    pay_writer_string(w, "mode", pay_mode_name(held->mode));
    pay_writer_string(w, "status", held->status);
    pay_writer_string(
        w, "amount",
        is_told(money) ? pay_money_format(amount, money->amount_minor, money->currency) : NULL);
    pay_writer_string(w, "currency", is_told(money) ? money->currency : NULL);
    pay_writer_string(w, "why", pay_held_name(held->why));
    pay_writer_time(w, "since", held->since);
    pay_writer_string(w, "acquirer", held->acquirer);
    pay_writer_string(w, "acquirerReference", held->acquirer_reference);
    pay_writer_string(w, "transactionReference", held->charge);
    pay_writer_string(w, "paymentStatus", held->exact);
    pay_writer_object_close(w);
}

static void held_csv(pay_csv_t *csv, const void *row)
{
    const held_t *held = row;

    pay_csv_text(csv, held->kind);
    pay_csv_text(csv, held->reference);
    pay_csv_text(csv, held->account);
    pay_csv_text(csv, pay_mode_name(held->mode));
    pay_csv_text(csv, held->status);
    if (is_told(held->money)) {
        pay_csv_amount(csv, held->money->amount_minor, held->money->currency);
    } else {
        pay_csv_text(csv, NULL);
    }
    pay_csv_text(csv, held->money->currency);
    pay_csv_text(csv, pay_held_name(held->why));
    pay_csv_time(csv, held->since);
    pay_csv_text(csv, held->acquirer);
    pay_csv_text(csv, held->acquirer_reference);
    pay_csv_text(csv, held->charge);
    pay_csv_text(csv, held->exact);
}

static const ctl_view_t held_view = {.titles = titles,
                                     .cells = held_cells,
                                     .json = held_json,
                                     .csv_titles = csv_titles,
                                     .csv = held_csv};

static held_t of_charge(const pay_charge_t *charge)
{
    const held_t held = {.kind = "charge",
                         .reference = charge->reference,
                         .charge = charge->reference,
                         .mode = charge->scope.mode,
                         .status = pay_charge_status_name(charge->state),
                         .exact = pay_charge_state_name(charge->state),
                         .money = &charge->money,
                         .why = charge->held,
                         .since = charge->held == PAY_HELD_LATE ? charge->decided_at
                                                                : charge->created_at,
                         .acquirer = charge->acquirer,
                         .acquirer_reference = charge->acquirer_reference};

    return held;
}

static held_t of_refund(const pay_refund_t *refund)
{
    const held_t held = {.kind = "refund",
                         .reference = refund->refund_reference,
                         .charge = refund->transaction_reference,
                         .mode = refund->scope.mode,
                         .status = pay_refund_state_name(refund->state),
                         .exact = pay_refund_state_name(refund->state),
                         .money = &refund->money,
                         .why = refund->held,
                         .since = refund->held == PAY_HELD_LATE ? refund->decided_at
                                                                : refund->created_at,
                         .acquirer = refund->acquirer,
                         .acquirer_reference = refund->acquirer_reference};

    return held;
}

/* What is listed, and from where. */
typedef struct listing_t {
    ctl_t *ctl;
    ctl_list_t *list;
    const apr_array_header_t *accounts; /* of const pay_account_t *; NULL: there is `account` */
    const pay_account_t *account;
    int one_mode; /* 1: only what is of `mode` */
    pay_mode_t mode;
    const pay_scope_t *scope; /* NULL: all */
} listing_t;

static const char *account_name(const listing_t *listing, apr_uint32_t number)
{
    int i;

    if (listing->account) {
        return listing->account->name;
    }
    for (i = 0; i < listing->accounts->nelts; i++) {
        const pay_account_t *account = APR_ARRAY_IDX(listing->accounts, i, const pay_account_t *);

        if (account->number == number) {
            return account->name;
        }
    }
    return NULL; /* made since the accounts were read */
}

static apr_status_t due_print(void *baton, const void *row, apr_pool_t *p)
{
    const listing_t *listing = baton;
    const pay_due_t *due = row;
    const pay_scope_t *scope = due->refund ? &due->refund->scope : &due->charge->scope;
    held_t held = due->refund ? of_refund(due->refund) : of_charge(due->charge);

    (void)p;
    if (!listing->one_mode || scope->mode == listing->mode) {
        held.account = account_name(listing, scope->account);
        ctl_list_row(listing->list, &held);
    }
    return APR_SUCCESS;
}

static apr_status_t dues_list(apr_array_header_t **rows, void *baton, const void *after,
                              apr_pool_t *p)
{
    const listing_t *listing = baton;

    return pay_store_held_list(rows, listing->ctl->store, listing->scope, after, PAY_STORE_ROWS_MAX,
                               p);
}

static apr_status_t all_print(listing_t *listing)
{
    const pay_pager_t pager = {.list = dues_list, .each = due_print};
    pay_scope_t scope;
    apr_status_t rv = APR_SUCCESS;
    int mode;

    if (!listing->account) {
        return ctl_list_walk(listing->list, &pager, listing);
    }
    listing->scope = &scope;
    scope.account = listing->account->number;
    for (mode = 0; rv == APR_SUCCESS && mode < PAY_MODE_COUNT; mode++) {
        scope.mode = (pay_mode_t)mode;
        if (!listing->one_mode || listing->mode == scope.mode) {
            rv = ctl_list_walk(listing->list, &pager, listing);
        }
    }
    return rv;
}

/* The account of the argument, else all of them. */
static ctl_exit_t accounts_read(listing_t *listing)
{
    ctl_t *ctl = listing->ctl;
    apr_array_header_t *accounts;
    pay_account_t *account;
    ctl_exit_t failed;
    apr_status_t rv;

    if (ctl->arg[0]) {
        failed = ctl_account_find(&account, ctl, ctl->arg[0]);
        listing->account = account;
        return failed;
    }
    rv = pay_store_account_list(&accounts, ctl->store, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the accounts");
    }
    listing->accounts = accounts;
    return CTL_OK;
}

ctl_exit_t ctl_held_list(ctl_t *ctl)
{
    listing_t listing = {.ctl = ctl};
    apr_uint64_t limit;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_option_limit(&limit, ctl);
    if (failed) {
        return failed;
    }
    if (ctl->option[CTL_OPTION_MODE]) {
        listing.one_mode = 1;
        failed = ctl_option_mode(&listing.mode, ctl);
        if (failed) {
            return failed;
        }
    }
    failed = accounts_read(&listing);
    if (failed) {
        return failed;
    }
    listing.list = ctl_list_open(ctl, &held_view, limit);
    rv = all_print(&listing);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the payments that wait for a person");
    }
    ctl_list_close(listing.list);
    return CTL_OK;
}
