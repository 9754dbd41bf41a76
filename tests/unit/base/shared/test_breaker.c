/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/breaker.h"

#include "breaker_fixture.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#define STEPS_MAX 12

/* ---- states */

typedef enum act_t {
    ENTER,   /* with ticket `n`, or refused for `ms` */
    SUCCESS, /* of ticket `n`; 0: of a query */
    FAILURE,
    SKIP,
    FAIL, /* `n` calls, one after the other */
    HOLD, /* for `ms` */
    FAULT,
    SHUT,
    PASS, /* of `ms` */
} act_t;

typedef struct step_t {
    act_t act;
    int n;
    apr_int64_t ms;
    pay_breaker_state_t want; /* afterwards */
    int faulty;
} step_t;

#define C PAY_BREAKER_CLOSED
#define O PAY_BREAKER_OPEN
#define P PAY_BREAKER_PROBING
#define OPENED                                                                                     \
    {                                                                                              \
        FAIL, 10, 0, O, 0                                                                          \
    }
#define PROBED                                                                                     \
    OPENED, {PASS, 0, 1000, O, 0},                                                                 \
    {                                                                                              \
        ENTER, 1, 0, P, 0                                                                          \
    }

static const struct {
    const char *name;
    step_t step[STEPS_MAX];
} state_rows[] = {
    {"new", {{ENTER, 1, 0, C, 0}, {ENTER, 2, 0, C, 0}}},
    {"nine failures", {{FAIL, 9, 0, C, 0}, {ENTER, 1, 0, C, 0}}},
    {"ten failures", {{FAIL, 9, 0, C, 0}, {FAIL, 1, 0, O, 0}, {ENTER, 0, 1000, O, 0}}},
    {"nine, one success, nine",
     {{FAIL, 9, 0, C, 0}, {ENTER, 1, 0, C, 0}, {SUCCESS, 1, 0, C, 0}, {FAIL, 9, 0, C, 0}}},
    {"a skip among failures is none, nor a success",
     {{FAIL, 9, 0, C, 0}, {ENTER, 1, 0, C, 0}, {SKIP, 1, 0, C, 0}, {FAIL, 1, 0, O, 0}}},
    {"a query among failures does not count",
     {{FAIL, 9, 0, C, 0},
      {SUCCESS, 0, 0, C, 0},
      {FAILURE, 0, 0, C, 0},
      {FAIL, 1, 0, O, 0},
      {SUCCESS, 0, 0, O, 0},
      {FAILURE, 0, 0, O, 0},
      {ENTER, 0, 1000, O, 0}}},
    {"the time of opening",
     {OPENED,
      {ENTER, 0, 1000, O, 0},
      {PASS, 0, 999, O, 0},
      {ENTER, 0, 1, O, 0},
      {PASS, 0, 1, O, 0},
      {ENTER, 1, 0, P, 0}}},
    {"others while a probe is under way",
     {PROBED, {ENTER, 0, 1000, P, 0}, {PASS, 0, 5000, P, 0}, {ENTER, 0, 1000, P, 0}}},
    {"a probe's success",
     {PROBED,
      {SUCCESS, 1, 0, C, 0},
      {ENTER, 2, 0, C, 0},
      {FAIL, 9, 0, C, 0},
      {FAIL, 1, 0, O, 0},
      {ENTER, 0, 1000, O, 0}}},
    {"a probe's failure", {PROBED, {FAILURE, 1, 0, O, 0}, {ENTER, 0, 2000, O, 0}}},
    {"a probe that was not sent",
     {PROBED,
      {SKIP, 1, 0, O, 0},
      {ENTER, 2, 0, P, 0},
      {FAILURE, 2, 0, O, 0},
      {ENTER, 0, 2000, O, 0}}},
    {"a probe skipped twice",
     {PROBED, {SKIP, 1, 0, O, 0}, {ENTER, 2, 0, P, 0}, {SKIP, 1, 0, P, 0}, {ENTER, 0, 1000, P, 0}}},
    {"a query while a probe is under way",
     {PROBED,
      {SUCCESS, 0, 0, P, 0},
      {FAILURE, 0, 0, P, 0},
      {SKIP, 0, 0, P, 0},
      {ENTER, 0, 1000, P, 0}}},
    {"a late failure while open",
     {{ENTER, 1, 0, C, 0},
      OPENED,
      {PASS, 0, 500, O, 0},
      {FAILURE, 1, 0, O, 0},
      {ENTER, 0, 500, O, 0}}},
    {"a late skip while open",
     {{ENTER, 1, 0, C, 0}, OPENED, {SKIP, 1, 0, O, 0}, {ENTER, 0, 1000, O, 0}}},
    {"a late success while open",
     {{ENTER, 1, 0, C, 0}, OPENED, {SUCCESS, 1, 0, C, 0}, {ENTER, 2, 0, C, 0}}},
    {"a late failure while a probe is under way",
     {{ENTER, 2, 0, C, 0},
      PROBED,
      {FAILURE, 2, 0, P, 0},
      {SKIP, 2, 0, P, 0},
      {ENTER, 0, 1000, P, 0},
      {SUCCESS, 1, 0, C, 0}}},
    {"late failures after it closed again",
     {{ENTER, 2, 0, C, 0},
      PROBED,
      {SUCCESS, 1, 0, C, 0},
      {FAIL, 9, 0, C, 0},
      {FAILURE, 2, 0, C, 0},
      {FAILURE, 1, 0, C, 0},
      {FAIL, 1, 0, O, 0}}},
    {"a probe that a late success closed for",
     {{ENTER, 2, 0, C, 0},
      PROBED,
      {SUCCESS, 2, 0, C, 0},
      {FAILURE, 1, 0, C, 0},
      {FAIL, 9, 0, C, 0},
      {FAIL, 1, 0, O, 0}}},
};

static const struct {
    const char *name;
    step_t step[STEPS_MAX];
} shut_rows[] = {
    {"a hold",
     {{HOLD, 0, 7000, O, 0},
      {ENTER, 0, 7000, O, 0},
      {PASS, 0, 7000, O, 0},
      {ENTER, 1, 0, P, 0},
      {ENTER, 0, 1000, P, 0},
      {SUCCESS, 1, 0, C, 0}}},
    {"a hold of the longest", {{HOLD, 0, 30000, O, 0}, {ENTER, 0, 30000, O, 0}}},
    {"a hold one too long", {{HOLD, 0, 30001, O, 0}, {ENTER, 0, 30000, O, 0}}},
    {"a hold of any length", {{HOLD, 0, APR_INT64_MAX, O, 0}, {ENTER, 0, 30000, O, 0}}},
    {"a hold of the shortest", {{HOLD, 0, 1, O, 0}, {ENTER, 0, 1, O, 0}}},
    {"a hold of no time", {{HOLD, 0, 0, O, 0}, {ENTER, 0, 1000, O, 0}}},
    {"a hold of less", {{HOLD, 0, -1, O, 0}, {ENTER, 0, 1000, O, 0}}},
    {"a shorter hold", {{HOLD, 0, 9000, O, 0}, {HOLD, 0, 2000, O, 0}, {ENTER, 0, 9000, O, 0}}},
    {"a longer hold", {{HOLD, 0, 2000, O, 0}, {HOLD, 0, 9000, O, 0}, {ENTER, 0, 9000, O, 0}}},
    {"a hold while open",
     {OPENED,
      {HOLD, 0, 500, O, 0},
      {ENTER, 0, 1000, O, 0},
      {HOLD, 0, 4000, O, 0},
      {ENTER, 0, 4000, O, 0}}},
    {"a success does not end a hold",
     {{ENTER, 1, 0, C, 0},
      {HOLD, 0, 4000, O, 0},
      {SUCCESS, 1, 0, O, 0},
      {SUCCESS, 0, 0, O, 0},
      {ENTER, 0, 4000, O, 0}}},
    {"a failure does not lengthen a hold",
     {{FAIL, 9, 0, C, 0},
      {ENTER, 1, 0, C, 0},
      {HOLD, 0, 4000, O, 0},
      {FAILURE, 1, 0, O, 0},
      {ENTER, 0, 4000, O, 0}}},
    {"a probe that fails after a hold",
     {{HOLD, 0, 7000, O, 0},
      {PASS, 0, 7000, O, 0},
      {ENTER, 1, 0, P, 0},
      {FAILURE, 1, 0, O, 0},
      {ENTER, 0, 1000, O, 0}}},
    {"a probe that is told to wait",
     {PROBED,
      {HOLD, 0, 3000, O, 0},
      {SKIP, 1, 0, O, 0},
      {ENTER, 0, 3000, O, 0},
      {PASS, 0, 3000, O, 0},
      {ENTER, 2, 0, P, 0},
      {FAILURE, 2, 0, O, 0},
      {ENTER, 0, 2000, O, 0}}},
    {"a probe that is told to wait, its ticket first",
     {PROBED, {SKIP, 1, 0, O, 0}, {HOLD, 0, 3000, O, 0}, {ENTER, 0, 3000, O, 0}}},
    {"a late call that is told to wait while a probe is under way",
     {PROBED,
      {HOLD, 0, 3000, O, 0},
      {FAILURE, 1, 0, O, 0},
      {SUCCESS, 1, 0, O, 0},
      {ENTER, 0, 3000, O, 0}}},
    {"a fault",
     {{FAULT, 0, 0, C, 1},
      {ENTER, 0, 60000, C, 1},
      {PASS, 0, 59999, C, 1},
      {ENTER, 0, 1, C, 1},
      {SUCCESS, 0, 0, C, 0},
      {ENTER, 1, 0, C, 0}}},
    {"a fault: one call a minute tries",
     {{FAULT, 0, 0, C, 1},
      {PASS, 0, 60000, C, 1},
      {ENTER, 1, 0, P, 1},
      {ENTER, 0, 1000, P, 1},
      {FAULT, 0, 0, P, 1},
      {SKIP, 1, 0, O, 1},
      {ENTER, 0, 60000, O, 1},
      {PASS, 0, 60000, O, 1},
      {ENTER, 1, 0, P, 1},
      {SUCCESS, 1, 0, C, 0},
      {ENTER, 2, 0, C, 0}}},
    {"queries that are refused do not put that call off",
     {{FAULT, 0, 0, C, 1},
      {PASS, 0, 30000, C, 1},
      {FAULT, 0, 0, C, 1},
      {ENTER, 0, 30000, C, 1},
      {PASS, 0, 30000, C, 1},
      {FAULT, 0, 0, C, 1},
      {ENTER, 1, 0, P, 1}}},
    {"that call gets no answer",
     {{FAULT, 0, 0, C, 1},
      {PASS, 0, 60000, C, 1},
      {ENTER, 1, 0, P, 1},
      {FAILURE, 1, 0, O, 1},
      {ENTER, 0, 60000, O, 1}}},
    {"that call was not made: another may",
     {{FAULT, 0, 0, C, 1},
      {PASS, 0, 60000, C, 1},
      {ENTER, 1, 0, P, 1},
      {SKIP, 1, 0, O, 1},
      {ENTER, 2, 0, P, 1}}},
    {"that call is told to wait",
     {{FAULT, 0, 0, C, 1},
      {PASS, 0, 60000, C, 1},
      {ENTER, 1, 0, P, 1},
      {HOLD, 0, 3000, O, 1},
      {SKIP, 1, 0, O, 1},
      {ENTER, 0, 3000, O, 1}}},
    {"a late success is no word on the key",
     {{ENTER, 2, 0, C, 0},
      {FAULT, 0, 0, C, 1},
      {PASS, 0, 60000, C, 1},
      {ENTER, 1, 0, P, 1},
      {SUCCESS, 2, 0, C, 1},
      {SUCCESS, 1, 0, C, 1},
      {ENTER, 1, 0, P, 1},
      {SUCCESS, 1, 0, C, 0}}},
    {"shut",
     {{SHUT, 0, 0, C, 1},
      {ENTER, 0, 30000, C, 1},
      {PASS, 0, 600000, C, 1},
      {ENTER, 0, 30000, C, 1},
      {SUCCESS, 0, 0, C, 1},
      {ENTER, 0, 30000, C, 1}}},
    {"a fault, twice", {{FAULT, 0, 0, C, 1}, {FAULT, 0, 0, C, 1}, {SUCCESS, 0, 0, C, 0}}},
    {"a call that entered before the fault does not lift it",
     {{ENTER, 1, 0, C, 0},
      {ENTER, 2, 0, C, 0},
      {FAULT, 0, 0, C, 1},
      {SUCCESS, 1, 0, C, 1},
      {SKIP, 2, 0, C, 1},
      {ENTER, 0, 60000, C, 1}}},
    {"a query that fails does not lift it", {{FAULT, 0, 0, C, 1}, {FAILURE, 0, 0, C, 1}}},
    {"a fault while open",
     {OPENED,
      {FAULT, 0, 0, O, 1},
      {PASS, 0, 1000, O, 1},
      {ENTER, 0, 59000, O, 1},
      {SUCCESS, 0, 0, O, 0},
      {ENTER, 1, 0, P, 0}}},
    {"a probe that finds the fault",
     {PROBED,
      {FAULT, 0, 0, P, 1},
      {SKIP, 1, 0, O, 1},
      {ENTER, 0, 60000, O, 1},
      {SUCCESS, 0, 0, O, 0},
      {ENTER, 2, 0, P, 0}}},
    {"calls that fail under a fault open it",
     {{FAIL, 9, 0, C, 0},
      {ENTER, 1, 0, C, 0},
      {FAULT, 0, 0, C, 1},
      {FAILURE, 1, 0, O, 1},
      {SUCCESS, 0, 0, O, 0},
      {ENTER, 0, 1000, O, 0}}},
    {"a fault and a hold",
     {{HOLD, 0, 2000, O, 0},
      {FAULT, 0, 0, O, 1},
      {ENTER, 0, 60000, O, 1},
      {SUCCESS, 0, 0, O, 0},
      {ENTER, 0, 2000, O, 0},
      {PASS, 0, 2000, O, 0},
      {ENTER, 1, 0, P, 0},
      {HOLD, 0, 5000, O, 0},
      {ENTER, 0, 5000, O, 0}}},
    {"a hold under a fault",
     {{FAULT, 0, 0, C, 1}, {HOLD, 0, 2000, O, 1}, {SUCCESS, 0, 0, O, 0}, {ENTER, 0, 2000, O, 0}}},
};

static void run_steps(const char *name, const step_t *step)
{
    pay_breaker_t *breaker = make_breaker();
    int ticket[3] = {0, 0, 0};
    int i, got;

    for (i = 0; i < STEPS_MAX && (step[i].act || step[i].n || step[i].ms); i++) {
        switch (step[i].act) {
        case ENTER:
            got = enter(breaker);
            ck_assert_msg(step[i].ms ? got == -step[i].ms : got > 0, "%s: step %d: %d", name, i,
                          got);
            ticket[step[i].n] = step[i].ms ? 0 : got;
            break;
        case SUCCESS:
            pay_breaker_success(breaker, ticket[step[i].n]);
            break;
        case FAILURE:
            pay_breaker_failure(breaker, ticket[step[i].n]);
            break;
        case SKIP:
            pay_breaker_skip(breaker, ticket[step[i].n]);
            break;
        case FAIL:
            fail_times(breaker, step[i].n);
            break;
        case HOLD:
            pay_breaker_hold(breaker, step[i].ms);
            break;
        case FAULT:
            pay_breaker_fault(breaker);
            break;
        case SHUT:
            pay_breaker_shut(breaker);
            break;
        case PASS:
            pass_ms(step[i].ms);
            break;
        }
        ck_assert_msg(pay_breaker_state(breaker) == step[i].want, "%s: step %d: state %d", name, i,
                      (int)pay_breaker_state(breaker));
        ck_assert_msg(pay_breaker_is_faulty(breaker) == step[i].faulty, "%s: step %d: fault", name,
                      i);
    }
    ck_assert_int_ge(i, 2);
}

START_TEST(test_states)
{
    run_steps(state_rows[_i].name, state_rows[_i].step);
}
END_TEST

START_TEST(test_shut)
{
    run_steps(shut_rows[_i].name, shut_rows[_i].step);
}
END_TEST

/* A hold between counts for nothing; a success begins again. */
START_TEST(test_doubling)
{
    static const int want_ms[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000, 30000};
    pay_breaker_t *breaker = make_breaker();
    int round, i, ticket = 0;

    for (round = 0; round < 2; round++) {
        fail_times(breaker, PAY_BREAKER_FAILURES);
        for (i = 0; i < UNIT_ROWS(want_ms); i++) {
            ck_assert_int_eq(enter(breaker), -want_ms[i]);
            pass_ms(want_ms[i] - 1);
            ck_assert_int_eq(enter(breaker), -1);
            pass_ms(1);
            if (i % 3 == 1) {
                pay_breaker_hold(breaker, 700);
                pass_ms(700);
            }
            ticket = enter(breaker);
            ck_assert_int_gt(ticket, 0);
            pay_breaker_failure(breaker, ticket);
        }
        pass_ms(PAY_BREAKER_OPEN_MS_MAX);
        ticket = enter(breaker);
        ck_assert_int_gt(ticket, 0);
        pay_breaker_success(breaker, ticket);
        ck_assert_int_eq(pay_breaker_state(breaker), PAY_BREAKER_CLOSED);
    }
}
END_TEST

/* Tickets stay above 0 however often it opens, and old ones stay old. */
START_TEST(test_many_openings)
{
    pay_breaker_t *breaker = make_breaker();
    int i, ticket, old = 0;

    for (i = 0; i < 2 * TICKETS_MAX; i++) {
        if (i % 4 == 0) {
            old = enter(breaker);
        }
        fail_times(breaker, PAY_BREAKER_FAILURES);
        pay_breaker_failure(breaker, old);
        ck_assert_int_eq(enter(breaker), -PAY_BREAKER_OPEN_MS);
        pass_ms(PAY_BREAKER_OPEN_MS);
        ticket = enter(breaker);
        ck_assert_int_gt(ticket, 0);
        pay_breaker_failure(breaker, old);
        ck_assert_int_eq(pay_breaker_state(breaker), PAY_BREAKER_PROBING);
        pay_breaker_success(breaker, ticket);
        ck_assert_int_eq(pay_breaker_state(breaker), PAY_BREAKER_CLOSED);
    }
}
END_TEST

/* Contract checks. */
START_TEST(test_asserts)
{
    static const int tickets[] = {-1, TICKETS_MAX + 1};
    pay_breaker_t *breaker = make_breaker();
    int i, status;

    for (i = 0; i < UNIT_ROWS(tickets); i++) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            (void)signal(SIGABRT, SIG_DFL);
            if (freopen("/dev/null", "w", stderr)) { /* the text of assert() */
                pay_breaker_success(breaker, tickets[i]);
            }
            _exit(0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_eq(WTERMSIG(status), SIGABRT);
    }
}
END_TEST

/* The rest of the time that the peer asked us to wait; failures ask for none. */
START_TEST(test_held)
{
    pay_breaker_t *breaker = make_breaker();
    int ticket;

    ck_assert_int_eq(pay_breaker_held_ms(breaker), 0);
    fail_times(breaker, PAY_BREAKER_FAILURES);
    ck_assert_int_eq(pay_breaker_state(breaker), PAY_BREAKER_OPEN);
    ck_assert_int_eq(pay_breaker_held_ms(breaker), 0);
    breaker = make_breaker();
    pay_breaker_hold(breaker, 3000);
    ck_assert_int_eq(pay_breaker_held_ms(breaker), 3000);
    pass_ms(2999);
    ck_assert_int_eq(pay_breaker_held_ms(breaker), 1);
    pass_ms(1);
    ck_assert_int_eq(pay_breaker_held_ms(breaker), 0);
    pass_ms(1);
    ck_assert_int_eq(pay_breaker_held_ms(breaker), 0);
    ck_assert_int_eq(pay_breaker_state(breaker), PAY_BREAKER_OPEN);
    ticket = enter(breaker);
    ck_assert_int_gt(ticket, 0);
    ck_assert_int_eq(pay_breaker_held_ms(breaker), 0); /* it is tried just now */
    pay_breaker_success(breaker, ticket);
    ck_assert_int_eq(pay_breaker_held_ms(breaker), 0);
}
END_TEST

static void add_cases(TCase *tcase)
{
    tcase_add_test(tcase, test_held);
    tcase_add_loop_test(tcase, test_states, 0, UNIT_ROWS(state_rows));
    tcase_add_loop_test(tcase, test_shut, 0, UNIT_ROWS(shut_rows));
    tcase_add_test(tcase, test_doubling);
    tcase_add_test(tcase, test_many_openings);
    tcase_add_test(tcase, test_asserts);
}

UNIT_PROGRAM(add_cases)
