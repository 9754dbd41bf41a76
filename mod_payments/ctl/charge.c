/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/charge.h"

#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/range.h"
#include "model/checkout.h"
#include "model/email.h"

#include <string.h>

static const char *const titles[] = {"ID",       "REFERENCE", "STATUS",  "AMOUNT", "REFUNDED",
                                     "CURRENCY", "CARD",      "CREATED", NULL};

static void charge_cells(ctl_table_t *table, const void *row)
{
    const pay_charge_t *charge = row;

    ctl_table_number(table, charge->seq);
    ctl_table_cell(table, charge->reference);
    ctl_table_cell(table, pay_charge_word_name(pay_charge_word(charge)));
    ctl_table_amount(table, charge->money.amount_minor, charge->money.currency);
    ctl_table_amount(table, pay_charge_refunded_minor(charge), charge->money.currency);
    ctl_table_cell(table, charge->money.currency);
    ctl_table_cell(table, charge->card.last4);
    ctl_table_time(table, charge->created_at);
}

static void charge_json(pay_writer_t *w, const void *row)
{
    pay_charge_to_json(w, NULL, row, PAY_VIEW_SECRET);
}

static void charge_csv(pay_csv_t *csv, const void *row)
{
    pay_charge_to_csv(csv, row);
}

static void detail_amount(ctl_table_t *table, const char *name, const pay_charge_t *charge,
                          apr_int64_t amount_minor)
{
    ctl_table_cell(table, name);
    ctl_table_amount(table, amount_minor, charge->money.currency);
}

static void charge_details(ctl_table_t *table, const void *row)
{
    const pay_charge_t *charge = row;
    apr_pool_t *p = ctl_table_pool(table);

    ctl_table_cell(table, "id");
    ctl_table_number(table, charge->seq);
    ctl_detail(table, "reference", charge->reference);
    ctl_detail(table, "status", pay_charge_word_name(pay_charge_word(charge)));
    ctl_detail(table, "waits for a person", ctl_held_text(charge->held, p));
    detail_amount(table, "amount", charge, charge->money.amount_minor);
    detail_amount(table, "refunded", charge, pay_charge_refunded_minor(charge));
    detail_amount(table, "refunds pending", charge, charge->refunds_pending_minor);
    ctl_detail(table, "currency", charge->money.currency);
    ctl_detail(table, "answer code", charge->code);
    ctl_detail(table, "answer", charge->message);
    ctl_detail(table, "authorization", charge->authorization_code);
    ctl_detail(table, "decided because", charge->resolution);
    ctl_detail(table, "contradicted by", charge->contradiction);
    ctl_detail(table, "acquirer", charge->acquirer);
    ctl_detail(table, "its reference", charge->acquirer_reference);
    ctl_detail_time(table, "absent there since", charge->absent_since);
    ctl_detail(table, "late approval", ctl_late_text(charge->late));
    ctl_detail(table, "its refund's tag", charge->late_tag);
    ctl_detail(table, "reversed elsewhere", charge->spent ? "yes" : NULL);
    ctl_detail(table, "card issuer", charge->card.issuer);
    ctl_detail(table, "card ends in", charge->card.last4);
    ctl_detail(table, "email", charge->email);
    ctl_detail(table, "first name", charge->first_name);
    ctl_detail(table, "last name", charge->last_name);
    ctl_detail(table, "address", charge->request_ip);
    ctl_detail(table, "key", charge->key_id);
    ctl_detail_time(table, "created", charge->created_at);
    ctl_detail_time(table, "decided", charge->decided_at);
    ctl_detail_time(table, "updated", charge->updated_at);
    ctl_detail_time(table, "next question", charge->due_at);
}

static const ctl_view_t charge_view = {.titles = titles,
                                       .cells = charge_cells,
                                       .json = charge_json,
                                       .csv_titles = pay_charge_csv_titles,
                                       .csv = charge_csv};

/* What the list has, and behind it what is not told to shops. */
static void charge_detail_json(pay_writer_t *w, const void *row)
{
    const pay_charge_t *charge = row;

    pay_writer_object_open(w, NULL);
    pay_charge_members_to_json(w, charge, PAY_VIEW_SECRET);
    pay_writer_string(w, "held", charge->held ? pay_held_name(charge->held) : NULL);
    pay_writer_string(w, "resolution", charge->resolution);
    pay_writer_string(w, "contradiction", charge->contradiction);
    pay_writer_string(w, "acquirer", charge->acquirer);
    pay_writer_string(w, "acquirerReference", charge->acquirer_reference);
    pay_writer_time(w, "absentSince", charge->absent_since);
    pay_writer_string(w, "late", ctl_late_text(charge->late));
    pay_writer_string(w, "lateTag", charge->late_tag);
    pay_writer_bool(w, "spent", charge->spent);
    pay_writer_time(w, "nextQuestionAt", charge->due_at);
    pay_writer_object_close(w);
}

static const ctl_view_t charge_detail_view = {
    .titles = ctl_detail_titles, .cells = charge_details, .json = charge_detail_json};

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

    return pay_store_charge_list(rows, listing->ctl->store, &listing->scope, &listing->filter.range,
                                 after, PAY_STORE_ROWS_MAX, p);
}

/* Those that the filter wants, newest first. */
static apr_status_t found_list(apr_array_header_t **rows, void *baton, const void *after,
                               apr_pool_t *p)
{
    listing_t *listing = baton;

    (void)after;
    return pay_store_charge_search(rows, &listing->cursor, listing->ctl->store, &listing->scope,
                                   &listing->filter, PAY_STORE_ROWS_MAX, p);
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
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the charges"); /* the array stays open: no list */
    }
    ctl_list_close(list);
    return CTL_OK;
}

ctl_exit_t ctl_charge_find(pay_charge_t **out, ctl_t *ctl)
{
    const char *reference = ctl->arg[1];
    pay_account_t *account;
    pay_scope_t scope;
    ctl_exit_t failed;
    apr_status_t rv;

    *out = NULL;
    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (strlen(reference) > PAY_REFERENCE_MAX) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "reference: want at most %d characters",
                        PAY_REFERENCE_MAX);
    }
    rv = pay_reference_check(reference);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL,
                        "reference: want 1 to %d printable characters without "
                        "blank, '/', '\\', '?' and '#'",
                        PAY_REFERENCE_MAX);
    }
    rv = pay_store_charge_find(out, ctl->store, &scope, reference, ctl->pool);
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
