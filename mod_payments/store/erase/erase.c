/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/token.h"
#include "store/erase/cascade.h"
#include "store/erase/gather.h"
#include "store/event/event.h"
#include "store/event/mailed.h"
#include "store/payment/charge.h"
#include "store/payment/checkout.h"
#include "store/payment/idempotency.h"
#include "store/payment/refund.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

/* Tokens are first, so that nothing more is charged with them; answers are last, because they are
 * made from the content of charges. */
enum { PHASE_TOKENS, PHASE_CHARGES, PHASE_ANSWERS, PHASE_COUNT };

/* ---- charges */

static int begin(int *leave, pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                 pay_charge_t *charge)
{
    (void)txn;
    *leave = strcmp(charge->email, cascade->baton) != 0; /* somebody else was faster */
    if (!*leave && charge->state == PAY_CHARGE_PENDING) {
        cascade->left++;
        *leave = 1;
    }
    return 0;
}

/* A receiver may have answered with the data it was sent. */
static int blank_event(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_event_t *event)
{
    if (event->endpoint == PAY_ENDPOINT_RECEIPT) {
        cascade->events_done++;
        return pay_store_event_remove(txn, event);
    }
    if (!*event->answer) {
        return 0;
    }
    cascade->events_done++;
    event->answer = "";
    return pay_store_event_store(txn, event, cascade->p);
}

/* Its entry in refund_repeat contains a digest of the notes. */
static int blank_refund(int *leave, pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                        pay_store_refund_t *row)
{
    pay_refund_t *refund = &row->refund;
    const int repeats = refund->import_number == 0 && refund->state != PAY_REFUND_FAILED;
    int rc = 0;

    *leave = 0;
    if (!refund->customer_note && !refund->merchant_note) {
        return 0;
    }
    if (repeats) {
        rc = pay_store_refund_repeat_erase(txn, refund, cascade->p);
    }
    refund->customer_note = NULL;
    refund->merchant_note = NULL;
    cascade->refunds_done++;
    return rc ? rc : pay_store_refund_put(txn, row, cascade->p);
}

/* The shop's texts for this payer, and the URL the payer was sent to; the page itself still leads
 * here. */
static int blank_checkout(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_charge_t *charge)
{
    pay_checkout_t *blank = apr_pmemdup(cascade->p, charge->checkout, sizeof(*blank));

    blank->phone = "";
    blank->redirect_url = "";
    blank->metadata = "";
    blank->title = "";
    blank->description = "";
    blank->acquirer_url = "";
    charge->checkout = blank;
    return pay_store_checkout_put(txn, charge, cascade->p);
}

static int blank_charge(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_charge_t *charge)
{
    int rc, has;

    rc = pay_store_cascade_has_event(&has, txn, charge, 1, cascade->p);
    if (rc || has) {
        cascade->left += has ? 1 : 0;
        return rc;
    }
    rc = pay_store_mailed_remove(txn, &charge->scope, charge->email, cascade->p);
    if (rc) {
        return rc;
    }
    charge->email = "";
    charge->first_name = "";
    charge->last_name = "";
    charge->request_ip = "";
    charge->token = ""; /* random, so the digest of the request reveals nothing about the e-mail */
    rc = pay_store_charge_put(txn, charge, cascade->p);
    if (!rc && charge->checkout) {
        rc = blank_checkout(cascade, txn, charge);
    }
    cascade->charges_done++;
    return rc;
}

static const pay_store_visitor_t eraser = {
    .begin = begin, .event = blank_event, .refund = blank_refund, .charge = blank_charge};

static void counted(const pay_store_cascade_t *cascade, void *sums)
{
    pay_erasure_t *at = sums;

    at->charges += cascade->charges_done;
    at->refunds += cascade->refunds_done;
    at->events += cascade->events_done;
    at->left += cascade->left;
}

static apr_status_t erase_charges(int *done, pay_erasure_t *at, pay_store_t *store,
                                  const pay_scope_t *scope, const char *email, apr_pool_t *ptemp)
{
    const pay_charge_filter_t filter = {.email = email, .range = {APR_INT64_MIN, APR_INT64_MAX}};
    pay_store_cascade_t cascade = {.visitor = &eraser, .scope = scope, .baton = email, .p = ptemp};
    pay_charge_cursor_t cursor = at->place.cursor;
    apr_array_header_t *charges, *seqs;
    apr_status_t rv;
    int i;

    rv = pay_store_charge_search(&charges, &cursor, store, scope, &filter,
                                 PAY_STORE_CASCADE_CHARGES_MAX, ptemp);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    seqs = apr_array_make(ptemp, PAY_STORE_CASCADE_CHARGES_MAX, sizeof(apr_uint64_t));
    for (i = 0; i < charges->nelts; i++) {
        APR_ARRAY_PUSH(seqs, apr_uint64_t) = APR_ARRAY_IDX(charges, i, pay_charge_t *)->seq;
    }
    cascade.charges = seqs;
    rv = pay_store_cascade(&cascade, store, counted, at);
    if (rv == APR_SUCCESS) {
        at->place.cursor = cursor;
        *done = cursor.done;
    }
    return rv;
}

/* ---- tokens, idempotency records */

static int want_token(int *wanted, const pay_store_gather_t *gather, const pay_bytes_t *key,
                      const pay_bytes_t *row, apr_pool_t *p)
{
    pay_token_t *token;
    int rc;

    *wanted = 0;
    rc = pay_store_token_decode(&token, key, row, p);
    if (!rc) {
        *wanted = strcmp(token->email, gather->baton) == 0;
    }
    return rc;
}

static int take_token(pay_store_gather_t *gather, pay_rows_txn_t *txn, const pay_bytes_t *key,
                      const pay_bytes_t *row, apr_pool_t *p)
{
    (void)gather;
    return pay_store_token_erase(txn, key, row, p);
}

/* Returns 1 if the text contains the e-mail, in JSON's spelling. */
static int holds(const pay_bytes_t *text, const char *email)
{
    const size_t len = strlen(email);
    const char *at = text->data;
    const char *end = at + text->len;

    for (; (size_t)(end - at) >= len; at++) {
        at = memchr(at, email[0], (size_t)(end - at));
        if (!at || (size_t)(end - at) < len) {
            return 0;
        }
        if (memcmp(at, email, len) == 0) {
            return 1;
        }
    }
    return 0;
}

static int want_answer(int *wanted, const pay_store_gather_t *gather, const pay_bytes_t *key,
                       const pay_bytes_t *row, apr_pool_t *p)
{
    pay_store_idempotency_t record;
    int rc;

    (void)p;
    *wanted = 0;
    rc = pay_store_idempotency_decode(&record, key, row);
    if (!rc) {
        *wanted = record.what == PAY_IDEMPOTENCY_TEXT && holds(&record.text, gather->baton);
    }
    return rc;
}

static apr_status_t step(int *done, pay_erasure_t *at, pay_store_t *store, const pay_scope_t *scope,
                         const char *email, apr_pool_t *ptemp)
{
    pay_store_gather_t gather = {.scope = scope, .baton = email};
    apr_status_t rv;

    if (at->place.phase == PHASE_CHARGES) {
        return erase_charges(done, at, store, scope, email, ptemp);
    }
    if (at->place.phase == PHASE_TOKENS) {
        gather.table = PAY_TABLE_TOKEN;
        gather.want = want_token;
        gather.take_out = take_token;
    } else {
        gather.table = PAY_TABLE_IDEMPOTENCY;
        gather.want = want_answer;
        gather.take_out = pay_store_gather_take_idempotency;
    }
    rv = pay_store_gather(&gather, &at->place, store, ptemp);
    *(at->place.phase == PHASE_TOKENS ? &at->tokens : &at->answers) += gather.taken;
    *done = gather.done;
    return rv;
}

apr_status_t pay_store_payer_erase(pay_erasure_t *at, pay_store_t *store, const pay_scope_t *scope,
                                   const char *email, apr_pool_t *p)
{
    apr_pool_t *ptemp;
    apr_status_t rv;
    int done = 0;

    assert(email[0] != '\0');
    if (at->done) {
        return APR_SUCCESS;
    }
    rv = apr_pool_create(&ptemp, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = step(&done, at, store, scope, email, ptemp);
    apr_pool_destroy(ptemp);
    if (rv == APR_SUCCESS && done) {
        at->place.phase++;
        at->place.key_len = 0;
        at->done = at->place.phase == PHASE_COUNT;
    }
    return rv;
}
