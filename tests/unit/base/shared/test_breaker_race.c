/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/breaker.h"

#include "breaker_fixture.h"
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#define THREADS 16
#define PROCESSES 4
#define PROCESS_THREADS 4
#define ROUNDS 200
#define STORM_ROUNDS 4000
#define TELLERS 4
#define TELL_ROUNDS 1000

/* ---- probes that die */

static int make_probe(pay_breaker_t *breaker)
{
    fail_times(breaker, PAY_BREAKER_FAILURES);
    pass_ms(PAY_BREAKER_OPEN_MS);
    return enter(breaker);
}

START_TEST(test_probe_without_result)
{
    pay_breaker_t *breaker = make_breaker();
    int first = make_probe(breaker);
    int second;

    ck_assert_int_gt(first, 0);
    pass_ms(PAY_BREAKER_PROBE_MS_MAX - 1);
    ck_assert_int_eq(enter(breaker), -1);
    pass_ms(1);
    second = enter(breaker);
    ck_assert_int_gt(second, 0);
    ck_assert_int_eq(enter(breaker), -PAY_BREAKER_OPEN_MS);
    pay_breaker_failure(breaker, first);
    pay_breaker_skip(breaker, first);
    ck_assert_int_eq(pay_breaker_state(breaker), PAY_BREAKER_PROBING);
    ck_assert_int_eq(enter(breaker), -PAY_BREAKER_OPEN_MS);
    pay_breaker_success(breaker, first);
    ck_assert_int_eq(pay_breaker_state(breaker), PAY_BREAKER_CLOSED);
    pay_breaker_failure(breaker, second);
    fail_times(breaker, PAY_BREAKER_FAILURES - 1);
    ck_assert_int_eq(pay_breaker_state(breaker), PAY_BREAKER_CLOSED);
}
END_TEST

/*
 * A process that is killed during its probe does not keep the others waiting; one that lives does.
 */
START_TEST(test_probe_whose_process_died)
{
    pay_breaker_t *breaker = make_breaker();
    int status, round;

    fail_times(breaker, PAY_BREAKER_FAILURES);
    pass_ms(PAY_BREAKER_OPEN_MS);
    for (round = 0; round < 3; round++) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            apr_int64_t ms;

            atomic_store(&shared->granted, pay_breaker_enter(breaker, &ms));
            for (;;) {
                pause();
            }
        }
        while (atomic_load(&shared->granted) == 0) {
            usleep(1000);
        }
        ck_assert_int_eq(enter(breaker), -PAY_BREAKER_OPEN_MS);
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        atomic_store(&shared->granted, 0);
    }
    ck_assert_int_gt(enter(breaker), 0);
    ck_assert_int_eq(enter(breaker), -PAY_BREAKER_OPEN_MS);
}
END_TEST

/* ---- many at once */

static pay_breaker_t *raced;

/* Waits for each round, then enters once. */
static void *race(void *data)
{
    apr_int64_t ms;
    int round;

    (void)data;
    for (round = 1; round <= ROUNDS; round++) {
        while (atomic_load(&shared->round) < round) {
            sched_yield();
        }
        if (pay_breaker_enter(raced, &ms)) {
            atomic_fetch_add(&shared->granted, 1);
        } else if (ms != PAY_BREAKER_OPEN_MS) {
            atomic_fetch_add(&shared->bad, 1);
        }
        atomic_fetch_add(&shared->ready, 1);
    }
    return NULL;
}

/* Lets all `racers` enter at the moment when the time is over, again and again. */
static void run_rounds(int racers)
{
    int round, failed = 0;

    for (round = 1; round <= ROUNDS; round++) {
        atomic_store(&shared->ready, 0);
        atomic_store(&shared->granted, 0);
        atomic_store(&shared->round, round);
        while (atomic_load(&shared->ready) < racers) {
            sched_yield();
        }
        failed += atomic_load(&shared->granted) != 1;
        failed += pay_breaker_state(raced) != PAY_BREAKER_PROBING;
        pass_ms(PAY_BREAKER_PROBE_MS_MAX);
    }
    ck_assert_int_eq(failed, 0);
    ck_assert_int_eq(atomic_load(&shared->bad), 0);
}

static void begin_race(void)
{
    raced = make_breaker();
    fail_times(raced, PAY_BREAKER_FAILURES);
    pass_ms(PAY_BREAKER_OPEN_MS);
}

START_TEST(test_threads_race_for_the_probe)
{
    pthread_t thread[THREADS];
    int i;

    begin_race();
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, race, NULL), 0);
    }
    run_rounds(THREADS);
    for (i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
}
END_TEST

static int run_threads(void *(*run)(void *))
{
    pthread_t thread[PROCESS_THREADS];
    int i;

    for (i = 0; i < PROCESS_THREADS; i++) {
        if (pthread_create(&thread[i], NULL, run, NULL)) {
            return 1;
        }
    }
    for (i = 0; i < PROCESS_THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    return 0;
}

static void fork_all(pid_t pid[PROCESSES], void *(*run)(void *))
{
    int i;

    for (i = 0; i < PROCESSES; i++) {
        pid[i] = fork();
        ck_assert_int_ge(pid[i], 0);
        if (pid[i] == 0) {
            _exit(run_threads(run));
        }
    }
}

static void wait_all(const pid_t pid[PROCESSES])
{
    int i, status;

    for (i = 0; i < PROCESSES; i++) {
        ck_assert_int_eq(waitpid(pid[i], &status, 0), pid[i]);
        ck_assert_int_eq(status, 0);
    }
}

START_TEST(test_processes_race_for_the_probe)
{
    pid_t pid[PROCESSES];

    begin_race();
    fork_all(pid, race);
    run_rounds(PROCESSES * PROCESS_THREADS);
    wait_all(pid);
}
END_TEST

/* The peer never answers: every call that passes is the probe, and alone. The clock goes on all the
 * time. */
static void *storm(void *data)
{
    apr_int64_t ms;
    int i, ticket;

    (void)data;
    for (i = 0; i < STORM_ROUNDS; i++) {
        pass_ms(1);
        ticket = pay_breaker_enter(raced, &ms);
        if (!ticket) {
            atomic_fetch_add(&shared->bad, ms < 1 || ms > PAY_BREAKER_OPEN_MS_MAX);
            continue;
        }
        atomic_fetch_add(&shared->bad, atomic_fetch_add(&shared->ready, 1) != 0);
        atomic_fetch_add(&shared->granted, 1);
        sched_yield();
        atomic_fetch_sub(&shared->ready, 1);
        if (i % 2) {
            pay_breaker_failure(raced, ticket);
        } else {
            pay_breaker_skip(raced, ticket);
        }
    }
    return NULL;
}

START_TEST(test_storm)
{
    pid_t pid[PROCESSES];
    int ticket;

    begin_race();
    fork_all(pid, storm);
    wait_all(pid);
    ck_assert_int_eq(atomic_load(&shared->bad), 0);
    ck_assert_int_gt(atomic_load(&shared->granted), 1);
    pass_ms(PAY_BREAKER_OPEN_MS_MAX);
    ticket = enter(raced);
    ck_assert_int_gt(ticket, 0);
    pay_breaker_success(raced, ticket);
    ck_assert_int_eq(pay_breaker_state(raced), PAY_BREAKER_CLOSED);
}
END_TEST

/* None of nine failures is lost while others write all the time. */
static void *tell(void *data)
{
    const int number = *(const int *)data;
    int round;

    for (round = 1; round <= TELL_ROUNDS; round++) {
        while (atomic_load(&shared->round) < round) {
            sched_yield();
        }
        if (number > 0) {
            pay_breaker_failure(raced, atomic_load(&shared->granted));
            pay_breaker_failure(raced, atomic_load(&shared->granted));
            pay_breaker_failure(raced, atomic_load(&shared->granted));
        }
        while (number == 0 && atomic_load(&shared->ready) < TELLERS - 1) {
            pay_breaker_fault(raced);
            pay_breaker_success(raced, 0);
        }
        atomic_fetch_add(&shared->ready, 1);
    }
    return NULL;
}

START_TEST(test_told_at_once)
{
    static int numbers[TELLERS] = {0, 1, 2, 3};
    pthread_t thread[TELLERS];
    int i, round, lost = 0;

    raced = make_breaker();
    for (i = 0; i < TELLERS; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, tell, &numbers[i]), 0);
    }
    for (round = 1; round <= TELL_ROUNDS; round++) {
        atomic_store(&shared->ready, 0);
        atomic_store(&shared->granted, enter(raced));
        atomic_store(&shared->round, round);
        while (atomic_load(&shared->ready) < TELLERS) {
            sched_yield();
        }
        lost += pay_breaker_is_faulty(raced);
        lost += pay_breaker_state(raced) != PAY_BREAKER_CLOSED;
        pay_breaker_failure(raced, atomic_load(&shared->granted));
        lost += pay_breaker_state(raced) != PAY_BREAKER_OPEN;
        (void)pay_breaker_init(shared->memory);
    }
    for (i = 0; i < TELLERS; i++) {
        pthread_join(thread[i], NULL);
    }
    ck_assert_int_eq(lost, 0);
}
END_TEST

static void add_cases(TCase *tcase)
{
    tcase_add_test(tcase, test_probe_without_result);
    tcase_add_test(tcase, test_probe_whose_process_died);
    tcase_add_test(tcase, test_threads_race_for_the_probe);
    tcase_add_test(tcase, test_processes_race_for_the_probe);
    tcase_add_test(tcase, test_storm);
    tcase_add_test(tcase, test_told_at_once);
}

UNIT_PROGRAM(add_cases)
