/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/event.h"

#include "base/text/time.h"
#include "store/record/epoch.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <string.h>

#define PARKED_TOLD_EVERY apr_time_from_sec(24 * 3600)

/* The endpoints of a scope for which events are written. */
typedef struct endpoints_t {
    pay_endpoint_t *of[PAY_ENDPOINT_KIND_LAST + 1]; /* NULL: no endpoint */
    int count;
} endpoints_t;

typedef struct test_t {
    const pay_scope_t *scope;
    pay_endpoint_kind_t kind;
    apr_pool_t *p;
    pay_event_t *out; /* NULL if the endpoint does not exist */
} test_t;

/* Most scopes have no endpoints: one read shows it. */
static int endpoints_load(endpoints_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                          apr_pool_t *p)
{
    pay_store_key_t prefix;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_ENDPOINT, &prefix, NULL, PAY_ROWS_FROM);
    pay_endpoint_t *endpoint;
    pay_bytes_t key, row;
    int rc;

    memset(out, 0, sizeof(*out));
    pay_store_key_of_scope(&prefix, scope);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc) {
        /* A row that does not decode was logged; it must not block payments. */
        rc = pay_store_endpoint_decode(&endpoint, &key, &row, p);
        if (!rc && endpoint->enabled) {
            out->of[endpoint->kind] = endpoint;
            out->count++;
        }
        rc = pay_rows_next(&key, &row, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

/* Writes one event, which is due at once unless an earlier one of the transaction waits. */
static int add(pay_rows_txn_t *txn, pay_endpoint_t *endpoint, const pay_event_t *about,
               int may_be_behind, apr_pool_t *p)
{
    pay_event_t *event = apr_pmemdup(p, about, sizeof(*about));
    const apr_time_t now = pay_time_now();
    pay_event_t *earlier;
    int rc = PAY_ROWS_NOTFOUND;

    event->scope = endpoint->scope;
    event->endpoint = endpoint->kind;
    event->error = "";
    event->answer = "";
    if (may_be_behind) {
        rc = pay_store_event_first(&earlier, txn, event, p);
    }
    if (rc && rc != PAY_ROWS_NOTFOUND && rc != PAY_ROWS_BAD) {
        return rc;
    }
    event->due_at =
        rc == PAY_ROWS_NOTFOUND ? now : 0; /* else after the earlier one, whatever its state */
    rc = pay_store_event_store(txn, event, p);
    if (rc == PAY_ROWS_BAD) { /* the damaged row at its key was logged, and waits for repair */
        return 0;
    }
    if (!rc && event->due_at && pay_store_endpoint_hasten(endpoint, now)) {
        rc = pay_store_endpoint_store(txn, endpoint, p);
    }
    return rc;
}

/* Writes the event for all endpoints that want it; sets *any to 1 if there was one. */
static int tell(int *any, pay_rows_txn_t *txn, endpoints_t *endpoints, const pay_event_t *about,
                int first, int may_be_behind, apr_pool_t *p)
{
    int kind, rc = 0;

    *any = 0;
    for (kind = PAY_ENDPOINT_WEBHOOK; !rc && kind <= PAY_ENDPOINT_KIND_LAST; kind++) {
        if (endpoints->of[kind]
            && pay_event_is_for((pay_endpoint_kind_t)kind, about->kind, about->state, first)) {
            *any = 1;
            rc = add(txn, endpoints->of[kind], about, may_be_behind, p);
        }
    }
    return rc;
}

/* The address of an erased payer is not known. */
static void spare_payer(endpoints_t *endpoints, const pay_charge_t *charge)
{
    if (!*charge->email) {
        endpoints->of[PAY_ENDPOINT_RECEIPT] = NULL;
    }
}

static pay_event_t event_of_charge(const pay_charge_t *charge)
{
    pay_event_t event;

    memset(&event, 0, sizeof(event));
    event.charge_seq = charge->seq;
    event.kind = PAY_EVENT_TRANSACTION;
    event.state = charge->state;
    event.created_at = charge->updated_at;
    event.decided = charge->decided_state != PAY_CHARGE_PENDING;
    event.refunded_minor = pay_charge_refunded_minor(charge);
    event.refunds_pending_minor = charge->refunds_pending_minor;
    return event;
}

static int tell_charge(pay_rows_txn_t *txn, endpoints_t *endpoints, pay_charge_t *charge, int first,
                       apr_pool_t *p)
{
    pay_event_t event = event_of_charge(charge);
    int any, rc;

    rc = pay_store_epoch_sequence(&event.sequence, txn, charge->events);
    if (!rc) {
        rc = tell(&any, txn, endpoints, &event, first, charge->events > 0, p);
    }
    if (!rc && any) {
        charge->events = event.sequence;
    }
    return rc;
}

int pay_store_event_of_charge(pay_rows_txn_t *txn, pay_charge_t *charge, int first, apr_pool_t *p)
{
    endpoints_t endpoints;
    int rc;

    rc = endpoints_load(&endpoints, txn, &charge->scope, p);
    if (rc || endpoints.count == 0) {
        return rc;
    }
    spare_payer(&endpoints, charge);
    return tell_charge(txn, &endpoints, charge, first, p);
}

static pay_event_t event_of_refund(const pay_refund_t *refund, const pay_charge_t *charge)
{
    pay_event_t event;

    memset(&event, 0, sizeof(event));
    event.charge_seq = charge->seq;
    event.kind = PAY_EVENT_REFUND;
    event.state = refund->state;
    event.created_at = refund->updated_at;
    event.decided = 1;
    event.refund_created_at = refund->created_at;
    event.refund_seq = refund->seq;
    return event;
}

int pay_store_event_is_wanted(int *wanted, pay_rows_txn_t *txn, const pay_scope_t *scope,
                              apr_pool_t *p)
{
    endpoints_t endpoints;
    int rc;

    rc = endpoints_load(&endpoints, txn, scope, p);
    *wanted = !rc && endpoints.count > 0;
    return rc;
}

int pay_store_event_of_refund(pay_rows_txn_t *txn, pay_charge_t *charge, const pay_refund_t *refund,
                              int turned, apr_pool_t *p)
{
    const pay_charge_state_t to =
        refund->state == PAY_REFUND_PROCESSED ? PAY_CHARGE_REVERSED : PAY_CHARGE_SUCCESSFUL;
    endpoints_t endpoints;
    pay_event_t event;
    int any, rc;

    rc = endpoints_load(&endpoints, txn, &refund->scope, p);
    if (rc) {
        return rc;
    }
    spare_payer(&endpoints, charge);
    event = event_of_refund(refund, charge);
    rc = pay_store_epoch_sequence(&event.sequence, txn, charge->events);
    if (!rc) {
        rc = tell(&any, txn, &endpoints, &event, 1, charge->events > 0, p);
    }
    if (rc) {
        return rc;
    }
    charge->events = any ? event.sequence : charge->events;
    if (turned && charge->state == to) { /* and has not changed since an import's row was written */
        rc = tell_charge(txn, &endpoints, charge, 0, p);
    }
    return rc;
}

int pay_store_event_of_parked(pay_rows_txn_t *txn, const pay_event_t *parked,
                              pay_endpoint_t *webhook, pay_endpoint_t *notice, apr_time_t now,
                              apr_pool_t *p)
{
    pay_event_t event, *waits;
    int rc;

    if (parked->endpoint != PAY_ENDPOINT_WEBHOOK || parked->kind == PAY_EVENT_TEST
        || !notice->enabled
        || !pay_time_is_over(webhook->parked_told_at + PARKED_TOLD_EVERY, now, PARKED_TOLD_EVERY)) {
        return 0;
    }
    memset(&event, 0, sizeof(event));
    event.scope = notice->scope;
    event.endpoint = notice->kind;
    event.charge_seq = parked->charge_seq | PAY_EVENT_PARKED_BIT;
    event.sequence = parked->sequence;
    event.kind = PAY_EVENT_PARKED;
    event.state = parked->status;
    event.created_at = now;
    event.decided = parked->decided;
    rc = pay_store_event_load(&waits, txn, &event, p);
    if (rc != PAY_ROWS_NOTFOUND) { /* parked before, which has yet to be reported */
        return rc == PAY_ROWS_BAD ? 0 : rc;
    }
    webhook->parked_told_at = now;
    return add(txn, notice, &event, 1, p);
}

/* Removes earlier tests of the endpoint: their result is known by now. */
static int remove_tests(pay_rows_txn_t *txn, const pay_event_t *test, apr_pool_t *p)
{
    pay_event_t *earlier;
    int rc;

    for (;;) {
        rc = pay_store_event_first(&earlier, txn, test, p);
        if (rc) {
            return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
        }
        rc = pay_store_event_remove(txn, earlier);
        if (rc) {
            return rc;
        }
    }
}

static int test_work(pay_rows_txn_t *txn, void *baton)
{
    test_t *work = baton;
    pay_endpoint_t *endpoint;
    pay_event_t event;
    int rc;

    work->out = NULL;
    rc = pay_store_endpoint_load(&endpoint, txn, work->scope, work->kind, work->p);
    if (rc == PAY_ROWS_NOTFOUND || (!rc && !endpoint->enabled)) {
        return PAY_ROWS_SILENT;
    }
    if (rc) {
        return rc;
    }
    memset(&event, 0, sizeof(event));
    event.scope = *work->scope;
    event.endpoint = work->kind;
    event.kind = PAY_EVENT_TEST;
    event.created_at = pay_store_time_now();
    rc = remove_tests(txn, &event, work->p);
    if (rc) {
        return rc;
    }
    event.sequence = ++endpoint->tests;
    if (pay_endpoint_is_failing(
            endpoint)) { /* a person who sends a test has fixed the endpoint, or wants to know */
        endpoint->failures = PAY_ENDPOINT_FAILURES_MAX - 1;
    }
    rc = add(txn, endpoint, &event, 0, work->p);
    if (!rc) {
        rc = pay_store_endpoint_store(txn, endpoint, work->p);
    }
    if (!rc) {
        rc = pay_store_event_load(&work->out, txn, &event, work->p);
    }
    return rc;
}

apr_status_t pay_store_event_test(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                  pay_endpoint_kind_t kind, apr_pool_t *p)
{
    test_t work = {.scope = scope, .kind = kind, .p = p};
    apr_status_t rv;

    *out = NULL;
    if (!pay_event_is_for(kind, PAY_EVENT_TEST, 0, 1)) {
        return APR_EINVAL;
    }
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, test_work, &work);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = work.out;
    return work.out ? APR_SUCCESS : APR_NOTFOUND;
}
