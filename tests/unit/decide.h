/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_H
#define DECIDE_H

#include "unit.h"

#include "service/charge/decisions.h"

/* Applies a person's decision about a charge, as it was read; returns the charge afterwards. */
static inline pay_charge_t *decide_charge(pay_decision_t want, pay_store_t *store,
                                          const pay_charge_t *charge, int approved,
                                          const char *reason)
{
    const pay_outcome_t outcome = pay_decision_outcome(approved, reason);
    pay_decision_t decision;
    pay_charge_t *out;

    ck_assert_int_eq(pay_charge_decide(&out, &decision, store, charge, &outcome, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(decision, want);
    ck_assert_ptr_nonnull(out);
    return out;
}

#endif
