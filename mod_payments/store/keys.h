/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_KEYS_H
#define PAY_STORE_KEYS_H

/* Keys of the tables: fixed-width big-endian numbers, so that byte order is numeric order. Pure. */

#include "model/account.h"
#include "store/bytes.h"

#define PAY_STORE_KEY_MAX 511 /* LMDB's limit */
#define PAY_STORE_SCOPE_LEN 5 /* account number (4), mode (1) */

typedef struct pay_store_key_t {
    unsigned char bytes[PAY_STORE_KEY_MAX];
    size_t len;
} pay_store_key_t;

void pay_store_key_start(pay_store_key_t *key); /* empty */
void pay_store_key_u32(pay_store_key_t *key, apr_uint32_t value);
void pay_store_key_u64(pay_store_key_t *key, apr_uint64_t value);
void pay_store_key_time(pay_store_key_t *key,
                        apr_time_t value); /* order-preserving for negative times as well */
void pay_store_key_scope(pay_store_key_t *key, const pay_scope_t *scope);
void pay_store_key_of_scope(pay_store_key_t *key,
                            const pay_scope_t *scope); /* must be the first part */
/* Makes `key` from these bytes; returns 0 if they are too long for a key. */
int pay_store_key_of(pay_store_key_t *key, const void *bytes, size_t len);
/* Appends text or bytes; returns 0 and appends nothing if the key would be too long. */
int pay_store_key_bytes(pay_store_key_t *key, const void *bytes, size_t len);
pay_bytes_t pay_store_key_val(const pay_store_key_t *key);

/* Reads parts back; `offset` counts from the key's start. The caller has checked the length. */
apr_uint32_t pay_store_read_u32(const void *at);
apr_uint64_t pay_store_read_u64(const void *at);
apr_time_t pay_store_read_time(const void *at);
void pay_store_read_scope(pay_scope_t *out, const void *at);

#endif
