/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECONCILE_ROWS_H
#define RECONCILE_ROWS_H

/* Rows in the shop of reconcile_fixture.h. */

#include "reconcile_fixture.h"

static inline pay_charge_t *charge_of(const char *reference)
{
    pay_charge_t *charge;

    ck_assert_int_eq(STORE_REAL(charge_find)(&charge, shop->store, &live, reference, unit_pool),
                     APR_SUCCESS);
    return charge;
}

static inline pay_refund_t *refund_of(const char *reference)
{
    pay_refund_t *refund;

    ck_assert_int_eq(STORE_REAL(refund_find)(&refund, shop->store, &live, reference, unit_pool),
                     APR_SUCCESS);
    return refund;
}

/* A refund of 1 NGN of the charge, pending and due in a minute, or waiting to be sent. */
static inline pay_refund_t *refund_open(const char *charge, const char *reference, int waiting)
{
    const pay_refund_t proposal = {
        .id = apr_pstrcat(unit_pool, "ref_", reference, NULL),
        .refund_reference = reference,
        .money = {100, "NGN"},
        .scope = live,
        .channel = "API",
        .transaction_reference = charge,
        .acquirer = "scripted",
        .key_id = "",
        .due_at = pay_time_now() + MINUTE,
        .waiting = waiting,
        .tag = apr_psprintf(unit_pool, "%.*s", PAY_TAG_LEN,
                            apr_pstrcat(unit_pool, reference, "abcdefghijklmnopqrstuvwx", NULL))};
    pay_refund_verdict_t verdict;
    pay_charge_t *now;
    pay_refund_t *refund;
    pay_idempotency_record_t *record;

    ck_assert_int_eq(STORE_REAL(refund_open)(&refund, &now, &verdict, &record, shop->store,
                                             &proposal, NULL, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_REFUND_OPENED);
    return refund;
}

/* Charges of shop_charge.h name a key that does not exist. */
static inline void fault_add(void *baton, const char *text)
{
    (void)baton;
    ck_assert_msg(strstr(text, "no key has the id key_1") != NULL, "check: %s", text);
}

static inline void store_is_clean(void)
{
    apr_size_t faults;

    ck_assert_int_eq(pay_store_check(&faults, shop->store, fault_add, NULL, unit_pool),
                     APR_SUCCESS);
}

#endif
