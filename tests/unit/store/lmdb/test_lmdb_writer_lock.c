/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/queue.h"

#include "lmdb_fixture.h"

#include "base/shared/slots_parts.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define SHORT_MS 200
#define STALL_MS 300     /* a lock that is held as long is stalled */
#define WAIT_MS 2000     /* PaymentsCommitWait */
#define PATIENT_MS 50000 /* longer than anything here lasts */
#define LONG_MS 10000    /* an immediate refusal ends long before */
#define PROCESSES 3
#define THREADS 3
#define ROUNDS 2000

typedef struct memory_t {
    /* Changed in two steps, which the lock guards. Atomic because ThreadSanitizer does not see that
     * the lock came back by way of another process. */
    _Atomic int holders;
    _Atomic int above;
    _Atomic int count;
    _Alignas(64) char lock[8192];
} memory_t;

static memory_t *memory;
static pay_store_shared_t *shared;

static void set_up(void)
{
    memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_uint_le(pay_store_shared_size(PROCESSES), sizeof(memory->lock));
    memset(memory->lock, 0xff, sizeof(memory->lock)); /* used before, as after a reload */
    shared = pay_store_shared_init(memory->lock, PROCESSES);
}

static apr_int64_t clock_ms(void)
{
    struct timespec now;

    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (apr_int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int take(int wait_ms)
{
    return pay_lmdb_writer_lock_take(shared, clock_ms() + wait_ms, STALL_MS);
}

/* Has the lock until it gets SIGUSR1; then releases it, and waits to be killed. */
static int hold(const char *dir, int ready_fd)
{
    sigset_t set;
    int number;

    (void)dir;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (!take(LONG_MS) || write(ready_fd, "", 1) != 1) {
        return 1;
    }
    sigwait(&set, &number);
    pay_lmdb_writer_lock_give(shared);
    for (;;) {
        pause();
    }
}

/* Was stopped between taking the lock and writing that down. */
static int hold_silently(const char *dir, int ready_fd)
{
    (void)dir;
    if (pay_slots_take(PAY_LMDB_WRITER_LOCK_SLOTS(shared), 0) < 0 || write(ready_fd, "", 1) != 1) {
        return 1;
    }
    for (;;) {
        pause();
    }
}

static void end(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(fixture_wait(pid), 128 + SIGKILL);
}

START_TEST(test_without_memory_it_is_always_free)
{
    ck_assert_int_eq(pay_lmdb_writer_lock_take(NULL, 0, 0), 1);
    ck_assert_int_eq(pay_lmdb_writer_lock_take(NULL, 0, 0), 1);
    ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(NULL, 0), 0);
    pay_lmdb_writer_lock_give(NULL);
}
END_TEST

START_TEST(test_free_one_is_taken_at_once)
{
    int i;

    set_up();
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(take(0), 1);
        ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(shared, STALL_MS), 0);
        pay_lmdb_writer_lock_give(shared);
    }
}
END_TEST

/* A waiter with less time than the lock may be held waits in vain, but stalls nothing. */
static void check_stalls(void)
{
    apr_int64_t began = clock_ms();

    ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(shared, LONG_MS), 0);
    ck_assert_int_eq(take(SHORT_MS), 0);
    ck_assert_int_ge(clock_ms() - began, SHORT_MS);
    while (!pay_lmdb_writer_lock_is_stalled(shared, STALL_MS)) {
        usleep(1000);
    }
    ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(shared, LONG_MS), 0);
    began = clock_ms();
    ck_assert_int_eq(take(LONG_MS), 0);
    ck_assert_int_lt(clock_ms() - began, LONG_MS / 2);
    ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(shared, STALL_MS), 1);
}

START_TEST(test_one_that_is_kept_stalls_until_it_is_given_back)
{
    pid_t pid;

    set_up();
    pid = fixture_fork(hold, NULL);
    check_stalls();
    ck_assert_int_eq(kill(pid, SIGUSR1), 0);
    while (pay_lmdb_writer_lock_is_stalled(shared, STALL_MS)) {
        sched_yield();
    }
    ck_assert_int_eq(take(LONG_MS), 1);
    pay_lmdb_writer_lock_give(shared);
    end(pid);
}
END_TEST

START_TEST(test_a_dead_process_keeps_none)
{
    pid_t pid;
    int i;

    set_up();
    for (i = 0; i < 3; i++) {
        pid = fixture_fork(hold, NULL);
        check_stalls();
        end(pid);
        ck_assert_int_eq(take(LONG_MS), 1);
        ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(shared, STALL_MS), 0);
        pay_lmdb_writer_lock_give(shared);
    }
}
END_TEST

START_TEST(test_asking_takes_it_back_from_the_dead)
{
    pid_t pid;

    set_up();
    pid = fixture_fork(hold, NULL);
    check_stalls();
    end(pid);
    while (pay_lmdb_writer_lock_is_stalled(shared, STALL_MS)) { /* in a moment */
        sched_yield();
    }
}
END_TEST

/* Nobody knows since when it is held: a process that waited in vain reports it to the others. */
START_TEST(test_one_that_is_kept_silently_stalls)
{
    apr_int64_t began;
    pid_t pid;

    set_up();
    pid = fixture_fork(hold_silently, NULL);
    ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(shared, 0), 0);
    ck_assert_int_eq(take(SHORT_MS), 0);
    ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(shared, LONG_MS), 0);
    while (!pay_lmdb_writer_lock_is_stalled(shared, STALL_MS)) {
        usleep(1000);
    }
    began = clock_ms();
    ck_assert_int_eq(take(LONG_MS), 0);
    ck_assert_int_lt(clock_ms() - began, LONG_MS / 2);
    end(pid);
    ck_assert_int_eq(take(LONG_MS), 1);
    ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(shared, STALL_MS), 0);
    pay_lmdb_writer_lock_give(shared);
}
END_TEST

/* The results of one thread of a process that waits for the lock. */
typedef struct writer_t {
    _Atomic int place; /* in the order in which they wrote; 0: not yet */
    pthread_t thread;
} writer_t;

static _Atomic int writes;

static void *write_once(void *baton)
{
    writer_t *writer = baton;

    /* However slowly the machine makes the others ready: a long wait is not given up here. */
    if (pay_lmdb_writer_lock_take(shared, clock_ms() + PATIENT_MS, PATIENT_MS)) {
        atomic_store(&writer->place, atomic_fetch_add(&writes, 1) + 1);
        pay_lmdb_writer_lock_give(shared);
    }
    return NULL;
}

/*
 * Nobody gets in between: the longest waiter is next, so none of many waits until its time is over.
 */
START_TEST(test_first_come_first_served)
{
    writer_t writers[4] = {{.place = 0}};
    int i;

    set_up();
    ck_assert_int_eq(take(0), 1);
    for (i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&writers[i].thread, NULL, write_once, &writers[i]), 0);
        while (pay_slots_waiting(PAY_LMDB_WRITER_LOCK_SLOTS(shared)) <= i) {
            usleep(100);
        }
    }
    pay_lmdb_writer_lock_give(shared);
    ck_assert_int_eq(pay_lmdb_writer_lock_take(shared, clock_ms() + PATIENT_MS, PATIENT_MS),
                     1); /* last */
    ck_assert_int_eq(atomic_load(&writes), 4);
    for (i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_join(writers[i].thread, NULL), 0);
        ck_assert_int_eq(atomic_load(&writers[i].place), i + 1);
    }
}
END_TEST

/* One that was stopped while it waited is passed over. */
static int wait_and_stop(const char *dir, int ready_fd)
{
    (void)dir;
    return write(ready_fd, "", 1) != 1 || take(LONG_MS);
}

/*
 * While it waits: a process that is stopped while it changes the queue keeps all others from
 * changing it.
 */
static void stop_in_queue(pid_t pid)
{
    pthread_mutex_t *mutex = &PAY_LMDB_WRITER_LOCK_SLOTS(shared)->mutex;
    int status;

    for (;;) {
        ck_assert_int_eq(kill(pid, SIGSTOP), 0);
        ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
        ck_assert(WIFSTOPPED(status));
        if (pthread_mutex_trylock(mutex) == 0) {
            pthread_mutex_unlock(mutex);
            return;
        }
        ck_assert_int_eq(kill(pid, SIGCONT), 0);
    }
}

START_TEST(test_stopped_in_the_queue)
{
    pid_t pid;

    set_up();
    ck_assert_int_eq(take(0), 1);
    pid = fixture_fork(wait_and_stop, NULL);
    while (pay_slots_waiting(PAY_LMDB_WRITER_LOCK_SLOTS(shared)) == 0) {
        usleep(100);
    }
    stop_in_queue(pid);
    pay_lmdb_writer_lock_give(shared);
    ck_assert_int_eq(take(LONG_MS), 1);
    pay_lmdb_writer_lock_give(shared);
    end(pid);
}
END_TEST

/* Changes by another process in between are lost. */
static void add_to(_Atomic int *sum, int more)
{
    const int before = atomic_load(sum);

    atomic_store(sum, before + more);
}

static void *work(void *baton)
{
    int i;

    (void)baton;
    for (i = 0; i < ROUNDS; i++) {
        if (!take(LONG_MS)) {
            continue;
        }
        add_to(&memory->holders, 1);
        add_to(&memory->above, atomic_load(&memory->holders) != 1);
        add_to(&memory->count, 1);
        add_to(&memory->holders, -1);
        pay_lmdb_writer_lock_give(shared);
    }
    return NULL;
}

static int work_child(const char *dir, int ready_fd)
{
    pthread_t threads[THREADS];
    int i;

    (void)dir;
    (void)!write(ready_fd, "", 1);
    for (i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0) {
            return 1;
        }
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}

START_TEST(test_one_at_a_time)
{
    pid_t pids[PROCESSES];
    int i;

    set_up();
    for (i = 0; i < PROCESSES; i++) {
        pids[i] = fixture_fork(work_child, NULL);
    }
    for (i = 0; i < PROCESSES; i++) {
        ck_assert_int_eq(fixture_wait(pids[i]), 0);
    }
    ck_assert_int_eq(memory->above, 0);
    ck_assert_int_eq(memory->count, PROCESSES * THREADS * ROUNDS);
    ck_assert_int_eq(pay_lmdb_writer_lock_is_stalled(shared, STALL_MS), 0);
}
END_TEST

/* The store that other processes write to as well, and its work while one of them is stopped. */
static void check_refused(pay_store_t *store, apr_int64_t longest_ms)
{
    apr_int64_t began = clock_ms();

    ck_assert_int_eq(fixture_put_meta(store, "refused"), PAY_STORE_EBUSY);
    ck_assert_int_lt(clock_ms() - began, longest_ms);
    ck_assert(!fixture_has(store, "refused"));
    ck_assert_int_eq(pay_store_probe(store), PAY_STORE_EBUSY);
}

/* An assertion in a thread would jump across stacks: the status is checked after the join. */
static void *put_in_queue(void *store)
{
    return (void *)(intptr_t)fixture_put_meta(store, "refused");
}

static int say(pay_rows_txn_t *txn, void *baton)
{
    (void)txn;
    return *(const int *)baton;
}

START_TEST(test_store_refuses_writes_while_another_process_keeps_the_lock)
{
    pay_store_options_t options = fixture_options();
    pthread_t threads[THREADS];
    pay_store_t *store;
    void *status;
    pid_t pid;
    int i;

    set_up();
    pid = fixture_fork(hold, NULL);
    options.shared = shared;
    options.commit_wait = apr_time_from_msec(WAIT_MS);
    store = fixture_open_with(unit_dir(), &options);
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, put_in_queue, store), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &status), 0);
        ck_assert_int_eq((int)(intptr_t)status, PAY_STORE_EBUSY);
    }
    check_refused(store, WAIT_MS / 2);
    check_refused(store, WAIT_MS / 2);
    ck_assert_int_eq(kill(pid, SIGUSR1), 0);
    while (pay_store_probe(store) == PAY_STORE_EBUSY) {
        sched_yield();
    }
    ck_assert_int_eq(fixture_put_meta(store, "after"), APR_SUCCESS);
    ck_assert(fixture_has(store, "after"));
    end(pid);
}
END_TEST

/* The lock is released with each transaction, whatever its result. */
START_TEST(test_store_releases_the_lock)
{
    static const int codes[] = {0, PAY_ROWS_EXISTS, MDB_MAP_FULL};
    pay_store_options_t options = fixture_options();
    pay_store_t *store;
    int i;

    set_up();
    options.shared = shared;
    store = fixture_open_with(unit_dir(), &options);
    for (i = 0; i < UNIT_ROWS(codes); i++) {
        (void)pay_rows_commit(store, pay_turn_all(), 0, say, (void *)&codes[i]);
        ck_assert_int_eq(take(0), 1);
        pay_lmdb_writer_lock_give(shared);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_without_memory_it_is_always_free);
    tcase_add_test(tcase, test_free_one_is_taken_at_once);
    tcase_add_test(tcase, test_one_that_is_kept_stalls_until_it_is_given_back);
    tcase_add_test(tcase, test_a_dead_process_keeps_none);
    tcase_add_test(tcase, test_asking_takes_it_back_from_the_dead);
    tcase_add_test(tcase, test_one_that_is_kept_silently_stalls);
    tcase_add_test(tcase, test_first_come_first_served);
    tcase_add_test(tcase, test_stopped_in_the_queue);
    tcase_add_test(tcase, test_one_at_a_time);
    tcase_add_test(tcase, test_store_refuses_writes_while_another_process_keeps_the_lock);
    tcase_add_test(tcase, test_store_releases_the_lock);
}

UNIT_PROGRAM(add)
