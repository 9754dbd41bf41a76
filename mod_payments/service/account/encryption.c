/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/encryption.h"

#include "base/crypto/crypto.h"
#include "base/crypto/keyring.h"
#include "base/crypto/rsa.h"
#include "base/crypto/secret_memory.h"
#include "base/log.h"
#include "base/text/json.h"
#include "service/change.h"

#include <apr_strings.h>
#include <string.h>

#define DATA_LEN ((PAY_RSA_LEN + 2) / 3 * 4) /* of a block in base64 */
#define FILLER 'f' /* amid the digits: found no sooner than most characters */
#define FIELD "/data"
#define REASON                                                                                     \
    "must be the base64 of one block of 512 bytes (RSAES-PKCS1-v1_5) under the account's "         \
    "encryption key of this mode, with the JSON object of the plain request in it"

/* Data that must not be in a core file, and is wiped when the call ends. */
typedef struct secret_t {
    char private_pem[PAY_RSA_PRIVATE_SIZE];
    unsigned char text[PAY_RSA_LEN];
} secret_t;

static const pay_problem_t *problem_of_data(apr_pool_t *p)
{
    pay_problem_t *problem = NULL;

    pay_problem_add(&problem, FIELD, REASON, p);
    return problem;
}

static apr_status_t secret_make(secret_t **out, apr_pool_t *p)
{
    void *memory;
    apr_status_t rv;

    rv = pay_secret_memory_make(&memory, sizeof(**out), p);
    *out = rv == APR_SUCCESS ? memory : NULL;
    return rv;
}

/*
 * Returns the block in `data`; NULL if it has none. The sender can see that, but it takes no less
 * time.
 */
static const unsigned char *block_of(const char *data, apr_pool_t *p)
{
    char filler[DATA_LEN + 1];
    unsigned char *block;
    apr_status_t rv;
    apr_size_t len;
    int fits;

    memset(filler, FILLER, DATA_LEN);
    filler[DATA_LEN] = '\0';
    fits = strnlen(data, DATA_LEN + 1) == DATA_LEN;
    rv = pay_base64_decode(&block, &len, fits ? data : filler, p);
    return fits && rv == APR_SUCCESS && len == PAY_RSA_LEN ? block : NULL;
}

static const pay_problem_t *private_open(secret_t *secret, const pay_service_t *service,
                                         const pay_encryption_key_t *key, apr_pool_t *p)
{
    apr_status_t rv = APR_NOTFOUND;

    if (service->keyring) {
        rv = pay_keyring_open_into(secret->private_pem, sizeof(secret->private_pem),
                                   service->keyring, pay_encryption_key_context(&key->scope, p),
                                   key->sealed, p);
    }
    if (rv == APR_SUCCESS) {
        return NULL;
    }
    pay_log(PAY_LOG_ERR, APR_SUCCESS,
            PAYLOGNO(00500) "encrypted orders of account %u in %s mode are answered 503: their "
                            "private key %s",
            key->scope.account, pay_mode_name(key->scope.mode),
            rv == APR_NOTFOUND
                ? "is sealed under a master key that this server does not hold: put back the file "
                  "with it and restart (docs/operations.md, \"The master key\")"
                : "is damaged: create another one with paymentsctl encryption-key renew");
    return pay_problem_make(PAY_ERR_STORE_UNAVAILABLE, NULL, rv, p);
}

/* Reads the text as JSON in either case: reason and time of a refusal do not reveal noise. */
static const pay_problem_t *text_take(const char **out, const secret_t *secret, apr_size_t len,
                                      apr_pool_t *p)
{
    const char *text = apr_pstrmemdup(p, (const char *)secret->text, len);
    const pay_json_t *json;
    const char *reason;
    apr_status_t rv;

    rv = pay_json_parse(&json, &reason, text, len, p);
    if (rv != APR_SUCCESS) {
        return problem_of_data(p);
    }
    *out = text;
    return NULL;
}

static const pay_problem_t *data_open(const char **out, secret_t *secret,
                                      const pay_service_t *service, const pay_encryption_key_t *key,
                                      const char *data, apr_pool_t *p)
{
    const pay_problem_t *problem;
    apr_status_t rv;
    apr_size_t len;

    problem = private_open(secret, service, key, p);
    if (problem) {
        return problem;
    }
    rv = pay_rsa_decrypt(secret->text, &len, secret->private_pem, block_of(data, p));
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00501) "encrypted orders of account %u in %s mode are answered 503: their "
                                "private key cannot be used; create another one with paymentsctl "
                                "encryption-key renew",
                key->scope.account, pay_mode_name(key->scope.mode));
        return pay_problem_make(PAY_ERR_STORE_UNAVAILABLE, NULL, rv, p);
    }
    return text_take(out, secret, len, p);
}

const pay_problem_t *pay_encryption_open(const char **out, const pay_service_t *service,
                                         const pay_scope_t *scope, const char *data, apr_pool_t *p)
{
    const pay_problem_t *problem;
    pay_encryption_key_t *key;
    secret_t *secret;
    apr_status_t rv;

    *out = NULL;
    problem = pay_encryption_find(&key, service, scope, p);
    if (problem) {
        return problem;
    }
    if (!key) {
        /* Sooner than with a key: its absence is no secret, and there is nothing to guess. */
        pay_log(
            PAY_LOG_INFO, APR_SUCCESS,
            PAYLOGNO(00502) "an encrypted order of account %u in %s mode was refused: the account "
                            "has no encryption key yet; paymentsctl encryption-key show creates it",
            scope->account, pay_mode_name(scope->mode));
        return problem_of_data(p);
    }
    rv = secret_make(&secret, p);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    problem = data_open(out, secret, service, key, data, p);
    pay_secret_memory_free(secret, p);
    return problem;
}

const pay_problem_t *pay_encryption_find(pay_encryption_key_t **out, const pay_service_t *service,
                                         const pay_scope_t *scope, apr_pool_t *p)
{
    apr_status_t rv;

    rv = pay_store_encryption_key_get(out, service->store, scope, p);
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return pay_problem_of_store(rv, p);
    }
    return NULL;
}

/* Makes a new pair with a sealed private key. */
static apr_status_t key_make(pay_encryption_key_t *key, secret_t *secret,
                             const pay_service_t *service, apr_pool_t *p)
{
    apr_status_t rv;

    rv = pay_rsa_make(secret->private_pem, &key->public_pem, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return pay_keyring_seal(&key->sealed, service->keyring,
                            pay_encryption_key_context(&key->scope, p), secret->private_pem, p);
}

const pay_problem_t *pay_encryption_need(pay_encryption_key_t **out, const pay_service_t *service,
                                         const pay_scope_t *scope, int renew, apr_pool_t *p)
{
    pay_encryption_key_t made = {.scope = *scope};
    const pay_problem_t *problem;
    pay_store_t *store;
    secret_t *secret;
    apr_status_t rv;

    problem = pay_encryption_find(out, service, scope, p);
    if (problem || (*out && !renew)) {
        return problem;
    }
    *out = NULL;
    if (!service->keyring) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00503) "no encryption key was created for account %u in %s mode: there "
                                "is no master key to seal it; the error log of the last start "
                                "gives the reason",
                scope->account, pay_mode_name(scope->mode));
        return pay_problem_make(PAY_ERR_STORE_UNAVAILABLE, NULL, APR_NOTFOUND, p);
    }
    rv = secret_make(&secret, p);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    rv = key_make(&made, secret, service, p);
    pay_secret_memory_free(secret, p);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    rv = pay_change_begin_in(&store, service,
                             renew ? PAY_CHANGE_ENCRYPTION_RENEW : PAY_CHANGE_ENCRYPTION_CREATE,
                             scope, "encryption key", "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_encryption_key_put(out, store, &made, renew, p);
    }
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, p);
}
