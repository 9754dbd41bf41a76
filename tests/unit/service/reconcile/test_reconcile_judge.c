/* SPDX-License-Identifier: Apache-2.0 */
#include "reconcile_rows.h"

#define BEATS_MAX 8
#define HOURS(n) ((n)*3600)
#define DAYS(n) ((n)*86400)

/* The acquirer's report at a time, and the row's state then. Times in seconds since the row was
 * made. */
typedef struct beat_t {
    int at;
    char says;
    char state; /* 'p' pending, 's' as it should be, 'f' failed */
    int due;    /* 0: no more */
    int absent_since;
    pay_held_t held;
} beat_t;

static const struct {
    const char *name;
    int late_after, pending_alert;
    beat_t beats[BEATS_MAX];
} stories[] = {
    {"approved",
     HOURS(1),
     DAYS(90),
     {{60, 'U', 'p', 61, 0, PAY_NOT_HELD}, {61, '+', 's', 0, 0, PAY_NOT_HELD}}},
    {"declined is final: no late check", HOURS(1), DAYS(90), {{60, '-', 'f', 0, 0, PAY_NOT_HELD}}},
    {"what comes with an error is no answer",
     HOURS(1),
     DAYS(90),
     {{60, 'T', 'p', 61, 0, PAY_NOT_HELD}}},
    {"absent to the second",
     HOURS(1),
     DAYS(90),
     {{60, 'A', 'p', 61, 60, PAY_NOT_HELD},
      {61, 'A', 'p', 63, 60, PAY_NOT_HELD},
      {3600, 'A', 'p', 3660, 60, PAY_NOT_HELD},
      {3659, 'A', 'p', 3660, 60, PAY_NOT_HELD}, /* not due: no query */
      {3660, 'A', 'f', 3660 + HOURS(6), 0, PAY_NOT_HELD}}},
    {"one absence is not enough, however long it waited",
     1,
     DAYS(90),
     {{60, 'U', 'p', 61, 0, PAY_NOT_HELD},
      {DAYS(3), 'A', 'p', DAYS(3) + 1, DAYS(3), PAY_NOT_HELD},
      {DAYS(3) + 1, 'A', 'f', DAYS(3) + 1 + HOURS(6), 0, PAY_NOT_HELD}}},
    {"absence that need not last is told twice, too",
     0,
     DAYS(90),
     {{60, 'A', 'p', 61, 60, PAY_NOT_HELD}, {61, 'A', 'f', 61 + HOURS(6), 0, PAY_NOT_HELD}}},
    {"the last word before it fails is absence",
     HOURS(1),
     DAYS(90),
     {{60, 'A', 'p', 61, 60, PAY_NOT_HELD},
      {3700, 'U', 'p', 3700 + HOURS(1), 60, PAY_NOT_HELD},
      {7300, 'T', 'p', 7300 + HOURS(1), 60, PAY_NOT_HELD},
      {10900, 'A', 'f', 10900 + HOURS(6), 0, PAY_NOT_HELD}}},
    {"what it has it did not lose: absence begins anew",
     HOURS(1),
     DAYS(90),
     {{60, 'A', 'p', 61, 60, PAY_NOT_HELD},
      {3600, 'P', 'p', 7200, 0, PAY_NOT_HELD},
      {7200, 'A', 'p', 10800, 7200, PAY_NOT_HELD},
      {10800, 'A', 'f', 10800 + HOURS(6), 0, PAY_NOT_HELD}}},
    {"approved in the end",
     HOURS(1),
     DAYS(90),
     {{60, 'A', 'p', 61, 60, PAY_NOT_HELD}, {3660, '+', 's', 0, 0, PAY_NOT_HELD}}},
    {"pending for ever",
     HOURS(1),
     DAYS(365),
     {{60, 'P', 'p', 61, 0, PAY_NOT_HELD},
      {HOURS(1), 'P', 'p', HOURS(2), 0, PAY_NOT_HELD},
      {DAYS(90) - 1, 'P', 'p', DAYS(90) + HOURS(1) - 1, 0, PAY_NOT_HELD},
      {DAYS(91), 'P', 'p', DAYS(92), 0, PAY_NOT_HELD},
      {DAYS(300), 'P', 'p', DAYS(301), 0, PAY_NOT_HELD}}},
    {"overdue to the second",
     HOURS(1),
     HOURS(1),
     {{60, 'P', 'p', 61, 0, PAY_NOT_HELD},
      {3598, 'U', 'p', 3600, 0, PAY_NOT_HELD},
      {3600, 'U', 'p', 7200, 0, PAY_HELD_OVERDUE},
      {7200, 'P', 'p', 10800, 0, PAY_HELD_OVERDUE},
      {10800, '+', 's', 0, 0, PAY_NOT_HELD}}},
    {"different is held, until the acquirer says otherwise",
     HOURS(1),
     DAYS(90),
     {{60, 'D', 'p', 61, 0, PAY_HELD_DIFFERENT},
      {61, 'D', 'p', 63, 0, PAY_HELD_DIFFERENT},
      {63, 'U', 'p', 67, 0, PAY_HELD_DIFFERENT},
      {67, 'P', 'p', 75, 0, PAY_NOT_HELD},
      {75, 'D', 'p', 91, 0, PAY_HELD_DIFFERENT},
      {91, '+', 's', 0, 0, PAY_NOT_HELD}}},
    {"overdue never hides that it differs",
     HOURS(1),
     HOURS(1),
     {{60, 'D', 'p', 61, 0, PAY_HELD_DIFFERENT},
      {7200, 'U', 'p', 10800, 0, PAY_HELD_DIFFERENT},
      {10800, 'P', 'p', 14400, 0, PAY_HELD_OVERDUE},
      {14400, 'D', 'p', 18000, 0, PAY_HELD_DIFFERENT}}},
    {"different is not absent",
     HOURS(1),
     DAYS(90),
     {{60, 'A', 'p', 61, 60, PAY_NOT_HELD},
      {3600, 'D', 'p', 7200, 0, PAY_HELD_DIFFERENT},
      {7200, 'A', 'p', 10800, 7200, PAY_NOT_HELD}}},
};

/* The common part of charges and refunds. */
typedef struct standing_t {
    char state;
    apr_time_t due_at, absent_since;
    pay_held_t held;
} standing_t;

static standing_t stands(int is_refund)
{
    const pay_charge_t *charge = charge_of("order-1");
    const pay_refund_t *refund;

    if (!is_refund) {
        return (standing_t){charge->state == PAY_CHARGE_PENDING      ? 'p'
                            : charge->state == PAY_CHARGE_SUCCESSFUL ? 's'
                                                                     : 'f',
                            charge->due_at, charge->absent_since, charge->held};
    }
    refund = refund_of("rfd_1");
    return (standing_t){refund->state == PAY_REFUND_PENDING     ? 'p'
                        : refund->state == PAY_REFUND_PROCESSED ? 's'
                                                                : 'f',
                        refund->due_at, refund->absent_since, refund->held};
}

static void beat_check(const char *name, const beat_t *beat, int is_refund)
{
    const standing_t is = stands(is_refund);

    ck_assert_msg(is.state == beat->state, "%s at %d: %c", name, beat->at, is.state);
    ck_assert_msg(is.due_at == (beat->due ? NOW + beat->due * SECOND : 0), "%s at %d: due at %d",
                  name, beat->at, is.due_at ? (int)apr_time_sec(is.due_at - NOW) : 0);
    ck_assert_msg(is.absent_since == (beat->absent_since ? NOW + beat->absent_since * SECOND : 0),
                  "%s at %d: absent since %d", name, beat->at,
                  is.absent_since ? (int)apr_time_sec(is.absent_since - NOW) : 0);
    ck_assert_msg(is.held == beat->held, "%s at %d: held for %s", name, beat->at,
                  pay_held_name(is.held));
}

static void story_tell(int number, int is_refund)
{
    const char *name =
        apr_pstrcat(unit_pool, stories[number].name, is_refund ? " (refund)" : "", NULL);
    const beat_t *beat;

    shop_set_up(unit_dir());
    shop->service.policy.late_after = stories[number].late_after * SECOND;
    shop->service.policy.pending_alert = stories[number].pending_alert * SECOND;
    if (is_refund) {
        shop_charge(shop, &live, "order-1");
        refund_open("order-1", "rfd_1", 0);
    } else {
        shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    }
    for (beat = stories[number].beats; beat->at; beat++) {
        script_say(beat->says);
        shop_clock_set(NOW + beat->at * SECOND);
        step();
        beat_check(name, beat, is_refund);
    }
    ck_assert_int_eq(script.calls, 0);
    store_is_clean();
}

START_TEST(test_story_of_a_charge)
{
    story_tell(_i, 0);
}
END_TEST

START_TEST(test_story_of_a_refund)
{
    story_tell(_i, 1);
}
END_TEST

static void beats(const char *says)
{
    for (; *says; says++) {
        script_say(*says);
        shop_clock_set(shop_clock + DAY);
        step();
    }
}

static const struct {
    const char *name;
    apr_interval_time_t step; /* of the wall clock */
    int restarted;            /* the machine, likewise */
} step_rows[] = {
    {"hours ahead", 2 * HOUR, 0},   {"hours back", -2 * HOUR, 0},
    {"a day ahead", 26 * HOUR, 0},  {"a day back", -26 * HOUR, 0},
    {"a year ahead", 365 * DAY, 0}, {"a year back", -365 * DAY, 0},
    {"started again", 0, 1},        {"started again, ahead", 3 * DAY, 1},
};

/* The hour of absence is one of the boot clock's: no step of the wall clock makes it shorter. */
START_TEST(test_clock_steps)
{
    const int is_refund = _i % 2, restarted = step_rows[_i / 2].restarted;
    const char *name = step_rows[_i / 2].name;

    shop_set_up(unit_dir());
    shop->service.policy.late_after = 100 * SECOND;
    if (is_refund) {
        shop_charge(shop, &live, "order-1");
        refund_open("order-1", "rfd_1", 0);
    } else {
        shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    }
    shop_clock_set(NOW + MINUTE);
    script_say('A');
    step();
    shop_boot += restarted;
    shop_clock_step(step_rows[_i / 2].step);
    shop_clock_set(shop_clock + SECOND);
    step();
    ck_assert_msg(stands(is_refund).state == 'p', "%s: failed at once", name);
    if (step_rows[_i / 2].step < -DAY) {
        ck_assert_int_eq(script.queries, 2); /* due too far ahead */
    }
    shop_clock_set(shop_clock + (restarted ? 99 : 98) * SECOND); /* no query meanwhile */
    shop_clock_step(-step_rows[_i / 2].step);
    step();
    ck_assert_msg(stands(is_refund).state == 'p', "%s: failed after less than its time", name);
    shop_clock_set(shop_clock + 4 * HOUR);
    step();
    ck_assert_msg(stands(is_refund).state == 'f', "%s", name);
    store_is_clean();
}
END_TEST

/* A row of an older store has no such moment: time is counted again, too. */
START_TEST(test_absence_without_a_moment)
{
    const pay_outcome_t absent = {.kind = PAY_OUTCOME_UNKNOWN, .absent_since = NOW - 10 * DAY};
    pay_charge_t *charge;
    int changed;

    shop_set_up(unit_dir());
    charge = shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, shop->store, &live, charge->seq,
                                              &absent, NOW + 1, unit_pool),
                     APR_SUCCESS);
    shop_clock_set(NOW + MINUTE);
    script_say('A');
    step();
    ck_assert_int_eq(stands(0).state, 'p');
    ck_assert_int_eq(stands(0).absent_since, NOW - 10 * DAY);
    shop_clock_set(NOW + MINUTE + HOUR);
    step();
    ck_assert_int_eq(stands(0).state, 'f');
}
END_TEST

/* Made while the clock was ahead, as a row without a moment shows: nobody knows how long it has
 * been pending. */
START_TEST(test_made_ahead_is_overdue)
{
    shop_set_up(unit_dir());
    shop->service.policy.pending_alert = HOUR;
    shop_clock_step(3 * DAY);
    shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    shop_clock_step(-3 * DAY);
    script_say('P');
    step();
    ck_assert_int_eq(script.queries, 1);
    ck_assert_int_eq(stands(0).held, PAY_HELD_OVERDUE);
    ck_assert_int_le(stands(0).due_at, shop_clock + MINUTE);
}
END_TEST

static const char *const similar_names[] = {"re_1", "re_2", NULL};

/* Records like the refund without a tag: those that were known before it was made are others. */
static void similar_say(int count)
{
    static apr_array_header_t *names;
    int i;

    names = apr_array_make(unit_pool, 2, sizeof(const char *));
    for (i = 0; i < count; i++) {
        APR_ARRAY_PUSH(names, const char *) = similar_names[i % 2];
    }
    script_say('A');
    script.similar = names;
}

static void import_one(const char *name)
{
    pay_refund_t *refund = apr_pcalloc(unit_pool, sizeof(*refund));
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_import_t import;
    int at;

    refund->id = apr_pstrcat(unit_pool, "id_", name, NULL);
    refund->refund_reference = name;
    refund->scope = live;
    refund->state = PAY_REFUND_PROCESSED;
    refund->created_at = refund->updated_at = NOW - DAY;
    APR_ARRAY_PUSH(rows, pay_refund_t *) = refund;
    ck_assert_int_eq(pay_store_import_begin(&import, shop->store, &live, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&import, &at, shop->store, rows, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&import, shop->store, unit_pool), APR_SUCCESS);
}

START_TEST(test_similar)
{
    static const struct {
        const char *name;
        int before, after; /* how many of the names are fetched before it is made, and after */
        int told;
        pay_held_t held;
    } rows[] = {
        {"none is told", 0, 0, 0, PAY_NOT_HELD},
        {"an unknown one", 0, 0, 1, PAY_HELD_DIFFERENT},
        {"one that was known", 1, 0, 1, PAY_NOT_HELD},
        {"one that was known, and another", 1, 0, 2, PAY_HELD_DIFFERENT},
        {"two that were known", 2, 0, 2, PAY_NOT_HELD},
        {"one that was fetched since", 0, 1, 1, PAY_HELD_DIFFERENT},
        {"too many", 2, 0, PAYMENTS_SIMILAR_MAX + 1, PAY_HELD_DIFFERENT},
    };
    int i, k;

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        shop_set_up(unit_dir());
        shop_charge(shop, &live, "order-1");
        for (k = 0; k < rows[i].before; k++) {
            import_one(similar_names[k]);
        }
        refund_open("order-1", "rfd_1", 0);
        for (k = 0; k < rows[i].after; k++) {
            import_one(similar_names[k]);
        }
        similar_say(rows[i].told);
        shop_clock_set(NOW + MINUTE);
        step();
        ck_assert_msg(stands(1).held == rows[i].held, "%s: %s", rows[i].name,
                      pay_held_name(stands(1).held));
        shop_clock_set(NOW + 3 * HOUR);
        step();
        ck_assert_msg(stands(1).state == (rows[i].held ? 'p' : 'f'), "%s", rows[i].name);
    }
}
END_TEST

/* A report of an acquirer is logged once, as long as it is the same. */
START_TEST(test_told_once)
{
    shop_set_up(unit_dir());
    shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    beats("DDUDD");
    ck_assert_int_eq(said(PAY_LOG_ALERT, "order-1"), 1);
    ck_assert_int_eq(said(PAY_LOG_ALERT, "paymentsctl charge resolve"), 1);
    beats("PD");
    ck_assert_int_eq(said(PAY_LOG_ALERT, "order-1"), 2);
    shop->service.policy.pending_alert = HOUR;
    beats("PPUP");
    ck_assert_int_eq(said(PAY_LOG_WARNING, "order-1"), 1);
    shop_charge(shop, &live, "order-2");
    refund_open("order-2", "rfd_2", 0);
    beats("DDUDD");
    ck_assert_int_eq(said(PAY_LOG_ALERT, "rfd_2"), 1);
    ck_assert_int_eq(said(PAY_LOG_ALERT, "paymentsctl refund resolve"), 1);
}
END_TEST

START_TEST(test_words_of_absence)
{
    pay_charge_t *charge;

    shop_set_up(unit_dir());
    shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    beats("AA");
    charge = charge_of("order-1");
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_str_eq(charge->message, "The charge was not received by the acquirer.");
    ck_assert_str_eq(charge->code, "");
    ck_assert_str_eq(charge->authorization_code, "");
}
END_TEST

/* An acquirer that refuses our key reports nothing of its books. */
START_TEST(test_refused_is_not_absent)
{
    shop_set_up(unit_dir());
    shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    script.trouble = PAYMENTS_CREDENTIALS;
    beats("AAA");
    ck_assert_int_eq(script.queries, 3);
    ck_assert_int_eq(charge_of("order-1")->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(charge_of("order-1")->absent_since, 0);
}
END_TEST

/* Until a query succeeds nobody can pay: the next one does not wait for an hour or a day. */
START_TEST(test_refused_is_asked_soon)
{
    shop_set_up(unit_dir());
    shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    shop_charge(shop, &live, "order-2");
    refund_open("order-2", "rfd_2", 0);
    script_say('U');
    script.trouble = PAYMENTS_CREDENTIALS;
    shop_clock_set(NOW + (_i ? 100 * DAY : 2 * HOUR));
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(charge_of("order-1")->due_at, shop_clock + MINUTE);
    ck_assert_int_eq(refund_of("rfd_2")->due_at, shop_clock + MINUTE);
    script.trouble = PAYMENTS_NO_TROUBLE;
    shop_clock_set(shop_clock + MINUTE);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(charge_of("order-1")->due_at, shop_clock + (_i ? DAY : HOUR));
}
END_TEST

START_TEST(test_no_acquirer)
{
    pay_service_t bare;
    int i;

    shop_set_up(unit_dir());
    bare = shop->service;
    service_acquirers(&bare, NULL);
    shop_charge_open(shop, &live, "order-1", PAY_CHARGE_TOKENIZED);
    shop_charge(shop, &live, "order-2");
    refund_open("order-2", "rfd_2", 0);
    shop_charge(shop, &live, "order-3");
    refund_open("order-3", "rfd_3", 1);
    for (i = 1; i <= 3; i++) {
        shop_clock_set(NOW + i * DAY);
        ck_assert_int_eq(step_of(&bare, NULL), 0);
        ck_assert_int_eq(charge_of("order-1")->held, PAY_HELD_NO_ACQUIRER);
        ck_assert_int_eq(refund_of("rfd_2")->held, PAY_HELD_NO_ACQUIRER);
        ck_assert_int_eq(refund_of("rfd_3")->held, PAY_HELD_NO_ACQUIRER);
        ck_assert_int_eq(charge_of("order-1")->due_at, NOW + i * DAY + HOUR);
    }
    ck_assert_int_eq(script.queries, 0);
    ck_assert_int_eq(said(PAY_LOG_ERR, "order-1"), 1);
    ck_assert_int_eq(said(PAY_LOG_ERR, "rfd_2"), 1);
    ck_assert_int_eq(said(PAY_LOG_ERR, "rfd_3"), 1);
    ck_assert_int_eq(logged("PAY00230: "), 3);
    ck_assert_int_eq(refund_of("rfd_3")->waiting, 1);
    script_say('P');
    script.absent_tag = "rfd_3"; /* which waits, and is queried before it is sent */
    script.absent = 1;
    shop_clock_set(NOW + 4 * DAY);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 2);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(charge_of("order-1")->held, PAY_NOT_HELD);
    ck_assert_int_eq(refund_of("rfd_2")->held, PAY_NOT_HELD);
    ck_assert_int_eq(refund_of("rfd_3")->held, PAY_NOT_HELD);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_story_of_a_charge, 0, UNIT_ROWS(stories));
    tcase_add_loop_test(tcase, test_story_of_a_refund, 0, UNIT_ROWS(stories));
    tcase_add_loop_test(tcase, test_clock_steps, 0, 2 * UNIT_ROWS(step_rows));
    tcase_add_test(tcase, test_absence_without_a_moment);
    tcase_add_test(tcase, test_made_ahead_is_overdue);
    tcase_add_test(tcase, test_similar);
    tcase_add_test(tcase, test_told_once);
    tcase_add_test(tcase, test_words_of_absence);
    tcase_add_test(tcase, test_refused_is_not_absent);
    tcase_add_loop_test(tcase, test_refused_is_asked_soon, 0, 2);
    tcase_add_test(tcase, test_no_acquirer);
}

UNIT_PROGRAM(add)
