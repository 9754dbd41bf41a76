/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_log.h"
#include "httpd/pay_api.h"
#include "httpd/pay_zones.h"
#include "model/pay_refund.h"

#include <http_log.h>

APLOG_USE_MODULE(payments);

const pay_problem_t *pay_api_range(pay_time_range_t *out, request_rec *r, const pay_call_t *call,
                                   int days_max)
{
    const char *zone_name = call->key->account->settings.timezone;
    const pay_timezone_t *zone;
    apr_status_t rv;

    rv = pay_zones_get(&zone, zone_name, r->pool);
    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, r,
                      PAYLOGNO(00331) "time zone %s of account %s cannot be read: install the "
                                      "system's time zone data (tzdata)",
                      zone_name, call->key->account->name);
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, r->pool);
    }
    return pay_refund_range_parse(out, call->segment[0], call->segment[1], zone, days_max, r->pool);
}
