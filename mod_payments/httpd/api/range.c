/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/api/api.h"
#include "httpd/call/zones.h"
#include "model/refund.h"

const pay_problem_t *pay_api_range(pay_time_range_t *out, request_rec *r, const pay_call_t *call,
                                   int days_max)
{
    const pay_problem_t *problem;
    const pay_timezone_t *zone;

    problem = pay_zones_of_account(&zone, call->key->account, r->pool);
    return problem ? problem
                   : pay_refund_range_parse(out, call->segment[0], call->segment[1], zone, days_max,
                                            r->pool);
}
