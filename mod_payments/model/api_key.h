/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_API_KEY_H
#define PAY_MODEL_API_KEY_H

/* API keys: <prefix>_<live|test><sk|pk>_<body>. The text itself is never stored. Pure. */

#include "base/crypto/crypto.h"
#include "model/account.h"

#include <apr_pools.h>

#define PAY_KEY_TEXT_MIN 20
#define PAY_KEY_TEXT_MAX 128

typedef enum pay_key_kind_t { PAY_KEY_SECRET = 0, PAY_KEY_PUBLIC = 1 } pay_key_kind_t;

typedef struct pay_api_key_t {
    unsigned char digest[PAY_SHA256_LEN]; /* SHA-256 of the text */
    const char *id;                       /* "key_...": for people and logs */
    pay_scope_t scope;
    pay_key_kind_t kind;
    apr_time_t created_at;
    apr_time_t last_used_at;      /* to the minute, 0: never */
    apr_time_t valid_until;       /* an end that was in the future when it was set (rotation); 0: no
                                   * end */
    apr_time_t revoked_at;        /* 0: not revoked; otherwise invalid for good, whatever a clock
                                   * says */
    const pay_account_t *account; /* filled in by the store on reading; never NULL there */
} pay_api_key_t;

/*
 * Returns the key in an Authorization header's value: "Bearer k", "Bearer: k" or "k"; the scheme in
 * any case, without blanks around it. NULL if it is absent or malformed (inner blank, comma, other
 * scheme, wrong length or characters). The result lies inside a copy in `p`.
 */
const char *pay_api_key_from_header(const char *value, apr_pool_t *p);

/* Reads mode and kind from the text itself. APR_EINVAL if it does not have the form of a key. */
apr_status_t pay_api_key_parse(pay_mode_t *mode, pay_key_kind_t *kind, const char *text);

/* Makes a new random key text for the account; show it once. */
apr_status_t pay_api_key_text_make(const char **out, const char *prefix, pay_mode_t mode,
                                   pay_key_kind_t kind, apr_pool_t *p);

/*
 * Returns 1 if the key is valid. A revoked key never is: a wall clock that steps back must not
 * revive it.
 */
int pay_api_key_is_valid(const pay_api_key_t *key, apr_time_t now);

/* Returns the time that people see as "revoked": revoked_at, else valid_until, else 0. */
apr_time_t pay_api_key_end(const pay_api_key_t *key);

const char *pay_key_kind_name(pay_key_kind_t kind); /* "secret", "public" */
apr_status_t pay_key_kind_parse(pay_key_kind_t *out, const char *text);

/*
 * Writes {"id","account","mode","kind","createdAt","lastUsedAt","revokedAt"}; unset times are null.
 */
void pay_api_key_to_json(struct pay_writer_t *w, const char *name, const pay_api_key_t *key);

#endif
