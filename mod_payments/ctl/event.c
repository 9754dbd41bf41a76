/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/event.h"

#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/message.h"
#include "service/outbox/events.h"

#include <stdio.h>
#include <string.h>

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
    ctl_event_details(ctl, event);
    return CTL_OK;
}

/* pay_event_retry or pay_event_drop. */
typedef const pay_problem_t *change_fn(pay_event_t **out, const pay_service_t *service,
                                       const pay_event_t *event, apr_pool_t *p);

/* What retry and drop have in common. */
typedef struct change_t {
    const ctl_t *ctl;
    pay_scope_t scope;
    change_fn *op;
    const char *failure;
    const char *done; /* "dropped" */
    apr_uint64_t count;
} change_t;

static apr_status_t parked_list(apr_array_header_t **rows, void *baton, const void *after,
                                apr_pool_t *p)
{
    const change_t *change = baton;

    return pay_store_event_list(rows, change->ctl->service.store, &change->scope, 1, after,
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
        w = ctl_object_open(ctl);
        pay_writer_integer(w, change->done, (apr_int64_t)change->count);
        ctl_object_print(w);
    } else {
        printf("%" APR_UINT64_T_FMT " %s\n", change->count, change->done);
    }
    return CTL_OK;
}

static ctl_exit_t change_one(ctl_t *ctl, const change_t *change, const pay_account_t *account)
{
    const pay_problem_t *problem;
    pay_event_t *event, *changed;
    ctl_exit_t failed;

    failed = event_find(&event, ctl, &change->scope, account);
    if (failed) {
        return failed;
    }
    problem = change->op(&changed, &ctl->service, event, ctl->pool);
    if (problem && problem->error == PAY_ERR_REFERENCE_UNKNOWN) {
        return event_absent(account, &change->scope);
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
    ctl_exit_t failed;

    if (!ctl->arg[1] == !ctl->option[CTL_OPTION_ALL]) {
        return ctl_fail(CTL_EXIT_USAGE,
                        "want either an event id or --all; see 'paymentsctl %s "
                        "--help'",
                        ctl->command->name);
    }
    failed = ctl_scope_find(&change->scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (ctl->arg[1]) {
        return change_one(ctl, change, account);
    }
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
