/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/site/metrics.h"

#include "base/log.h"
#include "base/shared/meter_text.h"
#include "httpd/api/routes.h"
#include "httpd/call/forwarded.h"
#include "httpd/call/anonymous.h"
#include "httpd/process/meters.h"
#include "httpd/process/server_slots.h"

#include <apr_strings.h>
#include <http_log.h>
#include <stdatomic.h>

APLOG_USE_MODULE(payments);

#define TELL_EVERY apr_time_from_sec(60)

/* One sample for each store. */
typedef struct family_t {
    const char *name;
    const char *help;
    const char *(*value)(const pay_meters_store_t *store, apr_pool_t *p);
} family_t;

static const char *number(apr_uint64_t value, apr_pool_t *p)
{
    return apr_psprintf(p, "%" APR_UINT64_T_FMT, value);
}

static const char *overdue(const pay_meters_store_t *store, apr_pool_t *p)
{
    return apr_psprintf(p, "%.3f", (double)store->events.overdue / APR_USEC_PER_SEC);
}

static const char *readers(const pay_meters_store_t *store, apr_pool_t *p)
{
    return number(store->stat.readers, p);
}

static const char *readers_max(const pay_meters_store_t *store, apr_pool_t *p)
{
    return number(store->stat.readers_max, p);
}

static const char *map_used(const pay_meters_store_t *store, apr_pool_t *p)
{
    return number((apr_uint64_t)store->stat.used_bytes, p);
}

static const char *map_size(const pay_meters_store_t *store, apr_pool_t *p)
{
    return number((apr_uint64_t)store->stat.map_bytes, p);
}

static const char *file_size(const pay_meters_store_t *store, apr_pool_t *p)
{
    return number((apr_uint64_t)store->stat.file_bytes, p);
}

static const char *disk_free(const pay_meters_store_t *store, apr_pool_t *p)
{
    return number((apr_uint64_t)store->stat.disk_free_bytes, p);
}

static const char *held(const pay_meters_store_t *store, apr_pool_t *p)
{
    return number(store->stat.held, p);
}

static const char *pending(const pay_meters_store_t *store, apr_pool_t *p)
{
    return number(store->stat.pending, p);
}

static const char *checkouts_open(const pay_meters_store_t *store, apr_pool_t *p)
{
    return number(store->stat.checkouts_open, p);
}

static const family_t families[] = {
    {"payments_outbox_overdue_seconds",
     "How long the first due notification has been due; 0 if none is due.", overdue},
    {"payments_pending",
     "Charges and refunds that were sent to an acquirer and whose outcome is not known yet.",
     pending},
    {"payments_checkouts_open", "Checkouts that nobody has paid yet, and that can still be paid.",
     checkouts_open},
    {"payments_held", "Charges and refunds that wait for a person's decision.", held},
    {"payments_store_readers", "Slots of the store's reader table that are taken.", readers},
    {"payments_store_readers_max", "Slots of the store's reader table.", readers_max},
    {"payments_store_map_used_bytes", "Bytes of the store's map in use.", map_used},
    {"payments_store_map_bytes", "Bytes to which the store can grow (PaymentsStoreSize).",
     map_size},
    {"payments_store_file_bytes", "Size of the store's file.", file_size},
    {"payments_store_disk_free_bytes", "Bytes free on the store's file system.", disk_free},
};

static void up(apr_array_header_t *lines, const apr_array_header_t *stores)
{
    const pay_meters_store_t *store;
    int i;

    pay_meter_family(lines, "payments_up", "gauge", "1: the store can be used; 0: it cannot.");
    for (i = 0; i < stores->nelts; i++) {
        store = &APR_ARRAY_IDX(stores, i, pay_meters_store_t);
        pay_meter_line(lines, "payments_up{store=\"%u\"} %d\n", store->number, store->up);
    }
}

static void damaged(apr_array_header_t *lines, const apr_array_header_t *stores)
{
    const pay_meters_store_t *store;
    int i;

    pay_meter_family(lines, "payments_store_damaged", "gauge",
                     "1: a process died in the store, and no check has passed since.");
    for (i = 0; i < stores->nelts; i++) {
        store = &APR_ARRAY_IDX(stores, i, pay_meters_store_t);
        pay_meter_line(lines, "payments_store_damaged{store=\"%u\"} %d\n", store->number,
                       store->damaged);
    }
}

static void outbox(apr_array_header_t *lines, const apr_array_header_t *stores)
{
    const pay_meters_store_t *store;
    int i;

    pay_meter_family(lines, "payments_outbox_events", "gauge",
                     "Undelivered notifications; parked: given up, waiting: the rest.");
    for (i = 0; i < stores->nelts; i++) {
        store = &APR_ARRAY_IDX(stores, i, pay_meters_store_t);
        if (store->counted) {
            pay_meter_line(lines,
                           "payments_outbox_events{store=\"%u\",standing=\"waiting\"} "
                           "%" APR_UINT64_T_FMT "\n"
                           "payments_outbox_events{store=\"%u\",standing=\"parked\"} "
                           "%" APR_UINT64_T_FMT "\n",
                           store->number, store->events.events - store->events.parked,
                           store->number, store->events.parked);
        }
    }
}

/* Accounts are not revealed: those that use one upstream by one name are counted together. */
static void standing_of(apr_array_header_t *lines, const char *family, apr_uint32_t store,
                        const char *name, const pay_acquirers_standing_t *standing)
{
    const struct {
        const char *name;
        int count;
    } states[] = {
        {"closed", standing->closed},
        {"open", standing->open},
        {"probing", standing->probing},
        {"faulty", standing->faulty},
    };
    apr_size_t i;

    for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        pay_meter_line(lines, "%s{store=\"%u\",acquirer=\"%s\",breaker=\"%s\"} %d\n", family, store,
                       name, states[i].name, states[i].count);
    }
}

static void standing(apr_array_header_t *lines, apr_uint32_t store,
                     const pay_acquirers_state_t *acquirer)
{
    standing_of(lines, "payments_acquirers", store, acquirer->name, &acquirer->all);
}

static void visitors(apr_array_header_t *lines, apr_uint32_t store,
                     const pay_acquirers_state_t *acquirer)
{
    standing_of(lines, "payments_acquirers_visitors", store, acquirer->name, &acquirer->visitors);
}

static void in_flight(apr_array_header_t *lines, apr_uint32_t store,
                      const pay_acquirers_state_t *acquirer)
{
    pay_meter_line(lines, "payments_acquirer_in_flight{store=\"%u\",acquirer=\"%s\"} %d\n", store,
                   acquirer->name, acquirer->calls);
}

static void in_flight_max(apr_array_header_t *lines, apr_uint32_t store,
                          const pay_acquirers_state_t *acquirer)
{
    pay_meter_line(lines, "payments_acquirer_in_flight_max{store=\"%u\",acquirer=\"%s\"} %d\n",
                   store, acquirer->name, acquirer->calls_max);
}

static const struct {
    const char *name;
    const char *help;
    void (*show)(apr_array_header_t *lines, apr_uint32_t store,
                 const pay_acquirers_state_t *acquirer);
} acquirer_families[] = {
    {"payments_acquirers",
     "Acquirers of Live Mode, one for each account; closed: it is called; open: left alone after "
     "failures; probing: one call tries it; faulty: its key is missing or refused.",
     standing},
    {"payments_acquirers_visitors",
     "The same for checkouts of public keys and payment pages, which have a breaker of their own.",
     visitors},
    {"payments_acquirer_in_flight", "Charges and refunds in progress at the acquirer.", in_flight},
    {"payments_acquirer_in_flight_max",
     "Their maximum (PaymentsAcquirerMaxInFlight of each account).", in_flight_max},
};

static void acquirers(apr_array_header_t *lines, const apr_array_header_t *stores)
{
    const pay_meters_store_t *store;
    apr_size_t f;
    int i, k;

    for (f = 0; f < sizeof(acquirer_families) / sizeof(acquirer_families[0]); f++) {
        pay_meter_family(lines, acquirer_families[f].name, "gauge", acquirer_families[f].help);
        for (i = 0; i < stores->nelts; i++) {
            store = &APR_ARRAY_IDX(stores, i, pay_meters_store_t);
            for (k = 0; k < store->acquirers->nelts; k++) {
                acquirer_families[f].show(
                    lines, store->number,
                    &APR_ARRAY_IDX(store->acquirers, k, pay_acquirers_state_t));
            }
        }
    }
}

static const struct {
    const char *name;
    const char *help;
    int (*value)(const pay_slots_t *slots);
} slot_families[] = {
    {"payments_slots_taken", "Calls of Live Mode at acquirers for which a client waits.",
     pay_slots_count},
    {"payments_slots_waiting", "Calls of this kind that wait for a slot.", pay_slots_waiting},
    {"payments_slots_max", "Number of slots: half of MaxRequestWorkers.", pay_slots_max},
};

static void slots(apr_array_header_t *lines)
{
    apr_size_t f;

    for (f = 0; pay_server_slots() && f < sizeof(slot_families) / sizeof(slot_families[0]); f++) {
        pay_meter_family(lines, slot_families[f].name, "gauge", slot_families[f].help);
        pay_meter_line(lines, "%s %d\n", slot_families[f].name,
                       slot_families[f].value(pay_server_slots()));
    }
}

/* A store that cannot be read has no samples: no value is better than a wrong zero. */
static void gauges(apr_array_header_t *lines, const apr_array_header_t *stores)
{
    const pay_meters_store_t *store;
    const family_t *family;
    apr_size_t f;
    int i;

    for (f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
        family = &families[f];
        pay_meter_family(lines, family->name, "gauge", family->help);
        for (i = 0; i < stores->nelts; i++) {
            store = &APR_ARRAY_IDX(stores, i, pay_meters_store_t);
            if (store->counted) {
                pay_meter_line(lines, "%s{store=\"%u\"} %s\n", family->name, store->number,
                               family->value(store, lines->pool));
            }
        }
    }
}

/* Logs at most one line a minute of this process: clients must not fill the log. */
static int may_tell(_Atomic apr_time_t *told)
{
    const apr_time_t now = pay_meter_now();
    apr_time_t last = atomic_load(told);

    return !(last && now - last < TELL_EVERY) && atomic_compare_exchange_strong(told, &last, now);
}

static void tell_passed_on(request_rec *r)
{
    static _Atomic apr_time_t told;

    if (may_tell(&told)) {
        ap_log_rerror(
            APLOG_MARK, APLOG_WARNING, 0, r,
            PAYLOGNO(00744) "PaymentsMetrics %s is refused: a proxy on this machine passed the "
                            "request on, perhaps by a RewriteRule [P] in a .htaccess, and rules by "
                            "address took the client for the proxy. Ask this server directly",
            r->uri);
    }
}

static void tell(request_rec *r)
{
    static _Atomic apr_time_t told;

    if (!may_tell(&told)) {
        return;
    }
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                  PAYLOGNO(00371) "PaymentsMetrics %s is refused: anyone could read it. Name who "
                                  "may: <Location \"%s\"> Require local </Location>",
                  r->uri, r->uri);
}

static const char *path_of(const pay_conf_t *conf)
{
    return conf->metrics_path;
}

static int answer(const char **text, const char **type, request_rec *r)
{
    apr_array_header_t *lines = apr_array_make(r->pool, 128, sizeof(const char *));
    const char *operations[PAY_METER_OPERATIONS_MAX];
    const apr_array_header_t *stores;
    int count = 0;

    *text = NULL;
    *type = PAY_METER_MEDIA_TYPE;
    if (!r->user && pay_forwarded_is_by_us(r)) {
        tell_passed_on(r);
        return HTTP_FORBIDDEN;
    }
    if (pay_anonymous_is_let_in(r)) {
        tell(r);
        return HTTP_FORBIDDEN;
    }
    while (count < PAY_METER_OPERATIONS_MAX && pay_route_operation(count)) {
        operations[count] = pay_route_operation(count);
        count++;
    }
    stores = pay_meters_stores(r->pool);
    up(lines, stores);
    damaged(lines, stores);
    if (pay_meters()) {
        pay_meter_text(lines, pay_meters(), operations, count);
    }
    outbox(lines, stores);
    gauges(lines, stores);
    acquirers(lines, stores);
    slots(lines);
    *text = apr_array_pstrcat(r->pool, lines, '\0');
    return HTTP_OK;
}

const pay_site_path_t pay_metrics = {
    .handler = "payments-metrics",
    .path = path_of,
    .answer = answer,
};
