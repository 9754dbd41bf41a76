/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_LEN_MAX 512
#define TIMEOUT_SECONDS 60
#define OPEN_DIRECTORIES_MAX 16
#define MUTEX_STEP_US 100
#define SECOND_NS 1000000000L

apr_pool_t *unit_pool;

/*
 * Made by the parent of all tests, so that it can be removed after a test that was killed; each
 * test's own directories are inside.
 */
static char top_dir[PATH_LEN_MAX];
static int dir_count;

#ifdef __SANITIZE_THREAD__
/*
 * Both stand before libc's: not every ThreadSanitizer knows that these synchronize, and it would
 * take all that they keep apart for a race. A wall clock that steps is no matter here.
 */
static struct timespec by_wall_clock(clockid_t clock, const struct timespec *until)
{
    struct timespec from, to;

    (void)clock_gettime(clock, &from);
    (void)clock_gettime(CLOCK_REALTIME, &to);
    to.tv_sec += until->tv_sec - from.tv_sec;
    to.tv_nsec += until->tv_nsec - from.tv_nsec;
    if (to.tv_nsec < 0) {
        to.tv_nsec += SECOND_NS;
        to.tv_sec--;
    } else if (to.tv_nsec >= SECOND_NS) {
        to.tv_nsec -= SECOND_NS;
        to.tv_sec++;
    }
    return to;
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    struct timespec now;
    int rc;

    /* It knows a dead process's mutex as locked only if no timed wait got it. */
    while ((rc = pthread_mutex_trylock(mutex)) == EBUSY) {
        (void)clock_gettime(clock, &now);
        if (now.tv_sec > until->tv_sec
            || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec)) {
            return ETIMEDOUT;
        }
        (void)usleep(MUTEX_STEP_US);
    }
    return rc;
}

int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
    const struct timespec to = by_wall_clock(clock, until);

    return sem_timedwait(sem, &to);
}
#endif

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static void remove_inside(const char *dir, int itself)
{
    (void)nftw(dir, remove_entry, OPEN_DIRECTORIES_MAX, FTW_DEPTH | FTW_PHYS);
    if (!itself) {
        (void)mkdir(dir, 0700);
    }
}

static void set_up(void)
{
    ck_assert_int_eq(apr_pool_create(&unit_pool, NULL), APR_SUCCESS);
}

static void tear_down(void)
{
    apr_pool_destroy(unit_pool);
    unit_pool = NULL;
    remove_inside(top_dir, 0);
}

const char *unit_dir(void)
{
    const char *dir;

    dir = apr_psprintf(unit_pool, "%s/%d.%d", top_dir, (int)getpid(), dir_count++);
    ck_assert_int_eq(mkdir(dir, 0700), 0);
    return dir;
}

const char *unit_share(void)
{
    return UNIT_SHARE;
}

static int make_top_dir(void)
{
    const char *parent = getenv("TMPDIR");

    if (!parent || !*parent) {
        parent = "/tmp";
    }
    apr_snprintf(top_dir, sizeof(top_dir), "%s/payments-unit-XXXXXX", parent);
    /* In a container the directory may lie in its own layers. */
    return mkdtemp(top_dir) != NULL && setenv("PAYMENTS_OVERLAYFS", "tests", 1) == 0;
}

int unit_run(const char *name, void (*add)(TCase *tcase))
{
    Suite *suite;
    TCase *tcase;
    SRunner *runner;
    int run, failed;

    if (apr_initialize() != APR_SUCCESS || !make_top_dir()) {
        fprintf(stderr, "%s: cannot make a temporary directory\n", name);
        return EXIT_FAILURE;
    }
    suite = suite_create(name);
    tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_SECONDS);
    add(tcase);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    run = srunner_ntests_run(runner);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    remove_inside(top_dir, 1);
    apr_terminate();
    if (!run) {
        fprintf(stderr, "%s: there is no test to run\n", name);
        return EXIT_FAILURE;
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
