/* SPDX-License-Identifier: Apache-2.0 */
#include "model/token.h"

#include "base/text/writer.h"

apr_status_t pay_token_text_check(const char *text)
{
    apr_size_t len;

    for (len = 0; text[len]; len++) {
        if (len == PAY_TOKEN_TEXT_MAX || text[len] < '!' || text[len] > '~') {
            return APR_EINVAL;
        }
    }
    if (len == 0 || pay_card_number_is(text)) {
        return APR_EINVAL;
    }
    return APR_SUCCESS;
}

void pay_token_to_json(pay_writer_t *w, const char *name, const pay_token_t *token)
{
    pay_writer_object_open(w, name);
    pay_writer_string(w, "token", token->token);
    pay_writer_string(w, "mode", pay_mode_name(token->scope.mode));
    pay_writer_string(w, "email", token->email);
    pay_writer_object_open(w, "card");
    pay_writer_string(w, "first6Digits", token->card.first6);
    pay_writer_string(w, "last4Digits", token->card.last4);
    pay_writer_string(w, "issuer", token->card.issuer);
    pay_writer_string(w, "country", token->card.country);
    pay_writer_string(w, "type", token->card.type);
    pay_writer_object_close(w);
    pay_writer_time(w, "createdAt", token->created_at);
    pay_writer_time(w, "revokedAt", token->revoked_at);
    pay_writer_object_close(w);
}
