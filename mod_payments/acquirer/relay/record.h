/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_RELAY_RECORD_H
#define PAY_ACQUIRER_RELAY_RECORD_H

/* Refunds in the books of the relay's upstream: their records, our tag in them, lists. */

#include "acquirer/relay/parts.h"
#include "base/text/json.h"

/* Reads a record of the upstream; APR_EINVAL if it lacks something that a refund needs. */
apr_status_t pay_relay_record_read(payments_record_t *out, pay_mode_t mode, const pay_json_t *json,
                                   apr_pool_t *p);
/* Return the days, counted from 1970-01-01, in which to look for records created from `from` on, or
 * until `to`, by the upstream's clock: one day more at each end, because it may count days in
 * another time zone. */
apr_int64_t pay_relay_first_day(apr_time_t from);
apr_int64_t pay_relay_last_day(apr_time_t to);
/* Calls `found` once for each record of the days; all of them or an error. */
apr_status_t pay_relay_records(pay_relay_call_t *call, payments_trouble_t *trouble,
                               apr_interval_time_t *retry_after, apr_int64_t first_day,
                               apr_int64_t last_day, payments_record_fn *found, void *baton,
                               apr_pool_t *p);

#endif
