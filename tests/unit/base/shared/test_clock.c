/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/clock.h"

#include "unit.h"

#include <errno.h>

#define SHORT_MS 20
#define LONG_MS 60000

static sem_t told;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond;

static void *tell(void *arg)
{
    (void)arg;
    sem_post(&told);
    return NULL;
}

START_TEST(test_semaphore)
{
    const apr_int64_t began_ms = pay_clock_ms();
    pthread_t thread;

    sem_init(&told, 0, 0);
    ck_assert_int_eq(pay_clock_sem_wait(&told, began_ms + SHORT_MS), 0);
    ck_assert_int_ge(pay_clock_ms(), began_ms + SHORT_MS);
    ck_assert_int_eq(pthread_create(&thread, NULL, tell, NULL), 0);
    ck_assert_int_eq(pay_clock_sem_wait(&told, pay_clock_ms() + LONG_MS), 1);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(pay_clock_sem_wait(&told, began_ms), 0); /* over already */
    sem_post(&told);
    ck_assert_int_eq(pay_clock_sem_wait(&told, began_ms), 1); /* but it was posted */
    sem_destroy(&told);
}
END_TEST

static void *lock_in_vain(void *until_ms)
{
    static int said;

    said = pay_clock_mutex_lock(&mutex, *(const apr_int64_t *)until_ms);
    return &said;
}

START_TEST(test_mutex)
{
    const apr_int64_t until_ms = pay_clock_ms() + SHORT_MS;
    pthread_t thread;
    void *said;

    ck_assert_int_eq(pay_clock_mutex_lock(&mutex, until_ms), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, lock_in_vain, (void *)&until_ms), 0);
    ck_assert_int_eq(pthread_join(thread, &said), 0);
    ck_assert_int_eq(*(int *)said, ETIMEDOUT);
    ck_assert_int_ge(pay_clock_ms(), until_ms);
    pthread_mutex_unlock(&mutex);
    ck_assert_int_eq(pay_clock_mutex_lock(&mutex, until_ms), 0); /* free, so the time is nothing */
    pthread_mutex_unlock(&mutex);
}
END_TEST

START_TEST(test_condition)
{
    const apr_int64_t until_ms = pay_clock_ms() + SHORT_MS;

    pay_clock_cond_init(&cond);
    pthread_mutex_lock(&mutex);
    while (pay_clock_cond_wait(&cond, &mutex, until_ms)) {
    }
    pthread_mutex_unlock(&mutex);
    ck_assert_int_ge(pay_clock_ms(), until_ms);
    pthread_cond_destroy(&cond);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_semaphore);
    tcase_add_test(tcase, test_mutex);
    tcase_add_test(tcase, test_condition);
}

UNIT_PROGRAM(add)
