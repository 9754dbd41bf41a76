/* SPDX-License-Identifier: Apache-2.0 */
#include "limited.h"
#include "reconcile_rows.h"

#include <sys/wait.h>

#define BEATS_MAX 8
#define FAILED_AT (NOW + 61 * SECOND) /* see fail_for_absence */
#define NEVER (-1)

/* The acquirer's report so many minutes after it failed, and the row's state then. */
typedef struct beat_t {
    int at; /* minutes */
    char says;
    int due; /* minutes, too; NEVER: it is not queried any more */
    pay_held_t held;
} beat_t;

#define H(n) ((n)*60)

static const struct {
    const char *name;
    beat_t beats[BEATS_MAX];
} stories[] = {
    {"absent for good",
     {{H(6), 'A', H(24), PAY_NOT_HELD},
      {H(24), 'A', H(72), PAY_NOT_HELD},
      {H(72), 'A', H(168), PAY_NOT_HELD},
      {H(168), 'A', NEVER, PAY_NOT_HELD}}},
    {"declined: that is what it is", {{H(6), '-', NEVER, PAY_NOT_HELD}}},
    {"a question that got no answer is asked again",
     {{H(6), 'U', H(7), PAY_NOT_HELD},
      {H(7), 'T', H(8), PAY_NOT_HELD},
      {H(8), 'A', H(24), PAY_NOT_HELD},
      {H(168), 'U', H(169), PAY_NOT_HELD},
      {H(169), 'A', NEVER, PAY_NOT_HELD}}},
    {"approved at the first question", {{H(6), '+', NEVER, PAY_HELD_LATE}}},
    {"approved at the last question",
     {{H(6), 'A', H(24), PAY_NOT_HELD}, {H(168), '+', NEVER, PAY_HELD_LATE}}},
    {"approved after it was pending",
     {{H(24), 'P', H(25), PAY_NOT_HELD}, {H(25), '+', NEVER, PAY_HELD_LATE}}},
    {"the server stood still", {{H(100), 'A', H(168), PAY_NOT_HELD}}},
    {"the server stood still for a month", {{H(720), 'A', NEVER, PAY_NOT_HELD}}},
    {"different",
     {{H(6), 'D', H(24), PAY_HELD_DIFFERENT},
      {H(24), 'U', H(25), PAY_HELD_DIFFERENT},
      {H(25), 'A', H(72), PAY_NOT_HELD},
      {H(168), 'D', NEVER, PAY_HELD_DIFFERENT}}},
};

static void set_up(const char *dir)
{
    shop_set_up(dir);
    shop->service.policy.late_after = SECOND;
}

/* A pending payment is absent at a minute and a second later. */
static void fail_for_absence(void)
{
    script_say('A');
    shop_clock_set(NOW + 60 * SECOND);
    ck_assert_int_eq(step(), 0);
    shop_clock_set(NOW + 61 * SECOND);
    ck_assert_int_eq(step(), 1);
    script.queries = 0;
}

static pay_charge_t *failed_charge(const char *reference)
{
    shop_charge_open(shop, &live, reference, PAY_CHARGE_TOKENIZED);
    fail_for_absence();
    return charge_of(reference);
}

static void row_check(const char *name, const beat_t *beat, int is_refund)
{
    const pay_charge_t *charge = charge_of("order-1");
    const pay_refund_t *refund = is_refund ? refund_of("rfd_1") : NULL;
    const apr_time_t due_at = refund ? refund->due_at : charge->due_at;
    const pay_held_t held = refund ? refund->held : charge->held;

    ck_assert_msg(due_at == (beat->due == NEVER ? 0 : FAILED_AT + beat->due * MINUTE),
                  "%s at %d: due at %d", name, beat->at,
                  due_at ? (int)((due_at - FAILED_AT) / MINUTE) : NEVER);
    ck_assert_msg(held == beat->held, "%s at %d: held for %s", name, beat->at, pay_held_name(held));
    if (refund) {
        ck_assert_int_eq(refund->state, PAY_REFUND_FAILED);
        ck_assert_int_eq(charge->refunded_minor, 0);
        ck_assert_int_eq(charge->refunds_pending_minor, 0);
        return;
    }
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_int_eq(charge->decided_at, FAILED_AT);
    ck_assert_int_eq(charge->late, held == PAY_HELD_LATE ? PAY_LATE_FOUND : PAY_LATE_NONE);
}

static void story_tell(int number, int is_refund)
{
    const char *name =
        apr_pstrcat(unit_pool, stories[number].name, is_refund ? " (refund)" : "", NULL);
    const beat_t *beat, *last;
    int asked = 0;

    set_up(unit_dir());
    if (is_refund) {
        shop_charge(shop, &live, "order-1");
        refund_open("order-1", "rfd_1", 0);
        fail_for_absence();
        ck_assert_int_eq(refund_of("rfd_1")->due_at, FAILED_AT + 6 * HOUR);
    } else {
        ck_assert_int_eq(failed_charge("order-1")->due_at, FAILED_AT + 6 * HOUR);
    }
    for (last = beat = stories[number].beats; beat->at; beat++) {
        script_say(beat->says);
        if (beat->at == (last == beat ? H(6) : last->due)) {
            shop_clock_set(FAILED_AT + beat->at * MINUTE - 1);
            ck_assert_int_eq(step(), 0);
            ck_assert_msg(script.queries == asked, "%s at %d: asked too early", name, beat->at);
        }
        shop_clock_set(FAILED_AT + beat->at * MINUTE);
        ck_assert_int_eq(step(), 0);
        asked++;
        row_check(name, beat, is_refund);
        last = beat;
    }
    if (last->due == NEVER) {
        shop_clock_set(FAILED_AT + 1000 * DAY);
        ck_assert_int_eq(step(), 0);
        ck_assert_msg(script.queries == asked, "%s: asked again", name);
        row_check(name, last, is_refund);
    }
    ck_assert_int_eq(script.calls, 0);
    ck_assert_int_eq(said(PAY_LOG_ALERT, "paymentsctl") > 0,
                     strstr(name, "approved") || strstr(name, "different"));
    /* The finding is stored beside the shop's answer. */
    ck_assert_int_eq(
        said(PAY_LOG_ALERT, is_refund ? "reports otherwise" : "but the acquirer approved it"),
        strstr(name, "approved") != NULL);
    ck_assert_int_eq(logged(is_refund ? "PAY00172: " : "PAY00171: "),
                     strstr(name, "approved") != NULL);
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

/* ---- PaymentsLateApproval refund */

static char refund_says; /* the acquirer's answer to the refund itself */
static char refund_tag[PAY_TAG_LEN + 1];

/* Queries find the approval; the refund is answered according to the case, with the row durable. */
static void refund_called(const payments_charge_t *charge, const payments_refund_t *refund)
{
    const pay_charge_t *row = charge_of("order-1");

    (void)charge;
    if (!refund) {
        return;
    }
    ck_assert_int_eq(row->late, PAY_LATE_REFUNDING);
    ck_assert_uint_eq(strlen(refund->tag), PAY_TAG_LEN);
    ck_assert_str_eq(row->late_tag, refund->tag);
    ck_assert_str_eq(refund->amount, "10.50");
    ck_assert_int_gt(row->due_at, shop_clock + SCRIPT_TIMEOUT);
    apr_cpystrn(refund_tag, refund->tag, sizeof(refund_tag));
    if (refund_says == 'N') {
        script.status = PAYMENTS_NOT_SENT;
    } else {
        script_say(refund_says);
    }
}

/* The charge failed, and is approved six hours later; the refund of it is answered with `says`. */
static void approve_late(char says)
{
    set_up(unit_dir());
    shop->service.policy.late_refund = 1;
    failed_charge("order-1");
    script_say('+');
    refund_says = says;
    script.meanwhile = refund_called;
    shop_clock_set(FAILED_AT + 6 * HOUR);
    ck_assert_int_eq(step(), 0);
}

static const struct {
    const char *name;
    char says;
    pay_late_t late;
    int due; /* seconds; 0: no more */
    pay_held_t held;
    int calls;
} answers[] = {
    {"given back", '+', PAY_LATE_REFUNDED, 0, PAY_NOT_HELD, 1},
    {"refused", '-', PAY_LATE_FOUND, 0, PAY_HELD_LATE, 1},
    {"not known", 'U', PAY_LATE_REFUNDING, 1, PAY_NOT_HELD, 1},
    {"failed on the way", 'T', PAY_LATE_REFUNDING, 1, PAY_NOT_HELD, 1},
    {"pending", 'P', PAY_LATE_REFUNDING, 1, PAY_NOT_HELD, 1},
    {"absence of what was sent just now means nothing", 'A', PAY_LATE_REFUNDING, 1, PAY_NOT_HELD,
     1},
    {"not sent", 'N', PAY_LATE_NONE, 60, PAY_NOT_HELD, 1},
};

START_TEST(test_refund_of_a_late_approval)
{
    const char *name = answers[_i].name;
    const pay_charge_t *charge;

    approve_late(answers[_i].says);
    charge = charge_of("order-1");
    ck_assert_msg(charge->late == answers[_i].late, "%s: %d", name, charge->late);
    ck_assert_msg(charge->due_at == (answers[_i].due ? shop_clock + answers[_i].due * SECOND : 0),
                  "%s: due in %d", name, (int)apr_time_sec(charge->due_at - shop_clock));
    ck_assert_msg(charge->held == answers[_i].held, "%s", name);
    ck_assert_int_eq(script.calls, answers[_i].calls);
    ck_assert_msg(logged("PAY00426: ") == (answers[_i].says == 'N'), "%s", name);
    ck_assert_msg(logged("PAY00451: ") == (strchr("NT", answers[_i].says) != NULL), "%s", name);
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_str_ne(charge->contradiction, "");
    ck_assert_int_gt(said(PAY_LOG_ALERT, "order-1"), 0);
    ck_assert_int_eq(said(PAY_LOG_ALERT, "paymentsctl charge resolve"),
                     answers[_i].held == PAY_HELD_LATE);
    store_is_clean();
}
END_TEST

static const struct {
    const char *name;
    struct {
        int at; /* seconds after it was sent */
        char says;
        pay_late_t late;
        int due;
        pay_held_t held;
    } beats[BEATS_MAX];
} follow_ups[] = {
    {"found", {{1, '+', PAY_LATE_REFUNDED, 0, PAY_NOT_HELD}}},
    {"refused in the end",
     {{1, 'P', PAY_LATE_REFUNDING, 9, PAY_NOT_HELD}, {61, '-', PAY_LATE_FOUND, 0, PAY_HELD_LATE}}},
    {"another refund has its tag", {{1, 'D', PAY_LATE_FOUND, 0, PAY_HELD_LATE}}},
    {"not there to the second",
     {{1, 'A', PAY_LATE_REFUNDING, 9, PAY_NOT_HELD},
      {599, 'A', PAY_LATE_REFUNDING, 600, PAY_NOT_HELD},
      {600, 'A', PAY_LATE_FOUND, 0, PAY_HELD_LATE}}},
    {"no answer is not absence",
     {{1, 'A', PAY_LATE_REFUNDING, 9, PAY_NOT_HELD},
      {601, 'U', PAY_LATE_REFUNDING, 617, PAY_NOT_HELD},
      {3601, 'T', PAY_LATE_REFUNDING, 7201, PAY_HELD_OVERDUE},
      {7201, 'A', PAY_LATE_FOUND, 0, PAY_HELD_LATE}}},
    {"late itself",
     {{3601, 'U', PAY_LATE_REFUNDING, 7201, PAY_HELD_OVERDUE},
      {7201, '+', PAY_LATE_REFUNDED, 0, PAY_NOT_HELD}}},
};

/* Once it may have been sent it is queried by its tag, and never sent again. */
START_TEST(test_follow_up)
{
    const char *name = follow_ups[_i].name;
    const apr_time_t sent_at = FAILED_AT + 6 * HOUR;
    const pay_charge_t *charge;
    int i;

    approve_late('U');
    script.meanwhile = NULL;
    shop->service.policy.late_after = 600 * SECOND;
    shop->service.policy.pending_alert = HOUR;
    for (i = 0; follow_ups[_i].beats[i].at; i++) {
        script_say(follow_ups[_i].beats[i].says);
        shop_clock_set(sent_at + follow_ups[_i].beats[i].at * SECOND);
        ck_assert_int_eq(step(), 0);
        charge = charge_of("order-1");
        ck_assert_msg(charge->late == follow_ups[_i].beats[i].late, "%s %d: %d", name, i,
                      charge->late);
        ck_assert_msg(charge->held == follow_ups[_i].beats[i].held, "%s %d: %s", name, i,
                      pay_held_name(charge->held));
        ck_assert_msg(charge->due_at
                          == (follow_ups[_i].beats[i].due
                                  ? sent_at + follow_ups[_i].beats[i].due * SECOND
                                  : 0),
                      "%s %d: due at %d", name, i, (int)apr_time_sec(charge->due_at - sent_at));
        ck_assert_str_eq(charge->late_tag, refund_tag);
    }
    ck_assert_int_eq(script.calls, 1);
    store_is_clean();
}
END_TEST

/* A refund that provably was not sent is sent later, under another tag. */
START_TEST(test_not_sent_is_tried_again)
{
    char first[PAY_TAG_LEN + 1];

    approve_late('N');
    apr_cpystrn(first, refund_tag, sizeof(first));
    script_say('+');
    refund_says = '+';
    shop_clock_set(shop_clock + MINUTE);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.calls, 2);
    ck_assert_int_eq(charge_of("order-1")->late, PAY_LATE_REFUNDED);
    ck_assert_str_ne(refund_tag, first);
    store_is_clean();
}
END_TEST

/* An amount that others refunded already is not refunded again. */
START_TEST(test_spent)
{
    set_up(unit_dir());
    shop->service.policy.late_refund = 1;
    failed_charge("order-1");
    script_say('+');
    script.outcome.spent = 1;
    shop_clock_set(FAILED_AT + 6 * HOUR);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.calls, 0);
    ck_assert_int_eq(charge_of("order-1")->late, PAY_LATE_FOUND);
}
END_TEST

/* While the account is in Test Mode nothing is refunded; then it is. */
START_TEST(test_test_mode)
{
    set_up(unit_dir());
    shop->service.policy.late_refund = 1;
    failed_charge("order-1");
    shop_mode(PAY_TEST);
    script_say('+');
    shop_clock_set(FAILED_AT + 6 * HOUR);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.calls, 0);
    ck_assert_int_eq(charge_of("order-1")->late, PAY_LATE_NONE);
    ck_assert_int_eq(charge_of("order-1")->due_at, shop_clock + MINUTE);
    shop_mode(PAY_LIVE);
    shop_clock_set(shop_clock + MINUTE);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(charge_of("order-1")->late, PAY_LATE_REFUNDED);
    store_is_clean();
}
END_TEST

/* The place comes first: until there is one, the row does not say that anything was sent. */
START_TEST(test_no_place)
{
    int slot;

    set_up(unit_dir());
    shop->service.policy.late_refund = 1;
    failed_charge("order-1");
    acquirer.slots = slots_of(1);
    slot = pay_slots_take(acquirer.slots, 0);
    script_say('+');
    shop_clock_set(FAILED_AT + 6 * HOUR);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.calls, 0);
    ck_assert_int_eq(charge_of("order-1")->late, PAY_LATE_NONE);
    ck_assert_str_eq(charge_of("order-1")->late_tag, "");
    ck_assert_int_eq(charge_of("order-1")->due_at, shop_clock + MINUTE);
    pay_slots_give(acquirer.slots, slot);
    shop_clock_set(shop_clock + MINUTE);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(charge_of("order-1")->late, PAY_LATE_REFUNDED);
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
}
END_TEST

/* Stores the first step, and answers according to the case. */
static apr_status_t late_status;
static int late_is_other;
static int late_takes_ms;

static apr_status_t charge_late_other(pay_charge_t **out, int *changed, pay_store_t *store,
                                      const pay_scope_t *scope, apr_uint64_t seq,
                                      const pay_late_step_t *what, apr_pool_t *p)
{
    apr_status_t rv;

    if (late_status != APR_SUCCESS) {
        *out = NULL;
        *changed = 0;
        return late_status;
    }
    rv = STORE_REAL(charge_late)(out, changed, store, scope, seq, what, p);
    unit_boot_pass(late_takes_ms);
    late_takes_ms = 0;
    if (late_is_other) { /* another process made this step */
        *changed = 0;
    }
    return rv;
}

static const struct {
    const char *name;
    apr_status_t status;
    int is_other, takes_ms;
    pay_late_t late;
} hindrances[] = {
    {"the store is busy", PAY_STORE_EBUSY, 0, 0, PAY_LATE_NONE},
    {"another process was faster", APR_SUCCESS, 1, 0, PAY_LATE_REFUNDING},
    {"the store took too long", APR_SUCCESS, 0, PAY_SEND_BEFORE_MS + 1000, PAY_LATE_NONE},
};

START_TEST(test_not_sent)
{
    set_up(unit_dir());
    shop->service.policy.late_refund = 1;
    failed_charge("order-1");
    acquirer.slots = slots_of(1);
    late_status = hindrances[_i].status;
    late_is_other = hindrances[_i].is_other;
    late_takes_ms = hindrances[_i].takes_ms;
    store_script.charge_late = charge_late_other;
    script_say('+');
    shop_clock_set(FAILED_AT + 6 * HOUR);
    ck_assert_int_eq(step(), 0);
    ck_assert_msg(script.calls == 0, "%s", hindrances[_i].name);
    ck_assert_msg(logged("PAY00425: ") == (late_status != APR_SUCCESS), "%s", hindrances[_i].name);
    ck_assert_msg(logged("PAY00426: ") == (hindrances[_i].takes_ms > 0), "%s", hindrances[_i].name);
    ck_assert_msg(charge_of("order-1")->late == hindrances[_i].late, "%s", hindrances[_i].name);
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
}
END_TEST

static apr_status_t refund_late_busy(pay_refund_t **out, int *changed, pay_store_t *store,
                                     const pay_scope_t *scope, const char *refund_reference,
                                     const pay_outcome_t *found, apr_time_t due_at, pay_held_t held,
                                     const char *resolution, apr_pool_t *p)
{
    (void)store, (void)scope, (void)refund_reference, (void)found;
    (void)due_at, (void)held, (void)resolution, (void)p;
    *out = NULL;
    *changed = 0;
    return PAY_STORE_EBUSY;
}

/* A late answer about a refund that the store refuses is queried again. */
START_TEST(test_refund_not_stored)
{
    set_up(unit_dir());
    shop_charge(shop, &live, "order-1");
    refund_open("order-1", "rfd_1", 0);
    fail_for_absence();
    script_say('+');
    store_script.refund_late = refund_late_busy;
    shop_clock_set(FAILED_AT + 6 * HOUR);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(logged("PAY00420: "), 1);
    ck_assert_int_eq(logged("PAY00172: "), 0);
    ck_assert_int_eq(refund_of("rfd_1")->held, PAY_NOT_HELD);
    store_script.refund_late = NULL;
    shop_clock_set(FAILED_AT + 7 * HOUR);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(logged("PAY00420: "), 1);
    ck_assert_int_eq(refund_of("rfd_1")->held, PAY_HELD_LATE);
    store_is_clean();
}
END_TEST

static void die(const payments_charge_t *charge, const payments_refund_t *refund)
{
    (void)charge;
    if (refund) {
        _exit(0);
    }
}

/* The process ends while the refund is on its way: it is never sent again. */
START_TEST(test_crash)
{
    const char *dir = unit_dir();
    pid_t child;
    int status;

    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        set_up(dir);
        shop->service.policy.late_refund = 1;
        failed_charge("order-1");
        script.meanwhile = die;
        script_say('+');
        shop_clock_set(FAILED_AT + 6 * HOUR);
        (void)step();
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    set_up(dir);
    shop->service.policy.late_refund = 1;
    ck_assert_int_eq(charge_of("order-1")->late, PAY_LATE_REFUNDING);
    script_say('U');
    shop_clock_set(charge_of("order-1")->due_at);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 1);
    script_say('A');
    shop_clock_set(charge_of("order-1")->due_at);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.queries, 2);
    ck_assert_int_eq(charge_of("order-1")->late, PAY_LATE_FOUND);
    ck_assert_int_eq(charge_of("order-1")->held, PAY_HELD_LATE);
    ck_assert_int_eq(script.calls, 0);
}
END_TEST

START_TEST(test_no_acquirer)
{
    pay_service_t bare;

    approve_late('U');
    script.meanwhile = NULL;
    bare = shop->service;
    service_acquirers(&bare, NULL);
    shop_charge_open(shop, &live, "order-2", PAY_CHARGE_TOKENIZED);
    script_say('A');
    shop_clock_set(shop_clock + MINUTE);
    ck_assert_int_eq(step(), 0);
    shop_clock_set(shop_clock + DAY);
    ck_assert_int_eq(step(), 1);
    script_say('A');
    shop_clock_set(shop_clock + DAY);
    script.queries = 0;
    ck_assert_int_eq(step_of(&bare, NULL), 0);
    ck_assert_int_eq(script.queries, 0);
    ck_assert_int_eq(charge_of("order-2")->held, PAY_HELD_NO_ACQUIRER);
    ck_assert_int_eq(charge_of("order-2")->due_at, shop_clock + HOUR);
    ck_assert_int_eq(said(PAY_LOG_ERR, "order-2"), 1);
    shop_clock_set(shop_clock + HOUR);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(charge_of("order-2")->held, PAY_NOT_HELD);
}
END_TEST

/* As for a pending one: nobody can pay until a query succeeds. */
START_TEST(test_refused_is_asked_soon)
{
    set_up(unit_dir());
    (void)failed_charge("order-1");
    script_say('U');
    script.trouble = PAYMENTS_CREDENTIALS;
    shop_clock_set(FAILED_AT + 6 * HOUR);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(charge_of("order-1")->due_at, shop_clock + MINUTE);
    ck_assert_int_eq(charge_of("order-1")->held, PAY_NOT_HELD);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_story_of_a_charge, 0, UNIT_ROWS(stories));
    tcase_add_loop_test(tcase, test_story_of_a_refund, 0, UNIT_ROWS(stories));
    tcase_add_loop_test(tcase, test_refund_of_a_late_approval, 0, UNIT_ROWS(answers));
    tcase_add_loop_test(tcase, test_follow_up, 0, UNIT_ROWS(follow_ups));
    tcase_add_test(tcase, test_not_sent_is_tried_again);
    tcase_add_test(tcase, test_spent);
    tcase_add_test(tcase, test_test_mode);
    tcase_add_test(tcase, test_no_place);
    tcase_add_loop_test(tcase, test_not_sent, 0, UNIT_ROWS(hindrances));
    tcase_add_test(tcase, test_refund_not_stored);
    tcase_add_test(tcase, test_crash);
    tcase_add_test(tcase, test_no_acquirer);
    tcase_add_test(tcase, test_refused_is_asked_soon);
}

UNIT_PROGRAM(add)
