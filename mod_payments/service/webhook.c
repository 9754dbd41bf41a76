/* SPDX-License-Identifier: Apache-2.0 */
#include "service/webhook.h"

#include "base/crypto/crypto.h"
#include "base/text/writer.h"

#include <apr_strings.h>
#include <string.h>

#define SECRET_PREFIX "whsec_"
#define SECRET_PREFIX_LEN 6
#define SECRET_LEN 32     /* bytes of a new one */
#define SECRET_LEN_MIN 24 /* the shortest secret of Standard Webhooks */
#define SECRET_LEN_MAX 64
#define HEADERS 6
#define BODY_SIZE_HINT 2048

apr_status_t pay_webhook_secret_make(const char **out, apr_pool_t *p)
{
    unsigned char bytes[SECRET_LEN];
    apr_status_t rv;

    *out = NULL;
    rv = pay_random_bytes(bytes, sizeof(bytes));
    if (rv == APR_SUCCESS) {
        *out = apr_pstrcat(p, SECRET_PREFIX, pay_base64(bytes, sizeof(bytes), p), NULL);
    }
    pay_wipe(bytes, sizeof(bytes));
    return rv;
}

static apr_status_t secret_key(unsigned char **key, apr_size_t *key_len, const char *secret,
                               apr_pool_t *p)
{
    apr_status_t rv;

    *key = NULL;
    *key_len = 0;
    if (strncmp(secret, SECRET_PREFIX, SECRET_PREFIX_LEN) != 0) {
        return APR_EINVAL;
    }
    rv = pay_base64_decode(key, key_len, secret + SECRET_PREFIX_LEN, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return *key_len < SECRET_LEN_MIN || *key_len > SECRET_LEN_MAX ? APR_EINVAL : APR_SUCCESS;
}

apr_status_t pay_webhook_sign(const char **out, const char *secret, const char *id,
                              apr_time_t timestamp, const char *body, apr_size_t body_len,
                              apr_pool_t *p)
{
    const char *head =
        apr_psprintf(p, "%s.%" APR_TIME_T_FMT ".", id, (apr_time_t)apr_time_sec(timestamp));
    const apr_size_t head_len = strlen(head);
    unsigned char digest[PAY_SHA256_LEN];
    unsigned char *key;
    apr_size_t key_len;
    apr_status_t rv;
    char *text;

    *out = NULL;
    rv = secret_key(&key, &key_len, secret, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    text = apr_palloc(p, head_len + body_len);
    memcpy(text, head, head_len);
    memcpy(text + head_len, body, body_len);
    rv = pay_hmac_sha256(digest, key, key_len, text, head_len + body_len);
    pay_wipe(key, key_len);
    if (rv == APR_SUCCESS) {
        *out = apr_pstrcat(p, "v1,", pay_base64(digest, sizeof(digest), p), NULL);
    }
    return rv;
}

/* Both secrets sign during an overlap, the new one first. */
static apr_status_t signatures(const char **out, const char *secret, const char *old_secret,
                               const char *id, apr_time_t now, const pay_transfer_t *transfer,
                               apr_pool_t *p)
{
    const char *old = NULL;
    apr_status_t rv;

    rv = pay_webhook_sign(out, secret, id, now, transfer->body, transfer->body_len, p);
    if (rv == APR_SUCCESS && old_secret) {
        rv = pay_webhook_sign(&old, old_secret, id, now, transfer->body, transfer->body_len, p);
    }
    if (rv == APR_SUCCESS && old) {
        *out = apr_pstrcat(p, *out, " ", old, NULL);
    }
    return rv;
}

apr_status_t pay_webhook_make(pay_transfer_t *transfer, const pay_event_t *event,
                              const pay_endpoint_t *endpoint, const char *secret,
                              const char *old_secret, apr_time_t now, apr_pool_t *p)
{
    /* This header has room for one signature: receivers that know only it see no change before the
     * overlap ends. */
    const char *plain_secret = old_secret ? old_secret : secret;
    const char *id = pay_event_id(event, p);
    pay_writer_t *w = pay_writer_make(BODY_SIZE_HINT, p);
    unsigned char digest[PAY_SHA256_LEN];
    apr_array_header_t *headers;
    const char *signed_by;
    apr_status_t rv;

    pay_event_body_to_json(w, event);
    transfer->url = apr_pstrdup(p, endpoint->address);
    transfer->body = w->text;
    transfer->body_len = w->len;
    rv = signatures(&signed_by, secret, old_secret, id, now, transfer, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_hmac_sha256(digest, plain_secret, strlen(plain_secret), w->text, w->len);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    headers = apr_array_make(p, HEADERS, sizeof(const char *));
    APR_ARRAY_PUSH(headers, const char *) = "Content-Type: application/json";
    APR_ARRAY_PUSH(headers, const char *) = "User-Agent: mod_payments";
    APR_ARRAY_PUSH(headers, const char *) = apr_pstrcat(p, "webhook-id: ", id, NULL);
    APR_ARRAY_PUSH(headers, const char *) =
        apr_psprintf(p, "webhook-timestamp: %" APR_TIME_T_FMT, (apr_time_t)apr_time_sec(now));
    APR_ARRAY_PUSH(headers, const char *) = apr_pstrcat(p, "webhook-signature: ", signed_by, NULL);
    APR_ARRAY_PUSH(headers, const char *) =
        apr_pstrcat(p, "x-novac-signature: ", pay_hex(digest, sizeof(digest), p), NULL);
    transfer->headers = headers;
    return APR_SUCCESS;
}
