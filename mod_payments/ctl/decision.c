/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/decision.h"

#include "ctl/charge.h"
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/refund.h"
#include "service/charge/decisions.h"

#include <apr_strings.h>
#include <string.h>

static const char *const late_texts[] = {
    [PAY_LATE_NONE] = NULL,
    [PAY_LATE_FOUND] = "found",
    [PAY_LATE_REFUNDING] = "refunding",
    [PAY_LATE_REFUNDED] = "refunded",
};
_Static_assert(sizeof(late_texts) / sizeof(late_texts[0]) == PAY_LATE_COUNT, "a text each");

static ctl_exit_t reason_check(const char *reason)
{
    const char *fault = pay_decision_reason_fault(reason);

    return fault ? ctl_fail(CTL_EXIT_ILLEGAL, "--reason: %s", fault) : CTL_OK;
}

ctl_exit_t ctl_decision_read(pay_outcome_t *out, const ctl_t *ctl, const char *approved)
{
    const char *word = ctl->option[CTL_OPTION_OUTCOME];

    *out = pay_decision_outcome(strcmp(word, approved) == 0, ctl->option[CTL_OPTION_REASON]);
    if (out->kind == PAY_OUTCOME_DECLINED && strcmp(word, "failed") != 0) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--outcome: want %s or failed", approved);
    }
    return reason_check(out->resolution);
}

const char *ctl_held_name(pay_held_t held)
{
    return held == PAY_NOT_HELD ? NULL : pay_held_name(held);
}

ctl_exit_t ctl_decision_fail(const pay_problem_t *problem, const char *what, int is_open,
                             const pay_outcome_t *given, const char *approved, apr_pool_t *p)
{
    pay_problem_t hinted = *problem;

    if (is_open && problem->error == PAY_ERR_REFERENCE_REUSED) {
        hinted.message =
            apr_pstrcat(p, problem->message, " Use --outcome ",
                        given->kind == PAY_OUTCOME_APPROVED ? "failed" : approved, ".", NULL);
    }
    return ctl_fail_service(&hinted, what, p);
}

const char *ctl_held_text(pay_held_t held, apr_pool_t *p)
{
    if (held == PAY_NOT_HELD) {
        return NULL;
    }
    return apr_pstrcat(p, pay_held_name(held), ": ", pay_held_text(held), NULL);
}

const char *ctl_late_text(pay_late_t late)
{
    return (unsigned int)late < PAY_LATE_COUNT ? late_texts[late] : "unknown";
}

/* ---- the commands */

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
