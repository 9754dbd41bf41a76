/* SPDX-License-Identifier: Apache-2.0 */
#include "store/keys.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#define SIGN_BIT (UINT64_C(1) << 63)

static void append_be(pay_store_key_t *key, apr_uint64_t value, size_t width)
{
    size_t i;

    assert(key->len + width <= PAY_STORE_KEY_MAX);
    for (i = 0; i < width; i++) {
        key->bytes[key->len + i] = (unsigned char)(value >> (8 * (width - 1 - i)));
    }
    key->len += width;
}

void pay_store_key_start(pay_store_key_t *key)
{
    key->len = 0;
}

void pay_store_key_u32(pay_store_key_t *key, apr_uint32_t value)
{
    append_be(key, value, 4);
}

void pay_store_key_u64(pay_store_key_t *key, apr_uint64_t value)
{
    append_be(key, value, 8);
}

void pay_store_key_time(pay_store_key_t *key, apr_time_t value)
{
    /* Two's complement with the sign bit inverted sorts negative numbers first. */
    append_be(key, (apr_uint64_t)value ^ SIGN_BIT, 8);
}

void pay_store_key_scope(pay_store_key_t *key, const pay_scope_t *scope)
{
    append_be(key, scope->account, 4);
    append_be(key, (apr_uint64_t)scope->mode, 1);
}

int pay_store_key_bytes(pay_store_key_t *key, const void *bytes, size_t len)
{
    if (len > PAY_STORE_KEY_MAX - key->len) {
        return 0;
    }
    memcpy(key->bytes + key->len, bytes, len);
    key->len += len;
    return 1;
}

void pay_store_key_of_scope(pay_store_key_t *key, const pay_scope_t *scope)
{
    pay_store_key_start(key);
    pay_store_key_scope(key, scope);
}

int pay_store_key_of(pay_store_key_t *key, const void *bytes, size_t len)
{
    pay_store_key_start(key);
    return pay_store_key_bytes(key, bytes, len);
}

pay_bytes_t pay_store_key_val(const pay_store_key_t *key)
{
    pay_bytes_t val;

    val.len = key->len;
    val.data = key->bytes;
    return val;
}

apr_uint32_t pay_store_read_u32(const void *at)
{
    apr_uint32_t number;

    memcpy(&number, at, sizeof(number));
    return be32toh(number);
}

apr_uint64_t pay_store_read_u64(const void *at)
{
    apr_uint64_t number;

    memcpy(&number, at, sizeof(number));
    return be64toh(number);
}

apr_time_t pay_store_read_time(const void *at)
{
    return (apr_time_t)(pay_store_read_u64(at) ^ SIGN_BIT);
}

void pay_store_read_scope(pay_scope_t *out, const void *at)
{
    out->account = pay_store_read_u32(at);
    out->mode = (pay_mode_t)((const unsigned char *)at)[4];
}
