/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/checkout.h"

#include "store/account/api_key.h"
#include "store/record/rows.h"

#include <apr_strings.h>
#include <string.h>

int pay_store_checkout_of_stranger(int *out, pay_rows_txn_t *txn, const pay_charge_t *charge,
                                   apr_pool_t *p)
{
    *out = 0;
    if (!charge->checkout) {
        return MDB_SUCCESS;
    }
    if (!charge->key_id || !*charge->key_id) { /* of a page: no key asked for it */
        *out = *charge->checkout->link != '\0';
        return MDB_SUCCESS;
    }
    return pay_store_api_key_is_public(out, txn, charge->key_id, p);
}

int pay_store_checkout_opened(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pmemdup(p, charge->checkout, sizeof(*checkout));
    int rc;

    checkout->ended_at = 0;
    rc = pay_store_checkout_of_stranger(&checkout->stranger, txn, charge, p);
    if (rc) {
        return rc;
    }
    charge->checkout = checkout;
    rc = pay_store_checkout_put(txn, charge, p);
    if (!rc && checkout->stranger) {
        rc = pay_store_rows_strangers(txn, &charge->scope, 1);
    }
    return rc;
}

int pay_store_checkout_list_at(pay_rows_txn_t *txn, pay_charge_t *charge, apr_time_t ended_at,
                               apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pmemdup(p, charge->checkout, sizeof(*checkout));

    checkout->ended_at = ended_at;
    charge->checkout = checkout;
    return pay_store_checkout_put(txn, charge, p);
}

/* Paid: it stays, and is no stranger's any more. */
static int paid(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pmemdup(p, charge->checkout, sizeof(*checkout));
    int rc;

    rc = pay_store_checkout_forget(txn, charge);
    checkout->stranger = 0;
    checkout->ended_at = 0;
    charge->checkout = checkout;
    return rc ? rc : pay_store_checkout_put(txn, charge, p);
}

int pay_store_checkout_ended(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    if (!charge->checkout || !charge->checkout->stranger) {
        return MDB_SUCCESS;
    }
    switch (charge->state) {
    case PAY_CHARGE_SUCCESSFUL:
    case PAY_CHARGE_REVERSED:
        return paid(txn, charge, p);
    case PAY_CHARGE_FAILED:
    case PAY_CHARGE_VOID:
    case PAY_CHARGE_ABANDONED:
        if (charge->checkout->ended_at != 0
            || pay_rows_table_is_missing(txn, PAY_TABLE_CHECKOUT_SWEEP)) {
            return MDB_SUCCESS;
        }
        return pay_store_checkout_list_at(txn, charge, charge->updated_at, p);
    case PAY_CHARGE_PENDING:
    case PAY_CHARGE_STATE_COUNT:
        break;
    }
    return MDB_SUCCESS;
}

int pay_store_checkout_forget(pay_rows_txn_t *txn, const pay_charge_t *charge)
{
    return charge->checkout->stranger ? pay_store_rows_strangers(txn, &charge->scope, -1)
                                      : MDB_SUCCESS;
}
