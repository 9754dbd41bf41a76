/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/text/time.h"
#include "service/reconcile/parts.h"

#define SOONEST apr_time_from_sec(1)
#define AHEAD_MAX apr_time_from_sec(5 * 60) /* of a row's time; one further ahead counts as old */
#define REFUSED_AGAIN_AFTER apr_time_from_sec(60)

pay_reconcile_subject_t pay_reconcile_subject(const pay_reconcile_row_t *row)
{
    const pay_charge_t *charge = row->charge;
    const pay_refund_t *refund = row->refund;

    if (refund) {
        return (pay_reconcile_subject_t){
            .noun = "refund",
            .reference = refund->refund_reference,
            .acquirer = refund->acquirer,
            .scope = &refund->scope,
            .absent_message = "The refund was not received by the acquirer.",
            .created_at = pay_moment_wall(&refund->opened, refund->created_at),
            .decided_at = refund->decided_at,
            .attempts = refund->attempts,
            .absent_since = refund->absent_since,
            .absent_from = refund->absent_from,
            .held = refund->held};
    }
    return (pay_reconcile_subject_t){
        .noun = "charge",
        .reference = charge->reference,
        .acquirer = charge->acquirer,
        .scope = &charge->scope,
        .absent_message = "The charge was not received by the acquirer.",
        .created_at = pay_moment_wall(&charge->opened, charge->created_at),
        .decided_at = charge->decided_at,
        .attempts = charge->attempts,
        .absent_since = charge->absent_since,
        .absent_from = charge->absent_from,
        .held = charge->held};
}

/*
 * Returns 1 if the refund with this name at the acquirer is not the row's: it was made here, or
 * fetched before the row's was made.
 */
static int is_another(const pay_reconcile_row_t *row, const char *name)
{
    const pay_scope_t *scope = row->refund ? &row->refund->scope : &row->charge->scope;
    pay_refund_t *other;
    apr_status_t rv;

    rv = pay_store_refund_find_acquirer(&other, row->store, scope, name, "", row->pool);
    if (rv == APR_SUCCESS) {
        return 1;
    }
    rv = pay_store_refund_find(&other, row->store, scope, name, row->pool);
    return rv == APR_SUCCESS && row->refund && other->import_number != 0
           && other->seq < row->refund->seq;
}

/* An acquirer that drops notes drops the tag too: a similar unknown refund may be it. */
static void compare_similar(pay_reconcile_finding_t *finding, const pay_reconcile_row_t *row)
{
    const apr_array_header_t *similar = finding->news.similar;
    int i, known = 1;

    if (!finding->news.absent || !similar) {
        return;
    }
    for (i = 0; known && i < similar->nelts; i++) {
        known =
            i < PAYMENTS_SIMILAR_MAX && is_another(row, APR_ARRAY_IDX(similar, i, const char *));
    }
    if (!known) {
        finding->news.absent = 0;
        finding->news.present = finding->news.different = 1;
        finding->outcome.held = PAY_HELD_DIFFERENT;
    }
}

void pay_reconcile_ask(pay_reconcile_finding_t *out, const pay_reconcile_row_t *row, int late)
{
    *out = (pay_reconcile_finding_t){.outcome = {.kind = PAY_OUTCOME_UNKNOWN}};
    if (!row->acquirer) {
        return;
    }
    /* A failure is an unknown outcome, and was logged. */
    (void)pay_acquiring_query(&out->outcome, &out->news, row->acquirer, row->refund,
                              pay_service_asked(row->store, row->charge, row->pool), late,
                              row->pool);
    if (out->news.trouble != PAYMENTS_NO_TROUBLE) {
        out->news.absent = 0; /* if our key is refused, the acquirer reveals nothing */
    }
    row->answer->answered = out->news.present || out->news.absent || out->news.doubted ? 1 : -1;
    compare_similar(out, row);
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
    if (pay_time_is_over(since + row->service->policy.pending_alert, pay_time_now(),
                         row->service->policy.pending_alert + AHEAD_MAX)) {
        return PAY_HELD_OVERDUE;
    }
    return PAY_NOT_HELD;
}

apr_interval_time_t pay_reconcile_absent_for(const pay_reconcile_row_t *row,
                                             const pay_moment_t *from)
{
    const apr_interval_time_t wanted = row->service ? row->service->policy.late_after : 0;
    apr_interval_time_t age;

    if (!pay_moment_age(&age, from)) {
        return wanted > 0 ? wanted : 1;
    }
    return age < wanted ? wanted - age : 0;
}

/* Notes since when the acquirer has reported absence; an answer without a report changes
 * nothing. */
static void note_absence(pay_outcome_t *outcome, const pay_acquirer_news_t *news,
                         const pay_reconcile_subject_t *subject, apr_time_t now)
{
    apr_interval_time_t age;

    outcome->absent_since = subject->absent_since;
    outcome->absent_from = subject->absent_from;
    if (news->absent) {
        outcome->absent_since = subject->absent_since ? subject->absent_since : now;
        if (!pay_moment_age(&age, &subject->absent_from)) {
            outcome->absent_from = pay_moment_now();
        }
    } else if (news->present) {
        outcome->absent_since = 0;
        outcome->absent_from = (pay_moment_t){0, 0};
    }
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
    apr_interval_time_t left;

    finding->due_at = 0;
    if (outcome->kind != PAY_OUTCOME_UNKNOWN) {
        return;
    }
    note_absence(outcome, &finding->news, &subject, now);
    /* One answer is never enough: the request may still be on its way. */
    left = pay_reconcile_absent_for(row, &subject.absent_from);
    if (finding->news.absent && left == 0) {
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
    if (outcome->absent_since && left > 0 && finding->due_at > now + left) {
        finding->due_at = now + (left > SOONEST ? left : SOONEST);
    }
}

static void tell_late(const pay_reconcile_subject_t *subject)
{
    pay_log(PAY_LOG_ALERT, APR_SUCCESS,
            PAYLOGNO(00423) "%s %s of account %u failed because acquirer %s did not know it, but "
                            "the acquirer carried it out: correct this, then close it with "
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
        pay_log(
            PAY_LOG_WARNING, APR_SUCCESS,
            PAYLOGNO(00421) "%s %s of account %u has been pending at acquirer %s for too long: "
                            "check that the acquirer can be reached, and ask its support; the "
                            "server keeps asking. Enter the decision with paymentsctl %s resolve",
            subject->noun, subject->reference, subject->scope->account, subject->acquirer,
            subject->noun);
        return;
    case PAY_HELD_NO_ACQUIRER:
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00230) "%s %s of account %u stays as it is: acquirer %s is not "
                                "configured. Put its PaymentsAcquirer back, or decide it with "
                                "paymentsctl %s resolve",
                subject->noun, subject->reference, subject->scope->account, subject->acquirer,
                subject->noun);
        return;
    case PAY_HELD_DIFFERENT:
        pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                PAYLOGNO(00422) "acquirer %s has a different payment under the reference of %s %s "
                                "of account %u: find out which, then decide it with paymentsctl "
                                "%s resolve",
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
