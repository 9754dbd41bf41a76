/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/pay_api.h"
#include "httpd/pay_reply.h"

/* All are named by the specification; docs/api.md, "Payment links", says what they will do. */

static int answer_unbuilt(request_rec *r)
{
    return pay_reply_problem(r,
                             pay_problem_make(PAY_ERR_NOT_IMPLEMENTED, NULL, APR_SUCCESS, r->pool));
}

int pay_api_paymentlink_initiate(request_rec *r, const pay_call_t *call)
{
    (void)call;
    return answer_unbuilt(r);
}

int pay_api_checkout_initiate(request_rec *r, const pay_call_t *call)
{
    (void)call;
    return answer_unbuilt(r);
}

int pay_api_order_create(request_rec *r, const pay_call_t *call)
{
    (void)call;
    return answer_unbuilt(r);
}
