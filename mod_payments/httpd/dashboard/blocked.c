/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/change.h"
#include "httpd/dashboard/reply.h"
#include "service/failures.h"

#define SIZE_HINT 2048

static void item_to_json(pay_writer_t *w, const char *name, const pay_failure_item_t *item)
{
    pay_writer_object_open(w, name);
    pay_writer_string(w, "id", item->id);
    pay_writer_string(w, "kind", item->kind);
    pay_writer_string(w, "hint", item->hint);
    pay_writer_time(w, "until", item->until);
    pay_writer_object_close(w);
}

/* Bounded, and not in parts: the blocks change by the second. */
int pay_dashboard_blocked_list(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    const apr_array_header_t *items;
    int i, count;

    items = pay_failures_list(&count, dashboard->service, &dashboard->scope, r->pool);
    pay_dashboard_items_open(w);
    for (i = 0; i < items->nelts; i++) {
        item_to_json(w, NULL, &APR_ARRAY_IDX(items, i, pay_failure_item_t));
    }
    return pay_dashboard_items(r, w, NULL);
}

int pay_dashboard_blocked_lift(request_rec *r, const pay_dashboard_t *dashboard)
{
    const char *id = dashboard->segment[0];
    const pay_problem_t *problem;
    pay_failure_item_t item;
    pay_writer_t *w;

    problem = pay_failures_find(&item, dashboard->service, &dashboard->scope, id, r->pool);
    if (!problem) {
        problem = pay_failures_lift(dashboard->service, &dashboard->scope, id, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    item_to_json(w, "lifted", &item);
    return pay_dashboard_answer(r, w);
}
