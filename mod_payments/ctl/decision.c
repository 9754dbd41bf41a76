/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/decision.h"

#include "ctl/message.h"
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
