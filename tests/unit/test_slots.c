/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_slots.h"

#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS_MAX 64
#define MANY 1000000
#define PROCESSES 4
#define THREADS 4
#define ROUNDS 4000

/* What the tests' processes share: the slots, and what they count of each other. */
typedef struct shared_t {
    _Atomic int held; /* by all */
    _Atomic int held_by[PROCESSES];
    _Atomic int held_for[2]; /* account 1, account 2 */
    _Atomic int above;       /* times that a limit was passed */
    _Atomic int taken;
    _Atomic int refused;
    _Atomic int ready;
    _Alignas(64) char memory[SLOTS_MAX * 64];
} shared_t;

static shared_t *shared;

static void share(void)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    ck_assert_uint_le(pay_slots_size(SLOTS_MAX), sizeof(shared->memory));
}

/* In memory that was used before, as after a reload. */
static pay_slots_t *make_slots(int count, int process_max, int account_max)
{
    share();
    memset(shared->memory, 0xff, sizeof(shared->memory));
    return pay_slots_init(shared->memory, count, process_max, account_max);
}

static const struct {
    const char *name;
    int count;
    int process_max;
    int account_max;
    int want; /* how many one process gets for one account */
} limit_rows[] = {
    {"slots", 5, MANY, MANY, 5},
    {"process", 8, 3, MANY, 3},
    {"account", 8, MANY, 4, 4},
    {"process below account", 8, 2, 3, 2},
    {"account below process", 8, 3, 2, 2},
    {"one", 1, 1, 1, 1},
    {"no slots", 0, 1, 1, 0},
    {"none for a process", 8, 0, 3, 0},
    {"none for an account", 8, 3, 0, 0},
    {"negative", 8, -1, -1, 0},
};

START_TEST(test_limit)
{
    const char *name = limit_rows[_i].name;
    pay_slots_t *slots =
        make_slots(limit_rows[_i].count, limit_rows[_i].process_max, limit_rows[_i].account_max);
    int slot[SLOTS_MAX];
    int round, i;

    for (round = 0; round < 3; round++) {
        for (i = 0; i < limit_rows[_i].want; i++) {
            slot[i] = pay_slots_take(slots, 7);
            ck_assert_msg(slot[i] >= 0, "%s: slot %d of round %d", name, i, round);
            ck_assert_int_eq(pay_slots_count(slots), i + 1);
        }
        ck_assert_msg(pay_slots_take(slots, 7) == -1, "%s: one past the limit", name);
        ck_assert_int_eq(pay_slots_count(slots), limit_rows[_i].want);
        while (i-- > 0) {
            pay_slots_give(slots, slot[i]);
        }
        ck_assert_int_eq(pay_slots_count(slots), 0);
    }
}
END_TEST

START_TEST(test_accounts)
{
    pay_slots_t *slots = make_slots(8, 5, 2);
    int first, last;

    first = pay_slots_take(slots, 0);
    ck_assert_int_ge(first, 0);
    ck_assert_int_ge(pay_slots_take(slots, 0), 0);
    ck_assert_int_eq(pay_slots_take(slots, 0), -1);
    ck_assert_int_ge(pay_slots_take(slots, APR_UINT32_MAX), 0);
    ck_assert_int_ge(pay_slots_take(slots, APR_UINT32_MAX), 0);
    ck_assert_int_eq(pay_slots_take(slots, APR_UINT32_MAX), -1);
    last = pay_slots_take(slots, 1);
    ck_assert_int_ge(last, 0);
    ck_assert_int_eq(pay_slots_take(slots, 2), -1); /* the process has its five */
    pay_slots_give(slots, first);
    ck_assert_int_eq(pay_slots_take(slots, APR_UINT32_MAX), -1);
    ck_assert_int_eq(pay_slots_take(slots, 0), first);
    pay_slots_give(slots, last);
    ck_assert_int_eq(pay_slots_count(slots), 4);
}
END_TEST

static const struct {
    const char *name;
    int count;
    int process_max;
    int account_max;
    int waiting; /* how many that wait one process gets for one account */
    int others;  /* and then of the others */
} waiting_rows[] = {
    {"slots", 8, MANY, MANY, 6, 2},
    {"an odd number", 5, MANY, MANY, 4, 1},
    {"few", 3, MANY, MANY, 2, 1},
    {"two", 2, MANY, MANY, 1, 1},
    {"process", 8, 6, MANY, 5, 1},
    {"account, each of its own", 8, MANY, 2, 2, 2},
    {"one", 1, 1, 1, 1, 0},
    {"one for a process", 8, 1, MANY, 1, 0},
    {"none for a process", 8, 0, 3, 0, 0},
};

/* Whoever waits leaves room for others, but not the other way round. */
START_TEST(test_waiting)
{
    const char *name = waiting_rows[_i].name;
    pay_slots_t *slots = make_slots(waiting_rows[_i].count, waiting_rows[_i].process_max,
                                    waiting_rows[_i].account_max);
    int first = -1;
    int i;

    for (i = 0; i < waiting_rows[_i].waiting; i++) {
        first = pay_slots_take_waiting(slots, 7);
        ck_assert_msg(first >= 0, "%s: %d", name, i);
    }
    ck_assert_msg(pay_slots_take_waiting(slots, 7) == -1, "%s: one too many waits", name);
    for (i = 0; i < waiting_rows[_i].others; i++) {
        ck_assert_msg(pay_slots_take(slots, 7) >= 0, "%s: no room for others, %d", name, i);
    }
    ck_assert_msg(pay_slots_take(slots, 7) == -1, "%s: one too many", name);
    pay_slots_give(slots, first);
    ck_assert_msg(first == -1 || pay_slots_take_waiting(slots, 7) == first, "%s: again", name);
}
END_TEST

START_TEST(test_give_nothing)
{
    pay_slots_t *slots = make_slots(2, 2, 2);

    pay_slots_give(slots, -1);
    pay_slots_give(slots, 1);
    ck_assert_int_eq(pay_slots_count(slots), 0);
    ck_assert_int_ge(pay_slots_take(slots, 1), 0);
    pay_slots_give(slots, -1);
    ck_assert_int_eq(pay_slots_count(slots), 1);
}
END_TEST

/* A process that takes `count` slots, says how many it got, and then holds them. */
static pid_t start_holder(pay_slots_t *slots, int count, apr_uint32_t account)
{
    pid_t child;

    atomic_store(&shared->ready, 0);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (count-- > 0) {
            if (pay_slots_take(slots, account) >= 0) {
                atomic_fetch_add(&shared->taken, 1);
            }
        }
        atomic_store(&shared->ready, 1);
        for (;;) {
            pause();
        }
    }
    ck_assert_int_gt(child, 0);
    while (!atomic_load(&shared->ready)) {
        usleep(1000);
    }
    return child;
}

static void end_holder(pid_t child, int reap)
{
    siginfo_t info;

    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    if (reap) {
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
    }
}

static const struct {
    const char *name;
    int count;
    int account_max;
    int reap; /* 0: the dead one is still a zombie */
} dead_rows[] = {
    {"all slots", 4, MANY, 1},
    {"all of the account", 16, 4, 1},
    {"all slots, zombie", 4, MANY, 0},
    {"all of the account, zombie", 16, 4, 0},
};

START_TEST(test_dead)
{
    const char *name = dead_rows[_i].name;
    pay_slots_t *slots = make_slots(dead_rows[_i].count, 4, dead_rows[_i].account_max);
    int slot[4];
    pid_t child;
    int i;

    child = start_holder(slots, 5, 1);
    ck_assert_msg(atomic_load(&shared->taken) == 4, "%s: %d", name, atomic_load(&shared->taken));
    ck_assert_msg(pay_slots_take(slots, 1) == -1, "%s: taken from the living", name);
    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_msg(pay_slots_take(slots, 1) == -1, "%s: taken from one who stands still", name);

    end_holder(child, dead_rows[_i].reap);
    ck_assert_int_eq(pay_slots_count(slots), 4);
    for (i = 0; i < 4; i++) {
        slot[i] = pay_slots_take(slots, 1);
        ck_assert_msg(slot[i] >= 0, "%s: slot %d", name, i);
    }
    ck_assert_msg(pay_slots_take(slots, 1) == -1, "%s: one past the limit", name);
    for (i = 0; i < 4; i++) {
        pay_slots_give(slots, slot[i]);
    }
    ck_assert_int_eq(pay_slots_count(slots), 0);
    if (!dead_rows[_i].reap) {
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
    }
}
END_TEST

/* One dead among the living: only its slots come back. */
START_TEST(test_dead_among_living)
{
    pay_slots_t *slots = make_slots(6, 2, MANY);
    pid_t child[3];
    int i;

    for (i = 0; i < 3; i++) {
        child[i] = start_holder(slots, 2, 1);
    }
    ck_assert_int_eq(pay_slots_take(slots, 1), -1);
    end_holder(child[1], 1);
    ck_assert_int_ge(pay_slots_take(slots, 1), 0);
    ck_assert_int_ge(pay_slots_take(slots, 1), 0);
    ck_assert_int_eq(pay_slots_take(slots, 1), -1);
    ck_assert_int_eq(pay_slots_count(slots), 6);
    end_holder(child[0], 1);
    end_holder(child[2], 1);
}
END_TEST

/* A child must not give back what its parent holds. */
START_TEST(test_fork)
{
    pay_slots_t *slots = make_slots(2, 1, MANY);
    int slot = pay_slots_take(slots, 1);
    int status;
    pid_t child;

    ck_assert_int_ge(slot, 0);
    child = fork();
    if (child == 0) {
        pay_slots_give(slots, slot);
        _exit(pay_slots_count(slots) == 1 && pay_slots_take(slots, 1) >= 0 ? 0 : 1);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    pay_slots_give(slots, slot);
    ck_assert_int_ge(pay_slots_take(slots, 1), 0);
}
END_TEST

/* What one thread of a storm works with. */
typedef struct worker_t {
    pay_slots_t *slots;
    int process;
    int process_max;
    int account_max;
    int crowded; /* 1: there are too many threads for the limits */
} worker_t;

/* 1 when the number that holds at this instant is above its limit. */
static int enter(_Atomic int *held, int limit)
{
    return atomic_fetch_add(held, 1) + 1 > limit;
}

/* A slot is counted while it is surely held: after take returned, until before give is called. */
static void *storm(void *arg)
{
    const worker_t *worker = arg;
    int i, above, slot;

    for (i = 0; i < ROUNDS; i++) {
        int account = i % 2;

        slot = pay_slots_take(worker->slots, (apr_uint32_t)account + 1);
        if (slot < 0) {
            atomic_fetch_add(&shared->refused, 1);
            continue;
        }
        atomic_fetch_add(&shared->taken, 1);
        above = enter(&shared->held, SLOTS_MAX);
        above += enter(&shared->held_by[worker->process], worker->process_max);
        above += enter(&shared->held_for[account], worker->account_max);
        if (above) {
            atomic_fetch_add(&shared->above, above);
        }
        if (i % 8 == 0) {
            sched_yield();
        }
        /* The first to hold wait for one who finds no room: without a crowd nothing is tested. */
        while (worker->crowded && !atomic_load(&shared->refused)) {
            sched_yield();
        }
        atomic_fetch_sub(&shared->held, 1);
        atomic_fetch_sub(&shared->held_by[worker->process], 1);
        atomic_fetch_sub(&shared->held_for[account], 1);
        pay_slots_give(worker->slots, slot);
    }
    return NULL;
}

static int run_threads(worker_t worker)
{
    pthread_t threads[THREADS];
    int i;

    for (i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, storm, &worker)) {
            return 1;
        }
    }
    for (i = 0; i < THREADS; i++) {
        if (pthread_join(threads[i], NULL)) {
            return 1;
        }
    }
    return 0;
}

static const struct {
    const char *name;
    int count;
    int process_max;
    int account_max;
    int crowded;
} storm_rows[] = {
    {"room for all", PROCESSES *THREADS, THREADS, PROCESSES *THREADS, 0},
    {"slots are few", 2, MANY, MANY, 1},
    {"one for a process", SLOTS_MAX, 1, MANY, 1},
    {"two for a process", SLOTS_MAX, 2, MANY, 1},
    {"one for an account", SLOTS_MAX, MANY, 1, 1},
    {"three for an account", SLOTS_MAX, MANY, 3, 1},
};

START_TEST(test_storm)
{
    const char *name = storm_rows[_i].name;
    worker_t worker = {NULL, 0, storm_rows[_i].process_max, storm_rows[_i].account_max,
                       storm_rows[_i].crowded};
    pid_t child[PROCESSES];
    int i, status;

    worker.slots = make_slots(storm_rows[_i].count, worker.process_max, worker.account_max);
    for (i = 0; i < PROCESSES; i++) {
        worker.process = i;
        child[i] = fork();
        if (child[i] == 0) {
            _exit(run_threads(worker));
        }
        ck_assert_int_gt(child[i], 0);
    }
    for (i = 0; i < PROCESSES; i++) {
        ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_msg(atomic_load(&shared->above) == 0, "%s: passed %d times", name,
                  atomic_load(&shared->above));
    ck_assert_msg(pay_slots_count(worker.slots) == 0, "%s: %d left", name,
                  pay_slots_count(worker.slots));
    ck_assert_int_eq(atomic_load(&shared->taken) + atomic_load(&shared->refused),
                     PROCESSES * THREADS * ROUNDS);
    ck_assert_int_gt(atomic_load(&shared->taken), 0);
    ck_assert_msg(!atomic_load(&shared->refused) == !storm_rows[_i].crowded, "%s: refused %d times",
                  name, atomic_load(&shared->refused));
}
END_TEST

/* Killed at any instant, in the middle of taking and giving: nothing is lost for good. */
START_TEST(test_killed_in_a_storm)
{
    worker_t worker = {NULL, 0, MANY, MANY, 0};
    int slot[4];
    int round, i, before;
    pid_t child;

    worker.slots = make_slots(4, MANY, 4);
    for (round = 0; round < 50; round++) {
        before = atomic_load(&shared->taken);
        child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;) {
                (void)run_threads(worker);
            }
        }
        ck_assert_int_gt(child, 0);
        while (atomic_load(&shared->taken) < before + 100 + round) {
            sched_yield();
        }
        end_holder(child, 1);
        for (i = 0; i < 4; i++) {
            slot[i] = pay_slots_take(worker.slots, 1);
            ck_assert_msg(slot[i] >= 0, "round %d: slot %d", round, i);
        }
        ck_assert_int_eq(pay_slots_take(worker.slots, 1), -1);
        for (i = 0; i < 4; i++) {
            pay_slots_give(worker.slots, slot[i]);
        }
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_limit, 0, UNIT_ROWS(limit_rows));
    tcase_add_test(tcase, test_accounts);
    tcase_add_loop_test(tcase, test_waiting, 0, UNIT_ROWS(waiting_rows));
    tcase_add_test(tcase, test_give_nothing);
    tcase_add_loop_test(tcase, test_dead, 0, UNIT_ROWS(dead_rows));
    tcase_add_test(tcase, test_dead_among_living);
    tcase_add_test(tcase, test_fork);
    tcase_add_loop_test(tcase, test_storm, 0, UNIT_ROWS(storm_rows));
    tcase_add_test(tcase, test_killed_in_a_storm);
}

int main(void)
{
    return unit_run("slots", add);
}
