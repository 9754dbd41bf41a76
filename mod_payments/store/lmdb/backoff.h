/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_BACKOFF_H
#define PAY_STORE_LMDB_BACKOFF_H

/* The wait between two attempts at a store that is out of service. */

#include <apr.h>

#define PAY_LMDB_BACKOFF_MIN_MS 1000  /* doubles up to the maximum */
#define PAY_LMDB_BACKOFF_MAX_MS 60000 /* reached after seven attempts */

/* Returns the delay that follows one of `delay_ms`; 0 means no attempt yet. */
apr_int64_t pay_lmdb_backoff_next(apr_int64_t delay_ms);

#endif
