/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "ctl/refund.h"
#include "service/charge/decisions.h"

ctl_exit_t ctl_refund_resolve(ctl_t *ctl)
{
    const char *approved = pay_refund_state_name(PAY_REFUND_PROCESSED);
    const pay_problem_t *problem;
    pay_refund_t *refund, *decided;
    pay_outcome_t outcome;
    ctl_exit_t failed;

    failed = ctl_decision_read(&outcome, ctl, approved);
    if (!failed) {
        failed = ctl_refund_find(&refund, ctl);
    }
    if (failed) {
        return failed;
    }
    problem = pay_refund_resolve(&decided, &ctl->service, refund, &outcome, ctl->pool);
    if (problem) {
        return ctl_decision_fail(problem, "cannot decide the refund",
                                 (decided ? decided : refund)->held != PAY_NOT_HELD, &outcome,
                                 approved, ctl->pool);
    }
    ctl_refund_print(ctl, decided);
    return CTL_OK;
}
