/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge.h"
#include "store/payment/idempotency.h"
#include "store/payment/refund.h"
#include "store/record/index.h"
#include "store/record/rows.h"
#include "store/record/time.h"
#include "store/row.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

/* New fields go to the end; the answer's text follows them. */
static const pay_row_field_t record_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_BYTES, pay_store_idempotency_t, digest),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_idempotency_t, what),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_idempotency_t, seq),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_idempotency_t, refund_created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_idempotency_t, refusal),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_idempotency_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_idempotency_t, due_at),
};
#define RECORD_FIELDS (sizeof(record_fields) / sizeof(record_fields[0]))

/* A row has exactly the data of its kind, and only a refund's never expires. */
static int is_sound(const pay_store_idempotency_t *record)
{
    if (record->what != PAY_IDEMPOTENCY_TEXT && record->text.len != 0) {
        return 0;
    }
    switch (record->what) {
    case PAY_IDEMPOTENCY_CHARGE:
        return record->seq > 0 && record->due_at > 0;
    case PAY_IDEMPOTENCY_REFUND:
        return record->seq > 0 && record->due_at == 0;
    case PAY_IDEMPOTENCY_REPEAT:
        return record->seq > 0 && record->due_at > 0;
    case PAY_IDEMPOTENCY_REFUSAL:
        return record->due_at > 0
               && (record->refusal == PAY_REFUND_REFUSED_STATE
                   || record->refusal == PAY_REFUND_REFUSED_ABOVE
                   || record->refusal == PAY_REFUND_REFUSED_FULL);
    case PAY_IDEMPOTENCY_TEXT:
        return record->due_at > 0 && record->text.len > 0
               && record->text.len <= PAY_STORE_IDEMPOTENCY_TEXT_MAX
               && !memchr(record->text.data, 0, record->text.len);
    }
    return 0;
}

int pay_store_idempotency_decode(pay_store_idempotency_t *out, const pay_bytes_t *key,
                                 const pay_bytes_t *row)
{
    size_t used;
    int rc;

    memset(out, 0, sizeof(*out));
    if (key->len != PAY_STORE_IDEMPOTENCY_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_IDEMPOTENCY, key);
    }
    /* It has no strings, so no pool is needed. */
    rc = pay_row_decode(out, record_fields, RECORD_FIELDS, row, &used, NULL);
    if (!rc) {
        out->text.len = row->len - used;
        out->text.data = (const char *)row->data + used;
    }
    if (rc || !is_sound(out)) {
        return pay_rows_bad(PAY_TABLE_IDEMPOTENCY, key);
    }
    return 0;
}

void pay_store_idempotency_due_key(pay_store_key_t *out, apr_time_t due_at,
                                   const pay_bytes_t *record_key)
{
    pay_store_key_start(out);
    pay_store_key_time(out, due_at);
    (void)pay_store_key_bytes(out, record_key->data, record_key->len);
}

void pay_store_idempotency_refund_key(pay_store_key_t *out, const pay_bytes_t *key,
                                      const pay_store_idempotency_t *record)
{
    pay_scope_t scope;

    pay_store_read_scope(&scope, key->data);
    pay_store_refund_key(out, &scope, record->refund_created_at, record->seq);
}

/* ---- the record: those that expire are indexed by time */

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_store_idempotency_t *stored = record;
    const pay_bytes_t key = pay_store_key_val(at);

    if (stored->due_at == 0) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = PAY_TABLE_IDEMPOTENCY_DUE;
    entry->value_len = 0;
    pay_store_idempotency_due_key(&entry->key, stored->due_at, &key);
    return 0;
}

static int row_of_due(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    (void)value;
    return pay_store_key_of(row_key, (const char *)key->data + sizeof(apr_uint64_t),
                            PAY_STORE_IDEMPOTENCY_KEY_LEN);
}

static const char *wrong_due(pay_table_t table, const pay_bytes_t *key, const void *record)
{
    const pay_store_idempotency_t *stored = record;

    (void)table;
    return stored->due_at == pay_store_read_time(key->data)
               ? NULL
               : "the idempotency record ends at another "
                 "time";
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_IDEMPOTENCY_DUE},
     .key_len = PAY_STORE_IDEMPOTENCY_DUE_KEY_LEN,
     .entry_of = due_of,
     .row_of = row_of_due,
     .missing = "its time ends, but nothing will remove it",
     .astray = "leads to no idempotency record",
     .wrong = wrong_due},
};

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
{
    pay_store_idempotency_t *stored = apr_palloc(p, sizeof(*stored));
    pay_bytes_t at = *row_key, row;
    int rc;

    *record = stored;
    rc = pay_rows_get(&row, txn, PAY_TABLE_IDEMPOTENCY, &at);
    return rc ? rc : pay_store_idempotency_decode(stored, row_key, &row);
}

const pay_store_record_t pay_store_idempotency_record = {
    .table = PAY_TABLE_IDEMPOTENCY, .indexes = indexes, .index_count = 1, .load = load};

int pay_store_idempotency_write(pay_rows_txn_t *txn, const pay_bytes_t *key,
                                const pay_store_idempotency_t *before,
                                const pay_store_idempotency_t *record, apr_pool_t *p)
{
    pay_bytes_t fields, row;
    pay_store_key_t at;
    char *bytes;
    int rc;

    if (record->text.len > PAY_STORE_IDEMPOTENCY_TEXT_MAX) {
        return ENAMETOOLONG;
    }
    rc = pay_row_encode(&fields, record_fields, RECORD_FIELDS, record, p);
    if (rc) {
        return rc;
    }
    row.len = fields.len + record->text.len;
    bytes = apr_palloc(p, row.len);
    memcpy(bytes, fields.data, fields.len);
    if (record->text.len) {
        memcpy(bytes + fields.len, record->text.data, record->text.len);
    }
    row.data = bytes;
    (void)pay_store_key_of(&at, key->data, key->len);
    return pay_store_record_put(txn, &pay_store_idempotency_record, &at, &row, before, record);
}

int pay_store_idempotency_add_repeat(pay_rows_txn_t *txn, const pay_refund_t *refund,
                                     apr_time_t due_at, apr_pool_t *p)
{
    static const unsigned char head[2 + PAY_SHA256_LEN - sizeof(apr_uint64_t)] = {
        PAY_STORE_IDEMPOTENCY_NO_KIND};
    const pay_store_idempotency_t record = {.what = PAY_IDEMPOTENCY_REPEAT,
                                            .seq = refund->seq,
                                            .refund_created_at = refund->created_at,
                                            .created_at = refund->created_at,
                                            .due_at = due_at};
    pay_store_key_t key;
    void *before;
    pay_bytes_t at;
    int rc;

    pay_store_key_of_scope(&key, &refund->scope);
    (void)pay_store_key_bytes(&key, head, sizeof(head));
    pay_store_key_u64(&key, refund->seq);
    at = pay_store_key_val(&key);
    rc = load(&before, txn, &at, p);
    if (rc && rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    return pay_store_idempotency_write(txn, &at, rc ? NULL : before, &record, p);
}

int pay_store_idempotency_take_out(pay_rows_txn_t *txn, const pay_bytes_t *key,
                                   const pay_store_idempotency_t *record)
{
    pay_store_key_t at;

    (void)pay_store_key_of(&at, key->data, key->len);
    return pay_store_record_del(txn, &pay_store_idempotency_record, &at, record);
}

/* ---- reading and writing */

#define KIND_OFFSET PAY_STORE_SCOPE_LEN
#define OPERATION_OFFSET (KIND_OFFSET + 1)
#define DIGEST_OFFSET (OPERATION_OFFSET + 1)
#define OPERATION_SHIFT 4 /* in the first byte of idempotency_key */
#define KIND_MASK 15

typedef struct keep_t {
    const pay_scope_t *scope;
    const pay_idempotency_t *use;
    const char *text;
    apr_pool_t *p;
    pay_idempotency_record_t *out;
} keep_t;

int pay_store_idempotency_key(pay_store_key_t *key, const pay_scope_t *scope,
                              const pay_idempotency_t *use)
{
    unsigned char head[2] = {(unsigned char)use->key_kind, (unsigned char)use->operation};
    unsigned char digest[PAY_SHA256_LEN];
    apr_status_t rv;

    assert(use->key[0] != '\0');
    rv = pay_sha256(digest, use->key, strlen(use->key));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    pay_store_key_of_scope(key, scope);
    (void)pay_store_key_bytes(key, head, sizeof(head));
    (void)pay_store_key_bytes(key, digest, sizeof(digest));
    assert(key->len == PAY_STORE_IDEMPOTENCY_KEY_LEN);
    return 0;
}

/* The first byte of idempotency_key: the kind of key, and the operation if it is not the charge's
 * own. */
static unsigned char idempotency_key_first(pay_key_kind_t kind, pay_operation_t operation)
{
    const unsigned int other = operation == PAY_OPERATION_CHARGE ? 0 : (unsigned int)operation;

    return (unsigned char)(kind | other << OPERATION_SHIFT);
}

static void idempotency_key_head(unsigned char head[2], const pay_charge_t *charge)
{
    const unsigned char other = charge->idempotency_key[0] >> OPERATION_SHIFT;

    head[0] = charge->idempotency_key[0] & KIND_MASK;
    head[1] = other ? other : PAY_OPERATION_CHARGE;
}

int pay_store_idempotency_is_of_charge(const pay_charge_t *charge, const pay_bytes_t *key)
{
    const unsigned char *at = key->data;
    unsigned char head[2];

    idempotency_key_head(head, charge);
    return at[KIND_OFFSET] == head[0] && at[OPERATION_OFFSET] == head[1]
           && memcmp(charge->idempotency_key + 1, at + DIGEST_OFFSET, PAY_SHA256_LEN) == 0;
}

static int load_charge(pay_idempotency_record_t *out, pay_rows_txn_t *txn, const pay_bytes_t *key,
                       const pay_store_idempotency_t *record, apr_pool_t *p)
{
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    pay_store_read_scope(&scope, key->data);
    rc = pay_store_charge_get(&charge, txn, &scope, record->seq, p);
    if (rc == PAY_ROWS_NOTFOUND || (!rc && !pay_store_idempotency_is_of_charge(charge, key))) {
        return pay_rows_bad(PAY_TABLE_IDEMPOTENCY, key);
    }
    if (rc) {
        return rc;
    }
    out->charge = charge;
    return 0;
}

static int load_refund(pay_idempotency_record_t *out, pay_rows_txn_t *txn, const pay_bytes_t *key,
                       const pay_store_idempotency_t *record, apr_pool_t *p)
{
    pay_store_refund_t *refund;
    pay_store_key_t refund_key;
    pay_bytes_t at;
    int rc;

    pay_store_idempotency_refund_key(&refund_key, key, record);
    at = pay_store_key_val(&refund_key);
    rc = pay_store_refund_get(&refund, txn, &at, p);
    if (rc == PAY_ROWS_NOTFOUND) { /* a refund is never deleted, so the key's row is wrong */
        return pay_rows_bad(PAY_TABLE_IDEMPOTENCY, key);
    }
    if (rc) {
        return rc;
    }
    out->refund = &refund->refund;
    return 0;
}

int pay_store_idempotency_get(pay_idempotency_record_t **out, pay_rows_txn_t *txn,
                              const pay_scope_t *scope, const pay_idempotency_t *use, apr_pool_t *p)
{
    pay_store_idempotency_t record;
    pay_store_key_t key;
    pay_idempotency_record_t *found;
    pay_bytes_t at, row;
    int rc;

    *out = NULL;
    rc = pay_store_idempotency_key(&key, scope, use);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_IDEMPOTENCY, &at);
    if (rc) {
        return rc;
    }
    rc = pay_store_idempotency_decode(&record, &at, &row);
    if (rc) {
        return rc;
    }
    found = apr_pcalloc(p, sizeof(*found));
    found->same_request = memcmp(record.digest, use->digest, PAY_SHA256_LEN) == 0;
    if (found->same_request && record.what == PAY_IDEMPOTENCY_CHARGE) {
        rc = load_charge(found, txn, &at, &record, p);
    } else if (found->same_request && record.what == PAY_IDEMPOTENCY_REFUND) {
        rc = load_refund(found, txn, &at, &record, p);
    } else if (found->same_request && record.what == PAY_IDEMPOTENCY_REFUSAL) {
        found->refusal = record.refusal;
    } else if (found->same_request) {
        found->text = apr_pstrmemdup(p, record.text.data, record.text.len);
    }
    if (!rc) {
        *out = found;
    }
    return rc;
}

int pay_store_idempotency_known(int *known, pay_rows_txn_t *txn, const pay_scope_t *scope,
                                const pay_idempotency_t *use)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *known = 0;
    rc = pay_store_idempotency_key(&key, scope, use);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_IDEMPOTENCY, &at);
    *known = rc == 0;
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

/* An existing record for the key is an error of the caller, and stays unchanged. */
static int add(pay_rows_txn_t *txn, const pay_scope_t *scope, const pay_idempotency_t *use,
               pay_store_idempotency_t *record, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at;
    int rc;

    memcpy(record->digest, use->digest, PAY_SHA256_LEN);
    rc = pay_store_idempotency_key(&key, scope, use);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    return pay_store_idempotency_write(txn, &at, NULL, record, p);
}

int pay_store_idempotency_add_charge(pay_rows_txn_t *txn, const pay_idempotency_t *use,
                                     pay_charge_t *charge, apr_pool_t *p)
{
    pay_store_idempotency_t record = {.what = PAY_IDEMPOTENCY_CHARGE,
                                      .seq = charge->seq,
                                      .created_at = charge->created_at,
                                      .due_at = charge->created_at + PAY_IDEMPOTENCY_KEEP};
    apr_status_t rv;

    charge->idempotency_key[0] = idempotency_key_first(use->key_kind, use->operation);
    rv = pay_sha256(charge->idempotency_key + 1, use->key, strlen(use->key));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return add(txn, &charge->scope, use, &record, p);
}

int pay_store_idempotency_remove_charge(pay_rows_txn_t *txn, const pay_charge_t *charge)
{
    static const unsigned char none[sizeof(charge->idempotency_key)];
    unsigned char head[2];
    pay_store_key_t key;
    pay_store_idempotency_t record;
    pay_bytes_t at, row;
    int rc;

    if (memcmp(charge->idempotency_key, none, sizeof(none)) == 0) {
        return 0;
    }
    idempotency_key_head(head, charge);
    pay_store_key_of_scope(&key, &charge->scope);
    (void)pay_store_key_bytes(&key, head, sizeof(head));
    (void)pay_store_key_bytes(&key, charge->idempotency_key + 1, PAY_SHA256_LEN);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_IDEMPOTENCY, &at);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    rc = pay_store_idempotency_decode(&record, &at, &row);
    if (rc) {
        return rc;
    }
    if (record.what != PAY_IDEMPOTENCY_CHARGE || record.seq != charge->seq) {
        return 0; /* its own record had expired: the key belongs to another charge now */
    }
    return pay_store_idempotency_take_out(txn, &at, &record);
}

int pay_store_idempotency_add_refund(pay_rows_txn_t *txn, const pay_idempotency_t *use,
                                     const pay_refund_t *refund, apr_pool_t *p)
{
    pay_store_idempotency_t record = {.what = PAY_IDEMPOTENCY_REFUND,
                                      .seq = refund->seq,
                                      .refund_created_at = refund->created_at,
                                      .created_at = refund->created_at};

    assert(refund->import_number == 0); /* imports can be removed, and have no keys */
    return add(txn, &refund->scope, use, &record, p);
}

int pay_store_idempotency_add_refusal(pay_rows_txn_t *txn, const pay_scope_t *scope,
                                      const pay_idempotency_t *use, pay_refund_verdict_t refusal,
                                      apr_time_t now, apr_pool_t *p)
{
    pay_store_idempotency_t record = {.what = PAY_IDEMPOTENCY_REFUSAL,
                                      .refusal = refusal,
                                      .created_at = now,
                                      .due_at = now + PAY_IDEMPOTENCY_KEEP};

    assert(refusal != PAY_REFUND_OPENED);
    assert(refusal <= PAY_REFUND_REFUSED_FULL);
    return add(txn, scope, use, &record, p);
}

int pay_store_idempotency_add_text(pay_rows_txn_t *txn, const pay_scope_t *scope,
                                   const pay_idempotency_t *use, const char *text, apr_time_t now,
                                   apr_pool_t *p)
{
    pay_store_idempotency_t record = {.what = PAY_IDEMPOTENCY_TEXT,
                                      .created_at = now,
                                      .due_at = now + PAY_IDEMPOTENCY_KEEP,
                                      .text = {strlen(text), text}};

    assert(record.text.len > 0);
    return add(txn, scope, use, &record, p);
}

apr_status_t pay_store_idempotency_find(pay_idempotency_record_t **out, pay_store_t *store,
                                        const pay_scope_t *scope, const pay_idempotency_t *use,
                                        apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_idempotency_get(out, &txn, scope, use, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

static int keep_work(pay_rows_txn_t *txn, void *baton)
{
    keep_t *keep = baton;
    int rc;

    keep->out = NULL;
    rc = pay_store_idempotency_get(&keep->out, txn, keep->scope, keep->use, keep->p);
    if (rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    rc = pay_store_idempotency_add_text(txn, keep->scope, keep->use, keep->text,
                                        pay_store_time_now(), keep->p);
    if (rc) {
        return rc;
    }
    keep->out = apr_pcalloc(keep->p, sizeof(*keep->out));
    keep->out->same_request = 1;
    keep->out->text = keep->text;
    return 0;
}

apr_status_t pay_store_idempotency_put(pay_idempotency_record_t **out, pay_store_t *store,
                                       const pay_scope_t *scope, const pay_idempotency_t *use,
                                       const char *text, apr_pool_t *p)
{
    keep_t keep = {.scope = scope, .use = use, .p = p};
    apr_status_t rv;

    *out = NULL;
    assert(text[0] != '\0');
    if (strlen(text) > PAY_STORE_IDEMPOTENCY_TEXT_MAX) {
        return APR_EINVAL;
    }
    keep.text = apr_pstrdup(p, text);
    rv = pay_rows_commit(pay_rows_base(store), pay_turn_scope(scope), 1, keep_work, &keep);
    if (rv == APR_SUCCESS) {
        *out = keep.out;
    }
    return rv;
}
