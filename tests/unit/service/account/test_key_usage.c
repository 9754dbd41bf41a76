/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/key_usage.h"

#include "shop.h"

#include <pthread.h>

#define MINUTE apr_time_from_sec(60)
#define NOON (apr_time_from_sec(1800000000) / MINUTE * MINUTE)
#define THREADS 4
#define NOTES_EACH 5000

/* A store that only knows key_touch: it counts, and returns what a test sets. */
static struct {
    apr_status_t status;
    int calls;
    int keys; /* of the last call */
    pay_api_key_t first;
    pay_key_usage_t *noted; /* noted to while it writes */
} told;

static void note(pay_key_usage_t *usage, int number, apr_time_t when)
{
    unsigned char digest[PAY_SHA256_LEN] = {0};

    digest[0] = (unsigned char)(number % 256);
    digest[PAY_SHA256_LEN - 1] = (unsigned char)(number / 256);
    pay_key_usage_note(usage, digest, when);
}

static apr_status_t touch(pay_store_t *store, const apr_array_header_t *used, apr_pool_t *p)
{
    (void)store, (void)p;
    told.calls++;
    told.keys = used->nelts;
    told.first = APR_ARRAY_IDX(used, 0, pay_api_key_t);
    if (told.noted) {
        note(told.noted, 1, NOON + 2 * MINUTE);
    }
    return told.status;
}

static pay_key_usage_t *set_up(void)
{
    pay_key_usage_t *usage;

    memset(&told, 0, sizeof(told));
    store_script.key_touch = touch;
    ck_assert_int_eq(pay_key_usage_create(&usage, unit_pool), APR_SUCCESS);
    return usage;
}

static void flush(pay_key_usage_t *usage, int calls, int keys)
{
    apr_status_t rv;

    told.keys = 0;
    rv = pay_key_usage_flush(usage, NULL, unit_pool);
    ck_assert_int_eq(rv, keys ? told.status : APR_SUCCESS);
    ck_assert_int_eq(told.calls, calls);
    ck_assert_int_eq(told.keys, keys);
}

START_TEST(test_to_the_minute)
{
    pay_key_usage_t *usage = set_up();

    flush(usage, 0, 0);
    note(usage, 1, NOON + apr_time_from_sec(59));
    flush(usage, 1, 1);
    ck_assert_int_eq(told.first.digest[0], 1);
    ck_assert_int_eq(told.first.last_used_at, NOON);
    note(usage, 1, NOON + apr_time_from_sec(59));
    flush(usage, 1, 0);
    note(usage, 1, NOON + MINUTE);
    note(usage, 1, NOON); /* a clock that stepped back */
    flush(usage, 2, 1);
    ck_assert_int_eq(told.first.last_used_at, NOON + MINUTE);
}
END_TEST

START_TEST(test_kept_when_not_written)
{
    pay_key_usage_t *usage = set_up();

    told.status = PAY_STORE_EDOWN;
    note(usage, 1, NOON);
    flush(usage, 1, 1);
    flush(usage, 2, 1);
    told.status = APR_SUCCESS;
    flush(usage, 3, 1);
    flush(usage, 3, 0);
}
END_TEST

START_TEST(test_noted_while_writing)
{
    pay_key_usage_t *usage = set_up();

    note(usage, 1, NOON);
    told.noted = usage;
    flush(usage, 1, 1);
    told.noted = NULL;
    flush(usage, 2, 1);
    ck_assert_int_eq(told.first.last_used_at, NOON + 2 * MINUTE);
}
END_TEST

START_TEST(test_bounded)
{
    pay_key_usage_t *usage = set_up();
    int i;

    for (i = 0; i <= PAY_KEY_USAGE_MAX; i++) {
        note(usage, i, NOON);
    }
    flush(usage, 1, PAY_KEY_USAGE_MAX);
    for (i = 0; i <= PAY_KEY_USAGE_MAX; i++) {
        note(usage, 1000 + i, NOON);
    }
    flush(usage, 2, PAY_KEY_USAGE_MAX);
    flush(usage, 2, 0);
}
END_TEST

START_TEST(test_full_of_unwritten)
{
    pay_key_usage_t *usage = set_up();
    int i;

    told.status = PAY_STORE_EDOWN;
    for (i = 0; i < PAY_KEY_USAGE_MAX; i++) {
        note(usage, i, NOON);
    }
    flush(usage, 1, PAY_KEY_USAGE_MAX);
    note(usage, PAY_KEY_USAGE_MAX, NOON);
    note(usage, 7, NOON + MINUTE);
    told.status = APR_SUCCESS;
    flush(usage, 2, PAY_KEY_USAGE_MAX);
    ck_assert_int_eq(told.first.digest[0], 0);
}
END_TEST

static void *note_many(void *data)
{
    int i;

    for (i = 0; i < NOTES_EACH; i++) {
        note(data, i % 32, NOON + (i / 32) * MINUTE);
    }
    return NULL;
}

START_TEST(test_threads)
{
    pay_key_usage_t *usage = set_up();
    pthread_t threads[THREADS];
    int i;

    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, note_many, usage), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    flush(usage, 1, 32);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_to_the_minute);
    tcase_add_test(tcase, test_kept_when_not_written);
    tcase_add_test(tcase, test_noted_while_writing);
    tcase_add_test(tcase, test_bounded);
    tcase_add_test(tcase, test_full_of_unwritten);
    tcase_add_test(tcase, test_threads);
}

UNIT_PROGRAM(add)
