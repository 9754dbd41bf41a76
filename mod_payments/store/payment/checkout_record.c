/* SPDX-License-Identifier: Apache-2.0 */

/* The row of a checkout together with its indexes: its page, and the list of what is removed. */

#include "store/payment/checkout.h"

#include "store/payment/charge.h"
#include "store/record/record.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- its page, which never changes */

static int page_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_checkout_t *checkout = record;
    unsigned char place[PAY_STORE_PAGE_LEN];

    assert(at->len == sizeof(place) - 1);
    place[0] = PAY_PAGE_CHECKOUT;
    memcpy(place + 1, at->bytes, at->len);
    entry->table = PAY_TABLE_PAGE;
    pay_store_entry_value(entry, place, sizeof(place));
    return pay_store_page_key(&entry->key, checkout->page_id) ? MDB_SUCCESS : EINVAL;
}

static int is_same_page(const void *before, const void *after)
{
    return strcmp(((const pay_checkout_t *)before)->page_id,
                  ((const pay_checkout_t *)after)->page_id)
           == 0;
}

static int row_of_page(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    const char *place = value->mv_data;

    (void)key;
    return value->mv_size == PAY_STORE_PAGE_LEN && place[0] == PAY_PAGE_CHECKOUT
           && pay_store_key_of(row_key, place + 1, value->mv_size - 1);
}

/* ---- what ended unpaid, by when */

static int sweep_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_checkout_t *checkout = record;

    if (checkout->ended_at == 0) {
        return MDB_NOTFOUND;
    }
    entry->table = PAY_TABLE_CHECKOUT_SWEEP;
    entry->value_len = 0;
    pay_store_key_start(&entry->key);
    pay_store_key_time(&entry->key, checkout->ended_at);
    (void)pay_store_key_bytes(&entry->key, at->bytes, at->len);
    return MDB_SUCCESS;
}

static int row_of_sweep(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    (void)value;
    return pay_store_key_of(row_key, (const char *)key->mv_data + sizeof(apr_uint64_t),
                            PAY_STORE_CHARGE_KEY_LEN);
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_PAGE},
     .entry_of = page_of,
     .is_same = is_same_page,
     .row_of = row_of_page,
     .rule = PAY_INDEX_UNIQUE,
     .missing = "its page does not lead to it",
     .astray = "leads to no checkout or link of that page"},
    {.tables = {PAY_TABLE_CHECKOUT_SWEEP},
     .key_len = PAY_STORE_CHECKOUT_SWEEP_KEY_LEN,
     .entry_of = sweep_of,
     .row_of = row_of_sweep,
     .missing = "it is not listed for its removal",
     .astray = "leads to no checkout that ended then"},
};

static int load(void **record, pay_rows_txn_t *txn, const MDB_val *row_key, apr_pool_t *p)
{
    pay_checkout_t *checkout = NULL;
    MDB_val at = *row_key, row;
    int rc;

    rc = pay_rows_get(&row, txn, PAY_TABLE_CHECKOUT, &at);
    if (!rc) {
        rc = pay_store_checkout_decode(&checkout, row_key, &row, p);
    }
    *record = checkout;
    return rc;
}

const pay_store_record_t pay_store_checkout_record = {
    .table = PAY_TABLE_CHECKOUT, .indexes = indexes, .index_count = 2, .load = load};

int pay_store_checkout_put(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val row;
    int rc;

    assert(charge->checkout);
    rc = pay_store_checkout_encode(&row, charge->checkout, p);
    if (rc) {
        return rc;
    }
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    return pay_store_record_store(txn, &pay_store_checkout_record, &key, &row, charge->checkout, p);
}

int pay_store_checkout_del(pay_rows_txn_t *txn, const pay_charge_t *charge)
{
    pay_store_key_t key;
    int rc;

    if (!charge->checkout) {
        return MDB_SUCCESS;
    }
    rc = pay_store_checkout_forget(txn, charge);
    if (rc) {
        return rc;
    }
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    return pay_store_record_del(txn, &pay_store_checkout_record, &key, charge->checkout);
}
