/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/outbox.h"

#include "base/text/time.h"
#include "service/outbox/outbox_parts.h"

#include <apr_allocator.h>

#define TAKE_MS 5                     /* between takes while attempts are under way */
#define DENIED_MS 200                 /* the store postpones it for half of that */
#define LOOK_MS 50                    /* if nothing indicates that there is more */
#define WAIT_MS_MAX 50                /* how often `stop` is called */
#define MEMORY_KEPT (8 * 1024 * 1024) /* bytes that are freed and kept for reuse */

/* A piece of work: a step, or the rest after the last one. */
typedef struct work_t {
    apr_int64_t until_ms; /* boot clock */
    int takes;            /* 0: nothing new begins */
    int (*stop)(void *baton);
    void *baton;
} work_t;

/* Makes a pool with an allocator of its own: it belongs to one thread. */
static apr_status_t own_pool(apr_pool_t **out, apr_pool_t *p)
{
    apr_allocator_t *allocator;
    apr_status_t rv;

    *out = NULL;
    rv = apr_allocator_create(&allocator);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    apr_allocator_max_free_set(allocator, MEMORY_KEPT);
    rv = apr_pool_create_ex(out, p, NULL, allocator);
    if (rv != APR_SUCCESS) {
        apr_allocator_destroy(allocator);
        return rv;
    }
    apr_allocator_owner_set(allocator, *out);
    return APR_SUCCESS;
}

apr_status_t pay_outbox_create(pay_outbox_t **out, pay_store_t *store, const pay_keyring_t *keyring,
                               apr_pool_t *p)
{
    pay_outbox_t *outbox;
    apr_pool_t *pool;
    apr_status_t rv;

    *out = NULL;
    rv = own_pool(&pool, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    outbox = apr_pcalloc(pool, sizeof(*outbox));
    outbox->store = store;
    outbox->keyring = keyring;
    outbox->pool = pool;
    apr_pool_create(&outbox->take_pool, pool);
    apr_pool_create(&outbox->finish_pool, pool);
    /* They end before the pools of the attempts that they work on. */
    rv = pay_transfers_create(&outbox->transfers, pool);
    if (rv != APR_SUCCESS) {
        apr_pool_destroy(pool);
        return rv;
    }
    *out = outbox;
    return APR_SUCCESS;
}

/* Returns when the next take is (boot clock); a few at a time share a transaction. */
static apr_int64_t take_due_ms(const pay_outbox_t *outbox)
{
    if (outbox->take_again && outbox->in_flight == 0) {
        return 0;
    }
    return outbox->taken_ms + (outbox->take_again ? TAKE_MS : LOOK_MS);
}

static int has_room(const pay_outbox_t *outbox)
{
    return outbox->in_flight < PAY_OUTBOX_IN_FLIGHT_MAX
           && outbox->ended_count < PAY_STORE_LEASES_MAX;
}

static apr_status_t take(pay_outbox_t *outbox)
{
    apr_array_header_t *taken;
    apr_status_t rv;
    int i;

    if (!has_room(outbox) || pay_time_boot_ms() < take_due_ms(outbox)) {
        return APR_SUCCESS;
    }
    apr_pool_clear(outbox->take_pool);
    pay_outbox_destinations_clear(outbox);
    outbox->taken_ms = pay_time_boot_ms();
    outbox->take_again = 0;
    rv = pay_store_event_take(&taken, outbox->store, PAY_STORE_LEASES_MAX, pay_outbox_budget,
                              outbox, outbox->take_pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < taken->nelts; i++) {
        pay_outbox_try_start(outbox, &APR_ARRAY_IDX(taken, i, pay_taken_t));
    }
    outbox->take_again |= taken->nelts > 0;
    return APR_SUCCESS;
}

static void shorten(apr_int64_t *wait_ms, apr_int64_t until_ms, apr_int64_t now_ms)
{
    if (*wait_ms > until_ms - now_ms) {
        *wait_ms = until_ms > now_ms ? until_ms - now_ms : 0;
    }
}

/* Waits until a transfer ends, at most until there is other work. */
static void pump(pay_outbox_t *outbox, const work_t *work)
{
    const apr_int64_t now_ms = pay_time_boot_ms();
    apr_int64_t wait_ms = WAIT_MS_MAX;

    shorten(&wait_ms, work->until_ms, now_ms);
    if (outbox->ended) {
        shorten(&wait_ms, pay_outbox_finish_due_ms(outbox), now_ms);
    }
    if (work->takes && has_room(outbox)) {
        shorten(&wait_ms, take_due_ms(outbox), now_ms);
    }
    pay_transfers_run(outbox->transfers, apr_time_from_msec(wait_ms));
    if (pay_outbox_try_collect(outbox)) {
        outbox->take_again = 1; /* there are places */
    }
}

/* Returns 1 if an endpoint was postponed for lack of a place at its host, and is due again soon. */
static int was_denied(const pay_outbox_t *outbox, const work_t *work)
{
    return work->takes && outbox->denied_ms && pay_time_boot_ms() < outbox->denied_ms + DENIED_MS;
}

/* Works while there is something to do. A failing store ends no attempt that is under way. */
static apr_status_t work_on(pay_outbox_t *outbox, work_t *work)
{
    apr_status_t taken = APR_SUCCESS;
    apr_status_t finished;
    int more;

    outbox->denied_ms = 0;
    do {
        if (work->stop && work->stop(work->baton)) {
            break;
        }
        if (work->takes) {
            taken = take(outbox);
            work->takes = taken == APR_SUCCESS;
        }
        if (outbox->in_flight > 0) {
            pump(outbox, work);
        } else if (was_denied(outbox, work)) {
            apr_sleep(apr_time_from_msec(TAKE_MS));
        }
        finished = pay_outbox_finish(outbox, outbox->in_flight == 0);
        more = (work->takes && outbox->take_again) || was_denied(outbox, work);
        more = more && finished == APR_SUCCESS;
    } while ((more || outbox->in_flight > 0) && pay_time_boot_ms() < work->until_ms);
    finished = pay_outbox_finish(outbox, 1);
    return taken != APR_SUCCESS ? taken : finished;
}

apr_status_t pay_outbox_step(int *delivered, pay_outbox_t *outbox, apr_interval_time_t time_max,
                             int (*stop)(void *baton), void *baton)
{
    work_t work = {pay_time_boot_ms() + apr_time_as_msec(time_max), 1, stop, baton};
    apr_status_t rv;

    outbox->delivered = 0;
    outbox->take_again = 1;
    rv = pay_outbox_settings_refresh(outbox);
    if (rv == APR_SUCCESS) {
        rv = work_on(outbox, &work);
    }
    if (delivered) {
        *delivered = outbox->delivered;
    }
    return rv;
}

apr_status_t pay_outbox_drain(pay_outbox_t *outbox, apr_interval_time_t time_max)
{
    work_t work = {pay_time_boot_ms() + apr_time_as_msec(time_max), 0, NULL, NULL};

    return work_on(outbox, &work);
}

int pay_outbox_in_flight(const pay_outbox_t *outbox)
{
    return outbox->in_flight + outbox->ended_count;
}
