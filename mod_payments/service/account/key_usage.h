/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_KEY_USAGE_H
#define PAY_SERVICE_ACCOUNT_KEY_USAGE_H

/* The last use of keys, to the minute: noted in memory by requests, stored by the watchdog. */

#include "store/store.h"

#define PAY_KEY_USAGE_MAX 256 /* different keys between two flushes; others are not noted */

typedef struct pay_key_usage_t pay_key_usage_t;

/* One per process and store; thread-safe; lives in `p`. */
apr_status_t pay_key_usage_create(pay_key_usage_t **out, apr_pool_t *p);

/* Notes a use at `now`. Never fails, never waits for the store. */
void pay_key_usage_note(pay_key_usage_t *usage, const unsigned char digest[PAY_SHA256_LEN],
                        apr_time_t now);

/* Writes new uses since the last flush in one transaction, or does nothing if none exist. Uses
 * that could not be written are kept. */
apr_status_t pay_key_usage_flush(pay_key_usage_t *usage, pay_store_t *store, apr_pool_t *p);

#endif
