/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl_audit.h"
#include "ctl/ctl_charge.h"
#include "ctl/ctl_commands.h"
#include "ctl/ctl_decision.h"
#include "ctl/ctl_message.h"

#include <apr_strings.h>

/* The charge is not what it was when it was read. */
static ctl_exit_t decided_meanwhile(const pay_charge_t *charge)
{
    return ctl_fail(CTL_EXIT_REFUSED, "charge %s was decided meanwhile: it is %s",
                    charge->reference, pay_charge_state_name(charge->state));
}

static ctl_exit_t pending_decide(const ctl_t *ctl, const pay_charge_t *charge,
                                 pay_outcome_t *outcome)
{
    pay_charge_t *decided;
    apr_status_t rv;
    int changed;

    if (pay_charge_in_flight(charge)) {
        return ctl_decision_busy("charge", charge->reference, charge->wait_until_ms);
    }
    if (*charge->acquirer_reference) { /* somebody outside may have charged it all the same */
        ctl_decision_late_check(outcome);
    }
    rv = ctl->store->ops->charge_resolve(&decided, &changed, ctl->store, &charge->scope,
                                         charge->seq, outcome, 0, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot decide the charge");
    }
    if (!changed) {
        return decided_meanwhile(decided);
    }
    ctl_charge_print(ctl, decided);
    return CTL_OK;
}

/* It failed, something else was found at the acquirer later, and somebody has seen to that. */
static ctl_exit_t late_close(const ctl_t *ctl, const pay_charge_t *charge,
                             const pay_outcome_t *outcome)
{
    const pay_late_step_t step = {.from = charge->late,
                                  .to = charge->late,
                                  .held = PAY_NOT_HELD,
                                  .resolution = outcome->resolution};
    pay_charge_t *closed;
    apr_status_t rv;
    int changed;

    if (outcome->kind == PAY_OUTCOME_APPROVED) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "charge %s stays failed, because the shop was told so; refund it at the "
                        "acquirer, or make a new charge, and close the case with --outcome failed",
                        charge->reference);
    }
    rv = ctl->store->ops->charge_late(&closed, &changed, ctl->store, &charge->scope, charge->seq,
                                      &step, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot close the case of the charge");
    }
    if (!changed) {
        return decided_meanwhile(closed);
    }
    ctl_charge_print(ctl, closed);
    return CTL_OK;
}

ctl_exit_t ctl_charge_resolve(ctl_t *ctl)
{
    pay_outcome_t outcome;
    pay_charge_t *charge;
    ctl_exit_t failed;

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
    if (charge->state == PAY_CHARGE_PENDING) {
        return pending_decide(ctl, charge, &outcome);
    }
    if (charge->state == PAY_CHARGE_FAILED && charge->held != PAY_NOT_HELD) {
        return late_close(ctl, charge, &outcome);
    }
    return ctl_fail(CTL_EXIT_REFUSED, "charge %s is %s: it waits for no decision",
                    charge->reference, pay_charge_state_name(charge->state));
}
