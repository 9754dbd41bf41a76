/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/meters.h"

#include "base/log.h"
#include "httpd/api/routes.h"
#include "httpd/call/call.h"
#include "httpd/call/claim.h"
#include "httpd/conf/conf.h"
#include "httpd/process/store_host.h"

#include <apr_hash.h>
#include <apr_shm.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>

APLOG_USE_MODULE(payments);

/* Kept over restarts, outside of this module's own memory, because the module is loaded again. */
typedef struct kept_t {
    void *memory;
} kept_t;

static pay_meter_t *meter;

static int is_engine_on(const server_rec *s)
{
    for (; s; s = s->next) {
        if (pay_conf_get(s)->engine) {
            return 1;
        }
    }
    return 0;
}

/* A build with other numbers of operations, or other counters, has memory of its own. */
static const char *layout_key(apr_pool_t *p)
{
    apr_ssize_t len = APR_HASH_KEY_STRING;
    const char *names = "";
    const char *name;
    int i;

    for (i = 0; (name = pay_route_operation(i)) != NULL; i++) {
        names = apr_pstrcat(p, names, name, " ", NULL);
    }
    return apr_psprintf(p, "mod_payments-meter-%d-%" APR_SIZE_T_FMT "-%08x", PAY_METER_LAYOUT,
                        pay_meter_size(), apr_hashfunc_default(names, &len));
}

/*
 * Made once in the life of the parent process. Its pool ends with that process, and its cleanup is
 * APR's: nothing there points into this module, which restarts unload. Children of an older
 * generation go on counting in it.
 */
static void share(server_rec *main_server, apr_pool_t *ptemp)
{
    const char *key = layout_key(ptemp);
    kept_t *kept = ap_retained_data_get(key);
    apr_status_t rv;
    apr_shm_t *shm;

    if (!kept) {
        rv = apr_shm_create(&shm, pay_meter_size(), NULL, main_server->process->pool);
        if (rv != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                         PAYLOGNO(00370) "No shared memory for counters: nothing is counted, and "
                                         "PaymentsMetrics shows only the values of the stores");
            return;
        }
        kept = ap_retained_data_create(key, sizeof(*kept));
        kept->memory = apr_shm_baseaddr_get(shm);
    }
    meter = pay_meter_init(kept->memory);
}

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                       server_rec *main_server)
{
    (void)pconf;
    (void)plog;
    meter = NULL;
    if (ap_state_query(AP_SQ_MAIN_STATE) != AP_SQ_MS_CREATE_PRE_CONFIG
        && is_engine_on(main_server)) {
        share(main_server, ptemp);
    }
    return OK;
}

static void child_init(apr_pool_t *pchild, server_rec *main_server)
{
    (void)pchild;
    (void)main_server;
    pay_meter_use(meter);
}

const pay_meter_t *pay_meters(void)
{
    return meter;
}

/* Every answer comes here once, whatever made it: a handler, the error filter, httpd itself. */
static int log_transaction(request_rec *r)
{
    const pay_call_t *call;

    if (!pay_claim_is_ours(r)) {
        return DECLINED;
    }
    while (r->next) {
        r = r->next; /* the client got the result of an internal redirect */
    }
    call = pay_call_get(r);
    pay_meter_request(call ? call->operation : 0, r->status);
    return DECLINED;
}

apr_array_header_t *pay_meters_stores(apr_pool_t *p)
{
    const apr_array_header_t *store_hosts = pay_store_hosts();
    apr_array_header_t *list = apr_array_make(p, 1, sizeof(pay_meters_store_t));
    const pay_store_host_t *store_host;
    pay_meters_store_t *store;
    int i;

    for (i = 0; store_hosts && i < store_hosts->nelts; i++) {
        store_host = APR_ARRAY_IDX(store_hosts, i, const pay_store_host_t *);
        store = &APR_ARRAY_PUSH(list, pay_meters_store_t);
        memset(store, 0, sizeof(*store));
        store->number = store_host->number;
        store->damaged = pay_store_mark_is_set(store_host->options.mark);
        store->acquirers = pay_acquirers_states(store_host, p);
        if (!store_host->store) {
            continue;
        }
        store->up = pay_store_probe(store_host->store) == APR_SUCCESS;
        store->counted =
            pay_store_stat(&store->stat, store_host->store, p) == APR_SUCCESS
            && pay_store_event_stat(&store->events, store_host->store, p) == APR_SUCCESS;
    }
    return list;
}

void pay_meters_register_hooks(apr_pool_t *p)
{
    static const char *const after[] = {"mod_watchdog.c", NULL};

    (void)p;
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_init(child_init, NULL, after, APR_HOOK_FIRST);
    ap_hook_log_transaction(log_transaction, NULL, NULL, APR_HOOK_MIDDLE);
}
