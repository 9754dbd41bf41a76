/* SPDX-License-Identifier: Apache-2.0 */
#include "model/idempotency.h"

#include <apr_strings.h>
#include <string.h>

/*
 * Reads a quoted string's characters without quotes and escapes, at most PAY_IDEMPOTENCY_KEY_MAX of
 * them; *end is the text after the closing quote.
 */
static apr_status_t read_quoted(char key[PAY_IDEMPOTENCY_KEY_MAX + 1], const char **end,
                                const char *text)
{
    apr_size_t len = 0;

    for (text++; *text != '"'; text++) {
        if (*text == '\\') {
            text++;
            if (*text != '"' && *text != '\\') {
                return APR_EINVAL;
            }
        }
        if (*text < ' ' || *text > '~' || len == PAY_IDEMPOTENCY_KEY_MAX) {
            return APR_EINVAL;
        }
        key[len++] = *text;
    }
    key[len] = '\0';
    *end = text + 1;
    return len ? APR_SUCCESS : APR_EINVAL;
}

/*
 * Reads the value itself. Two header lines reach us joined by a comma and a blank: it is impossible
 * to know which key was meant, so a bare key must not contain that pair.
 */
static apr_status_t read_bare(char key[PAY_IDEMPOTENCY_KEY_MAX + 1], const char *text)
{
    apr_size_t len = strlen(text);
    apr_size_t i;

    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t')) {
        len--;
    }
    if (len == 0 || len > PAY_IDEMPOTENCY_KEY_MAX) {
        return APR_EINVAL;
    }
    for (i = 0; i < len; i++) {
        if (text[i] < ' ' || text[i] > '~' || (text[i] == ',' && text[i + 1] == ' ')) {
            return APR_EINVAL;
        }
        key[i] = text[i];
    }
    key[len] = '\0';
    return APR_SUCCESS;
}

apr_status_t pay_idempotency_key_parse(const char **out, const char *value, apr_pool_t *p)
{
    char key[PAY_IDEMPOTENCY_KEY_MAX + 1];
    const char *end = "";
    apr_status_t rv;

    *out = NULL;
    value += strspn(value, " \t");
    rv = *value == '"' ? read_quoted(key, &end, value) : read_bare(key, value);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (end[strspn(end, " \t")]) {
        return APR_EINVAL;
    }
    *out = apr_pstrdup(p, key);
    return APR_SUCCESS;
}

/*
 * Each value is hashed by itself and chained to those before it, with a byte that marks absence:
 * blocks of one size need no lengths, and nothing is allocated.
 */
apr_status_t pay_idempotency_digest(unsigned char out[PAY_SHA256_LEN], const char *const *values,
                                    apr_size_t count)
{
    unsigned char block[2 * PAY_SHA256_LEN + 1];
    apr_status_t rv;
    apr_size_t i;

    memset(out, 0, PAY_SHA256_LEN);
    for (i = 0; i < count; i++) {
        const char *value = values[i] ? values[i] : "";

        memcpy(block, out, PAY_SHA256_LEN);
        block[PAY_SHA256_LEN] = values[i] != NULL;
        rv = pay_sha256(block + PAY_SHA256_LEN + 1, value, strlen(value));
        if (rv == APR_SUCCESS) {
            rv = pay_sha256(out, block, sizeof(block));
        }
        if (rv != APR_SUCCESS) {
            memset(out, 0, PAY_SHA256_LEN);
            return rv;
        }
    }
    return APR_SUCCESS;
}
