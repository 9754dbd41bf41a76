/* SPDX-License-Identifier: Apache-2.0 */
#include "checkout_shop.h"
#include "decide.h"

#define REFERENCE "checkout-00000001"

static const pay_charge_t *charge;

static void set_up(void)
{
    checkout_shop_open(unit_dir());
}

static const pay_charge_t *stored(void)
{
    return charge_of(REFERENCE);
}

static void step_at(apr_time_t when, char says)
{
    shop_clock_set(when);
    script_say(says);
    checkout_watchdog();
}

/* ---- while it is open */

static const struct {
    const char *name;
    char says;
    pay_charge_state_t want;
    pay_held_t held;
} opens[] = {
    {"paid", '+', PAY_CHARGE_SUCCESSFUL, PAY_NOT_HELD},
    {"declined", '-', PAY_CHARGE_FAILED, PAY_NOT_HELD},
    {"not yet", 'P', PAY_CHARGE_PENDING, PAY_NOT_HELD},
    {"not known there: the payer has not begun", 'A', PAY_CHARGE_PENDING, PAY_NOT_HELD},
    {"something else", 'D', PAY_CHARGE_PENDING, PAY_HELD_DIFFERENT},
    {"no answer", 'U', PAY_CHARGE_PENDING, PAY_NOT_HELD},
};

START_TEST(test_open)
{
    charge = checkout_new(PAY_LIVE, REFERENCE);
    step_at(NOW + 30 * SECOND, opens[_i].says);
    ck_assert_int_eq(script.queries, 1);
    charge = stored();
    ck_assert_msg(charge->state == opens[_i].want, "%s", opens[_i].name);
    ck_assert_msg(charge->held == opens[_i].held, "%s", opens[_i].name);
    ck_assert(charge->due_at <= NOW + LIFETIME);
    store_is_clean();
}
END_TEST

/* ---- when its time is over */

static const struct {
    const char *name;
    char says;
    pay_charge_state_t want;
    apr_interval_time_t again; /* next query after that; 0: no more */
} ends[] = {
    {"paid", '+', PAY_CHARGE_SUCCESSFUL, 0},
    {"declined", '-', PAY_CHARGE_FAILED, 0},
    {"not yet", 'P', PAY_CHARGE_ABANDONED, 6 * HOUR},
    {"not known there", 'A', PAY_CHARGE_ABANDONED, 6 * HOUR},
    {"no answer", 'U', PAY_CHARGE_ABANDONED, HOUR},
    {"no answer in time", 'T', PAY_CHARGE_ABANDONED, HOUR},
    {"something else", 'D', PAY_CHARGE_PENDING, HOUR},
};

START_TEST(test_over)
{
    charge = checkout_new(PAY_LIVE, REFERENCE);
    step_at(NOW + LIFETIME, ends[_i].says);
    charge = stored();
    ck_assert_msg(charge->state == ends[_i].want, "%s", ends[_i].name);
    ck_assert_msg(logged("PAY00578: ") == (ends[_i].says == '+' || ends[_i].says == '-'), "%s",
                  ends[_i].name);
    ck_assert_msg(charge->due_at == (ends[_i].again ? NOW + LIFETIME + ends[_i].again : 0), "%s",
                  ends[_i].name);
    store_is_clean();
}
END_TEST

/* ---- closed, and asked about late */

static const struct {
    const char *name;
    const char *says; /* 6 hours, 1, 3 and 7 days after */
    pay_charge_state_t want;
    int queries;
    int goes_on;
} lates[] = {
    {"paid just before", "+", PAY_CHARGE_SUCCESSFUL, 1, 0},
    {"paid, which is known after days", "PUA+", PAY_CHARGE_SUCCESSFUL, 4, 0},
    {"never paid", "PPPPP", PAY_CHARGE_ABANDONED, 4, 0},
    {"declined: nobody asks again", "P-PP", PAY_CHARGE_ABANDONED, 2, 0},
    {"no answer is no word that it was not paid", "PUTUU", PAY_CHARGE_ABANDONED, 5, 1},
    {"its first answer comes after all of the times", "UUUUP", PAY_CHARGE_ABANDONED, 5, 0},
    {"something else stays for a person", "DDDDD", PAY_CHARGE_ABANDONED, 4, 0},
};

START_TEST(test_late)
{
    static const apr_interval_time_t after[] = {6 * HOUR, DAY, 3 * DAY, 7 * DAY, 30 * DAY};
    const char *says = lates[_i].says;
    int i;

    charge = checkout_new(PAY_LIVE, REFERENCE);
    step_at(NOW + LIFETIME, 'P');
    ck_assert_int_eq(stored()->state, PAY_CHARGE_ABANDONED);
    script.queries = 0;
    for (i = 0; says[i]; i++) {
        step_at(NOW + LIFETIME + after[i], says[i]);
        store_is_clean();
    }
    ck_assert_msg(stored()->state == lates[_i].want, "%s", lates[_i].name);
    ck_assert_msg(script.queries == lates[_i].queries, "%s: %d", lates[_i].name, script.queries);
    ck_assert_msg((stored()->due_at != 0) == lates[_i].goes_on, "%s", lates[_i].name);
}
END_TEST

/* Its payer was erased meanwhile: it is paid, and nobody gets their token. */
START_TEST(test_closed_and_erased)
{
    pay_erasure_t at;
    pay_token_t *token;

    charge = checkout_new(PAY_LIVE, REFERENCE);
    step_at(NOW + LIFETIME, 'P');
    memset(&at, 0, sizeof(at));
    while (!at.done) {
        ck_assert_int_eq(pay_store_payer_erase(&at, shop->store, &live, charge->email, unit_pool),
                         APR_SUCCESS);
    }
    shop_clock_set(NOW + LIFETIME + 6 * HOUR);
    script_say('+');
    script.outcome.token = "acq_token";
    checkout_watchdog();
    ck_assert_int_eq(stored()->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_str_eq(stored()->email, "");
    ck_assert_str_eq(stored()->token, "");
    ck_assert_int_eq(STORE_REAL(token_get)(&token, shop->store, &live, "acq_token", unit_pool),
                     APR_NOTFOUND);
    store_is_clean();
}
END_TEST

/* An acquirer whose directive was removed cannot answer: it is queried once it is back. */
START_TEST(test_closed_without_acquirer)
{
    charge = checkout_new(PAY_LIVE, REFERENCE);
    step_at(NOW + LIFETIME, 'P');
    service_acquirers(&shop->service, NULL);
    step_at(NOW + LIFETIME + 7 * DAY, '+');
    ck_assert_int_eq(stored()->held, PAY_HELD_NO_ACQUIRER);
    ck_assert_int_eq(stored()->due_at, NOW + LIFETIME + 7 * DAY + HOUR);
    service_acquirers(&shop->service, &acquirer);
    step_at(NOW + LIFETIME + 7 * DAY + HOUR, '+');
    ck_assert_int_eq(stored()->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(stored()->held, PAY_NOT_HELD);
    store_is_clean();
}
END_TEST

/* ---- closed, and held for a person */

static pay_charge_t *asked_when_closed(int days, char says)
{
    int day;

    charge = checkout_new(PAY_LIVE, REFERENCE);
    step_at(NOW + LIFETIME, 'P');
    for (day = 1; day <= days; day++) {
        step_at(NOW + LIFETIME + day * DAY, says);
    }
    ck_assert_int_eq(stored()->state, PAY_CHARGE_ABANDONED);
    return charge_of(REFERENCE);
}

static pay_charge_t *decide(pay_decision_t want, const pay_charge_t *as_read, int approved)
{
    return decide_charge(want, shop->store, as_read, approved, "statement of May");
}

static const struct {
    const char *name;
    int days;
    char says;
    pay_held_t held;
    int is_asked; /* about it, yet */
    int approved;
    pay_charge_state_t want;
} verdicts[] = {
    {"not paid, and it is something else", 1, 'D', PAY_HELD_DIFFERENT, 1, 0, PAY_CHARGE_ABANDONED},
    {"not paid, after the last question", 7, 'D', PAY_HELD_DIFFERENT, 0, 0, PAY_CHARGE_ABANDONED},
    {"paid, and it is something else", 1, 'D', PAY_HELD_DIFFERENT, 1, 1, PAY_CHARGE_SUCCESSFUL},
    {"paid, after the last question", 7, 'D', PAY_HELD_DIFFERENT, 0, 1, PAY_CHARGE_SUCCESSFUL},
    {"not paid, and no answer", 1, 'U', PAY_NOT_HELD, 1, 0, PAY_CHARGE_ABANDONED},
    {"not paid, and no answer for 7 days", 7, 'T', PAY_HELD_OVERDUE, 1, 0, PAY_CHARGE_ABANDONED},
    {"paid, and no answer for 7 days", 8, 'U', PAY_HELD_OVERDUE, 1, 1, PAY_CHARGE_SUCCESSFUL},
};

START_TEST(test_closed_is_decided)
{
    pay_charge_t *held = asked_when_closed(verdicts[_i].days, verdicts[_i].says), *out;

    ck_assert_msg(held->held == verdicts[_i].held, "%s", verdicts[_i].name);
    ck_assert_int_eq(held->due_at != 0, verdicts[_i].is_asked);
    out = decide(PAY_DECISION_DONE, held, verdicts[_i].approved);
    ck_assert_msg(out->state == verdicts[_i].want, "%s", verdicts[_i].name);
    ck_assert_int_eq(out->held, PAY_NOT_HELD);
    ck_assert_int_eq(out->due_at, 0);
    ck_assert_str_eq(out->resolution, "statement of May");
    ck_assert_int_eq(out->updated_at, shop_clock);
    (void)decide(PAY_DECISION_MEANWHILE, held, 0); /* as it was read */
    (void)decide(PAY_DECISION_NOT_WAITING, out, 1);
    script.queries = 0;
    step_at(NOW + 30 * DAY, '-');
    ck_assert_int_eq(script.queries, 0);
    ck_assert_int_eq(stored()->state, verdicts[_i].want);
    store_is_clean();
}
END_TEST

static const struct {
    const char *name;
    int days;  /* since it was opened */
    int again; /* the machine was restarted since */
    pay_held_t held;
    int is_asked;
} doubts[] = {
    {"for days", 3, 0, PAY_NOT_HELD, 1},
    {"for as long as it is asked about", 8, 0, PAY_NOT_HELD, 1},
    {"for longer than any is asked about", 15, 0, PAY_NOT_HELD, 0},
    {"no clock tells for how long", 15, 1, PAY_HELD_OVERDUE, 1},
};

/* Its report that it knows no such checkout is not believed, because one of the clocks is wrong;
 * still, a checkout that nobody can pay any more is not a case for a person. */
START_TEST(test_closed_while_the_clocks_are_apart)
{
    int day;

    charge = checkout_new(PAY_LIVE, REFERENCE);
    step_at(NOW + LIFETIME, 'X');
    ck_assert_int_eq(stored()->state, PAY_CHARGE_ABANDONED);
    shop_boot += doubts[_i].again;
    for (day = 1; day <= doubts[_i].days; day++) {
        step_at(NOW + LIFETIME + day * DAY, 'X');
    }
    ck_assert_msg(stored()->held == doubts[_i].held, "%s: %d", doubts[_i].name, stored()->held);
    ck_assert_msg((stored()->due_at != 0) == doubts[_i].is_asked, "%s", doubts[_i].name);
    store_is_clean();
}
END_TEST

/* A query without an answer removes nothing from the list that a person works through. */
START_TEST(test_different_stays)
{
    if (_i) {
        (void)asked_when_closed(1, 'D');
        step_at(NOW + LIFETIME + 3 * DAY, 'U');
        ck_assert_int_eq(stored()->state, PAY_CHARGE_ABANDONED);
    } else {
        charge = checkout_new(PAY_LIVE, REFERENCE);
        step_at(NOW + LIFETIME, 'D');
        step_at(NOW + LIFETIME + HOUR, 'T');
        ck_assert_int_eq(stored()->state, PAY_CHARGE_PENDING);
    }
    ck_assert_int_eq(stored()->held, PAY_HELD_DIFFERENT);
    step_at(NOW + LIFETIME + 8 * DAY, 'P');
    ck_assert_int_eq(stored()->held, PAY_NOT_HELD);
    ck_assert_int_eq(stored()->state, PAY_CHARGE_ABANDONED);
    store_is_clean();
}
END_TEST

/* ---- nobody knows whether the acquirer opened a page: nobody has its address either */

START_TEST(test_killed_before_the_page_was_stored)
{
    const pay_checkout_t *lost;

    charge = shop_charge_open(shop, &live, REFERENCE, PAY_CHARGE_CHECKOUT);
    lost = charge->checkout;
    ck_assert_str_eq(lost->acquirer_url, "");
    step_at(NOW + MINUTE, 'P');
    charge = stored();
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_str_eq(charge->message, PAY_CHECKOUT_UNOPENED);
    ck_assert_int_eq(charge->due_at, NOW + MINUTE + 6 * HOUR); /* a late approval would be found */
    store_is_clean();
}
END_TEST

static const struct {
    const char *name;
    apr_status_t status;
} unopened[] = {
    {"no answer", APR_TIMEUP},
    {"its word that it opens none", APR_SUCCESS},
};

/*
 * It has failed and stays so; but money that nevertheless moved is found, and a person is notified.
 */
START_TEST(test_unopened_and_paid_all_the_same)
{
    int replayed;

    page_url = NULL;
    script.status = unopened[_i].status;
    ck_assert_str_eq(checkout_ask(&charge, &replayed, PAY_LIVE, REFERENCE, 10, NULL), "");
    ck_assert_msg(charge->state == PAY_CHARGE_FAILED, "%s", unopened[_i].name);
    script.status = APR_SUCCESS;
    step_at(NOW + 6 * HOUR, '+');
    charge = stored();
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_msg(charge->late == PAY_LATE_FOUND, "%s: %d", unopened[_i].name, charge->late);
    ck_assert_int_eq(charge->held, PAY_HELD_LATE);
    store_is_clean();
}
END_TEST

/* Its page was made there after all, and nobody has its address: that ends like any closed one. */
START_TEST(test_unopened_and_there)
{
    static const apr_interval_time_t after[] = {6 * HOUR, DAY, 3 * DAY, 7 * DAY, 30 * DAY};
    apr_size_t i;
    int replayed;

    page_url = NULL;
    script.status = APR_TIMEUP;
    ck_assert_str_eq(checkout_ask(&charge, &replayed, PAY_LIVE, REFERENCE, 10, NULL), "");
    for (i = 0; i < UNIT_ROWS(after); i++) {
        step_at(NOW + after[i], 'P');
        ck_assert_int_eq(stored()->due_at, i < 3 ? NOW + after[i + 1] : 0);
    }
    ck_assert_int_eq(script.queries, 4);
    ck_assert_int_eq(stored()->state, PAY_CHARGE_FAILED);
    store_is_clean();
}
END_TEST

/* Its acquirer is not configured: it is held for a person, who decides it like any other. */
START_TEST(test_no_acquirer)
{
    charge = checkout_new(PAY_LIVE, REFERENCE);
    service_acquirers(&shop->service, NULL);
    step_at(NOW + 30 * SECOND, 'P');
    ck_assert_int_eq(stored()->held, PAY_HELD_NO_ACQUIRER);
    ck_assert_int_eq(script.queries, 0);
    store_is_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_open, 0, UNIT_ROWS(opens));
    tcase_add_loop_test(tcase, test_over, 0, UNIT_ROWS(ends));
    tcase_add_loop_test(tcase, test_late, 0, UNIT_ROWS(lates));
    tcase_add_loop_test(tcase, test_different_stays, 0, 2);
    tcase_add_loop_test(tcase, test_closed_is_decided, 0, UNIT_ROWS(verdicts));
    tcase_add_loop_test(tcase, test_closed_while_the_clocks_are_apart, 0, UNIT_ROWS(doubts));
    tcase_add_test(tcase, test_killed_before_the_page_was_stored);
    tcase_add_loop_test(tcase, test_unopened_and_paid_all_the_same, 0, UNIT_ROWS(unopened));
    tcase_add_test(tcase, test_unopened_and_there);
    tcase_add_test(tcase, test_closed_without_acquirer);
    tcase_add_test(tcase, test_closed_and_erased);
    tcase_add_test(tcase, test_no_acquirer);
}

UNIT_PROGRAM(add)
