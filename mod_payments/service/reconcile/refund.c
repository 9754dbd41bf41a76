/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/text/time.h"
#include "service/reconcile/parts.h"

#define SEND_AGAIN_AFTER apr_time_from_sec(60)
#define HELD_AGAIN_AFTER apr_time_from_sec(5) /* in a store that was restored */
#define ASK_AFTER apr_time_from_sec(1)

/* Stores the finding. Returns 1 if it is decided. */
static int resolve(const pay_reconcile_finding_t *finding, const pay_reconcile_row_t *row)
{
    const pay_reconcile_subject_t subject = pay_reconcile_subject(row);
    const pay_refund_t *refund = row->refund;
    pay_refund_t *resolved = NULL;
    apr_status_t rv;
    int changed = 0;

    rv = pay_store_refund_resolve(&resolved, &changed, row->store, &refund->scope,
                                  refund->refund_reference, &finding->outcome, finding->due_at,
                                  row->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00234) "the outcome of refund %s could not be stored",
                refund->refund_reference);
        return 0;
    }
    if (!changed) {
        return 0;
    }
    if (finding->outcome.kind == PAY_OUTCOME_UNKNOWN) {
        pay_reconcile_tell(&subject, finding->outcome.held);
        return 0;
    }
    pay_log(finding->outcome.late_check_at ? PAY_LOG_NOTICE : PAY_LOG_INFO, APR_SUCCESS,
            PAYLOGNO(00235) "refund %s is %s after %u queries%s", refund->refund_reference,
            pay_refund_state_name(resolved->state), (unsigned int)refund->attempts,
            finding->outcome.late_check_at ? ": its acquirer did not receive it" : "");
    return 1;
}

int pay_reconcile_refund(const pay_reconcile_row_t *row)
{
    pay_reconcile_finding_t finding;

    pay_reconcile_ask(&finding, row, 0);
    if (row->refund->import_number != 0) {
        finding.news.absent = 0; /* its acquirer listed it: a report of absence now decides
                                  * nothing */
    }
    pay_reconcile_judge(&finding, row);
    return resolve(&finding, row);
}

/* Nothing was sent, and nothing is known of it: it goes on waiting. */
static int wait_for(const pay_reconcile_row_t *row, pay_held_t held, apr_interval_time_t wait)
{
    pay_reconcile_finding_t finding = {.outcome = {.kind = PAY_OUTCOME_UNKNOWN}};
    const apr_time_t latest = pay_time_now() + wait;

    pay_reconcile_judge(&finding, row);
    if (held) {
        finding.outcome.held = held;
    } else if (finding.due_at > latest) {
        finding.due_at = latest;
    }
    return resolve(&finding, row);
}

static int wait_on(const pay_reconcile_row_t *row, pay_held_t held)
{
    return wait_for(row, held, SEND_AGAIN_AFTER);
}

static int not_sent(const pay_reconcile_row_t *row)
{
    static const pay_reconcile_finding_t finding = {
        .outcome = {.kind = PAY_OUTCOME_DECLINED,
                    .code = "",
                    .message = "The refund was not sent to the acquirer.",
                    .authorization_code = ""}};

    return resolve(&finding, row);
}

/* It is ours and no longer waits: from here on it may have been sent. */
static int send_now(const pay_reconcile_row_t *row, pay_acquiring_t *acquiring)
{
    pay_reconcile_finding_t finding = {.outcome = {.kind = PAY_OUTCOME_UNKNOWN}};
    const pay_refund_t *refund = row->refund;
    apr_status_t rv;

    if (pay_time_boot_ms() > refund->send_before_ms) {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00427) "refund %s was claimed too late to be sent: it failed",
                refund->refund_reference);
        return not_sent(row);
    }
    rv = pay_acquiring_refund(&finding.outcome, acquiring, refund, row->charge, row->pool);
    if (rv == PAYMENTS_NOT_SENT) {
        pay_log(PAY_LOG_WARNING, rv,
                PAYLOGNO(00428) "refund %s could not be sent to acquirer %s: it failed",
                refund->refund_reference, refund->acquirer);
        return not_sent(row);
    }
    if (finding.outcome.kind == PAY_OUTCOME_UNKNOWN) {
        finding.due_at = pay_time_now() + ASK_AFTER;
    }
    return resolve(&finding, row);
}

/*
 * It was already sent if this store is a copy of one that went on. Returns 1 if its acquirer
 * reports absence, so that it may be sent; else *settled is the result of the row.
 */
static int ask_first(int *settled, const pay_reconcile_row_t *row)
{
    const apr_time_t latest = pay_time_now() + SEND_AGAIN_AFTER;
    pay_reconcile_finding_t finding;

    pay_reconcile_ask(&finding, row, 0);
    if (finding.news.absent && !finding.news.different) {
        return 1;
    }
    finding.news.absent = 0; /* its absence is measured from when it was sent */
    pay_reconcile_judge(&finding, row);
    finding.outcome.received = finding.news.present && !finding.news.different;
    if (finding.outcome.kind == PAY_OUTCOME_UNKNOWN && !finding.news.different
        && finding.due_at > latest) {
        finding.due_at = latest;
    }
    *settled = resolve(&finding, row);
    return 0;
}

/* Claims it, and sends it. */
static int claim_and_send(const pay_reconcile_row_t *row)
{
    const pay_refund_t *refund = row->refund;
    pay_reconcile_row_t mine = *row;
    pay_acquiring_t acquiring;
    pay_deadline_t deadline;
    pay_refund_t *claimed;
    apr_status_t rv;
    int is_ours = 0, settled = 0;

    if (pay_acquiring_enter_own(&acquiring, row->acquirer, row->pool)) {
        return wait_on(row, PAY_NOT_HELD);
    }
    deadline = pay_deadline_make(row->acquirer);
    rv = pay_store_refund_claim(&claimed, &is_ours, row->store, &refund->scope,
                                refund->refund_reference, &deadline.worker, deadline.send_before_ms,
                                deadline.wait_until_ms, deadline.due_at, row->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00429) "refund %s could not be claimed: it is not sent",
                refund->refund_reference);
    } else if (is_ours) {
        mine.refund = claimed;
        settled = send_now(&mine, &acquiring);
    }
    pay_acquiring_leave(&acquiring);
    return settled;
}

int pay_reconcile_refund_send(const pay_reconcile_row_t *row)
{
    const pay_refund_t *refund = row->refund;
    int settled = 0;

    if (!row->acquirer) {
        return pay_reconcile_refund(row);
    }
    if (!row->charge) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00233) "refund %s is not sent: its charge is unknown",
                refund->refund_reference);
        return wait_on(row, PAY_HELD_OVERDUE);
    }
    if (pay_reconcile_is_put_back(row)) {
        return wait_for(row, PAY_NOT_HELD, HELD_AGAIN_AFTER);
    }
    if (pay_reconcile_is_off(row, refund->scope.mode)) {
        return wait_on(row, PAY_NOT_HELD);
    }
    return ask_first(&settled, row) ? claim_and_send(row) : settled;
}
