/* SPDX-License-Identifier: Apache-2.0 */

/* refund link: the refunds of the acquirer's books that belong to no charge here, and those of them
 * whose charge is here by now. */

#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "service/refund/refund_import.h"

#include <string.h>

#define PAGE_ROWS 100
#define SHOWN (CTL_TABLE | CTL_JSON)

/* One refund that has no charge here, or had none. */
typedef struct unlinked_t {
    pay_refund_t refund;
    const char *name; /* what the acquirer calls its charge; "": nothing */
    const char *charge;
    const char *verdict;
} unlinked_t;

typedef struct run_t {
    ctl_t *ctl;
    const pay_scope_t *scope;
    ctl_list_t *list;
    int change;
    apr_uint64_t linked; /* or would be */
    apr_uint64_t left;
    pay_page_cursor_t cursor;
} run_t;

/* Imported history may have left it out. */
static void amount_get(ctl_value_t *value, const void *row)
{
    const pay_money_t *money = &((const unlinked_t *)row)->refund.money;

    value->number = money->amount_minor;
    value->currency = money->amount_minor > 0 ? money->currency : NULL;
}

#define AT(member) CTL_FIELD(unlinked_t, member)

static const ctl_column_t columns[] = {
    {SHOWN, "refund", "refundReference", CTL_TEXT, AT(refund.refund_reference)},
    {SHOWN, "acquirer's charge", "acquirerCharge", CTL_NAME, AT(name)},
    {SHOWN, "status", "status", CTL_ENUM, AT(refund.state), .word = pay_refund_state_name},
    {SHOWN, "amount", "amount", CTL_AMOUNT, .get = amount_get},
    {SHOWN, "currency", "currency", CTL_NAME, AT(refund.money.currency)},
    {SHOWN, "charge", "charge", CTL_TEXT, AT(charge)},
    {SHOWN, "verdict", "verdict", CTL_TEXT, AT(verdict)},
    {SHOWN, "created", "createdAt", CTL_TIME, AT(refund.created_at)},
    {0},
};

static const ctl_view_t view = {.columns = columns};

static const char *verdict_text(run_t *run, pay_refund_link_t verdict)
{
    switch (verdict) {
    case PAY_REFUND_LINKED:
        run->linked++;
        return run->change ? "linked" : "can be linked";
    case PAY_REFUND_LINK_DIFFERENT:
        run->left++;
        return "does not fit its charge";
    default:
        run->left++;
        return "charge not known here";
    }
}

/* Each that is changed has an entry of its own in the audit. */
static apr_status_t link_one(void *baton, const void *row, apr_pool_t *p)
{
    run_t *run = baton;
    const pay_refund_t *before = row;
    const char *reference = before->refund_reference;
    unlinked_t unlinked = {.name = before->acquirer_charge};
    const pay_problem_t *problem;
    pay_refund_link_t verdict;
    pay_refund_t *refund;
    pay_charge_t *charge;

    if (before->charge_seq != 0) {
        return APR_SUCCESS;
    }
    problem = pay_refund_attach(&refund, &charge, &verdict, &run->ctl->service, run->scope,
                                reference, run->change, p);
    if (problem || verdict == PAY_REFUND_LINK_KNOWN) {
        return problem ? problem->cause : APR_SUCCESS; /* APR_SUCCESS: somebody else was faster */
    }
    if (*unlinked.name == '\0' && before->transaction_reference) {
        unlinked.name = before->transaction_reference;
    }
    unlinked.refund = *refund;
    unlinked.charge = charge ? charge->reference : NULL;
    unlinked.verdict = verdict_text(run, verdict);
    ctl_list_row(run->list, &unlinked);
    return APR_SUCCESS;
}

static apr_status_t refunds_list(apr_array_header_t **rows, void *baton, const void *after,
                                 apr_pool_t *p)
{
    const pay_time_range_t range = {APR_INT64_MIN, APR_INT64_MAX};
    run_t *run = baton;

    (void)after;
    return pay_store_refund_page(rows, &run->cursor, run->ctl->service.store, run->scope, &range,
                                 PAGE_ROWS, p);
}

ctl_exit_t ctl_refund_link(ctl_t *ctl)
{
    run_t run = {.ctl = ctl, .change = ctl->option[CTL_OPTION_YES] != NULL};
    const pay_pager_t pager = {refunds_list, link_one, &run.cursor.done};
    pay_account_t *account;
    ctl_exit_t failed;
    pay_scope_t scope;
    apr_status_t rv;

    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (scope.mode != PAY_LIVE) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--mode: want live; nothing leaves Test Mode, so no "
                                          "acquirer has names for it");
    }
    run.scope = &scope;
    run.list = ctl_list_open(ctl, &view, 0);
    rv = ctl_list_walk(run.list, &pager, &run);
    ctl_list_close(run.list);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read all of the refunds");
    }
    if (run.linked && !run.change) {
        ctl_note("%" APR_UINT64_T_FMT " of them can be linked: the same command with --yes does "
                 "it.",
                 run.linked);
    }
    return CTL_OK;
}
