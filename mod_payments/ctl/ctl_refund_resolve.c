/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_time.h"
#include "ctl/ctl_audit.h"
#include "ctl/ctl_commands.h"
#include "ctl/ctl_decision.h"
#include "ctl/ctl_message.h"
#include "ctl/ctl_refund.h"

#include <apr_strings.h>

#define CLAIM_SECONDS 60 /* a claim whose process dies: the server asks about the refund then */

static ctl_exit_t decided_meanwhile(const pay_refund_t *refund)
{
    return ctl_fail(CTL_EXIT_REFUSED, "refund %s was decided meanwhile: it is %s",
                    refund->refund_reference, pay_refund_state_name(refund->state));
}

/* What waits to be sent is taken away from the server first, which else could send it yet. */
static ctl_exit_t waiting_claim(const ctl_t *ctl, const pay_refund_t *refund)
{
    const pay_worker_t self = pay_worker_self();
    const apr_int64_t now_ms = pay_time_boot_ms();
    pay_refund_t *claimed;
    apr_status_t rv;
    int mine;

    rv = ctl->store->ops->refund_claim(
        &claimed, &mine, ctl->store, &refund->scope, refund->refund_reference, &self, now_ms,
        now_ms + CLAIM_SECONDS * 1000, pay_time_now() + apr_time_from_sec(CLAIM_SECONDS),
        ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot take the refund away from the server");
    }
    if (mine) {
        return CTL_OK;
    }
    if (claimed->state != PAY_REFUND_PENDING) {
        return decided_meanwhile(claimed);
    }
    return ctl_decision_busy("refund", claimed->refund_reference, claimed->wait_until_ms);
}

static ctl_exit_t pending_decide(const ctl_t *ctl, const pay_refund_t *refund,
                                 pay_outcome_t *outcome)
{
    pay_refund_t *decided;
    ctl_exit_t failed;
    apr_status_t rv;
    int changed;

    if (pay_refund_in_flight(refund)) {
        return ctl_decision_busy("refund", refund->refund_reference, refund->wait_until_ms);
    }
    if (refund->waiting) {
        failed = waiting_claim(ctl, refund);
        if (failed) {
            return failed;
        }
    } else if (*refund->tag) { /* sent to somebody outside, who may have done it all the same */
        ctl_decision_late_check(outcome);
    }
    rv = ctl->store->ops->refund_resolve(&decided, &changed, ctl->store, &refund->scope,
                                         refund->refund_reference, outcome, 0, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot decide the refund");
    }
    if (!changed) {
        return decided_meanwhile(decided);
    }
    ctl_refund_print(ctl, decided);
    return CTL_OK;
}

/* It failed, something else was found at the acquirer later, and somebody has seen to that. */
static ctl_exit_t late_close(const ctl_t *ctl, const pay_refund_t *refund,
                             const pay_outcome_t *outcome)
{
    pay_refund_t *closed;
    apr_status_t rv;
    int changed;

    if (outcome->kind == PAY_OUTCOME_APPROVED) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "refund %s stays failed, because the shop was told so; do not refund its "
                        "amount again, and close the case with --outcome failed",
                        refund->refund_reference);
    }
    rv = ctl->store->ops->refund_late(&closed, &changed, ctl->store, &refund->scope,
                                      refund->refund_reference, NULL, 0, PAY_NOT_HELD,
                                      outcome->resolution, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot close the case of the refund");
    }
    if (!changed) {
        return decided_meanwhile(closed);
    }
    ctl_refund_print(ctl, closed);
    return CTL_OK;
}

ctl_exit_t ctl_refund_resolve(ctl_t *ctl)
{
    pay_outcome_t outcome;
    pay_refund_t *refund;
    ctl_exit_t failed;

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
    if (refund->state == PAY_REFUND_PENDING) {
        return pending_decide(ctl, refund, &outcome);
    }
    if (refund->state == PAY_REFUND_FAILED && refund->held != PAY_NOT_HELD) {
        return late_close(ctl, refund, &outcome);
    }
    return ctl_fail(CTL_EXIT_REFUSED, "refund %s is %s: it waits for no decision",
                    refund->refund_reference, pay_refund_state_name(refund->state));
}
