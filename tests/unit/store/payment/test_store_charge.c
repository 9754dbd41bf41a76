/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/lmdb/env.h"
#include "store/payment/charge.h"
#include "store/record/scope.h"

#include <pthread.h>

#define RACERS 8
#define RACES 20

static const char *text_of(char c, int len)
{
    char *text = apr_palloc(unit_pool, (apr_size_t)len + 1);

    memset(text, c, (apr_size_t)len);
    text[len] = '\0';
    return text;
}

static pay_charge_t *open_as(pay_claim_t *claim, pay_charge_t *proposal)
{
    pay_charge_t *charge;

    ck_assert_int_eq(
        pay_store_charge_open(&charge, claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    return charge;
}

START_TEST(test_sequences_are_each_scopes_own)
{
    pay_charge_t *charge;
    int i, n;

    for (n = 1; n <= 5; n++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            charge = till_open(i, apr_psprintf(unit_pool, "order-%d", n), 100 * n);
            ck_assert(charge->seq == (apr_uint64_t)n);
            ck_assert_int_eq(charge->state, PAY_CHARGE_PENDING);
            ck_assert(charge->created_at == TILL_NOW && charge->updated_at == TILL_NOW);
        }
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        charge = till_find(i, "order-3");
        ck_assert(charge->seq == 3 && charge->money.amount_minor == 300);
        ck_assert_str_eq(charge->key_id, till->key_ids[i]);
        ck_assert_str_eq(charge->code, "");
        ck_assert_str_eq(charge->contradiction, "");
    }
    till_check_clean();
}
END_TEST

START_TEST(test_claims)
{
    pay_charge_t *charge;
    pay_claim_t claim;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        till_open(i, "order-1", 100);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        charge = open_as(&claim, till_proposal(i, "order-1", 100));
        ck_assert_int_eq(claim, PAY_CLAIM_KNOWN);
        ck_assert(charge->seq == 1 && charge->scope.account == till->scopes[i].account);
        charge = open_as(&claim, till_proposal(i, "order-1", 101));
        ck_assert_int_eq(claim, PAY_CLAIM_CONFLICT);
        ck_assert(charge->seq == 1 && charge->money.amount_minor == 100);
        charge = open_as(&claim, till_proposal(i, "Order-1", 100));
        ck_assert_int_eq(claim, PAY_CLAIM_NEW);
        ck_assert(charge->seq == 2); /* the repetitions took no number */
    }
    till_check_clean();
}
END_TEST

START_TEST(test_proposal_decides_nothing)
{
    pay_charge_t *proposal = till_proposal(_i, "order-1", 100), *charge;
    pay_claim_t claim;

    proposal->seq = 77;
    proposal->state = PAY_CHARGE_SUCCESSFUL;
    proposal->decided_state = PAY_CHARGE_SUCCESSFUL;
    proposal->refunded_minor = 50;
    proposal->created_at = 1;
    charge = open_as(&claim, proposal);
    ck_assert(charge->seq == 1 && charge->created_at == TILL_NOW);
    charge = till_find(_i, "order-1");
    ck_assert_int_eq(charge->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(charge->decided_state, PAY_CHARGE_PENDING);
    ck_assert(charge->refunded_minor == 0);
}
END_TEST

START_TEST(test_longest_charge)
{
    pay_outcome_t outcome = {.kind = PAY_OUTCOME_APPROVED,
                             .code = text_of('0', 99),
                             .message = text_of('m', 999),
                             .authorization_code = text_of('A', 99)};
    pay_outcome_t later = {
        .kind = PAY_OUTCOME_DECLINED, .code = text_of('0', 99), .message = text_of('n', 999)};
    pay_charge_t *proposal = till_proposal(_i, text_of('r', PAY_REFERENCE_MAX), 100), *charge;
    pay_claim_t claim;
    int changed;

    proposal->token = text_of('t', 255);
    proposal->email = text_of('e', 254);
    proposal->first_name = text_of('f', PAY_NAMES_BYTES_MAX / 2);
    proposal->last_name = text_of('l', PAY_NAMES_BYTES_MAX / 2);
    proposal->request_ip = text_of('4', PAY_STORE_NAME_MAX + 1);
    proposal->acquirer = text_of('a', PAY_STORE_NAME_MAX + 1);
    charge = open_as(&claim, proposal);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[_i], 1,
                                              &outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[_i], 1,
                                              &later, 0, unit_pool),
                     APR_SUCCESS);
    charge = till_find(_i, proposal->reference);
    ck_assert_uint_eq(strlen(charge->message), PAY_OUTCOME_MESSAGE_MAX);
    ck_assert_uint_eq(strlen(charge->code), PAY_OUTCOME_CODE_MAX);
    ck_assert_uint_eq(strlen(charge->authorization_code), PAY_AUTHORIZATION_MAX);
    ck_assert_uint_eq(strlen(charge->contradiction), PAY_STORE_CONTRADICTION_MAX);
    ck_assert_uint_eq(strlen(charge->acquirer), PAY_STORE_NAME_MAX);
}
END_TEST

START_TEST(test_too_long_is_refused)
{
    pay_charge_t *proposal = till_proposal(_i, "order-1", 100), *charge;
    pay_claim_t claim;

    proposal->token = text_of('t', PAY_STORE_CHARGE_ROW_MAX);
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_EINVAL);
    ck_assert_ptr_null(charge);
    ck_assert_int_eq(
        pay_store_charge_find(&charge, till->store, &till->scopes[_i], "order-1", unit_pool),
        APR_NOTFOUND);
}
END_TEST

START_TEST(test_unknown_reference)
{
    pay_charge_t *charge;
    int i;

    till_open(0, "order-1", 100);
    for (i = 1; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(
            pay_store_charge_find(&charge, till->store, &till->scopes[i], "order-1", unit_pool),
            APR_NOTFOUND);
        ck_assert_ptr_null(charge);
    }
    ck_assert_int_eq(
        pay_store_charge_find(&charge, till->store, &till->scopes[0], text_of('r', 600), unit_pool),
        APR_NOTFOUND);
}
END_TEST

START_TEST(test_clock)
{
    pay_charge_t *charge;

    till_open(_i, "order-1", 100);
    till_clock = TILL_NOW - apr_time_from_sec(2);
    charge = till_open(_i, "order-2", 100);
    ck_assert(charge->created_at == TILL_NOW);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 0);
    till_clock = TILL_NOW - apr_time_from_sec(3);
    charge = till_open(_i, "order-3", 100);
    ck_assert(charge->created_at == till_clock);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    till_open(_i, "order-4", 100);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
}
END_TEST

START_TEST(test_withdraw)
{
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        till_open(i, "order-1", 100);
    }
    ck_assert_int_eq(pay_store_charge_withdraw(till->store, &till->scopes[_i], 1, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_charge_withdraw(till->store, &till->scopes[_i], 1, unit_pool),
                     APR_NOTFOUND);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(
            pay_store_charge_find(&charge, till->store, &till->scopes[i], "order-1", unit_pool),
            i == _i ? APR_NOTFOUND : APR_SUCCESS);
    }
    charge = till_open(_i, "order-1", 200); /* the reference is free, the number is not */
    ck_assert(charge->seq == 2);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    pay_outcome_kind_t kind;
    pay_charge_state_t want;
} decided_cases[] = {
    {"approved", PAY_OUTCOME_APPROVED, PAY_CHARGE_SUCCESSFUL},
    {"declined", PAY_OUTCOME_DECLINED, PAY_CHARGE_FAILED},
};

/* Opened with its outcome it is the same as opened and resolved; the totals are counted again. */
START_TEST(test_opened_with_its_outcome)
{
    const char *name = decided_cases[_i].name;
    const pay_outcome_t *outcome = till_outcome(decided_cases[_i].kind);
    pay_charge_t *charge, *two, *known;
    pay_claim_t claim;
    int i, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        till_open(i, "two", 100);
        (void)till_resolve(&two, i, 1, decided_cases[_i].kind);
        ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store,
                                               till_proposal(i, "one", 100), outcome, NULL,
                                               unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(claim, PAY_CLAIM_NEW);
        charge = till_find(i, "one");
        ck_assert_msg(charge->state == decided_cases[_i].want, "%s: %d", name, charge->state);
        ck_assert_int_eq(charge->decided_state, two->decided_state);
        ck_assert(charge->decided_at == two->decided_at && charge->updated_at == two->updated_at);
        ck_assert_str_eq(charge->code, two->code);
        ck_assert_str_eq(charge->message, two->message);
        ck_assert_str_eq(charge->authorization_code, two->authorization_code);
        ck_assert(charge->due_at == 0 && charge->worker.pid == 0 && charge->wait_until_ms == 0
                  && charge->wait_until_at == 0);
        changed = till_resolve(&charge, i, charge->seq, PAY_OUTCOME_APPROVED);
        ck_assert_int_eq(changed, 0);
        ck_assert_int_eq(pay_store_charge_open(&known, &claim, till->store,
                                               till_proposal(i, "one", 100),
                                               till_outcome(PAY_OUTCOME_DECLINED), NULL, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(claim, PAY_CLAIM_KNOWN);
        ck_assert_int_eq(known->state, decided_cases[_i].want);
    }
    till_check_clean();
}
END_TEST

/* Charges and refunds count, each scope for itself; nothing is written, and a batch goes on. */
START_TEST(test_quota)
{
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_claim_t claim;
    apr_status_t rv;
    int i;

    till->store->options.account_rows_max = 3;
    for (i = 0; i < TILL_SCOPES; i++) {
        till_charge(i, "order-1", 100);
        till_charge(i, "order-2", 100);
        refund = till_refund(i, "order-1", 10, PAY_REFUND_OPENED);
        ck_assert_ptr_nonnull(refund);
        rv = pay_store_charge_open(&charge, &claim, till->store, till_proposal(i, "order-3", 1),
                                   NULL, NULL, unit_pool);
        ck_assert_int_eq(rv, PAY_STORE_EFULL);
        ck_assert_ptr_null(charge);
        rv = pay_store_charge_find(&charge, till->store, &till->scopes[i], "order-3", unit_pool);
        ck_assert_int_eq(rv, APR_NOTFOUND);
        rv = pay_store_charge_open(&charge, &claim, till->store, till_proposal(i, "order-2", 100),
                                   NULL, NULL, unit_pool);
        ck_assert_int_eq(rv, APR_SUCCESS);
        ck_assert_int_eq(claim, PAY_CLAIM_KNOWN);
    }
    ck_assert_int_eq(till_logged("PAY00190"), 1);
    ck_assert_ptr_nonnull(strstr(till_line, "PaymentsAccountQuota"));
    till->store->options.account_rows_max = 4;
    till_charge(0, "order-3", 1);
    till_check_clean();
}
END_TEST

/* A unit that left no row behind counts nothing, however often it was tried. */
START_TEST(test_quota_counts_rows)
{
    pay_charge_t *charge;
    apr_status_t rv;
    int i, n;

    till->store->options.account_rows_max = 2;
    for (i = 0; i < TILL_SCOPES; i++) {
        for (n = 0; n < 5; n++) {
            charge = till_open(i, "order-1", 100);
            rv = pay_store_charge_withdraw(till->store, &till->scopes[i], charge->seq, unit_pool);
            ck_assert_int_eq(rv, APR_SUCCESS);
        }
        till_charge(i, "order-1", 100);
        ck_assert_uint_eq(till_find(i, "order-1")->seq, 6);
        ck_assert_ptr_nonnull(till_refund(i, "order-1", 10, PAY_REFUND_OPENED));
    }
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 0);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    pay_outcome_kind_t kind;
    apr_status_t want;
} withdraw_cases[] = {
    {"approved", PAY_OUTCOME_APPROVED, APR_EINVAL},
    {"declined", PAY_OUTCOME_DECLINED, APR_EINVAL},
    {"still pending", PAY_OUTCOME_UNKNOWN, APR_SUCCESS},
};

START_TEST(test_withdraw_decided)
{
    pay_charge_t *charge;
    apr_status_t rv;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        till_open(i, "order-1", 100);
        (void)till_resolve(&charge, i, 1, withdraw_cases[_i].kind);
        rv = pay_store_charge_withdraw(till->store, &till->scopes[i], 1, unit_pool);
        ck_assert_msg(rv == withdraw_cases[_i].want, "%s: %d", withdraw_cases[_i].name, rv);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_scope_behind_its_charges)
{
    pay_charge_t *charge;
    pay_store_key_t key;
    pay_claim_t claim;

    till_open(_i, "order-1", 100);
    pay_store_key_of_scope(&key, &till->scopes[_i]);
    till_plant(PAY_TABLE_SCOPE, &key, NULL, 0);
    /* KEYEXIST of the charge row is a fault, never a duplicate reference. */
    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store,
                                           till_proposal(_i, "order-2", 100), NULL, NULL,
                                           unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_int_eq(
        pay_store_charge_find(&charge, till->store, &till->scopes[_i], "order-2", unit_pool),
        APR_NOTFOUND);
}
END_TEST

/* ---- races */

typedef struct racer_t {
    pay_charge_t *proposals[RACES];
    apr_pool_t *pool;
    int claims[RACES];
    int failed;
} racer_t;

static void *race(void *data)
{
    racer_t *racer = data;
    pay_charge_t *charge;
    pay_claim_t claim;
    int n;

    for (n = 0; n < RACES; n++) {
        racer->failed |= pay_store_charge_open(&charge, &claim, till->store, racer->proposals[n],
                                               NULL, NULL, racer->pool)
                         != APR_SUCCESS;
        racer->claims[n] = (int)claim;
    }
    return NULL;
}

/* Odd racers request another amount under the same references. */
static void racer_make(racer_t *racer, int number)
{
    int n;

    memset(racer, 0, sizeof(*racer));
    ck_assert_int_eq(apr_pool_create(&racer->pool, unit_pool), APR_SUCCESS);
    for (n = 0; n < RACES; n++) {
        racer->proposals[n] = till_proposal(n % TILL_SCOPES, apr_psprintf(unit_pool, "order-%d", n),
                                            100 + number % 2);
    }
}

/* One racer opened each; the others saw the same request or another one. */
static void check_race(const racer_t racers[RACERS])
{
    int n, r, winner, count;

    for (n = 0; n < RACES; n++) {
        winner = -1;
        count = 0;
        for (r = 0; r < RACERS; r++) {
            if (racers[r].claims[n] == PAY_CLAIM_NEW) {
                winner = r;
                count++;
            }
        }
        ck_assert_msg(count == 1, "reference %d was opened %d times", n, count);
        for (r = 0; r < RACERS; r++) {
            ck_assert_int_eq(racers[r].claims[n], r == winner           ? PAY_CLAIM_NEW
                                                  : r % 2 == winner % 2 ? PAY_CLAIM_KNOWN
                                                                        : PAY_CLAIM_CONFLICT);
        }
    }
    till_check_clean();
}

START_TEST(test_threads_race)
{
    pthread_t threads[RACERS];
    racer_t racers[RACERS];
    int r;

    for (r = 0; r < RACERS; r++) {
        racer_make(&racers[r], r);
    }
    for (r = 0; r < RACERS; r++) {
        ck_assert_int_eq(pthread_create(&threads[r], NULL, race, &racers[r]), 0);
    }
    for (r = 0; r < RACERS; r++) {
        pthread_join(threads[r], NULL);
        ck_assert(!racers[r].failed);
    }
    check_race(racers);
}
END_TEST

START_TEST(test_processes_race)
{
    racer_t racers[RACERS];
    int r;

    for (r = 0; r < RACERS; r++) {
        racer_make(&racers[r], r);
    }
    till_race(racers, sizeof(racers[0]), RACERS, race);
    for (r = 0; r < RACERS; r++) {
        ck_assert(!racers[r].failed);
    }
    check_race(racers);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_sequences_are_each_scopes_own);
    tcase_add_test(tcase, test_claims);
    tcase_add_loop_test(tcase, test_proposal_decides_nothing, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_longest_charge, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_too_long_is_refused, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_unknown_reference);
    tcase_add_loop_test(tcase, test_clock, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_withdraw, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_opened_with_its_outcome, 0, UNIT_ROWS(decided_cases));
    tcase_add_test(tcase, test_quota);
    tcase_add_test(tcase, test_quota_counts_rows);
    tcase_add_loop_test(tcase, test_withdraw_decided, 0, UNIT_ROWS(withdraw_cases));
    tcase_add_loop_test(tcase, test_scope_behind_its_charges, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_threads_race);
    tcase_add_test(tcase, test_processes_race);
}

UNIT_PROGRAM(add)
