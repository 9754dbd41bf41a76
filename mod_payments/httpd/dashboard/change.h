/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_CHANGE_H
#define PAY_HTTPD_DASHBOARD_CHANGE_H

/* The common part of all changes of the dashboard. */

#include "base/text/json.h"
#include "base/text/writer.h"
#include "httpd/dashboard/dashboard.h"
#include "model/form.h"

/* Begins to read the body's members. */
pay_form_t pay_dashboard_form(request_rec *r, const pay_dashboard_t *dashboard);

/* An answer with one member: {"name": ...}, whose value the caller writes into `w`. */
pay_writer_t *pay_dashboard_answer_open(request_rec *r);
int pay_dashboard_answer(request_rec *r, pay_writer_t *w);

/* Sends a problem, or a status of the store, as the answer; APR_NOTFOUND is 404 with `missing`. */
int pay_dashboard_failed(request_rec *r, const pay_dashboard_t *dashboard, apr_status_t rv,
                         const char *missing);

/* Reads "0s", "90s", "30m", "24h", "7d", at most 366 days; `otherwise` if it is not given. */
void pay_dashboard_overlap(apr_interval_time_t *out, pay_form_t *form, const char *name,
                           apr_interval_time_t otherwise);

#endif
