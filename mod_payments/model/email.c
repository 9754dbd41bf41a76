/* SPDX-License-Identifier: Apache-2.0 */
#include "model/email.h"

#include "model/text.h"

#include <apr_strings.h>
#include <string.h>

#define LOCAL_MAX 64 /* RFC 5321 4.5.3.1.1 */
#define LABEL_MAX 63 /* RFC 1035 2.3.4 */

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Returns 1 for any byte of a character beyond ASCII; the text was checked to be UTF-8 before. */
static int is_wide(char c)
{
    return (unsigned char)c >= 0x80;
}

/*
 * Returns 1 for a dot-atom: atoms of RFC 5322 atext, separated by single dots. `text` is lower
 * case.
 */
static int is_local_part(const char *text, apr_size_t len)
{
    apr_size_t i;

    if (len == 0 || len > LOCAL_MAX || text[0] == '.' || text[len - 1] == '.') {
        return 0;
    }
    for (i = 0; i < len; i++) {
        if (text[i] == '.') {
            if (text[i + 1] == '.') {
                return 0;
            }
        } else if (!is_alnum(text[i]) && !is_wide(text[i])
                   && !strchr("!#$%&'*+-/=?^_`{|}~", text[i])) {
            return 0;
        }
    }
    return 1;
}

static int is_label(const char *text, apr_size_t len)
{
    apr_size_t i;

    if (len == 0 || len > LABEL_MAX || text[0] == '-' || text[len - 1] == '-') {
        return 0;
    }
    for (i = 0; i < len; i++) {
        if (!is_alnum(text[i]) && !is_wide(text[i]) && text[i] != '-') {
            return 0;
        }
    }
    return 1;
}

/*
 * Returns 1 for two labels or more, the last not all digits: that would be an IPv4 address (RFC
 * 3696 2).
 */
static int is_domain(const char *text)
{
    const char *dot;
    int labels = 0;

    for (;; text = dot + 1) {
        dot = strchr(text, '.');
        if (!is_label(text, dot ? (apr_size_t)(dot - text) : strlen(text))) {
            return 0;
        }
        labels++;
        if (!dot) {
            return labels >= 2 && text[strspn(text, "0123456789")] != '\0';
        }
    }
}

apr_status_t pay_email_normalize(const char **out, const char *text, apr_pool_t *p)
{
    apr_size_t len;
    char *address;
    char *at;
    char *c;

    *out = NULL;
    while (is_blank(*text)) {
        text++;
    }
    len = strlen(text);
    while (len > 0 && is_blank(text[len - 1])) {
        len--;
    }
    if (len > PAY_EMAIL_MAX) {
        return APR_EINVAL;
    }
    address = apr_pstrmemdup(p, text, len);
    if (!pay_text_is_plain(address, "")) {
        return APR_EINVAL;
    }
    for (c = address; *c; c++) {
        if (*c >= 'A' && *c <= 'Z') {
            *c = (char)(*c - 'A' + 'a');
        }
    }
    at = strchr(address, '@');
    if (!at || !is_local_part(address, (apr_size_t)(at - address)) || !is_domain(at + 1)) {
        return APR_EINVAL;
    }
    *out = address;
    return APR_SUCCESS;
}
