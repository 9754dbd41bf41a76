/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/backoff.h"

apr_int64_t pay_lmdb_backoff_next(apr_int64_t delay_ms)
{
    if (delay_ms < PAY_LMDB_BACKOFF_MIN_MS) {
        return PAY_LMDB_BACKOFF_MIN_MS;
    }
    return delay_ms < PAY_LMDB_BACKOFF_MAX_MS / 2 ? delay_ms * 2 : PAY_LMDB_BACKOFF_MAX_MS;
}
