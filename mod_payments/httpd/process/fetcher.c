/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/process/fetcher.h"

#include "base/text/time.h"
#include "httpd/process/acquirers.h"
#include "httpd/process/shutdown.h"
#include "httpd/process/store_host.h"

#include <mod_watchdog.h>

#define STEPS_MAX 64 /* of one round; the rest is done in the next, a moment later */

static int is_stopping(const pay_fetcher_t *fetcher)
{
    return atomic_load(&fetcher->stop) || pay_shutdown_has_begun();
}

/* Returns APR_SUCCESS whatever happened: anything else ends the callback for good. Failures have
 * been logged already. */
apr_status_t pay_fetcher_run(int state, void *baton, apr_pool_t *p)
{
    const pay_store_host_t *store_host = baton;
    pay_fetcher_t *fetcher = &((pay_store_host_t *)baton)->fetcher;
    apr_status_t rv = APR_SUCCESS;
    apr_pool_t *step_pool;
    int worked = 1;
    int steps;

    if (state != AP_WATCHDOG_STATE_RUNNING || !store_host->store || !fetcher->sync
        || atomic_exchange(&fetcher->busy, 1)) {
        return APR_SUCCESS;
    }
    apr_pool_create(&step_pool, p);
    for (steps = 0; steps < STEPS_MAX && worked && rv == APR_SUCCESS; steps++) {
        if (is_stopping(fetcher)) {
            break;
        }
        worked = 0;
        rv = pay_history_sync_step(&worked, fetcher->sync, pay_time_now(), step_pool);
        apr_pool_clear(step_pool);
    }
    apr_pool_destroy(step_pool);
    atomic_store(&fetcher->busy, 0);
    return APR_SUCCESS;
}

/* A child ends without waiting for this thread: its call is cut short. */
static apr_status_t leave(void *data)
{
    pay_fetcher_t *fetcher = data;

    atomic_store(&fetcher->stop, 1);
    pay_acquirers_stop();
    pay_shutdown_wait(&fetcher->busy, NULL);
    return APR_SUCCESS;
}

void pay_fetcher_init(pay_store_host_t *store_host, apr_pool_t *pchild, apr_pool_t *forever)
{
    store_host->fetcher.sync = NULL;
    if (store_host->store && store_host->acquirers->nelts > 0) {
        store_host->fetcher.sync =
            pay_history_sync_create(store_host->store, store_host->services, forever);
        apr_pool_pre_cleanup_register(pchild, &store_host->fetcher, leave);
    }
}
