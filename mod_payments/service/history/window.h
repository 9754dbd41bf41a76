/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_HISTORY_WINDOW_H
#define PAY_SERVICE_HISTORY_WINDOW_H

/*
 * One call of an acquirer's list of refunds, and its consequences here: known refunds take over
 * their outcome, those made elsewhere are added. The same window again changes nothing.
 */

#include "service/service.h"

#define PAY_HISTORY_CHANGES_MAX 5000 /* of one call; the next call finds the rest */
#define PAY_HISTORY_FAULTS_MAX 16    /* sentences that are kept */

typedef struct pay_history_window_t {
    pay_store_t *store;
    pay_scope_t scope;
    const pay_acquirer_t *acquirer; /* it lists refunds */
    apr_interval_time_t timeout;
    apr_time_t from, to; /* both inclusive */
} pay_history_window_t;

typedef struct pay_history_news_t {
    apr_uint64_t seen;          /* records */
    apr_uint64_t added;         /* of them new here */
    apr_uint64_t changed;       /* of them known with another status */
    apr_uint64_t refused;       /* of them not kept */
    apr_time_t oldest_pending;  /* createdAt of the oldest one that is pending there; 0: none */
    apr_array_header_t *faults; /* of const char *: reasons of the first ones */
    int ahead;  /* one has a time in the future: not everything until now can be kept */
    int full;   /* the same window again finds the rest */
    int silent; /* the acquirer did not answer; otherwise a failure is the store's */
} pay_history_news_t;

/*
 * APR_SUCCESS: all that *news counts is stored. APR_EBUSY: an import is running, and new records
 * must wait for it. Other statuses: the acquirer's, or the store's; changes that were stored until
 * then stay.
 */
apr_status_t pay_history_window_fetch(pay_history_news_t *news, const pay_history_window_t *window,
                                      apr_pool_t *p);

#endif
