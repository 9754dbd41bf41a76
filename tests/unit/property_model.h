/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROPERTY_MODEL_H
#define PROPERTY_MODEL_H

/*
 * The rules of charges and refunds, in the plainest form: no store, no time-outs, no JSON.
 * test_property.c drives the real services with the same operations and compares.
 */

#include "model/charge.h"
#include "model/refund.h"
#include "property_question.h"

#include <assert.h>

#define MODEL_CHARGES_MAX 6
#define MODEL_REFUNDS_MAX 40
#define MODEL_REFUSALS_MAX 40

typedef struct model_refund_t {
    const char *reference;
    const char *key; /* Idempotency-Key; NULL: none */
    apr_int64_t amount_minor;
    apr_int64_t asked_minor; /* 0: the whole remainder */
    pay_refund_state_t state;
    apr_time_t created_at;
    const char *answer; /* the first one after the decision */
    model_question_t question;
} model_refund_t;

typedef struct model_charge_t {
    const char *reference;
    const char *key;
    pay_charge_kind_t kind;
    apr_int64_t amount_minor;
    pay_charge_state_t state;
    apr_time_t created_at;
    const char *answer;
    model_question_t question;
    model_refund_t refunds[MODEL_REFUNDS_MAX];
    int refund_count;
} model_charge_t;

/* A refund that was refused, under a key that remembers it. */
typedef struct model_refusal_t {
    const model_charge_t *charge;
    const char *key;
    apr_int64_t asked_minor;
    const char *code;
    apr_time_t created_at;
} model_refusal_t;

typedef struct model_t {
    model_charge_t charges[MODEL_CHARGES_MAX];
    int charge_count;
    model_refusal_t refusals[MODEL_REFUSALS_MAX];
    int refusal_count;
} model_t;

static inline apr_int64_t model_sum(const model_charge_t *charge, pay_refund_state_t state)
{
    apr_int64_t sum = 0;
    int i;

    for (i = 0; i < charge->refund_count; i++) {
        if (charge->refunds[i].state == state) {
            sum += charge->refunds[i].amount_minor;
        }
    }
    return sum;
}

/* Reversed means a successful charge of which nothing is left. */
static inline void model_settle(model_charge_t *charge)
{
    int all = model_sum(charge, PAY_REFUND_PROCESSED) == charge->amount_minor;

    if (charge->state == PAY_CHARGE_SUCCESSFUL && all) {
        charge->state = PAY_CHARGE_REVERSED;
    } else if (charge->state == PAY_CHARGE_REVERSED && !all) {
        charge->state = PAY_CHARGE_SUCCESSFUL;
    }
}

static inline void model_charge_outcome(model_charge_t *charge, pay_outcome_kind_t kind)
{
    if (kind == PAY_OUTCOME_APPROVED
        && (charge->state == PAY_CHARGE_PENDING || charge->state == PAY_CHARGE_VOID)) {
        charge->state = PAY_CHARGE_SUCCESSFUL;
    } else if (kind == PAY_OUTCOME_DECLINED && charge->state == PAY_CHARGE_PENDING) {
        charge->state = PAY_CHARGE_FAILED;
    }
}

static inline void model_refund_outcome(model_charge_t *charge, model_refund_t *refund,
                                        pay_outcome_kind_t kind)
{
    if (refund->state != PAY_REFUND_PENDING || kind == PAY_OUTCOME_UNKNOWN) {
        return;
    }
    refund->state = kind == PAY_OUTCOME_APPROVED ? PAY_REFUND_PROCESSED : PAY_REFUND_FAILED;
    model_settle(charge);
}

/* Returns the code of the refusal of a refund, or "" if it must be made. */
static inline const char *model_refund_judge(const model_charge_t *charge, apr_int64_t asked_minor,
                                             const char *key, apr_time_t window_start)
{
    apr_int64_t unrefunded = charge->amount_minor - model_sum(charge, PAY_REFUND_PROCESSED);
    int i, repeated = 0, pending = 0;

    for (i = 0; i < charge->refund_count; i++) {
        const model_refund_t *refund = &charge->refunds[i];

        pending |= refund->state == PAY_REFUND_PENDING;
        repeated |= refund->state != PAY_REFUND_FAILED && refund->amount_minor == asked_minor
                    && (refund->state == PAY_REFUND_PENDING || refund->created_at >= window_start);
    }
    if (charge->state != PAY_CHARGE_SUCCESSFUL && charge->state != PAY_CHARGE_REVERSED) {
        return "R1";
    }
    if (repeated && !key) {
        return "R5";
    }
    if (charge->state == PAY_CHARGE_REVERSED) {
        return "R3";
    }
    if (asked_minor > unrefunded) {
        return "R2";
    }
    return pending ? "R4" : "";
}

static inline model_refund_t *model_refund_add(model_charge_t *charge, apr_int64_t asked_minor,
                                               const char *key, apr_time_t now)
{
    apr_int64_t left = charge->amount_minor - model_sum(charge, PAY_REFUND_PROCESSED);
    model_refund_t *refund = &charge->refunds[charge->refund_count++];

    assert(charge->refund_count <= MODEL_REFUNDS_MAX);
    memset(refund, 0, sizeof(*refund));
    refund->key = key;
    refund->asked_minor = asked_minor;
    refund->amount_minor = asked_minor > 0 ? asked_minor : left;
    refund->state = PAY_REFUND_PENDING;
    refund->created_at = now;
    return refund;
}

#endif
