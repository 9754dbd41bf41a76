/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/text/time.h"
#include "service/acquiring.h"
#include "service/failures.h"
#include "service/reconcile/parts.h"

#define ASKED_FOR apr_time_from_sec(7 * 24 * 3600) /* how long a closed one is queried */

int pay_reconcile_is_checkout(const pay_charge_t *charge)
{
    return charge->checkout
           && (charge->state != PAY_CHARGE_PENDING || charge->checkout->step != PAY_CHECKOUT_SENT);
}

/* Not paid in time: abandons it, and an event goes to its shop; in Live Mode its acquirer is still
 * queried, at due_at. */
static int abandon(const pay_reconcile_row_t *row, apr_time_t now, apr_time_t due_at)
{
    const pay_charge_t *charge = row->charge;
    const pay_checkout_move_t what = {.from = charge->checkout->step,
                                      .to = PAY_CHECKOUT_EXPIRED,
                                      .now = now,
                                      .channel = charge->channel,
                                      .due_at = due_at};
    pay_charge_t *stored = NULL;
    apr_status_t rv;
    int changed = 0;

    rv = pay_store_checkout_move(&stored, &changed, row->store, &charge->scope, charge->seq, &what,
                                 row->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00575) "checkout %s was abandoned, but this could not be stored",
                charge->reference);
        return 0;
    }
    if (changed) {
        pay_log(PAY_LOG_INFO, APR_SUCCESS,
                PAYLOGNO(00576) "checkout %s was not paid in time: it is abandoned",
                charge->reference);
    }
    return changed;
}

/* Stores an answer about a checkout, or its absence; returns 1 if that decided it. */
static int store(const pay_reconcile_row_t *row, const pay_reconcile_finding_t *finding)
{
    const pay_reconcile_subject_t subject = pay_reconcile_subject(row);
    const pay_charge_t *charge = row->charge;
    pay_charge_t *resolved = NULL;
    apr_status_t rv;
    int changed = 0;

    rv = pay_store_charge_resolve(&resolved, &changed, row->store, &charge->scope, charge->seq,
                                  &finding->outcome, finding->due_at, row->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00577) "the outcome of checkout %s could not be stored",
                charge->reference);
        return 0;
    }
    if (!changed) {
        return 0;
    }
    if (finding->outcome.kind == PAY_OUTCOME_UNKNOWN) {
        pay_reconcile_tell(&subject, finding->outcome.held);
        return 0;
    }
    pay_service_count(resolved);
    pay_failures_note_charge(row->service, resolved, &finding->outcome, NULL, row->pool);
    pay_log(PAY_LOG_INFO, APR_SUCCESS, PAYLOGNO(00578) "checkout %s is %s", charge->reference,
            pay_charge_state_name(resolved->state));
    return 1;
}

/* A report that it does not know the checkout is not believed while its clock and ours differ; it
 * is believed once all times for queries of a closed one are over, by the boot clock. */
static int is_answer(const pay_reconcile_finding_t *finding, const pay_charge_t *charge)
{
    apr_interval_time_t age;

    return finding->news.present || finding->news.absent
           || (finding->news.doubted && pay_moment_age(&age, &charge->opened)
               && age > PAY_CHECKOUT_LIFETIME_MAX + ASKED_FOR);
}

/* "Not paid yet" is how every checkout begins: a person must look only if the acquirer is not
 * configured, has something else under its name, or has not answered for as long as closed ones are
 * queried. */
static pay_held_t held_of(const pay_reconcile_row_t *row, const pay_reconcile_finding_t *finding,
                          apr_time_t now)
{
    const pay_charge_t *charge = row->charge;
    const int answered = is_answer(finding, charge);
    apr_interval_time_t age;

    if (!row->acquirer) {
        return PAY_HELD_NO_ACQUIRER;
    }
    if (finding->news.different || (charge->held == PAY_HELD_DIFFERENT && !answered)) {
        return PAY_HELD_DIFFERENT;
    }
    /* A doubted report is as good as another, because the boot clock will end the queries. */
    if (charge->state != PAY_CHARGE_PENDING && !answered
        && !(finding->news.doubted && pay_moment_age(&age, &charge->opened))
        && pay_reconcile_next_late(now, charge->updated_at) == 0) {
        return PAY_HELD_OVERDUE;
    }
    return PAY_NOT_HELD;
}

/* As for any row whose acquirer was queried without an outcome. */
static apr_time_t next_try(const pay_reconcile_row_t *row, const pay_reconcile_finding_t *finding,
                           apr_time_t now)
{
    const pay_reconcile_subject_t subject = pay_reconcile_subject(row);

    return pay_reconcile_soon(finding,
                              pay_reconcile_next(now, subject.created_at, subject.attempts), now);
}

/* Returns the next query for one that was closed at `closed_at`; 0: no more. Only answers use up
 * the scheduled times. */
static apr_time_t next_closed(const pay_reconcile_row_t *row,
                              const pay_reconcile_finding_t *finding, apr_time_t closed_at,
                              apr_time_t now)
{
    if (is_answer(finding, row->charge)) {
        return pay_reconcile_next_late(now, closed_at);
    }
    return next_try(row, finding, now);
}

/* An open one is queried when its time is over, at the latest. */
static apr_time_t next_open(const pay_reconcile_row_t *row, const pay_reconcile_finding_t *finding,
                            apr_time_t now)
{
    const apr_time_t expires_at = row->charge->checkout->expires_at;
    const apr_time_t next = next_try(row, finding, now);

    return now < expires_at && next > expires_at ? expires_at : next;
}

/* The acquirer opened no page for it, or nobody knows whether it did: nobody can pay it. */
static void fail(pay_reconcile_finding_t *finding, apr_time_t now)
{
    finding->outcome = (pay_outcome_t){.kind = PAY_OUTCOME_DECLINED,
                                       .message = PAY_CHECKOUT_UNOPENED,
                                       .late_check_at = pay_reconcile_next_late(now, now)};
}

int pay_reconcile_checkout(const pay_reconcile_row_t *row)
{
    const pay_charge_t *charge = row->charge;
    const int is_open = charge->state == PAY_CHARGE_PENDING;
    const apr_time_t now = pay_time_now();
    pay_reconcile_finding_t finding;

    if (is_open && charge->scope.mode == PAY_TEST) {
        return abandon(row, now, 0);
    }
    pay_reconcile_ask(&finding, row, 0);
    if (finding.outcome.kind == PAY_OUTCOME_UNKNOWN) {
        if (is_open && !*charge->checkout->acquirer_url) {
            fail(&finding, now);
            return store(row, &finding);
        }
        finding.outcome.held = held_of(row, &finding, now);
        if (is_open && pay_checkout_is_over(charge, now)
            && finding.outcome.held != PAY_HELD_DIFFERENT) {
            return abandon(row, now, next_closed(row, &finding, now, now));
        }
        finding.due_at = is_open ? next_open(row, &finding, now)
                                 : next_closed(row, &finding, charge->updated_at, now);
    } else if (!is_open && finding.outcome.kind == PAY_OUTCOME_DECLINED
               && pay_charge_has_refunds(charge)) { /* it was paid, whatever is reported */
        finding.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_UNKNOWN, .held = PAY_HELD_DIFFERENT};
        finding.due_at = next_try(row, &finding, now);
    } else if (!is_open && finding.outcome.kind == PAY_OUTCOME_DECLINED) {
        finding.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_UNKNOWN};
        finding.due_at = 0; /* it stays closed, and queries end */
    }
    if (pay_checkout_token_draw(&finding.outcome, charge, row->pool)) {
        return 0; /* it is due again when the lease is over */
    }
    return store(row, &finding);
}
