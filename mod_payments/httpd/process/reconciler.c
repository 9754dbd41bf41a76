/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/process/reconciler.h"

#include "base/log.h"
#include "base/text/time.h"
#include "httpd/process/acquirers.h"
#include "httpd/process/shutdown.h"
#include "httpd/process/store_host.h"

#include <http_log.h>
#include <mod_watchdog.h>

APLOG_USE_MODULE(payments);

#define ROUND_MS 1000
#define OPEN_AGAIN_MS (60 * 1000)

static int is_stopping(const pay_reconciler_t *reconciler)
{
    return atomic_load(&reconciler->stop) || pay_shutdown_has_begun();
}

/*
 * In a pool without a parent: the child's pool is destroyed while its threads may still be at work.
 */
static void open_dispatcher(pay_store_host_t *store_host)
{
    pay_reconciler_t *reconciler = &store_host->reconciler;
    apr_status_t rv;

    rv = apr_pool_create_unmanaged(&reconciler->pool);
    if (rv == APR_SUCCESS) {
        rv = pay_reconcile_create(&reconciler->dispatcher, store_host->store, store_host->services,
                                  reconciler->pool);
        if (rv != APR_SUCCESS) {
            apr_pool_destroy(reconciler->pool);
        }
    }
    if (rv != APR_SUCCESS) {
        reconciler->dispatcher = NULL;
        reconciler->due_ms = pay_time_boot_ms() + OPEN_AGAIN_MS;
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, APR_ARRAY_IDX(store_host->hosts, 0, server_rec *),
                     PAYLOGNO(00384) "PaymentsStore %s: pending payments cannot be reconciled now; "
                                     "the next try is in a minute",
                     store_host->url);
    }
}

/* Begins nothing more. Rows that its threads do not finish within `patience` are due again after
 * their leases have ended. */
static void close_dispatcher(pay_reconciler_t *reconciler, apr_interval_time_t patience)
{
    apr_status_t rv;

    atomic_store(&reconciler->stop, 1);
    if (!reconciler->dispatcher) {
        return;
    }
    rv = pay_reconcile_stop(reconciler->dispatcher, patience);
    if (rv == APR_SUCCESS) {
        reconciler->dispatcher = NULL;
        apr_pool_destroy(reconciler->pool);
    }
}

static void step(pay_store_host_t *store_host, apr_pool_t *p)
{
    pay_reconciler_t *reconciler = &store_host->reconciler;
    const apr_int64_t now_ms = pay_time_boot_ms();
    int settled;

    if (now_ms < reconciler->due_ms) {
        return;
    }
    reconciler->due_ms = now_ms + ROUND_MS;
    if (!reconciler->dispatcher) {
        open_dispatcher(store_host);
    }
    if (reconciler->dispatcher) {
        (void)pay_reconcile_round(&settled, reconciler->dispatcher, p);
    }
}

/* Returns APR_SUCCESS whatever happened: anything else ends the callback for good. Failures have
 * been logged already. */
apr_status_t pay_reconciler_run(int state, void *baton, apr_pool_t *p)
{
    pay_store_host_t *store_host = baton;
    pay_reconciler_t *reconciler = &store_host->reconciler;

    if (state == AP_WATCHDOG_STATE_STARTING || !store_host->store) {
        return APR_SUCCESS;
    }
    /* The stop may come from another thread, too, while the watchdog's is at work. */
    if (atomic_exchange(&reconciler->busy, 1)) {
        atomic_store(&reconciler->stop, 1);
        return APR_SUCCESS;
    }
    if (state == AP_WATCHDOG_STATE_RUNNING && !is_stopping(reconciler)) {
        step(store_host, p);
    }
    if (state == AP_WATCHDOG_STATE_STOPPING || is_stopping(reconciler)) {
        close_dispatcher(reconciler, 0); /* a graceful end may take its time; leave() does not */
    }
    atomic_store(&reconciler->busy, 0);
    return APR_SUCCESS;
}

/*
 * A child ends without waiting for these threads: answers of acquirers get the time to be stored.
 * The dispatcher is this function's from now on, because a late callback finds it busy.
 */
static apr_status_t leave(void *data)
{
    pay_reconciler_t *reconciler = data;

    atomic_store(&reconciler->stop, 1);
    pay_acquirers_stop();
    pay_shutdown_wait(&reconciler->busy, NULL);
    if (!atomic_exchange(&reconciler->busy, 1)) {
        close_dispatcher(reconciler, pay_shutdown_time(PAY_SHUTDOWN_MS));
    }
    return APR_SUCCESS;
}

void pay_reconciler_init(pay_store_host_t *store_host, apr_pool_t *pchild)
{
    if (store_host->store) {
        apr_pool_pre_cleanup_register(pchild, &store_host->reconciler, leave);
    }
}
