/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/event.h"

#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/message.h"
#include "service/outbox/events.h"

#include <stdio.h>
#include <string.h>

/* The webhook's body as it is sent; NULL: an e-mail. */
static const char *body_of(const pay_event_t *event, apr_pool_t *p)
{
    pay_writer_t *w;

    if (event->endpoint != PAY_ENDPOINT_WEBHOOK) {
        return NULL;
    }
    w = pay_writer_make(1024, p);
    pay_event_body_to_json(w, event);
    return w->text;
}

static void event_details(ctl_table_t *table, const void *row)
{
    const pay_event_t *event = row;
    apr_pool_t *p = ctl_table_pool(table);

    ctl_detail(table, "id", pay_event_id(event, p));
    ctl_detail(table, "event", ctl_event_title(event, p));
    ctl_detail(table, "to", pay_endpoint_kind_name(event->endpoint));
    ctl_detail(table, "charge", event->charge ? event->charge->reference : NULL);
    ctl_detail(table, "refund", event->refund ? event->refund->refund_reference : NULL);
    ctl_detail(table, "gives up", event->parked ? pay_event_id(event->parked, p) : NULL);
    ctl_detail_number(table, "sequence", event->sequence);
    ctl_detail(table, "standing", pay_event_standing(event));
    ctl_detail_time(table, "created", event->created_at);
    ctl_detail_number(table, "tries", event->failures);
    ctl_detail_time(table, "first try", event->first_try_at);
    ctl_detail_time(table, "next try", event->due_at);
    ctl_detail_time(table, "parked", event->parked_at);
    ctl_detail_time(table, "last try", event->answered_at);
    ctl_detail(table, "last answer",
               ctl_answer_text(event->answered_at, event->status, event->error, p));
    ctl_detail(table, "its body", event->answer);
    ctl_detail(table, "body sent", body_of(event, p));
}

/* What `event list` has, and the records. */
static void event_json(pay_writer_t *w, const void *row)
{
    const pay_event_t *event = row;
    const char *body = body_of(event, w->pool);

    pay_event_to_json(w, NULL, event);
    w->text[--w->len] = '\0'; /* opened again */
    pay_writer_string(w, "reference", event->charge ? event->charge->reference : NULL);
    pay_writer_string(w, "refundReference", event->refund ? event->refund->refund_reference : NULL);
    if (body) {
        pay_writer_raw(w, "body", body);
    } else {
        pay_writer_null(w, "body");
    }
    pay_writer_object_close(w);
}

static const ctl_view_t detail_view = {
    .titles = ctl_detail_titles, .cells = event_details, .json = event_json};

static ctl_exit_t event_absent(const pay_account_t *account, const pay_scope_t *scope)
{
    return ctl_fail(CTL_EXIT_REFUSED,
                    "account %s has no such event in %s mode that is not delivered; 'paymentsctl "
                    "event list' lists them",
                    account->name, pay_mode_name(scope->mode));
}

/* The undelivered event that the second argument names. */
static ctl_exit_t event_find(pay_event_t **out, ctl_t *ctl, const pay_scope_t *scope,
                             const pay_account_t *account)
{
    const char *id = ctl->arg[1];
    const pay_problem_t *problem;
    pay_event_t place;

    *out = NULL;
    if (strlen(id) > PAY_EVENT_ID_LEN) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "event id: want %d characters", PAY_EVENT_ID_LEN);
    }
    if (pay_event_id_parse(&place, id) != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL,
                        "event id: want evt_ and %d hex digits, as 'paymentsctl event list' "
                        "prints them",
                        PAY_EVENT_ID_LEN - 4);
    }
    problem = pay_event_find(out, &ctl->service, scope, id, ctl->pool);
    if (problem && problem->error == PAY_ERR_REFERENCE_UNKNOWN) {
        return event_absent(account, scope);
    }
    return problem ? ctl_fail_service(problem, "cannot read the event", ctl->pool) : CTL_OK;
}

ctl_exit_t ctl_event_show(ctl_t *ctl)
{
    pay_account_t *account;
    pay_event_t *event;
    pay_scope_t scope;
    ctl_exit_t failed;

    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    failed = event_find(&event, ctl, &scope, account);
    if (failed) {
        return failed;
    }
    ctl_row_print(ctl, &detail_view, event);
    return CTL_OK;
}

/* pay_event_retry or pay_event_drop. */
typedef const pay_problem_t *change_fn(pay_event_t **out, const pay_service_t *service,
                                       const pay_event_t *event, apr_pool_t *p);

/* What retry and drop have in common. */
typedef struct change_t {
    const ctl_t *ctl;
    const pay_scope_t *scope;
    change_fn *op;
    const char *failure;
    const char *done; /* "dropped" */
    apr_uint64_t count;
} change_t;

static apr_status_t parked_list(apr_array_header_t **rows, void *baton, const void *after,
                                apr_pool_t *p)
{
    const change_t *change = baton;

    return pay_store_event_list(rows, change->ctl->store, change->scope, 1, after,
                                PAY_STORE_ROWS_MAX, p);
}

static apr_status_t change_parked(void *baton, const void *event, apr_pool_t *p)
{
    change_t *change = baton;
    const pay_problem_t *problem;
    pay_event_t *changed;

    problem = change->op(&changed, &change->ctl->service, event, p);
    if (!problem) {
        change->count++;
        return APR_SUCCESS;
    }
    return problem->cause; /* APR_SUCCESS: somebody else was first */
}

static ctl_exit_t change_all(ctl_t *ctl, change_t *change)
{
    static const pay_pager_t pager = {.list = parked_list, .each = change_parked};
    pay_writer_t *w;
    apr_status_t rv;

    rv = pay_pager_walk(&pager, change, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, change->failure);
    }
    if (ctl->json) {
        w = pay_writer_make(64, ctl->pool);
        pay_writer_object_open(w, NULL);
        pay_writer_integer(w, change->done, (apr_int64_t)change->count);
        pay_writer_object_close(w);
        ctl_json_print(w);
    } else {
        printf("%" APR_UINT64_T_FMT " %s\n", change->count, change->done);
    }
    return CTL_OK;
}

static ctl_exit_t change_one(ctl_t *ctl, const change_t *change, const pay_scope_t *scope,
                             const pay_account_t *account)
{
    const pay_problem_t *problem;
    pay_event_t *event, *changed;
    ctl_exit_t failed;

    failed = event_find(&event, ctl, scope, account);
    if (failed) {
        return failed;
    }
    problem = change->op(&changed, &ctl->service, event, ctl->pool);
    if (problem && problem->error == PAY_ERR_REFERENCE_UNKNOWN) {
        return event_absent(account, scope);
    }
    if (problem) {
        return ctl_fail_service(problem, change->failure, ctl->pool);
    }
    ctl_event_print(ctl, changed);
    return CTL_OK;
}

static ctl_exit_t event_change(ctl_t *ctl, change_t *change)
{
    pay_account_t *account;
    pay_scope_t scope;
    ctl_exit_t failed;

    if (!ctl->arg[1] == !ctl->option[CTL_OPTION_ALL]) {
        return ctl_fail(CTL_EXIT_USAGE,
                        "want either an event id or --all; see 'paymentsctl %s "
                        "--help'",
                        ctl->command->name);
    }
    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (ctl->arg[1]) {
        return change_one(ctl, change, &scope, account);
    }
    change->scope = &scope;
    return change_all(ctl, change);
}

ctl_exit_t ctl_event_retry(ctl_t *ctl)
{
    change_t change = {
        .ctl = ctl, .op = pay_event_retry, .failure = "cannot retry the event", .done = "retried"};

    return event_change(ctl, &change);
}

ctl_exit_t ctl_event_drop(ctl_t *ctl)
{
    change_t change = {
        .ctl = ctl, .op = pay_event_drop, .failure = "cannot drop the event", .done = "dropped"};

    return event_change(ctl, &change);
}
