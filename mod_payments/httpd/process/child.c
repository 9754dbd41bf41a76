/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/child.h"

#include "base/log.h"
#include "httpd/call/httpd_log.h"
#include "httpd/call/zones.h"
#include "httpd/conf/conf.h"
#include "httpd/process/acquirers.h"
#include "httpd/process/deliver.h"
#include "httpd/process/failure_share.h"
#include "httpd/process/fetcher.h"
#include "httpd/process/reconciler.h"
#include "httpd/process/server_slots.h"
#include "httpd/process/store_host.h"

#include <http_log.h>

APLOG_USE_MODULE(payments);

#define ACCOUNTS_OF_A_STORE                                                                        \
    (1u << 22) /* beyond it two accounts may share their part of the slots */

static void open_host(pay_store_host_t *store_host, server_rec *s, apr_pool_t *forever)
{
    pay_conf_t *conf = pay_conf_get(s);
    pay_service_t *service = apr_pcalloc(forever, sizeof(*service));

    service->store = store_host->store;
    service->account_name = conf->account;
    service->slots = pay_server_slots();
    service->slots_base = store_host->number * ACCOUNTS_OF_A_STORE;
    service->usage = store_host->usage;
    service->keyring = store_host->keyring;
    service->policy = conf->policy;
    pay_failure_serve(service, store_host->url);
    pay_acquirers_serve(service, store_host, s, forever);
    APR_ARRAY_PUSH(store_host->services, pay_service_t *) = service;
    conf->service = service;
}

static void open_store_host(pay_store_host_t *store_host, server_rec *main_server,
                            apr_pool_t *pchild, apr_pool_t *forever)
{
    const char *reason = NULL;
    const char *cause;
    apr_status_t rv;
    int i;

    store_host->store = NULL;
    store_host->services =
        apr_array_make(forever, store_host->hosts->nelts, sizeof(pay_service_t *));
    rv = pay_key_usage_create(&store_host->usage, pchild);
    if (rv == APR_SUCCESS) {
        rv = pay_store_open(&store_host->store, store_host->url, &store_host->options, pchild);
    }
    if (rv != APR_SUCCESS) {
        store_host->store = NULL;
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                     PAYLOGNO(00305) "PaymentsStore %s: this process answers 503", store_host->url);
        return;
    }
    pay_deliver_init(store_host, pchild);
    pay_acquirers_open(store_host, forever);
    for (i = 0; i < store_host->hosts->nelts; i++) {
        open_host(store_host, APR_ARRAY_IDX(store_host->hosts, i, server_rec *), forever);
    }
    pay_reconciler_init(store_host, pchild);
    pay_fetcher_init(store_host, pchild, forever);
    /* Until it opens its calls answer 503 and try again. */
    rv = pay_store_ready(&reason, store_host->store, pchild);
    if (rv != APR_SUCCESS && !store_host->reported
        && !pay_store_mark_is_set(store_host->options.mark)) {
        cause = pay_httpd_log_cause(&rv, "it failed");
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                     PAYLOGNO(00307) "PaymentsStore %s cannot be opened by this process: %s; %s",
                     store_host->url, reason ? reason : "no reason given", cause);
    }
}

static void child_init(apr_pool_t *pchild, server_rec *main_server)
{
    const apr_array_header_t *store_hosts = pay_store_hosts();
    apr_pool_t *forever;
    apr_status_t rv;
    int i;

    if (!store_hosts || store_hosts->nelts == 0) {
        return;
    }
    pay_httpd_log_start(main_server);
    pay_store_deaths_watch(NULL, 0, pchild);
    pay_zones_init(pchild);
    /* In a pool without a parent: the child's pool is destroyed while a thread that does not return
     * in time may still work with them. */
    rv = apr_pool_create_unmanaged(&forever);
    if (rv != APR_SUCCESS) {
        forever = pchild;
    }
    for (i = 0; i < store_hosts->nelts; i++) {
        open_store_host(APR_ARRAY_IDX(store_hosts, i, pay_store_host_t *), main_server, pchild,
                        forever);
    }
}

void pay_child_register_hooks(apr_pool_t *p)
{
    static const char *const after[] = {"mod_watchdog.c", NULL};

    (void)p;
    /* The watchdog's threads use what is opened here; at exit pools are destroyed in the opposite
     * order. */
    ap_hook_child_init(child_init, NULL, after, APR_HOOK_FIRST);
}
