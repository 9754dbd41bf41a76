/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/event.h"
#include "ctl/message.h"
#include "ctl/options.h"

#include <apr_strings.h>

static const char *const titles[] = {"ID",    "EVENT",    "TO",          "STANDING",
                                     "TRIES", "NEXT TRY", "LAST ANSWER", NULL};

/* The members of JSON, in their order. */
static const char *const csv_titles[] = {
    "id",       "notify",     "notifyType", "to",    "domain",     "transaction",
    "sequence", "standing",   "createdAt",  "tries", "firstTryAt", "dueAt",
    "parkedAt", "answeredAt", "status",     "error", "answer",     NULL};

typedef struct row_t {
    const pay_event_t *event;
    apr_pool_t *pool; /* for what is made of it */
} row_t;

const char *ctl_event_title(const pay_event_t *event, apr_pool_t *p)
{
    return apr_pstrcat(p, pay_event_notify(event), " ", pay_event_notify_type(event), NULL);
}

static void event_cells(ctl_table_t *table, const void *row)
{
    const pay_event_t *event = ((const row_t *)row)->event;
    apr_pool_t *p = ((const row_t *)row)->pool;

    ctl_table_cell(table, pay_event_id(event, p));
    ctl_table_cell(table, ctl_event_title(event, p));
    ctl_table_cell(table, pay_endpoint_kind_name(event->endpoint));
    ctl_table_cell(table, pay_event_standing(event));
    ctl_table_number(table, event->failures);
    ctl_table_time(table, event->due_at);
    ctl_table_cell(table, ctl_answer_text(event->answered_at, event->status, event->error, p));
}

static void event_json(pay_writer_t *w, const void *row)
{
    pay_event_to_json(w, NULL, ((const row_t *)row)->event);
}

static void event_csv(pay_csv_t *csv, const void *row)
{
    const pay_event_t *event = ((const row_t *)row)->event;

    pay_csv_text(csv, pay_event_id(event, ((const row_t *)row)->pool));
    pay_csv_text(csv, pay_event_notify(event));
    pay_csv_text(csv, pay_event_notify_type(event));
    pay_csv_text(csv, pay_endpoint_kind_name(event->endpoint));
    pay_csv_text(csv, pay_mode_name(event->scope.mode));
    pay_csv_number(csv, pay_event_charge_seq(event));
    pay_csv_number(csv, event->sequence);
    pay_csv_text(csv, pay_event_standing(event));
    pay_csv_time(csv, event->created_at);
    pay_csv_number(csv, event->failures);
    pay_csv_time(csv, event->first_try_at);
    pay_csv_time(csv, event->due_at);
    pay_csv_time(csv, event->parked_at);
    pay_csv_time(csv, event->answered_at);
    pay_csv_number(csv, (apr_uint64_t)event->status);
    pay_csv_text(csv, event->error);
    pay_csv_text(csv, event->answer);
}

static const ctl_view_t event_view = {.titles = titles,
                                      .cells = event_cells,
                                      .json = event_json,
                                      .csv_titles = csv_titles,
                                      .csv = event_csv};

void ctl_event_print(const ctl_t *ctl, const pay_event_t *event)
{
    const row_t row = {event, ctl->pool};

    ctl_row_print(ctl, &event_view, &row);
}

typedef struct listing_t {
    ctl_t *ctl;
    pay_scope_t scope;
    ctl_list_t *list;
} listing_t;

static apr_status_t events_list(apr_array_header_t **rows, void *baton, const void *after,
                                apr_pool_t *p)
{
    const listing_t *listing = baton;
    const int parked = listing->ctl->option[CTL_OPTION_PARKED] != NULL;

    return pay_store_event_list(rows, listing->ctl->store, &listing->scope, parked, after,
                                PAY_STORE_ROWS_MAX, p);
}

static apr_status_t event_row(void *baton, const void *event, apr_pool_t *p)
{
    const listing_t *listing = baton;
    const row_t row = {event, p};

    ctl_list_row(listing->list, &row);
    return APR_SUCCESS;
}

ctl_exit_t ctl_event_list(ctl_t *ctl)
{
    static const pay_pager_t pager = {.list = events_list, .each = event_row};
    listing_t listing = {.ctl = ctl};
    pay_account_t *account;
    apr_uint64_t limit;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_option_limit(&limit, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_scope_find(&listing.scope, &account, ctl);
    if (failed) {
        return failed;
    }
    listing.list = ctl_list_open(ctl, &event_view, limit);
    rv = ctl_list_walk(listing.list, &pager, &listing);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the events"); /* the array stays open: no list */
    }
    ctl_list_close(listing.list);
    return CTL_OK;
}
