/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UPSTREAM_H
#define UPSTREAM_H

/* The common part of the tests of the relay: an upstream behind TLS with scripted answers, and the
 * connector opened towards it. */

#include "unit.h"

#include "acquirer/relay/relay.h"

#define UPSTREAM_KEY "nc_testsk_abcdefghijklmnopqrstuvwx"
#define UPSTREAM_REFERENCE "0123456789abcdef0123456789abcdef"
#define UPSTREAM_TAG "tag0tag1tag2tag3tag4tag5"
#define UPSTREAM_NOW APR_TIME_C(1800000000000000) /* 2027-01-15T08:00:00Z */

/* Of 10.50 NGN. */
extern const payments_charge_t upstream_charge;
extern const payments_refund_t upstream_refund; /* 2.50 of it */

/* Starts it, once a test: the clock stands at UPSTREAM_NOW from now on. */
void upstream_start(void);

/* The settings that go with it; the URL has a path, /base/. */
payments_settings_t *upstream_settings(void);

/* The context of the connector opened with them; closed with unit_pool. */
void *upstream_open(void);

/* Scripts the answer from now on to paths that begin with `prefix`; see relay_peer.py. */
void upstream_say(const char *prefix, const char *then, const char *answer);
/* The same as a complete HTTP answer with this status and body; and that from "/". */
void upstream_answer_at(const char *prefix, int status, const char *body);
void upstream_answer(int status, const char *body);
/* The header in those from now on, with its end of line: at first the time of UPSTREAM_NOW. */
extern const char *upstream_date;
#define UPSTREAM_DATE "Date: Fri, 15 Jan 2027 08:00:00 GMT\r\n"
void upstream_clear(void);   /* forgets answers, requests, connections */
void upstream_release(void); /* held answers are sent */

int upstream_requests(void);
int upstream_connections(void);
int upstream_ends(void);                  /* connections that it has closed */
const char *upstream_request(int number); /* from 1 */

/* Zeroed, with its size. */
payments_answer_t upstream_empty(void);

/* "200 approved", with the trouble appended: for comparisons that can be read. */
const char *upstream_said(apr_status_t rv, const payments_answer_t *answer);

#endif
