/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/watchdog.h"

#include "base/log.h"
#include "base/net/transfer.h"
#include "base/text/time.h"
#include "httpd/process/deliver.h"
#include "httpd/process/fetcher.h"
#include "httpd/process/reconciler.h"
#include "httpd/process/store_host.h"
#include "service/account/upkeep.h"

#include <ap_mpm.h>
#include <http_config.h>
#include <http_log.h>
#include <mod_watchdog.h>

APLOG_USE_MODULE(payments);

#define FETCH_MS 1000
#define HOUSEKEEP_MS 10000
#define USAGE_MS 10000
#define EXPIRE_MS 10000
#define EXPIRE_ROWS_MAX 200 /* of one step: charges wait for its transaction */
#define EXPIRE_STEPS_MAX 64 /* of one round */

typedef struct duty_t {
    const char *watchdog; /* instances are separate threads: a slow duty delays no other */
    int singleton;
    apr_int64_t interval_ms; /* 0: each time the watchdog wakes up, every AP_WD_TM_SLICE */
    ap_watchdog_callback_fn_t *run;
} duty_t;

/* A duty for one store. */
typedef struct round_t {
    const duty_t *duty;
    pay_store_host_t *store_host;
    apr_int64_t due_ms; /* by the boot clock; in each child its own */
} round_t;

/* Returns 1 if there is work to do and time to do it. */
static int may_run(int state, const pay_store_host_t *store_host)
{
    int mpm_state = AP_MPMQ_RUNNING;

    if (state != AP_WATCHDOG_STATE_RUNNING || !store_host->store) {
        return 0;
    }
    return ap_mpm_query(AP_MPMQ_MPM_STATE, &mpm_state) != APR_SUCCESS
           || mpm_state != AP_MPMQ_STOPPING;
}

/* All of them return APR_SUCCESS whatever happened: anything else ends the callback for good.
 * Failures have been logged already. */
static apr_status_t housekeep(int state, void *baton, apr_pool_t *p)
{
    const pay_store_host_t *store_host = baton;

    if (may_run(state, store_host)) {
        (void)pay_store_housekeep(store_host->store, p);
    }
    return APR_SUCCESS;
}

/* pay_server_expire_keys or pay_server_sweep_checkouts. */
typedef apr_status_t (*expire_step_t)(int *count, pay_store_t *store, apr_time_t now, int limit,
                                      apr_pool_t *p);

static void expire_all(int state, const pay_store_host_t *store_host, expire_step_t step,
                       apr_pool_t *p)
{
    int count = EXPIRE_ROWS_MAX;
    int steps;

    for (steps = 0; steps < EXPIRE_STEPS_MAX && count == EXPIRE_ROWS_MAX; steps++) {
        if (!may_run(state, store_host)) {
            return;
        }
        count = 0;
        (void)step(&count, store_host->store, pay_time_now(), EXPIRE_ROWS_MAX, p);
        apr_pool_clear(p);
    }
}

/* Purges expired idempotency records, and checkouts that nobody paid. */
static apr_status_t expire(int state, void *baton, apr_pool_t *p)
{
    const pay_store_host_t *store_host = baton;
    apr_pool_t *step_pool;

    if (!may_run(state, store_host)) {
        return APR_SUCCESS;
    }
    apr_pool_create(&step_pool, p);
    expire_all(state, store_host, pay_server_expire_keys, step_pool);
    expire_all(state, store_host, pay_server_sweep_checkouts, step_pool);
    apr_pool_destroy(step_pool);
    return APR_SUCCESS;
}

static apr_status_t flush_usage(int state, void *baton, apr_pool_t *p)
{
    const pay_store_host_t *store_host = baton;

    if (may_run(state, store_host)) {
        (void)pay_key_usage_flush(store_host->usage, store_host->store, p);
    }
    return APR_SUCCESS;
}

static const duty_t duties[] = {
    {"_payments_reconcile_", 1, 0, pay_reconciler_run},
    {"_payments_history_", 1, FETCH_MS, pay_fetcher_run},
    {"_payments_housekeep_", 0, HOUSEKEEP_MS, housekeep},
    {"_payments_expire_", 1, EXPIRE_MS, expire},
    {"_payments_usage_", 0, USAGE_MS, flush_usage},
    {"_payments_outbox_", 1, 0, pay_deliver_run},
};

/* The watchdog counts its wake-ups, not the time that they take: the time between two rounds is
 * measured by the boot clock. The stop may come from another thread, too. */
static apr_status_t run_round(int state, void *baton, apr_pool_t *p)
{
    round_t *round = baton;
    apr_status_t rv;

    if (state == AP_WATCHDOG_STATE_RUNNING && pay_time_boot_ms() < round->due_ms) {
        return APR_SUCCESS;
    }
    rv = round->duty->run(state, round->store_host, p);
    if (state != AP_WATCHDOG_STATE_STOPPING) {
        round->due_ms = pay_time_boot_ms() + round->duty->interval_ms;
    }
    return rv;
}

static apr_status_t start_duty(const duty_t *duty, const apr_array_header_t *store_hosts,
                               apr_pool_t *pconf)
{
    APR_OPTIONAL_FN_TYPE(ap_watchdog_get_instance) * get_instance;
    APR_OPTIONAL_FN_TYPE(ap_watchdog_register_callback) * register_callback;
    ap_watchdog_t *watchdog;
    round_t *round;
    apr_status_t rv;
    int i;

    get_instance = APR_RETRIEVE_OPTIONAL_FN(ap_watchdog_get_instance);
    register_callback = APR_RETRIEVE_OPTIONAL_FN(ap_watchdog_register_callback);
    if (!get_instance || !register_callback) {
        return APR_ENOTIMPL;
    }
    rv = get_instance(&watchdog, duty->watchdog, 0, duty->singleton, pconf);
    for (i = 0; i < store_hosts->nelts && rv == APR_SUCCESS; i++) {
        round = apr_pcalloc(pconf, sizeof(*round));
        round->duty = duty;
        round->store_host = APR_ARRAY_IDX(store_hosts, i, pay_store_host_t *);
        rv = register_callback(watchdog, AP_WD_TM_SLICE, round, run_round);
    }
    return rv;
}

void pay_watchdog_start(server_rec *main_server, const apr_array_header_t *store_hosts,
                        apr_pool_t *pconf)
{
    apr_status_t rv;
    apr_size_t i;

    rv = pay_transfer_init();
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                     PAYLOGNO(00361) "libcurl cannot be started: notifications cannot be sent");
    }
    for (i = 0; i < sizeof(duties) / sizeof(duties[0]); i++) {
        rv = start_duty(&duties[i], store_hosts, pconf);
        if (rv != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                         PAYLOGNO(00306) "Watchdog %s could not be started: pending payments may "
                                         "stay pending, notifications unsent",
                         duties[i].watchdog);
        }
    }
}
