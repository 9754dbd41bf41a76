/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/fields.h"

#include "base/crypto/crypto.h"

#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place, and adds a NUL: decoded text is never longer. Returns 0 if it is malformed. */
static int decode(char *text, apr_size_t len)
{
    apr_size_t from = 0;
    apr_size_t to = 0;
    int high, low;

    while (from < len) {
        char c = text[from++];

        if (c == '%') {
            high = from < len ? hex_digit(text[from]) : -1;
            low = from + 1 < len ? hex_digit(text[from + 1]) : -1;
            if (high < 0 || low < 0) {
                return 0;
            }
            c = (char)(16 * high + low);
            from += 2;
        } else if (c == '+') {
            c = ' ';
        }
        if (c == '\0') {
            return 0;
        }
        text[to++] = c;
    }
    text[to] = '\0';
    return 1;
}

/* Reads one field between two ampersands. */
static int take(pay_fields_t *out, char *text, apr_size_t len)
{
    char *equals = memchr(text, '=', len);
    const apr_size_t name_len = equals ? (apr_size_t)(equals - text) : len;
    const apr_size_t value_len = equals ? len - name_len - 1 : 0;
    char *value = text + len - value_len;

    if (out->count == PAY_FIELDS_MAX || !decode(value, value_len) || !decode(text, name_len)) {
        return 0;
    }
    if (*text == '\0' || pay_fields_get(out, text)) {
        return 0;
    }
    out->name[out->count] = text;
    out->value[out->count++] = value;
    return 1;
}

apr_status_t pay_fields_parse(pay_fields_t *out, char *text, apr_size_t len)
{
    apr_size_t at = 0;

    memset(out, 0, sizeof(*out));
    out->text = text;
    out->len = len;
    if (len > PAY_FIELDS_LEN_MAX) {
        return APR_EINVAL;
    }
    text[len] = '\0';
    while (at < len) {
        char *end = memchr(text + at, '&', len - at);
        const apr_size_t size = end ? (apr_size_t)(end - text) - at : len - at;

        if (size > 0 && !take(out, text + at, size)) {
            out->count = 0;
            return APR_EINVAL;
        }
        at += size + 1;
    }
    return APR_SUCCESS;
}

const char *pay_fields_get(const pay_fields_t *fields, const char *name)
{
    int i;

    for (i = 0; i < fields->count; i++) {
        if (!strcmp(fields->name[i], name)) {
            return fields->value[i];
        }
    }
    return NULL;
}

void pay_fields_wipe(pay_fields_t *fields)
{
    pay_wipe(fields->text, fields->len);
    fields->count = 0;
    fields->len = 0;
}
