/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/process/deliver.h"

#include "base/log.h"
#include "base/text/time.h"
#include "httpd/process/shutdown.h"
#include "httpd/process/store_host.h"

#include <http_config.h>
#include <http_log.h>
#include <mod_watchdog.h>

APLOG_USE_MODULE(payments);

#define STEPS_TIME apr_time_from_sec(1) /* of one step of each store together */
#define OPEN_AGAIN_MS (60 * 1000)

static int is_stopping(void *baton)
{
    pay_deliver_t *deliver = baton;

    return atomic_load(&deliver->stop) || pay_shutdown_has_begun();
}

/*
 * In a pool without a parent: the child's pool is destroyed while a late callback may still be at
 * work.
 */
static void open_outbox(pay_store_host_t *store_host)
{
    pay_deliver_t *deliver = &store_host->deliver;
    apr_status_t rv;

    rv = apr_pool_create_unmanaged(&deliver->pool);
    if (rv == APR_SUCCESS) {
        rv = pay_outbox_create(&deliver->outbox, store_host->store, store_host->keyring,
                               deliver->pool);
        if (rv != APR_SUCCESS) {
            apr_pool_destroy(deliver->pool);
        }
    }
    if (rv != APR_SUCCESS) {
        deliver->outbox = NULL;
        deliver->open_due_ms = pay_time_boot_ms() + OPEN_AGAIN_MS;
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, APR_ARRAY_IDX(store_host->hosts, 0, server_rec *),
                     PAYLOGNO(00360) "PaymentsStore %s: notifications cannot be sent now; the next "
                                     "try is in a minute",
                     store_host->url);
    }
}

/*
 * Results that come in time are stored; other events are sent again after their leases have ended.
 */
static void close_outbox(pay_deliver_t *deliver)
{
    atomic_store(&deliver->stop, 1);
    if (!deliver->outbox) {
        return;
    }
    (void)pay_outbox_drain(deliver->outbox, pay_shutdown_time(PAY_SHUTDOWN_DRAIN_MS));
    deliver->outbox = NULL;
    apr_pool_destroy(deliver->pool);
    atomic_store(&deliver->owed, 0);
}

static void step(pay_store_host_t *store_host)
{
    pay_deliver_t *deliver = &store_host->deliver;

    if (!deliver->outbox && pay_time_boot_ms() >= deliver->open_due_ms) {
        open_outbox(store_host);
    }
    if (deliver->outbox) {
        (void)pay_outbox_step(NULL, deliver->outbox, STEPS_TIME / pay_store_hosts()->nelts,
                              is_stopping, deliver);
        atomic_store(&deliver->owed, pay_outbox_in_flight(deliver->outbox));
    }
}

/* Returns APR_SUCCESS whatever happened: anything else ends the callback for good. Failures have
 * been logged already. */
apr_status_t pay_deliver_run(int state, void *baton, apr_pool_t *p)
{
    pay_store_host_t *store_host = baton;
    pay_deliver_t *deliver = &store_host->deliver;

    (void)p;
    if (state == AP_WATCHDOG_STATE_STARTING || !store_host->store) {
        return APR_SUCCESS;
    }
    /* The stop may come from another thread, too, while the watchdog's is at work. */
    if (atomic_exchange(&deliver->busy, 1)) {
        atomic_store(&deliver->stop, 1);
        return APR_SUCCESS;
    }
    if (state == AP_WATCHDOG_STATE_RUNNING && !is_stopping(deliver)) {
        step(store_host);
    }
    if (state == AP_WATCHDOG_STATE_STOPPING || is_stopping(deliver)) {
        close_outbox(deliver);
    }
    atomic_store(&deliver->busy, 0);
    return APR_SUCCESS;
}

/*
 * A child ends without waiting for its watchdogs' threads. This one gets the time to store what its
 * receivers have taken, which would otherwise be sent to them again. Uses nothing else of the
 * process: a signal handler may be the caller. From then on a late callback finds the outbox busy:
 * it would close it while the process shuts libcurl and OpenSSL down.
 */
static apr_status_t leave(void *data)
{
    pay_deliver_t *deliver = data;

    atomic_store(&deliver->stop, 1);
    do {
        pay_shutdown_wait(&deliver->busy, &deliver->owed);
    } while (atomic_exchange(&deliver->busy, 1) && pay_shutdown_time(PAY_SHUTDOWN_MS) > 0);
    return APR_SUCCESS;
}

void pay_deliver_init(pay_store_host_t *store_host, apr_pool_t *pchild)
{
    if (store_host->store) {
        apr_pool_pre_cleanup_register(pchild, &store_host->deliver, leave);
    }
}
