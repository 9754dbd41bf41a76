/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "ctl/refund.h"

#include <string.h>

static void held_get(ctl_value_t *value, const void *row)
{
    value->text = ctl_held_text(((const pay_refund_t *)row)->held, value->pool);
}

static void sent_get(ctl_value_t *value, const void *row)
{
    value->text = ((const pay_refund_t *)row)->waiting ? "not yet" : "yes";
}

#define AT(member) CTL_FIELD(pay_refund_t, member)

const ctl_column_t ctl_refund_columns[] = {
    {CTL_DETAILS, "id", NULL, CTL_TEXT, AT(id)},
    {CTL_BOTH, "refund", NULL, CTL_TEXT, AT(refund_reference)},
    {CTL_BOTH, "charge", NULL, CTL_TEXT, AT(transaction_reference)},
    {CTL_BOTH, "status", NULL, CTL_ENUM, AT(state), .word = pay_refund_state_name},
    {CTL_DETAILS, "waits for a person", NULL, CTL_TEXT, .get = held_get},
    {CTL_MORE, NULL, "held", CTL_ENUM, AT(held), .word = ctl_held_name},
    {CTL_DETAILS, "sent to the acquirer", NULL, CTL_TEXT, .get = sent_get},
    {CTL_MORE, NULL, "waiting", CTL_BOOL, AT(waiting)},
    {CTL_BOTH, "amount", NULL, CTL_AMOUNT, AT(money)},
    {CTL_BOTH, "currency", NULL, CTL_TEXT, AT(money.currency)},
    {CTL_ONE, "decided because", "resolution", CTL_TEXT, AT(resolution)},
    {CTL_ONE, "acquirer", "acquirer", CTL_TEXT, AT(acquirer)},
    {CTL_ONE, "its reference", "acquirerReference", CTL_TEXT, AT(acquirer_reference)},
    {CTL_ONE, "tag of ours", "tag", CTL_TEXT, AT(tag)},
    {CTL_ONE, "absent there since", "absentSince", CTL_TIME, AT(absent_since)},
    {CTL_BOTH, "channel", NULL, CTL_TEXT, AT(channel)},
    {CTL_DETAILS, "customer note", NULL, CTL_TEXT, AT(customer_note)},
    {CTL_DETAILS, "merchant note", NULL, CTL_TEXT, AT(merchant_note)},
    {CTL_DETAILS, "key", NULL, CTL_TEXT, AT(key_id)},
    {CTL_BOTH, "created", NULL, CTL_TIME, AT(created_at)},
    {CTL_DETAILS, "decided", NULL, CTL_TIME, AT(decided_at)},
    {CTL_DETAILS, "updated", NULL, CTL_TIME, AT(updated_at)},
    {CTL_ONE, "next question", "nextQuestionAt", CTL_TIME, AT(due_at)},
    {0},
};

static void refund_members(pay_writer_t *w, const void *row)
{
    pay_refund_members_to_json(w, row);
}

static const ctl_view_t detail_view = {
    .columns = ctl_refund_columns, .is_details = 1, .members = refund_members};

void ctl_refund_print(const ctl_t *ctl, const pay_refund_t *refund)
{
    ctl_row_print(ctl, &detail_view, refund);
}

ctl_exit_t ctl_refund_find(pay_refund_t **out, ctl_t *ctl)
{
    const char *reference;
    pay_account_t *account;
    pay_scope_t scope;
    ctl_exit_t failed;
    apr_status_t rv;

    *out = NULL;
    failed =
        ctl_reference_find(&reference, &scope, &account, ctl, "refund", PAY_REFUND_REFERENCE_MAX,
                           "its reference, as 'paymentsctl refund list' prints it");
    if (failed) {
        return failed;
    }
    rv = pay_store_refund_find(out, ctl->service.store, &scope, reference, ctl->pool);
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
