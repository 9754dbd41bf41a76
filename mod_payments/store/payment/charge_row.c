/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge.h"

#include "model/token.h"
#include "store/payment/charge_record.h"
#include "store/payment/checkout.h"
#include "store/record/text.h"
#include "store/record/time.h"
#include "store/row.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

/* Scope and seq are the key's. New fields go to the end. */
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
    PAY_ROW_FIELD(PAY_ROW_BYTES, pay_charge_t, kept_as),
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

/* What the rest of the program relies on without looking again. */
static int is_sound(const pay_charge_t *charge)
{
    return charge->money.amount_minor > 0 && pay_currency_digits(charge->money.currency) >= 0
           && charge->refunded_there_minor <= charge->money.amount_minor;
}

static int is_given(const char *text)
{
    return text && *text;
}

int pay_store_charge_decode(pay_charge_t **out, const MDB_val *key, const MDB_val *row,
                            apr_pool_t *p)
{
    pay_charge_t *charge = apr_pcalloc(p, sizeof(*charge));
    int rc;

    *out = NULL;
    rc = pay_row_decode(charge, charge_fields, CHARGE_FIELDS, row, NULL, p);
    if (rc || !is_sound(charge)) {
        return pay_rows_bad(PAY_TABLE_CHARGE, key);
    }
    pay_store_read_scope(&charge->scope, key->mv_data);
    charge->seq = pay_store_read_u64((const char *)key->mv_data + PAY_STORE_SCOPE_LEN);
    charge->read_at = charge->worker.pid ? pay_store_time_now() : 0;
    *out = charge;
    return MDB_SUCCESS;
}

apr_size_t pay_store_charge_growth_max(const pay_charge_t *charge)
{
    const apr_size_t decided = PAY_OUTCOME_CODE_MAX + PAY_OUTCOME_MESSAGE_MAX
                               + PAY_AUTHORIZATION_MAX + PAY_STORE_CONTRADICTION_MAX;
    const apr_size_t later = PAY_TAG_LEN + PAY_RESOLUTION_MAX;
    const apr_size_t card = PAY_CARD_FIRST6_LEN + PAY_CARD_LAST4_LEN + 3 * PAY_STORE_CARD_TEXT_MAX;
    const int pays_later = charge->kind == PAY_CHARGE_CHECKOUT;
    const int asks_for_card = is_given(charge->acquirer_reference) && !is_given(charge->card.last4);

    /* The deadline, its last field, goes with its worker. */
    return pay_row_left_out(charge_fields, CHARGE_FIELDS, charge) + decided + later
           + (pays_later || asks_for_card ? card : 0) + (pays_later ? PAY_TOKEN_TEXT_MAX : 0)
           - sizeof(charge->wait_until_at);
}

int pay_store_charge_encode(MDB_val *out, const pay_charge_t *charge, apr_pool_t *p)
{
    int rc;

    rc = pay_row_encode(out, charge_fields, CHARGE_FIELDS, charge, p);
    if (!rc && out->mv_size > PAY_STORE_CHARGE_ROW_MAX) {
        rc = ENAMETOOLONG;
    }
    return rc;
}

int pay_store_charge_get(pay_charge_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                         apr_uint64_t seq, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val at, row;
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
    MDB_val at, val;
    int rc;

    *out = NULL;
    if (!pay_store_charge_ref_key(&key, scope, reference)) {
        return MDB_NOTFOUND;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&val, txn, PAY_TABLE_CHARGE_REF, &at);
    if (rc) {
        return rc;
    }
    if (val.mv_size != sizeof(apr_uint64_t)) {
        return pay_rows_bad(PAY_TABLE_CHARGE_REF, &at);
    }
    rc = pay_store_charge_get(out, txn, scope, pay_store_read_u64(val.mv_data), p);
    if (rc == MDB_NOTFOUND) {
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
    return MDB_SUCCESS;
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

    /* What is known here needs no other's word any more. */
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

/* One that was made here since the acquirer told what had been given back comes on top of that. */
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
    MDB_val at;
    int rc;

    rc = pay_store_charge_get(&charge, txn, &refund->scope, refund->charge_seq, p);
    if (!rc) {
        before = charge->state;
        move_there(charge, refund, to);
    }
    if (!rc
        && pay_store_charge_refund_moved(charge, refund->state, to, refund->money.amount_minor)) {
        rc = MDB_NOTFOUND; /* its amounts do not hold this refund */
    }
    if (rc) {
        pay_store_charge_key(&key, &refund->scope, refund->charge_seq);
        at = pay_store_key_val(&key);
        return rc == MDB_NOTFOUND ? pay_rows_bad(PAY_TABLE_CHARGE, &at) : rc;
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
