/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/process/acquirers.h"

#include "acquirer/simulator.h"
#include "base/log.h"
#include "httpd/conf/conf.h"
#include "httpd/process/server_slots.h"

#include <apr_shm.h>
#include <apr_strings.h>
#include <assert.h>
#include <http_log.h>
#include <mpm_common.h>

APLOG_USE_MODULE(payments);

#define ALIGN 64 /* no two share a line of the processor's cache */

static apr_size_t aligned(apr_size_t size)
{
    return (size + ALIGN - 1) & ~(apr_size_t)(ALIGN - 1);
}

/* ---- replacement of a connector that cannot be used */

static apr_status_t out_charge(payments_answer_t *out, void *context,
                               const payments_charge_t *charge, apr_interval_time_t timeout,
                               apr_pool_t *p)
{
    (void)out, (void)context, (void)charge, (void)timeout, (void)p;
    return PAYMENTS_NOT_SENT;
}

static apr_status_t out_charge_query(payments_answer_t *out, void *context,
                                     const payments_charge_t *charge, apr_interval_time_t timeout,
                                     apr_pool_t *p)
{
    (void)out, (void)context, (void)charge, (void)timeout, (void)p;
    return APR_EGENERAL;
}

static apr_status_t out_refund(payments_answer_t *out, void *context,
                               const payments_refund_t *refund, const payments_charge_t *charge,
                               apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)out, (void)context, (void)refund, (void)charge, (void)timeout, (void)p;
    return PAYMENTS_NOT_SENT;
}

static apr_status_t out_refund_query(payments_answer_t *out, void *context,
                                     const payments_refund_t *refund,
                                     const payments_charge_t *charge, apr_interval_time_t timeout,
                                     apr_pool_t *p)
{
    (void)out, (void)context, (void)refund, (void)charge, (void)timeout, (void)p;
    return APR_EGENERAL;
}

/* Tokens are judged as by the connector itself: one that it may know is not refused as unknown. */
static const payments_acquirer_t *out_of_service(const payments_acquirer_t *connector,
                                                 apr_pool_t *p)
{
    payments_acquirer_t *out = apr_pcalloc(p, sizeof(*out));

    out->struct_size = sizeof(*out);
    out->abi = PAYMENTS_ACQUIRER_ABI;
    out->name = connector->name;
    out->flags = connector->flags;
    out->charge = out_charge;
    out->charge_query = out_charge_query;
    out->refund = out_refund;
    out->refund_query = out_refund_query;
    return out;
}

/* ---- the parent's part */

static pay_acquirers_one_t *find(const pay_store_host_t *store_host, const char *account,
                                 const char *name)
{
    pay_acquirers_one_t *one;
    int i;

    for (i = 0; i < store_host->acquirers->nelts; i++) {
        one = APR_ARRAY_IDX(store_host->acquirers, i, pay_acquirers_one_t *);
        if (!strcmp(one->account, account) && !strcmp(one->acquirer.name, name)) {
            return one;
        }
    }
    return NULL;
}

static void add(pay_store_host_t *store_host, server_rec *s, const pay_conf_acquirer_t *said,
                apr_pool_t *pconf)
{
    const pay_conf_t *conf = pay_conf_get(s);
    pay_acquirers_one_t *one = apr_pcalloc(pconf, sizeof(*one));

    one->said = said;
    one->account = conf->account;
    one->host = s;
    one->connector = pay_conf_connector(said->connector);
    one->in_flight_max = conf->in_flight_max;
    one->settings.struct_size = sizeof(one->settings);
    one->settings.url = said->url;
    one->settings.given = said->given;
    one->settings.account = conf->account;
    one->settings.live = 1;
    one->settings.timeout = pay_conf_acquirer_timeout(conf, said);
    one->acquirer.connector = one->connector;
    one->acquirer.name = said->name;
    one->acquirer.account = conf->account;
    one->acquirer.timeout = one->settings.timeout;
    APR_ARRAY_PUSH(store_host->acquirers, pay_acquirers_one_t *) = one;
}

static void collect(pay_store_host_t *store_host, apr_pool_t *pconf)
{
    const pay_conf_acquirer_t *said;
    const pay_conf_t *conf;
    server_rec *s;
    int i, k;

    store_host->acquirers = apr_array_make(pconf, 1, sizeof(pay_acquirers_one_t *));
    for (i = 0; i < store_host->hosts->nelts; i++) {
        s = APR_ARRAY_IDX(store_host->hosts, i, server_rec *);
        conf = pay_conf_get(s);
        for (k = 0; conf->acquirers && k < conf->acquirers->nelts; k++) {
            said = APR_ARRAY_IDX(conf->acquirers, k, const pay_conf_acquirer_t *);
            if (!find(store_host, conf->account, said->name)) {
                add(store_host, s, said, pconf);
            }
        }
    }
}

/* Calls wait for an acquirer's slot in the queue for the server's own slots. */
static pay_slots_limits_t limits_of(const pay_acquirers_one_t *one)
{
    return (pay_slots_limits_t){.count = one->in_flight_max, .process_max = one->in_flight_max};
}

static apr_size_t shared_size(const pay_acquirers_one_t *one)
{
    const pay_slots_limits_t limits = limits_of(one);

    return aligned(pay_slots_size(&limits)) + 2 * aligned(pay_breaker_size())
           + aligned(sizeof(atomic_int));
}

/* Takes its part of the memory; returns the rest. */
static char *shared_init(pay_acquirers_one_t *one, char *memory)
{
    const pay_slots_limits_t limits = limits_of(one);

    one->acquirer.slots = pay_slots_init(memory, &limits);
    memory += aligned(pay_slots_size(&limits));
    one->acquirer.breaker = pay_breaker_init(memory);
    memory += aligned(pay_breaker_size());
    one->acquirer.visitor_breaker = pay_breaker_init(memory);
    memory += aligned(pay_breaker_size());
    one->told = (atomic_int *)memory;
    atomic_init(one->told, 0);
    return memory + aligned(sizeof(atomic_int));
}

/* Each generation has memory of its own: during a graceful restart the old one ends its calls
 * beside the new one's, and a corrected key is tried at once. */
void pay_acquirers_share(const apr_array_header_t *store_hosts, server_rec *main_server,
                         apr_pool_t *pconf)
{
    apr_size_t size = ALIGN;
    pay_store_host_t *store_host;
    apr_status_t rv;
    apr_shm_t *shm;
    char *base, *memory;
    int i, k;

    for (i = 0; i < store_hosts->nelts; i++) {
        store_host = APR_ARRAY_IDX(store_hosts, i, pay_store_host_t *);
        collect(store_host, pconf);
        for (k = 0; k < store_host->acquirers->nelts; k++) {
            size += shared_size(APR_ARRAY_IDX(store_host->acquirers, k, pay_acquirers_one_t *));
        }
    }
    if (size == ALIGN) {
        return; /* there is no Live Mode */
    }
    rv = apr_shm_create(&shm, size, NULL, pconf);
    if (rv != APR_SUCCESS) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, rv, main_server,
            PAYLOGNO(00382) "No shared memory for acquirers: each child process counts its calls "
                            "and their failures by itself (PaymentsAcquirerMaxInFlight)");
        base = apr_pcalloc(pconf, size);
    } else {
        base = apr_shm_baseaddr_get(shm);
    }
    memory = (char *)aligned((apr_size_t)base);
    for (i = 0; i < store_hosts->nelts; i++) {
        store_host = APR_ARRAY_IDX(store_hosts, i, pay_store_host_t *);
        for (k = 0; k < store_host->acquirers->nelts; k++) {
            memory =
                shared_init(APR_ARRAY_IDX(store_host->acquirers, k, pay_acquirers_one_t *), memory);
        }
        assert(memory <= base + size);
    }
}

/* ---- the child's part */

/* In this process alone, before anything is written: others may have opened it. */
static void refuse_here(pay_acquirers_one_t *one, apr_pool_t *forever)
{
    one->acquirer.breaker = pay_breaker_init(apr_palloc(forever, pay_breaker_size()));
    pay_breaker_shut(one->acquirer.breaker);
}

static void open_one(pay_acquirers_one_t *one, apr_pool_t *forever)
{
    const char *fault = NULL;
    apr_status_t rv;
    int level;

    one->acquirer.connector = one->connector;
    one->acquirer.context = NULL;
    atomic_init(&one->is_open, 0);
    if (one->is_out) {
        one->acquirer.connector = out_of_service(one->connector, forever);
        return;
    }
    rv = one->connector->open(&one->acquirer.context, &fault, &one->settings, forever);
    if (rv == APR_SUCCESS) {
        atomic_store(&one->is_open, 1);
        return;
    }
    one->acquirer.connector = out_of_service(one->connector, forever);
    one->acquirer.context = NULL;
    refuse_here(one, forever);
    level = atomic_exchange(one->told, 1) ? APLOG_DEBUG : APLOG_ERR; /* one child logs it for all */
    ap_log_error(APLOG_MARK, level, rv, one->host,
                 PAYLOGNO(00383) "PaymentsAcquirer %s of account %s is out of service until the "
                                 "server is restarted: charges and refunds are answered 503, and "
                                 "pending ones stay pending: %s",
                 one->acquirer.name, one->account, fault ? fault : "its connector gives no reason");
}

static void stop_one(pay_acquirers_one_t *one)
{
    if (atomic_exchange(&one->is_open, 0) && one->connector->stop) {
        one->connector->stop(one->acquirer.context);
    }
}

void pay_acquirers_stop(void)
{
    const apr_array_header_t *store_hosts = pay_store_hosts();
    const pay_store_host_t *store_host;
    int i, k;

    pay_slots_close(pay_server_slots());
    for (i = 0; store_hosts && i < store_hosts->nelts; i++) {
        store_host = APR_ARRAY_IDX(store_hosts, i, const pay_store_host_t *);
        for (k = 0; store_host->acquirers && k < store_host->acquirers->nelts; k++) {
            stop_one(APR_ARRAY_IDX(store_host->acquirers, k, pay_acquirers_one_t *));
        }
    }
}

void pay_acquirers_open(pay_store_host_t *store_host, apr_pool_t *forever)
{
    int i;

    for (i = 0; i < store_host->acquirers->nelts; i++) {
        open_one(APR_ARRAY_IDX(store_host->acquirers, i, pay_acquirers_one_t *), forever);
    }
}

/* Test Mode's: the last one registered under this name. */
static const pay_acquirer_t *simulator(const pay_conf_t *conf, apr_pool_t *forever)
{
    const payments_acquirer_t *connector = pay_conf_connector(pay_acquirer_simulator.name);
    pay_acquirer_t *acquirer;

    if (!connector || pay_acquirer_fault(connector, forever)) {
        return NULL;
    }
    acquirer = apr_pcalloc(forever, sizeof(*acquirer));
    acquirer->connector = connector;
    acquirer->name = connector->name;
    acquirer->timeout = conf->policy.acquirer_timeout;
    return acquirer;
}

void pay_acquirers_serve(pay_service_t *service, const pay_store_host_t *store_host, server_rec *s,
                         apr_pool_t *forever)
{
    const pay_conf_t *conf = pay_conf_get(s);
    apr_array_header_t *list;
    const char *name;
    int i;

    service->acquirer[PAY_TEST] = simulator(conf, forever);
    if (!conf->acquirers) {
        return;
    }
    list = apr_array_make(forever, conf->acquirers->nelts, sizeof(const pay_acquirer_t *));
    for (i = 0; i < conf->acquirers->nelts; i++) {
        name = APR_ARRAY_IDX(conf->acquirers, i, const pay_conf_acquirer_t *)->name;
        APR_ARRAY_PUSH(list, const pay_acquirer_t *) =
            &find(store_host, conf->account, name)->acquirer;
    }
    service->acquirers = list;
    service->acquirer[PAY_LIVE] = APR_ARRAY_IDX(list, 0, const pay_acquirer_t *);
}

/* ---- their state for people */

static pay_acquirers_state_t *state_of(apr_array_header_t *list, const char *name)
{
    pay_acquirers_state_t *state;
    int i;

    for (i = 0; i < list->nelts; i++) {
        state = &APR_ARRAY_IDX(list, i, pay_acquirers_state_t);
        if (!strcmp(state->name, name)) {
            return state;
        }
    }
    if (list->nelts > PAY_ACQUIRERS_NAMES_MAX) {
        return &APR_ARRAY_IDX(list, PAY_ACQUIRERS_NAMES_MAX, pay_acquirers_state_t);
    }
    state = &APR_ARRAY_PUSH(list, pay_acquirers_state_t);
    memset(state, 0, sizeof(*state));
    state->name = list->nelts > PAY_ACQUIRERS_NAMES_MAX ? "other" : name;
    return state;
}

static void stand(pay_acquirers_standing_t *standing, const pay_breaker_t *breaker)
{
    if (pay_breaker_is_faulty(breaker)) {
        standing->faulty++;
    } else if (pay_breaker_state(breaker) == PAY_BREAKER_OPEN) {
        standing->open++;
    } else if (pay_breaker_state(breaker) == PAY_BREAKER_PROBING) {
        standing->probing++;
    } else {
        standing->closed++;
    }
}

apr_array_header_t *pay_acquirers_states(const pay_store_host_t *store_host, apr_pool_t *p)
{
    apr_array_header_t *list = apr_array_make(p, 2, sizeof(pay_acquirers_state_t));
    const pay_acquirer_t *acquirer;
    pay_acquirers_state_t *state;
    int i;

    for (i = 0; store_host->acquirers && i < store_host->acquirers->nelts; i++) {
        acquirer = &APR_ARRAY_IDX(store_host->acquirers, i, const pay_acquirers_one_t *)->acquirer;
        state = state_of(list, acquirer->name);
        state->calls += pay_slots_count(acquirer->slots);
        state->calls_max +=
            APR_ARRAY_IDX(store_host->acquirers, i, const pay_acquirers_one_t *)->in_flight_max;
        stand(&state->all, acquirer->breaker);
        stand(&state->visitors, acquirer->visitor_breaker);
    }
    return list;
}

/* Calls under way would delay the end of this process for as long as an acquirer may take, and with
 * them those that wait for their slots. A graceful end waits for their clients. */
static void child_stopping(apr_pool_t *pchild, int graceful)
{
    (void)pchild;
    if (!graceful) {
        pay_acquirers_stop();
    }
}

void pay_acquirers_register_hooks(apr_pool_t *p)
{
    static const char *const before[] = {"mod_watchdog.c", NULL};

    (void)p;
    /* The watchdog's hook waits for its threads, which may wait for an acquirer. */
    ap_hook_child_stopping(child_stopping, NULL, before, APR_HOOK_FIRST);
}
