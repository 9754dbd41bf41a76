/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "base/text/writer.h"
#include "httpd/api/api.h"
#include "httpd/call/page_root.h"
#include "httpd/call/reply.h"
#include "model/checkout_answer.h"
#include "model/order.h"
#include "service/account/encryption.h"
#include "service/checkout/checkout_create.h"

#include <string.h>

#define ANSWER_SIZE_HINT 1024

const pay_problem_t *pay_api_open_body(const pay_json_t **body, request_rec *r,
                                       const pay_call_t *call)
{
    const char *data = pay_json_string(call->body, "data");
    const pay_problem_t *problem;
    const char *text, *reason;
    apr_status_t rv;

    *body = call->body;
    if (!data || pay_json_count(call->body) != 1) {
        return NULL;
    }
    problem = pay_encryption_open(&text, call->service, &call->key->scope, data, r->pool);
    if (problem) {
        return problem;
    }
    rv = pay_json_parse(body, &reason, text, strlen(text), r->pool);
    return rv == APR_SUCCESS ? NULL : pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, r->pool);
}

static const pay_problem_t *create(const pay_charge_t **out, int *replayed, request_rec *r,
                                   const pay_call_t *call, const char *page_root,
                                   pay_checkout_form_t form)
{
    const pay_caller_t caller = pay_caller_of_key(call->key, call->idempotency_key);
    pay_checkout_request_t *request;
    const pay_problem_t *problem;
    const pay_json_t *body = call->body;

    *out = NULL;
    problem = form == PAY_CHECKOUT_FORM_INITIATE ? NULL : pay_api_open_body(&body, r, call);
    if (!problem) {
        problem = pay_checkout_request_from_json(&request, body, form,
                                                 call->key->account->settings.currency, r->pool);
    }
    if (problem) {
        return problem;
    }
    apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE",
                   *request->reference ? request->reference : request->link);
    return pay_checkout_create(out, replayed, call->service, &caller, request, page_root,
                               r->useragent_ip, r->pool);
}

static int initiate(request_rec *r, const pay_call_t *call, pay_checkout_form_t form)
{
    const char *page_root = pay_page_root(r);
    const pay_problem_t *problem;
    const pay_charge_t *charge;
    const char *page_url;
    pay_writer_t *w;
    int replayed = 0;

    problem = create(&charge, &replayed, r, call, page_root, form);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    if (replayed) {
        pay_reply_mark_replayed(r);
    }
    page_url = pay_checkout_page_url(charge, page_root, r->pool);
    w = pay_writer_make(ANSWER_SIZE_HINT, r->pool);
    if (form == PAY_CHECKOUT_FORM_ORDER) {
        pay_order_created_to_json(w, charge, call->key->account, page_url, pay_api_view(call));
    } else {
        pay_checkout_answer_to_json(w, charge, page_url, call->public_key);
    }
    return pay_reply_json(r, HTTP_OK, w);
}

int pay_api_checkout_initiate(request_rec *r, const pay_call_t *call)
{
    return initiate(r, call, PAY_CHECKOUT_FORM_INITIATE);
}

int pay_api_order_create(request_rec *r, const pay_call_t *call)
{
    return initiate(r, call, PAY_CHECKOUT_FORM_ORDER);
}

int pay_api_paymentlink_initiate(request_rec *r, const pay_call_t *call)
{
    return initiate(r, call, PAY_CHECKOUT_FORM_LINK);
}
