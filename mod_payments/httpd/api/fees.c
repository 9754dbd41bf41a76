/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "httpd/api/api.h"
#include "httpd/call/reply.h"
#include "model/fee.h"
#include "model/order.h"

#define ANSWER_SIZE_HINT 256

typedef void to_json_t(pay_writer_t *w, const pay_fee_request_t *request, apr_int64_t fee_minor);

static int reply(request_rec *r, const pay_call_t *call, to_json_t *to_json)
{
    const pay_account_settings_t *settings = &call->key->account->settings;
    const struct pay_json_t *body;
    const pay_problem_t *problem;
    pay_fee_request_t request;
    pay_writer_t *w;

    problem = pay_api_open_body(&body, r, call);
    if (!problem) {
        problem = pay_fee_request_from_json(&request, body, settings->currency, r->pool);
    }
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    w = pay_writer_make(ANSWER_SIZE_HINT, r->pool);
    to_json(w, &request, pay_fee_of(settings->fees, &request.money, request.channel));
    return pay_reply_json(r, HTTP_OK, w);
}

int pay_api_transaction_fee(request_rec *r, const pay_call_t *call)
{
    return reply(r, call, pay_fee_to_json);
}

int pay_api_order_fee(request_rec *r, const pay_call_t *call)
{
    return reply(r, call, pay_order_fee_to_json);
}
