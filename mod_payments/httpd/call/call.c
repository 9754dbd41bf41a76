/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/call.h"

#include "base/text/id.h"

#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>

#define REQUEST_ID_BITS 100

APLOG_USE_MODULE(payments);

pay_call_t *pay_call_get(const request_rec *r)
{
    return ap_get_module_config(r->request_config, &payments_module);
}

pay_call_t *pay_call_make(request_rec *r)
{
    pay_call_t *call = pay_call_get(r);

    if (!call) {
        call = apr_pcalloc(r->pool, sizeof(*call));
        ap_set_module_config(r->request_config, &payments_module, call);
    }
    return call;
}

int pay_call_is_claimed(const request_rec *r)
{
    const pay_call_t *call = pay_call_get(r);

    return call && call->path;
}

const char *pay_call_request_id(request_rec *r)
{
    const char *id = r->log_id;

    if (id) {
        return id;
    }
    if (ap_run_generate_log_id(r->connection, r, &id) != OK || !id) {
        if (pay_id_make(&id, "", REQUEST_ID_BITS, r->pool) != APR_SUCCESS) {
            id = apr_psprintf(r->pool, "%s-%" APR_TIME_T_FMT,
                              r->connection->log_id ? r->connection->log_id : "0", r->request_time);
        }
    }
    /* Stored as httpd's own, so that every line about this request in its logs has it. */
    r->log_id = id;
    return id;
}
