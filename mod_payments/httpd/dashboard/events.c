/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/events.h"

#include "httpd/dashboard/change.h"
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"
#include "service/outbox/events.h"

#include <string.h>

#define SIZE_HINT 8192
#define BATCH 500
#define BATCHES_MAX 20 /* rows that one answer examines: so many batches */

void pay_dashboard_event_members(pay_writer_t *w, const pay_event_t *event)
{
    pay_writer_string(w, "id", pay_event_id(event, w->pool));
    pay_writer_string(w, "endpoint", pay_endpoint_kind_name(event->endpoint));
    pay_writer_string(w, "notify", pay_event_notify(event));
    pay_writer_string(w, "notifyType", pay_event_notify_type(event));
    pay_writer_string(w, "reference", event->charge ? event->charge->reference : NULL);
    pay_dashboard_charge_id(w, pay_event_charge_seq(event));
    pay_writer_integer(w, "sequence", (apr_int64_t)event->sequence);
    pay_writer_time(w, "createdAt", event->created_at);
    pay_writer_string(w, "standing", pay_event_standing(event));
    pay_writer_integer(w, "failures", (apr_int64_t)event->failures);
    pay_writer_time(w, "firstTryAt", event->first_try_at);
    pay_writer_time(w, "dueAt", event->due_at);
    pay_writer_time(w, "parkedAt", event->parked_at);
    pay_writer_time(w, "answeredAt", event->answered_at);
    pay_writer_integer(w, "status", event->status);
    pay_writer_string(w, "error", event->error ? event->error : "");
    pay_writer_string(w, "answer", event->answer ? event->answer : "");
}

/* Leaves out an event that was delivered since the list was read. */
static apr_status_t write_one(pay_writer_t *w, const pay_dashboard_t *dashboard,
                              const pay_event_t *place, apr_pool_t *p)
{
    pay_store_t *store = dashboard->service->store;
    pay_event_t *event;
    apr_status_t rv;

    rv = pay_store_event_get(&event, store, &dashboard->scope, place, p);
    if (rv != APR_SUCCESS) {
        return rv == APR_NOTFOUND ? APR_SUCCESS : rv;
    }
    pay_writer_object_open(w, NULL);
    pay_dashboard_event_members(w, event);
    pay_writer_object_close(w);
    return APR_SUCCESS;
}

apr_status_t pay_dashboard_events_of(pay_writer_t *w, const char *name,
                                     const pay_dashboard_t *dashboard, apr_uint64_t charge_seq,
                                     apr_pool_t *p)
{
    pay_event_t after = {.scope = dashboard->scope, .charge_seq = charge_seq};
    pay_store_t *store = dashboard->service->store;
    apr_array_header_t *events;
    const pay_event_t *event;
    apr_status_t rv = APR_SUCCESS;
    int kind, i;

    pay_writer_array_open(w, name);
    for (kind = PAY_ENDPOINT_WEBHOOK; rv == APR_SUCCESS && kind <= PAY_ENDPOINT_KIND_LAST; kind++) {
        after.endpoint = (pay_endpoint_kind_t)kind;
        rv = pay_store_event_list(&events, store, &dashboard->scope, 0, &after,
                                  PAY_DASHBOARD_EVENTS_MAX, p);
        for (i = 0; rv == APR_SUCCESS && i < events->nelts; i++) {
            event = APR_ARRAY_IDX(events, i, const pay_event_t *);
            if (event->endpoint != after.endpoint || event->charge_seq != charge_seq) {
                break;
            }
            rv = write_one(w, dashboard, event, p);
        }
    }
    pay_writer_array_close(w);
    return rv;
}

/* A part of the list while it is filled. */
typedef struct page_t {
    const pay_dashboard_t *dashboard;
    const char *standing; /* NULL: any */
    int limit;
    int count;
    const char *next; /* the id of the last examined event; NULL: there are no more */
    pay_writer_t *w;
} page_t;

static apr_status_t fill(page_t *page, const pay_event_t *after, apr_pool_t *p)
{
    const pay_dashboard_t *dashboard = page->dashboard;
    pay_store_t *store = dashboard->service->store;
    const int parked = page->standing && !strcmp(page->standing, "parked");
    apr_array_header_t *events;
    const pay_event_t *event = after;
    apr_status_t rv;
    int batch, i;

    for (batch = 0; batch < BATCHES_MAX; batch++) {
        rv = pay_store_event_list(&events, store, &dashboard->scope, parked, event, BATCH, p);
        for (i = 0; rv == APR_SUCCESS && i < events->nelts && page->count < page->limit; i++) {
            event = APR_ARRAY_IDX(events, i, const pay_event_t *);
            if (!page->standing || !strcmp(page->standing, pay_event_standing(event))) {
                rv = write_one(page->w, dashboard, event, p);
                page->count++;
            }
        }
        if (rv != APR_SUCCESS) {
            return rv;
        }
        if (i == events->nelts && events->nelts < BATCH) {
            page->next = NULL;
            return APR_SUCCESS;
        }
        page->next = pay_event_id(event, p);
        if (page->count == page->limit) {
            return APR_SUCCESS;
        }
    }
    return APR_SUCCESS;
}

static const pay_problem_t *fault(const char *field, const char *reason, apr_pool_t *p)
{
    pay_problem_t *problem = NULL;

    pay_problem_add(&problem, field, reason, p);
    return problem;
}

static const pay_problem_t *read_query(page_t *page, pay_event_t *after, int *given, apr_pool_t *p)
{
    const char *text = pay_dashboard_query(page->dashboard, "after");
    const char *standing = pay_dashboard_query(page->dashboard, "standing");

    *given = text != NULL;
    if (text && pay_event_id_parse(after, text) != APR_SUCCESS) {
        return fault("/after", "must be the value of next in the previous page", p);
    }
    if (standing && strcmp(standing, "waiting") != 0 && strcmp(standing, "behind") != 0
        && strcmp(standing, "parked") != 0) {
        return fault("/standing", "must be waiting, behind or parked", p);
    }
    page->standing = standing;
    return pay_dashboard_limit(&page->limit, page->dashboard, p);
}

int pay_dashboard_events_list(request_rec *r, const pay_dashboard_t *dashboard)
{
    page_t page = {.dashboard = dashboard, .w = pay_writer_make(SIZE_HINT, r->pool)};
    pay_event_t after = {.scope = dashboard->scope};
    const pay_problem_t *problem;
    apr_status_t rv;
    int given;

    problem = read_query(&page, &after, &given, r->pool);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    pay_dashboard_items_open(page.w);
    rv = fill(&page, given ? &after : NULL, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_problem(r, dashboard, pay_problem_of_store(rv, r->pool));
    }
    return pay_dashboard_items(r, page.w, page.next);
}

int pay_dashboard_event_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool), *body;
    const pay_problem_t *problem;
    pay_event_t *event;

    problem = pay_event_find(&event, dashboard->service, &dashboard->scope, dashboard->segment[0],
                             r->pool);
    if (problem && problem->error == PAY_ERR_REFERENCE_UNKNOWN) {
        problem = pay_problem_makef(PAY_ERR_PATH_UNKNOWN, r->pool, "%s", problem->message);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    pay_writer_object_open(w, NULL);
    pay_dashboard_event_members(w, event);
    if (event->endpoint == PAY_ENDPOINT_WEBHOOK) {
        body = pay_writer_make(SIZE_HINT, r->pool);
        pay_event_body_to_json(body, event);
        pay_writer_string(w, "body", body->text);
    } else {
        pay_writer_null(w, "body"); /* an e-mail: made from its template when it is sent */
    }
    pay_writer_object_close(w);
    return pay_dashboard_json(r, HTTP_OK, w);
}

void pay_dashboard_endpoint_members(pay_writer_t *w, const pay_endpoint_t *endpoint)
{
    pay_writer_bool(w, "enabled", endpoint->enabled);
    pay_writer_bool(w, "failing", pay_endpoint_is_failing(endpoint));
    pay_writer_integer(w, "failures", endpoint->failures);
    pay_writer_time(w, "failingSince", endpoint->failing_since);
    pay_writer_time(w, "dueAt", endpoint->due_at);
    pay_writer_time(w, "answeredAt", endpoint->answered_at);
    pay_writer_integer(w, "status", endpoint->status);
    pay_writer_string(w, "error", endpoint->error);
}

int pay_dashboard_send_test(request_rec *r, const pay_dashboard_t *dashboard,
                            pay_endpoint_kind_t kind)
{
    const pay_problem_t *problem;
    pay_event_t *event;
    pay_writer_t *w;

    problem = pay_event_test(&event, dashboard->service, &dashboard->scope, kind, r->pool);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    pay_writer_object_open(w, "event");
    pay_dashboard_event_members(w, event);
    pay_writer_object_close(w);
    return pay_dashboard_answer(r, w);
}
