/* SPDX-License-Identifier: Apache-2.0 */
#include "store_script.h"
#include "unit.h"

#include "base/text/time.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_LEN_MAX 512
#define NAME_LEN_MAX 64
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
static const char *home_dir; /* of unit_file; NULL before its first call in a test */
static int dir_count;

#ifdef __SANITIZE_THREAD__
/*
 * Both precede libc's: not every ThreadSanitizer knows that these synchronise, and it would report
 * a race for all that they separate. Steps of the wall clock do not matter here.
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

/* ---- the boot clock: by how much it is ahead, or where it stands, unless 0 */

static _Atomic apr_int64_t boot_ahead_ms, boot_stands_ms;

static apr_int64_t boot_ms(void)
{
    struct timespec now = {0, 0};

    if (boot_stands_ms) {
        return boot_stands_ms;
    }
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (apr_int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + boot_ahead_ms;
}

void unit_boot_stop(apr_int64_t at_ms)
{
    boot_stands_ms = at_ms;
    pay_time_set_boot_source(boot_ms);
}

void unit_boot_pass(apr_int64_t ms)
{
    if (boot_stands_ms) {
        boot_stands_ms += ms;
    } else {
        boot_ahead_ms += ms;
    }
    pay_time_set_boot_source(boot_ms);
}

static void boot_restore(void)
{
    pay_time_set_boot_source(NULL);
    boot_ahead_ms = 0;
    boot_stands_ms = 0;
}

/* ---- one test */

static void set_up(void)
{
    store_script = (store_script_t){0}; /* without a fork, that of the test before is still there */
    store_reads = 0;
    home_dir = NULL;
    ck_assert_int_eq(apr_pool_create(&unit_pool, NULL), APR_SUCCESS);
}

static void tear_down(void)
{
    apr_pool_destroy(unit_pool);
    unit_pool = NULL;
    boot_restore();
    remove_inside(top_dir, 0);
}

const char *unit_dir(void)
{
    const char *dir;

    dir = apr_psprintf(unit_pool, "%s/%d.%d", top_dir, (int)getpid(), dir_count++);
    ck_assert_int_eq(mkdir(dir, 0700), 0);
    return dir;
}

const char *unit_file(const char *name)
{
    if (!home_dir) {
        home_dir = unit_dir();
    }
    return apr_pstrcat(unit_pool, home_dir, "/", name, NULL);
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
    /* In a container the directory may be in its own layers. */
    return mkdtemp(top_dir) != NULL && setenv("PAYMENTS_OVERLAYFS", "tests", 1) == 0;
}

/* ---- the programs */

static unit_program_t *programs;

void unit_register(unit_program_t *program)
{
    program->next = programs;
    programs = program;
}

/* Of a path, "unit/base/text/test_money.c" as "test_money"; of a name, the name. */
static const char *name_of(char out[NAME_LEN_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dot;

    apr_cpystrn(out, slash ? slash + 1 : path, NAME_LEN_MAX);
    dot = strrchr(out, '.');
    if (dot) {
        *dot = '\0';
    }
    return out;
}

static const unit_program_t *program_of(const char *path)
{
    char want[NAME_LEN_MAX], name[NAME_LEN_MAX];
    const unit_program_t *program;

    name_of(want, path);
    for (program = programs; program; program = program->next) {
        if (strcmp(name_of(name, program->file), want) == 0) {
            break;
        }
    }
    return program;
}

static int run(const unit_program_t *program)
{
    char name[NAME_LEN_MAX];
    Suite *suite;
    TCase *tcase;
    SRunner *runner;
    int ran, failed;

    name_of(name, program->file);
    if (program->prepare) {
        program->prepare();
    }
    if (apr_initialize() != APR_SUCCESS || !make_top_dir()) {
        fprintf(stderr, "%s: cannot make a temporary directory\n", name);
        return EXIT_FAILURE;
    }
    suite = suite_create(name);
    tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_SECONDS);
    program->add(tcase);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    ran = srunner_ntests_run(runner);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    remove_inside(top_dir, 1);
    apr_terminate();
    if (!ran) {
        fprintf(stderr, "%s: there is no test to run\n", name);
        return EXIT_FAILURE;
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    char name[NAME_LEN_MAX];
    const unit_program_t *program;

    if (argc != 2) {
        for (program = programs; program; program = program->next) {
            puts(name_of(name, program->file));
        }
        return argc == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    program = program_of(argv[1]);
    if (!program) {
        fprintf(stderr, "%s: there is no such program; without a name, all are listed\n", argv[1]);
        return EXIT_FAILURE;
    }
    return run(program);
}
