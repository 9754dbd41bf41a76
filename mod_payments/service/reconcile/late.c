/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/text/id.h"
#include "base/text/time.h"
#include "service/reconcile/parts.h"

#define TAG_BITS (PAY_TAG_LEN * 5)
#define REFUSED_AGAIN_AFTER apr_time_from_sec(60)
#define ASK_AFTER apr_time_from_sec(1)

/* Most of them only ever get the report that the acquirer has it, unpaid: they are queried like
 * closed ones (service/reconcile/checkout.c). */
static int is_unpaid_checkout(const pay_reconcile_row_t *row, const pay_acquirer_news_t *news)
{
    return news->present && !row->refund && row->charge->kind == PAY_CHARGE_CHECKOUT;
}

/*
 * Judges an answer that approves nothing: when to query again, and whether a person must look. Only
 * a report that it is absent, or was declined, ends the queries.
 */
static void judge_late(pay_reconcile_finding_t *finding, const pay_reconcile_row_t *row)
{
    const pay_reconcile_subject_t subject = pay_reconcile_subject(row);
    const pay_acquirer_news_t *news = &finding->news;
    const apr_time_t now = pay_time_now();

    finding->outcome.held = PAY_NOT_HELD;
    finding->due_at = 0;
    if (finding->outcome.kind != PAY_OUTCOME_UNKNOWN) {
        return;
    }
    if (!row->acquirer) {
        finding->outcome.held = PAY_HELD_NO_ACQUIRER;
    } else if (news->different || (subject.held == PAY_HELD_DIFFERENT && !news->absent)) {
        finding->outcome.held = PAY_HELD_DIFFERENT;
    }
    if (news->absent || news->different || is_unpaid_checkout(row, news)) {
        finding->due_at = pay_reconcile_next_late(now, subject.decided_at);
    } else {
        finding->due_at = pay_reconcile_soon(
            finding, pay_reconcile_next(now, subject.created_at, subject.attempts), now);
    }
}

/* Returns 1 if it was stored, and sets *out to the row as it is now (NULL allowed). */
static int step(pay_charge_t **out, const pay_reconcile_row_t *row, const pay_late_step_t *what)
{
    const pay_reconcile_subject_t subject = pay_reconcile_subject(row);
    const pay_charge_t *charge = row->charge;
    pay_charge_t *stored = NULL;
    apr_status_t rv;
    int changed = 0;

    rv = pay_store_charge_late(&stored, &changed, row->store, &charge->scope, charge->seq, what,
                               row->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00425) "a late finding about charge %s could not be stored",
                charge->reference);
        return 0;
    }
    if (out) {
        *out = stored;
    }
    if (changed) {
        pay_reconcile_tell(&subject, what->held);
    }
    return changed;
}

/* A person must decide. */
static void hold(const pay_reconcile_row_t *row, const pay_outcome_t *approval)
{
    const pay_late_step_t what = {.from = row->charge->late,
                                  .to = PAY_LATE_FOUND,
                                  .outcome = approval,
                                  .held = PAY_HELD_LATE};

    (void)step(NULL, row, &what);
}

/* Stores what is known of the refund under way. */
static void follow(const pay_reconcile_row_t *row, const pay_reconcile_finding_t *finding)
{
    const apr_time_t now = pay_time_now(), sent_at = row->charge->absent_since;
    pay_late_step_t what = {.from = PAY_LATE_REFUNDING, .to = PAY_LATE_REFUNDING};
    apr_interval_time_t age, left;

    if (finding->outcome.kind == PAY_OUTCOME_APPROVED) {
        what.to = PAY_LATE_REFUNDED;
        if (step(NULL, row, &what)) {
            pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                    PAYLOGNO(00424) "the late approval of charge %s was refunded",
                    row->charge->reference);
        }
        return;
    }
    left = pay_reconcile_absent_for(row, &row->charge->absent_from);
    if (finding->outcome.kind == PAY_OUTCOME_DECLINED || finding->news.different
        || (finding->news.absent && left == 0)) {
        hold(row, NULL);
        return;
    }
    if (finding->news.absent && !pay_moment_age(&age, &row->charge->absent_from)) {
        what.sent_at = sent_at; /* the machine was restarted since: time is counted again */
        what.sent = pay_moment_now();
    }
    what.held = pay_reconcile_held(finding, row, sent_at);
    what.due_at =
        pay_reconcile_soon(finding, pay_reconcile_next(now, sent_at, row->charge->attempts), now);
    if (finding->news.absent && what.due_at > now + left) {
        what.due_at = now + (left > ASK_AFTER ? left : ASK_AFTER);
    }
    (void)step(NULL, row, &what);
}

/* The row says that it may be sent; now it is, unless too much time has passed. */
static void send_now(const pay_reconcile_row_t *row, pay_acquiring_t *acquiring,
                     const pay_deadline_t *deadline)
{
    pay_late_step_t what = {.from = PAY_LATE_REFUNDING, .to = PAY_LATE_REFUNDING};
    pay_reconcile_finding_t finding = {.outcome = {.kind = PAY_OUTCOME_UNKNOWN}};
    apr_status_t rv = PAYMENTS_NOT_SENT;

    if (pay_time_boot_ms() <= deadline->send_before_ms) {
        rv = pay_acquiring_late_refund(&finding.outcome, acquiring, row->charge, row->pool);
    }
    if (rv == PAYMENTS_NOT_SENT) {
        pay_log(PAY_LOG_WARNING, rv,
                PAYLOGNO(00426) "the late approval of charge %s could not be refunded now: it is "
                                "tried again",
                row->charge->reference);
        what.to = PAY_LATE_NONE;
        what.due_at = pay_time_now() + REFUSED_AGAIN_AFTER;
        (void)step(NULL, row, &what);
        return;
    }
    if (finding.outcome.kind == PAY_OUTCOME_UNKNOWN) {
        what.due_at = pay_time_now() + ASK_AFTER;
        (void)step(NULL, row, &what);
        return;
    }
    follow(row, &finding);
}

/* Postpones it: as long as there is no place, or nothing of Live Mode is sent, the row does not say
 * that anything was sent. */
static void refund_later(const pay_reconcile_row_t *row)
{
    const pay_late_step_t what = {.from = PAY_LATE_NONE,
                                  .to = PAY_LATE_NONE,
                                  .due_at = pay_time_now() + REFUSED_AGAIN_AFTER,
                                  .held = row->charge->held};

    (void)step(NULL, row, &what);
}

/*
 * Refunds all of a late approval. The place is taken first: once the row says that the refund may
 * have been sent, it is queried by its tag, and never sent again.
 */
static void refund(const pay_reconcile_row_t *row, const pay_outcome_t *approval)
{
    pay_late_step_t what = {.from = PAY_LATE_NONE, .to = PAY_LATE_REFUNDING, .outcome = approval};
    pay_reconcile_row_t mine = *row;
    pay_acquiring_t acquiring;
    pay_deadline_t deadline;
    pay_charge_t *charge = NULL;
    apr_status_t rv;

    rv = pay_id_make(&what.tag, "", TAG_BITS, row->pool);
    if (rv != APR_SUCCESS || pay_reconcile_is_put_back(row)
        || pay_reconcile_is_off(row, row->charge->scope.mode)
        || pay_acquiring_enter_own(&acquiring, row->acquirer, row->pool)) {
        refund_later(row);
        return;
    }
    deadline = pay_deadline_make(row->acquirer);
    what.due_at = deadline.due_at;
    what.sent_at = pay_time_now();
    what.sent = pay_moment_now();
    if (step(&charge, row, &what)) {
        mine.charge = charge;
        send_now(&mine, &acquiring, &deadline);
    }
    pay_acquiring_leave(&acquiring);
}

static void check(const pay_reconcile_row_t *row)
{
    pay_late_step_t what = {.from = PAY_LATE_NONE, .to = PAY_LATE_NONE};
    pay_reconcile_finding_t finding;

    pay_reconcile_ask(&finding, row, 0);
    if (finding.outcome.kind != PAY_OUTCOME_APPROVED) {
        judge_late(&finding, row);
        what.due_at = finding.due_at;
        what.held = finding.outcome.held;
        (void)step(NULL, row, &what);
    } else if (row->service->policy.late_refund && !finding.outcome.spent) {
        refund(row, &finding.outcome);
    } else {
        hold(row, &finding.outcome);
    }
}

int pay_reconcile_charge_late(const pay_reconcile_row_t *row)
{
    const pay_charge_t *charge = row->charge;
    const pay_late_step_t over = {.from = charge->late, .to = charge->late, .held = charge->held};
    pay_reconcile_finding_t finding;

    switch (charge->late) {
    case PAY_LATE_NONE:
        check(row);
        break;
    case PAY_LATE_REFUNDING:
        pay_reconcile_ask(&finding, row, 1);
        follow(row, &finding);
        break;
    case PAY_LATE_FOUND:
    case PAY_LATE_REFUNDED:
    case PAY_LATE_COUNT:
        (void)step(NULL, row, &over); /* there is nothing left to query */
        break;
    }
    return 0;
}

int pay_reconcile_refund_late(const pay_reconcile_row_t *row)
{
    const pay_reconcile_subject_t subject = pay_reconcile_subject(row);
    const pay_refund_t *refund = row->refund;
    const pay_outcome_t *found = NULL;
    pay_reconcile_finding_t finding;
    pay_refund_t *stored = NULL;
    apr_status_t rv;
    int changed = 0;

    pay_reconcile_ask(&finding, row, 0);
    judge_late(&finding, row);
    if (finding.outcome.kind == PAY_OUTCOME_APPROVED) {
        found = &finding.outcome;
        finding.outcome.held = PAY_HELD_LATE;
    }
    rv = pay_store_refund_late(&stored, &changed, row->store, &refund->scope,
                               refund->refund_reference, found, finding.due_at,
                               finding.outcome.held, NULL, row->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00420) "a late finding about refund %s could not be stored",
                refund->refund_reference);
    } else if (changed) {
        pay_reconcile_tell(&subject, finding.outcome.held);
    }
    return 0;
}
