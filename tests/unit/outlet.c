/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"

pay_endpoint_t *outlet_open(int i, pay_endpoint_kind_t kind)
{
    const pay_endpoint_t wanted = {.scope = till->scopes[i],
                                   .kind = kind,
                                   .enabled = 1,
                                   .address = kind == PAY_ENDPOINT_RECEIPT ? "" : "there",
                                   .secret = kind == PAY_ENDPOINT_WEBHOOK ? "sealed" : ""};
    pay_endpoint_t *endpoint;

    ck_assert_int_eq(pay_store_endpoint_put(&endpoint, till->store, &wanted, NULL, unit_pool),
                     APR_SUCCESS);
    return endpoint;
}

void outlet_open_all(int i)
{
    int kind;

    for (kind = PAY_ENDPOINT_WEBHOOK; kind <= PAY_ENDPOINT_KIND_LAST; kind++) {
        (void)outlet_open(i, (pay_endpoint_kind_t)kind);
    }
}

pay_endpoint_t *outlet_get(int i, pay_endpoint_kind_t kind)
{
    pay_endpoint_t *endpoint;

    ck_assert_int_eq(
        pay_store_endpoint_get(&endpoint, till->store, &till->scopes[i], kind, unit_pool),
        APR_SUCCESS);
    return endpoint;
}

void outlet_shut(int i, pay_endpoint_kind_t kind)
{
    pay_endpoint_t off = *outlet_get(i, kind), *endpoint;

    off.enabled = 0;
    ck_assert_int_eq(pay_store_endpoint_put(&endpoint, till->store, &off, NULL, unit_pool),
                     APR_SUCCESS);
}

/* The same for each endpoint. */
int outlet_budget(void *baton, const pay_endpoint_t *endpoint, int taken)
{
    (void)endpoint;
    (void)taken;
    return *(const int *)baton;
}

apr_array_header_t *outlet_take(int limit, int budget)
{
    apr_array_header_t *taken;

    ck_assert_int_eq(
        pay_store_event_take(&taken, till->store, limit, outlet_budget, &budget, unit_pool),
        APR_SUCCESS);
    return taken;
}

const pay_event_t *outlet_event(const apr_array_header_t *taken, int at)
{
    ck_assert_int_lt(at, taken->nelts);
    return APR_ARRAY_IDX(taken, at, pay_taken_t).event;
}

pay_event_result_t outlet_result(const pay_event_t *event, pay_event_end_t end)
{
    const int failed = end == PAY_EVENT_FAILED || end == PAY_EVENT_REFUSED;
    const pay_event_result_t result = {.event = event,
                                       .end = end,
                                       .status = failed ? 500 : 204,
                                       .error = failed ? "The answer was 500" : "",
                                       .answer = failed ? "oops" : ""};

    return result;
}

pay_event_result_t outlet_finish(const pay_event_t *event, pay_event_end_t end)
{
    apr_array_header_t *results = apr_array_make(unit_pool, 1, sizeof(pay_event_result_t));

    APR_ARRAY_PUSH(results, pay_event_result_t) = outlet_result(event, end);
    ck_assert_int_eq(pay_store_event_finish(till->store, results, unit_pool), APR_SUCCESS);
    return APR_ARRAY_IDX(results, 0, pay_event_result_t);
}

apr_array_header_t *outlet_finish_all(const apr_array_header_t *taken, pay_event_end_t end)
{
    apr_array_header_t *results = apr_array_make(unit_pool, 1, sizeof(pay_event_result_t));
    int i;

    for (i = 0; i < taken->nelts; i++) {
        APR_ARRAY_PUSH(results, pay_event_result_t) = outlet_result(outlet_event(taken, i), end);
    }
    ck_assert_int_eq(pay_store_event_finish(till->store, results, unit_pool), APR_SUCCESS);
    return results;
}

int outlet_run(pay_event_end_t end)
{
    apr_array_header_t *taken;
    int count = 0;

    for (taken = outlet_take(PAY_STORE_LEASES_MAX, OUTLET_ANY); taken->nelts > 0;
         taken = outlet_take(PAY_STORE_LEASES_MAX, OUTLET_ANY)) {
        (void)outlet_finish_all(taken, end);
        count += taken->nelts;
    }
    return count;
}

const char *outlet_name(const pay_event_t *event)
{
    const char *standing = pay_event_standing(event);

    return apr_psprintf(unit_pool, "%s %" APR_UINT64_T_FMT ".%u %s %s%s%s%s",
                        pay_endpoint_kind_name(event->endpoint), pay_event_charge_seq(event),
                        event->sequence, pay_event_notify(event), pay_event_notify_type(event),
                        event->lease_worker.pid ? "*" : "", *standing == 'w' ? "" : " ",
                        *standing == 'w' ? "" : standing);
}

const char *outlet_waiting(int i)
{
    apr_array_header_t *list;
    const char *text = "";
    int k;

    ck_assert_int_eq(pay_store_event_list(&list, till->store, &till->scopes[i], 0, NULL,
                                          PAY_STORE_ROWS_MAX, unit_pool),
                     APR_SUCCESS);
    for (k = 0; k < list->nelts; k++) {
        text = apr_pstrcat(unit_pool, text, k ? "; " : "",
                           outlet_name(APR_ARRAY_IDX(list, k, pay_event_t *)), NULL);
    }
    return text;
}

typedef struct change_t {
    const pay_event_t *place;
    void (*change)(pay_event_t *event);
} change_t;

static int change_work(pay_rows_txn_t *txn, void *baton)
{
    const change_t *change = baton;
    pay_event_t *event;
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    rc = pay_store_event_load(&event, txn, change->place, unit_pool);
    if (rc) {
        return rc;
    }
    change->change(event);
    rc = pay_store_event_encode(&row, event, unit_pool);
    if (rc) {
        return rc;
    }
    pay_store_event_key(&key, change->place);
    at = pay_store_key_val(&key);
    return pay_rows_put(txn, PAY_TABLE_EVENT, &at, &row, 0);
}

void outlet_change(const pay_event_t *place, void (*change)(pay_event_t *event))
{
    change_t work = {place, change};

    till_raw(change_work, &work);
}
