/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_log.h"
#include "base/pay_time.h"
#include "service/pay_reconcile_parts.h"

#define SOONEST apr_time_from_sec(1)
#define REFUSED_AGAIN_AFTER apr_time_from_sec(60)

pay_reconcile_subject_t pay_reconcile_subject(const pay_reconcile_row_t *row)
{
    const pay_charge_t *charge = row->charge;
    const pay_refund_t *refund = row->refund;

    if (refund) {
        return (pay_reconcile_subject_t){.noun = "refund",
                                         .reference = refund->refund_reference,
                                         .acquirer = refund->acquirer,
                                         .scope = &refund->scope,
                                         .absent_message =
                                             "The refund was not received by the acquirer.",
                                         .created_at = refund->created_at,
                                         .decided_at = refund->decided_at,
                                         .attempts = refund->attempts,
                                         .absent_since = refund->absent_since,
                                         .held = refund->held};
    }
    return (pay_reconcile_subject_t){.noun = "charge",
                                     .reference = charge->reference,
                                     .acquirer = charge->acquirer,
                                     .scope = &charge->scope,
                                     .absent_message =
                                         "The charge was not received by the acquirer.",
                                     .created_at = charge->created_at,
                                     .decided_at = charge->decided_at,
                                     .attempts = charge->attempts,
                                     .absent_since = charge->absent_since,
                                     .held = charge->held};
}

void pay_reconcile_ask(pay_reconcile_finding_t *out, const pay_reconcile_row_t *row, int late)
{
    *out = (pay_reconcile_finding_t){.outcome = {.kind = PAY_OUTCOME_UNKNOWN}};
    if (!row->acquirer) {
        return;
    }
    /* A failure is an unknown outcome, and was logged. */
    (void)pay_acquiring_query(&out->outcome, &out->news, row->acquirer, row->refund, row->charge,
                              late, row->pool);
    if (out->news.trouble != PAYMENTS_NO_TROUBLE) {
        out->news.absent = 0; /* nobody whose key is refused is told what there is */
    }
    row->answer->answered = out->news.present || out->news.absent ? 1 : -1;
    row->answer->patience = out->news.trouble == PAYMENTS_BUSY ? out->news.retry_after : 0;
}

pay_held_t pay_reconcile_held(const pay_reconcile_finding_t *finding,
                              const pay_reconcile_row_t *row, apr_time_t since)
{
    const pay_reconcile_subject_t subject = pay_reconcile_subject(row);
    const int answered = finding->news.present || finding->news.absent;

    if (!row->acquirer) {
        return PAY_HELD_NO_ACQUIRER;
    }
    if (finding->news.different || (subject.held == PAY_HELD_DIFFERENT && !answered)) {
        return PAY_HELD_DIFFERENT;
    }
    if (pay_time_now() - since >= row->service->policy.pending_alert) {
        return PAY_HELD_OVERDUE;
    }
    return PAY_NOT_HELD;
}

/* Since when the acquirer has said that there is none; an answer that says nothing changes nothing.
 */
static apr_time_t absent_since(const pay_acquirer_news_t *news, apr_time_t was, apr_time_t now)
{
    if (news->absent) {
        return was ? was : now;
    }
    return news->present ? 0 : was;
}

apr_time_t pay_reconcile_soon(const pay_reconcile_finding_t *finding, apr_time_t due_at,
                              apr_time_t now)
{
    const apr_time_t soon = now + REFUSED_AGAIN_AFTER;

    return finding->news.trouble == PAYMENTS_CREDENTIALS && due_at > soon ? soon : due_at;
}

void pay_reconcile_judge(pay_reconcile_finding_t *finding, const pay_reconcile_row_t *row)
{
    const pay_reconcile_subject_t subject = pay_reconcile_subject(row);
    pay_outcome_t *outcome = &finding->outcome;
    const apr_time_t now = pay_time_now();
    apr_time_t gone_at;

    finding->due_at = 0;
    if (outcome->kind != PAY_OUTCOME_UNKNOWN) {
        return;
    }
    outcome->absent_since = absent_since(&finding->news, subject.absent_since, now);
    gone_at = outcome->absent_since + (row->service ? row->service->policy.late_after : 0);
    /* One answer is never enough: what was sent may still be on its way. */
    if (finding->news.absent && subject.absent_since && now >= gone_at) {
        *outcome = (pay_outcome_t){.kind = PAY_OUTCOME_DECLINED,
                                   .code = "",
                                   .message = subject.absent_message,
                                   .authorization_code = "",
                                   .late_check_at = pay_reconcile_next_late(now, now)};
        return;
    }
    outcome->held = pay_reconcile_held(finding, row, subject.created_at);
    finding->due_at = pay_reconcile_soon(
        finding, pay_reconcile_next(now, subject.created_at, subject.attempts), now);
    if (outcome->absent_since && gone_at > now && finding->due_at > gone_at) {
        finding->due_at = gone_at > now + SOONEST ? gone_at : now + SOONEST;
    }
}

static void tell_late(const pay_reconcile_subject_t *subject)
{
    pay_log(PAY_LOG_ALERT, APR_SUCCESS,
            PAYLOGNO(00423) "%s %s of account %u failed because acquirer %s did not know it, and "
                            "was carried out there all the same: set it right, then close it with "
                            "paymentsctl %s resolve",
            subject->noun, subject->reference, subject->scope->account, subject->acquirer,
            subject->noun);
}

void pay_reconcile_tell(const pay_reconcile_subject_t *subject, pay_held_t held)
{
    if (held == subject->held) {
        return;
    }
    switch (held) {
    case PAY_HELD_OVERDUE:
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00421) "%s %s of account %u has been pending at acquirer %s for too long: "
                                "see that it can be reached, and ask its people; it is asked again "
                                "and again. paymentsctl %s resolve tells what they say",
                subject->noun, subject->reference, subject->scope->account, subject->acquirer,
                subject->noun);
        return;
    case PAY_HELD_NO_ACQUIRER:
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00230) "%s %s of account %u is left as it is: its acquirer %s is not "
                                "configured. Put its PaymentsAcquirer back, or decide it with "
                                "paymentsctl %s resolve",
                subject->noun, subject->reference, subject->scope->account, subject->acquirer,
                subject->noun);
        return;
    case PAY_HELD_DIFFERENT:
        pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                PAYLOGNO(00422) "acquirer %s has something else than %s %s of account %u under its "
                                "reference: find out what, then decide it with paymentsctl %s "
                                "resolve",
                subject->acquirer, subject->noun, subject->reference, subject->scope->account,
                subject->noun);
        return;
    case PAY_HELD_LATE:
        tell_late(subject);
        return;
    case PAY_NOT_HELD:
    case PAY_HELD_COUNT:
        return;
    }
}
