/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_CHANGE_H
#define PAY_HTTPD_DASHBOARD_CHANGE_H

/* What all changes of the dashboard have in common. */

#include "base/text/json.h"
#include "base/text/writer.h"
#include "httpd/dashboard/dashboard.h"
#include "model/form.h"

/* The body's members, while they are read. */
pay_form_t pay_dashboard_form(request_rec *r, const pay_dashboard_t *dashboard);

/* An answer of one member: {"name": ...}, whose value was written into `w` by the caller. */
pay_writer_t *pay_dashboard_answer_open(request_rec *r);
int pay_dashboard_answer(request_rec *r, pay_writer_t *w);

/* A problem, or a status of the store's, as the answer; APR_NOTFOUND is 404 with `missing`. */
int pay_dashboard_failed(request_rec *r, const pay_dashboard_t *dashboard, apr_status_t rv,
                         const char *missing);

/* "0s", "90s", "30m", "24h", "7d", at most 366 days; NULL: `otherwise`. */
void pay_dashboard_overlap(apr_interval_time_t *out, pay_form_t *form, const char *name,
                           apr_interval_time_t otherwise);

#endif
