/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/charge.h"

#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/range.h"
#include "model/checkout.h"
#include "model/email.h"

#include <apr_general.h>
#include <string.h>

static void charge_csv(pay_csv_t *csv, const void *row)
{
    pay_charge_to_csv(csv, row);
}

static void word_get(ctl_value_t *value, const void *row)
{
    value->text = pay_charge_word_name(pay_charge_word(row));
}

static void held_get(ctl_value_t *value, const void *row)
{
    value->text = ctl_held_text(((const pay_charge_t *)row)->held, value->pool);
}

static void refunded_get(ctl_value_t *value, const void *row)
{
    value->number = pay_charge_refunded_minor(row);
    value->currency = ((const pay_charge_t *)row)->money.currency;
}

static void pending_get(ctl_value_t *value, const void *row)
{
    value->number = ((const pay_charge_t *)row)->refunds_pending_minor;
    value->currency = ((const pay_charge_t *)row)->money.currency;
}

#define AT(member) CTL_FIELD(pay_charge_t, member)

/* Members of JSON are what the API's records lack: shops do not see it. */
static const ctl_column_t columns[] = {
    {CTL_BOTH, "id", NULL, CTL_NUMBER, AT(seq)},
    {CTL_BOTH, "reference", NULL, CTL_TEXT, AT(reference)},
    {CTL_BOTH, "status", NULL, CTL_TEXT, .get = word_get},
    {CTL_DETAILS, "waits for a person", NULL, CTL_TEXT, .get = held_get},
    {CTL_MORE, NULL, "held", CTL_ENUM, AT(held), .word = ctl_held_name},
    {CTL_BOTH, "amount", NULL, CTL_AMOUNT, AT(money)},
    {CTL_BOTH, "refunded", NULL, CTL_AMOUNT, .get = refunded_get},
    {CTL_DETAILS, "refunds pending", NULL, CTL_AMOUNT, .get = pending_get},
    {CTL_BOTH, "currency", NULL, CTL_TEXT, AT(money.currency)},
    {CTL_DETAILS, "answer code", NULL, CTL_TEXT, AT(code)},
    {CTL_DETAILS, "answer", NULL, CTL_TEXT, AT(message)},
    {CTL_DETAILS, "authorization", NULL, CTL_TEXT, AT(authorization_code)},
    {CTL_ONE, "decided because", "resolution", CTL_TEXT, AT(resolution)},
    {CTL_ONE, "contradicted by", "contradiction", CTL_TEXT, AT(contradiction)},
    {CTL_ONE, "acquirer", "acquirer", CTL_TEXT, AT(acquirer)},
    {CTL_ONE, "its reference", "acquirerReference", CTL_TEXT, AT(acquirer_reference)},
    {CTL_ONE, "absent there since", "absentSince", CTL_TIME, AT(absent_since)},
    {CTL_ONE, "late approval", "late", CTL_ENUM, AT(late), .word = ctl_late_text},
    {CTL_ONE, "its refund's tag", "lateTag", CTL_TEXT, AT(late_tag)},
    {CTL_ONE, "reversed elsewhere", "spent", CTL_BOOL, AT(spent)},
    {CTL_DETAILS, "card issuer", NULL, CTL_TEXT, AT(card.issuer)},
    {CTL_TABLE, "card", NULL, CTL_TEXT, AT(card.last4)},
    {CTL_DETAILS, "card ends in", NULL, CTL_TEXT, AT(card.last4)},
    {CTL_DETAILS, "email", NULL, CTL_TEXT, AT(email)},
    {CTL_DETAILS, "first name", NULL, CTL_TEXT, AT(first_name)},
    {CTL_DETAILS, "last name", NULL, CTL_TEXT, AT(last_name)},
    {CTL_DETAILS, "address", NULL, CTL_TEXT, AT(request_ip)},
    {CTL_DETAILS, "key", NULL, CTL_TEXT, AT(key_id)},
    {CTL_BOTH, "created", NULL, CTL_TIME, AT(created_at)},
    {CTL_DETAILS, "decided", NULL, CTL_TIME, AT(decided_at)},
    {CTL_DETAILS, "updated", NULL, CTL_TIME, AT(updated_at)},
    {CTL_ONE, "next question", "nextQuestionAt", CTL_TIME, AT(due_at)},
    {0},
};

static void charge_members(pay_writer_t *w, const void *row)
{
    pay_charge_members_to_json(w, row, PAY_VIEW_SECRET);
}

static const ctl_view_t charge_view = {.columns = columns,
                                       .members = charge_members,
                                       .csv_titles = pay_charge_csv_titles,
                                       .csv = charge_csv};

static const ctl_view_t charge_detail_view = {
    .columns = columns, .is_details = 1, .members = charge_members};

void ctl_charge_print(const ctl_t *ctl, const pay_charge_t *charge)
{
    ctl_row_print(ctl, &charge_detail_view, charge);
}

typedef struct listing_t {
    ctl_t *ctl;
    pay_scope_t scope;
    pay_charge_filter_t filter; /* its range is that of all */
    pay_charge_cursor_t cursor; /* of those that the filter wants */
} listing_t;

/* Those of the range, oldest first. */
static apr_status_t range_list(apr_array_header_t **rows, void *baton, const void *after,
                               apr_pool_t *p)
{
    const listing_t *listing = baton;

    return pay_store_charge_list(rows, listing->ctl->service.store, &listing->scope,
                                 &listing->filter.range, after, PAY_STORE_ROWS_MAX, p);
}

/* Those that the filter wants, newest first. */
static apr_status_t found_list(apr_array_header_t **rows, void *baton, const void *after,
                               apr_pool_t *p)
{
    listing_t *listing = baton;

    (void)after;
    return pay_store_charge_search(rows, &listing->cursor, listing->ctl->service.store,
                                   &listing->scope, &listing->filter, PAY_STORE_ROWS_MAX, p);
}

/* *searches 1: something but a range is looked for. */
static ctl_exit_t filter_read(pay_charge_filter_t *out, int *searches, const ctl_t *ctl)
{
    const char *email = ctl->option[CTL_OPTION_EMAIL];
    const char *state = ctl->option[CTL_OPTION_STATE];
    unsigned int wanted;
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    *searches = email || state;
    if (email) {
        rv = pay_email_normalize(&out->email, email, ctl->pool);
        if (rv != APR_SUCCESS) {
            return ctl_fail(CTL_EXIT_ILLEGAL, "--email: want one e-mail address");
        }
    }
    if (state) {
        rv = pay_charge_word_parse(&wanted, state);
        if (rv != APR_SUCCESS) {
            return ctl_fail(CTL_EXIT_ILLEGAL, "--state: want " PAY_CHARGE_WORDS);
        }
        out->words = 1U << wanted;
    }
    return CTL_OK;
}

ctl_exit_t ctl_charge_list(ctl_t *ctl)
{
    listing_t listing = {.ctl = ctl};
    const pay_pager_t in_range = {.list = range_list};
    const pay_pager_t found = {.list = found_list, .done = &listing.cursor.done};
    pay_account_t *account;
    apr_uint64_t limit;
    ctl_list_t *list;
    ctl_exit_t failed;
    apr_status_t rv;
    int searches;

    failed = ctl_option_limit(&limit, ctl);
    if (failed) {
        return failed;
    }
    failed = filter_read(&listing.filter, &searches, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_scope_find(&listing.scope, &account, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_range_read(&listing.filter.range, ctl, account);
    if (failed) {
        return failed;
    }
    list = ctl_list_open(ctl, &charge_view, limit);
    rv = ctl_list_walk(list, searches ? &found : &in_range, &listing);
    return ctl_list_end(list, rv, "cannot list the charges");
}

static const char reference_form[] = "1 to " APR_STRINGIFY(
    PAY_REFERENCE_MAX) " printable characters without blank, '/', '\\', '?' and '#'";

ctl_exit_t ctl_charge_find(pay_charge_t **out, ctl_t *ctl)
{
    const char *reference;
    pay_account_t *account;
    pay_scope_t scope;
    ctl_exit_t failed;
    apr_status_t rv;

    *out = NULL;
    failed = ctl_reference_find(&reference, &scope, &account, ctl, "reference", PAY_REFERENCE_MAX,
                                reference_form);
    if (failed) {
        return failed;
    }
    rv = pay_store_charge_find(out, ctl->service.store, &scope, reference, ctl->pool);
    if (rv == APR_NOTFOUND) {
        return ctl_fail(CTL_EXIT_REFUSED, "account %s has no charge with reference %s in %s mode",
                        account->name, reference, pay_mode_name(scope.mode));
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read the charge");
    }
    return CTL_OK;
}

ctl_exit_t ctl_charge_show(ctl_t *ctl)
{
    pay_charge_t *charge;
    ctl_exit_t failed;

    failed = ctl_charge_find(&charge, ctl);
    if (failed) {
        return failed;
    }
    ctl_charge_print(ctl, charge);
    return CTL_OK;
}
