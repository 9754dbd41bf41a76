/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_writer.h"
#include "httpd/pay_api.h"
#include "httpd/pay_body.h"
#include "httpd/pay_reply.h"
#include "service/pay_charges.h"

#define ANSWER_SIZE_HINT 2048

int pay_api_charge_create(request_rec *r, const pay_call_t *call)
{
    pay_charge_request_t *request;
    const pay_problem_t *problem;
    const pay_json_t *body;
    pay_charge_t *charge;
    pay_writer_t *w;
    int replayed;

    problem = pay_body_read_json(&body, r);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    problem = pay_charge_request_from_json(&request, body, call->key->account->settings.currency,
                                           r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE", request->reference);
    problem = pay_charge_create(&charge, &replayed, call->service, call->key, request,
                                r->useragent_ip, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    if (replayed) {
        apr_table_setn(r->headers_out, "Idempotent-Replayed", "true");
    }
    w = pay_writer_make(ANSWER_SIZE_HINT, r->pool);
    pay_charge_answer_to_json(w, charge);
    return pay_reply_json(r, charge->decided_state == PAY_CHARGE_PENDING ? HTTP_ACCEPTED : HTTP_OK,
                          w);
}
