/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "checkout_goods.h"

#include <pthread.h>

#define RACERS 8

static const pay_card_t card = {"555555", "4444", "Mastercard", "NG", "debit"};
static const pay_outcome_t approved = {.kind = PAY_OUTCOME_APPROVED,
                                       .code = "00",
                                       .message = "Approved",
                                       .authorization_code = "A1B2C3",
                                       .token = "tok_made"};

static int move(pay_charge_t **out, int i, apr_uint64_t seq, const pay_checkout_move_t *what)
{
    int changed;

    ck_assert_int_eq(
        pay_store_checkout_move(out, &changed, till->store, &till->scopes[i], seq, what, unit_pool),
        APR_SUCCESS);
    return changed;
}

static pay_checkout_move_t to_sent(const pay_outcome_t *outcome)
{
    const pay_checkout_move_t what = {.from = PAY_CHECKOUT_OPEN,
                                      .to = PAY_CHECKOUT_SENT,
                                      .now = till_clock,
                                      .card = &card,
                                      .outcome = outcome,
                                      .due_at = till_clock + apr_time_from_sec(1)};

    return what;
}

static pay_token_t *token_of(int i, const char *text)
{
    pay_token_t *token = NULL;

    (void)pay_store_token_get(&token, till->store, &till->scopes[i], text, unit_pool);
    return token;
}

/* ---- paying */

START_TEST(test_paid)
{
    const pay_checkout_move_t what = to_sent(&approved);
    pay_charge_t *charge[TILL_SCOPES], *paid;
    pay_token_t *token;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        charge[i] = till_checkout(i, "order-1", 1000);
    }
    ck_assert_int_eq(move(&paid, _i, charge[_i]->seq, &what), 1);
    ck_assert_int_eq(paid->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(paid->checkout->step, PAY_CHECKOUT_SENT);
    ck_assert_str_eq(paid->card.last4, "4444");
    ck_assert_str_eq(paid->token, "tok_made");
    ck_assert_int_eq(paid->due_at, 0);
    token = token_of(_i, "tok_made");
    ck_assert_ptr_nonnull(token);
    ck_assert_str_eq(token->email, paid->email);
    ck_assert_str_eq(token->card.last4, "4444");
    ck_assert_int_eq(token->revoked_at, 0);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(till_find(i, "order-1")->state,
                         i == _i ? PAY_CHARGE_SUCCESSFUL : PAY_CHARGE_PENDING);
        ck_assert(i == _i || !token_of(i, "tok_made"));
    }
    ck_assert_int_eq(move(&paid, _i, charge[_i]->seq, &what), 0); /* once */
    till_check_clean();
}
END_TEST

/* A transfer has no card, so no token either. */
START_TEST(test_transfer)
{
    pay_checkout_move_t what = to_sent(&approved);
    pay_charge_t *charge = till_checkout(0, "order-1", 1000);

    what.card = NULL;
    what.channel = PAY_CHANNEL_BANK_TRANSFER;
    ck_assert_int_eq(move(&charge, 0, charge->seq, &what), 1);
    ck_assert_int_eq(till_find(0, "order-1")->channel, PAY_CHANNEL_BANK_TRANSFER);
    ck_assert_str_eq(charge->token, "");
    ck_assert_ptr_null(token_of(0, "tok_made"));
    till_check_clean();
}
END_TEST

START_TEST(test_declined)
{
    const pay_outcome_t declined = {.kind = PAY_OUTCOME_DECLINED, .code = "05", .message = "No"};
    const pay_checkout_move_t what = to_sent(&declined);
    pay_charge_t *charge = till_checkout(0, "order-1", 1000);

    ck_assert_int_eq(move(&charge, 0, charge->seq, &what), 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_str_eq(charge->token, "");
    till_check_clean();
}
END_TEST

/*
 * The acquirer gave no answer: it is queried, and its report counts whatever happens to the page.
 */
START_TEST(test_unknown)
{
    const pay_outcome_t unknown = {.kind = PAY_OUTCOME_UNKNOWN};
    const pay_checkout_move_t what = to_sent(&unknown);
    pay_charge_t *charge = till_checkout(0, "order-1", 1000);
    apr_array_header_t *due;
    pay_idempotency_record_t *record;
    int voided, changed;

    ck_assert_int_eq(move(&charge, 0, charge->seq, &what), 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(charge->due_at, what.due_at);
    if (_i) { /* the shop voids it meanwhile */
        ck_assert_int_eq(pay_store_charge_void(&charge, &voided, &record, till->store,
                                               &till->scopes[0], "order-1", NULL, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(voided, 1);
    }
    till_check_clean();
    ck_assert_int_eq(
        pay_store_due_take(&due, till->store, what.due_at, apr_time_from_sec(9), 10, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(due->nelts, 1);
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[0],
                                              charge->seq, &approved, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_ptr_nonnull(token_of(0, "tok_made"));
    till_check_clean();
}
END_TEST

/* ---- what does not move */

static const struct {
    const char *name;
    pay_checkout_move_t first; /* times are after the clock */
    pay_checkout_move_t second;
    int want;
} pairs[] = {
    {"a code after a card that asks for one",
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_CODE, .card = &card, .due_at = 60},
     {.from = PAY_CHECKOUT_CODE, .to = PAY_CHECKOUT_SENT, .outcome = &approved},
     1},
    {"another card after that one",
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_CODE, .card = &card, .due_at = 60},
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_SENT, .outcome = &approved},
     0},
    {"a card after it was cancelled",
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_CANCELLED},
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_SENT, .outcome = &approved},
     0},
    {"cancelled after it was sent",
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_SENT, .due_at = 1},
     {.from = PAY_CHECKOUT_SENT, .to = PAY_CHECKOUT_CANCELLED},
     1},
    {"a card when its time is over",
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_OPEN, .due_at = 60},
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_SENT, .now = 60, .outcome = &approved},
     0},
    {"expired before its time is over",
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_OPEN, .due_at = 60},
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_EXPIRED, .now = 59},
     0},
    {"expired when it is",
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_OPEN, .due_at = 60},
     {.from = PAY_CHECKOUT_OPEN, .to = PAY_CHECKOUT_EXPIRED, .now = 60},
     1},
};

static pay_checkout_move_t at_the_clock(const pay_checkout_move_t *what)
{
    pay_checkout_move_t moved = *what;

    moved.now = till_clock + apr_time_from_sec(what->now);
    moved.due_at = what->due_at ? till_clock + apr_time_from_sec(what->due_at) : 0;
    return moved;
}

START_TEST(test_pairs)
{
    const pay_checkout_move_t first = at_the_clock(&pairs[_i].first);
    const pay_checkout_move_t second = at_the_clock(&pairs[_i].second);
    pay_charge_t *charge = till_checkout(1, "order-1", 1000);
    const char *before;

    ck_assert_int_eq(move(&charge, 1, charge->seq, &first), 1);
    before = till_snapshot();
    ck_assert_msg(move(&charge, 1, charge->seq, &second) == pairs[_i].want, "%s", pairs[_i].name);
    ck_assert_msg((strcmp(before, till_snapshot()) == 0) == !pairs[_i].want, "%s", pairs[_i].name);
    till_check_clean();
}
END_TEST

START_TEST(test_no_checkout)
{
    const pay_checkout_move_t what = to_sent(&approved);
    pay_charge_t *charge = till_open(0, "order-1", 1000);
    int changed;

    ck_assert_int_eq(pay_store_checkout_move(&charge, &changed, till->store, &till->scopes[0],
                                             charge->seq, &what, unit_pool),
                     APR_NOTFOUND);
    ck_assert_int_eq(pay_store_checkout_move(&charge, &changed, till->store, &till->scopes[0], 99,
                                             &what, unit_pool),
                     APR_NOTFOUND);
}
END_TEST

/* ---- abandoned */

START_TEST(test_abandoned)
{
    const apr_time_t asked_at = till_clock + apr_time_from_sec(7200);
    const pay_checkout_move_t what = {.from = PAY_CHECKOUT_OPEN,
                                      .to = PAY_CHECKOUT_EXPIRED,
                                      .now = till_clock + apr_time_from_sec(60),
                                      .due_at = _i ? asked_at : 0};
    pay_charge_t *charge = till_checkout(0, "order-1", 1000);
    apr_array_header_t *due;
    int changed;

    till_clock = what.now;
    ck_assert_int_eq(move(&charge, 0, charge->seq, &what), 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_ABANDONED);
    ck_assert_int_eq(charge->decided_state, PAY_CHARGE_PENDING);
    ck_assert(charge->updated_at == till_clock && charge->created_at < till_clock);
    till_check_clean();
    ck_assert_int_eq(
        pay_store_due_take(&due, till->store, asked_at, apr_time_from_sec(9), 10, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(due->nelts, _i);
    if (_i) { /* nothing was found: it is queried once more, and then no more */
        (void)pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[0],
                                       charge->seq, till_outcome(PAY_OUTCOME_UNKNOWN), asked_at + 5,
                                       unit_pool);
        ck_assert_int_eq(changed, 1);
        ck_assert_int_eq(till_find(0, "order-1")->due_at, asked_at + 5);
        till_check_clean();
        (void)pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[0],
                                       charge->seq, till_outcome(PAY_OUTCOME_UNKNOWN), 0,
                                       unit_pool);
        ck_assert_int_eq(till_find(0, "order-1")->due_at, 0);
        till_check_clean();
    }
    ck_assert_int_eq(till_resolve(&charge, 0, charge->seq, PAY_OUTCOME_DECLINED), 0);
    ck_assert_int_eq(charge->state, PAY_CHARGE_ABANDONED);
    ck_assert_int_eq(till_resolve(&charge, 0, charge->seq, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    till_check_clean();
}
END_TEST

/* ---- two windows at once */

static _Atomic int winners;

static void *race(void *baton)
{
    const pay_checkout_move_t *what = baton;
    apr_pool_t *p;
    pay_charge_t *charge;
    int changed;

    (void)apr_pool_create(&p, NULL);
    if (pay_store_checkout_move(&charge, &changed, till->store, &till->scopes[0], 1, what, p)
        == APR_SUCCESS) {
        winners += changed;
    }
    apr_pool_destroy(p);
    return NULL;
}

START_TEST(test_race)
{
    const pay_checkout_move_t what = to_sent(&approved);
    pthread_t racer[RACERS];
    int i;

    (void)till_checkout(0, "order-1", 1000);
    winners = 0;
    for (i = 0; i < RACERS; i++) {
        ck_assert_int_eq(pthread_create(&racer[i], NULL, race, (void *)&what), 0);
    }
    for (i = 0; i < RACERS; i++) {
        ck_assert_int_eq(pthread_join(racer[i], NULL), 0);
    }
    ck_assert_int_eq(winners, 1);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_paid, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_transfer);
    tcase_add_test(tcase, test_declined);
    tcase_add_loop_test(tcase, test_unknown, 0, 2);
    tcase_add_loop_test(tcase, test_pairs, 0, UNIT_ROWS(pairs));
    tcase_add_test(tcase, test_no_checkout);
    tcase_add_loop_test(tcase, test_abandoned, 0, 2);
    tcase_add_test(tcase, test_race);
}

UNIT_PROGRAM(add)
