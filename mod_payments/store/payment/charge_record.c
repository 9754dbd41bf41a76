/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge_record.h"

#include "model/checkout.h"
#include "store/payment/acquirer.h"
#include "store/payment/charge.h"
#include "store/payment/charge_time.h"
#include "store/payment/due.h"
#include "store/payment/held.h"
#include "store/payment/link.h"
#include "store/record/record.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

/* ---- what entries lead to */

/* The key of the charge with the scope at `scope` and the number at `seq`. */
static int charge_key(pay_store_key_t *row_key, const void *scope, const void *seq)
{
    pay_scope_t of;

    pay_store_read_scope(&of, scope);
    pay_store_charge_key(row_key, &of, pay_store_read_u64(seq));
    return 1;
}

/* The number is the value, the scope leads the key. */
static int row_of_value(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    return key->mv_size > PAY_STORE_SCOPE_LEN && value->mv_size == sizeof(apr_uint64_t)
           && charge_key(row_key, key->mv_data, value->mv_data);
}

/* The number is the end of the key, whose scope begins at `scope_at`. */
static int row_of_key(pay_store_key_t *row_key, const MDB_val *key, size_t scope_at)
{
    const char *at = key->mv_data;

    return charge_key(row_key, at + scope_at, at + key->mv_size - sizeof(apr_uint64_t));
}

/* ---- by reference */

static int ref_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_charge_t *charge = record;

    (void)at;
    entry->table = PAY_TABLE_CHARGE_REF;
    pay_store_entry_number(entry, charge->seq);
    return pay_store_charge_ref_key(&entry->key, &charge->scope, charge->reference) ? MDB_SUCCESS
                                                                                    : ENAMETOOLONG;
}

/* ---- by time: an entry holds a mark of the e-mail (store/payment/charge_time.h) */

static int time_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_charge_t *charge = record;
    pay_store_key_t value;
    apr_uint32_t mark;

    (void)at;
    if (pay_store_charge_mark(&mark, charge->email) != APR_SUCCESS) {
        return EINVAL;
    }
    entry->table = PAY_TABLE_CHARGE_BY_TIME;
    pay_store_charge_time_key(&entry->key, &charge->scope, charge->created_at, charge->seq);
    pay_store_key_start(&value);
    pay_store_key_u32(&value, mark);
    pay_store_entry_value(entry, value.bytes, value.len);
    return MDB_SUCCESS;
}

/* Nothing moves a charge in time, and only erasing its payer changes the e-mail. */
static int is_same_time(const void *before, const void *after)
{
    const pay_charge_t *from = before, *to = after;

    return from->created_at == to->created_at && strcmp(from->email, to->email) == 0;
}

static const char no_time[] = "leads to no charge of that time";

static const char *wrong_time(pay_table_t table, const MDB_val *key, const void *record)
{
    const pay_charge_t *charge = record;
    const apr_time_t at = pay_store_read_time((const char *)key->mv_data + PAY_STORE_SCOPE_LEN);

    (void)table;
    return charge->created_at == at ? "its mark is of another e-mail" : no_time;
}

static int row_of_time(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    return key->mv_size == PAY_STORE_CHARGE_TIME_KEY_LEN
           && value->mv_size == PAY_STORE_CHARGE_MARK_LEN && row_of_key(row_key, key, 0);
}

/* ---- by its name at the acquirer */

static int name_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_charge_t *charge = record;

    (void)at;
    if (!charge->acquirer_reference || !*charge->acquirer_reference) {
        return MDB_NOTFOUND;
    }
    entry->table = PAY_TABLE_ACQUIRER;
    pay_store_entry_number(entry, charge->seq);
    return pay_store_acquirer_key(&entry->key, &charge->scope, PAY_ACQUIRER_CHARGE,
                                  charge->acquirer_reference)
               ? MDB_SUCCESS
               : ENAMETOOLONG;
}

static int row_of_name(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    return ((const char *)key->mv_data)[PAY_STORE_ACQUIRER_KIND_AT] == PAY_ACQUIRER_CHARGE
           && row_of_value(row_key, key, value);
}

/* ---- by when it is due: open checkouts stand apart (store/payment/due.h) */

static int is_due(const pay_charge_t *charge)
{
    return charge->state == PAY_CHARGE_PENDING || charge->due_at != 0;
}

/* Of the places that a checkout has, the last one is for open ones. 1 in `other`: the entry
 * that it would have in the other one. */
static int due_entry(pay_store_entry_t *entry, const pay_charge_t *charge, int other)
{
    pay_store_key_t places[PAY_STORE_DUE_PLACES_MAX];
    int count, place;

    if (!is_due(charge)) {
        return MDB_NOTFOUND;
    }
    count = pay_store_due_places(places, charge);
    place = pay_checkout_is_open(charge) ? count - 1 : 0;
    if (other) {
        place = 1 - place;
    }
    if (place >= count) {
        return MDB_NOTFOUND;
    }
    entry->table = pay_store_due_table_charge(charge);
    entry->key = places[place];
    entry->value_len = 0;
    return MDB_SUCCESS;
}

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    (void)at;
    return due_entry(entry, record, 0);
}

static int other_due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    (void)at;
    return due_entry(entry, record, 1);
}

static int row_of_due(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    (void)value;
    return ((const char *)key->mv_data)[8 + PAY_STORE_SCOPE_LEN] == PAY_DUE_CHARGE
           && row_of_key(row_key, key, 8);
}

static const char nothing_due[] = "leads to nothing that is due";

static const char *wrong_due(pay_table_t table, const MDB_val *key, const void *record)
{
    const pay_charge_t *charge = record;

    if (charge->due_at == 0 || pay_store_due_table_charge(charge) != table) {
        return nothing_due;
    }
    if (charge->due_at != pay_store_due_time(key)) {
        return "its row is due at another time";
    }
    if (!pay_checkout_is_open(charge) && pay_store_due_part(key) == PAY_DUE_OPEN) {
        return "it counts as an open checkout, but is not one";
    }
    return NULL;
}

/* ---- what waits for a person */

static int held_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_charge_t *charge = record;

    (void)at;
    if (charge->held == PAY_NOT_HELD) {
        return MDB_NOTFOUND;
    }
    entry->table = PAY_TABLE_HELD;
    entry->value_len = 0;
    pay_store_held_key(&entry->key, &charge->scope, PAY_DUE_CHARGE, charge->seq);
    return MDB_SUCCESS;
}

static int row_of_held(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    (void)value;
    return ((const char *)key->mv_data)[PAY_STORE_SCOPE_LEN] == PAY_DUE_CHARGE
           && row_of_key(row_key, key, 0);
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_CHARGE_REF},
     .entry_of = ref_of,
     .row_of = row_of_value,
     .rule = PAY_INDEX_UNIQUE,
     .missing = "its reference does not lead to it",
     .astray = "leads to no charge of that name"},
    {.tables = {PAY_TABLE_CHARGE_BY_TIME},
     .entry_of = time_of,
     .is_same = is_same_time,
     .row_of = row_of_time,
     .missing = "the list by time does not lead to it",
     .astray = no_time,
     .wrong = wrong_time},
    {.tables = {PAY_TABLE_ACQUIRER},
     .key_min = PAY_STORE_ACQUIRER_KEY_MIN,
     .entry_of = name_of,
     .row_of = row_of_name,
     .rule = PAY_INDEX_UNIQUE,
     .missing = "it is not found by its name at the acquirer",
     .astray = "leads to nothing of that name at the acquirer"},
    {.entry_of = other_due_of, .rule = PAY_INDEX_FORMER},
    {.tables = {PAY_TABLE_PENDING_DUE, PAY_TABLE_LATE_DUE},
     .key_len = PAY_STORE_DUE_KEY_LEN,
     .entry_of = due_of,
     .row_of = row_of_due,
     .missing = "it is due, but nothing will query it",
     .astray = nothing_due,
     .wrong = wrong_due},
    {.tables = {PAY_TABLE_HELD},
     .key_len = PAY_STORE_HELD_KEY_LEN,
     .entry_of = held_of,
     .row_of = row_of_held,
     .missing = "it waits for a person, but is not in that list",
     .astray = "leads to nothing that waits for a person"},
};

static int load(void **record, pay_rows_txn_t *txn, const MDB_val *row_key, apr_pool_t *p)
{
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    pay_store_read_scope(&scope, row_key->mv_data);
    rc = pay_store_charge_get(
        &charge, txn, &scope,
        pay_store_read_u64((const char *)row_key->mv_data + PAY_STORE_SCOPE_LEN), p);
    *record = charge;
    return rc;
}

static const char *label(const void *record, apr_pool_t *p)
{
    return apr_pstrcat(p, "charge ", ((const pay_charge_t *)record)->reference, NULL);
}

const pay_store_record_t pay_store_charge_record = {
    .table = PAY_TABLE_CHARGE,
    .indexes = indexes,
    .index_count = sizeof(indexes) / sizeof(indexes[0]),
    .load = load,
    .label = label,
};

/* ---- the row */

int pay_store_charge_insert(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val row;
    int rc;

    rc = pay_store_charge_encode(&row, charge, p);
    if (rc) {
        return rc;
    }
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    return pay_store_record_put(txn, &pay_store_charge_record, &key, &row, NULL, charge);
}

int pay_store_charge_put(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_charge_t *before;
    pay_store_key_t key;
    MDB_val row;
    int rc;

    rc = pay_store_charge_encode(&row, charge, p);
    if (!rc) {
        rc = pay_store_charge_get(&before, txn, &charge->scope, charge->seq, p);
    }
    if (rc == MDB_NOTFOUND) {
        before = NULL;
        rc = MDB_SUCCESS;
    }
    if (!rc) {
        rc = pay_store_link_follow(txn, before, charge, p);
    }
    if (rc) {
        return rc;
    }
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    return pay_store_record_put(txn, &pay_store_charge_record, &key, &row, before, charge);
}

int pay_store_charge_remove(pay_rows_txn_t *txn, const pay_charge_t *charge)
{
    pay_store_key_t key;

    pay_store_charge_key(&key, &charge->scope, charge->seq);
    return pay_store_record_del(txn, &pay_store_charge_record, &key, charge);
}

int pay_store_charge_reindex(pay_rows_txn_t *txn, const pay_charge_t *charge)
{
    pay_store_key_t key;

    pay_store_charge_key(&key, &charge->scope, charge->seq);
    return pay_store_index_put(txn, &pay_store_charge_record, &key, charge);
}
