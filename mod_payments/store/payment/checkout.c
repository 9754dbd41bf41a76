/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/checkout.h"

#include "store/account/api_key.h"
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/record/rows.h"
#include "store/record/text.h"
#include "store/record/time.h"
#include "store/row.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- the record */

/*
 * The row of a checkout together with its indexes: its page, and the list of checkouts to be
 * removed.
 */

#include "store/payment/checkout.h"

#include "store/record/index.h"

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
    return pay_store_page_key(&entry->key, checkout->page_id) ? 0 : EINVAL;
}

static int is_same_page(const void *before, const void *after)
{
    return strcmp(((const pay_checkout_t *)before)->page_id,
                  ((const pay_checkout_t *)after)->page_id)
           == 0;
}

static int row_of_page(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    const char *place = value->data;

    (void)key;
    return value->len == PAY_STORE_PAGE_LEN && place[0] == PAY_PAGE_CHECKOUT
           && pay_store_key_of(row_key, place + 1, value->len - 1);
}

/* ---- its end */

/* Subtracts it from the count; the caller removes the row. */
static int checkout_forget(pay_rows_txn_t *txn, const pay_charge_t *charge)
{
    return charge->checkout->anonymous ? pay_store_rows_anonymous(txn, &charge->scope, -1) : 0;
}

int pay_store_checkout_is_anonymous(int *out, pay_rows_txn_t *txn, const pay_charge_t *charge,
                                    apr_pool_t *p)
{
    *out = 0;
    if (!charge->checkout) {
        return 0;
    }
    if (!charge->key_id || !*charge->key_id) { /* made on a link's page: without a key */
        *out = *charge->checkout->link != '\0';
        return 0;
    }
    return pay_store_api_key_is_public(out, txn, charge->key_id, p);
}

/* Writes the row of a new checkout, and counts it if an anonymous client made it. */
static int checkout_opened(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pmemdup(p, charge->checkout, sizeof(*checkout));
    int rc;

    checkout->ended_at = 0;
    rc = pay_store_checkout_is_anonymous(&checkout->anonymous, txn, charge, p);
    if (rc) {
        return rc;
    }
    charge->checkout = checkout;
    rc = pay_store_checkout_put(txn, charge, p);
    if (!rc && checkout->anonymous) {
        rc = pay_store_rows_anonymous(txn, &charge->scope, 1);
    }
    return rc;
}

int pay_store_checkout_list_at(pay_rows_txn_t *txn, pay_charge_t *charge, apr_time_t ended_at,
                               apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pmemdup(p, charge->checkout, sizeof(*checkout));

    checkout->ended_at = ended_at;
    charge->checkout = checkout;
    return pay_store_checkout_put(txn, charge, p);
}

/* Paid: it stays, and no longer counts as an anonymous client's. */
static int paid(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pmemdup(p, charge->checkout, sizeof(*checkout));
    int rc;

    rc = checkout_forget(txn, charge);
    checkout->anonymous = 0;
    checkout->ended_at = 0;
    charge->checkout = checkout;
    return rc ? rc : pay_store_checkout_put(txn, charge, p);
}

int pay_store_checkout_ended(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    if (!charge->checkout || !charge->checkout->anonymous) {
        return 0;
    }
    switch (charge->state) {
    case PAY_CHARGE_SUCCESSFUL:
    case PAY_CHARGE_REVERSED:
        return paid(txn, charge, p);
    case PAY_CHARGE_FAILED:
    case PAY_CHARGE_VOID:
    case PAY_CHARGE_ABANDONED:
        if (charge->checkout->ended_at != 0
            || pay_rows_table_is_missing(txn, PAY_TABLE_CHECKOUT_SWEEP)) {
            return 0;
        }
        return pay_store_checkout_list_at(txn, charge, charge->updated_at, p);
    case PAY_CHARGE_PENDING:
    case PAY_CHARGE_STATE_COUNT:
        break;
    }
    return 0;
}

/* ---- its row */

/* Scope and seq are in the key. New fields go to the end. */
static const pay_row_field_t checkout_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, page_id),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, link),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, phone),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, redirect_url),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, metadata),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, logo_url),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, title),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, description),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_checkout_t, expires_at),
    PAY_ROW_MAX(pay_checkout_t, step, PAY_CHECKOUT_STEP_COUNT - 1),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_checkout_t, acquirer_url),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_checkout_t, return_trusted),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_checkout_t, anonymous),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_checkout_t, ended_at),
};
#define CHECKOUT_FIELDS (sizeof(checkout_fields) / sizeof(checkout_fields[0]))

int pay_store_checkout_decode(pay_checkout_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                              apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pcalloc(p, sizeof(*checkout));
    int rc;

    *out = NULL;
    rc = pay_row_decode(checkout, checkout_fields, CHECKOUT_FIELDS, row, NULL, p);
    if (rc || !pay_page_id_is(checkout->page_id)) {
        return pay_rows_bad(PAY_TABLE_CHECKOUT, key);
    }
    *out = checkout;
    return 0;
}

int pay_store_checkout_encode(pay_bytes_t *out, const pay_checkout_t *checkout, apr_pool_t *p)
{
    return pay_row_encode(out, checkout_fields, CHECKOUT_FIELDS, checkout, p);
}

int pay_store_page_key(pay_store_key_t *key, const char *page_id)
{
    pay_store_key_start(key);
    return pay_page_id_is(page_id) && pay_store_key_bytes(key, page_id, PAY_PAGE_ID_LEN);
}

int pay_store_checkout_load(pay_charge_t *charge, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_checkout_t *checkout;
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    charge->checkout = NULL;
    if (charge->kind != PAY_CHARGE_CHECKOUT) {
        return 0;
    }
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_CHECKOUT, &at);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    rc = pay_store_checkout_decode(&checkout, &at, &row, p);
    if (rc == PAY_ROWS_BAD) {
        return 0; /* the result of the payment does not depend on it */
    }
    if (!rc) {
        charge->checkout = checkout;
    }
    return rc;
}

int pay_store_checkout_add(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    int rc;

    if (!charge->checkout) {
        return 0;
    }
    rc = checkout_opened(txn, charge, p);
    return rc == PAY_ROWS_EXISTS
               ? EINVAL
               : rc; /* not a duplicate reference, which is the meaning of that code */
}

int pay_store_checkout_is_asked(const pay_charge_t *charge)
{
    return charge->checkout
           && (charge->scope.mode == PAY_LIVE || charge->checkout->step == PAY_CHECKOUT_SENT);
}

/* ---- checkouts that ended unpaid, by time of their end */

static int sweep_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_checkout_t *checkout = record;

    if (checkout->ended_at == 0) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = PAY_TABLE_CHECKOUT_SWEEP;
    entry->value_len = 0;
    pay_store_key_start(&entry->key);
    pay_store_key_time(&entry->key, checkout->ended_at);
    (void)pay_store_key_bytes(&entry->key, at->bytes, at->len);
    return 0;
}

static int row_of_sweep(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    (void)value;
    return pay_store_key_of(row_key, (const char *)key->data + sizeof(apr_uint64_t),
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

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
{
    pay_checkout_t *checkout = NULL;
    pay_bytes_t at = *row_key, row;
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
    pay_bytes_t row;
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
        return 0;
    }
    rc = checkout_forget(txn, charge);
    if (rc) {
        return rc;
    }
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    return pay_store_record_del(txn, &pay_store_checkout_record, &key, charge->checkout);
}

/* ---- steps */

typedef struct move_t {
    const pay_scope_t *scope;
    apr_uint64_t seq;
    const pay_checkout_move_t *what;
    apr_pool_t *p;
    pay_charge_t *out; /* NULL if it does not exist */
    int changed;
} move_t;

static int ends(const pay_checkout_move_t *what)
{
    return what->to == PAY_CHECKOUT_CANCELLED || what->to == PAY_CHECKOUT_EXPIRED;
}

static int may_move(const pay_charge_t *charge, const pay_checkout_move_t *what)
{
    return charge->state == PAY_CHARGE_PENDING && charge->checkout->step == what->from
           && pay_checkout_is_over(charge, what->now) == (what->to == PAY_CHECKOUT_EXPIRED);
}

/* Changes the checkout to its state after the step. */
static void step(pay_charge_t *charge, const pay_checkout_move_t *what, apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pmemdup(p, charge->checkout, sizeof(*checkout));

    checkout->step = what->to;
    if (what->acquirer_url) {
        checkout->acquirer_url = apr_pstrdup(p, what->acquirer_url);
    }
    charge->checkout = checkout;
    charge->channel = what->channel;
    if (what->card) {
        charge->card = *what->card;
        charge->card.issuer = pay_store_text_cut(what->card->issuer, PAY_STORE_CARD_TEXT_MAX, p);
        charge->card.country = pay_store_text_cut(what->card->country, PAY_STORE_CARD_TEXT_MAX, p);
        charge->card.type = pay_store_text_cut(what->card->type, PAY_STORE_CARD_TEXT_MAX, p);
    }
}

/* Nothing is decided: it is checked again at due_at, or it is abandoned. */
static int stay_or_end(move_t *move, pay_rows_txn_t *txn)
{
    pay_charge_t *charge = move->out;
    int rc = 0;

    pay_store_charge_clear_worker(charge);
    charge->due_at = move->what->due_at;
    if (ends(move->what)) {
        (void)pay_store_charge_become(charge, PAY_CHARGE_ABANDONED);
        charge->updated_at = pay_store_time_not_before(charge->updated_at);
        charge->held = PAY_NOT_HELD;
        rc = pay_store_event_of_charge(txn, charge, 1, move->p);
        if (!rc) {
            rc = pay_store_checkout_ended(txn, charge, move->p);
        }
    }
    return rc ? rc : pay_store_charge_put(txn, charge, move->p);
}

static int move_work(pay_rows_txn_t *txn, void *baton)
{
    move_t *move = baton;
    const pay_checkout_move_t *what = move->what;
    int rc;

    move->out = NULL;
    move->changed = 0;
    rc = pay_store_charge_get(&move->out, txn, move->scope, move->seq, move->p);
    if (rc || !move->out->checkout) {
        move->out = NULL;
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    if (!may_move(move->out, what)) {
        return 0;
    }
    step(move->out, what, move->p);
    rc = pay_store_checkout_put(txn, move->out, move->p);
    if (rc) {
        return rc;
    }
    move->changed = 1;
    if (what->outcome && what->outcome->kind != PAY_OUTCOME_UNKNOWN) {
        return pay_store_charge_settle(&move->changed, txn, move->out, what->outcome, move->p);
    }
    return stay_or_end(move, txn);
}

apr_status_t pay_store_checkout_move(pay_charge_t **out, int *changed, pay_store_t *store,
                                     const pay_scope_t *scope, apr_uint64_t seq,
                                     const pay_checkout_move_t *what, apr_pool_t *p)
{
    move_t move = {.scope = scope, .seq = seq, .what = what, .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    assert((unsigned int)what->to < PAY_CHECKOUT_STEP_COUNT);
    assert(what->due_at > 0 || ends(what) || (what->outcome && what->outcome->kind));
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, move_work, &move);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!move.out) {
        return APR_NOTFOUND;
    }
    *out = move.out;
    *changed = move.changed;
    return APR_SUCCESS;
}
