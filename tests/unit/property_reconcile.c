/* SPDX-License-Identifier: Apache-2.0 */
#include "property.h"
#include "service/reconcile/reconcile.h"

/* Returns 1 if it is queried now; *decided counts those that this decides. */
static int charge_asked(int *decided, model_charge_t *charge, payments_verdict_t says)
{
    const pay_late_t becomes =
        property.service.policy.late_refund ? PAY_LATE_REFUNDED : PAY_LATE_FOUND;
    pay_outcome_kind_t kind;

    if (charge->kind != PAY_CHARGE_TOKENIZED) {
        if (charge->state != PAY_CHARGE_PENDING
            || property.now < charge->created_at + MODEL_CHECKOUT_LIFETIME) {
            return 0;
        }
        charge->state = PAY_CHARGE_ABANDONED; /* it was not paid in time */
        ++*decided;
        return 1;
    }
    if (charge->state != PAY_CHARGE_PENDING) {
        property.found_late += charge->question.late_at && charge->question.late_at <= property.now
                               && says == PAYMENTS_APPROVED;
        return model_question_late(&charge->question, says, becomes, property.now);
    }
    kind = model_question_answer(&charge->question, says, charge->created_at, property.now);
    *decided += kind != PAY_OUTCOME_UNKNOWN;
    model_charge_outcome(charge, kind);
    return 1;
}

static int refund_asked(int *decided, model_charge_t *charge, model_refund_t *refund,
                        payments_verdict_t says)
{
    pay_outcome_kind_t kind;

    if (refund->state != PAY_REFUND_PENDING) {
        return model_question_late(&refund->question, says, PAY_LATE_FOUND, property.now);
    }
    kind = model_question_answer(&refund->question, says, refund->created_at, property.now);
    *decided += kind != PAY_OUTCOME_UNKNOWN;
    model_refund_outcome(charge, refund, kind);
    return 1;
}

void property_reconcile(payments_verdict_t says)
{
    apr_array_header_t *services = apr_array_make(property.step, 1, sizeof(pay_service_t *));
    int i, k, settled, all = 0, asked = 0, want = 0;

    APR_ARRAY_PUSH(services, pay_service_t *) = &property.service;
    property.now += 2 * PROPERTY_HOUR;
    property_say_verdict(says);
    for (i = 0; i < property.model.charge_count; i++) {
        model_charge_t *charge = &property.model.charges[i];

        asked += charge_asked(&want, charge, says);
        for (k = 0; k < charge->refund_count; k++) {
            asked += refund_asked(&want, charge, &charge->refunds[k], says);
        }
    }
    for (i = 0; i < 1 + asked / PAY_RECONCILE_BATCH_MAX; i++) {
        HOLD(pay_reconcile_step(&settled, property.service.store, services, property.step)
                 == APR_SUCCESS,
             "reconciliation failed");
        all += settled;
    }
    HOLD(all == want, "it settled another number of rows");
}

void property_do_reconcile(void)
{
    static const payments_verdict_t verdicts[] = {
        PAYMENTS_APPROVED, PAYMENTS_APPROVED, PAYMENTS_DECLINED,  PAYMENTS_UNKNOWN,
        PAYMENTS_ABSENT,   PAYMENTS_PENDING,  PAYMENTS_DIFFERENT,
    };
    int times;

    for (times = 1 + property_below(3); times > 0; times--) {
        property_reconcile(verdicts[property_below(UNIT_ROWS(verdicts))]);
    }
}

/* The acquirer never received pending payments, or reports so, often enough. */
void property_do_absence(void)
{
    property_reconcile(PAYMENTS_ABSENT);
    property_reconcile(PAYMENTS_ABSENT);
}

/* All that failed for absence are queried once more, and were executed after all. */
void property_end_late(void)
{
    property.now += MODEL_LATE_CHECKS_END;
    property_reconcile(PAYMENTS_APPROVED);
}
