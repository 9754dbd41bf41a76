/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_EVENTS_H
#define PAY_HTTPD_DASHBOARD_EVENTS_H

/* Deliveries of notifications, as the dashboard shows them. */

#include "base/text/writer.h"
#include "httpd/dashboard/dashboard.h"

/* Writes the members of an event (with its records set) into an open object. */
void pay_dashboard_event_members(pay_writer_t *w, const pay_event_t *event);

/* Writes the state of the deliveries to an endpoint, likewise. */
void pay_dashboard_endpoint_members(pay_writer_t *w, const pay_endpoint_t *endpoint);

/* Sends a test event to the webhook or the merchant, and answers with it. */
int pay_dashboard_send_test(request_rec *r, const pay_dashboard_t *dashboard,
                            pay_endpoint_kind_t kind);

/* Writes the array `name` of the undelivered events of one charge, at most PAY_DASHBOARD_EVENTS_MAX
 * of each endpoint. */
#define PAY_DASHBOARD_EVENTS_MAX 50
apr_status_t pay_dashboard_events_of(pay_writer_t *w, const char *name,
                                     const pay_dashboard_t *dashboard, apr_uint64_t charge_seq,
                                     apr_pool_t *p);

#endif
