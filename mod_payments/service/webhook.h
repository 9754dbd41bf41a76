/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_WEBHOOK_H
#define PAY_SERVICE_WEBHOOK_H

/* The request that delivers an event to a webhook (docs/notifications.md, "Signatures"). */

#include "base/crypto/keyring.h"
#include "base/net/transfer.h"
#include "service/service.h"

/* Makes a new secret: "whsec_" and the base64 of 32 random bytes. */
apr_status_t pay_webhook_secret_make(const char **out, apr_pool_t *p);

/*
 * Signs by Standard Webhooks 1.0: "v1,<base64>" of HMAC-SHA256 over "id.timestamp.body" under the
 * bytes that the secret's base64 encodes. APR_EINVAL: it is not a secret.
 */
apr_status_t pay_webhook_sign(const char **out, const char *secret, const char *id,
                              apr_time_t timestamp, const char *body, apr_size_t body_len,
                              apr_pool_t *p);

/*
 * Fills in URL, headers and body of `transfer` for the event at this moment. `secret` and
 * `old_secret` are opened; old_secret NULL: no second signature.
 */
apr_status_t pay_webhook_make(pay_transfer_t *transfer, const pay_event_t *event,
                              const pay_endpoint_t *endpoint, const char *secret,
                              const char *old_secret, apr_time_t now, apr_pool_t *p);

#endif
