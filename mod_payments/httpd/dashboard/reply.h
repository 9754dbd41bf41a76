/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_REPLY_H
#define PAY_HTTPD_DASHBOARD_REPLY_H

/* Answers of the dashboard. Functions that return int return what a handler returns. */

#include "base/text/writer.h"
#include "httpd/dashboard/dashboard.h"

/* Sets the headers that every answer has, including httpd's own errors. */
void pay_dashboard_headers(request_rec *r);
/* Removes them again: the answer is not the dashboard's. */
void pay_dashboard_forget_headers(request_rec *r);

/*
 * Reads and discards the request's body, then sets status, type and headers. OK: send the answer's
 * body.
 */
int pay_dashboard_begin(request_rec *r, int status, const char *type);

int pay_dashboard_json(request_rec *r, int status, const pay_writer_t *body);

/* Begins a part of a list: {"items":[...],"next":...}; the caller writes the items in between. */
void pay_dashboard_items_open(pay_writer_t *w);
/* `next` NULL: there are no more. */
int pay_dashboard_items(request_rec *r, pay_writer_t *w, const char *next);

/* Writes "chargeId"; 0: the charge is not known here. */
void pay_dashboard_charge_id(pay_writer_t *w, apr_uint64_t charge_seq);

/* Sends JSON below api/, a line of plain text elsewhere. */
int pay_dashboard_problem(request_rec *r, const pay_dashboard_t *dashboard,
                          const pay_problem_t *problem);

/* Returns the same text for a status that httpd raised; sets the content type. */
const char *pay_dashboard_status_text(request_rec *r, const pay_dashboard_t *dashboard);

/* Returns 1 if it is answered as JSON. */
int pay_dashboard_is_api(const pay_dashboard_t *dashboard);

#endif
