/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "service/acquiring.h"
#include "service/failures.h"
#include "service/reconcile/parts.h"

int pay_reconcile_charge(const pay_reconcile_row_t *row)
{
    const pay_reconcile_subject_t subject = pay_reconcile_subject(row);
    const pay_charge_t *charge = row->charge;
    pay_reconcile_finding_t finding;
    pay_charge_t *resolved = NULL;
    apr_status_t rv;
    int changed = 0;

    pay_reconcile_ask(&finding, row, 0);
    pay_reconcile_judge(&finding, row);
    if (pay_checkout_token_draw(&finding.outcome, charge, row->pool)) {
        return 0; /* it is due again when the lease is over */
    }
    rv = pay_store_charge_resolve(&resolved, &changed, row->store, &charge->scope, charge->seq,
                                  &finding.outcome, finding.due_at, row->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00231) "the outcome of charge %s could not be stored",
                charge->reference);
        return 0;
    }
    if (!changed) {
        return 0;
    }
    if (finding.outcome.kind == PAY_OUTCOME_UNKNOWN) {
        pay_reconcile_tell(&subject, finding.outcome.held);
        return 0;
    }
    pay_service_count(resolved);
    pay_failures_note_charge(row->service, resolved, &finding.outcome, NULL, row->pool);
    pay_log(finding.outcome.late_check_at ? PAY_LOG_NOTICE : PAY_LOG_INFO, APR_SUCCESS,
            PAYLOGNO(00232) "charge %s is %s after %u queries%s", charge->reference,
            pay_charge_state_name(resolved->state), (unsigned int)charge->attempts,
            finding.outcome.late_check_at ? ": its acquirer did not receive it" : "");
    return 1;
}
