/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCRIPTED_ACQUIRER_H
#define SCRIPTED_ACQUIRER_H

/* An acquirer that answers what a test says, for what the simulator cannot be made to do. */

#include "acquirer/pay_acquirer.h"

/* The scripted acquirer's next answers, and what it was asked. */
typedef struct script_t {
    apr_status_t status;
    pay_outcome_t outcome;
    void (*meanwhile)(const pay_charge_t *charge, const pay_refund_t *refund);
    int calls; /* charge and refund */
    int queries;
} script_t;

static script_t script;

static inline apr_status_t script_answer(pay_outcome_t *out, const pay_charge_t *charge,
                                         const pay_refund_t *refund)
{
    if (script.meanwhile) {
        script.meanwhile(charge, refund);
    }
    *out = script.outcome;
    return script.status;
}

static inline apr_status_t script_charge(pay_outcome_t *out, void *context,
                                         const pay_charge_t *charge, apr_interval_time_t timeout,
                                         apr_pool_t *p)
{
    (void)context, (void)timeout, (void)p;
    __atomic_fetch_add(&script.calls, 1, __ATOMIC_SEQ_CST);
    return script_answer(out, charge, NULL);
}

static inline apr_status_t script_charge_query(pay_outcome_t *out, void *context,
                                               const pay_charge_t *charge,
                                               apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context, (void)timeout, (void)p;
    script.queries++;
    return script_answer(out, charge, NULL);
}

static inline apr_status_t script_refund(pay_outcome_t *out, void *context,
                                         const pay_refund_t *refund, const pay_charge_t *charge,
                                         apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context, (void)timeout, (void)p;
    script.calls++;
    return script_answer(out, charge, refund);
}

static inline apr_status_t script_refund_query(pay_outcome_t *out, void *context,
                                               const pay_refund_t *refund,
                                               const pay_charge_t *charge,
                                               apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context, (void)timeout, (void)p;
    script.queries++;
    return script_answer(out, charge, refund);
}

#define SCRIPT_ACQUIRER                                                                            \
    .struct_size = sizeof(pay_acquirer_t), .abi = PAY_ACQUIRER_ABI, .name = "scripted",            \
    .charge = script_charge, .charge_query = script_charge_query, .refund = script_refund,         \
    .refund_query = script_refund_query

static const pay_acquirer_t script_acquirer = {SCRIPT_ACQUIRER};
/* Asked before the charge is written. */
static const pay_acquirer_t script_pure_acquirer = {SCRIPT_ACQUIRER, .is_pure = 1};

#endif
