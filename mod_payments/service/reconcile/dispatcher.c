/* SPDX-License-Identifier: Apache-2.0 */
#include "service/reconcile/dispatcher.h"

#include "base/log.h"
#include "base/shared/clock.h"
#include "base/text/time.h"
#include "service/reconcile/lanes.h"

#include <apr_thread_proc.h>
#include <pthread.h>

#define END_PATIENCE apr_time_from_sec(1)

struct pay_reconcile_dispatcher_t {
    pay_store_t *store;
    const apr_array_header_t *services;
    apr_pool_t *pool; /* unmanaged, with an allocator that threads may share */
    apr_pool_t *owner;
    pthread_mutex_t mutex; /* of everything below */
    pthread_cond_t work;
    pthread_cond_t rest; /* nothing is running any more */
    pay_reconcile_lanes_t lanes;
    int settled;
    int idle; /* threads that wait for work */
    int stopping;
    int threads;
    pthread_t thread[PAY_RECONCILE_QUERIES_MAX];
};

static int run(pay_reconcile_dispatcher_t *dispatcher, pay_reconcile_item_t *item)
{
    int settled;

    apr_pool_create(&item->row.pool, dispatcher->pool);
    settled = pay_reconcile_row(&item->row);
    apr_pool_destroy(item->row.pool);
    return settled;
}

static void *work(void *baton);

/*
 * Wakes one more thread to look for work; each one that finds some wakes the next. APR's thread
 * pool would not do: it counts on a thread that was woken and has not come yet, and a row that is
 * left to such a thread waits for the one before it.
 */
static void stir(pay_reconcile_dispatcher_t *dispatcher)
{
    int rc;

    if (dispatcher->lanes.queued == 0 || dispatcher->stopping) {
        return;
    }
    if (dispatcher->idle > 0) {
        pthread_cond_signal(&dispatcher->work);
        return;
    }
    if (dispatcher->threads == PAY_RECONCILE_QUERIES_MAX) {
        return;
    }
    rc = pthread_create(&dispatcher->thread[dispatcher->threads], NULL, work, dispatcher);
    if (rc) {
        pay_log(PAY_LOG_ERR, APR_FROM_OS_ERROR(rc),
                PAYLOGNO(00430) "a thread to query acquirers could not be started: %d are running",
                dispatcher->threads);
        return;
    }
    dispatcher->threads++;
}

static void *work(void *baton)
{
    pay_reconcile_dispatcher_t *dispatcher = baton;
    pay_reconcile_item_t *item;
    int settled;

    apr_setup_signal_thread(); /* signals are for the threads that expect them */
    pthread_mutex_lock(&dispatcher->mutex);
    while (!dispatcher->stopping) {
        item = pay_reconcile_lanes_next(&dispatcher->lanes);
        if (!item) {
            dispatcher->idle++;
            pthread_cond_wait(&dispatcher->work, &dispatcher->mutex);
            dispatcher->idle--;
            continue;
        }
        stir(dispatcher);
        pthread_mutex_unlock(&dispatcher->mutex);
        settled = run(dispatcher, item);
        pthread_mutex_lock(&dispatcher->mutex);
        pay_reconcile_lanes_end(&dispatcher->lanes, item);
        dispatcher->settled += settled;
        if (dispatcher->lanes.running == 0) {
            pthread_cond_broadcast(&dispatcher->rest);
        }
    }
    pthread_mutex_unlock(&dispatcher->mutex);
    return NULL;
}

/* Takes one batch; *taken is the number of due rows. */
static apr_status_t take(int *taken, pay_reconcile_dispatcher_t *dispatcher,
                         apr_uint32_t **accounts, apr_pool_t *p)
{
    const apr_interval_time_t lease = pay_reconcile_lease(dispatcher->services);
    const apr_time_t now = pay_time_now();
    apr_array_header_t *rows = NULL;
    apr_pool_t *pool;
    const pay_due_t *due;
    pay_reconcile_batch_t *batch;
    pay_reconcile_item_t *items;
    apr_status_t rv;
    int i;

    *taken = 0;
    apr_pool_create(&pool, dispatcher->pool);
    rv = pay_store_due_take(&rows, dispatcher->store, now, lease, PAY_RECONCILE_TAKE_MAX, pool);
    if (rv == APR_SUCCESS && rows->nelts > 0 && !*accounts) {
        rv = pay_reconcile_accounts(accounts, dispatcher->store, dispatcher->services, p);
    }
    if (rv != APR_SUCCESS || rows->nelts == 0) {
        apr_pool_destroy(pool);
        return rv;
    }
    *taken = rows->nelts;
    batch = apr_pcalloc(pool, sizeof(*batch));
    batch->pool = pool;
    batch->rows = rows->nelts;
    items = apr_pcalloc(pool, sizeof(*items) * (apr_size_t)rows->nelts);
    pthread_mutex_lock(&dispatcher->mutex);
    for (i = 0; i < *taken; i++) {
        due = &APR_ARRAY_IDX(rows, i, pay_due_t);
        items[i].batch = batch;
        items[i].row = (pay_reconcile_row_t){.store = dispatcher->store,
                                             .charge = due->charge,
                                             .refund = due->refund,
                                             .answer = &items[i].answer};
        pay_reconcile_place(&items[i].row, dispatcher->services, *accounts, now + lease);
        /* The last one may free the batch. */
        pay_reconcile_lanes_add(&dispatcher->lanes, &items[i]);
    }
    stir(dispatcher);
    pthread_mutex_unlock(&dispatcher->mutex);
    return APR_SUCCESS;
}

apr_status_t pay_reconcile_round(int *settled, pay_reconcile_dispatcher_t *dispatcher,
                                 apr_pool_t *p)
{
    const apr_int64_t until_ms = pay_time_boot_ms() + PAY_RECONCILE_ROUND_MS_MAX;
    apr_uint32_t *accounts = NULL;
    int taken = PAY_RECONCILE_TAKE_MAX;
    apr_status_t rv = APR_SUCCESS;

    while (rv == APR_SUCCESS && taken == PAY_RECONCILE_TAKE_MAX && pay_time_boot_ms() < until_ms) {
        rv = take(&taken, dispatcher, &accounts, p);
    }
    pthread_mutex_lock(&dispatcher->mutex);
    stir(dispatcher); /* for rows that had to wait, too */
    *settled = dispatcher->settled;
    dispatcher->settled = 0;
    pthread_mutex_unlock(&dispatcher->mutex);
    return rv;
}

static apr_status_t close_dispatcher(void *baton)
{
    (void)pay_reconcile_stop(baton, END_PATIENCE);
    return APR_SUCCESS;
}

/* Returns 1 if nothing is running any more. */
static int come_to_rest(pay_reconcile_dispatcher_t *dispatcher, apr_interval_time_t patience)
{
    /* Both are cut to whole milliseconds: add one, or it would end early. */
    const apr_int64_t until_ms = pay_clock_ms() + apr_time_as_msec(patience) + 1;
    int waits = 1;

    while (dispatcher->lanes.running > 0 && waits) {
        waits = pay_clock_cond_wait(&dispatcher->rest, &dispatcher->mutex, until_ms);
    }
    return dispatcher->lanes.running == 0;
}

apr_status_t pay_reconcile_stop(pay_reconcile_dispatcher_t *dispatcher,
                                apr_interval_time_t patience)
{
    int i, rests;

    pthread_mutex_lock(&dispatcher->mutex);
    dispatcher->stopping = 1;
    pthread_cond_broadcast(&dispatcher->work);
    rests = come_to_rest(dispatcher, patience);
    pthread_mutex_unlock(&dispatcher->mutex);
    if (!rests) {
        return APR_TIMEUP;
    }
    for (i = 0; i < dispatcher->threads; i++) {
        pthread_join(dispatcher->thread[i], NULL);
    }
    apr_pool_cleanup_kill(dispatcher->owner, dispatcher, close_dispatcher);
    pthread_cond_destroy(&dispatcher->rest);
    pthread_cond_destroy(&dispatcher->work);
    pthread_mutex_destroy(&dispatcher->mutex);
    apr_pool_destroy(dispatcher->pool);
    return APR_SUCCESS;
}

static apr_status_t make_pool(apr_pool_t **out)
{
    apr_allocator_t *allocator;
    apr_thread_mutex_t *mutex;
    apr_status_t rv;

    rv = apr_allocator_create(&allocator);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = apr_pool_create_unmanaged_ex(out, NULL, allocator);
    if (rv != APR_SUCCESS) {
        apr_allocator_destroy(allocator);
        return rv;
    }
    apr_allocator_owner_set(allocator, *out);
    rv = apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, *out);
    if (rv != APR_SUCCESS) {
        apr_pool_destroy(*out);
        return rv;
    }
    apr_allocator_mutex_set(allocator, mutex);
    return APR_SUCCESS;
}

apr_status_t pay_reconcile_create(pay_reconcile_dispatcher_t **out, pay_store_t *store,
                                  const apr_array_header_t *services, apr_pool_t *p)
{
    apr_pool_t *pool;
    apr_status_t rv;

    *out = NULL;
    rv = make_pool(&pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = apr_pcalloc(pool, sizeof(**out));
    (*out)->store = store;
    (*out)->services = services;
    (*out)->pool = pool;
    (*out)->owner = p;
    (*out)->lanes.pool = pool;
    pthread_mutex_init(&(*out)->mutex, NULL);
    pthread_cond_init(&(*out)->work, NULL);
    pay_clock_cond_init(&(*out)->rest);
    apr_pool_cleanup_register(p, *out, close_dispatcher, apr_pool_cleanup_null);
    return APR_SUCCESS;
}
