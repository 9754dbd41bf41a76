/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/event.h"
#include "ctl/message.h"
#include "ctl/options.h"

#include <apr_strings.h>

static void id_get(ctl_value_t *value, const void *row)
{
    value->text = pay_event_id(row, value->pool);
}

/* "transaction successful" */
static void title_get(ctl_value_t *value, const void *row)
{
    value->text =
        apr_pstrcat(value->pool, pay_event_notify(row), " ", pay_event_notify_type(row), NULL);
}

static void notify_get(ctl_value_t *value, const void *row)
{
    value->text = pay_event_notify(row);
}

static void notify_type_get(ctl_value_t *value, const void *row)
{
    value->text = pay_event_notify_type(row);
}

static void transaction_get(ctl_value_t *value, const void *row)
{
    value->number = (apr_int64_t)pay_event_charge_seq(row);
}

static void parked_get(ctl_value_t *value, const void *row)
{
    const pay_event_t *parked = ((const pay_event_t *)row)->parked;

    value->text = parked ? pay_event_id(parked, value->pool) : NULL;
}

static void standing_get(ctl_value_t *value, const void *row)
{
    value->text = pay_event_standing(row);
}

static void answer_get(ctl_value_t *value, const void *row)
{
    const pay_event_t *event = row;

    value->text = ctl_answer_text(event->answered_at, event->status, event->error, value->pool);
}

/* The webhook's body as it is sent; NULL: an e-mail. */
static void body_get(ctl_value_t *value, const void *row)
{
    const pay_event_t *event = row;
    pay_writer_t *w;

    if (event->endpoint == PAY_ENDPOINT_WEBHOOK) {
        w = pay_writer_make(1024, value->pool);
        pay_event_body_to_json(w, event);
        value->text = w->text;
    }
}

#define AT(member) CTL_FIELD(pay_event_t, member)
#define ALL (CTL_BOTH | CTL_CSV)
#define SHOWN (CTL_DETAILS | CTL_CSV)

/* CSV has the members of JSON, in their order. */
static const ctl_column_t columns[] = {
    {ALL, "id", "id", CTL_TEXT, .get = id_get},
    {CTL_BOTH, "event", NULL, CTL_TEXT, .get = title_get},
    {CTL_CSV, NULL, "notify", CTL_TEXT, .get = notify_get},
    {CTL_CSV, NULL, "notifyType", CTL_TEXT, .get = notify_type_get},
    {ALL, "to", "to", CTL_ENUM, AT(endpoint), .word = pay_endpoint_kind_name},
    {CTL_CSV, NULL, "domain", CTL_ENUM, AT(scope.mode), .word = pay_mode_name},
    {CTL_CSV, NULL, "transaction", CTL_NUMBER, .get = transaction_get},
    {CTL_ONE, "charge", "reference", CTL_TEXT,
     CTL_BEHIND(pay_event_t, charge, pay_charge_t, reference)},
    {CTL_ONE, "refund", "refundReference", CTL_TEXT,
     CTL_BEHIND(pay_event_t, refund, pay_refund_t, refund_reference)},
    {CTL_DETAILS, "gives up", NULL, CTL_TEXT, .get = parked_get},
    {SHOWN, "sequence", "sequence", CTL_NUMBER, AT(sequence)},
    {ALL, "standing", "standing", CTL_TEXT, .get = standing_get},
    {SHOWN, "created", "createdAt", CTL_TIME, AT(created_at)},
    {ALL, "tries", "tries", CTL_NUMBER, AT(failures)},
    {SHOWN, "first try", "firstTryAt", CTL_TIME, AT(first_try_at)},
    {ALL, "next try", "dueAt", CTL_TIME, AT(due_at)},
    {SHOWN, "parked", "parkedAt", CTL_TIME, AT(parked_at)},
    {SHOWN, "last try", "answeredAt", CTL_TIME, AT(answered_at)},
    {CTL_BOTH, "last answer", NULL, CTL_TEXT, .get = answer_get},
    {CTL_CSV, NULL, "status", CTL_NUMBER, AT(status)},
    {CTL_CSV, NULL, "error", CTL_TEXT, AT(error)},
    {SHOWN, "its body", "answer", CTL_TEXT, AT(answer)},
    {CTL_DETAILS, "body sent", NULL, CTL_TEXT, .get = body_get},
    {CTL_MORE, NULL, "body", CTL_RAW, .get = body_get},
    {0},
};

static void event_members(pay_writer_t *w, const void *row)
{
    pay_event_members_to_json(w, row);
}

static const ctl_view_t event_view = {.columns = columns, .members = event_members};

static const ctl_view_t detail_view = {
    .columns = columns, .is_details = 1, .members = event_members};

void ctl_event_print(const ctl_t *ctl, const pay_event_t *event)
{
    ctl_row_print(ctl, &event_view, event);
}

void ctl_event_details(const ctl_t *ctl, const pay_event_t *event)
{
    ctl_row_print(ctl, &detail_view, event);
}

typedef struct listing_t {
    ctl_t *ctl;
    pay_scope_t scope;
} listing_t;

static apr_status_t events_list(apr_array_header_t **rows, void *baton, const void *after,
                                apr_pool_t *p)
{
    const listing_t *listing = baton;
    const int parked = listing->ctl->option[CTL_OPTION_PARKED] != NULL;

    return pay_store_event_list(rows, listing->ctl->service.store, &listing->scope, parked, after,
                                PAY_STORE_ROWS_MAX, p);
}

ctl_exit_t ctl_event_list(ctl_t *ctl)
{
    static const pay_pager_t pager = {.list = events_list};
    listing_t listing = {.ctl = ctl};
    pay_account_t *account;
    apr_uint64_t limit;
    ctl_list_t *list;
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
    list = ctl_list_open(ctl, &event_view, limit);
    rv = ctl_list_walk(list, &pager, &listing);
    return ctl_list_end(list, rv, "cannot list the events");
}
