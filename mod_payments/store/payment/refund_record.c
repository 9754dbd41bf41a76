/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/refund_record.h"

#include "base/log.h"
#include "store/payment/acquirer.h"
#include "store/payment/due.h"
#include "store/payment/held.h"
#include "store/record/record.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

static const pay_refund_t *refund_of(const void *record)
{
    return &((const pay_store_refund_t *)record)->refund;
}

/* Every entry leads to the row by its key. */
static void lead(pay_store_entry_t *entry, pay_table_t table, const pay_store_key_t *at)
{
    entry->table = table;
    pay_store_entry_value(entry, at->bytes, at->len);
}

static int row_of(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    (void)key;
    return value->mv_size == PAY_STORE_REFUND_KEY_LEN
           && pay_store_key_of(row_key, value->mv_data, value->mv_size);
}

/* ---- by reference and id, which never change */

static int name_entry(pay_store_entry_t *entry, pay_table_t table, const pay_store_key_t *at,
                      const pay_refund_t *refund, const char *name)
{
    lead(entry, table, at);
    return pay_store_refund_name_key(&entry->key, &refund->scope, name) ? MDB_SUCCESS
                                                                        : ENAMETOOLONG;
}

static int ref_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    return name_entry(entry, PAY_TABLE_REFUND_REF, at, refund_of(record),
                      refund_of(record)->refund_reference);
}

static int id_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    return name_entry(entry, PAY_TABLE_REFUND_ID, at, refund_of(record), refund_of(record)->id);
}

static int is_same_name(const void *before, const void *after)
{
    const pay_refund_t *from = refund_of(before), *to = refund_of(after);

    return strcmp(from->refund_reference, to->refund_reference) == 0
           && strcmp(from->id, to->id) == 0;
}

/* ---- by charge */

static int charge_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_refund_t *refund = refund_of(record);

    if (refund->charge_seq == 0) {
        return MDB_NOTFOUND;
    }
    lead(entry, PAY_TABLE_REFUND_BY_CHARGE, at);
    pay_store_refund_by_charge_key(&entry->key, &refund->scope, refund->charge_seq, refund->seq);
    return MDB_SUCCESS;
}

/* ---- by what would repeat it: made here of a charge, and not failed */

static int is_repeatable(const pay_refund_t *refund)
{
    return refund->import_number == 0 && refund->charge_seq != 0
           && refund->state != PAY_REFUND_FAILED;
}

static int repeat_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_refund_t *refund = refund_of(record);

    if (!is_repeatable(refund)) {
        return MDB_NOTFOUND;
    }
    lead(entry, PAY_TABLE_REFUND_REPEAT, at);
    return pay_store_refund_repeat_key(&entry->key, refund);
}

static int is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static int is_same_repeat(const void *before, const void *after)
{
    const pay_refund_t *from = refund_of(before), *to = refund_of(after);

    return is_repeatable(from) == is_repeatable(to) && from->charge_seq == to->charge_seq
           && is_same_text(from->asked_digest, to->asked_digest)
           && is_same_text(from->customer_note, to->customer_note)
           && is_same_text(from->merchant_note, to->merchant_note);
}

/* ---- by its names at the acquirer */

static int acquirer_entry(pay_store_entry_t *entry, const pay_store_key_t *at,
                          const pay_refund_t *refund, pay_store_acquirer_kind_t kind,
                          const char *name)
{
    if (!name || !*name) {
        return MDB_NOTFOUND;
    }
    lead(entry, PAY_TABLE_ACQUIRER, at);
    return pay_store_acquirer_key(&entry->key, &refund->scope, kind, name) ? MDB_SUCCESS
                                                                           : ENAMETOOLONG;
}

static int tag_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    return acquirer_entry(entry, at, refund_of(record), PAY_ACQUIRER_TAG, refund_of(record)->tag);
}

static int acquirer_reference_of(pay_store_entry_t *entry, const pay_store_key_t *at,
                                 const void *record)
{
    return acquirer_entry(entry, at, refund_of(record), PAY_ACQUIRER_REFUND,
                          refund_of(record)->acquirer_reference);
}

static int unlinked_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_refund_t *refund = refund_of(record);

    if (!refund->acquirer_charge || !*refund->acquirer_charge) {
        return MDB_NOTFOUND;
    }
    lead(entry, PAY_TABLE_ACQUIRER, at);
    return pay_store_acquirer_unlinked_key(&entry->key, &refund->scope, refund->acquirer_charge,
                                           refund->seq)
               ? MDB_SUCCESS
               : ENAMETOOLONG;
}

/* An acquirer that mixes up its records must not keep an outcome from being stored. */
static void name_is_taken(const void *record)
{
    pay_log(
        PAY_LOG_ERR, APR_SUCCESS,
        PAYLOGNO(00170) "refund %s: the acquirer's name for it already belongs to another refund",
        refund_of(record)->refund_reference);
}

static int is_kind(const MDB_val *key, size_t at, int kind)
{
    return ((const char *)key->mv_data)[at] == kind;
}

static int row_of_tag(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    return is_kind(key, PAY_STORE_ACQUIRER_KIND_AT, PAY_ACQUIRER_TAG)
           && row_of(row_key, key, value);
}

static int row_of_reference(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    return is_kind(key, PAY_STORE_ACQUIRER_KIND_AT, PAY_ACQUIRER_REFUND)
           && row_of(row_key, key, value);
}

static int row_of_unlinked(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    return is_kind(key, PAY_STORE_ACQUIRER_KIND_AT, PAY_ACQUIRER_UNLINKED)
           && row_of(row_key, key, value);
}

/* ---- by when it is due */

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_refund_t *refund = refund_of(record);

    /* Nobody asks about history, unless it says when. */
    if (refund->due_at == 0
        && (refund->state != PAY_REFUND_PENDING || refund->import_number != 0)) {
        return MDB_NOTFOUND;
    }
    lead(entry, pay_store_due_table_refund(refund), at);
    pay_store_due_key(&entry->key, refund->due_at, &refund->scope, PAY_DUE_REFUND, refund->seq);
    return MDB_SUCCESS;
}

static const char nothing_due[] = "leads to nothing that is due";

static const char *wrong_due(pay_table_t table, const MDB_val *key, const void *record)
{
    const pay_refund_t *refund = refund_of(record);
    const char *at = key->mv_data;

    if (refund->due_at == 0 || pay_store_due_table_refund(refund) != table
        || refund->seq != pay_store_read_u64(at + key->mv_size - sizeof(apr_uint64_t))
        || refund->due_at == pay_store_due_time(key)) {
        return nothing_due;
    }
    return "its row is due at another time";
}

static int row_of_due(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    return is_kind(key, 8 + PAY_STORE_SCOPE_LEN, PAY_DUE_REFUND) && row_of(row_key, key, value);
}

/* ---- what waits for a person */

static int held_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_refund_t *refund = refund_of(record);

    if (refund->held == PAY_NOT_HELD) {
        return MDB_NOTFOUND;
    }
    lead(entry, PAY_TABLE_HELD, at);
    pay_store_held_key(&entry->key, &refund->scope, PAY_DUE_REFUND, refund->seq);
    return MDB_SUCCESS;
}

static int row_of_held(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    return is_kind(key, PAY_STORE_SCOPE_LEN, PAY_DUE_REFUND) && row_of(row_key, key, value);
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_REFUND_REF},
     .entry_of = ref_of,
     .is_same = is_same_name,
     .row_of = row_of,
     .missing = "table refund_ref does not lead to it",
     .astray = "leads to no refund of that name"},
    {.tables = {PAY_TABLE_REFUND_ID},
     .entry_of = id_of,
     .is_same = is_same_name,
     .row_of = row_of,
     .missing = "table refund_id does not lead to it",
     .astray = "leads to no refund of that name"},
    {.tables = {PAY_TABLE_REFUND_BY_CHARGE},
     .entry_of = charge_of,
     .row_of = row_of,
     .missing = "table refund_by_charge does not lead to it",
     .astray = "leads to no refund of that charge"},
    {.tables = {PAY_TABLE_REFUND_REPEAT},
     .entry_of = repeat_of,
     .is_same = is_same_repeat,
     .row_of = row_of,
     .missing = "table refund_repeat does not lead to it",
     .astray = "leads to no refund that could be repeated"},
    {.tables = {PAY_TABLE_ACQUIRER},
     .key_min = PAY_STORE_ACQUIRER_KEY_MIN,
     .entry_of = tag_of,
     .row_of = row_of_tag,
     .taken = name_is_taken,
     .rule = PAY_INDEX_FIRST,
     .missing = "it is not found by its name at the acquirer",
     .astray = "leads to nothing of that name at the acquirer"},
    {.tables = {PAY_TABLE_ACQUIRER},
     .key_min = PAY_STORE_ACQUIRER_KEY_MIN,
     .entry_of = acquirer_reference_of,
     .row_of = row_of_reference,
     .taken = name_is_taken,
     .rule = PAY_INDEX_FIRST,
     .missing = "it is not found by its name at the acquirer",
     .astray = "leads to nothing of that name at the acquirer"},
    {.tables = {PAY_TABLE_ACQUIRER},
     .key_min = PAY_STORE_ACQUIRER_KEY_MIN,
     .entry_of = unlinked_of,
     .row_of = row_of_unlinked,
     .missing = "it is not found by the acquirer's name of its charge",
     .astray = "leads to nothing of that name at the acquirer"},
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
    pay_store_refund_t *row;
    int rc = pay_store_refund_get(&row, txn, row_key, p);

    *record = row;
    return rc;
}

static const char *label(const void *record, apr_pool_t *p)
{
    return apr_pstrcat(p, "refund ", refund_of(record)->refund_reference, NULL);
}

const pay_store_record_t pay_store_refund_record = {
    .table = PAY_TABLE_REFUND,
    .indexes = indexes,
    .index_count = sizeof(indexes) / sizeof(indexes[0]),
    .load = load,
    .label = label,
};

/* ---- the row */

static void key_of(pay_store_key_t *key, const pay_refund_t *refund)
{
    pay_store_refund_key(key, &refund->scope, refund->created_at, refund->seq);
}

int pay_store_refund_insert(pay_rows_txn_t *txn, const pay_store_refund_t *row, const char *text,
                            apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val at, val;
    int rc;

    rc = pay_store_refund_encode(&val, row, text, p);
    if (rc) {
        return rc;
    }
    key_of(&key, &row->refund);
    rc = pay_store_record_put(txn, &pay_store_refund_record, &key, &val, NULL, row);
    at = pay_store_key_val(&key);
    return rc == MDB_KEYEXIST ? pay_rows_bad(PAY_TABLE_REFUND, &at) : rc;
}

int pay_store_refund_put(pay_rows_txn_t *txn, const pay_store_refund_t *row, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val val;
    int rc;

    rc = pay_store_refund_encode(&val, row, pay_store_refund_text(&row->refund, p), p);
    if (rc) {
        return rc;
    }
    key_of(&key, &row->refund);
    return pay_store_record_store(txn, &pay_store_refund_record, &key, &val, row, p);
}

int pay_store_refund_remove(pay_rows_txn_t *txn, const pay_refund_t *refund)
{
    const pay_store_refund_t row = {.refund = *refund};
    pay_store_key_t key;

    key_of(&key, refund);
    return pay_store_record_del(txn, &pay_store_refund_record, &key, &row);
}

int pay_store_refund_reindex(pay_rows_txn_t *txn, const pay_store_refund_t *row)
{
    pay_store_key_t key;

    key_of(&key, &row->refund);
    return pay_store_index_put(txn, &pay_store_refund_record, &key, row);
}
