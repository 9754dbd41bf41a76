/* SPDX-License-Identifier: Apache-2.0 */
#include "model/api_key.h"

#include "base/text/id.h"
#include "base/text/writer.h"

#include <apr_strings.h>
#include <string.h>
#include <strings.h>

#define SCHEME "bearer"

static const char *const kind_names[] = {
    [PAY_KEY_SECRET] = "secret",
    [PAY_KEY_PUBLIC] = "public",
};

/* The text between prefix and body. */
static const struct {
    const char *text;
    pay_mode_t mode;
    pay_key_kind_t kind;
} marks[] = {
    {"_testsk_", PAY_TEST, PAY_KEY_SECRET},
    {"_testpk_", PAY_TEST, PAY_KEY_PUBLIC},
    {"_livesk_", PAY_LIVE, PAY_KEY_SECRET},
    {"_livepk_", PAY_LIVE, PAY_KEY_PUBLIC},
};
#define MARK_LEN 8
#define MARK_COUNT (sizeof(marks) / sizeof(marks[0]))
_Static_assert(MARK_COUNT == PAY_MODE_COUNT * 2, "one mark a mode and kind");

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

const char *pay_api_key_from_header(const char *value, apr_pool_t *p)
{
    const char *start = value;
    const char *text;
    apr_size_t len;
    pay_mode_t mode;
    pay_key_kind_t kind;
    apr_status_t rv;

    if (!value) {
        return NULL;
    }
    while (is_blank(*start)) {
        start++;
    }
    if (!strncasecmp(start, SCHEME, sizeof(SCHEME) - 1)) {
        /* A key with the prefix "bearer" goes on with an underscore, the scheme never does. */
        const char *end = start + sizeof(SCHEME) - 1;
        if (*end == ':') {
            end++;
        }
        if (is_blank(*end)) {
            start = end;
        }
    }
    while (is_blank(*start)) {
        start++;
    }
    len = strlen(start);
    while (len > 0 && is_blank(start[len - 1])) {
        len--;
    }
    if (len > PAY_KEY_TEXT_MAX) {
        return NULL;
    }
    text = apr_pstrmemdup(p, start, len);
    rv = pay_api_key_parse(&mode, &kind, text);
    if (rv != APR_SUCCESS) {
        return NULL;
    }
    return text;
}

apr_status_t pay_api_key_parse(pay_mode_t *mode, pay_key_kind_t *kind, const char *text)
{
    char prefix[PAY_KEY_PREFIX_MAX + 1];
    const char *underscore;
    apr_size_t prefix_len;
    apr_size_t len;
    apr_size_t i;
    apr_status_t rv;

    *mode = PAY_TEST;
    *kind = PAY_KEY_PUBLIC;
    len = strlen(text);
    underscore = strchr(text, '_');
    if (len < PAY_KEY_TEXT_MIN || len > PAY_KEY_TEXT_MAX || !underscore) {
        return APR_EINVAL;
    }
    prefix_len = (apr_size_t)(underscore - text);
    if (prefix_len > PAY_KEY_PREFIX_MAX) {
        return APR_EINVAL;
    }
    memcpy(prefix, text, prefix_len);
    prefix[prefix_len] = '\0';
    rv = pay_key_prefix_check(prefix);
    if (rv != APR_SUCCESS) {
        return APR_EINVAL;
    }
    for (i = 0; i < MARK_COUNT; i++) {
        if (!strncmp(underscore, marks[i].text, MARK_LEN)) {
            break;
        }
    }
    if (i == MARK_COUNT || !underscore[MARK_LEN]) {
        return APR_EINVAL;
    }
    for (text = underscore + MARK_LEN; *text; text++) {
        if (!is_key_char(*text)) {
            return APR_EINVAL;
        }
    }
    *mode = marks[i].mode;
    *kind = marks[i].kind;
    return APR_SUCCESS;
}

apr_status_t pay_api_key_text_make(const char **out, const char *prefix, pay_mode_t mode,
                                   pay_key_kind_t kind, apr_pool_t *p)
{
    apr_size_t i;
    apr_status_t rv;

    *out = NULL;
    rv = pay_key_prefix_check(prefix);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < MARK_COUNT; i++) {
        if (marks[i].mode == mode && marks[i].kind == kind) {
            return pay_id_make(out, apr_pstrcat(p, prefix, marks[i].text, NULL), PAY_KEY_BITS, p);
        }
    }
    return APR_EINVAL;
}

int pay_api_key_is_valid(const pay_api_key_t *key, apr_time_t now)
{
    return !key->revoked_at && (!key->valid_until || now < key->valid_until);
}

apr_time_t pay_api_key_end(const pay_api_key_t *key)
{
    return key->revoked_at ? key->revoked_at : key->valid_until;
}

const char *pay_key_kind_name(pay_key_kind_t kind)
{
    return kind == PAY_KEY_SECRET ? kind_names[PAY_KEY_SECRET] : kind_names[PAY_KEY_PUBLIC];
}

apr_status_t pay_key_kind_parse(pay_key_kind_t *out, const char *text)
{
    *out = PAY_KEY_PUBLIC;
    if (!strcmp(text, kind_names[PAY_KEY_PUBLIC])) {
        return APR_SUCCESS;
    }
    if (!strcmp(text, kind_names[PAY_KEY_SECRET])) {
        *out = PAY_KEY_SECRET;
        return APR_SUCCESS;
    }
    return APR_EINVAL;
}

void pay_api_key_to_json(pay_writer_t *w, const char *name, const pay_api_key_t *key)
{
    pay_writer_object_open(w, name);
    pay_writer_string(w, "id", key->id);
    pay_writer_string(w, "account", key->account ? key->account->name : NULL);
    pay_writer_string(w, "mode", pay_mode_name(key->scope.mode));
    pay_writer_string(w, "kind", pay_key_kind_name(key->kind));
    pay_writer_time(w, "createdAt", key->created_at);
    pay_writer_time(w, "lastUsedAt", key->last_used_at);
    pay_writer_time(w, "revokedAt", pay_api_key_end(key));
    pay_writer_object_close(w);
}
