/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/audit.h"

#include "base/log.h"
#include "httpd/call/httpd_log.h"
#include "httpd/call/rates.h"
#include "model/idempotency.h"

#include <http_log.h>

APLOG_USE_MODULE(payments);

const pay_problem_t *pay_dashboard_audit_export(request_rec *r, const pay_dashboard_t *dashboard,
                                                pay_change_t change, const char *detail)
{
    const char *const values[] = {dashboard->account->name, dashboard->host, dashboard->user};
    unsigned char who[PAY_SHA256_LEN];
    const pay_problem_t *problem;
    apr_status_t rv;

    rv = pay_idempotency_digest(who, values, sizeof(values) / sizeof(values[0]));
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, r->pool);
    }
    problem = pay_rates_judge_export(r, who);
    if (problem) {
        return problem;
    }
    rv = pay_change_note(dashboard->service, change, dashboard->account->number,
                         pay_mode_name(dashboard->scope.mode), detail, r->pool);
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, r->pool);
}

void pay_dashboard_audit_refused(request_rec *r, const pay_dashboard_t *dashboard, const char *why)
{
    const apr_uint32_t account = dashboard->account ? dashboard->account->number : 0;
    apr_status_t rv;

    if (pay_rates_judge_refusal_entry(r, account)) {
        rv = pay_change_note(dashboard->service, PAY_CHANGE_REFUSED, account, dashboard->path, why,
                             r->pool);
        if (rv != APR_SUCCESS && rv != PAY_STORE_EFULL) { /* which the store has logged */
            const char *cause = pay_httpd_log_cause(&rv, "it failed");

            ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, r,
                          PAYLOGNO(00781) "a refused change could not be written to the audit: %s",
                          cause);
        }
    }
}
