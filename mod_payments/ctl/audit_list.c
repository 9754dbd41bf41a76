/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/range.h"

typedef struct row_t {
    pay_audit_t entry;
    const char *account; /* its name; NULL: the whole store */
} row_t;

#define AT(member) CTL_FIELD(row_t, entry.member)
#define SHOWN (CTL_TABLE | CTL_CSV)

/* CSV has the members of JSON, in their order. */
static const ctl_column_t columns[] = {
    {CTL_TABLE, "when", NULL, CTL_TIME, AT(at)},
    {SHOWN, "account", "account", CTL_TEXT, CTL_FIELD(row_t, account)},
    {CTL_CSV, NULL, "at", CTL_TIME, AT(at)},
    {SHOWN, "who", "who", CTL_TEXT, AT(who)},
    {SHOWN, "from", "from", CTL_TEXT, AT(from)},
    {SHOWN, "what", "what", CTL_TEXT, AT(what)},
    {SHOWN, "subject", "subject", CTL_TEXT, AT(subject)},
    {SHOWN, "detail", "detail", CTL_TEXT, AT(detail)},
    {0},
};

static void entry_json(pay_writer_t *w, const void *row)
{
    pay_audit_to_json(w, NULL, &((const row_t *)row)->entry, ((const row_t *)row)->account);
}

static const ctl_view_t entry_view = {.columns = columns, .json = entry_json};

typedef struct listing_t {
    ctl_t *ctl;
    ctl_list_t *list;
    pay_time_range_t range;
    apr_uint32_t number; /* of the account; 0: the whole store */
    const char *name;    /* NULL: the whole store */
} listing_t;

static apr_status_t entries_list(apr_array_header_t **rows, void *baton, const void *after,
                                 apr_pool_t *p)
{
    const listing_t *listing = baton;
    const pay_audit_t *last = after;

    if (last && last->seq <= 1) {
        *rows = apr_array_make(p, 1, sizeof(last)); /* it is the first one */
        return APR_SUCCESS;
    }
    return pay_store_audit_list(rows, listing->ctl->service.store, listing->number,
                                last ? last->seq : 0, PAY_STORE_ROWS_MAX, p);
}

/* Entries stand in the order of their commits: whatever a clock did, each is looked at. */
static apr_status_t entry_print(void *baton, const void *entry, apr_pool_t *p)
{
    const listing_t *listing = baton;
    const row_t row = {*(const pay_audit_t *)entry, listing->name};

    (void)p;
    if (row.entry.at >= listing->range.from && row.entry.at <= listing->range.to) {
        ctl_list_row(listing->list, &row);
    }
    return APR_SUCCESS;
}

static apr_status_t entries_print(listing_t *listing, apr_uint32_t number, const char *name)
{
    static const pay_pager_t pager = {.list = entries_list, .each = entry_print};

    listing->number = number;
    listing->name = name;
    return ctl_list_walk(listing->list, &pager, listing);
}

/* Those of the whole store, then those of each account. */
static apr_status_t all_print(listing_t *listing, const apr_array_header_t *accounts)
{
    apr_status_t rv;
    int i;

    rv = entries_print(listing, 0, NULL);
    for (i = 0; rv == APR_SUCCESS && i < accounts->nelts; i++) {
        const pay_account_t *account = APR_ARRAY_IDX(accounts, i, const pay_account_t *);

        rv = entries_print(listing, account->number, account->name);
    }
    return rv;
}

ctl_exit_t ctl_audit_list(ctl_t *ctl)
{
    const pay_account_t nobody = {.settings = pay_account_settings_builtin};
    listing_t listing = {.ctl = ctl};
    apr_array_header_t *accounts = NULL;
    pay_account_t *account = NULL;
    apr_uint64_t limit;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_option_limit(&limit, ctl);
    if (!failed && ctl->arg[0]) {
        failed = ctl_account_find(&account, ctl, ctl->arg[0]);
    }
    if (!failed) { /* days of all accounts are those of UTC */
        failed = ctl_range_read(&listing.range, ctl, account ? account : &nobody);
    }
    if (failed) {
        return failed;
    }
    rv = account ? APR_SUCCESS : pay_store_account_list(&accounts, ctl->service.store, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the accounts");
    }
    listing.list = ctl_list_open(ctl, &entry_view, limit);
    rv = account ? entries_print(&listing, account->number, account->name)
                 : all_print(&listing, accounts);
    return ctl_list_end(listing.list, rv, "cannot list the audit entries");
}
