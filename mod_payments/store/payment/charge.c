/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkout.h"
#include "model/token.h"
#include "store/payment/acquirer.h"
#include "store/payment/charge.h"
#include "store/payment/checkout.h"
#include "store/payment/due.h"
#include "store/payment/held.h"
#include "store/payment/link.h"
#include "store/record/index.h"
#include "store/record/text.h"
#include "store/record/time.h"
#include "store/row.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

/* Scope and seq are in the key. New fields go to the end. */
static const pay_row_field_t charge_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, reference),
    PAY_ROW_FIELD(PAY_ROW_BYTES, pay_charge_t, request_digest),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, token),
    PAY_ROW_FIELD(PAY_ROW_TEXT, pay_charge_t, card.first6),
    PAY_ROW_FIELD(PAY_ROW_TEXT, pay_charge_t, card.last4),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, card.issuer),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, card.country),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, card.type),
    PAY_ROW_MAX(pay_charge_t, money.amount_minor, APR_INT64_MAX),
    PAY_ROW_FIELD(PAY_ROW_TEXT, pay_charge_t, money.currency),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, email),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, first_name),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, last_name),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, request_ip),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, acquirer),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, key_id),
    PAY_ROW_MAX(pay_charge_t, state, PAY_CHARGE_STATE_COUNT - 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, updated_at),
    PAY_ROW_MAX(pay_charge_t, decided_state, PAY_CHARGE_STATE_COUNT - 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, decided_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, answer_version),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, code),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, message),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, authorization_code),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, contradiction),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, worker.pid),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, worker.start_ticks),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, worker.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, send_before_ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, wait_until_ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, due_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, attempts),
    PAY_ROW_MAX(pay_charge_t, refunded_minor, APR_INT64_MAX),
    PAY_ROW_MAX(pay_charge_t, refunds_pending_minor, APR_INT64_MAX),
    PAY_ROW_MAX(pay_charge_t, kind, PAY_CHARGE_CHECKOUT),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, refund_at_acquirer),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, events),
    PAY_ROW_FIELD(PAY_ROW_BYTES, pay_charge_t, idempotency_key),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, acquirer_reference),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, absent_since),
    PAY_ROW_MAX(pay_charge_t, held, PAY_HELD_COUNT - 1),
    PAY_ROW_MAX(pay_charge_t, late, PAY_LATE_COUNT - 1),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, late_tag),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, spent),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_charge_t, resolution),
    PAY_ROW_MAX(pay_charge_t, channel, PAY_CHANNEL_COUNT - 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, absent_from.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, absent_from.ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, opened.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, opened.ms),
    PAY_ROW_MAX(pay_charge_t, refunded_there_minor, APR_INT64_MAX),
    PAY_ROW_MAX(pay_charge_t, fee_minor, APR_INT64_MAX),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_charge_t, wait_until_at),
};
#define CHARGE_FIELDS (sizeof(charge_fields) / sizeof(charge_fields[0]))

void pay_store_charge_key(pay_store_key_t *key, const pay_scope_t *scope, apr_uint64_t seq)
{
    pay_store_key_of_scope(key, scope);
    pay_store_key_u64(key, seq);
}

int pay_store_charge_ref_key(pay_store_key_t *key, const pay_scope_t *scope, const char *reference)
{
    pay_store_key_of_scope(key, scope);
    return pay_store_key_bytes(key, reference, strlen(reference));
}

/* Checks what the rest of the program relies on without checking again. */
static int is_sound(const pay_charge_t *charge)
{
    return charge->money.amount_minor > 0 && pay_currency_digits(charge->money.currency) >= 0
           && charge->refunded_there_minor <= charge->money.amount_minor;
}

static int is_given(const char *text)
{
    return text && *text;
}

int pay_store_charge_decode(pay_charge_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                            apr_pool_t *p)
{
    pay_charge_t *charge = apr_pcalloc(p, sizeof(*charge));
    int rc;

    *out = NULL;
    rc = pay_row_decode(charge, charge_fields, CHARGE_FIELDS, row, NULL, p);
    if (rc || !is_sound(charge)) {
        return pay_rows_bad(PAY_TABLE_CHARGE, key);
    }
    pay_store_read_scope(&charge->scope, key->data);
    charge->seq = pay_store_read_u64((const char *)key->data + PAY_STORE_SCOPE_LEN);
    charge->read_at = charge->worker.pid ? pay_store_time_now() : 0;
    *out = charge;
    return 0;
}

apr_size_t pay_store_charge_growth_max(const pay_charge_t *charge)
{
    const apr_size_t decided = PAY_OUTCOME_CODE_MAX + PAY_OUTCOME_MESSAGE_MAX
                               + PAY_AUTHORIZATION_MAX + PAY_STORE_CONTRADICTION_MAX;
    const apr_size_t later = PAY_TAG_LEN + PAY_RESOLUTION_MAX;
    const apr_size_t card = PAY_CARD_FIRST6_LEN + PAY_CARD_LAST4_LEN + 3 * PAY_STORE_CARD_TEXT_MAX;
    const int pays_later = charge->kind == PAY_CHARGE_CHECKOUT;
    const int asks_for_card = is_given(charge->acquirer_reference) && !is_given(charge->card.last4);

    /* The deadline, its last field, is cleared with its worker. */
    return pay_row_left_out(charge_fields, CHARGE_FIELDS, charge) + decided + later
           + (pays_later || asks_for_card ? card : 0) + (pays_later ? PAY_TOKEN_TEXT_MAX : 0)
           - sizeof(charge->wait_until_at);
}

int pay_store_charge_encode(pay_bytes_t *out, const pay_charge_t *charge, apr_pool_t *p)
{
    int rc;

    rc = pay_row_encode(out, charge_fields, CHARGE_FIELDS, charge, p);
    if (!rc && out->len > PAY_STORE_CHARGE_ROW_MAX) {
        rc = ENAMETOOLONG;
    }
    return rc;
}

int pay_store_charge_get(pay_charge_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                         apr_uint64_t seq, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *out = NULL;
    pay_store_charge_key(&key, scope, seq);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_CHARGE, &at);
    if (rc) {
        return rc;
    }
    rc = pay_store_charge_decode(out, &at, &row, p);
    return rc ? rc : pay_store_checkout_load(*out, txn, p);
}

int pay_store_charge_get_ref(pay_charge_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                             const char *reference, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, val;
    int rc;

    *out = NULL;
    if (!pay_store_charge_ref_key(&key, scope, reference)) {
        return PAY_ROWS_NOTFOUND;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&val, txn, PAY_TABLE_CHARGE_REF, &at);
    if (rc) {
        return rc;
    }
    if (val.len != sizeof(apr_uint64_t)) {
        return pay_rows_bad(PAY_TABLE_CHARGE_REF, &at);
    }
    rc = pay_store_charge_get(out, txn, scope, pay_store_read_u64(val.data), p);
    if (rc == PAY_ROWS_NOTFOUND) {
        return pay_rows_bad(PAY_TABLE_CHARGE_REF, &at);
    }
    return rc;
}

int pay_store_charge_refund_moved(pay_charge_t *charge, pay_refund_state_t from,
                                  pay_refund_state_t to, apr_int64_t amount_minor)
{
    apr_int64_t refunded = charge->refunded_minor;
    apr_int64_t pending = charge->refunds_pending_minor;

    if (from != PAY_REFUND_FAILED && !pay_refund_may_become(from, to)) {
        return ERANGE;
    }
    if (from == PAY_REFUND_PROCESSED) {
        refunded -= amount_minor;
    } else if (from == PAY_REFUND_PENDING) {
        pending -= amount_minor;
    }
    if (refunded < 0 || pending < 0) {
        return ERANGE;
    }
    if (to == PAY_REFUND_PROCESSED && __builtin_add_overflow(refunded, amount_minor, &refunded)) {
        return ERANGE;
    }
    if (to == PAY_REFUND_PENDING && __builtin_add_overflow(pending, amount_minor, &pending)) {
        return ERANGE;
    }
    charge->refunded_minor = refunded;
    charge->refunds_pending_minor = pending;
    pay_store_charge_follow_refunds(charge);
    return 0;
}

int pay_store_charge_become(pay_charge_t *charge, pay_charge_state_t to)
{
    if (!pay_charge_may_become(charge->state, to)) {
        return 0;
    }
    charge->state = to;
    return 1;
}

void pay_store_charge_follow_refunds(pay_charge_t *charge)
{
    int all_back;

    /* The refunds known here account for the full amount: no other source is needed. */
    if (charge->refunded_minor >= charge->money.amount_minor) {
        charge->spent = 0;
    }
    if (charge->refunded_minor >= charge->refunded_there_minor) {
        charge->refunded_there_minor = 0;
    }
    all_back = pay_charge_refunded_minor(charge) >= charge->money.amount_minor;
    if (charge->state == PAY_CHARGE_SUCCESSFUL && all_back) {
        (void)pay_store_charge_become(charge, PAY_CHARGE_REVERSED);
    } else if (charge->state == PAY_CHARGE_REVERSED && !all_back) {
        (void)pay_store_charge_become(charge, PAY_CHARGE_SUCCESSFUL);
    }
}

/* A refund made here after the acquirer reported the refunded amount is added to it. */
static void move_there(pay_charge_t *charge, const pay_refund_t *refund, pay_refund_state_t to)
{
    apr_int64_t *there = &charge->refunded_there_minor;

    if (*there == 0 || refund->import_number != 0) {
        return;
    }
    if (to == PAY_REFUND_PROCESSED) {
        *there = refund->money.amount_minor < charge->money.amount_minor - *there
                     ? *there + refund->money.amount_minor
                     : charge->money.amount_minor;
    } else if (refund->state == PAY_REFUND_PROCESSED) {
        *there = refund->money.amount_minor < *there ? *there - refund->money.amount_minor : 0;
    }
}

int pay_store_charge_move_refund(int *turned, pay_rows_txn_t *txn, const pay_refund_t *refund,
                                 pay_refund_state_t to, apr_pool_t *p)
{
    pay_charge_state_t before = PAY_CHARGE_PENDING;
    pay_charge_t *charge;
    pay_store_key_t key;
    pay_bytes_t at;
    int rc;

    rc = pay_store_charge_get(&charge, txn, &refund->scope, refund->charge_seq, p);
    if (!rc) {
        before = charge->state;
        move_there(charge, refund, to);
    }
    if (!rc
        && pay_store_charge_refund_moved(charge, refund->state, to, refund->money.amount_minor)) {
        rc = PAY_ROWS_NOTFOUND; /* its amounts do not include this refund */
    }
    if (rc) {
        pay_store_charge_key(&key, &refund->scope, refund->charge_seq);
        at = pay_store_key_val(&key);
        return rc == PAY_ROWS_NOTFOUND ? pay_rows_bad(PAY_TABLE_CHARGE, &at) : rc;
    }
    if (charge->refund_at_acquirer == refund->seq && to != PAY_REFUND_PENDING) {
        charge->refund_at_acquirer = 0;
    }
    if (turned) {
        *turned = charge->state != before;
    }
    charge->updated_at = pay_store_time_not_before(charge->updated_at);
    return pay_store_charge_put(txn, charge, p);
}

void pay_store_charge_clear_worker(pay_charge_t *charge)
{
    memset(&charge->worker, 0, sizeof(charge->worker));
    charge->send_before_ms = 0;
    charge->wait_until_ms = 0;
    charge->wait_until_at = 0;
}

const char *pay_store_contradiction(const pay_outcome_t *outcome, apr_pool_t *p)
{
    const char *code = pay_store_text_cut(outcome->code, PAY_OUTCOME_CODE_MAX, p);
    const char *message = outcome->message ? outcome->message : "";

    return pay_store_text_cut(
        apr_psprintf(p, "%s %s: %s",
                     outcome->kind == PAY_OUTCOME_APPROVED ? "approved" : "declined", code,
                     message),
        PAY_STORE_CONTRADICTION_MAX, p);
}

/* ---- the list by time */

void pay_store_charge_time_key(pay_store_key_t *key, const pay_scope_t *scope,
                               apr_time_t created_at, apr_uint64_t seq)
{
    pay_store_key_of_scope(key, scope);
    pay_store_key_time(key, created_at);
    pay_store_key_u64(key, seq);
}

apr_status_t pay_store_charge_mark(apr_uint32_t *out, const char *email)
{
    unsigned char digest[PAY_SHA256_LEN];
    apr_status_t rv;

    *out = 0;
    if (!*email) {
        return APR_SUCCESS;
    }
    rv = pay_sha256(digest, email, strlen(email));
    if (rv == APR_SUCCESS) {
        *out = pay_store_read_u32(digest);
    }
    return rv;
}

/* ---- the rows that entries lead to */

/* The key of the charge with the scope at `scope` and the number at `seq`. */
static int charge_key(pay_store_key_t *row_key, const void *scope, const void *seq)
{
    pay_scope_t of;

    pay_store_read_scope(&of, scope);
    pay_store_charge_key(row_key, &of, pay_store_read_u64(seq));
    return 1;
}

/* The number is the value; the key begins with the scope. */
static int row_of_value(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    return key->len > PAY_STORE_SCOPE_LEN && value->len == sizeof(apr_uint64_t)
           && charge_key(row_key, key->data, value->data);
}

/* The number is at the end of the key, whose scope begins at `scope_at`. */
static int row_of_key(pay_store_key_t *row_key, const pay_bytes_t *key, size_t scope_at)
{
    const char *at = key->data;

    return charge_key(row_key, at + scope_at, at + key->len - sizeof(apr_uint64_t));
}

/* ---- by reference */

static int ref_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_charge_t *charge = record;

    (void)at;
    entry->table = PAY_TABLE_CHARGE_REF;
    pay_store_entry_number(entry, charge->seq);
    return pay_store_charge_ref_key(&entry->key, &charge->scope, charge->reference) ? 0
                                                                                    : ENAMETOOLONG;
}

/* ---- by time: an entry holds a mark of the e-mail (store/payment/charge.h) */

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
    return 0;
}

/* A charge's time never changes, and only erasing its payer changes the e-mail. */
static int is_same_time(const void *before, const void *after)
{
    const pay_charge_t *from = before, *to = after;

    return from->created_at == to->created_at && strcmp(from->email, to->email) == 0;
}

static const char no_time[] = "leads to no charge of that time";

static const char *wrong_time(pay_table_t table, const pay_bytes_t *key, const void *record)
{
    const pay_charge_t *charge = record;
    const apr_time_t at = pay_store_read_time((const char *)key->data + PAY_STORE_SCOPE_LEN);

    (void)table;
    return charge->created_at == at ? "its mark is of another e-mail" : no_time;
}

static int row_of_time(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    return key->len == PAY_STORE_CHARGE_TIME_KEY_LEN && value->len == PAY_STORE_CHARGE_MARK_LEN
           && row_of_key(row_key, key, 0);
}

/* ---- by its name at the acquirer */

static int name_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_charge_t *charge = record;

    (void)at;
    if (!charge->acquirer_reference || !*charge->acquirer_reference) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = PAY_TABLE_ACQUIRER;
    pay_store_entry_number(entry, charge->seq);
    return pay_store_acquirer_key(&entry->key, &charge->scope, PAY_ACQUIRER_CHARGE,
                                  charge->acquirer_reference)
               ? 0
               : ENAMETOOLONG;
}

static int row_of_name(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    return ((const char *)key->data)[PAY_STORE_ACQUIRER_KIND_AT] == PAY_ACQUIRER_CHARGE
           && row_of_value(row_key, key, value);
}

/* ---- by due time: open checkouts have a part of their own (store/payment/due.h) */

static int is_due(const pay_charge_t *charge)
{
    return charge->state == PAY_CHARGE_PENDING || charge->due_at != 0;
}

/* A checkout's last place is the one for open ones. Sets `other` to the entry that it would have
 * in the other place. */
static int due_entry(pay_store_entry_t *entry, const pay_charge_t *charge, int other)
{
    pay_store_key_t places[PAY_STORE_DUE_PLACES_MAX];
    int count, place;

    if (!is_due(charge)) {
        return PAY_ROWS_NOTFOUND;
    }
    count = pay_store_due_places(places, charge);
    place = pay_checkout_is_open(charge) ? count - 1 : 0;
    if (other) {
        place = 1 - place;
    }
    if (place >= count) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = pay_store_due_table_charge(charge);
    entry->key = places[place];
    entry->value_len = 0;
    return 0;
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

static int row_of_due(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    (void)value;
    return ((const char *)key->data)[8 + PAY_STORE_SCOPE_LEN] == PAY_DUE_CHARGE
           && row_of_key(row_key, key, 8);
}

static const char *wrong_due(pay_table_t table, const pay_bytes_t *key, const void *record)
{
    const pay_charge_t *charge = record;

    if (charge->due_at == 0 || pay_store_due_table_charge(charge) != table) {
        return PAY_STORE_DUE_NOTHING;
    }
    if (charge->due_at != pay_store_due_time(key)) {
        return "its row is due at another time";
    }
    if (!pay_checkout_is_open(charge) && pay_store_due_part(key) == PAY_DUE_OPEN) {
        return "it counts as an open checkout, but is not one";
    }
    return NULL;
}

/* ---- charges that need review */

static int held_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_charge_t *charge = record;

    (void)at;
    if (charge->held == PAY_NOT_HELD) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = PAY_TABLE_HELD;
    entry->value_len = 0;
    pay_store_held_key(&entry->key, &charge->scope, PAY_DUE_CHARGE, charge->seq);
    return 0;
}

static int row_of_held(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    (void)value;
    return ((const char *)key->data)[PAY_STORE_SCOPE_LEN] == PAY_DUE_CHARGE
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
    {PAY_STORE_DUE_INDEX, .entry_of = due_of, .row_of = row_of_due, .wrong = wrong_due},
    {PAY_STORE_HELD_INDEX, .entry_of = held_of, .row_of = row_of_held},
};

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
{
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    pay_store_read_scope(&scope, row_key->data);
    rc = pay_store_charge_get(&charge, txn, &scope,
                              pay_store_read_u64((const char *)row_key->data + PAY_STORE_SCOPE_LEN),
                              p);
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
    pay_bytes_t row;
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
    pay_bytes_t row;
    int rc;

    rc = pay_store_charge_encode(&row, charge, p);
    if (!rc) {
        rc = pay_store_charge_get(&before, txn, &charge->scope, charge->seq, p);
    }
    if (rc == PAY_ROWS_NOTFOUND) {
        before = NULL;
        rc = 0;
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
