/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "httpd/api/api.h"
#include "httpd/call/reply.h"
#include "service/charge/charges.h"

#define ANSWER_SIZE_HINT 2048

int pay_api_charge_create(request_rec *r, const pay_call_t *call)
{
    const pay_caller_t caller = pay_caller_of_key(call->key, call->idempotency_key);
    pay_charge_request_t *request;
    const pay_problem_t *problem;
    pay_charge_t *charge;
    pay_writer_t *w;
    int replayed;

    problem = pay_charge_request_from_json(&request, call->body,
                                           call->key->account->settings.currency, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE", request->reference);
    problem = pay_charge_create(&charge, &replayed, call->service, &caller, request,
                                r->useragent_ip, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    if (replayed) {
        pay_reply_mark_replayed(r);
    }
    w = pay_writer_make(ANSWER_SIZE_HINT, r->pool);
    pay_charge_answer_to_json(w, charge);
    return pay_reply_json(r, charge->decided_state == PAY_CHARGE_PENDING ? HTTP_ACCEPTED : HTTP_OK,
                          w);
}
