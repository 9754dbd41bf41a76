/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/rsa.h"
#include "httpd/dashboard/change.h"
#include "httpd/dashboard/reply.h"
#include "service/account/encryption.h"

static int reply_key(request_rec *r, const pay_dashboard_t *dashboard,
                     const pay_encryption_key_t *key)
{
    pay_writer_t *w = pay_dashboard_answer_open(r);
    const char *xml = NULL;
    apr_status_t rv;

    if (key) {
        rv = pay_rsa_xml(&xml, key->public_pem, r->pool);
        if (rv != APR_SUCCESS) {
            return pay_dashboard_problem(r, dashboard,
                                         pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, r->pool));
        }
    }
    pay_writer_string(w, "pem", key ? key->public_pem : NULL);
    pay_writer_string(w, "xml", xml);
    pay_writer_time(w, "createdAt", key ? key->created_at : 0);
    return pay_dashboard_answer(r, w);
}

int pay_dashboard_encryption_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;
    pay_encryption_key_t *key;

    problem = pay_encryption_find(&key, dashboard->service, &dashboard->scope, r->pool);
    return problem ? pay_dashboard_problem(r, dashboard, problem) : reply_key(r, dashboard, key);
}

/* {"renew": true} replaces the key by a new one. */
int pay_dashboard_encryption_make(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const int renew = pay_form_bool(&form, "renew") == 1;
    const pay_problem_t *problem = form.problem;
    pay_encryption_key_t *key;

    if (!problem) {
        problem = pay_encryption_need(&key, dashboard->service, &dashboard->scope, renew, r->pool);
    }
    return problem ? pay_dashboard_problem(r, dashboard, problem) : reply_key(r, dashboard, key);
}
