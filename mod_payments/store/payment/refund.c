/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/text/json.h"
#include "base/text/time.h"
#include "base/text/writer.h"
#include "store/payment/acquirer.h"
#include "store/payment/due.h"
#include "store/payment/held.h"
#include "store/payment/refund.h"
#include "store/record/index.h"
#include "store/record/scope.h"
#include "store/record/time.h"
#include "store/row.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

#define TEXT_SIZE_HINT 512

/* Scope, createdAt and seq are in the key, the import number is in the head. New fields go to the
 * end. */
static const pay_row_field_t refund_fields[] = {
    PAY_ROW_MAX(pay_store_refund_t, refund.state, PAY_REFUND_STATE_COUNT - 1),
    PAY_ROW_MAX(pay_store_refund_t, refund.money.amount_minor, APR_INT64_MAX),
    PAY_ROW_FIELD(PAY_ROW_TEXT, pay_store_refund_t, refund.money.currency),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.charge_seq),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_store_refund_t, refund.acquirer),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_store_refund_t, refund.key_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.worker.pid),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.worker.start_ticks),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.worker.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.send_before_ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.wait_until_ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.due_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.attempts),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_store_refund_t, contradiction),
    PAY_ROW_MAX(pay_store_refund_t, refund.decided_state, PAY_REFUND_STATE_COUNT - 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.decided_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.waiting),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_store_refund_t, refund.tag),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_store_refund_t, refund.acquirer_reference),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.absent_since),
    PAY_ROW_MAX(pay_store_refund_t, refund.held, PAY_HELD_COUNT - 1),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_store_refund_t, refund.resolution),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_store_refund_t, refund.acquirer_charge),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_store_refund_t, refund.asked_digest),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.absent_from.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.absent_from.ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.opened.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.opened.ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_refund_t, refund.wait_until_at),
};
#define REFUND_FIELDS (sizeof(refund_fields) / sizeof(refund_fields[0]))

void pay_store_refund_key(pay_store_key_t *key, const pay_scope_t *scope, apr_time_t created_at,
                          apr_uint64_t seq)
{
    pay_store_key_of_scope(key, scope);
    pay_store_key_time(key, created_at);
    pay_store_key_u64(key, seq);
}

int pay_store_refund_name_key(pay_store_key_t *key, const pay_scope_t *scope, const char *name)
{
    pay_store_key_of_scope(key, scope);
    return pay_store_key_bytes(key, name, strlen(name));
}

void pay_store_refund_by_charge_key(pay_store_key_t *key, const pay_scope_t *scope,
                                    apr_uint64_t charge_seq, apr_uint64_t seq)
{
    pay_store_key_of_scope(key, scope);
    pay_store_key_u64(key, charge_seq);
    pay_store_key_u64(key, seq);
}

int pay_store_refund_head(pay_store_refund_head_t *out, const pay_bytes_t *key,
                          const pay_bytes_t *row)
{
    const unsigned char *at = row->data;
    size_t fields_len;

    memset(out, 0, sizeof(*out));
    if (key->len != PAY_STORE_REFUND_KEY_LEN || row->len <= PAY_STORE_REFUND_HEAD_LEN
        || at[0] != PAY_STORE_REFUND_VERSION) {
        return pay_rows_bad(PAY_TABLE_REFUND, key);
    }
    out->seq = pay_store_read_u64(at + 1);
    out->import_number = pay_store_read_u32(at + 9);
    fields_len = (size_t)at[13] << 8 | at[14];
    /* A text that is too long for any chunk would stop a list for ever. */
    if (fields_len >= row->len - PAY_STORE_REFUND_HEAD_LEN
        || row->len - PAY_STORE_REFUND_HEAD_LEN - fields_len > PAY_REFUND_TEXT_MAX
        || out->seq != pay_store_read_u64((const char *)key->data + PAY_STORE_REFUND_KEY_LEN - 8)) {
        return pay_rows_bad(PAY_TABLE_REFUND, key);
    }
    out->fields.data = (const unsigned char *)row->data + PAY_STORE_REFUND_HEAD_LEN;
    out->fields.len = fields_len;
    out->text.data = (const unsigned char *)row->data + PAY_STORE_REFUND_HEAD_LEN + fields_len;
    out->text.len = row->len - PAY_STORE_REFUND_HEAD_LEN - fields_len;
    return 0;
}

/* A replay returns the decision: if there is one, the state must be consistent with it. */
static int is_decided_well(const pay_refund_t *refund)
{
    return refund->state == PAY_REFUND_PENDING
           || (refund->decided_state != PAY_REFUND_PENDING
               && (refund->decided_state == refund->state
                   || pay_refund_may_become(refund->decided_state, refund->state)));
}

/* Checks what the rest of the program relies on without checking again. */
static int is_sound(const pay_refund_t *refund)
{
    return is_decided_well(refund)
           && (refund->money.currency[0] == '\0' ? refund->money.amount_minor == 0
                                                 : pay_currency_digits(refund->money.currency) >= 0)
           && (*refund->acquirer_charge == '\0' || refund->charge_seq == 0);
}

/* Head and fields; *head points into the row. */
static int decode_fields(pay_store_refund_t **out, pay_store_refund_head_t *head,
                         const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p)
{
    pay_store_refund_t *record = apr_pcalloc(p, sizeof(*record));
    int rc;

    *out = NULL;
    rc = pay_store_refund_head(head, key, row);
    if (rc) {
        return rc;
    }
    rc = pay_row_decode(record, refund_fields, REFUND_FIELDS, &head->fields, NULL, p);
    if (rc || !is_sound(&record->refund)) {
        return pay_rows_bad(PAY_TABLE_REFUND, key);
    }
    pay_store_read_scope(&record->refund.scope, key->data);
    record->refund.created_at = pay_store_read_time((const char *)key->data + PAY_STORE_SCOPE_LEN);
    record->refund.seq = head->seq;
    record->refund.import_number = head->import_number;
    record->refund.read_at = record->refund.worker.pid ? pay_store_time_now() : 0;
    *out = record;
    return 0;
}

int pay_store_refund_peek(pay_store_refund_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                          apr_pool_t *p)
{
    pay_store_refund_head_t head;

    return decode_fields(out, &head, key, row, p);
}

/* Returns 1 if text and fields agree: both are always written together. */
static int agrees(const pay_refund_t *refund, const pay_json_t *json)
{
    const char *status = pay_json_string(json, "status");
    const char *created_at = pay_json_string(json, "createdAt");
    const char *amount = pay_json_string(json, "amount");
    char time_text[PAY_TIME_TEXT_LEN + 1];
    char money_text[PAY_MONEY_TEXT_MAX];

    if (!status || strcmp(status, pay_refund_state_name(refund->state)) != 0 || !created_at
        || strcmp(created_at, pay_time_format(time_text, refund->created_at)) != 0) {
        return 0;
    }
    if (refund->money.amount_minor == 0) {
        return amount == NULL;
    }
    return amount
           && strcmp(amount, pay_money_format(money_text, refund->money.amount_minor,
                                              refund->money.currency))
                  == 0;
}

/*
 * Reads the record's strings from the text; returns 0 if it is not a record of these fields. Input
 * of clients and imports is validated before it is stored: rows stay readable when those rules
 * change.
 */
static int read_text(pay_refund_t *refund, const pay_bytes_t *text, apr_pool_t *p)
{
    const pay_json_t *json;
    const char *reason, *updated_at;
    apr_status_t rv;

    rv = pay_json_parse(&json, &reason, apr_pstrmemdup(p, text->data, text->len), text->len, p);
    if (rv != APR_SUCCESS || !agrees(refund, json)) {
        return 0;
    }
    refund->id = pay_json_string(json, "id");
    refund->refund_reference = pay_json_string(json, "refundReference");
    refund->channel = pay_json_string(json, "channel");
    refund->merchant_note = pay_json_string(json, "merchantNote");
    refund->customer_note = pay_json_string(json, "customerNote");
    refund->transaction_reference = pay_json_string(json, "transactionReference");
    updated_at = pay_json_string(json, "updatedAt");
    return refund->id && refund->refund_reference
           && (!updated_at || pay_time_parse(&refund->updated_at, updated_at) == APR_SUCCESS);
}

int pay_store_refund_decode(pay_store_refund_t **out, const pay_bytes_t *key,
                            const pay_bytes_t *row, apr_pool_t *p)
{
    pay_store_refund_head_t head;
    int rc;

    rc = decode_fields(out, &head, key, row, p);
    if (rc) {
        return rc;
    }
    if (!read_text(&(*out)->refund, &head.text, p)) {
        *out = NULL;
        return pay_rows_bad(PAY_TABLE_REFUND, key);
    }
    return 0;
}

int pay_store_refund_get(pay_store_refund_t **out, pay_rows_txn_t *txn,
                         const pay_bytes_t *refund_key, apr_pool_t *p)
{
    pay_bytes_t key = *refund_key, row;
    int rc;

    *out = NULL;
    if (key.len != PAY_STORE_REFUND_KEY_LEN) {
        return PAY_ROWS_NOTFOUND;
    }
    rc = pay_rows_get(&row, txn, PAY_TABLE_REFUND, &key);
    if (rc) {
        return rc;
    }
    return pay_store_refund_decode(out, &key, &row, p);
}

int pay_store_refund_get_name(pay_store_refund_t **out, pay_rows_txn_t *txn, pay_table_t table,
                              const pay_scope_t *scope, const char *name, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, refund_key;
    int rc;

    *out = NULL;
    if (!pay_store_refund_name_key(&key, scope, name)) {
        return PAY_ROWS_NOTFOUND;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&refund_key, txn, table, &at);
    if (rc) {
        return rc;
    }
    rc = pay_store_refund_get(out, txn, &refund_key, p);
    if (rc == PAY_ROWS_NOTFOUND) {
        return pay_rows_bad(table, &at);
    }
    return rc;
}

int pay_store_refund_visible(int *visible, pay_rows_txn_t *txn, const pay_refund_t *refund)
{
    pay_store_scope_t last;
    int rc;

    *visible = 1;
    if (refund->import_number == 0) {
        return 0;
    }
    rc = pay_store_scope_get(&last, txn, &refund->scope);
    *visible = refund->import_number <= last.import_done;
    return rc;
}

const char *pay_store_refund_text(const pay_refund_t *refund, apr_pool_t *p)
{
    pay_writer_t *w = pay_writer_make(TEXT_SIZE_HINT, p);

    pay_refund_to_json(w, NULL, refund);
    return w->text;
}

int pay_store_refund_encode(pay_bytes_t *out, const pay_store_refund_t *row, const char *text,
                            apr_pool_t *p)
{
    size_t text_len = strlen(text);
    pay_store_key_t head;
    pay_bytes_t fields;
    unsigned char *bytes;
    int rc;

    rc = pay_row_encode(&fields, refund_fields, REFUND_FIELDS, row, p);
    if (rc) {
        return rc;
    }
    if (text_len > PAY_REFUND_TEXT_MAX || fields.len > 0xFFFF) {
        return ENAMETOOLONG;
    }
    pay_store_key_start(&head);
    pay_store_key_u64(&head, row->refund.seq);
    pay_store_key_u32(&head, row->refund.import_number);
    out->len = PAY_STORE_REFUND_HEAD_LEN + fields.len + text_len;
    out->data = bytes = apr_palloc(p, out->len);
    bytes[0] = PAY_STORE_REFUND_VERSION;
    memcpy(bytes + 1, head.bytes, head.len);
    bytes[13] = (unsigned char)(fields.len >> 8);
    bytes[14] = (unsigned char)(fields.len & 0xFF);
    memcpy(bytes + PAY_STORE_REFUND_HEAD_LEN, fields.data, fields.len);
    memcpy(bytes + PAY_STORE_REFUND_HEAD_LEN + fields.len, text, text_len);
    return 0;
}

/* ---- the record */

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

static int row_of(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    (void)key;
    return value->len == PAY_STORE_REFUND_KEY_LEN
           && pay_store_key_of(row_key, value->data, value->len);
}

/* ---- by reference and id, which never change */

static int name_entry(pay_store_entry_t *entry, pay_table_t table, const pay_store_key_t *at,
                      const pay_refund_t *refund, const char *name)
{
    lead(entry, table, at);
    return pay_store_refund_name_key(&entry->key, &refund->scope, name) ? 0 : ENAMETOOLONG;
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
        return PAY_ROWS_NOTFOUND;
    }
    lead(entry, PAY_TABLE_REFUND_BY_CHARGE, at);
    pay_store_refund_by_charge_key(&entry->key, &refund->scope, refund->charge_seq, refund->seq);
    return 0;
}

/* ---- by repetition: made here, of a charge, and not failed */

static int is_repeatable(const pay_refund_t *refund)
{
    return refund->import_number == 0 && refund->charge_seq != 0
           && refund->state != PAY_REFUND_FAILED;
}

static int repeat_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_refund_t *refund = refund_of(record);

    if (!is_repeatable(refund)) {
        return PAY_ROWS_NOTFOUND;
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
        return PAY_ROWS_NOTFOUND;
    }
    lead(entry, PAY_TABLE_ACQUIRER, at);
    return pay_store_acquirer_key(&entry->key, &refund->scope, kind, name) ? 0 : ENAMETOOLONG;
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
        return PAY_ROWS_NOTFOUND;
    }
    lead(entry, PAY_TABLE_ACQUIRER, at);
    return pay_store_acquirer_unlinked_key(&entry->key, &refund->scope, refund->acquirer_charge,
                                           refund->seq)
               ? 0
               : ENAMETOOLONG;
}

/* An acquirer that mixes up its records must not prevent an outcome from being stored. */
static void name_is_taken(const void *record)
{
    pay_log(
        PAY_LOG_ERR, APR_SUCCESS,
        PAYLOGNO(00170) "refund %s: the acquirer's name for it already belongs to another refund",
        refund_of(record)->refund_reference);
}

static int is_kind(const pay_bytes_t *key, size_t at, int kind)
{
    return ((const char *)key->data)[at] == kind;
}

static int row_of_tag(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    return is_kind(key, PAY_STORE_ACQUIRER_KIND_AT, PAY_ACQUIRER_TAG)
           && row_of(row_key, key, value);
}

static int row_of_reference(pay_store_key_t *row_key, const pay_bytes_t *key,
                            const pay_bytes_t *value)
{
    return is_kind(key, PAY_STORE_ACQUIRER_KIND_AT, PAY_ACQUIRER_REFUND)
           && row_of(row_key, key, value);
}

static int row_of_unlinked(pay_store_key_t *row_key, const pay_bytes_t *key,
                           const pay_bytes_t *value)
{
    return is_kind(key, PAY_STORE_ACQUIRER_KIND_AT, PAY_ACQUIRER_UNLINKED)
           && row_of(row_key, key, value);
}

/* ---- by due time */

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_refund_t *refund = refund_of(record);

    /* Imported history is not queried, unless it has a due time. */
    if (refund->due_at == 0
        && (refund->state != PAY_REFUND_PENDING || refund->import_number != 0)) {
        return PAY_ROWS_NOTFOUND;
    }
    lead(entry, pay_store_due_table_refund(refund), at);
    pay_store_due_key(&entry->key, refund->due_at, &refund->scope, PAY_DUE_REFUND, refund->seq);
    return 0;
}

static const char *wrong_due(pay_table_t table, const pay_bytes_t *key, const void *record)
{
    const pay_refund_t *refund = refund_of(record);
    const char *at = key->data;

    if (refund->due_at == 0 || pay_store_due_table_refund(refund) != table
        || refund->seq != pay_store_read_u64(at + key->len - sizeof(apr_uint64_t))
        || refund->due_at == pay_store_due_time(key)) {
        return PAY_STORE_DUE_NOTHING;
    }
    return "its row is due at another time";
}

static int row_of_due(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    return is_kind(key, 8 + PAY_STORE_SCOPE_LEN, PAY_DUE_REFUND) && row_of(row_key, key, value);
}

/* ---- refunds that need review */

static int held_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_refund_t *refund = refund_of(record);

    if (refund->held == PAY_NOT_HELD) {
        return PAY_ROWS_NOTFOUND;
    }
    lead(entry, PAY_TABLE_HELD, at);
    pay_store_held_key(&entry->key, &refund->scope, PAY_DUE_REFUND, refund->seq);
    return 0;
}

static int row_of_held(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
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
    {PAY_STORE_DUE_INDEX, .entry_of = due_of, .row_of = row_of_due, .wrong = wrong_due},
    {PAY_STORE_HELD_INDEX, .entry_of = held_of, .row_of = row_of_held},
};

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
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
    pay_bytes_t at, val;
    int rc;

    rc = pay_store_refund_encode(&val, row, text, p);
    if (rc) {
        return rc;
    }
    key_of(&key, &row->refund);
    rc = pay_store_record_put(txn, &pay_store_refund_record, &key, &val, NULL, row);
    at = pay_store_key_val(&key);
    return rc == PAY_ROWS_EXISTS ? pay_rows_bad(PAY_TABLE_REFUND, &at) : rc;
}

int pay_store_refund_put(pay_rows_txn_t *txn, const pay_store_refund_t *row, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t val;
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
