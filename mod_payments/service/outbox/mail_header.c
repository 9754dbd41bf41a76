/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/mail_header.h"

#include <apr_base64.h>
#include <apr_strings.h>
#include <string.h>

#define WORD_START "=?UTF-8?B?"
#define WORD_END "?="
#define WORD_MAX 75   /* bytes of an encoded-word, RFC 2047 2 */
#define WORD_BYTES 45 /* of text, which become 60 of base64 */
#define NAME_ROOM 300 /* doubled by quoting, it is beside an address of up to 254 bytes */
_Static_assert(sizeof(WORD_START) - 1 + WORD_BYTES / 3 * 4 + sizeof(WORD_END) - 1 <= WORD_MAX,
               "an encoded-word is short enough");

static int is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

void pay_mail_header_put(apr_array_header_t *headers, const char *name, const char *value)
{
    apr_size_t len = strlen(name);
    char *line = apr_palloc(headers->pool, len + 2 + strlen(value) + 1);
    char *to = line + len + 2;

    memcpy(line, name, len);
    memcpy(line + len, ": ", 2);
    for (; *value && to - line < PAY_MAIL_LINE_MAX; value++) {
        if (is_printable(*value)) {
            *to++ = *value;
        }
    }
    *to = '\0';
    APR_ARRAY_PUSH(headers, const char *) = line;
}

/* Returns 1 if a header may contain the text as it is. */
static int is_plain(const char *text)
{
    const char *c;

    for (c = text; *c; c++) {
        if (!is_printable(*c)) {
            return 0;
        }
    }
    return !strstr(text, "=?"); /* a reader would take it for an encoded-word */
}

/* Returns how many bytes of `text` fit into one encoded-word: whole characters only. */
static apr_size_t word_len(const char *text)
{
    apr_size_t len = strlen(text);

    if (len <= WORD_BYTES) {
        return len;
    }
    len = WORD_BYTES;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) {
        len--;
    }
    return len ? len : WORD_BYTES;
}

static const char *word_make(const char *text, apr_size_t len, apr_pool_t *p)
{
    char *base64 = apr_palloc(p, (apr_size_t)apr_base64_encode_len((int)len));

    (void)apr_base64_encode(base64, text, (int)len);
    return apr_pstrcat(p, WORD_START, base64, WORD_END, NULL);
}

/* Returns the text without control characters. */
static char *drop_controls(const char *text, apr_pool_t *p)
{
    char *clean = apr_palloc(p, strlen(text) + 1);
    char *to = clean;

    for (; *text; text++) {
        if ((unsigned char)*text >= 0x80 || is_printable(*text)) {
            *to++ = *text;
        }
    }
    *to = '\0';
    return clean;
}

const char *pay_mail_header_text(const char *text, apr_size_t room, apr_pool_t *p)
{
    const char *rest = drop_controls(text, p);
    const char *out = "";
    const char *next;
    apr_size_t len;

    if (is_plain(rest)) {
        return apr_pstrndup(p, rest, room);
    }
    while (*rest) {
        len = word_len(rest);
        next = apr_pstrcat(p, out, *out ? " " : "", word_make(rest, len, p), NULL);
        if (strlen(next) > room) {
            break;
        }
        out = next;
        rest += len;
    }
    return out;
}

const char *pay_mail_header_mailbox(const char *name, const char *address, apr_pool_t *p)
{
    char *quoted, *to;

    name = drop_controls(name, p);
    if (!is_plain(name)) {
        name = pay_mail_header_text(name, NAME_ROOM, p);
        return apr_pstrcat(p, name, " <", address, ">", NULL);
    }
    name = apr_pstrndup(p, name, NAME_ROOM);
    quoted = apr_palloc(p, 2 * strlen(name) + 1);
    for (to = quoted; *name; name++) {
        if (*name == '"' || *name == '\\') {
            *to++ = '\\';
        }
        *to++ = *name;
    }
    *to = '\0';
    return apr_pstrcat(p, "\"", quoted, "\" <", address, ">", NULL);
}

const char *pay_mail_header_date(apr_time_t when, apr_pool_t *p)
{
    apr_time_exp_t t;

    (void)apr_time_exp_gmt(&t, when);
    return apr_psprintf(p, "%s, %02d %s %04d %02d:%02d:%02d +0000", apr_day_snames[t.tm_wday],
                        t.tm_mday, apr_month_snames[t.tm_mon], t.tm_year + 1900, t.tm_hour,
                        t.tm_min, t.tm_sec);
}
