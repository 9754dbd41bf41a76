/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_REPLY_H
#define PAY_HTTPD_DASHBOARD_REPLY_H

/* Answers of the dashboard. Functions that return int return what a handler returns. */

#include "base/text/writer.h"
#include "httpd/dashboard/dashboard.h"

/* The headers that every answer has, errors of httpd's own too. */
void pay_dashboard_headers(request_rec *r);
/* Takes them away again: the answer is not the dashboard's. */
void pay_dashboard_forget_headers(request_rec *r);

/* Reads away the request's body, then sets status, type and headers. OK: send the answer's body. */
int pay_dashboard_begin(request_rec *r, int status, const char *type);

int pay_dashboard_json(request_rec *r, int status, const pay_writer_t *body);

/* A page of a list: {"items":[...],"next":...}; the items are written in between. */
void pay_dashboard_items_open(pay_writer_t *w);
/* `next` NULL: there are no more. */
int pay_dashboard_items(request_rec *r, pay_writer_t *w, const char *next);

/* "chargeId"; 0: the charge is not known here. */
void pay_dashboard_charge_id(pay_writer_t *w, apr_uint64_t charge_seq);

/* JSON below api/, a line of plain text elsewhere. */
int pay_dashboard_problem(request_rec *r, const pay_dashboard_t *dashboard,
                          const pay_problem_t *problem);

/* The same for a status that httpd raised; sets the content type. */
const char *pay_dashboard_status_text(request_rec *r, const pay_dashboard_t *dashboard);

/* 1 when it is answered as JSON. */
int pay_dashboard_is_api(const pay_dashboard_t *dashboard);

#endif
