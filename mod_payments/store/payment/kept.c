/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge.h"
#include "store/payment/kept.h"
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

/* A row has exactly the data of its kind, and only a refund's never expires. */
static int is_sound(const pay_store_kept_t *kept)
{
    if (kept->what != PAY_KEPT_TEXT && kept->text.len != 0) {
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
        return kept->due_at > 0 && kept->text.len > 0 && kept->text.len <= PAY_STORE_KEPT_TEXT_MAX
               && !memchr(kept->text.data, 0, kept->text.len);
    }
    return 0;
}

int pay_store_kept_decode(pay_store_kept_t *out, const pay_bytes_t *key, const pay_bytes_t *row)
{
    size_t used;
    int rc;

    memset(out, 0, sizeof(*out));
    if (key->len != PAY_STORE_KEPT_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_KEPT, key);
    }
    /* It has no strings, so no pool is needed. */
    rc = pay_row_decode(out, kept_fields, KEPT_FIELDS, row, &used, NULL);
    if (!rc) {
        out->text.len = row->len - used;
        out->text.data = (const char *)row->data + used;
    }
    if (rc || !is_sound(out)) {
        return pay_rows_bad(PAY_TABLE_KEPT, key);
    }
    return 0;
}

void pay_store_kept_due_key(pay_store_key_t *out, apr_time_t due_at, const pay_bytes_t *kept_key)
{
    pay_store_key_start(out);
    pay_store_key_time(out, due_at);
    (void)pay_store_key_bytes(out, kept_key->data, kept_key->len);
}

void pay_store_kept_refund_key(pay_store_key_t *out, const pay_bytes_t *key,
                               const pay_store_kept_t *kept)
{
    pay_scope_t scope;

    pay_store_read_scope(&scope, key->data);
    pay_store_refund_key(out, &scope, kept->refund_created_at, kept->seq);
}

/* ---- the record: those that expire are indexed by time */

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_store_kept_t *kept = record;
    const pay_bytes_t key = pay_store_key_val(at);

    if (kept->due_at == 0) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = PAY_TABLE_KEPT_DUE;
    entry->value_len = 0;
    pay_store_kept_due_key(&entry->key, kept->due_at, &key);
    return 0;
}

static int row_of_due(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    (void)value;
    return pay_store_key_of(row_key, (const char *)key->data + sizeof(apr_uint64_t),
                            PAY_STORE_KEPT_KEY_LEN);
}

static const char *wrong_due(pay_table_t table, const pay_bytes_t *key, const void *record)
{
    const pay_store_kept_t *kept = record;

    (void)table;
    return kept->due_at == pay_store_read_time(key->data)
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

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
{
    pay_store_kept_t *kept = apr_palloc(p, sizeof(*kept));
    pay_bytes_t at = *row_key, row;
    int rc;

    *record = kept;
    rc = pay_rows_get(&row, txn, PAY_TABLE_KEPT, &at);
    return rc ? rc : pay_store_kept_decode(kept, row_key, &row);
}

const pay_store_record_t pay_store_kept_record = {
    .table = PAY_TABLE_KEPT, .indexes = indexes, .index_count = 1, .load = load};

int pay_store_kept_write(pay_rows_txn_t *txn, const pay_bytes_t *key,
                         const pay_store_kept_t *before, const pay_store_kept_t *kept,
                         apr_pool_t *p)
{
    pay_bytes_t fields, row;
    pay_store_key_t at;
    char *bytes;
    int rc;

    if (kept->text.len > PAY_STORE_KEPT_TEXT_MAX) {
        return ENAMETOOLONG;
    }
    rc = pay_row_encode(&fields, kept_fields, KEPT_FIELDS, kept, p);
    if (rc) {
        return rc;
    }
    row.len = fields.len + kept->text.len;
    bytes = apr_palloc(p, row.len);
    memcpy(bytes, fields.data, fields.len);
    if (kept->text.len) {
        memcpy(bytes + fields.len, kept->text.data, kept->text.len);
    }
    row.data = bytes;
    (void)pay_store_key_of(&at, key->data, key->len);
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
    return pay_store_kept_write(txn, &at, rc ? NULL : before, &kept, p);
}

int pay_store_kept_take_out(pay_rows_txn_t *txn, const pay_bytes_t *key,
                            const pay_store_kept_t *kept)
{
    pay_store_key_t at;

    (void)pay_store_key_of(&at, key->data, key->len);
    return pay_store_record_del(txn, &pay_store_kept_record, &at, kept);
}

/* ---- reading and writing */

#define KIND_OFFSET PAY_STORE_SCOPE_LEN
#define OPERATION_OFFSET (KIND_OFFSET + 1)
#define DIGEST_OFFSET (OPERATION_OFFSET + 1)
#define OPERATION_SHIFT 4 /* in the first byte of kept_as */
#define KIND_MASK 15

typedef struct keep_t {
    const pay_scope_t *scope;
    const pay_idempotency_t *use;
    const char *text;
    apr_pool_t *p;
    pay_kept_t *out;
} keep_t;

int pay_store_kept_key(pay_store_key_t *key, const pay_scope_t *scope, const pay_idempotency_t *use)
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
    assert(key->len == PAY_STORE_KEPT_KEY_LEN);
    return 0;
}

/* The first byte of kept_as: the kind of key, and the operation if it is not the charge's own. */
static unsigned char kept_as_first(pay_key_kind_t kind, pay_operation_t operation)
{
    const unsigned int other = operation == PAY_OPERATION_CHARGE ? 0 : (unsigned int)operation;

    return (unsigned char)(kind | other << OPERATION_SHIFT);
}

static void kept_as_head(unsigned char head[2], const pay_charge_t *charge)
{
    const unsigned char other = charge->kept_as[0] >> OPERATION_SHIFT;

    head[0] = charge->kept_as[0] & KIND_MASK;
    head[1] = other ? other : PAY_OPERATION_CHARGE;
}

int pay_store_kept_is_of_charge(const pay_charge_t *charge, const pay_bytes_t *key)
{
    const unsigned char *at = key->data;
    unsigned char head[2];

    kept_as_head(head, charge);
    return at[KIND_OFFSET] == head[0] && at[OPERATION_OFFSET] == head[1]
           && memcmp(charge->kept_as + 1, at + DIGEST_OFFSET, PAY_SHA256_LEN) == 0;
}

static int load_charge(pay_kept_t *out, pay_rows_txn_t *txn, const pay_bytes_t *key,
                       const pay_store_kept_t *kept, apr_pool_t *p)
{
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    pay_store_read_scope(&scope, key->data);
    rc = pay_store_charge_get(&charge, txn, &scope, kept->seq, p);
    if (rc == PAY_ROWS_NOTFOUND || (!rc && !pay_store_kept_is_of_charge(charge, key))) {
        return pay_rows_bad(PAY_TABLE_KEPT, key);
    }
    if (rc) {
        return rc;
    }
    out->charge = charge;
    return 0;
}

static int load_refund(pay_kept_t *out, pay_rows_txn_t *txn, const pay_bytes_t *key,
                       const pay_store_kept_t *kept, apr_pool_t *p)
{
    pay_store_refund_t *refund;
    pay_store_key_t refund_key;
    pay_bytes_t at;
    int rc;

    pay_store_kept_refund_key(&refund_key, key, kept);
    at = pay_store_key_val(&refund_key);
    rc = pay_store_refund_get(&refund, txn, &at, p);
    if (rc == PAY_ROWS_NOTFOUND) { /* a refund is never deleted, so the key's row is wrong */
        return pay_rows_bad(PAY_TABLE_KEPT, key);
    }
    if (rc) {
        return rc;
    }
    out->refund = &refund->refund;
    return 0;
}

int pay_store_kept_get(pay_kept_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                       const pay_idempotency_t *use, apr_pool_t *p)
{
    pay_store_kept_t kept;
    pay_store_key_t key;
    pay_kept_t *found;
    pay_bytes_t at, row;
    int rc;

    *out = NULL;
    rc = pay_store_kept_key(&key, scope, use);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_KEPT, &at);
    if (rc) {
        return rc;
    }
    rc = pay_store_kept_decode(&kept, &at, &row);
    if (rc) {
        return rc;
    }
    found = apr_pcalloc(p, sizeof(*found));
    found->same_request = memcmp(kept.digest, use->digest, PAY_SHA256_LEN) == 0;
    if (found->same_request && kept.what == PAY_KEPT_CHARGE) {
        rc = load_charge(found, txn, &at, &kept, p);
    } else if (found->same_request && kept.what == PAY_KEPT_REFUND) {
        rc = load_refund(found, txn, &at, &kept, p);
    } else if (found->same_request && kept.what == PAY_KEPT_REFUSAL) {
        found->refusal = kept.refusal;
    } else if (found->same_request) {
        found->text = apr_pstrmemdup(p, kept.text.data, kept.text.len);
    }
    if (!rc) {
        *out = found;
    }
    return rc;
}

int pay_store_kept_known(int *known, pay_rows_txn_t *txn, const pay_scope_t *scope,
                         const pay_idempotency_t *use)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *known = 0;
    rc = pay_store_kept_key(&key, scope, use);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_KEPT, &at);
    *known = rc == 0;
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

/* An existing record for the key is an error of the caller, and stays unchanged. */
static int add(pay_rows_txn_t *txn, const pay_scope_t *scope, const pay_idempotency_t *use,
               pay_store_kept_t *kept, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at;
    int rc;

    memcpy(kept->digest, use->digest, PAY_SHA256_LEN);
    rc = pay_store_kept_key(&key, scope, use);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    return pay_store_kept_write(txn, &at, NULL, kept, p);
}

int pay_store_kept_add_charge(pay_rows_txn_t *txn, const pay_idempotency_t *use,
                              pay_charge_t *charge, apr_pool_t *p)
{
    pay_store_kept_t kept = {.what = PAY_KEPT_CHARGE,
                             .seq = charge->seq,
                             .created_at = charge->created_at,
                             .due_at = charge->created_at + PAY_IDEMPOTENCY_KEEP};
    apr_status_t rv;

    charge->kept_as[0] = kept_as_first(use->key_kind, use->operation);
    rv = pay_sha256(charge->kept_as + 1, use->key, strlen(use->key));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return add(txn, &charge->scope, use, &kept, p);
}

int pay_store_kept_remove_charge(pay_rows_txn_t *txn, const pay_charge_t *charge)
{
    static const unsigned char none[sizeof(charge->kept_as)];
    unsigned char head[2];
    pay_store_key_t key;
    pay_store_kept_t kept;
    pay_bytes_t at, row;
    int rc;

    if (memcmp(charge->kept_as, none, sizeof(none)) == 0) {
        return 0;
    }
    kept_as_head(head, charge);
    pay_store_key_of_scope(&key, &charge->scope);
    (void)pay_store_key_bytes(&key, head, sizeof(head));
    (void)pay_store_key_bytes(&key, charge->kept_as + 1, PAY_SHA256_LEN);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_KEPT, &at);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    rc = pay_store_kept_decode(&kept, &at, &row);
    if (rc) {
        return rc;
    }
    if (kept.what != PAY_KEPT_CHARGE || kept.seq != charge->seq) {
        return 0; /* its own record had expired: the key belongs to another charge now */
    }
    return pay_store_kept_take_out(txn, &at, &kept);
}

int pay_store_kept_add_refund(pay_rows_txn_t *txn, const pay_idempotency_t *use,
                              const pay_refund_t *refund, apr_pool_t *p)
{
    pay_store_kept_t kept = {.what = PAY_KEPT_REFUND,
                             .seq = refund->seq,
                             .refund_created_at = refund->created_at,
                             .created_at = refund->created_at};

    assert(refund->import_number == 0); /* imports can be removed, and have no keys */
    return add(txn, &refund->scope, use, &kept, p);
}

int pay_store_kept_add_refusal(pay_rows_txn_t *txn, const pay_scope_t *scope,
                               const pay_idempotency_t *use, pay_refund_verdict_t refusal,
                               apr_time_t now, apr_pool_t *p)
{
    pay_store_kept_t kept = {.what = PAY_KEPT_REFUSAL,
                             .refusal = refusal,
                             .created_at = now,
                             .due_at = now + PAY_IDEMPOTENCY_KEEP};

    assert(refusal != PAY_REFUND_OPENED);
    assert(refusal <= PAY_REFUND_REFUSED_FULL);
    return add(txn, scope, use, &kept, p);
}

int pay_store_kept_add_text(pay_rows_txn_t *txn, const pay_scope_t *scope,
                            const pay_idempotency_t *use, const char *text, apr_time_t now,
                            apr_pool_t *p)
{
    pay_store_kept_t kept = {.what = PAY_KEPT_TEXT,
                             .created_at = now,
                             .due_at = now + PAY_IDEMPOTENCY_KEEP,
                             .text = {strlen(text), text}};

    assert(kept.text.len > 0);
    return add(txn, scope, use, &kept, p);
}

apr_status_t pay_store_kept_find(pay_kept_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 const pay_idempotency_t *use, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_kept_get(out, &txn, scope, use, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

static int keep_work(pay_rows_txn_t *txn, void *baton)
{
    keep_t *keep = baton;
    int rc;

    keep->out = NULL;
    rc = pay_store_kept_get(&keep->out, txn, keep->scope, keep->use, keep->p);
    if (rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    rc = pay_store_kept_add_text(txn, keep->scope, keep->use, keep->text, pay_store_time_now(),
                                 keep->p);
    if (rc) {
        return rc;
    }
    keep->out = apr_pcalloc(keep->p, sizeof(*keep->out));
    keep->out->same_request = 1;
    keep->out->text = keep->text;
    return 0;
}

apr_status_t pay_store_kept_put(pay_kept_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const pay_idempotency_t *use, const char *text, apr_pool_t *p)
{
    keep_t keep = {.scope = scope, .use = use, .p = p};
    apr_status_t rv;

    *out = NULL;
    assert(text[0] != '\0');
    if (strlen(text) > PAY_STORE_KEPT_TEXT_MAX) {
        return APR_EINVAL;
    }
    keep.text = apr_pstrdup(p, text);
    rv = pay_rows_commit(pay_rows_base(store), pay_turn_scope(scope), 1, keep_work, &keep);
    if (rv == APR_SUCCESS) {
        *out = keep.out;
    }
    return rv;
}
