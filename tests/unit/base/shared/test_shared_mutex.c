/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/shared_mutex.h"

#include "base/shared/clock.h"

#include "unit.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_MS 30000

static pthread_mutex_t *mutex;

static void setup(void)
{
    mutex = mmap(NULL, sizeof(*mutex), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(mutex, MAP_FAILED);
    ck_assert_int_eq(pay_shared_mutex_init(mutex), 0);
}

static void teardown(void)
{
    ck_assert_int_eq(munmap(mutex, sizeof(*mutex)), 0);
}

/* A child that holds the mutex until it is killed. */
static pid_t start_holder(void)
{
    int ends[2];
    pid_t child;
    char held;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        held = (char)pay_shared_mutex_lock(mutex, pay_clock_ms() + LONG_MS);
        if (write(ends[1], &held, 1) == 1) {
            pause();
        }
        _exit(1);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(read(ends[0], &held, 1), 1);
    ck_assert_int_eq(held, 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void end(pid_t child)
{
    int status;

    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
}

START_TEST(test_held_by_another_process)
{
    const pid_t child = start_holder();
    const apr_int64_t began_ms = pay_clock_ms();

    ck_assert_int_eq(pay_shared_mutex_lock(mutex, began_ms), 0);
    ck_assert_int_ge(pay_clock_ms() - began_ms, PAY_SHARED_MUTEX_STEP_MS);
    end(child);
}
END_TEST

/* Twice: a mutex that was recovered once is as good as new. */
START_TEST(test_killed_holder_gives_it_back)
{
    int i;

    for (i = 0; i < 2; i++) {
        end(start_holder());
        ck_assert_int_eq(pay_shared_mutex_lock(mutex, pay_clock_ms() + LONG_MS), 1);
        ck_assert_int_eq(pthread_mutex_unlock(mutex), 0);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_held_by_another_process);
    tcase_add_test(tcase, test_killed_holder_gives_it_back);
}

UNIT_PROGRAM(add)
