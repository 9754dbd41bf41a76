/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"
#include "service/charge/decisions.h"

#include <apr_strings.h>
#include <string.h>

#define SIZE_HINT 4096
#define CHARGE "charge."
#define REFUND "refund."

static void item_to_json(pay_writer_t *w, const pay_due_t *due)
{
    const pay_charge_t *charge = due->charge;
    const pay_refund_t *refund = due->refund;
    const pay_money_t *money = refund ? &refund->money : &charge->money;
    const pay_held_t held = refund ? refund->held : charge->held;
    char text[PAY_MONEY_TEXT_MAX];

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "kind", refund ? "refund" : "charge");
    pay_writer_string(w, "id",
                      refund ? refund->refund_reference
                             : apr_psprintf(w->pool, "%" APR_UINT64_T_FMT, charge->seq));
    pay_dashboard_charge_id(w, refund ? refund->charge_seq : charge->seq);
    pay_writer_string(w, "reference", refund ? refund->transaction_reference : charge->reference);
    pay_writer_string(
        w, "amount",
        money->currency[0] ? pay_money_format(text, money->amount_minor, money->currency) : NULL);
    pay_writer_string(w, "currency", money->currency[0] ? money->currency : NULL);
    pay_writer_time(w, "createdAt", refund ? refund->created_at : charge->created_at);
    pay_writer_string(w, "status",
                      refund ? pay_refund_state_name(refund->state)
                             : pay_charge_status_name(charge->state));
    pay_writer_string(w, "paymentStatus",
                      refund ? pay_refund_state_name(refund->state)
                             : pay_charge_state_name(charge->state));
    pay_writer_string(w, "held", pay_held_name(held));
    pay_writer_string(w, "sentence", pay_held_text(held));
    pay_writer_object_close(w);
}

/*
 * Reads the start of a part of the list; `charge` and `refund` are the caller's memory. Returns 0
 * if the text is not valid.
 */
static int read_after(pay_due_t *out, pay_charge_t *charge, pay_refund_t *refund, const char *text,
                      const pay_scope_t *scope)
{
    charge->scope = *scope;
    refund->scope = *scope;
    memset(out, 0, sizeof(*out));
    if (!strncmp(text, CHARGE, sizeof(CHARGE) - 1)) {
        out->charge = charge;
        return pay_query_number(&charge->seq, text + sizeof(CHARGE) - 1);
    }
    out->refund = refund;
    return !strncmp(text, REFUND, sizeof(REFUND) - 1)
           && pay_query_number(&refund->seq, text + sizeof(REFUND) - 1);
}

static const char *cursor_of(const pay_due_t *due, apr_pool_t *p)
{
    return apr_psprintf(p, "%s%" APR_UINT64_T_FMT, due->refund ? REFUND : CHARGE,
                        due->refund ? due->refund->seq : due->charge->seq);
}

int pay_dashboard_held_list(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    const char *text = pay_dashboard_query(dashboard, "after");
    pay_store_t *store = dashboard->service->store;
    pay_problem_t *fault = NULL;
    const pay_problem_t *problem;
    pay_charge_t charge = {.seq = 0};
    pay_refund_t refund = {.seq = 0};
    apr_array_header_t *rows;
    pay_due_t after;
    apr_status_t rv;
    int limit, i;

    problem = pay_dashboard_limit(&limit, dashboard, r->pool);
    if (!problem && text && !read_after(&after, &charge, &refund, text, &dashboard->scope)) {
        pay_problem_add(&fault, "/after", "must be the value of next in the previous page",
                        r->pool);
        problem = fault;
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    rv = pay_store_held_list(&rows, store, &dashboard->scope, text ? &after : NULL, limit, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_problem(r, dashboard, pay_problem_of_store(rv, r->pool));
    }
    pay_dashboard_items_open(w);
    for (i = 0; i < rows->nelts; i++) {
        item_to_json(w, &APR_ARRAY_IDX(rows, i, pay_due_t));
    }
    return pay_dashboard_items(r, w,
                               rows->nelts == limit
                                   ? cursor_of(&APR_ARRAY_IDX(rows, limit - 1, pay_due_t), r->pool)
                                   : NULL);
}
