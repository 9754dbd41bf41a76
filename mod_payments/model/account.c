/* SPDX-License-Identifier: Apache-2.0 */
#include "model/account.h"

#include "base/crypto/crypto.h"
#include "base/text/writer.h"
#include "model/outcome.h"

#include <string.h>

const pay_account_settings_t pay_account_settings_builtin = {
    .key_prefix = "pay",
    .currency = "NGN",
    .timezone = "UTC",
    .shop_name = "",
    .shop_logo = "",
    .shop_text = "",
    .return_hosts = "",
    .fees = "",
};

static const char *const mode_names[] = {
    [PAY_TEST] = "test",
    [PAY_LIVE] = "live",
};
_Static_assert(sizeof(mode_names) / sizeof(mode_names[0]) == PAY_MODE_COUNT, "one name a mode");

static int is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

apr_status_t pay_account_name_check(const char *name)
{
    apr_size_t len = 0;

    if (!is_letter(name[0]) && !is_digit(name[0])) {
        return APR_EINVAL;
    }
    for (; name[len]; len++) {
        if (len == PAY_ACCOUNT_NAME_MAX) {
            return APR_EINVAL;
        }
        if (!is_letter(name[len]) && !is_digit(name[len]) && !strchr("._-", name[len])) {
            return APR_EINVAL;
        }
    }
    return APR_SUCCESS;
}

apr_status_t pay_key_prefix_check(const char *prefix)
{
    apr_size_t len = 0;

    if (!is_letter(prefix[0])) {
        return APR_EINVAL;
    }
    for (; prefix[len]; len++) {
        if (len == PAY_KEY_PREFIX_MAX) {
            return APR_EINVAL;
        }
        if (!is_letter(prefix[len]) && !is_digit(prefix[len])) {
            return APR_EINVAL;
        }
    }
    return APR_SUCCESS;
}

const char *pay_mode_name(pay_mode_t mode)
{
    return mode == PAY_LIVE ? mode_names[PAY_LIVE] : mode_names[PAY_TEST];
}

apr_status_t pay_mode_parse(pay_mode_t *out, const char *text)
{
    int mode;

    *out = PAY_TEST;
    for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
        if (!strcmp(text, mode_names[mode])) {
            *out = (pay_mode_t)mode;
            return APR_SUCCESS;
        }
    }
    return APR_EINVAL;
}

void pay_account_members_to_json(pay_writer_t *w, const pay_account_t *account)
{
    pay_writer_string(w, "name", account->name);
    pay_writer_integer(w, "number", account->number);
    pay_writer_string(w, "mode", pay_mode_name(account->mode));
    pay_writer_string(w, "keyPrefix", account->settings.key_prefix);
    pay_writer_string(w, "currency", account->settings.currency);
    pay_writer_string(w, "timezone", account->settings.timezone);
    pay_writer_object_open(w, "shop");
    pay_writer_string(w, "name", account->settings.shop_name);
    pay_writer_string(w, "logo", account->settings.shop_logo);
    pay_writer_string(w, "text", account->settings.shop_text);
    pay_writer_object_close(w);
    pay_writer_words(w, "returnHosts", account->settings.return_hosts);
    pay_writer_string(w, "fees", account->settings.fees);
    pay_writer_time(w, "createdAt", account->created_at);
    pay_writer_time(w, "updatedAt", account->updated_at);
}

void pay_account_to_json(pay_writer_t *w, const char *name, const pay_account_t *account)
{
    pay_writer_object_open(w, name);
    pay_account_members_to_json(w, account);
    pay_writer_object_close(w);
}

#define REFERENCE_HEAD_LEN 5 /* account number and mode */

apr_status_t pay_account_reference(const char **out, const pay_account_t *account, pay_mode_t mode,
                                   const char *reference, apr_pool_t *p)
{
    static const unsigned char none[PAY_ACCOUNT_SECRET_LEN];
    const apr_size_t len = strlen(reference);
    unsigned char digest[PAY_SHA256_LEN];
    unsigned char *text;
    apr_status_t rv;

    *out = NULL;
    if (!memcmp(account->secret, none, sizeof(none))) {
        return APR_EINVAL;
    }
    text = apr_palloc(p, REFERENCE_HEAD_LEN + len);
    text[0] = (unsigned char)(account->number >> 24);
    text[1] = (unsigned char)(account->number >> 16);
    text[2] = (unsigned char)(account->number >> 8);
    text[3] = (unsigned char)account->number;
    text[4] = (unsigned char)mode;
    memcpy(text + REFERENCE_HEAD_LEN, reference, len);
    rv = pay_hmac_sha256(digest, account->secret, sizeof(account->secret), text,
                         REFERENCE_HEAD_LEN + len);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = pay_hex(digest, PAY_ACQUIRER_REFERENCE_LEN / 2, p);
    return APR_SUCCESS;
}
