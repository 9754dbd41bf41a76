/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_IDEMPOTENCY_H
#define PAY_MODEL_IDEMPOTENCY_H

/*
 * The request header Idempotency-Key, after the IETF draft of that name (docs/api.md, "Retries"):
 * identifies the request that it belongs to. Pure.
 */

#include "base/crypto/crypto.h"
#include "model/api_key.h"

#include <apr_pools.h>

#define PAY_IDEMPOTENCY_KEY_MAX 255
#define PAY_IDEMPOTENCY_KEEP                                                                       \
    apr_time_from_sec(24 * 60 * 60) /* except for refunds: as long as they exist */

/* Operations, each with keys of its own; the numbers are stored. */
typedef enum pay_operation_t {
    PAY_OPERATION_CHARGE = 1,
    PAY_OPERATION_REFUND = 2,
    PAY_OPERATION_PARTIAL_REFUND = 3,
    PAY_OPERATION_VERIFY = 4,
    PAY_OPERATION_VOID = 5,
    PAY_OPERATION_INITIATE = 6,
    PAY_OPERATION_LINK_INITIATE = 7,
    PAY_OPERATION_ORDER = 8
} pay_operation_t;

/* One request's use of a key; account and mode are stored beside it. */
typedef struct pay_idempotency_t {
    pay_operation_t operation;
    pay_key_kind_t key_kind; /* a public key cannot claim the key of a secret one */
    const char *key;
    unsigned char digest[PAY_SHA256_LEN]; /* of the request's normalised values */
} pay_idempotency_t;

/*
 * Reads the key from the header's value: 1 to 255 printable ASCII characters, bare or as a quoted
 * string (RFC 8941 section 3.3.3); both forms of one key are the same key. APR_EINVAL for any other
 * form.
 */
apr_status_t pay_idempotency_key_parse(const char **out, const char *value, apr_pool_t *p);

/*
 * Computes the digest of `count` values; NULL and "" differ, and so do neighbours that join to the
 * same text.
 */
apr_status_t pay_idempotency_digest(unsigned char out[PAY_SHA256_LEN], const char *const *values,
                                    apr_size_t count);

#endif
