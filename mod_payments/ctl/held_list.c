/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"

#include <string.h>

/* One row, of a charge or of a refund. */
typedef struct held_t {
    const char *kind;
    const char *reference; /* of the charge or refund itself */
    const char *charge;    /* NULL: not known */
    const char *account;
    pay_mode_t mode;
    const char *status, *exact; /* of a refund the same word */
    pay_money_t money;          /* the currency is empty if history left the amount out */
    pay_held_t why;
    apr_time_t since; /* pending since, or of a late approval failed since */
    const char *acquirer;
    const char *acquirer_reference;
} held_t;

#define AT(member) CTL_FIELD(held_t, member)
#define DATA (CTL_JSON | CTL_CSV)
#define ALL (CTL_TABLE | DATA)

static const ctl_column_t columns[] = {
    {ALL, "kind", "kind", CTL_TEXT, AT(kind)},
    {ALL, "reference", "reference", CTL_TEXT, AT(reference)},
    {ALL, "account", "account", CTL_TEXT, AT(account)},
    {ALL, "mode", "mode", CTL_ENUM, AT(mode), .word = pay_mode_name},
    {DATA, NULL, "status", CTL_TEXT, AT(status)},
    {ALL, "amount", "amount", CTL_AMOUNT, AT(money)},
    {ALL, "currency", "currency", CTL_NAME, AT(money.currency)},
    {ALL, "why", "why", CTL_ENUM, AT(why), .word = pay_held_name},
    {ALL, "since", "since", CTL_TIME, AT(since)},
    {DATA, NULL, "acquirer", CTL_TEXT, AT(acquirer)},
    {DATA, NULL, "acquirerReference", CTL_TEXT, AT(acquirer_reference)},
    {DATA, NULL, "transactionReference", CTL_TEXT, AT(charge)},
    {DATA, NULL, "paymentStatus", CTL_TEXT, AT(exact)},
    {0},
};

static const ctl_view_t held_view = {.columns = columns};

static held_t of_charge(const pay_charge_t *charge)
{
    const held_t held = {.kind = "charge",
                         .reference = charge->reference,
                         .charge = charge->reference,
                         .mode = charge->scope.mode,
                         .status = pay_charge_status_name(charge->state),
                         .exact = pay_charge_state_name(charge->state),
                         .money = charge->money,
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
                         .money = refund->money,
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
    pay_scope_t scope; /* of `account` */
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

    return pay_store_held_list(rows, listing->ctl->service.store,
                               listing->account ? &listing->scope : NULL, after, PAY_STORE_ROWS_MAX,
                               p);
}

static apr_status_t all_print(listing_t *listing)
{
    const pay_pager_t pager = {.list = dues_list, .each = due_print};
    apr_status_t rv = APR_SUCCESS;
    int mode;

    if (!listing->account) {
        return ctl_list_walk(listing->list, &pager, listing);
    }
    listing->scope.account = listing->account->number;
    for (mode = 0; rv == APR_SUCCESS && mode < PAY_MODE_COUNT; mode++) {
        listing->scope.mode = (pay_mode_t)mode;
        if (!listing->one_mode || listing->mode == listing->scope.mode) {
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
    rv = pay_store_account_list(&accounts, ctl->service.store, ctl->pool);
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
    return ctl_list_end(listing.list, rv, "cannot list the payments that wait for a person");
}
