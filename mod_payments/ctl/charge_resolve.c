/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/audit.h"
#include "ctl/charge.h"
#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "service/charge/decisions.h"

#include <apr_strings.h>

ctl_exit_t ctl_charge_resolve(ctl_t *ctl)
{
    pay_decision_t decision;
    pay_outcome_t outcome;
    pay_charge_t *charge, *decided;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_decision_read(&outcome, ctl, pay_charge_state_name(PAY_CHARGE_SUCCESSFUL));
    if (failed) {
        return failed;
    }
    failed = ctl_charge_find(&charge, ctl);
    if (failed) {
        return failed;
    }
    ctl_audit_say(ctl, charge->reference,
                  apr_pstrcat(ctl->pool, pay_mode_name(charge->scope.mode), ": ",
                              ctl->option[CTL_OPTION_OUTCOME], NULL));
    rv = pay_charge_decide(&decided, &decision, ctl->store, charge, &outcome, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot decide the charge");
    }
    switch (decision) {
    case PAY_DECISION_DONE:
        ctl_charge_print(ctl, decided);
        return CTL_OK;
    case PAY_DECISION_BUSY:
        return ctl_decision_busy("charge", charge->reference, pay_charge_busy_for(decided));
    case PAY_DECISION_REFUNDED:
        return ctl_fail(CTL_EXIT_REFUSED,
                        "charge %s cannot have failed: refund %s of it was made, so it was "
                        "approved; say --outcome successful",
                        charge->reference, pay_decision_refund(ctl->store, charge, ctl->pool));
    case PAY_DECISION_STAYS_FAILED:
        return ctl_fail(CTL_EXIT_REFUSED,
                        "charge %s stays failed, because the shop was told so; refund it at the "
                        "acquirer, or make a new charge, and close the case with --outcome failed",
                        charge->reference);
    case PAY_DECISION_MEANWHILE:
        return ctl_fail(CTL_EXIT_REFUSED, "charge %s was decided meanwhile: it is %s",
                        charge->reference, pay_charge_state_name(decided->state));
    default:
        return ctl_fail(CTL_EXIT_REFUSED, "charge %s is %s: it waits for no decision",
                        charge->reference, pay_charge_state_name(decided->state));
    }
}
