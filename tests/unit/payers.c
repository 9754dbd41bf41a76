/* SPDX-License-Identifier: Apache-2.0 */
#include "payers.h"

#include "checkout_goods.h"

#include "store/payment/charge.h"

const char *const erase_traces[ERASE_TRACES] = {
    ERASE_EMAIL,         "Ada-Augusta",       "Lovelace-King", "198.51.100.77", "token-of-ada",
    "call Mrs Lovelace", "said sorry to Ada", "phone-of-ada",  "page-for-ada"};

pay_charge_t *erase_proposal(int i, const char *reference, int is_ada)
{
    pay_charge_t *charge = till_proposal(i, reference, 1000);

    charge->email = is_ada ? ERASE_EMAIL : ERASE_OTHER;
    charge->first_name = is_ada ? "Ada-Augusta" : "Grace-Brewster";
    charge->last_name = is_ada ? "Lovelace-King" : "Hopper-Murray";
    charge->request_ip = is_ada ? "198.51.100.77" : "198.51.100.99";
    charge->token = is_ada ? "token-of-ada" : "token-of-grace";
    return charge;
}

pay_charge_t *erase_charge(int i, const char *reference, int is_ada, const pay_outcome_t *outcome,
                           const pay_idempotency_t *use)
{
    pay_charge_t *charge;
    pay_claim_t claim;

    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store,
                                           erase_proposal(i, reference, is_ada), outcome, use,
                                           unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    return charge;
}

pay_refund_t *erase_refund(int i, const char *reference, apr_int64_t amount_minor, int is_ada,
                           const pay_idempotency_t *use)
{
    pay_refund_t *refund = till_refund_proposal(i, reference, amount_minor);
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    refund->merchant_note = is_ada ? "call Mrs Lovelace" : "call Mrs Hopper";
    refund->customer_note = is_ada ? "said sorry to Ada" : "said sorry to Grace";
    refund->tag = apr_psprintf(unit_pool, "tag-%s", refund->id);
    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store, refund,
                                           use, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_REFUND_OPENED);
    return refund;
}

void erase_token(int i, const char *text, const char *email)
{
    pay_token_t token = {.scope = till->scopes[i], .token = text, .email = email};
    pay_token_t *made;

    apr_cpystrn(token.card.first6, "555555", sizeof(token.card.first6));
    apr_cpystrn(token.card.last4, "4444", sizeof(token.card.last4));
    token.card.issuer = token.card.country = token.card.type = "";
    ck_assert_int_eq(pay_store_token_create(&made, till->store, &token, unit_pool), APR_SUCCESS);
}

void erase_keep(int i, const char *key, const char *text)
{
    pay_idempotency_record_t *record;

    ck_assert_int_eq(pay_store_idempotency_put(&record, till->store, &till->scopes[i],
                                               till_use(PAY_OPERATION_VOID, key, "x"), text,
                                               unit_pool),
                     APR_SUCCESS);
}

void erase_history(int i, const char *reference, int first, int count)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, count, sizeof(pay_refund_t *));
    pay_import_t run;
    pay_refund_t *row;
    int n, at;

    for (n = 0; n < count; n++) {
        row = till_history(i, first + n, TILL_NOW - n * 1000, PAY_REFUND_PROCESSED, reference, 1);
        row->customer_note = strcmp(reference, "elsewhere") ? "said sorry to Ada" : NULL;
        row->merchant_note = strcmp(reference, "elsewhere") ? "call Mrs Lovelace" : NULL;
        row->merchant_note = strcmp(reference, "elsewhere") ? "call Mrs Lovelace" : NULL;
        APR_ARRAY_PUSH(rows, pay_refund_t *) = row;
    }
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
}

/* One that was paid on a page. */
static void erase_checkout(int i, const char *reference, int is_ada)
{
    pay_charge_t *proposal = erase_proposal(i, reference, is_ada), *charge;
    pay_checkout_t *checkout;
    pay_claim_t claim;

    checkout = apr_pmemdup(unit_pool, checkout_make(till_clock + apr_time_from_sec(60), unit_pool),
                           sizeof(*checkout));
    checkout->phone = is_ada ? "phone-of-ada" : "phone-of-grace";
    checkout->metadata = checkout->title = checkout->description = checkout->redirect_url =
        checkout->acquirer_url = is_ada ? "page-for-ada" : "page-for-grace";
    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->token = "";
    proposal->checkout = checkout;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(till_resolve(&charge, i, charge->seq, PAY_OUTCOME_APPROVED), 1);
}

void erase_fill(void)
{
    const pay_outcome_t held = {
        .kind = PAY_OUTCOME_UNKNOWN, .held = PAY_HELD_OVERDUE, .acquirer_reference = "up-1"};
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_event_t *event;
    int i, is_ada, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        outlet_open_all(i);
        for (is_ada = 0; is_ada < 2; is_ada++) {
            const char *who = is_ada ? "ada" : "grace";

#define NAMED(text) apr_pstrcat(unit_pool, text, "-", who, NULL)
            erase_token(i, NAMED("token-of"), is_ada ? ERASE_EMAIL : ERASE_OTHER);
            (void)erase_charge(i, NAMED("paid"), is_ada, till_outcome(PAY_OUTCOME_APPROVED),
                               till_use(PAY_OPERATION_CHARGE, NAMED("charge"), "x"));
            (void)erase_charge(i, NAMED("failed"), is_ada, till_outcome(PAY_OUTCOME_DECLINED),
                               NULL);
            erase_checkout(i, NAMED("checkout"), is_ada);
            charge = erase_charge(i, NAMED("pending"), is_ada, NULL, NULL);
            ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store,
                                                      &till->scopes[i], charge->seq, &held,
                                                      TILL_NOW, unit_pool),
                             APR_SUCCESS);
            refund = erase_refund(i, NAMED("paid"), 100, is_ada,
                                  till_use(PAY_OPERATION_REFUND, NAMED("refund"), "x"));
            (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
            refund = erase_refund(i, NAMED("paid"), 200, is_ada, NULL);
            (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_DECLINED);
            refund = erase_refund(i, NAMED("paid"), 300, is_ada, NULL);
            ck_assert_int_eq(pay_store_refund_resolve(&refund, &changed, till->store,
                                                      &till->scopes[i], refund->refund_reference,
                                                      &held, TILL_NOW, unit_pool),
                             APR_SUCCESS);
            erase_keep(
                i, NAMED("answer"),
                apr_psprintf(unit_pool, "{\"email\":\"%s\"}", is_ada ? ERASE_EMAIL : ERASE_OTHER));
        }
#undef NAMED
        erase_history(i, "paid-ada", 0, 3);
        erase_history(i, "elsewhere", 100, 2); /* of no charge that is known here */
        ck_assert_int_eq(pay_store_event_test(&event, till->store, &till->scopes[i],
                                              PAY_ENDPOINT_WEBHOOK, unit_pool),
                         APR_SUCCESS);
    }
    till_check_clean();
}

int erase_rows_with(int i, const char *text)
{
    pay_store_key_t prefix;
    MDB_cursor *cursor;
    pay_bytes_t key, val;
    pay_rows_txn_t txn;
    int table, rc, count = 0;

    pay_store_key_start(&prefix);
    if (i >= 0) {
        pay_store_key_scope(&prefix, &till->scopes[i]);
    }
    ck_assert_int_eq(pay_rows_begin(&txn, till->store), APR_SUCCESS);
    for (table = 0; table < PAY_TABLE_COUNT; table++) {
        ck_assert_int_eq(mdb_cursor_open(txn.native, pay_lmdb_dbi((pay_table_t)table), &cursor), 0);
        rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_FIRST);
        for (; !rc; rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_NEXT)) {
            if (key.len >= prefix.len && !memcmp(key.data, prefix.bytes, prefix.len)) {
                count += memmem(key.data, key.len, text, strlen(text))
                         || memmem(val.data, val.len, text, strlen(text));
            }
        }
        mdb_cursor_close(cursor);
    }
    pay_rows_end(&txn);
    return count;
}

int erase_count(int i, pay_table_t table)
{
    pay_store_key_t prefix;
    MDB_cursor *cursor;
    pay_bytes_t key, val;
    pay_rows_txn_t txn;
    int rc, count = 0;

    pay_store_key_of_scope(&prefix, &till->scopes[i]);
    ck_assert_int_eq(pay_rows_begin(&txn, till->store), APR_SUCCESS);
    ck_assert_int_eq(mdb_cursor_open(txn.native, pay_lmdb_dbi(table), &cursor), 0);
    rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_FIRST);
    for (; !rc; rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_NEXT)) {
        count += key.len >= prefix.len && !memcmp(key.data, prefix.bytes, prefix.len);
    }
    mdb_cursor_close(cursor);
    pay_rows_end(&txn);
    return count;
}

int erase_events_work(pay_rows_txn_t *txn, void *baton)
{
    const erase_events_t *plant = baton;
    pay_charge_t *charge;
    pay_event_t event;
    int n, rc;

    rc = pay_store_charge_get(&charge, txn, &plant->charge->scope, plant->charge->seq, unit_pool);
    for (n = 0; !rc && n < plant->count; n++) {
        memset(&event, 0, sizeof(event));
        event.scope = charge->scope;
        event.endpoint = plant->endpoint;
        event.charge_seq = charge->seq;
        event.sequence = ++charge->events;
        event.kind = PAY_EVENT_TRANSACTION;
        event.state = PAY_CHARGE_SUCCESSFUL;
        event.decided = 1;
        event.created_at = charge->updated_at;
        event.error = "";
        event.answer = "mail to " ERASE_EMAIL;
        rc = pay_store_event_store(txn, &event, unit_pool);
    }
    return rc ? rc : pay_store_charge_put(txn, charge, unit_pool);
}
