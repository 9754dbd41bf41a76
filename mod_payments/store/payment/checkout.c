/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/checkout.h"

#include "store/payment/charge.h"
#include "store/row.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* Scope and seq are the key's. New fields go to the end. */
static const pay_row_field_t checkout_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, page_id),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, link),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, phone),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, redirect_url),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, metadata),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, logo_url),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, title),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, description),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_checkout_t, expires_at),
    PAY_ROW_MAX(pay_checkout_t, step, PAY_CHECKOUT_STEP_COUNT - 1),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, acquirer_url),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_checkout_t, return_trusted),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_checkout_t, stranger),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_checkout_t, ended_at),
};
#define CHECKOUT_FIELDS (sizeof(checkout_fields) / sizeof(checkout_fields[0]))

int pay_store_checkout_decode(pay_checkout_t **out, const MDB_val *key, const MDB_val *row,
                              apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pcalloc(p, sizeof(*checkout));
    int rc;

    *out = NULL;
    rc = pay_row_decode(checkout, checkout_fields, CHECKOUT_FIELDS, row, NULL, p);
    if (rc || !pay_page_id_is(checkout->page_id)) {
        return pay_rows_bad(PAY_TABLE_CHECKOUT, key);
    }
    *out = checkout;
    return MDB_SUCCESS;
}

int pay_store_checkout_encode(MDB_val *out, const pay_checkout_t *checkout, apr_pool_t *p)
{
    return pay_row_encode(out, checkout_fields, CHECKOUT_FIELDS, checkout, p);
}

int pay_store_page_key(pay_store_key_t *key, const char *page_id)
{
    pay_store_key_start(key);
    return pay_page_id_is(page_id) && pay_store_key_bytes(key, page_id, PAY_PAGE_ID_LEN);
}

int pay_store_checkout_load(pay_charge_t *charge, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_checkout_t *checkout;
    pay_store_key_t key;
    MDB_val at, row;
    int rc;

    charge->checkout = NULL;
    if (charge->kind != PAY_CHARGE_CHECKOUT) {
        return MDB_SUCCESS;
    }
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_CHECKOUT, &at);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    rc = pay_store_checkout_decode(&checkout, &at, &row, p);
    if (rc == PAY_ROWS_BAD) {
        return MDB_SUCCESS; /* what happened to the money does not depend on it */
    }
    if (!rc) {
        charge->checkout = checkout;
    }
    return rc;
}

int pay_store_checkout_add(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    int rc;

    if (!charge->checkout) {
        return MDB_SUCCESS;
    }
    rc = pay_store_checkout_opened(txn, charge, p);
    return rc == MDB_KEYEXIST ? EINVAL : rc; /* no duplicate reference, which that code means */
}

int pay_store_checkout_is_asked(const pay_charge_t *charge)
{
    return charge->checkout
           && (charge->scope.mode == PAY_LIVE || charge->checkout->step == PAY_CHECKOUT_SENT);
}
