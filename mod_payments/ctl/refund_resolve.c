/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/audit.h"
#include "ctl/commands.h"
#include "ctl/decision.h"
#include "ctl/message.h"
#include "ctl/refund.h"
#include "service/charge/decisions.h"

#include <apr_strings.h>

ctl_exit_t ctl_refund_resolve(ctl_t *ctl)
{
    pay_decision_t decision;
    pay_outcome_t outcome;
    pay_refund_t *refund, *decided;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_decision_read(&outcome, ctl, pay_refund_state_name(PAY_REFUND_PROCESSED));
    if (failed) {
        return failed;
    }
    failed = ctl_refund_find(&refund, ctl);
    if (failed) {
        return failed;
    }
    ctl_audit_say(ctl, refund->refund_reference,
                  apr_pstrcat(ctl->pool, pay_mode_name(refund->scope.mode), ": ",
                              ctl->option[CTL_OPTION_OUTCOME], NULL));
    rv = pay_refund_decide(&decided, &decision, ctl->store, refund, &outcome, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot decide the refund");
    }
    switch (decision) {
    case PAY_DECISION_DONE:
        ctl_refund_print(ctl, decided);
        return CTL_OK;
    case PAY_DECISION_BUSY:
        return ctl_decision_busy("refund", refund->refund_reference, pay_refund_busy_for(decided));
    case PAY_DECISION_STAYS_FAILED:
        return ctl_fail(CTL_EXIT_REFUSED,
                        "refund %s stays failed, because the shop was told so; do not refund its "
                        "amount again, and close the case with --outcome failed",
                        refund->refund_reference);
    case PAY_DECISION_MEANWHILE:
        return ctl_fail(CTL_EXIT_REFUSED, "refund %s was decided meanwhile: it is %s",
                        refund->refund_reference, pay_refund_state_name(decided->state));
    default:
        return ctl_fail(CTL_EXIT_REFUSED, "refund %s is %s: it waits for no decision",
                        refund->refund_reference, pay_refund_state_name(decided->state));
    }
}
