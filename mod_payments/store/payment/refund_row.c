/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/refund.h"

#include "base/text/json.h"
#include "base/text/time.h"
#include "base/text/writer.h"
#include "store/record/scope.h"
#include "store/record/time.h"
#include "store/row.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

#define TEXT_SIZE_HINT 512

/* Scope, createdAt and seq are the key's, the import number is the head's. New fields go to the
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

int pay_store_refund_head(pay_store_refund_head_t *out, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *at = row->mv_data;
    size_t fields_len;

    memset(out, 0, sizeof(*out));
    if (key->mv_size != PAY_STORE_REFUND_KEY_LEN || row->mv_size <= PAY_STORE_REFUND_HEAD_LEN
        || at[0] != PAY_STORE_REFUND_VERSION) {
        return pay_rows_bad(PAY_TABLE_REFUND, key);
    }
    out->seq = pay_store_read_u64(at + 1);
    out->import_number = pay_store_read_u32(at + 9);
    fields_len = (size_t)at[13] << 8 | at[14];
    /* A text that is too long for any chunk would let a list stand still for ever. */
    if (fields_len >= row->mv_size - PAY_STORE_REFUND_HEAD_LEN
        || row->mv_size - PAY_STORE_REFUND_HEAD_LEN - fields_len > PAY_REFUND_TEXT_MAX
        || out->seq
               != pay_store_read_u64((const char *)key->mv_data + PAY_STORE_REFUND_KEY_LEN - 8)) {
        return pay_rows_bad(PAY_TABLE_REFUND, key);
    }
    out->fields.mv_data = (unsigned char *)row->mv_data + PAY_STORE_REFUND_HEAD_LEN;
    out->fields.mv_size = fields_len;
    out->text.mv_data = (unsigned char *)row->mv_data + PAY_STORE_REFUND_HEAD_LEN + fields_len;
    out->text.mv_size = row->mv_size - PAY_STORE_REFUND_HEAD_LEN - fields_len;
    return MDB_SUCCESS;
}

/* A replay tells the decision: where there is one, the state must follow from it. */
static int is_decided_well(const pay_refund_t *refund)
{
    return refund->state == PAY_REFUND_PENDING
           || (refund->decided_state != PAY_REFUND_PENDING
               && (refund->decided_state == refund->state
                   || pay_refund_may_become(refund->decided_state, refund->state)));
}

/* What the rest of the program relies on without looking again. */
static int is_sound(const pay_refund_t *refund)
{
    return is_decided_well(refund)
           && (refund->money.currency[0] == '\0' ? refund->money.amount_minor == 0
                                                 : pay_currency_digits(refund->money.currency) >= 0)
           && (*refund->acquirer_charge == '\0' || refund->charge_seq == 0);
}

/* Head and fields; *head points into the row. */
static int decode_fields(pay_store_refund_t **out, pay_store_refund_head_t *head,
                         const MDB_val *key, const MDB_val *row, apr_pool_t *p)
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
    pay_store_read_scope(&record->refund.scope, key->mv_data);
    record->refund.created_at =
        pay_store_read_time((const char *)key->mv_data + PAY_STORE_SCOPE_LEN);
    record->refund.seq = head->seq;
    record->refund.import_number = head->import_number;
    record->refund.read_at = record->refund.worker.pid ? pay_store_time_now() : 0;
    *out = record;
    return MDB_SUCCESS;
}

int pay_store_refund_peek(pay_store_refund_t **out, const MDB_val *key, const MDB_val *row,
                          apr_pool_t *p)
{
    pay_store_refund_head_t head;

    return decode_fields(out, &head, key, row, p);
}

/* 1 when the text says what the fields say: both are always written together. */
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
 * The record's strings out of the text; 0 when it is not a record of these fields. What a client or
 * an import may send is judged before it is stored: rows stay readable when those rules change.
 */
static int read_text(pay_refund_t *refund, const MDB_val *text, apr_pool_t *p)
{
    const pay_json_t *json;
    const char *reason, *updated_at;
    apr_status_t rv;

    rv = pay_json_parse(&json, &reason, apr_pstrmemdup(p, text->mv_data, text->mv_size),
                        text->mv_size, p);
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

int pay_store_refund_decode(pay_store_refund_t **out, const MDB_val *key, const MDB_val *row,
                            apr_pool_t *p)
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
    return MDB_SUCCESS;
}

int pay_store_refund_get(pay_store_refund_t **out, pay_rows_txn_t *txn, const MDB_val *refund_key,
                         apr_pool_t *p)
{
    MDB_val key = *refund_key, row;
    int rc;

    *out = NULL;
    if (key.mv_size != PAY_STORE_REFUND_KEY_LEN) {
        return MDB_NOTFOUND;
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
    MDB_val at, refund_key;
    int rc;

    *out = NULL;
    if (!pay_store_refund_name_key(&key, scope, name)) {
        return MDB_NOTFOUND;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&refund_key, txn, table, &at);
    if (rc) {
        return rc;
    }
    rc = pay_store_refund_get(out, txn, &refund_key, p);
    if (rc == MDB_NOTFOUND) {
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
        return MDB_SUCCESS;
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

int pay_store_refund_encode(MDB_val *out, const pay_store_refund_t *row, const char *text,
                            apr_pool_t *p)
{
    size_t text_len = strlen(text);
    pay_store_key_t head;
    MDB_val fields;
    unsigned char *bytes;
    int rc;

    rc = pay_row_encode(&fields, refund_fields, REFUND_FIELDS, row, p);
    if (rc) {
        return rc;
    }
    if (text_len > PAY_REFUND_TEXT_MAX || fields.mv_size > 0xFFFF) {
        return ENAMETOOLONG;
    }
    pay_store_key_start(&head);
    pay_store_key_u64(&head, row->refund.seq);
    pay_store_key_u32(&head, row->refund.import_number);
    out->mv_size = PAY_STORE_REFUND_HEAD_LEN + fields.mv_size + text_len;
    out->mv_data = bytes = apr_palloc(p, out->mv_size);
    bytes[0] = PAY_STORE_REFUND_VERSION;
    memcpy(bytes + 1, head.bytes, head.len);
    bytes[13] = (unsigned char)(fields.mv_size >> 8);
    bytes[14] = (unsigned char)(fields.mv_size & 0xFF);
    memcpy(bytes + PAY_STORE_REFUND_HEAD_LEN, fields.mv_data, fields.mv_size);
    memcpy(bytes + PAY_STORE_REFUND_HEAD_LEN + fields.mv_size, text, text_len);
    return MDB_SUCCESS;
}
