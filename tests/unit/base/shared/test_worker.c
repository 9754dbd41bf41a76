/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/worker.h"

#include "base/text/time.h"
#include "unit.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8

static int is_same(pay_worker_t a, pay_worker_t b)
{
    return a.pid == b.pid && a.start_ticks == b.start_ticks && a.boot_id == b.boot_id;
}

/* A child that reports its identity and then waits to be killed. */
static pid_t start_child(pay_worker_t *worker)
{
    int ends[2];
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        pay_worker_t self = pay_worker_self();

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (write(ends[1], &self, sizeof(self)) != (ssize_t)sizeof(self)) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(read(ends[0], worker, sizeof(*worker)), sizeof(*worker));
    close(ends[0]);
    close(ends[1]);
    return child;
}

START_TEST(test_self)
{
    pay_worker_t self = pay_worker_self();
    struct timespec boot;

    ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &boot), 0);
    ck_assert_int_eq(self.pid, getpid());
    ck_assert_int_gt(self.start_ticks, 0);
    /* This process was started within the time that one test may take. */
    ck_assert_int_le(self.start_ticks / sysconf(_SC_CLK_TCK), boot.tv_sec);
    ck_assert_int_ge(self.start_ticks / sysconf(_SC_CLK_TCK), boot.tv_sec - 3600);
    ck_assert_int_gt(self.boot_id, 0);
    ck_assert(is_same(self, pay_worker_self()));
    ck_assert_int_eq(pay_worker_alive(&self), 1);
}
END_TEST

static void *ask(void *out)
{
    *(pay_worker_t *)out = pay_worker_self();
    return NULL;
}

START_TEST(test_threads)
{
    pthread_t threads[THREADS];
    pay_worker_t answers[THREADS];
    int i;

    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, &answers[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert(is_same(answers[i], pay_worker_self()));
    }
}
END_TEST

START_TEST(test_child)
{
    pay_worker_t self = pay_worker_self();
    pay_worker_t worker;
    pid_t child = start_child(&worker);
    siginfo_t info;

    ck_assert_int_eq(worker.pid, child);
    ck_assert_int_ge(worker.start_ticks, self.start_ticks);
    ck_assert_int_eq(worker.boot_id, self.boot_id);
    ck_assert_int_eq(pay_worker_alive(&worker), 1);

    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    ck_assert_msg(!pay_worker_alive(&worker), "a zombie lives");
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_msg(!pay_worker_alive(&worker), "a dead one lives");
}
END_TEST

/* A stopped process may go on later. */
START_TEST(test_stopped)
{
    pay_worker_t worker;
    pid_t child = start_child(&worker);
    siginfo_t info;

    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WSTOPPED), 0);
    ck_assert_int_eq(pay_worker_alive(&worker), 1);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

static const struct {
    const char *name;
    apr_int64_t pid; /* 0: ours */
    int start_step;
    int boot_step;
    int start_unknown;
    int want;
} other_rows[] = {
    {"ourselves", 0, 0, 0, 0, 1},
    {"an earlier one with our pid", 0, -1, 0, 0, 0},
    {"a later one with our pid", 0, 1, 0, 0, 0},
    {"another boot", 0, 0, 1, 0, 0},
    {"our pid, start unknown", 0, 0, 0, 1, 1},
    {"no such pid", INT_MAX, 0, 0, 0, 0},
    {"no such pid, start unknown", INT_MAX, 0, 0, 1, 0},
    {"no pid at all", (apr_int64_t)INT_MAX + 1, 0, 0, 1, 0},
    {"all processes", -1, 0, 0, 1, 0},
    {"smallest", APR_INT64_MIN, 0, 0, 1, 0},
};

START_TEST(test_other)
{
    pay_worker_t worker = pay_worker_self();

    if (other_rows[_i].pid) {
        worker.pid = other_rows[_i].pid;
    }
    worker.start_ticks += other_rows[_i].start_step;
    worker.boot_id += other_rows[_i].boot_step;
    if (other_rows[_i].start_unknown) {
        worker.start_ticks = 0;
    }
    ck_assert_msg(pay_worker_alive(&worker) == other_rows[_i].want, "%s", other_rows[_i].name);
}
END_TEST

#define NOW APR_TIME_C(1800000000000000)
#define SEC(n) apr_time_from_sec(n)
#define BOOT_MS 50000 /* the boot clock's time */

static const struct {
    const char *name;
    int boot_step, start_step;
    apr_int64_t until_ms;
    apr_time_t until_at;
    apr_interval_time_t want;
} left_rows[] = {
    {"ours", 0, 0, BOOT_MS + 7000, NOW - SEC(3600), SEC(7)},
    {"ours, one moment", 0, 0, BOOT_MS + 1, 0, apr_time_from_msec(1)},
    {"ours, over", 0, 0, BOOT_MS, NOW + SEC(60), 0},
    {"ours, long over", 0, 0, APR_INT64_MIN, NOW + SEC(60), 0},
    {"ours, without an end", 0, 0, APR_INT64_MAX, 0, PAY_WORKER_TERM_MAX},
    {"ours, gone", 0, 1, BOOT_MS + 7000, NOW + SEC(60), 0},
    {"elsewhere", 1, 0, 0, NOW + SEC(60), SEC(90)},
    {"elsewhere, whatever its boot clock says", 1, 0, APR_INT64_MAX, NOW + SEC(60), SEC(90)},
    {"elsewhere, the longest", 1, 0, 0, NOW + PAY_WORKER_TERM_MAX,
     PAY_WORKER_TERM_MAX + PAY_WORKER_GRACE},
    {"elsewhere, longer than the longest", 1, 0, 0, NOW + PAY_WORKER_TERM_MAX + 1, 0},
    {"elsewhere, in its grace", 1, 0, 0, NOW - PAY_WORKER_GRACE + 1, 1},
    {"elsewhere, its grace over", 1, 0, APR_INT64_MAX, NOW - PAY_WORKER_GRACE, 0},
    {"elsewhere, before time", 1, 0, 0, APR_INT64_MIN, 0},
    {"elsewhere, after time", 1, 0, 0, APR_INT64_MAX, 0},
    {"elsewhere, of an earlier version", 1, 0, APR_INT64_MAX, 0, 0},
};

START_TEST(test_left)
{
    pay_worker_t worker = pay_worker_self();
    apr_interval_time_t left;

    unit_boot_stop(BOOT_MS);
    worker.boot_id ^= left_rows[_i].boot_step;
    worker.start_ticks += left_rows[_i].start_step;
    left = pay_worker_left(&worker, left_rows[_i].until_ms, left_rows[_i].until_at, NOW);
    ck_assert_msg(left == left_rows[_i].want, "%s: %" APR_TIME_T_FMT, left_rows[_i].name, left);
    worker.pid = 0;
    left = pay_worker_left(&worker, left_rows[_i].until_ms, left_rows[_i].until_at, NOW);
    ck_assert_msg(left == 0, "%s, nobody", left_rows[_i].name);
}
END_TEST

/* One process notes a deadline, another waits for it. */
START_TEST(test_until)
{
    unit_boot_stop(BOOT_MS);
    ck_assert_int_eq(pay_worker_until(BOOT_MS + 7000, NOW), NOW + SEC(7));
    ck_assert_int_eq(pay_worker_until(BOOT_MS, NOW), NOW);
    ck_assert_int_eq(pay_worker_until(APR_INT64_MIN, NOW), NOW);
    ck_assert_int_eq(pay_worker_until(APR_INT64_MAX, NOW), NOW + PAY_WORKER_TERM_MAX);
    ck_assert_int_ne(pay_worker_until(BOOT_MS + 7000, -SEC(7)), 0); /* that is of no version */
}
END_TEST

START_TEST(test_nobody)
{
    pay_worker_t worker = {0, 0, 0};

    ck_assert_int_eq(pay_worker_alive(&worker), 0);
    worker = pay_worker_self();
    worker.pid = 0;
    ck_assert_int_eq(pay_worker_alive(&worker), 0);
}
END_TEST

/* The process's name stands in brackets before the fields, and may contain brackets itself. */
START_TEST(test_odd_name)
{
    pay_worker_t before = pay_worker_self();
    pay_worker_t worker;
    pid_t child;
    int status;

    child = fork();
    if (child == 0) {
        prctl(PR_SET_NAME, "a) Z 1 1 (b");
        worker = pay_worker_self();
        _exit(worker.start_ticks >= before.start_ticks && pay_worker_alive(&worker) ? 0 : 1);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(test_namespace)
{
    char link[64] = "";
    char want[64];

    ck_assert_int_gt(readlink("/proc/self/ns/pid", link, sizeof(link) - 1), 0);
    apr_snprintf(want, sizeof(want), "pid:[%" APR_INT64_T_FMT "]", pay_worker_namespace());
    ck_assert_str_eq(link, want);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_self);
    tcase_add_test(tcase, test_threads);
    tcase_add_test(tcase, test_child);
    tcase_add_test(tcase, test_stopped);
    tcase_add_loop_test(tcase, test_other, 0, UNIT_ROWS(other_rows));
    tcase_add_loop_test(tcase, test_left, 0, UNIT_ROWS(left_rows));
    tcase_add_test(tcase, test_until);
    tcase_add_test(tcase, test_nobody);
    tcase_add_test(tcase, test_odd_name);
    tcase_add_test(tcase, test_namespace);
}

UNIT_PROGRAM(add)
