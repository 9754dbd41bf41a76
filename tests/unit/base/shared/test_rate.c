/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/rate.h"

#include "unit.h"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SEC APR_TIME_C(1000000)
#define HOUR (3600 * SEC)
#define YEARS (APR_TIME_C(1) << 46) /* 2.2 of them */
#define SETS 1024
#define MANY 40000
#define PROCESSES 4
#define THREADS 4
#define KEYS 24                      /* three times what one set has room for */
#define ROUNDS (48000 / UNIT_SLOWER) /* of each thread: longer than it runs at a stretch */
#define ALL (PROCESSES * THREADS * ROUNDS)
#define BURST 1000
#define COST_ROUNDS (100000 / UNIT_SLOWER)
#define COST_CHUNK (COST_ROUNDS / 20) /* shorter than a process runs at a stretch beside others */
#define COST_TRIES 8
#define COST_EXCHANGES 50
#define REQUEST_LEN 400
#define ANSWER_LEN 600
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COST_SLOWER 10 /* they slow down this program, and not the kernel */
#else
#define COST_SLOWER 1
#endif

static const unsigned char secret[PAY_RATE_SECRET_LEN] = "sixteen bytes...";

/* In memory that begins at no particular address. */
static pay_rate_table_t *make_table(apr_size_t sets)
{
    char *memory = apr_pcalloc(unit_pool, pay_rate_size(sets) + 1);

    return pay_rate_init(memory + 1, sets, secret, 0);
}

static int take(pay_rate_table_t *table, const pay_rate_limit_t *limit, apr_uint32_t key,
                apr_time_t now)
{
    apr_interval_time_t wait = -1;
    int taken = pay_rate_take(&wait, table, limit, &key, sizeof(key), now);

    ck_assert_msg(taken ? wait == 0 : wait >= 1, "wait is %" APR_INT64_T_FMT, wait);
    return taken;
}

/* How many tokens `key` has at `now`: they are taken. */
static int drain(pay_rate_table_t *table, const pay_rate_limit_t *limit, apr_uint32_t key,
                 apr_time_t now)
{
    int count = 0;

    while (take(table, limit, key, now)) {
        count++;
    }
    return count;
}

/* Tokens taken at once at each of some times, beginning with a full bucket. */
static const struct {
    const char *name;
    pay_rate_limit_t limit;
    struct {
        apr_time_t at;
        int want;
        apr_interval_time_t wait; /* until the next one, when all are taken */
    } step[4];
} bucket_rows[] = {
    {"200/s burst=400", {5000, 400}, {{0, 400, 5000}, {SEC, 200, 5000}, {SEC + 4999, 0, 1}}},
    {"5/s burst=50", {200000, 50}, {{7, 50, 200000}, {10 * SEC + 6, 49, 1}, {HOUR, 50, 200000}}},
    {"60/min burst=120",
     {SEC, 120},
     {{SEC / 2, 120, SEC}, {SEC, 0, SEC / 2}, {3 * SEC, 2, SEC / 2}}},
    {"one at a time", {SEC, 1}, {{0, 1, SEC}, {SEC - 1, 0, 1}, {SEC, 1, SEC}, {HOUR, 1, SEC}}},
    {"the slowest",
     {24 * HOUR, 1},
     {{0, 1, 24 * HOUR}, {24 * HOUR - 1, 0, 1}, {24 * HOUR, 1, 24 * HOUR}}},
    {"the longest refill", {HOUR, 24}, {{0, 24, HOUR}, {HOUR, 1, HOUR}, {25 * HOUR, 24, HOUR}}},
    {"the fastest", {1, 3}, {{0, 3, 1}, {1, 1, 1}, {2, 1, 1}, {9, 3, 1}}},
    {"never more than the burst", {10, 2}, {{0, 2, 10}, {400 * 24 * HOUR, 2, 10}}},
    {"used five years ago", {10, 2}, {{0, 2, 10}, {5 * 365 * 24 * HOUR, 2, 10}}},
    {"never used in eight years", {10, 2}, {{8 * 365 * 24 * HOUR, 2, 10}}},
    {"a part of a token is kept", {10, 2}, {{0, 2, 10}, {15, 1, 5}, {20, 1, 10}}},
    {"times come round after 8.9 years",
     {10, 2},
     {{YEARS, 2, 10}, {2 * YEARS, 2, 10}, {3 * YEARS, 2, 10}, {4 * YEARS - 6, 2, 10}}},
    {"a caller whose clock is late", {10, 2}, {{100, 2, 10}, {95, 0, 15}, {110, 1, 10}}},
};

START_TEST(test_bucket)
{
    const char *name = bucket_rows[_i].name;
    const pay_rate_limit_t *limit = &bucket_rows[_i].limit;
    pay_rate_table_t *table = make_table(SETS);
    apr_interval_time_t wait;
    int i;

    for (i = 0; i < 4 && (i == 0 || bucket_rows[_i].step[i].at); i++) {
        apr_time_t at = bucket_rows[_i].step[i].at;
        int got = drain(table, limit, 1, at);

        ck_assert_msg(got == bucket_rows[_i].step[i].want, "%s: step %d: %d", name, i, got);
        ck_assert_int_eq(pay_rate_take(&wait, table, limit, "\1\0\0", 4, at), 0);
        ck_assert_msg(wait == bucket_rows[_i].step[i].wait, "%s: step %d: wait %" APR_INT64_T_FMT,
                      name, i, wait);
        if (wait > 1) {
            ck_assert_msg(!take(table, limit, 1, at + wait - 1), "%s: before the wait", name);
        }
    }
}
END_TEST

/* Called all the time: the burst and one for each interval, to the microsecond. */
START_TEST(test_exact_count)
{
    static const pay_rate_limit_t limit = {333334, 7};
    pay_rate_table_t *table = make_table(SETS);
    apr_time_t now;
    int count = 0;

    for (now = 0; now <= 100 * SEC; now += 1009) {
        count += take(table, &limit, 1, now);
    }
    ck_assert_int_eq(count, 7 + (int)((now - 1009) / 333334));
}
END_TEST

START_TEST(test_keys_and_limits_are_apart)
{
    static const pay_rate_limit_t limit = {HOUR, 3};
    static const pay_rate_limit_t other[] = {{HOUR, 4}, {HOUR / 2, 3}};
    char longest[PAY_RATE_KEY_MAX + 1];
    pay_rate_table_t *table = make_table(SETS);
    apr_interval_time_t wait;
    apr_uint32_t key;

    for (key = 1; key <= SETS; key++) {
        ck_assert_int_eq(drain(table, &limit, key, 0), 3);
    }
    for (key = 1; key <= SETS; key++) {
        ck_assert_int_eq(drain(table, &limit, key, HOUR), 1);
    }
    ck_assert_int_eq(drain(table, &other[0], 1, HOUR), 4);
    ck_assert_int_eq(drain(table, &other[1], 1, HOUR), 3);
    memset(longest, 'k', sizeof(longest));
    ck_assert_int_eq(pay_rate_take(&wait, table, &other[0], longest, PAY_RATE_KEY_MAX, 0), 1);
    ck_assert_int_eq(pay_rate_take(&wait, table, &other[0], longest, PAY_RATE_KEY_MAX - 1, 0), 1);
    ck_assert_int_eq(pay_rate_take(&wait, table, &other[0], longest, 0, 0), 1);
}
END_TEST

/* Contract checks. */
static const struct {
    const char *name;
    pay_rate_limit_t limit;
    apr_size_t len;
} assert_rows[] = {
    {"a key one too long", {SEC, 1}, PAY_RATE_KEY_MAX + 1},
    {"no limit", {0, 1}, 1},
    {"no burst", {SEC, 0}, 1},
    {"a refill one too long", {1, PAY_RATE_REFILL_MAX + 1}, 1},
};

START_TEST(test_asserts)
{
    static const char key[PAY_RATE_KEY_MAX + 1];
    apr_interval_time_t wait;

    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr)); /* the text of assert() */
    (void)pay_rate_take(&wait, make_table(1), &assert_rows[_i].limit, key, assert_rows[_i].len, 0);
}
END_TEST

/* The position of a key's bucket in the table cannot be known without the secret. */
static apr_size_t place_of(int with, apr_uint32_t key)
{
    static const pay_rate_limit_t limit = {SEC, 1};
    apr_size_t size = pay_rate_size(16 * SETS);
    char *memory = apr_pcalloc(unit_pool, size);
    unsigned char hidden[PAY_RATE_SECRET_LEN];
    apr_size_t at;
    pay_rate_table_t *table;
    char *before;

    memset(hidden, with, sizeof(hidden));
    table = pay_rate_init(memory, 16 * SETS, hidden, 0);
    before = apr_pmemdup(unit_pool, memory, size);
    ck_assert_int_eq(take(table, &limit, key, 0), 1);
    for (at = 0; at < size && memory[at] == before[at]; at++) {
    }
    ck_assert_uint_lt(at, size);
    return at & ~(apr_size_t)63;
}

START_TEST(test_secret)
{
    int same = 0;
    apr_uint32_t key;

    for (key = 0; key < 16; key++) {
        ck_assert_uint_eq(place_of(1, key), place_of(1, key));
        same += place_of(1, key) == place_of(2, key);
    }
    ck_assert_int_le(same, 1);
}
END_TEST

/* In a full set a newcomer takes over the bucket that will be full soonest, as it is. */
START_TEST(test_takeover)
{
    static const pay_rate_limit_t limit = {SEC, 10};
    pay_rate_table_t *table = make_table(1);
    apr_uint32_t key;
    int i;

    for (key = 1; key <= PAY_RATE_WAYS; key++) {
        for (i = 0; i < (int)key; i++) {
            ck_assert_int_eq(take(table, &limit, key, 0), 1);
        }
    }
    ck_assert_int_eq(drain(table, &limit, 9, 0), 9); /* key 1 had taken one */
    for (key = 3; key <= PAY_RATE_WAYS; key++) {
        ck_assert_int_eq(drain(table, &limit, key, 0), 10 - (int)key);
    }
    ck_assert_int_eq(drain(table, &limit, 1, 0),
                     8); /* now in place of key 2, which had taken two */
    ck_assert_int_eq(drain(table, &limit, 2, 0), 0);
    ck_assert_int_eq(drain(table, &limit, 10, SEC), 1);
    ck_assert_int_eq(drain(table, &limit, 11, HOUR), 10);
}
END_TEST

/* A returned token is there again, and no more than the burst. */
START_TEST(test_give)
{
    static const pay_rate_limit_t limit = {HOUR, 5};
    pay_rate_table_t *table = make_table(1);
    apr_uint32_t key = 1, other;
    int i;

    for (i = 0; i < 100; i++) {
        ck_assert_int_eq(take(table, &limit, key, i), 1);
        pay_rate_give(table, &limit, &key, sizeof(key), i);
    }
    ck_assert_int_eq(drain(table, &limit, key, 100), 5);
    pay_rate_give(table, &limit, &key, sizeof(key), 100);
    pay_rate_give(table, &limit, &key, sizeof(key), 100);
    ck_assert_int_eq(drain(table, &limit, key, 200), 2);
    for (i = 0; i < 9; i++) { /* more than it ever took */
        pay_rate_give(table, &limit, &key, sizeof(key), 200);
    }
    ck_assert_int_eq(drain(table, &limit, key, 300), 5);
    for (other = 2; other <= PAY_RATE_WAYS + 1; other++) {
        ck_assert_int_le(drain(table, &limit, other, 300), 5);
    }
    pay_rate_give(table, &limit, &other, sizeof(other), 300); /* it has no bucket */
    ck_assert_int_eq(drain(table, &limit, other, 300), 0);
}
END_TEST

/*
 * A busy key among many that come once: it gets exactly its due, no more (though they may take over
 * its bucket) and no less (as long as some bucket of its set is less in use).
 */
START_TEST(test_flood_of_clients)
{
    static const pay_rate_limit_t limit = {SEC / 5, 50};
    pay_rate_table_t *table = make_table(SETS);
    apr_uint32_t client = 1;
    int count = 0, refused = 0;
    apr_time_t now;

    /* 10,000 new keys in a second: each gets 2 of the 40 tokens that a set has in that time. */
    for (now = 0; now < 60 * SEC; now += SEC / 100) {
        int i;

        for (i = 0; i < 100; i++) {
            refused += !take(table, &limit, client++, now);
        }
        count += take(table, &limit, 0, now);
    }
    ck_assert_int_eq(count, 50 + 299);
    ck_assert_int_eq(refused, 0);
}
END_TEST

/* More keys in use than the table has buckets: still none gets more than its due. */
START_TEST(test_more_keys_than_buckets)
{
    static const pay_rate_limit_t limit = {HOUR, 3};
    pay_rate_table_t *table = make_table(SETS);
    unsigned char *got = apr_pcalloc(unit_pool, MANY);
    int round, all = 0;
    apr_uint32_t key;

    for (round = 0; round < 6; round++) {
        for (key = 0; key < MANY; key++) {
            got[key] = (unsigned char)(got[key] + take(table, &limit, key, 0));
        }
    }
    for (key = 0; key < MANY; key++) {
        ck_assert_msg(got[key] <= 3, "key %u: %d", key, got[key]);
        all += got[key];
    }
    /* Each bucket gave all that it had: nothing is lost either. */
    ck_assert_int_eq(all, SETS * PAY_RATE_WAYS * 3);
}
END_TEST

/* The table is not touched when it is made, and never to refuse. */
START_TEST(test_refusal_writes_nothing)
{
    static const pay_rate_limit_t limit = {HOUR, 2};
    apr_size_t size = pay_rate_size(1);
    char *memory = apr_pcalloc(unit_pool, size);
    pay_rate_table_t *table = pay_rate_init(memory, 1, secret, 0);
    apr_uint32_t key;
    char *before;

    for (key = 0; key < PAY_RATE_WAYS; key++) {
        ck_assert_int_eq(drain(table, &limit, key, 0), 2);
    }
    before = apr_pmemdup(unit_pool, memory, size);
    for (key = 0; key < 2 * PAY_RATE_WAYS; key++) {
        ck_assert_int_eq(take(table, &limit, key, 0), 0);
    }
    ck_assert_mem_eq(memory, before, size);
}
END_TEST

/* ---- many processes and threads */

typedef struct shared_t {
    _Atomic int got[KEYS];
    _Atomic apr_time_t now;
    _Atomic int running;
    char memory[1 << 16];
} shared_t;

typedef struct storm_t {
    pay_rate_table_t *table;
    pay_rate_limit_t limit;
    int keys;
    apr_interval_time_t tick; /* the clock goes on by this at each take */
} storm_t;

static shared_t *shared;

static void *storm(void *arg)
{
    const storm_t *it = arg;
    int i;

    atomic_fetch_add(&shared->running, 1);
    while (atomic_load(&shared->running) < PROCESSES * THREADS) {
        sched_yield();
    }
    for (i = 0; i < ROUNDS; i++) {
        apr_uint32_t key = (apr_uint32_t)(i % it->keys);
        apr_time_t now = atomic_fetch_add(&shared->now, it->tick);
        apr_interval_time_t wait;

        if (pay_rate_take(&wait, it->table, &it->limit, &key, sizeof(key), now)) {
            atomic_fetch_add(&shared->got[key], 1);
        }
    }
    return NULL;
}

static int run_threads(storm_t it)
{
    pthread_t threads[THREADS];
    int i;

    for (i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, storm, &it)) {
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
    int keys;
    pay_rate_limit_t limit;
    apr_interval_time_t tick;
} storm_rows[] = {
    {"one key, half of what is asked", 1, {1000, ALL / 2}, 0},
    {"one key, all that is asked", 1, {1, PAY_RATE_REFILL_MAX}, 0},
    {"one key, in time", 1, {4, BURST}, 1},
    {"as many as there are buckets", PAY_RATE_WAYS, {1000, ALL / PAY_RATE_WAYS / 2}, 0},
    {"as many as there are buckets, in time", PAY_RATE_WAYS, {40, BURST}, 1},
    {"more than there are buckets", KEYS, {1000, ALL / KEYS / 2}, 0},
    {"more than there are buckets, in time", KEYS, {400, 5}, 1},
    {"more than there are buckets, little to get", KEYS, {9000, 2}, 1},
};

static void run_storm(const storm_t *it)
{
    pid_t child[PROCESSES];
    int i, status;

    for (i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            _exit(run_threads(*it));
        }
        ck_assert_int_gt(child[i], 0);
    }
    for (i = 0; i < PROCESSES; i++) {
        ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
        ck_assert_int_eq(status, 0);
    }
}

/*
 * In one set. No key gets more than its due, and all buckets together give no more than they
 * contain. While time stands still nothing is lost either: as long as each key has a bucket, each
 * gets its due to the token.
 */
START_TEST(test_storm)
{
    const char *name = storm_rows[_i].name;
    const pay_rate_limit_t *limit = &storm_rows[_i].limit;
    storm_t it = {NULL, *limit, storm_rows[_i].keys, storm_rows[_i].tick};
    const int buckets = it.keys < PAY_RATE_WAYS ? it.keys : PAY_RATE_WAYS;
    apr_int64_t due = limit->burst + it.tick * ALL / limit->interval;
    apr_int64_t all = 0;
    int i;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    ck_assert_uint_le(pay_rate_size(1), sizeof(shared->memory));
    it.table = pay_rate_init(shared->memory, 1, secret, 0);
    run_storm(&it);
    if (due > ALL / it.keys) {
        due = ALL / it.keys; /* no more was asked for */
    }
    for (i = 0; i < it.keys; i++) {
        int got = atomic_load(&shared->got[i]);

        ck_assert_msg(got <= due, "%s: key %d got %d of %" APR_INT64_T_FMT, name, i, got, due);
        all += got;
    }
    ck_assert_msg(all <= buckets * due, "%s: %" APR_INT64_T_FMT " in all", name, all);
    ck_assert_msg(it.tick ? all >= buckets * due / 2 : all == buckets * due,
                  "%s: only %" APR_INT64_T_FMT " in all", name, all);
}
END_TEST

static apr_time_t monotonic(void)
{
    struct timespec now;

    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (apr_time_t)now.tv_sec * SEC + now.tv_nsec / 1000;
}

/* The real clock, which nobody sets: the tokens are the burst and those of the elapsed time. */
START_TEST(test_clock)
{
    static const pay_rate_limit_t limit = {1000, 5000};
    apr_time_t start = pay_rate_now(), now = start, next;
    pay_rate_table_t *table;
    int count;

    now = monotonic();
    next = pay_rate_now();
    ck_assert_int_le(now, next);
    ck_assert_int_le(next, monotonic());
    now = start;
    table = pay_rate_init(apr_pcalloc(unit_pool, pay_rate_size(1)), 1, secret, start);
    count = drain(table, &limit, 1, start);
    while (now < start + SEC / 5) {
        next = pay_rate_now();
        ck_assert_int_ge(next, now);
        now = next;
        count += drain(table, &limit, 1, now);
    }
    ck_assert_int_eq(count, limit.burst + (now - start) / 1000);
}
END_TEST

/* A connection over loopback, a request's length of bytes there and an answer's back, as a client
 * and a server do it. */
static void *serve(void *baton)
{
    char bytes[1024] = {0};
    int listener = *(const int *)baton, i, fd;

    for (i = 0; i < COST_TRIES * COST_EXCHANGES; i++) {
        fd = accept(listener, NULL, NULL);
        if (recv(fd, bytes, REQUEST_LEN, MSG_WAITALL) == REQUEST_LEN) {
            (void)send(fd, bytes, ANSWER_LEN, MSG_NOSIGNAL);
        }
        (void)close(fd);
    }
    return NULL;
}

static void exchange(const struct sockaddr_in *address)
{
    char bytes[1024] = {0};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_eq(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
    ck_assert_int_eq(send(fd, bytes, REQUEST_LEN, MSG_NOSIGNAL), REQUEST_LEN);
    ck_assert_int_eq(recv(fd, bytes, ANSWER_LEN, MSG_WAITALL), ANSWER_LEN);
    ck_assert_int_eq(close(fd), 0);
}

/* Of the quickest chunk. */
static double take_ns(const pay_rate_limit_t *limit, apr_uint32_t keys)
{
    pay_rate_table_t *table = make_table(16 * SETS);
    apr_time_t start = pay_rate_now(), quickest = APR_INT64_MAX;
    unsigned char key[40] = {0};
    apr_interval_time_t wait;
    apr_uint32_t i, number;

    for (i = 1; i <= COST_ROUNDS; i++) {
        number = i % keys;
        memcpy(key, &number, sizeof(number));
        (void)pay_rate_take(&wait, table, limit, key, sizeof(key), pay_rate_now());
        if (i % COST_CHUNK == 0) {
            const apr_time_t now = pay_rate_now();

            quickest = now - start < quickest ? now - start : quickest;
            start = now;
        }
    }
    return (double)quickest * 1000 / COST_CHUNK;
}

static double exchange_ns(const struct sockaddr_in *address)
{
    apr_time_t start = pay_rate_now();
    int i;

    for (i = 0; i < COST_EXCHANGES; i++) {
        exchange(address);
    }
    return (double)(pay_rate_now() - start) * 1000 / COST_EXCHANGES;
}

static const struct {
    const char *name;
    pay_rate_limit_t limit;
    apr_uint32_t keys;
} cost_rows[] = {{"one key", {10, 1000000}, 1},
                 {"100,000 keys", {10, 1000000}, 100000},
                 {"refused", {HOUR, 1}, 1}};

/* A take, including the clock, costs less than a hundredth of a request before anything looks at
 * it. The quickest of several attempts of each, in turn: other work of the machine slows both. */
START_TEST(test_cost)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    double take = 1e12, request = 1e12;
    socklen_t len = sizeof(address);
    pthread_t server;
    int listener = socket(AF_INET, SOCK_STREAM, 0), i;

    ck_assert_int_eq(bind(listener, (const struct sockaddr *)&address, len), 0);
    ck_assert_int_eq(listen(listener, 8), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    ck_assert_int_eq(pthread_create(&server, NULL, serve, &listener), 0);
    for (i = 0; i < COST_TRIES; i++) {
        double took = take_ns(&cost_rows[_i].limit, cost_rows[_i].keys);
        double asked = exchange_ns(&address);

        take = took < take ? took : take;
        request = asked < request ? asked : request;
    }
    ck_assert_int_eq(pthread_join(server, NULL), 0);
    ck_assert_int_eq(close(listener), 0);
    ck_assert_msg(take * 100 < request * COST_SLOWER, "%s: %d ns a take, %d ns a request",
                  cost_rows[_i].name, (int)take, (int)request);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_bucket, 0, UNIT_ROWS(bucket_rows));
    tcase_add_test(tcase, test_exact_count);
    tcase_add_test(tcase, test_keys_and_limits_are_apart);
    tcase_add_loop_test_raise_signal(tcase, test_asserts, SIGABRT, 0, UNIT_ROWS(assert_rows));
    tcase_add_test(tcase, test_secret);
    tcase_add_test(tcase, test_takeover);
    tcase_add_test(tcase, test_give);
    tcase_add_test(tcase, test_flood_of_clients);
    tcase_add_test(tcase, test_more_keys_than_buckets);
    tcase_add_test(tcase, test_refusal_writes_nothing);
    tcase_add_loop_test(tcase, test_storm, 0, UNIT_ROWS(storm_rows));
    tcase_add_test(tcase, test_clock);
    tcase_add_loop_test(tcase, test_cost, 0, UNIT_ROWS(cost_rows));
}

UNIT_PROGRAM(add)
