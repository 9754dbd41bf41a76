/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/pay_dashboard_audit.h"

#include "base/pay_log.h"
#include "httpd/pay_dashboard_change.h"
#include "httpd/pay_httpd_log.h"
#include "httpd/pay_rates.h"

#include <apr_strings.h>
#include <http_log.h>

APLOG_USE_MODULE(payments);

#define REFUSED "refused"

static apr_status_t note(request_rec *r, const pay_dashboard_t *dashboard, const char *what,
                         const char *subject, const char *detail)
{
    const pay_problem_t *problem;
    pay_service_t service;

    problem = pay_dashboard_change(&service, r, dashboard, what, subject, detail);
    if (problem) {
        return problem->cause ? problem->cause : APR_EGENERAL;
    }
    return service.store->ops->audit_note(service.store);
}

const pay_problem_t *pay_dashboard_audit_export(request_rec *r, const pay_dashboard_t *dashboard,
                                                const char *what, const char *detail)
{
    apr_status_t rv;

    rv = note(r, dashboard, apr_pstrcat(r->pool, "export ", what, NULL),
              pay_mode_name(dashboard->scope.mode), detail);
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, r->pool);
}

void pay_dashboard_audit_refused(request_rec *r, const pay_dashboard_t *dashboard, const char *why)
{
    const apr_uint32_t account = dashboard->account ? dashboard->account->number : 0;
    apr_status_t rv;

    if (pay_rates_judge_refusal_entry(r, account)) {
        rv = note(r, dashboard, REFUSED, dashboard->path, why);
        if (rv != APR_SUCCESS) {
            const char *cause = pay_httpd_log_cause(&rv, "it failed");

            ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, r,
                          PAYLOGNO(00781) "a refused change could not be entered in the audit: %s",
                          cause);
        }
    }
}
