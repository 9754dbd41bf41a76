/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_checkout.h"

#include "store/pay_lmdb_account.h"
#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_link.h"
#include "store/pay_lmdb_row.h"
#include "store/pay_lmdb_rows.h"

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

int pay_lmdb_checkout_decode(pay_checkout_t **out, const MDB_val *key, const MDB_val *row,
                             apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pcalloc(p, sizeof(*checkout));
    int rc;

    *out = NULL;
    rc = pay_row_decode(checkout, checkout_fields, CHECKOUT_FIELDS, row, NULL, p);
    if (rc || !pay_page_id_is(checkout->page_id)) {
        return pay_lmdb_bad_row(PAY_TABLE_CHECKOUT, key);
    }
    *out = checkout;
    return MDB_SUCCESS;
}

int pay_lmdb_page_key(pay_lmdb_key_t *key, const char *page_id)
{
    pay_lmdb_key_start(key);
    return pay_page_id_is(page_id) && pay_lmdb_key_bytes(key, page_id, PAY_PAGE_ID_LEN);
}

int pay_lmdb_checkout_load(pay_charge_t *charge, MDB_txn *txn, const pay_lmdb_t *db, apr_pool_t *p)
{
    pay_checkout_t *checkout;
    pay_lmdb_key_t key;
    MDB_val at, row;
    int rc;

    charge->checkout = NULL;
    if (charge->kind != PAY_CHARGE_CHECKOUT) {
        return MDB_SUCCESS;
    }
    pay_lmdb_charge_key(&key, &charge->scope, charge->seq);
    at = pay_lmdb_key_val(&key);
    rc = mdb_get(txn, pay_lmdb_dbi(db, PAY_TABLE_CHECKOUT), &at, &row);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    rc = pay_lmdb_checkout_decode(&checkout, &at, &row, p);
    if (rc == PAY_LMDB_BAD_ROW) {
        return MDB_SUCCESS; /* what happened to the money does not depend on it */
    }
    if (!rc) {
        charge->checkout = checkout;
    }
    return rc;
}

int pay_lmdb_checkout_put(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge,
                          apr_pool_t *p)
{
    pay_lmdb_key_t key;
    MDB_val at, row;
    int rc;

    assert(charge->checkout);
    rc = pay_row_encode(&row, checkout_fields, CHECKOUT_FIELDS, charge->checkout, p);
    if (rc) {
        return rc;
    }
    pay_lmdb_charge_key(&key, &charge->scope, charge->seq);
    at = pay_lmdb_key_val(&key);
    return pay_lmdb_rows_put(txn, db, PAY_TABLE_CHECKOUT, &at, &row, 0);
}

/* Kind, scope and seq. */
static void page_value(unsigned char out[PAY_LMDB_PAGE_LEN], const pay_charge_t *charge)
{
    pay_lmdb_key_t place;

    out[0] = PAY_PAGE_CHECKOUT;
    pay_lmdb_charge_key(&place, &charge->scope, charge->seq);
    assert(place.len == PAY_LMDB_PAGE_LEN - 1);
    memcpy(out + 1, place.bytes, place.len);
}

int pay_lmdb_checkout_add(MDB_txn *txn, const pay_lmdb_t *db, pay_charge_t *charge, apr_pool_t *p)
{
    unsigned char place[PAY_LMDB_PAGE_LEN];
    pay_lmdb_key_t key;
    MDB_val at, val = {sizeof(place), place};
    int rc;

    if (!charge->checkout) {
        return MDB_SUCCESS;
    }
    if (!pay_lmdb_page_key(&key, charge->checkout->page_id)) {
        return EINVAL;
    }
    page_value(place, charge);
    at = pay_lmdb_key_val(&key);
    rc = mdb_put(txn, pay_lmdb_dbi(db, PAY_TABLE_PAGE), &at, &val, MDB_NOOVERWRITE);
    if (rc) {
        return rc == MDB_KEYEXIST ? EINVAL : rc; /* no duplicate reference, which that code means */
    }
    return pay_lmdb_checkout_opened(txn, db, charge, p);
}

int pay_lmdb_checkout_del(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge)
{
    pay_lmdb_key_t key;
    MDB_val at;
    int rc;

    if (!charge->checkout) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_checkout_forget(txn, db, charge);
    if (rc) {
        return rc;
    }
    if (pay_lmdb_page_key(&key, charge->checkout->page_id)) {
        at = pay_lmdb_key_val(&key);
        rc = mdb_del(txn, pay_lmdb_dbi(db, PAY_TABLE_PAGE), &at, NULL);
        if (rc && rc != MDB_NOTFOUND) {
            return rc;
        }
    }
    pay_lmdb_charge_key(&key, &charge->scope, charge->seq);
    at = pay_lmdb_key_val(&key);
    rc = pay_lmdb_rows_del(txn, db, PAY_TABLE_CHECKOUT, &at);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

int pay_lmdb_checkout_is_asked(const pay_charge_t *charge)
{
    return charge->checkout
           && (charge->scope.mode == PAY_LIVE || charge->checkout->step == PAY_CHECKOUT_SENT);
}

static int page_of_link(pay_store_page_t *out, MDB_txn *txn, const pay_lmdb_t *db,
                        const MDB_val *at, const MDB_val *place, apr_pool_t *p)
{
    const MDB_val key = {place->mv_size - 1, (unsigned char *)place->mv_data + 1};
    pay_link_t *link;
    int rc;

    rc = pay_lmdb_link_of_page(&link, txn, db, &key, p);
    if (!rc) {
        rc = pay_lmdb_account_by_number(&out->account, txn, db, link->scope.account, p);
    }
    if (rc == MDB_NOTFOUND) {
        return pay_lmdb_bad_row(PAY_TABLE_PAGE, at);
    }
    if (!rc) {
        out->link = link;
    }
    return rc;
}

/* What stands behind an id of table page. */
static int page_read(pay_store_page_t *out, MDB_txn *txn, const pay_lmdb_t *db, const MDB_val *at,
                     const MDB_val *place, apr_pool_t *p)
{
    const unsigned char *bytes = place->mv_data;
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    if (place->mv_size > 0 && bytes[0] == PAY_PAGE_LINK) {
        return page_of_link(out, txn, db, at, place, p);
    }
    if (place->mv_size != PAY_LMDB_PAGE_LEN || bytes[0] != PAY_PAGE_CHECKOUT) {
        return pay_lmdb_bad_row(PAY_TABLE_PAGE, at);
    }
    pay_lmdb_read_scope(&scope, bytes + 1);
    rc = pay_lmdb_charge_get(&charge, txn, db, &scope,
                             pay_lmdb_read_u64(bytes + 1 + PAY_LMDB_SCOPE_LEN), p);
    if (!rc && !charge->checkout) {
        return MDB_NOTFOUND;
    }
    if (!rc) {
        rc = pay_lmdb_account_by_number(&out->account, txn, db, scope.account, p);
    }
    if (rc == MDB_NOTFOUND) {
        return pay_lmdb_bad_row(PAY_TABLE_PAGE, at);
    }
    out->charge = charge;
    return rc;
}

apr_status_t pay_lmdb_page_find(pay_store_page_t *out, pay_store_t *store, const char *page_id,
                                apr_pool_t *p)
{
    pay_lmdb_t *db = (pay_lmdb_t *)store;
    pay_lmdb_key_t key;
    MDB_val at, place;
    MDB_txn *txn;
    apr_status_t rv;
    int rc;

    memset(out, 0, sizeof(*out));
    if (!pay_lmdb_page_key(&key, page_id)) {
        return APR_NOTFOUND;
    }
    rv = pay_lmdb_read_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    at = pay_lmdb_key_val(&key);
    rc = mdb_get(txn, pay_lmdb_dbi(db, PAY_TABLE_PAGE), &at, &place);
    if (!rc) {
        rc = page_read(out, txn, db, &at, &place, p);
    }
    pay_lmdb_read_end(db, txn);
    return pay_lmdb_status(rc);
}
