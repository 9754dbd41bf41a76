/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "httpd/api/api.h"
#include "httpd/call/reply.h"
#include "model/order.h"

#define ANSWER_SIZE_HINT 2048

static int reply(request_rec *r, const pay_call_t *call, const char *reference)
{
    pay_transaction_t transaction;
    const pay_problem_t *problem;
    pay_writer_t *w;

    problem = pay_api_find(&transaction, r, call, reference);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    w = pay_writer_make(ANSWER_SIZE_HINT, r->pool);
    pay_order_state_to_json(w, transaction.charge, pay_api_view(call));
    return pay_reply_json(r, HTTP_OK, w);
}

int pay_api_order_get(request_rec *r, const pay_call_t *call)
{
    return reply(r, call, call->segment[0]);
}

int pay_api_order_verify(request_rec *r, const pay_call_t *call)
{
    const struct pay_json_t *body;
    const pay_problem_t *problem;
    const char *reference;

    problem = pay_api_open_body(&body, r, call);
    if (!problem) {
        problem = pay_order_reference_from_json(&reference, body, r->pool);
    }
    return problem ? pay_reply_problem(r, problem) : reply(r, call, reference);
}
