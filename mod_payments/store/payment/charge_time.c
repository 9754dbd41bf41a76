/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge_time.h"

#include <string.h>

void pay_store_charge_time_key(pay_store_key_t *key, const pay_scope_t *scope,
                               apr_time_t created_at, apr_uint64_t seq)
{
    pay_store_key_of_scope(key, scope);
    pay_store_key_time(key, created_at);
    pay_store_key_u64(key, seq);
}

apr_status_t pay_store_charge_mark(apr_uint32_t *out, const char *email)
{
    unsigned char digest[PAY_SHA256_LEN];
    apr_status_t rv;

    *out = 0;
    if (!*email) {
        return APR_SUCCESS;
    }
    rv = pay_sha256(digest, email, strlen(email));
    if (rv == APR_SUCCESS) {
        *out = pay_store_read_u32(digest);
    }
    return rv;
}
