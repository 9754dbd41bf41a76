/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/slots.h"

#include "base/shared/clock.h"
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
#define ROUNDS (4000 / UNIT_SLOWER)
#define LONG_MS 50000 /* a wait for something that happens */
#define SHORT_MS 100  /* a wait for something that does not */

/* Shared by the tests' processes: the slots, and their counts of each other. */
typedef struct shared_t {
    _Atomic int held; /* by all */
    _Atomic int held_by[PROCESSES];
    _Atomic int above; /* times that a limit was exceeded */
    _Atomic int taken;
    _Atomic int refused;
    _Atomic int ready;
    _Alignas(64) char memory[64 * 1024];
} shared_t;

static shared_t *shared;

/* In memory that was used before, as after a reload. */
static pay_slots_t *make_slots(int count, int process_max, int line)
{
    const pay_slots_limits_t limits = {count, process_max, line, (line + 3) / 4};

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    ck_assert_uint_le(pay_slots_size(&limits), sizeof(shared->memory));
    memset(shared->memory, 0xff, sizeof(shared->memory));
    return pay_slots_init(shared->memory, &limits);
}

static apr_int64_t in_ms(apr_int64_t ms)
{
    return pay_clock_ms() + ms;
}

/* How many of `count` calls of the account get a slot. */
static int take_all(pay_slots_t *slots, apr_uint32_t account, int count)
{
    int got = 0;

    while (count-- > 0) {
        got += pay_slots_take(slots, account) >= 0;
    }
    return got;
}

static const struct {
    const char *name;
    int count;
    int process_max;
    int line;
    int want; /* how many one process gets for one account */
} limit_rows[] = {
    {"slots", 5, MANY, 0, 5},  {"slots, with a line", 5, MANY, 3, 5},
    {"process", 8, 3, 0, 3},   {"one", 1, 1, 0, 1},
    {"no slots", 0, 1, 1, 0},  {"none for a process", 8, 0, 0, 0},
    {"negative", 8, -1, 0, 0},
};

/* An account that is alone gets everything. */
START_TEST(test_limit)
{
    const char *name = limit_rows[_i].name;
    pay_slots_t *slots =
        make_slots(limit_rows[_i].count, limit_rows[_i].process_max, limit_rows[_i].line);
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
        ck_assert_int_eq(pay_slots_waiting(slots), 0);
        while (i-- > 0) {
            pay_slots_give(slots, slot[i]);
        }
        ck_assert_int_eq(pay_slots_count(slots), 0);
    }
}
END_TEST

static const struct {
    const char *name;
    int count;
    int process_max;
    int first;  /* how many the first account has */
    int second; /* how many then the second gets */
    int again;  /* and the first after that, once it released one of its own */
} fair_rows[] = {
    {"the first has left a quarter", 8, MANY, 6, 2, 0},
    {"the first has more than its share", 8, MANY, 5, 3, 0},
    {"both have their share", 8, MANY, 4, 4, 1},
    {"odd", 9, MANY, 6, 3, 0},
    {"of a process", 64, 8, 6, 2, 0},
    {"of a process, both their share", 64, 8, 4, 4, 1},
    {"two", 2, MANY, 1, 1, 1},
};

/* While a quarter of all is free, or up to an equal share of all. */
START_TEST(test_fair)
{
    const char *name = fair_rows[_i].name;
    pay_slots_t *slots = make_slots(fair_rows[_i].count, fair_rows[_i].process_max, 0);
    const int one = pay_slots_take(slots, 1);

    ck_assert_int_ge(one, 0);
    ck_assert_msg(take_all(slots, 1, fair_rows[_i].first - 1) == fair_rows[_i].first - 1, "%s",
                  name);
    ck_assert_msg(take_all(slots, 2, SLOTS_MAX) == fair_rows[_i].second, "%s: second", name);
    pay_slots_give(slots, one);
    ck_assert_msg(take_all(slots, 1, SLOTS_MAX) == fair_rows[_i].again, "%s: again", name);
}
END_TEST

/* The more accounts are at work, the smaller is each one's part of the last quarter; but an account
 * that has nothing gets one. */
START_TEST(test_many_accounts)
{
    pay_slots_t *slots = make_slots(16, MANY, 0);
    apr_uint32_t account;

    for (account = 0; account < 8; account++) {
        ck_assert_int_eq(take_all(slots, account * 4194304, 1), 1);
    }
    ck_assert_int_eq(take_all(slots, 0, SLOTS_MAX), 4); /* 12 taken */
    ck_assert_int_eq(take_all(slots, 4194304, SLOTS_MAX), 1);
    ck_assert_int_eq(take_all(slots, 4194304, SLOTS_MAX), 0);
    ck_assert_int_eq(take_all(slots, APR_UINT32_MAX, SLOTS_MAX), 2);
    ck_assert_int_eq(take_all(slots, 0, SLOTS_MAX), 0);
    ck_assert_int_eq(take_all(slots, APR_UINT32_MAX - 1, SLOTS_MAX), 1);
    ck_assert_int_eq(pay_slots_count(slots), 16);
}
END_TEST

START_TEST(test_give_nothing)
{
    pay_slots_t *slots = make_slots(2, 2, 0);

    pay_slots_give(slots, -1);
    pay_slots_give(slots, 1);
    ck_assert_int_eq(pay_slots_count(slots), 0);
    ck_assert_int_ge(pay_slots_take(slots, 1), 0);
    pay_slots_give(slots, -1);
    ck_assert_int_eq(pay_slots_count(slots), 1);
}
END_TEST

/* A process that takes `count` slots, reports how many it got, and then holds them. */
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

/* ---- waiting */

/* A waiter in a thread of its own. */
typedef struct waiter_t {
    pay_slots_t *slots;
    apr_uint32_t account;
    apr_uint64_t lane;
    apr_int64_t wait_ms;
    int slot;
    _Atomic int over;
    pthread_t thread;
} waiter_t;

static void *wait_in_line(void *arg)
{
    waiter_t *waiter = arg;

    waiter->slot =
        pay_slots_take_until(waiter->slots, waiter->account, waiter->lane, in_ms(waiter->wait_ms));
    atomic_store(&waiter->over, 1);
    return NULL;
}

/* Returns once it is in the queue. */
static void start_waiter(waiter_t *waiter, pay_slots_t *slots, apr_uint32_t account)
{
    const int before = pay_slots_waiting(slots);

    *waiter = (waiter_t){.slots = slots, .account = account, .wait_ms = LONG_MS, .slot = -2};
    ck_assert_int_eq(pthread_create(&waiter->thread, NULL, wait_in_line, waiter), 0);
    while (pay_slots_waiting(slots) == before && !atomic_load(&waiter->over)) {
        usleep(100);
    }
    ck_assert_int_eq(pay_slots_waiting(slots), before + 1);
}

static int end_waiter(waiter_t *waiter)
{
    ck_assert_int_eq(pthread_join(waiter->thread, NULL), 0);
    return waiter->slot;
}

START_TEST(test_wait)
{
    pay_slots_t *slots = make_slots(1, 1, 4);
    int slot = pay_slots_take(slots, 1);
    const apr_int64_t began_ms = pay_clock_ms();
    waiter_t waiter;

    ck_assert_int_eq(pay_slots_take_until(slots, 1, 0, in_ms(SHORT_MS)), -1);
    ck_assert_int_ge(pay_clock_ms() - began_ms, SHORT_MS);
    ck_assert_int_eq(pay_slots_waiting(slots), 0);
    start_waiter(&waiter, slots, 1);
    ck_assert_int_eq(pay_slots_count(slots), 1);
    pay_slots_give(slots, slot);
    ck_assert_int_ge(end_waiter(&waiter), 0);
    ck_assert_int_eq(pay_slots_count(slots), 1);
    pay_slots_give(slots, waiter.slot);
    ck_assert_int_eq(pay_slots_count(slots) + pay_slots_waiting(slots), 0);
}
END_TEST

/* Within one account the first to come is the first to be served, and no other gets in between. */
START_TEST(test_wait_in_order)
{
    pay_slots_t *slots = make_slots(1, 1, 16);
    int slot = pay_slots_take(slots, 1);
    waiter_t waiter[4];
    int i;

    for (i = 0; i < 4; i++) {
        start_waiter(&waiter[i], slots, 1);
    }
    for (i = 0; i < 4; i++) {
        pay_slots_give(slots, slot);
        ck_assert_int_eq(pay_slots_take(slots, 1), -1);
        slot = end_waiter(&waiter[i]);
        ck_assert_msg(slot >= 0, "waiter %d", i);
        ck_assert_int_eq(pay_slots_waiting(slots), 3 - i);
    }
}
END_TEST

static const struct {
    const char *name;
    int count;
    int process_max;
} second_rows[] = {
    {"of all", 8, MANY},
    {"of a process", 64, 8},
};

/* One account has everything, and more of it waits: the second one is still next. */
START_TEST(test_second_account)
{
    const char *name = second_rows[_i].name;
    pay_slots_t *slots = make_slots(second_rows[_i].count, second_rows[_i].process_max, 16);
    waiter_t first[3], second;
    int slot[8];
    int i;

    for (i = 0; i < 8; i++) {
        slot[i] = pay_slots_take(slots, 1);
        ck_assert_msg(slot[i] >= 0, "%s: %d", name, i);
    }
    for (i = 0; i < 3; i++) {
        start_waiter(&first[i], slots, 1);
    }
    start_waiter(&second, slots, 2);
    pay_slots_give(slots, slot[0]);
    ck_assert_msg(end_waiter(&second) >= 0, "%s", name);
    ck_assert_int_eq(pay_slots_waiting(slots), 3);
    for (i = 1; i < 8; i++) {
        pay_slots_give(slots, slot[i]);
    }
    for (i = 0; i < 3; i++) {
        ck_assert_msg(end_waiter(&first[i]) >= 0, "%s: %d waits on", name, i);
    }
}
END_TEST

/* One account cannot fill the queue: the last places are for others, who get slots in turn. */
START_TEST(test_line)
{
    pay_slots_t *slots = make_slots(8, MANY, 8);
    waiter_t first[4], second[4];
    int i;

    ck_assert_int_eq(take_all(slots, 1, 8), 8);
    for (i = 0; i < 4; i++) {
        start_waiter(&first[i], slots, 1);
    }
    ck_assert_int_eq(pay_slots_take_until(slots, 1, 0, in_ms(LONG_MS)), -1); /* at once */
    for (i = 0; i < 4; i++) {
        start_waiter(&second[i], slots, 2);
    }
    ck_assert_int_eq(pay_slots_take_until(slots, 2, 0, in_ms(LONG_MS)), -1);
    ck_assert_int_eq(pay_slots_take_until(slots, 3, 0, in_ms(LONG_MS)), -1);
    ck_assert_int_eq(pay_slots_waiting(slots), 8);
    for (i = 0; i < 8; i++) {
        pay_slots_give(slots, i);
    }
    for (i = 0; i < 4; i++) {
        ck_assert_int_ge(end_waiter(&second[i]), 0);
        pay_slots_give(slots, second[i].slot);
    }
    for (i = 0; i < 4; i++) {
        ck_assert_int_ge(end_waiter(&first[i]), 0);
    }
}
END_TEST

/* Those whose process is full wait while others have slots: they and new work of their account,
 * which would get one at once elsewhere, still leave the last places to others. */
START_TEST(test_line_while_slots_are_free)
{
    pay_slots_t *slots = make_slots(8, 2, 8);
    waiter_t first[10], second;
    pid_t child[3];
    int i;

    ck_assert_int_eq(take_all(slots, 1, 2), 2);
    for (i = 0; i < 10; i++) {
        start_waiter(&first[i], slots, 1);
    }
    ck_assert_int_eq(pay_slots_take_until(slots, 1, 0, in_ms(LONG_MS)), -1);
    child[0] = start_holder(slots, 3, 1);
    ck_assert_int_eq(atomic_load(&shared->taken), 2);
    child[1] = start_holder(slots, 1, 1);
    ck_assert_int_eq(atomic_load(&shared->taken), 2);
    child[2] = start_holder(slots, 1, 2);
    ck_assert_int_eq(atomic_load(&shared->taken), 3);
    start_waiter(&second, slots, 2);
    pay_slots_give(slots, 0);
    ck_assert_int_ge(end_waiter(&second), 0);
    pay_slots_give(slots, second.slot);
    for (i = 0; i < 3; i++) {
        end_holder(child[i], 1);
    }
    for (i = 0; i < 10; i++) {
        ck_assert_int_ge(end_waiter(&first[i]), 0);
        pay_slots_give(slots, first[i].slot);
    }
}
END_TEST

/* Without a queue nothing waits, for any deadline. */
START_TEST(test_no_line)
{
    pay_slots_t *slots = make_slots(1, 1, 0);

    ck_assert_int_ge(pay_slots_take_until(slots, 1, 0, in_ms(LONG_MS)), 0);
    ck_assert_int_eq(pay_slots_take_until(slots, 1, 0, in_ms(LONG_MS)), -1);
}
END_TEST

static void *go_again(void *arg)
{
    waiter_t *waiter = arg;

    waiter->slot = pay_slots_again(waiter->slots, waiter->slot, in_ms(waiter->wait_ms));
    atomic_store(&waiter->over, 1);
    return NULL;
}

/* Work whose lane is not available waits without a slot, in its old place. */
START_TEST(test_again)
{
    enum { LANE = 1, OTHER_LANE };
    pay_slots_t *slots = make_slots(2, MANY, 8);
    waiter_t waiter = {.slots = slots, .wait_ms = LONG_MS};
    int has, other;

    has = pay_slots_take_until(slots, 1, LANE, in_ms(LONG_MS));
    waiter.slot = pay_slots_take_until(slots, 1, LANE, in_ms(LONG_MS));
    ck_assert_int_eq(pay_slots_count(slots), 2);
    ck_assert_int_eq(pthread_create(&waiter.thread, NULL, go_again, &waiter), 0);
    while (pay_slots_waiting(slots) == 0) {
        usleep(100);
    }
    other = pay_slots_take_until(slots, 1, OTHER_LANE, in_ms(LONG_MS));
    ck_assert_int_ge(other, 0);
    pay_slots_give(slots, other);
    other = pay_slots_take_until(slots, 2, OTHER_LANE, in_ms(LONG_MS));
    ck_assert_int_eq(pay_slots_take_until(slots, 1, LANE, in_ms(SHORT_MS)), -1); /* not before it */
    pay_slots_give(slots, has);
    ck_assert_int_ge(end_waiter(&waiter), 0);
    pay_slots_give(slots, waiter.slot);
    pay_slots_give(slots, other);
    ck_assert_int_eq(pay_slots_count(slots) + pay_slots_waiting(slots), 0);
}
END_TEST

/* The lane's resource was released by work without a slot: the waiter looks by itself. */
START_TEST(test_again_without_a_word)
{
    pay_slots_t *slots = make_slots(2, MANY, 8);
    int slot = pay_slots_take_until(slots, 1, 1, in_ms(LONG_MS));

    slot = pay_slots_again(slots, slot, in_ms(LONG_MS));
    ck_assert_int_ge(slot, 0);
    ck_assert_int_eq(pay_slots_again(slots, slot, in_ms(0)), -1);
    ck_assert_int_eq(pay_slots_count(slots) + pay_slots_waiting(slots), 0);
}
END_TEST

/* In a process that ends nothing goes on waiting. */
START_TEST(test_close)
{
    pay_slots_t *slots = make_slots(1, 1, 4);
    int status;
    pid_t child;

    ck_assert_int_ge(pay_slots_take(slots, 1), 0);
    child = fork();
    if (child == 0) {
        waiter_t waiter;

        start_waiter(&waiter, slots, 1);
        pay_slots_close(slots);
        _exit(end_waiter(&waiter) == -1 && pay_slots_take_until(slots, 1, 0, in_ms(LONG_MS)) == -1
                  ? 0
                  : 1);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- processes */

/* Dead processes are searched now and then: soon, if not at once. */
static int take_soon(pay_slots_t *slots)
{
    const apr_int64_t until_ms = in_ms(LONG_MS);
    int slot = -1;

    while (slot < 0 && pay_clock_ms() < until_ms) {
        slot = pay_slots_take(slots, 1);
    }
    return slot;
}

START_TEST(test_dead)
{
    pay_slots_t *slots = make_slots(4, 4, 4);
    int slot[4];
    pid_t child;
    int i;

    child = start_holder(slots, 5, 1);
    ck_assert_int_eq(atomic_load(&shared->taken), 4);
    ck_assert_msg(pay_slots_take(slots, 1) == -1, "taken from the living");
    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_msg(pay_slots_take_until(slots, 1, 0, in_ms(SHORT_MS)) == -1,
                  "taken from one who stands still");
    end_holder(child, _i);
    ck_assert_int_eq(pay_slots_count(slots), 4);
    for (i = 0; i < 4; i++) {
        slot[i] = take_soon(slots);
        ck_assert_msg(slot[i] >= 0, "slot %d", i);
    }
    ck_assert_int_eq(pay_slots_take(slots, 1), -1);
    for (i = 0; i < 4; i++) {
        pay_slots_give(slots, slot[i]);
    }
    ck_assert_int_eq(pay_slots_count(slots), 0);
    if (!_i) {
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
    }
}
END_TEST

/* A waiter gets the slot of a killed process. */
START_TEST(test_dead_while_waiting)
{
    pay_slots_t *slots = make_slots(1, 1, 4);
    waiter_t waiter;
    pid_t child;

    child = start_holder(slots, 1, 1);
    start_waiter(&waiter, slots, 1);
    end_holder(child, 1);
    ck_assert_int_ge(end_waiter(&waiter), 0);
}
END_TEST

/* A process that was killed while it waited leaves no place taken, and delays nothing. */
START_TEST(test_dead_in_line)
{
    pay_slots_t *slots = make_slots(1, 1, 1);
    int slot = pay_slots_take(slots, 1);
    waiter_t waiter;
    pid_t child;

    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)pay_slots_take_until(slots, 2, 0, in_ms(LONG_MS));
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    while (pay_slots_waiting(slots) == 0) {
        usleep(1000);
    }
    end_holder(child, 1);
    while (pay_slots_waiting(slots) > 0) {
        ck_assert_int_eq(pay_slots_take(slots, 3), -1);
    }
    start_waiter(&waiter, slots, 2);
    pay_slots_give(slots, slot);
    ck_assert_int_ge(end_waiter(&waiter), 0);
}
END_TEST

/* One dead among the living: only its slots come back. */
START_TEST(test_dead_among_living)
{
    pay_slots_t *slots = make_slots(6, 2, 0);
    pid_t child[3];
    int i;

    for (i = 0; i < 3; i++) {
        child[i] = start_holder(slots, 2, 1);
    }
    ck_assert_int_eq(pay_slots_take(slots, 1), -1);
    end_holder(child[1], 1);
    ck_assert_int_ge(take_soon(slots), 0);
    ck_assert_int_ge(take_soon(slots), 0);
    ck_assert_int_eq(pay_slots_take(slots, 1), -1);
    ck_assert_int_eq(pay_slots_count(slots), 6);
    end_holder(child[0], 1);
    end_holder(child[2], 1);
}
END_TEST

/* A child must not release its parent's slots. */
START_TEST(test_fork)
{
    pay_slots_t *slots = make_slots(2, 1, 0);
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

/* The state of one thread of a storm. */
typedef struct worker_t {
    pay_slots_t *slots;
    int process;
    int count;
    int process_max;
    int wait_ms;
    int crowded; /* 1: there are too many threads for the limits */
} worker_t;

/* 1 if the number of holders at this instant is above its limit. */
static int enter(_Atomic int *held, int limit)
{
    return atomic_fetch_add(held, 1) + 1 > limit;
}

/*
 * A slot is counted while it is certainly held: after take returned, until before give is called.
 */
static void *storm(void *arg)
{
    const worker_t *worker = arg;
    int i, above, slot;

    for (i = 0; i < ROUNDS; i++) {
        slot = pay_slots_take_until(worker->slots, (apr_uint32_t)(i % 2), 0,
                                    worker->wait_ms ? in_ms(worker->wait_ms) : 0);
        if (slot < 0) {
            atomic_fetch_add(&shared->refused, 1);
            continue;
        }
        atomic_fetch_add(&shared->taken, 1);
        above = enter(&shared->held, worker->count);
        above += enter(&shared->held_by[worker->process], worker->process_max);
        if (above) {
            atomic_fetch_add(&shared->above, above);
        }
        if (i % 8 == 0) {
            sched_yield();
        }
        /* The first holders wait until one finds no room: without a crowd nothing is tested. */
        while (worker->crowded && !atomic_load(&shared->refused)) {
            sched_yield();
        }
        atomic_fetch_sub(&shared->held, 1);
        atomic_fetch_sub(&shared->held_by[worker->process], 1);
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
    int line;
    int wait_ms;
    int crowded;
} storm_rows[] = {
    {"room for all", PROCESSES *THREADS * 2, THREADS * 2, 0, 0, 0},
    {"slots are few", 2, MANY, 0, 0, 1},
    {"one for a process", SLOTS_MAX, 1, 0, 0, 1},
    {"two for a process", SLOTS_MAX, 2, 0, 0, 1},
    {"slots are few, all wait", 2, MANY, 64, LONG_MS, 0},
    {"one for a process, all wait", SLOTS_MAX, 1, 64, LONG_MS, 0},
};

START_TEST(test_storm)
{
    const char *name = storm_rows[_i].name;
    worker_t worker = {NULL,
                       0,
                       storm_rows[_i].count,
                       storm_rows[_i].process_max,
                       storm_rows[_i].wait_ms,
                       storm_rows[_i].crowded};
    pid_t child[PROCESSES];
    int i, status;

    worker.slots = make_slots(worker.count, worker.process_max, storm_rows[_i].line);
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
    ck_assert_msg(pay_slots_waiting(worker.slots) == 0, "%s: %d in line", name,
                  pay_slots_waiting(worker.slots));
    ck_assert_int_eq(atomic_load(&shared->taken) + atomic_load(&shared->refused),
                     PROCESSES * THREADS * ROUNDS);
    ck_assert_int_gt(atomic_load(&shared->taken), 0);
    ck_assert_msg(!atomic_load(&shared->refused) == !storm_rows[_i].crowded, "%s: refused %d times",
                  name, atomic_load(&shared->refused));
}
END_TEST

/*
 * Killed at any instant, in the middle of taking, waiting and releasing: nothing is lost for good.
 */
START_TEST(test_killed_in_a_storm)
{
    worker_t worker = {NULL, 0, MANY, MANY, _i ? LONG_MS : 0, 0};
    int slot[4];
    int round, i, before;
    pid_t child;

    worker.slots = make_slots(_i ? 2 : 4, MANY, 8);
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
        for (i = 0; i < (_i ? 2 : 4); i++) {
            slot[i] = take_soon(worker.slots);
            ck_assert_msg(slot[i] >= 0, "round %d: slot %d", round, i);
        }
        ck_assert_int_eq(pay_slots_take(worker.slots, 1), -1);
        while (i-- > 0) {
            pay_slots_give(worker.slots, slot[i]);
        }
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_limit, 0, UNIT_ROWS(limit_rows));
    tcase_add_loop_test(tcase, test_fair, 0, UNIT_ROWS(fair_rows));
    tcase_add_test(tcase, test_many_accounts);
    tcase_add_test(tcase, test_give_nothing);
    tcase_add_test(tcase, test_wait);
    tcase_add_test(tcase, test_wait_in_order);
    tcase_add_loop_test(tcase, test_second_account, 0, UNIT_ROWS(second_rows));
    tcase_add_test(tcase, test_line);
    tcase_add_test(tcase, test_line_while_slots_are_free);
    tcase_add_test(tcase, test_no_line);
    tcase_add_test(tcase, test_again);
    tcase_add_test(tcase, test_again_without_a_word);
    tcase_add_test(tcase, test_close);
    tcase_add_loop_test(tcase, test_dead, 0, 2); /* 0: still a zombie */
    tcase_add_test(tcase, test_dead_while_waiting);
    tcase_add_test(tcase, test_dead_in_line);
    tcase_add_test(tcase, test_dead_among_living);
    tcase_add_test(tcase, test_fork);
    tcase_add_loop_test(tcase, test_storm, 0, UNIT_ROWS(storm_rows));
    tcase_add_loop_test(tcase, test_killed_in_a_storm, 0, 2); /* 1: its threads wait */
}

UNIT_PROGRAM(add)
