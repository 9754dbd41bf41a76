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

/* One refund that has no charge here, or had none. */
typedef struct unlinked_t {
    const pay_refund_t *refund;
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

static const char *const titles[] = {"REFUND", "ACQUIRER'S CHARGE", "STATUS",  "AMOUNT", "CURRENCY",
                                     "CHARGE", "VERDICT",           "CREATED", NULL};

static void cells(ctl_table_t *table, const void *row)
{
    const unlinked_t *unlinked = row;
    const pay_refund_t *refund = unlinked->refund;

    ctl_table_cell(table, refund->refund_reference);
    ctl_table_cell(table, unlinked->name);
    ctl_table_cell(table, pay_refund_state_name(refund->state));
    ctl_table_amount(table, refund->money.amount_minor, refund->money.currency);
    ctl_table_cell(table, refund->money.currency);
    ctl_table_cell(table, unlinked->charge);
    ctl_table_cell(table, unlinked->verdict);
    ctl_table_time(table, refund->created_at);
}

static void json(pay_writer_t *w, const void *row)
{
    const unlinked_t *unlinked = row;
    const pay_refund_t *refund = unlinked->refund;
    char amount[PAY_MONEY_TEXT_MAX];

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "refundReference", refund->refund_reference);
    pay_writer_string(w, "acquirerCharge", *unlinked->name ? unlinked->name : NULL);
    pay_writer_string(w, "status", pay_refund_state_name(refund->state));
    pay_writer_string(w, "amount",
                      refund->money.amount_minor > 0 ? pay_money_format(
                          amount, refund->money.amount_minor, refund->money.currency)
                                                     : NULL);
    pay_writer_string(w, "currency", *refund->money.currency ? refund->money.currency : NULL);
    pay_writer_string(w, "charge", unlinked->charge);
    pay_writer_string(w, "verdict", unlinked->verdict);
    pay_writer_time(w, "createdAt", refund->created_at);
    pay_writer_object_close(w);
}

static const ctl_view_t view = {.titles = titles, .cells = cells, .json = json};

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
    unlinked.refund = refund;
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
    return pay_store_refund_page(rows, &run->cursor, run->ctl->store, run->scope, &range, PAGE_ROWS,
                                 p);
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
