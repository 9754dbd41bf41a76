/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/challenge.h"

#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define MINUTE APR_INT64_C(60000)
#define START (1000 * MINUTE)
#define PLACES 16
#define MANY 200
#define THREADS 8

static const unsigned char secret[PAY_CHALLENGE_SECRET_LEN] = "thirty-two bytes of a secret...";

static pay_challenge_table_t *make_table(apr_size_t places)
{
    return pay_challenge_init(apr_pcalloc(unit_pool, pay_challenge_size(places)), places, secret);
}

static const unsigned char *digest_of(const char *change)
{
    unsigned char *out = apr_palloc(unit_pool, PAY_SHA256_LEN);

    ck_assert_int_eq(pay_sha256(out, change, strlen(change)), APR_SUCCESS);
    return out;
}

static const char *code(pay_challenge_table_t *table, const char *change, apr_int64_t now_ms)
{
    char *out = apr_palloc(unit_pool, PAY_CHALLENGE_CODE_LEN + 1);

    ck_assert_int_eq(pay_challenge_code(out, table, digest_of(change), now_ms), APR_SUCCESS);
    ck_assert_uint_eq(strlen(out), PAY_CHALLENGE_CODE_LEN);
    ck_assert_uint_eq(strspn(out, "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"), PAY_CHALLENGE_CODE_LEN);
    return out;
}

static pay_challenge_verdict_t try(pay_challenge_table_t *table, const char *change,
                                   const char *typed, apr_int64_t now_ms)
{
    return pay_challenge_try(table, digest_of(change), typed, now_ms);
}

/* Another code than this. */
static const char *wrong(const char *right)
{
    char *out = apr_pstrdup(unit_pool, right);

    out[PAY_CHALLENGE_CODE_LEN - 1] = out[PAY_CHALLENGE_CODE_LEN - 1] == 'A' ? 'B' : 'A';
    return out;
}

START_TEST(test_once)
{
    pay_challenge_table_t *table = make_table(PLACES);
    const char *right = code(table, "a", START);

    ck_assert_int_eq(try(table, "a", right, START), PAY_CHALLENGE_RIGHT);
    ck_assert_int_eq(try(table, "a", right, START), PAY_CHALLENGE_GONE);
    ck_assert_str_ne(code(table, "a", START), right);
}
END_TEST

/* Of one change: for any other one the code is worthless, wherever its place is. */
START_TEST(test_of_one_change)
{
    pay_challenge_table_t *table = make_table(1);
    const char *one = code(table, "one", START);
    const char *other = code(table, "other", START);

    ck_assert_str_ne(one, other);
    ck_assert_int_eq(try(table, "one", other, START), PAY_CHALLENGE_WRONG);
    ck_assert_int_eq(try(table, "third", one, START), PAY_CHALLENGE_WRONG);
    ck_assert_int_eq(try(table, "one", one, START), PAY_CHALLENGE_RIGHT);
    ck_assert_int_eq(try(table, "other", other, START), PAY_CHALLENGE_GONE);
    ck_assert_int_eq(try(make_table(1), "one", one, START), PAY_CHALLENGE_GONE);
}
END_TEST

static const struct {
    const char *name;
    apr_int64_t after_ms;
    int is_good, is_sent_again;
} time_rows[] = {
    {"at once", 0, 1, 1},
    {"in the first half", 5 * MINUTE - 1, 1, 1},
    {"in the second half", 5 * MINUTE, 1, 0},
    {"at the end", 10 * MINUTE - 1, 1, 0},
    {"after it", 10 * MINUTE, 0, 0},
    {"long after it", 60 * 24 * 365 * 2 * MINUTE, 0, 0},
    {"before it began", -MINUTE, 0, 0},
};

START_TEST(test_time)
{
    const char *name = time_rows[_i].name;
    const apr_int64_t then = START + time_rows[_i].after_ms;
    pay_challenge_table_t *table = make_table(PLACES);
    const char *right = code(table, "a", START);

    ck_assert_msg(try(table, "a", right, then)
                      == (time_rows[_i].is_good ? PAY_CHALLENGE_RIGHT : PAY_CHALLENGE_GONE),
                  "%s", name);
    table = make_table(PLACES);
    right = code(table, "a", START);
    ck_assert_msg((strcmp(code(table, "a", then), right) == 0) == time_rows[_i].is_sent_again, "%s",
                  name);
}
END_TEST

START_TEST(test_tries)
{
    pay_challenge_table_t *table = make_table(PLACES);
    const char *right = code(table, "a", START);
    int i;

    for (i = 0; i < PAY_CHALLENGE_TRIES_MAX - 1; i++) {
        ck_assert_int_eq(try(table, "a", wrong(right), START), PAY_CHALLENGE_WRONG);
        ck_assert_str_eq(code(table, "a", START), right); /* sent again, it has no more tries */
    }
    ck_assert_int_eq(try(table, "a", right, START), PAY_CHALLENGE_RIGHT);
    right = code(table, "a", START);
    for (i = 0; i < PAY_CHALLENGE_TRIES_MAX; i++) {
        ck_assert_int_eq(try(table, "a", i % 2 ? "" : wrong(right), START), PAY_CHALLENGE_WRONG);
    }
    ck_assert_int_eq(try(table, "a", right, START), PAY_CHALLENGE_GONE);
    ck_assert_str_ne(code(table, "a", START), right);
}
END_TEST

/* How a person may type it; %s is the code. */
static const struct {
    const char *name;
    const char *form;
    int is_lower, is_right;
} typed_rows[] = {
    {"as it is", "%s", 0, 1},
    {"small letters", "%s", 1, 1},
    {"with a dash and blanks", " %.4s - %s ", 1, 1},
    {"one more", "%sA", 0, 0},
    {"one less", "%.7s", 0, 0},
    {"with a sign", "%s!", 0, 0},
    {"with another alphabet's letter", "%.7s\xc3\x84", 0, 0},
};

START_TEST(test_typed)
{
    pay_challenge_table_t *table = make_table(PLACES);
    const char *right = code(table, "a", START);
    const char *format = typed_rows[_i].form;
    char *typed;

    if (strstr(format, " - ")) {
        typed = apr_psprintf(unit_pool, " %.4s - %s ", right, right + 4);
    } else if (strstr(format, "%.7s")) {
        typed = apr_psprintf(unit_pool, "%.7s%s", right, format + 4);
    } else {
        typed = apr_psprintf(unit_pool, "%s%s", right, format + 2);
    }
    if (typed_rows[_i].is_lower) {
        apr_size_t i;

        for (i = 0; typed[i]; i++) {
            typed[i] = (char)(typed[i] >= 'A' && typed[i] <= 'Z' ? typed[i] + 32 : typed[i]);
        }
    }
    ck_assert_msg(try(table, "a", typed, START)
                      == (typed_rows[_i].is_right ? PAY_CHALLENGE_RIGHT : PAY_CHALLENGE_WRONG),
                  "%s: %s", typed_rows[_i].name, typed);
}
END_TEST

/* No two are the same, and no letter is left out. */
START_TEST(test_random)
{
    static const char letters[] = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
    const char *made[MANY];
    int seen[sizeof(letters)] = {0};
    int i, j;

    for (i = 0; i < MANY; i++) {
        made[i] = code(make_table(1), "a", START);
        for (j = 0; j < i; j++) {
            ck_assert_str_ne(made[i], made[j]);
        }
        for (j = 0; j < PAY_CHALLENGE_CODE_LEN; j++) {
            seen[strchr(letters, made[i][j]) - letters]++;
        }
    }
    for (i = 0; i < 32; i++) {
        ck_assert_int_gt(seen[i], 0);
    }
}
END_TEST

/* ---- many threads, of which one may be right */

typedef struct storm_t {
    pay_challenge_table_t *table;
    const unsigned char *digest;
    const char *typed;
    _Atomic int ready, right, wrong;
} storm_t;

static void *storm(void *arg)
{
    storm_t *it = arg;
    pay_challenge_verdict_t verdict;

    atomic_fetch_add(&it->ready, 1);
    while (atomic_load(&it->ready) < THREADS) {
        sched_yield();
    }
    verdict = pay_challenge_try(it->table, it->digest, it->typed, START);
    atomic_fetch_add(&it->right, verdict == PAY_CHALLENGE_RIGHT);
    atomic_fetch_add(&it->wrong, verdict == PAY_CHALLENGE_WRONG);
    return NULL;
}

static void run_storm(storm_t *it)
{
    pthread_t threads[THREADS];
    int i;

    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, storm, it), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
}

START_TEST(test_storm)
{
    const char *right;
    int round;

    for (round = 0; round < MANY; round++) {
        storm_t it = {.table = make_table(1), .digest = digest_of("a")};

        right = code(it.table, "a", START);
        it.typed = round % 2 ? right : wrong(right);
        run_storm(&it);
        ck_assert_int_eq(atomic_load(&it.right), round % 2);
        ck_assert_int_eq(atomic_load(&it.wrong), round % 2 ? 0 : PAY_CHALLENGE_TRIES_MAX);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_once);
    tcase_add_test(tcase, test_of_one_change);
    tcase_add_loop_test(tcase, test_time, 0, UNIT_ROWS(time_rows));
    tcase_add_test(tcase, test_tries);
    tcase_add_loop_test(tcase, test_typed, 0, UNIT_ROWS(typed_rows));
    tcase_add_test(tcase, test_random);
    tcase_add_test(tcase, test_storm);
}

UNIT_PROGRAM(add)
