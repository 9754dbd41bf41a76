/* SPDX-License-Identifier: Apache-2.0 */
#include "model/text.h"

#include <apr_strings.h>
#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"

/*
 * Returns the length of the well-formed sequence of two to four bytes at `s`; 0 if none exists.
 */
static int sequence_len(const unsigned char *s)
{
    unsigned char second_min = 0x80;
    unsigned char second_max = 0xbf;
    int len;
    int i;

    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        len = 2;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        len = 3;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        len = 4;
    } else {
        return 0;
    }
    switch (s[0]) {
    case 0xc2: /* U+0080 to U+009F are the C1 controls */
        second_min = 0xa0;
        break;
    case 0xe0: /* lower ones are overlong forms */
        second_min = 0xa0;
        break;
    case 0xed: /* higher ones are surrogates */
        second_max = 0x9f;
        break;
    case 0xf0:
        second_min = 0x90;
        break;
    case 0xf4:
        second_max = 0x8f;
        break;
    default:
        break;
    }
    if (s[1] < second_min || s[1] > second_max) {
        return 0;
    }
    for (i = 2; i < len; i++) {
        if (s[i] < 0x80 || s[i] > 0xbf) {
            return 0;
        }
    }
    return len;
}

int pay_text_is_plain(const char *text, const char *controls)
{
    const unsigned char *s = (const unsigned char *)text;
    int len;

    while (*s) {
        if (*s < 0x20 || *s == 0x7f) {
            if (!strchr(controls, *s)) {
                return 0;
            }
            s++;
            continue;
        }
        if (*s < 0x80) {
            s++;
            continue;
        }
        len = sequence_len(s);
        if (!len) {
            return 0;
        }
        s += len;
    }
    return 1;
}

/* Returns the character of `len` bytes at `s`, which sequence_len has judged. */
static apr_uint32_t code_point(const unsigned char *s, int len)
{
    apr_uint32_t code = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    int i;

    for (i = 1; i < len; i++) {
        code = code << 6 | (s[i] & 0x3fu);
    }
    return code;
}

/* Invisible characters; those that change how others look are refused in text written by people,
 * the others occur in text copied from many programs. */
static const struct {
    apr_uint32_t first;
    apr_uint32_t last;
    int refused;
} unseen[] = {
    {0xad, 0xad, 0},       /* soft hyphen */
    {0x34f, 0x34f, 0},     /* combining grapheme joiner */
    {0x61c, 0x61c, 1},     /* Arabic letter mark */
    {0x115f, 0x1160, 0},   /* Hangul fillers */
    {0x17b4, 0x17b5, 0},   /* Khmer inherent vowels */
    {0x180b, 0x180d, 0},   /* Mongolian variation selectors */
    {0x180e, 0x180e, 1},   /* Mongolian vowel separator */
    {0x180f, 0x180f, 0},   /* Mongolian variation selector */
    {0x200b, 0x200b, 1},   /* zero width space */
    {0x200e, 0x200f, 1},   /* left-to-right and right-to-left marks */
    {0x2028, 0x202e, 1},   /* separators of lines and paragraphs, embeddings, overrides */
    {0x2060, 0x206f, 1},   /* word joiner, invisible operators, isolates */
    {0x3164, 0x3164, 0},   /* Hangul filler */
    {0xfeff, 0xfeff, 1},   /* byte order mark */
    {0xffa0, 0xffa0, 0},   /* Hangul filler */
    {0xfff9, 0xfffb, 0},   /* annotations */
    {0xe0000, 0xe007f, 1}, /* tags */
    {0xe0080, 0xe0fff, 0}, /* variation selectors, and the range reserved for them */
};

#define JOINER_FIRST 0x200c /* zero width non-joiner */
#define JOINER_LAST 0x200d  /* zero width joiner */
#define JOINED_FIRST 0x600  /* no lower script needs a joiner */

static int is_joiner(apr_uint32_t code)
{
    return code >= JOINER_FIRST && code <= JOINER_LAST;
}

/* How a character after `before` is treated. */
typedef enum sight_t { SEEN, UNSEEN, REFUSED } sight_t;

static sight_t sight_of(apr_uint32_t code, apr_uint32_t before)
{
    apr_size_t i;

    if (is_joiner(code)) {
        return before >= JOINED_FIRST && !is_joiner(before) ? SEEN : REFUSED;
    }
    for (i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++) {
        if (code >= unseen[i].first && code <= unseen[i].last) {
            return unseen[i].refused ? REFUSED : UNSEEN;
        }
    }
    return SEEN;
}

int pay_text_is_visible(const char *text, const char *controls)
{
    const unsigned char *s = (const unsigned char *)text;
    apr_uint32_t code = 0, before;
    int len;

    if (!pay_text_is_plain(text, controls)) {
        return 0;
    }
    for (; *s; s += len) {
        before = code;
        len = *s < 0x80 ? 1 : sequence_len(s);
        code = code_point(s, len);
        if (sight_of(code, before) == REFUSED) {
            return 0;
        }
    }
    return 1;
}

const char *pay_text_visible(const char *text, apr_pool_t *p)
{
    const unsigned char *s = (const unsigned char *)text;
    char *out = apr_palloc(p, strlen(text) + 1);
    apr_uint32_t code, before = 0;
    char *to = out;
    int len;

    for (; *s; s += len ? len : 1) {
        len = *s < 0x80 ? *s >= 0x20 && *s != 0x7f : sequence_len(s);
        code = len ? code_point(s, len) : 0;
        if (len && sight_of(code, before) == SEEN) {
            memcpy(to, s, (apr_size_t)len);
            to += len;
            before = code;
        }
    }
    *to = '\0';
    return out;
}

/* Every byte except continuation bytes begins a character. */
apr_size_t pay_text_length(const char *text)
{
    apr_size_t length = 0;

    for (; *text; text++) {
        length += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return length;
}

const char *pay_text_cut(const char *text, apr_size_t max, apr_pool_t *p)
{
    apr_size_t begun = 0, len;

    if (pay_text_length(text) <= max) {
        return text;
    }
    for (len = 0; text[len]; len++) {
        begun += ((unsigned char)text[len] & 0xc0) != 0x80;
        if (begun == max) {
            break; /* start of the ellipsis */
        }
    }
    return apr_pstrcat(p, apr_pstrmemdup(p, text, len), ELLIPSIS, NULL);
}

const char *pay_text_printable(const char *text, apr_size_t len_max, apr_pool_t *p)
{
    const unsigned char *s = (const unsigned char *)(text ? text : "");
    char *out = apr_palloc(p, len_max + 1);
    apr_size_t used = 0;
    int len;

    while (*s) {
        len = *s < 0x80 ? 1 : sequence_len(s);
        if (used + (len ? (apr_size_t)len : 1) > len_max) {
            break;
        }
        if (!len || *s == 0x7f || (*s < 0x20 && *s != '\n' && *s != '\t')) {
            out[used++] = '?';
            s++;
            continue;
        }
        memcpy(out + used, s, (size_t)len);
        used += (apr_size_t)len;
        s += len;
    }
    out[used] = '\0';
    return out;
}

int pay_text_has_link(const char *text)
{
    for (; *text; text++) {
        if (!strncmp(text, "://", 3) || !strncasecmp(text, "www.", 4)) {
            return 1;
        }
    }
    return 0;
}
