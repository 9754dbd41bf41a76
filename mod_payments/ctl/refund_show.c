/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "ctl/refund.h"

#include <string.h>

static void refund_details(ctl_table_t *table, const void *row)
{
    const pay_refund_t *refund = row;
    apr_pool_t *p = ctl_table_pool(table);

    ctl_detail(table, "id", refund->id);
    ctl_detail(table, "refund", refund->refund_reference);
    ctl_detail(table, "charge", refund->transaction_reference);
    ctl_detail(table, "status", pay_refund_state_name(refund->state));
    ctl_detail(table, "waits for a person", ctl_held_text(refund->held, p));
    ctl_detail(table, "sent to the acquirer", refund->waiting ? "not yet" : "yes");
    ctl_table_cell(table, "amount");
    ctl_table_amount(table, refund->money.amount_minor, refund->money.currency);
    ctl_detail(table, "currency", refund->money.currency);
    ctl_detail(table, "decided because", refund->resolution);
    ctl_detail(table, "acquirer", refund->acquirer);
    ctl_detail(table, "its reference", refund->acquirer_reference);
    ctl_detail(table, "tag of ours", refund->tag);
    ctl_detail_time(table, "absent there since", refund->absent_since);
    ctl_detail(table, "channel", refund->channel);
    ctl_detail(table, "customer note", refund->customer_note);
    ctl_detail(table, "merchant note", refund->merchant_note);
    ctl_detail(table, "key", refund->key_id);
    ctl_detail_time(table, "created", refund->created_at);
    ctl_detail_time(table, "decided", refund->decided_at);
    ctl_detail_time(table, "updated", refund->updated_at);
    ctl_detail_time(table, "next question", refund->due_at);
}

/* The record, and behind it what is not told to shops. */
static void refund_json(pay_writer_t *w, const void *row)
{
    const pay_refund_t *refund = row;

    pay_writer_object_open(w, NULL);
    pay_refund_members_to_json(w, refund);
    pay_writer_string(w, "held", refund->held ? pay_held_name(refund->held) : NULL);
    pay_writer_bool(w, "waiting", refund->waiting);
    pay_writer_string(w, "resolution", refund->resolution);
    pay_writer_string(w, "acquirer", refund->acquirer);
    pay_writer_string(w, "acquirerReference", refund->acquirer_reference);
    pay_writer_string(w, "tag", refund->tag);
    pay_writer_time(w, "absentSince", refund->absent_since);
    pay_writer_time(w, "nextQuestionAt", refund->due_at);
    pay_writer_object_close(w);
}

static const ctl_view_t detail_view = {
    .titles = ctl_detail_titles, .cells = refund_details, .json = refund_json};

void ctl_refund_print(const ctl_t *ctl, const pay_refund_t *refund)
{
    ctl_row_print(ctl, &detail_view, refund);
}

ctl_exit_t ctl_refund_find(pay_refund_t **out, ctl_t *ctl)
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
    if (strlen(reference) > PAY_REFUND_REFERENCE_MAX) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "refund: want at most %d characters",
                        PAY_REFUND_REFERENCE_MAX);
    }
    rv = pay_reference_check(reference);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL,
                        "refund: want its reference, as 'paymentsctl refund list' prints it");
    }
    rv = pay_store_refund_find(out, ctl->store, &scope, reference, ctl->pool);
    if (rv == APR_NOTFOUND) {
        return ctl_fail(CTL_EXIT_REFUSED, "account %s has no refund %s in %s mode", account->name,
                        reference, pay_mode_name(scope.mode));
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read the refund");
    }
    return CTL_OK;
}

ctl_exit_t ctl_refund_show(ctl_t *ctl)
{
    pay_refund_t *refund;
    ctl_exit_t failed;

    failed = ctl_refund_find(&refund, ctl);
    if (failed) {
        return failed;
    }
    ctl_refund_print(ctl, refund);
    return CTL_OK;
}
