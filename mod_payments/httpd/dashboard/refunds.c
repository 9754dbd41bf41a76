/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"

#define SIZE_HINT 16384

/* Writes the record, and the charge's number, to which the page links. */
static void item_to_json(pay_writer_t *w, const pay_refund_t *refund)
{
    pay_writer_object_open(w, NULL);
    pay_refund_members_to_json(w, refund);
    pay_dashboard_charge_id(w, refund->charge_seq);
    pay_writer_object_close(w);
}

int pay_dashboard_refunds_list(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    pay_store_t *store = dashboard->service->store;
    pay_page_cursor_t cursor = {.started = 0};
    const pay_problem_t *problem;
    apr_array_header_t *rows;
    pay_time_range_t range;
    apr_status_t rv;
    int limit, i;

    problem = pay_dashboard_limit(&limit, dashboard, r->pool);
    if (!problem) {
        problem = pay_dashboard_range(&range, dashboard, r->pool);
    }
    if (!problem) {
        problem = pay_dashboard_cursor(&cursor.created_at, &cursor.seq, &cursor.started, dashboard,
                                       r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    rv = pay_store_refund_page(&rows, &cursor, store, &dashboard->scope, &range, limit, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_problem(r, dashboard, pay_problem_of_store(rv, r->pool));
    }
    pay_dashboard_items_open(w);
    for (i = 0; i < rows->nelts; i++) {
        item_to_json(w, APR_ARRAY_IDX(rows, i, const pay_refund_t *));
    }
    return pay_dashboard_items(
        r, w, cursor.done ? NULL : pay_query_cursor_text(cursor.created_at, cursor.seq, r->pool));
}
