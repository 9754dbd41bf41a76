/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_LIVE_H
#define FUZZ_LIVE_H

/*
 * Charges in the store of fuzz_store.h that went through an acquirer of Live Mode: one approved
 * with a refund that the acquirer knows, one held, one that failed for absence, one that was
 * approved after that, and a requested range of its history.
 */

#include "fuzz_events.h"
#include "fuzz_page.h"

#define FUZZ_LIVE_APPROVED "00000000000000000000000000000001"
#define FUZZ_LIVE_HELD "00000000000000000000000000000002"
#define FUZZ_LIVE_LATE "00000000000000000000000000000003"
#define FUZZ_LIVE_ABSENT "00000000000000000000000000000004"
#define FUZZ_LIVE_TAG "abcdefghijklmnopqrstuvwx"
#define FUZZ_LIVE_REFUND "rfd_up"

static inline pay_charge_t *fuzz_live_charge(const char *reference, const char *acquirer_reference,
                                             const pay_outcome_t *outcome, apr_pool_t *p)
{
    const pay_charge_t proposal = {.scope = fuzz_store.scope,
                                   .kind = PAY_CHARGE_TOKENIZED,
                                   .reference = reference,
                                   .acquirer_reference = acquirer_reference,
                                   .token = "card_1",
                                   .card = {"", "", "", "", ""},
                                   .money = {FUZZ_AMOUNT_MINOR, "NGN"},
                                   .email = "ada@example.com",
                                   .first_name = "",
                                   .last_name = "",
                                   .request_ip = "192.0.2.1",
                                   .acquirer = "relay@up.example",
                                   .key_id = "key_fuzz",
                                   .due_at = FUZZ_NOW};
    pay_charge_t *charge;
    pay_claim_t claim;
    int changed;

    CHECK(pay_store_charge_open(&charge, &claim, fuzz_store.store, &proposal, NULL, NULL, p)
          == APR_SUCCESS);
    CHECK(claim == PAY_CLAIM_NEW);
    CHECK(pay_store_charge_resolve(&charge, &changed, fuzz_store.store, &fuzz_store.scope,
                                   charge->seq, outcome, FUZZ_NOW, p)
          == APR_SUCCESS);
    CHECK(changed);
    return charge;
}

static inline void fuzz_live_refund(apr_pool_t *p)
{
    const pay_refund_t proposal = {.id = "re_live",
                                   .refund_reference = "re_live",
                                   .scope = fuzz_store.scope,
                                   .money = {100, "NGN"},
                                   .channel = "API",
                                   .transaction_reference = "live-approved",
                                   .acquirer = "relay@up.example",
                                   .key_id = "key_fuzz",
                                   .tag = FUZZ_LIVE_TAG,
                                   .due_at = FUZZ_NOW};
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_UNKNOWN,
                                   .acquirer_reference = FUZZ_LIVE_REFUND,
                                   .held = PAY_HELD_OVERDUE};
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_idempotency_record_t *record;
    int changed;

    CHECK(pay_store_refund_open(&refund, &charge, &verdict, &record, fuzz_store.store, &proposal,
                                NULL, 0, p)
          == APR_SUCCESS);
    CHECK(pay_store_refund_resolve(&refund, &changed, fuzz_store.store, &fuzz_store.scope,
                                   "re_live", &outcome, FUZZ_NOW, p)
          == APR_SUCCESS);
    CHECK(changed);
}

static inline void fuzz_live_make(void)
{
    const pay_card_t card = {"411111", "1111", "Visa", "NG", "credit"};
    const pay_outcome_t approved = {
        .kind = PAY_OUTCOME_APPROVED, .code = "00", .message = "Approved", .card = &card};
    const pay_outcome_t unknown = {.absent_since = FUZZ_NOW, .held = PAY_HELD_DIFFERENT};
    const pay_outcome_t absent = {.kind = PAY_OUTCOME_DECLINED,
                                  .message = "not received by the acquirer",
                                  .late_check_at = FUZZ_NOW + apr_time_from_sec(3600)};
    const pay_late_step_t found = {
        .to = PAY_LATE_FOUND, .outcome = &approved, .held = PAY_HELD_LATE};
    pay_history_t *history;
    pay_charge_t *charge;
    apr_pool_t *p;
    int changed;

    /* Destroyed at the end: LeakSanitizer does not find memory to which only a pool points. */
    CHECK(apr_pool_create(&p, NULL) == APR_SUCCESS);
    (void)fuzz_live_charge("live-approved", FUZZ_LIVE_APPROVED, &approved, p);
    (void)fuzz_live_charge("live-held", FUZZ_LIVE_HELD, &unknown, p);
    (void)fuzz_live_charge("live-absent", FUZZ_LIVE_ABSENT, &absent, p);
    charge = fuzz_live_charge("live-late", FUZZ_LIVE_LATE, &absent, p);
    CHECK(pay_store_charge_late(&charge, &changed, fuzz_store.store, &fuzz_store.scope, charge->seq,
                                &found, p)
          == APR_SUCCESS);
    CHECK(changed);
    fuzz_live_refund(p);
    CHECK(pay_store_history_ask(&history, fuzz_store.store, &fuzz_store.scope,
                                FUZZ_NOW - apr_time_from_sec(86400), FUZZ_NOW, p)
          == APR_SUCCESS);
    apr_pool_destroy(p);
}

/* Requests more of the history and answers; nothing of that may end the process. */
static inline void fuzz_live_ask(apr_pool_t *p)
{
    pay_history_t *history;

    (void)pay_store_history_ask(&history, fuzz_store.store, &fuzz_store.scope, 0, FUZZ_NOW, p);
    if (pay_store_history_get(&history, fuzz_store.store, &fuzz_store.scope, p) == APR_SUCCESS) {
        history->answered = history->asked;
        (void)pay_store_history_put(fuzz_store.store, history, p);
    }
}

#endif
