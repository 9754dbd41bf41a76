/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "httpd/api/api.h"
#include "httpd/call/page_root.h"
#include "httpd/call/reply.h"
#include "model/checkout.h"
#include "service/charge/transactions.h"

#define ANSWER_SIZE_HINT 4096

pay_view_t pay_api_view(const pay_call_t *call)
{
    return call->key->kind == PAY_KEY_SECRET ? PAY_VIEW_SECRET : PAY_VIEW_PUBLIC;
}

const pay_problem_t *pay_api_find(pay_transaction_t *out, request_rec *r, const pay_call_t *call,
                                  const char *reference)
{
    const pay_problem_t *problem;

    problem = pay_transaction_get(out, call->service, &call->key->scope, reference, r->pool);
    if (!problem) {
        apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE", out->charge->reference);
    }
    return problem;
}

/* `page_root` NULL: without the address of the page. */
static int show(request_rec *r, const pay_call_t *call, const char *page_root)
{
    pay_transaction_t transaction;
    const pay_problem_t *problem;
    const char *page_url = page_root ? "" : NULL;
    pay_writer_t *w;

    problem = pay_api_find(&transaction, r, call, call->segment[0]);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    if (page_root && transaction.charge->checkout) {
        page_url = pay_checkout_page_url(transaction.charge, page_root, r->pool);
    }
    w = pay_writer_make(ANSWER_SIZE_HINT, r->pool);
    pay_verify_answer_to_json(w, &transaction, pay_api_view(call), page_url);
    return pay_reply_json(r, HTTP_OK, w);
}

int pay_api_transaction_get(request_rec *r, const pay_call_t *call)
{
    return show(r, call, NULL);
}

int pay_api_transaction_shown(request_rec *r, const pay_call_t *call)
{
    return show(r, call, pay_page_root(r));
}

/* Sends an answer that is already text, perhaps a stored one. */
static int reply(request_rec *r, const pay_problem_t *problem, const char *text, int replayed)
{
    if (replayed) {
        pay_reply_mark_replayed(r);
    }
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    return pay_reply_text(r, HTTP_OK, text);
}

int pay_api_transaction_verify(request_rec *r, const pay_call_t *call)
{
    pay_verify_request_t *request;
    const pay_problem_t *problem;
    const char *text;

    problem = pay_verify_request_from_json(&request, call->body, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE", request->reference);
    problem = pay_transaction_verify(&text, call->service, &call->key->scope, request, r->pool);
    return reply(r, problem, text, 0);
}

int pay_api_transaction_void(request_rec *r, const pay_call_t *call)
{
    const pay_caller_t caller = pay_caller_of_key(call->key, call->idempotency_key);
    const pay_problem_t *problem;
    const char *reference, *text;
    int replayed;

    problem = pay_void_reference_from_json(&reference, call->body, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE", reference);
    problem = pay_transaction_void(&text, &replayed, call->service, &caller, reference, r->pool);
    return reply(r, problem, text, replayed);
}
