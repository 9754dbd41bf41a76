/* SPDX-License-Identifier: Apache-2.0 */
#include "payers.h"

#define SCOPE 1

/* At most `steps` of them; the store is consistent after each. */
static pay_erasure_t erase(int steps)
{
    pay_erasure_t at;
    int n;

    memset(&at, 0, sizeof(at));
    for (n = 0; !at.done && n < steps; n++) {
        ck_assert_int_eq(
            pay_store_payer_erase(&at, till->store, &till->scopes[SCOPE], ERASE_EMAIL, unit_pool),
            APR_SUCCESS);
        till_check_clean();
    }
    return at;
}

static void hold_amounts(const char *reference, const pay_charge_t *was)
{
    const pay_charge_t *charge = till_find(SCOPE, reference);

    ck_assert_int_eq(charge->state, was->state);
    ck_assert_int_eq(charge->money.amount_minor, was->money.amount_minor);
    ck_assert_int_eq(charge->refunded_minor, was->refunded_minor);
    ck_assert_int_eq(charge->refunds_pending_minor, was->refunds_pending_minor);
    ck_assert_int_eq(charge->created_at, was->created_at);
    ck_assert_int_eq(charge->updated_at, was->updated_at);
    ck_assert_str_eq(charge->code, was->code);
    ck_assert_str_eq(charge->card.last4, was->card.last4);
}

static int found(const char *email)
{
    const pay_charge_filter_t filter = {.email = email, .range = {APR_INT64_MIN, APR_INT64_MAX}};
    pay_charge_cursor_t cursor = {.seq = 0};
    apr_array_header_t *charges;

    ck_assert_int_eq(pay_store_charge_search(&charges, &cursor, till->store, &till->scopes[SCOPE],
                                             &filter, 100, unit_pool),
                     APR_SUCCESS);
    return charges->nelts;
}

/* Nothing of the payer is left except pending charges, and nothing of other payers is gone. */
START_TEST(test_erased)
{
    int before[ERASE_TRACES][TILL_SCOPES], n, i;
    const char *totals;
    pay_charge_t *was;
    pay_erasure_t at;

    erase_fill();
    for (n = 0; n < ERASE_TRACES; n++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            before[n][i] = erase_rows_with(i, erase_traces[n]);
            ck_assert_int_gt(before[n][i], 0);
        }
    }
    ck_assert_int_eq(found(ERASE_EMAIL), 4);
    n = erase_rows_with(SCOPE, "Hopper");
    totals = outlet_waiting(0);
    was = till_find(SCOPE, "paid-ada");
    at = erase(ERASE_STEPS_MAX);
    ck_assert_int_eq(at.done, 1);
    ck_assert_uint_eq(at.tokens, 1);
    ck_assert_uint_eq(at.charges, 3);
    ck_assert_uint_eq(at.refunds, 3 + 3);
    ck_assert_uint_eq(at.answers, 1);
    ck_assert_uint_eq(at.left, 1);
    hold_amounts("paid-ada", was);
    ck_assert_int_eq(erase_rows_with(SCOPE, "Hopper"), n);
    ck_assert_str_eq(outlet_waiting(0), totals);
    ck_assert_int_eq(found(ERASE_EMAIL), 1);
    ck_assert_int_eq(found(ERASE_OTHER), 4);
    ck_assert_int_eq(erase_rows_with(SCOPE, ERASE_EMAIL), 1); /* the pending one */
    for (n = 0; n < ERASE_TRACES; n++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            ck_assert(i == SCOPE || erase_rows_with(i, erase_traces[n]) == before[n][i]);
        }
    }
}
END_TEST

/* Once it is decided it can be erased too: then there is no byte of the payer. */
START_TEST(test_pending_later)
{
    pay_charge_t *charge;
    pay_erasure_t at;
    int n;

    erase_fill();
    (void)erase(ERASE_STEPS_MAX);
    charge = till_find(SCOPE, "pending-ada");
    (void)till_resolve(&charge, SCOPE, charge->seq, PAY_OUTCOME_APPROVED);
    at = erase(ERASE_STEPS_MAX);
    ck_assert_uint_eq(at.charges, 1);
    ck_assert_uint_eq(at.left, 0);
    for (n = 0; n < ERASE_TRACES; n++) {
        ck_assert_msg(erase_rows_with(SCOPE, erase_traces[n]) == 0, "%s is left", erase_traces[n]);
    }
    at = erase(ERASE_STEPS_MAX); /* and again: there is nothing to do */
    ck_assert_uint_eq(at.charges + at.refunds + at.events + at.tokens + at.answers + at.left, 0);
}
END_TEST

/* Killed after any step and begun again, it has the same result. */
START_TEST(test_killed)
{
    pay_erasure_t at;
    int steps;

    erase_fill();
    for (steps = 0; steps < 4; steps++) {
        (void)erase(steps);
    }
    at = erase(ERASE_STEPS_MAX);
    ck_assert_int_eq(at.done, 1);
    ck_assert_uint_eq(at.left, 1);
    ck_assert_int_eq(erase_rows_with(SCOPE, "token-of-ada"), 1); /* of the pending charge */
    ck_assert_int_eq(erase_rows_with(SCOPE, "Lovelace-King"), 1);
    ck_assert_int_eq(erase_rows_with(SCOPE, "said sorry to Ada"), 0);
}
END_TEST

/* The reference stays this request's: it is answered, and never charged again. */
START_TEST(test_replayed)
{
    pay_charge_t *charge, *other;
    pay_claim_t claim;

    erase_fill();
    (void)erase(ERASE_STEPS_MAX);
    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store,
                                           erase_proposal(SCOPE, "paid-ada", 1), NULL, NULL,
                                           unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_KNOWN);
    ck_assert_str_eq(charge->email, "");
    ck_assert_str_eq(charge->first_name, "");
    ck_assert_str_eq(charge->last_name, "");
    ck_assert_str_eq(charge->request_ip, "");
    ck_assert_str_eq(charge->token, "");
    other = till_proposal(SCOPE, "paid-ada", 999);
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, other, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_CONFLICT);
    ck_assert_ptr_nonnull(
        till_idempotency(SCOPE, till_use(PAY_OPERATION_REFUND, "refund-ada", "x")));
    ck_assert_ptr_null(till_idempotency(SCOPE, till_use(PAY_OPERATION_VOID, "answer-ada", "x")));
    ck_assert_ptr_nonnull(
        till_idempotency(SCOPE, till_use(PAY_OPERATION_VOID, "answer-grace", "x")));
}
END_TEST

/* In Live Mode the acquirer judges unknown tokens: an erased token stays known as revoked. */
START_TEST(test_tokens)
{
    const pay_scope_t *scope = &till->scopes[_i];
    const int live = scope->mode == PAY_LIVE;
    apr_array_header_t *tokens;
    pay_erasure_t at;
    pay_token_t *token;
    int n;

    erase_token(_i, "token-of-ada", ERASE_EMAIL);
    erase_token(_i, "revoked-of-ada", ERASE_EMAIL);
    erase_token(_i, "token-of-grace", ERASE_OTHER);
    ck_assert_int_eq(
        pay_store_token_revoke(&token, till->store, scope, "revoked-of-ada", unit_pool),
        APR_SUCCESS);
    for (n = 0; n < 2; n++) { /* the second one finds nothing to do */
        memset(&at, 0, sizeof(at));
        while (!at.done) {
            ck_assert_int_eq(pay_store_payer_erase(&at, till->store, scope, ERASE_EMAIL, unit_pool),
                             APR_SUCCESS);
        }
        ck_assert_uint_eq(at.tokens, n ? 0 : 2);
    }
    for (n = 0; n < 2; n++) {
        const char *text = n ? "revoked-of-ada" : "token-of-ada";

        ck_assert_int_eq(pay_store_token_get(&token, till->store, scope, text, unit_pool),
                         live ? APR_SUCCESS : APR_NOTFOUND);
        ck_assert_int_eq(erase_rows_with(_i, text), 0);
        if (live) {
            ck_assert_int_ne(token->revoked_at, 0);
            ck_assert_str_eq(token->token, text);
            ck_assert_str_eq(token->email, "");
            ck_assert_str_eq(token->card.first6, "");
            ck_assert_str_eq(token->card.last4, "");
        }
    }
    ck_assert_int_eq(pay_store_token_list(&tokens, till->store, scope, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(tokens->nelts, 1);
    ck_assert_str_eq(APR_ARRAY_IDX(tokens, 0, pay_token_t *)->token, "token-of-grace");
    erase_token(_i, "token-of-ada", ERASE_OTHER); /* issued again, it is as good as any */
    ck_assert_int_eq(pay_store_token_get(&token, till->store, scope, "token-of-ada", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(token->revoked_at, 0);
    ck_assert_str_eq(token->email, ERASE_OTHER);
    till_check_clean();
}
END_TEST

/* Later changes to it are reported to the merchant, and to no payer. */
START_TEST(test_told_later)
{
    pay_refund_t *refund;

    outlet_open_all(SCOPE);
    (void)erase_charge(SCOPE, "paid-ada", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    ck_assert_ptr_nonnull(strstr(outlet_waiting(SCOPE), "receipt 1.1 "));
    (void)erase(ERASE_STEPS_MAX);
    ck_assert_str_eq(outlet_waiting(SCOPE),
                     "webhook 1.1 transaction successful; notice 1.1 transaction successful");
    refund = erase_refund(SCOPE, "paid-ada", 50, 0, NULL);
    (void)till_refund_resolve(&refund, SCOPE, refund->refund_reference, PAY_OUTCOME_APPROVED);
    ck_assert_ptr_null(strstr(outlet_waiting(SCOPE), "receipt"));
    ck_assert_ptr_nonnull(strstr(outlet_waiting(SCOPE), "webhook 1.2 refund processed"));
    till_check_clean();
}
END_TEST

/* A charge with more refunds and events than one transaction visits. */
START_TEST(test_many_rows)
{
    erase_events_t plant = {.endpoint = PAY_ENDPOINT_WEBHOOK,
                            .count = PAY_STORE_CASCADE_ROWS_MAX + 50};
    pay_erasure_t at;

    erase_fill();
    plant.charge = till_find(SCOPE, "paid-ada");
    till_raw(erase_events_work, &plant);
    plant.endpoint = PAY_ENDPOINT_RECEIPT;
    till_raw(erase_events_work, &plant);
    erase_history(SCOPE, "paid-ada", 1000, PAY_STORE_ROWS_MAX);
    till_check_clean();
    at = erase(ERASE_STEPS_MAX);
    ck_assert_uint_eq(at.charges, 3);
    ck_assert_uint_eq(at.refunds, 3 + 3 + PAY_STORE_ROWS_MAX);
    ck_assert_uint_ge(at.events, 2 * (PAY_STORE_CASCADE_ROWS_MAX + 50));
    ck_assert_int_eq(erase_rows_with(SCOPE, ERASE_EMAIL), 1);
    ck_assert_int_eq(erase_rows_with(SCOPE, "said sorry to Ada"), 0);
    ck_assert_int_eq(erase_rows_with(0, "said sorry to Ada"), 3 + 3);
}
END_TEST

/* More charges than one batch takes, and more tokens than one part. */
START_TEST(test_many_charges)
{
    pay_erasure_t at;
    int n;

    for (n = 0; n < PAY_STORE_CASCADE_CHARGES_MAX + 1; n++) {
        (void)erase_charge(SCOPE, apr_psprintf(unit_pool, "order-%d", n), n % 10 != 9,
                           till_outcome(PAY_OUTCOME_APPROVED), NULL);
        (void)erase_charge(2, apr_psprintf(unit_pool, "order-%d", n), 1,
                           till_outcome(PAY_OUTCOME_APPROVED), NULL);
    }
    at = erase(ERASE_STEPS_MAX);
    ck_assert_uint_eq(at.charges, PAY_STORE_CASCADE_CHARGES_MAX + 1 - 10);
    ck_assert_int_eq(erase_rows_with(SCOPE, ERASE_EMAIL), 0);
    ck_assert_int_eq(erase_rows_with(SCOPE, ERASE_OTHER), 10);
    ck_assert_int_eq(erase_rows_with(2, ERASE_EMAIL), PAY_STORE_CASCADE_CHARGES_MAX + 1);
}
END_TEST

/* ---- an old client's repetition of what was erased meanwhile */

#define NOTE "a broken cup"

static pay_refund_verdict_t repeat(const char *note, const pay_refund_t **out)
{
    pay_refund_t *proposal = till_refund_proposal(SCOPE, "paid-ada", 100);
    pay_refund_verdict_t verdict;
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    proposal->merchant_note = note;
    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           proposal, NULL, PAY_REFUND_REPEAT_MAX, unit_pool),
                     APR_SUCCESS);
    *out = refund;
    return verdict;
}

/* A refund with that note, whose payer is erased. */
static pay_refund_t *erased_refund(int processed)
{
    const pay_refund_t *refund;

    (void)erase_charge(SCOPE, "paid-ada", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    ck_assert_int_eq(repeat(NOTE, &refund), PAY_REFUND_OPENED);
    if (processed) {
        (void)till_refund_resolve((pay_refund_t **)&refund, SCOPE, refund->refund_reference,
                                  PAY_OUTCOME_APPROVED);
    }
    (void)erase(ERASE_STEPS_MAX);
    till_check_clean();
    return (pay_refund_t *)refund;
}

static int sweep(void)
{
    int count;

    ck_assert_int_eq(pay_store_idempotency_expire(&count, till->store, till_clock,
                                                  PAY_STORE_ROWS_MAX, unit_pool),
                     APR_SUCCESS);
    till_check_clean();
    return count;
}

/* As long as the longest window, the request is known without its note; then that ends, too. */
START_TEST(test_repetition)
{
    const pay_refund_t *refund = erased_refund(1), *found;

    ck_assert_int_eq(repeat(NOTE, &found), PAY_REFUND_REFUSED_REPEATED);
    ck_assert_str_eq(found->refund_reference, refund->refund_reference);
    ck_assert_ptr_null(found->merchant_note);
    ck_assert_int_ne(*found->asked_digest, '\0');
    ck_assert_int_eq(erase_rows_with(SCOPE, NOTE), 0);
    (void)erase(ERASE_STEPS_MAX); /* again */
    ck_assert_int_eq(repeat(NOTE, &found), PAY_REFUND_REFUSED_REPEATED);
    till_clock += PAY_REFUND_REPEAT_MAX - 1000;
    ck_assert_int_eq(sweep(), 0);
    ck_assert_int_eq(repeat(NOTE, &found), PAY_REFUND_REFUSED_REPEATED);
    till_clock += 1000;
    ck_assert_int_eq(sweep(), 1);
    ck_assert_int_eq(repeat(NULL, &found), PAY_REFUND_REFUSED_REPEATED); /* by its blank notes */
    ck_assert_str_eq(found->asked_digest, "");
    ck_assert_int_eq(repeat(NOTE, &found), PAY_REFUND_OPENED);
    till_check_clean();
}
END_TEST

/* A pending one stands for its request however long that takes. */
START_TEST(test_repetition_of_a_pending_one)
{
    pay_refund_t *refund = erased_refund(0);
    const pay_refund_t *found;

    till_clock += PAY_REFUND_REPEAT_MAX + 1;
    ck_assert_int_eq(sweep(), 1);
    ck_assert_int_eq(repeat(NOTE, &found), PAY_REFUND_REFUSED_REPEATED);
    (void)till_refund_resolve(&refund, SCOPE, refund->refund_reference, PAY_OUTCOME_DECLINED);
    till_check_clean();
    till_clock += PAY_REFUND_REPEAT_MAX;
    ck_assert_int_eq(sweep(), 1);
    ck_assert_int_eq(repeat(NOTE, &found), PAY_REFUND_OPENED);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    int before, erased, swept; /* days that the clock is ahead when it is refunded, and so on */
} clocks[] = {
    {"ahead until it was erased", 365, 365, 0},
    {"ahead when it was erased", 0, 365, 0},
    {"ahead when it was swept", 0, 0, 365},
    {"ahead since it was erased", 0, 365, 365},
};

static void set_ahead(int days)
{
    const apr_interval_time_t step = apr_time_from_sec(86400) * days - till_steps;

    till_clock += step;
    till_steps += step;
}

/* The window is one of elapsed time: no step of the clock ends it. */
START_TEST(test_repetition_and_clocks)
{
    const char *name = clocks[_i].name;
    const pay_refund_t *found;

    set_ahead(clocks[_i].before);
    (void)erase_charge(SCOPE, "paid-ada", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    ck_assert_int_eq(repeat(NOTE, &found), PAY_REFUND_OPENED);
    (void)till_refund_resolve((pay_refund_t **)&found, SCOPE, found->refund_reference,
                              PAY_OUTCOME_APPROVED);
    set_ahead(clocks[_i].erased);
    (void)erase(ERASE_STEPS_MAX);
    set_ahead(clocks[_i].swept);
    (void)sweep();
    ck_assert_msg(repeat(NOTE, &found) == PAY_REFUND_REFUSED_REPEATED, "%s", name);
    set_ahead(0);
    (void)sweep();
    ck_assert_msg(repeat(NOTE, &found) == PAY_REFUND_REFUSED_REPEATED, "%s: again", name);
    ck_assert_int_eq(erase_rows_with(SCOPE, NOTE), 0);
    till_clock += 2 * PAY_REFUND_REPEAT_MAX;
    (void)sweep();
    ck_assert_msg(repeat(NOTE, &found) == PAY_REFUND_OPENED, "%s: over", name);
    till_check_clean();
}
END_TEST

/* Nothing is kept of one that nobody repeats any more. */
START_TEST(test_old_refund_leaves_no_digest)
{
    const pay_refund_t *refund, *found;

    (void)erase_charge(SCOPE, "paid-ada", 1, till_outcome(PAY_OUTCOME_APPROVED), NULL);
    ck_assert_int_eq(repeat(NOTE, &refund), PAY_REFUND_OPENED);
    (void)till_refund_resolve((pay_refund_t **)&refund, SCOPE, refund->refund_reference,
                              PAY_OUTCOME_APPROVED);
    till_clock += PAY_REFUND_REPEAT_MAX;
    (void)erase(ERASE_STEPS_MAX);
    ck_assert_int_eq(pay_store_refund_find((pay_refund_t **)&found, till->store,
                                           &till->scopes[SCOPE], refund->refund_reference,
                                           unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(found->asked_digest, "");
    till_check_clean();
    ck_assert_int_eq(repeat(NOTE, &found), PAY_REFUND_OPENED);
}
END_TEST

/* Records that are imported again are known by their other data, and bring nothing back. */
START_TEST(test_imported_again)
{
    int rows;

    erase_fill();
    (void)erase(ERASE_STEPS_MAX);
    rows = erase_count(SCOPE, PAY_TABLE_REFUND);
    erase_history(SCOPE, "paid-ada", 0, 3);
    ck_assert_int_eq(erase_count(SCOPE, PAY_TABLE_REFUND), rows);
    ck_assert_int_eq(erase_rows_with(SCOPE, "said sorry to Ada"), 0);
    ck_assert_int_eq(erase_rows_with(SCOPE, "call Mrs Lovelace"), 0);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_erased);
    tcase_add_loop_test(tcase, test_tokens, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_pending_later);
    tcase_add_test(tcase, test_killed);
    tcase_add_test(tcase, test_replayed);
    tcase_add_test(tcase, test_told_later);
    tcase_add_test(tcase, test_many_rows);
    tcase_add_test(tcase, test_many_charges);
    tcase_add_test(tcase, test_repetition);
    tcase_add_test(tcase, test_repetition_of_a_pending_one);
    tcase_add_loop_test(tcase, test_repetition_and_clocks, 0, sizeof(clocks) / sizeof(clocks[0]));
    tcase_add_test(tcase, test_old_refund_leaves_no_digest);
    tcase_add_test(tcase, test_imported_again);
}

UNIT_PROGRAM(add)
