/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_TOKEN_H
#define PAY_MODEL_TOKEN_H

/* A card token that was issued to one payer. Pure. */

#include "model/account.h"
#include "model/card.h"

#define PAY_TOKEN_TEXT_MAX 255

typedef struct pay_token_t {
    pay_scope_t scope;
    const char *token;
    pay_card_t card;
    const char *email; /* lower case: only this payer can be charged with it */
    apr_time_t created_at;
    apr_time_t revoked_at; /* 0: valid */
} pay_token_t;

/* APR_EINVAL unless 1 to 255 printable ASCII characters without blanks, and not a card number. */
apr_status_t pay_token_text_check(const char *text);

/* Writes {"token","mode","email","card":{"first6Digits","last4Digits","issuer","country","type"},
 * "createdAt","revokedAt"}; revokedAt is null while the token is valid. */
void pay_token_to_json(struct pay_writer_t *w, const char *name, const pay_token_t *token);

#endif
