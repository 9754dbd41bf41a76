/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_GOODS_H
#define FUZZ_GOODS_H

/* The content of the store of fuzz_store.h. */

#include "fuzz_encryption.h"
#include "fuzz_grants.h"
#include "fuzz_import.h"
#include "fuzz_links.h"
#include "fuzz_live.h"

static inline void fuzz_goods_key(void)
{
    pay_api_key_t key = {.id = "key_fuzz", .scope = fuzz_store.scope, .kind = PAY_KEY_SECRET};
    pay_token_t token = {.scope = fuzz_store.scope,
                         .token = "tok_fuzz",
                         .email = "ada@example.com",
                         .card = {"555555", "4444", "Mastercard", "NG", "debit"}};
    const fuzz_store_t *in = &fuzz_store;
    pay_api_key_t *made;
    pay_token_t *issued;

    memset(fuzz_store.digest, 'k', sizeof(fuzz_store.digest));
    memcpy(key.digest, fuzz_store.digest, sizeof(key.digest));
    CHECK(pay_store_key_create(&made, in->store, &key, in->pool) == APR_SUCCESS);
    CHECK(pay_store_token_create(&issued, in->store, &token, in->pool) == APR_SUCCESS);
}

/* The Idempotency-Key "fuzz" of an operation. */
static inline const pay_idempotency_t *fuzz_goods_use(pay_operation_t operation)
{
    static pay_idempotency_t use = {PAY_OPERATION_CHARGE, PAY_KEY_SECRET, "fuzz", {0}};

    use.operation = operation;
    return &use;
}

/* A charge of 10.50 NGN: PAY_OUTCOME_UNKNOWN leaves it pending, an approved one has a key. */
static inline void fuzz_goods_charge(const char *reference, pay_charge_kind_t by,
                                     pay_outcome_kind_t kind)
{
    pay_charge_t proposal = {.scope = fuzz_store.scope,
                             .kind = by,
                             .reference = reference,
                             .token = "tok_fuzz",
                             .card = {"555555", "4444", "Mastercard", "NG", "debit"},
                             .money = {FUZZ_AMOUNT_MINOR, "NGN"},
                             .email = "ada@example.com",
                             .first_name = "Ada",
                             .last_name = "",
                             .request_ip = "192.0.2.1",
                             .acquirer = "simulator",
                             .key_id = "key_fuzz",
                             .due_at = FUZZ_NOW,
                             .checkout = by == PAY_CHARGE_CHECKOUT ? &fuzz_page : NULL};
    pay_outcome_t outcome = {
        .kind = kind, .code = "00", .message = "Approved", .authorization_code = "A1B2C3"};
    pay_charge_t *charge;
    pay_claim_t claim;
    int changed;

    CHECK(pay_store_charge_open(&charge, &claim, fuzz_store.store, &proposal, NULL,
                                kind == PAY_OUTCOME_APPROVED ? fuzz_goods_use(PAY_OPERATION_CHARGE)
                                                             : NULL,
                                fuzz_store.pool)
              == APR_SUCCESS
          && claim == PAY_CLAIM_NEW);
    CHECK(pay_store_charge_resolve(&charge, &changed, fuzz_store.store, &fuzz_store.scope,
                                   charge->seq, &outcome, FUZZ_NOW, fuzz_store.pool)
          == APR_SUCCESS);
}

/* Requests a refund of `amount_minor` of a charge; 0: the whole remainder. */
static inline apr_status_t fuzz_goods_refund(pay_refund_t **out, const char *name,
                                             const char *reference, apr_int64_t amount_minor,
                                             const pay_idempotency_t *use, apr_pool_t *p)
{
    pay_refund_t proposal = {.id = name,
                             .refund_reference = name,
                             .scope = fuzz_store.scope,
                             .money = {amount_minor, "NGN"},
                             .channel = "API",
                             .customer_note = "Box broken",
                             .transaction_reference = reference,
                             .acquirer = "simulator",
                             .key_id = "key_fuzz",
                             .due_at = FUZZ_NOW};
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    return pay_store_refund_open(out, &charge, &verdict, &record, fuzz_store.store, &proposal, use,
                                 0, p);
}

/* The state of the store before each input; made at the first call. */
static inline void fuzz_goods_ready(void)
{
    pay_refund_t *refund;
    pay_idempotency_record_t *record;

    if (fuzz_store.store) {
        fuzz_store_reset();
        return;
    }
    fuzz_store_make();
    fuzz_goods_key();
    fuzz_encryption_key();
    fuzz_events_endpoints();
    fuzz_goods_charge("known", PAY_CHARGE_TOKENIZED, PAY_OUTCOME_APPROVED);
    fuzz_goods_charge("declined", PAY_CHARGE_TOKENIZED, PAY_OUTCOME_DECLINED);
    fuzz_goods_charge("pending", PAY_CHARGE_TOKENIZED, PAY_OUTCOME_UNKNOWN);
    fuzz_goods_charge("checkout", PAY_CHARGE_CHECKOUT, PAY_OUTCOME_UNKNOWN);
    CHECK(fuzz_goods_refund(&refund, "re_pending", "known", 100,
                            fuzz_goods_use(PAY_OPERATION_REFUND), fuzz_store.pool)
          == APR_SUCCESS);
    fuzz_import_make();
    CHECK(pay_store_idempotency_put(&record, fuzz_store.store, &fuzz_store.scope,
                                    fuzz_goods_use(PAY_OPERATION_VERIFY), "{\"status\":true}",
                                    fuzz_store.pool)
          == APR_SUCCESS);
    fuzz_live_make();
    fuzz_grants_make();
    fuzz_links_make();
    fuzz_store_remember();
}

#endif
