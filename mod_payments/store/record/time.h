/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_TIME_H
#define PAY_STORE_RECORD_TIME_H

/* The wall clock in whole milliseconds, as in all records. */

#include <apr_time.h>

/* Returns the time now. */
apr_time_t pay_store_time_now(void);

/* Returns the time now, or `earliest` if that is later: an updatedAt. */
apr_time_t pay_store_time_not_before(apr_time_t earliest);

/* Returns `when` in whole milliseconds, rounded towards the past. */
apr_time_t pay_store_time_cut(apr_time_t when);

#endif
