/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/site/status.h"

#include "httpd/process/meters.h"

#include <apr_optional_hooks.h>
#include <http_protocol.h>
#include <mod_status.h>

/* Each counter of charges, for people and for programs. */
static const struct {
    pay_meter_counter_t counter;
    const char *title;
    const char *name;
} charges[] = {
    {PAY_METER_CHARGE_SUCCESSFUL, "test, successful", "TestSuccessful"},
    {PAY_METER_CHARGE_FAILED, "test, failed", "TestFailed"},
    {PAY_METER_CHARGE_PENDING, "test, pending at first", "TestPending"},
    {PAY_METER_CHARGE_SUCCESSFUL_LIVE, "live, successful", "LiveSuccessful"},
    {PAY_METER_CHARGE_FAILED_LIVE, "live, failed", "LiveFailed"},
    {PAY_METER_CHARGE_PENDING_LIVE, "live, pending at first", "LivePending"},
};
#define CHARGES (sizeof(charges) / sizeof(charges[0]))

static void acquirers_short(request_rec *r, const pay_meters_store_t *store)
{
    const pay_acquirers_state_t *acquirer;
    int i;

    for (i = 0; i < store->acquirers->nelts; i++) {
        acquirer = &APR_ARRAY_IDX(store->acquirers, i, pay_acquirers_state_t);
        ap_rprintf(r,
                   "PaymentsStore%uAcquirer%dName: %s\n"
                   "PaymentsStore%uAcquirer%dInFlight: %d\n"
                   "PaymentsStore%uAcquirer%dInFlightMax: %d\n"
                   "PaymentsStore%uAcquirer%dClosed: %d\n"
                   "PaymentsStore%uAcquirer%dOpen: %d\n"
                   "PaymentsStore%uAcquirer%dProbing: %d\n"
                   "PaymentsStore%uAcquirer%dFaulty: %d\n",
                   store->number, i, acquirer->name, store->number, i, acquirer->calls,
                   store->number, i, acquirer->calls_max, store->number, i, acquirer->all.closed,
                   store->number, i, acquirer->all.open, store->number, i, acquirer->all.probing,
                   store->number, i, acquirer->all.faulty);
    }
}

static void store_short(request_rec *r, const pay_meters_store_t *store)
{
    ap_rprintf(r, "PaymentsStore%uUp: %d\nPaymentsStore%uDamaged: %d\n", store->number, store->up,
               store->number, store->damaged);
    acquirers_short(r, store);
    if (!store->counted) {
        return;
    }
    ap_rprintf(r,
               "PaymentsStore%uOutboxWaiting: %" APR_UINT64_T_FMT "\n"
               "PaymentsStore%uOutboxParked: %" APR_UINT64_T_FMT "\n"
               "PaymentsStore%uOutboxOverdueSeconds: %" APR_TIME_T_FMT "\n",
               store->number, store->events.events - store->events.parked, store->number,
               store->events.parked, store->number, apr_time_sec(store->events.overdue));
    ap_rprintf(r,
               "PaymentsStore%uPending: %" APR_UINT64_T_FMT "\n"
               "PaymentsStore%uCheckoutsOpen: %" APR_UINT64_T_FMT "\n"
               "PaymentsStore%uHeld: %" APR_UINT64_T_FMT "\n"
               "PaymentsStore%uReaders: %u\n"
               "PaymentsStore%uReadersMax: %u\n"
               "PaymentsStore%uMapUsedBytes: %" APR_INT64_T_FMT "\n"
               "PaymentsStore%uMapBytes: %" APR_INT64_T_FMT "\n",
               store->number, store->stat.pending, store->number, store->stat.checkouts_open,
               store->number, store->stat.held, store->number, store->stat.readers, store->number,
               store->stat.readers_max, store->number, store->stat.used_bytes, store->number,
               store->stat.map_bytes);
}

static void show_short(request_rec *r, const apr_array_header_t *stores)
{
    const pay_meter_t *meter = pay_meters();
    apr_size_t c;
    int i;

    for (c = 0; c < CHARGES && meter; c++) {
        ap_rprintf(r, "PaymentsCharges%s: %" APR_UINT64_T_FMT "\n", charges[c].name,
                   pay_meter_read(meter, charges[c].counter));
    }
    for (i = 0; i < stores->nelts; i++) {
        store_short(r, &APR_ARRAY_IDX(stores, i, pay_meters_store_t));
    }
}

static void store_row(request_rec *r, const pay_meters_store_t *store)
{
    if (!store->counted) {
        ap_rprintf(r, "<tr><td>%u</td><td>%s</td><td colspan=\"8\"></td></tr>\n", store->number,
                   store->damaged ? "damaged" : "down");
        return;
    }
    ap_rprintf(r,
               "<tr><td>%u</td><td>%s</td><td>%" APR_UINT64_T_FMT "</td><td>%" APR_UINT64_T_FMT
               "</td><td>%" APR_TIME_T_FMT " s</td><td>%" APR_UINT64_T_FMT
               "</td><td>%" APR_UINT64_T_FMT "</td><td>%" APR_UINT64_T_FMT "</td><td>%u of %u</td>"
               "<td>%" APR_INT64_T_FMT " of %" APR_INT64_T_FMT " MiB</td></tr>\n",
               store->number, store->up ? "up" : "down",
               store->events.events - store->events.parked, store->events.parked,
               apr_time_sec(store->events.overdue), store->stat.pending, store->stat.checkouts_open,
               store->stat.held, store->stat.readers, store->stat.readers_max,
               store->stat.used_bytes >> 20, store->stat.map_bytes >> 20);
}

/* Names consist of letters, digits and . _ : @ [ ] - alone. */
static void acquirers_table(request_rec *r, const apr_array_header_t *stores)
{
    const pay_acquirers_state_t *acquirer;
    const pay_meters_store_t *store;
    int rows = 0;
    int i, k;

    for (i = 0; i < stores->nelts; i++) {
        store = &APR_ARRAY_IDX(stores, i, pay_meters_store_t);
        for (k = 0; k < store->acquirers->nelts; k++) {
            acquirer = &APR_ARRAY_IDX(store->acquirers, k, pay_acquirers_state_t);
            if (rows++ == 0) {
                ap_rputs("<table border=\"0\"><tr><th>Store</th><th>Acquirer</th>"
                         "<th>In flight</th><th>Closed</th><th>Open</th><th>Probing</th>"
                         "<th>Faulty</th></tr>\n",
                         r);
            }
            ap_rprintf(r,
                       "<tr><td>%u</td><td>%s</td><td>%d of %d</td><td>%d</td><td>%d</td>"
                       "<td>%d</td><td>%d</td></tr>\n",
                       store->number, acquirer->name, acquirer->calls, acquirer->calls_max,
                       acquirer->all.closed, acquirer->all.open, acquirer->all.probing,
                       acquirer->all.faulty);
        }
    }
    if (rows > 0) {
        ap_rputs("</table>\n", r);
    }
}

static void show_page(request_rec *r, const apr_array_header_t *stores)
{
    const pay_meter_t *meter = pay_meters();
    apr_size_t c;
    int i;

    ap_rputs("<hr>\n<h2>Payments</h2>\n", r);
    if (meter) {
        ap_rputs("<dl><dt>Charges since the server was started</dt>\n", r);
        for (c = 0; c < CHARGES; c++) {
            ap_rprintf(r, "<dd>%s: %" APR_UINT64_T_FMT "</dd>\n", charges[c].title,
                       pay_meter_read(meter, charges[c].counter));
        }
        ap_rputs("</dl>\n", r);
    }
    ap_rputs("<table border=\"0\"><tr><th>Store</th><th>State</th><th>Waiting</th><th>Parked</th>"
             "<th>Overdue</th><th>Pending</th><th>Open checkouts</th><th>Held</th>"
             "<th>Readers</th><th>Map</th></tr>\n",
             r);
    for (i = 0; i < stores->nelts; i++) {
        store_row(r, &APR_ARRAY_IDX(stores, i, pay_meters_store_t));
    }
    ap_rputs("</table>\n", r);
    acquirers_table(r, stores);
}

static int status_hook(request_rec *r, int flags)
{
    const apr_array_header_t *stores = pay_meters_stores(r->pool);

    if (stores->nelts == 0) {
        return DECLINED; /* loaded, and no virtual host uses it */
    }
    if (flags & AP_STATUS_SHORT) {
        show_short(r, stores);
    } else {
        show_page(r, stores);
    }
    return OK;
}

void pay_status_register_hooks(apr_pool_t *p)
{
    (void)p;
    APR_OPTIONAL_HOOK(ap, status_hook, status_hook, NULL, NULL, APR_HOOK_MIDDLE);
}
