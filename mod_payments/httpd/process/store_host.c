/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/store_host.h"

#include "base/log.h"
#include "httpd/conf/conf.h"

#include <ap_mpm.h>
#include <apr_shm.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>

APLOG_USE_MODULE(payments);

/* The threads that mod_http2 may add to ThreadsPerChild: its default H2MaxWorkers for common sizes,
 * rounded up. */
#define H2_WORKERS_MAX 64
#define READERS_SPARE 256 /* the watchdog's, paymentsctl's */
#define GENERATIONS_MAX 2 /* alive at once during a graceful restart */

static const apr_array_header_t *store_hosts;

static int mpm_value(int query, int least)
{
    int value = 0;

    if (ap_mpm_query(query, &value) != APR_SUCCESS || value < least) {
        return least;
    }
    return value;
}

/*
 * The first opener fixes it, and the slot of a dead thread in a living process is never reclaimed.
 */
static unsigned int readers_max(void)
{
    int daemons = mpm_value(AP_MPMQ_HARD_LIMIT_DAEMONS, 1);
    int threads = mpm_value(AP_MPMQ_MAX_THREADS, 1);

    if (threads > 1) {
        threads += H2_WORKERS_MAX; /* there is no HTTP/2 without threads */
    }
    return (unsigned int)(GENERATIONS_MAX * daemons * threads + READERS_SPARE);
}

/* Without it a process that is stopped in the middle of a transaction delays all others. */
static pay_store_shared_t *share(server_rec *s, apr_pool_t *pconf)
{
    const int processes = mpm_value(AP_MPMQ_HARD_LIMIT_DAEMONS, 1);
    pay_store_shared_t *shared = NULL;
    apr_shm_t *shm;
    apr_status_t rv;

    rv = apr_shm_create(&shm, pay_store_shared_size(processes), NULL, pconf);
    if (rv == APR_SUCCESS) {
        shared = pay_store_shared_init(apr_shm_baseaddr_get(shm), processes);
    } else {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     PAYLOGNO(00312) "PaymentsStore %s: no shared memory for the queue of writers: "
                                     "a process that is stopped blocks the others",
                     pay_conf_get(s)->store);
    }
    return shared;
}

/* Kept over restarts, outside of this module's own memory, because the module is loaded again. */
typedef struct kept_t {
    void *memory;
} kept_t;

/*
 * Returns the mark of the store `url`, the same for all generations of children: a store in which
 * one of them died is not tried again at a reload. NULL: there is no shared memory, which is
 * logged.
 */
static pay_store_mark_t *mark_of(const char *url, server_rec *s, apr_pool_t *pconf)
{
    const char *key = apr_psprintf(pconf, "mod_payments-mark-%d-%" APR_SIZE_T_FMT "-%s",
                                   PAY_STORE_MARK_LAYOUT, pay_store_mark_size(), url);
    kept_t *kept = ap_retained_data_get(key);
    apr_status_t rv;
    apr_shm_t *shm;

    if (!kept) {
        rv = apr_shm_create(&shm, pay_store_mark_size(), NULL, s->process->pool);
        if (rv != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                         PAYLOGNO(00651) "PaymentsStore %s: no shared memory for its mark: if it "
                                         "is damaged, each process that opens it dies",
                         url);
            return NULL;
        }
        kept = ap_retained_data_create(key, sizeof(*kept));
        kept->memory = apr_shm_baseaddr_get(shm);
        memset(kept->memory, 0, pay_store_mark_size());
    }
    return pay_store_mark_at(kept->memory);
}

static pay_store_host_t *find(const apr_array_header_t *list, const char *url)
{
    pay_store_host_t *store_host;
    int i;

    for (i = 0; i < list->nelts; i++) {
        store_host = APR_ARRAY_IDX(list, i, pay_store_host_t *);
        if (!strcmp(store_host->url, url)) {
            return store_host;
        }
    }
    return NULL;
}

const apr_array_header_t *pay_store_hosts_collect(server_rec *main_server, apr_pool_t *pconf)
{
    apr_array_header_t *list = apr_array_make(pconf, 1, sizeof(pay_store_host_t *));
    const pay_conf_t *conf;
    pay_store_host_t *store_host;
    server_rec *s;

    for (s = main_server; s; s = s->next) {
        conf = pay_conf_get(s);
        if (!conf->engine) {
            continue;
        }
        store_host = find(list, conf->store);
        if (!store_host) {
            store_host = apr_pcalloc(pconf, sizeof(*store_host));
            store_host->url = conf->store;
            store_host->number = (apr_uint32_t)list->nelts;
            store_host->options = conf->options;
            store_host->options.readers_max = readers_max();
            store_host->options.shared = share(s, pconf);
            store_host->options.mark = mark_of(conf->store, s, pconf);
            store_host->hosts = apr_array_make(pconf, 1, sizeof(server_rec *));
            APR_ARRAY_PUSH(list, pay_store_host_t *) = store_host;
        }
        APR_ARRAY_PUSH(store_host->hosts, server_rec *) = s;
    }
    store_hosts = list;
    return list;
}

const apr_array_header_t *pay_store_hosts(void)
{
    return store_hosts;
}
