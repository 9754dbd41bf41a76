/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_ENCRYPTION_KEY_H
#define PAY_MODEL_ENCRYPTION_KEY_H

/* The key pair for an account's encrypted orders of one mode (docs/api.md). Pure. */

#include "model/account.h"

#include <apr_pools.h>

typedef struct pay_encryption_key_t {
    pay_scope_t scope;
    const char *public_pem; /* SubjectPublicKeyInfo */
    const char *sealed;     /* the private key's PEM, sealed by the keyring */
    apr_time_t created_at;
} pay_encryption_key_t;

/* Returns the context that the private key is bound to: "encryption key account 12 test". A key of
 * another scope does not open under it. */
const char *pay_encryption_key_context(const pay_scope_t *scope, apr_pool_t *p);

#endif
