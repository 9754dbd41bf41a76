/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/charge.h"
#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "service/charge/decisions.h"

ctl_exit_t ctl_charge_resolve(ctl_t *ctl)
{
    const char *approved = pay_charge_state_name(PAY_CHARGE_SUCCESSFUL);
    const pay_problem_t *problem;
    pay_charge_t *charge, *decided;
    pay_outcome_t outcome;
    ctl_exit_t failed;

    failed = ctl_decision_read(&outcome, ctl, approved);
    if (!failed) {
        failed = ctl_charge_find(&charge, ctl);
    }
    if (failed) {
        return failed;
    }
    problem = pay_charge_resolve(&decided, &ctl->service, charge, &outcome, ctl->pool);
    if (problem) {
        return ctl_decision_fail(problem, "cannot decide the charge",
                                 (decided ? decided : charge)->held != PAY_NOT_HELD, &outcome,
                                 approved, ctl->pool);
    }
    ctl_charge_print(ctl, decided);
    return CTL_OK;
}
