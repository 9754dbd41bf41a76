/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/kept.h"

#include "store/payment/refund.h"
#include "store/record/record.h"
#include "store/row.h"

#include <errno.h>
#include <string.h>

/* New fields go to the end; the answer's text follows them. */
static const pay_row_field_t kept_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_BYTES, pay_store_kept_t, digest),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_kept_t, what),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_kept_t, seq),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_kept_t, refund_created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_kept_t, refusal),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_kept_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_kept_t, due_at),
};
#define KEPT_FIELDS (sizeof(kept_fields) / sizeof(kept_fields[0]))

/* What each row stands for is all that it holds, and only a refund's has no end. */
static int is_sound(const pay_store_kept_t *kept)
{
    if (kept->what != PAY_KEPT_TEXT && kept->text.mv_size != 0) {
        return 0;
    }
    switch (kept->what) {
    case PAY_KEPT_CHARGE:
        return kept->seq > 0 && kept->due_at > 0;
    case PAY_KEPT_REFUND:
        return kept->seq > 0 && kept->due_at == 0;
    case PAY_KEPT_REPEAT:
        return kept->seq > 0 && kept->due_at > 0;
    case PAY_KEPT_REFUSAL:
        return kept->due_at > 0
               && (kept->refusal == PAY_REFUND_REFUSED_STATE
                   || kept->refusal == PAY_REFUND_REFUSED_ABOVE
                   || kept->refusal == PAY_REFUND_REFUSED_FULL);
    case PAY_KEPT_TEXT:
        return kept->due_at > 0 && kept->text.mv_size > 0
               && kept->text.mv_size <= PAY_STORE_KEPT_TEXT_MAX
               && !memchr(kept->text.mv_data, 0, kept->text.mv_size);
    }
    return 0;
}

int pay_store_kept_decode(pay_store_kept_t *out, const MDB_val *key, const MDB_val *row)
{
    size_t used;
    int rc;

    memset(out, 0, sizeof(*out));
    if (key->mv_size != PAY_STORE_KEPT_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_KEPT, key);
    }
    /* No strings, so no pool is needed. */
    rc = pay_row_decode(out, kept_fields, KEPT_FIELDS, row, &used, NULL);
    if (!rc) {
        out->text.mv_size = row->mv_size - used;
        out->text.mv_data = (char *)row->mv_data + used;
    }
    if (rc || !is_sound(out)) {
        return pay_rows_bad(PAY_TABLE_KEPT, key);
    }
    return MDB_SUCCESS;
}

void pay_store_kept_due_key(pay_store_key_t *out, apr_time_t due_at, const MDB_val *kept_key)
{
    pay_store_key_start(out);
    pay_store_key_time(out, due_at);
    (void)pay_store_key_bytes(out, kept_key->mv_data, kept_key->mv_size);
}

void pay_store_kept_refund_key(pay_store_key_t *out, const MDB_val *key,
                               const pay_store_kept_t *kept)
{
    pay_scope_t scope;

    pay_store_read_scope(&scope, key->mv_data);
    pay_store_refund_key(out, &scope, kept->refund_created_at, kept->seq);
}

/* ---- the record: what ends is listed by its end */

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_store_kept_t *kept = record;
    const MDB_val key = pay_store_key_val(at);

    if (kept->due_at == 0) {
        return MDB_NOTFOUND;
    }
    entry->table = PAY_TABLE_KEPT_DUE;
    entry->value_len = 0;
    pay_store_kept_due_key(&entry->key, kept->due_at, &key);
    return MDB_SUCCESS;
}

static int row_of_due(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    (void)value;
    return pay_store_key_of(row_key, (const char *)key->mv_data + sizeof(apr_uint64_t),
                            PAY_STORE_KEPT_KEY_LEN);
}

static const char *wrong_due(pay_table_t table, const MDB_val *key, const void *record)
{
    const pay_store_kept_t *kept = record;

    (void)table;
    return kept->due_at == pay_store_read_time(key->mv_data)
               ? NULL
               : "the idempotency record ends at another "
                 "time";
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_KEPT_DUE},
     .key_len = PAY_STORE_KEPT_DUE_KEY_LEN,
     .entry_of = due_of,
     .row_of = row_of_due,
     .missing = "its time ends, but nothing will remove it",
     .astray = "leads to no idempotency record",
     .wrong = wrong_due},
};

static int load(void **record, pay_rows_txn_t *txn, const MDB_val *row_key, apr_pool_t *p)
{
    pay_store_kept_t *kept = apr_palloc(p, sizeof(*kept));
    MDB_val at = *row_key, row;
    int rc;

    *record = kept;
    rc = pay_rows_get(&row, txn, PAY_TABLE_KEPT, &at);
    return rc ? rc : pay_store_kept_decode(kept, row_key, &row);
}

const pay_store_record_t pay_store_kept_record = {
    .table = PAY_TABLE_KEPT, .indexes = indexes, .index_count = 1, .load = load};

int pay_store_kept_write(pay_rows_txn_t *txn, const MDB_val *key, const pay_store_kept_t *before,
                         const pay_store_kept_t *kept, apr_pool_t *p)
{
    MDB_val fields, row;
    pay_store_key_t at;
    int rc;

    if (kept->text.mv_size > PAY_STORE_KEPT_TEXT_MAX) {
        return ENAMETOOLONG;
    }
    rc = pay_row_encode(&fields, kept_fields, KEPT_FIELDS, kept, p);
    if (rc) {
        return rc;
    }
    row.mv_size = fields.mv_size + kept->text.mv_size;
    row.mv_data = apr_palloc(p, row.mv_size);
    memcpy(row.mv_data, fields.mv_data, fields.mv_size);
    if (kept->text.mv_size) {
        memcpy((char *)row.mv_data + fields.mv_size, kept->text.mv_data, kept->text.mv_size);
    }
    (void)pay_store_key_of(&at, key->mv_data, key->mv_size);
    return pay_store_record_put(txn, &pay_store_kept_record, &at, &row, before, kept);
}

int pay_store_kept_add_repeat(pay_rows_txn_t *txn, const pay_refund_t *refund, apr_time_t due_at,
                              apr_pool_t *p)
{
    static const unsigned char head[2 + PAY_SHA256_LEN - sizeof(apr_uint64_t)] = {
        PAY_STORE_KEPT_NO_KIND};
    const pay_store_kept_t kept = {.what = PAY_KEPT_REPEAT,
                                   .seq = refund->seq,
                                   .refund_created_at = refund->created_at,
                                   .created_at = refund->created_at,
                                   .due_at = due_at};
    pay_store_key_t key;
    void *before;
    MDB_val at;
    int rc;

    pay_store_key_of_scope(&key, &refund->scope);
    (void)pay_store_key_bytes(&key, head, sizeof(head));
    pay_store_key_u64(&key, refund->seq);
    at = pay_store_key_val(&key);
    rc = load(&before, txn, &at, p);
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    return pay_store_kept_write(txn, &at, rc ? NULL : before, &kept, p);
}

int pay_store_kept_take_out(pay_rows_txn_t *txn, const MDB_val *key, const pay_store_kept_t *kept)
{
    pay_store_key_t at;

    (void)pay_store_key_of(&at, key->mv_data, key->mv_size);
    return pay_store_record_del(txn, &pay_store_kept_record, &at, kept);
}
