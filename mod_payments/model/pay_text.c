/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pay_text.h"

#include <apr_strings.h>
#include <string.h>

/* Bytes of the well-formed sequence of two to four bytes at `s`; 0 when there is none. */
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
    case 0xe0: /* below are overlong forms */
        second_min = 0xa0;
        break;
    case 0xed: /* above are surrogates */
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

/* The character of `len` bytes at `s`, which sequence_len has judged. */
static unsigned int code_point(const unsigned char *s, int len)
{
    unsigned int code = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    int i;

    for (i = 1; i < len; i++) {
        code = code << 6 | (s[i] & 0x3fu);
    }
    return code;
}

static const struct {
    unsigned int first;
    unsigned int last;
} invisible[] = {
    {0x61c, 0x61c},     /* Arabic letter mark */
    {0x180e, 0x180e},   /* Mongolian vowel separator */
    {0x200b, 0x200b},   /* zero width space */
    {0x200e, 0x200f},   /* left-to-right and right-to-left marks */
    {0x2028, 0x202e},   /* separators of lines and paragraphs, embeddings, overrides */
    {0x2060, 0x206f},   /* word joiner, invisible operators, isolates */
    {0xfeff, 0xfeff},   /* byte order mark */
    {0xe0000, 0xe007f}, /* tags */
};

#define JOINER_FIRST 0x200c /* zero width non-joiner */
#define JOINER_LAST 0x200d  /* zero width joiner */
#define JOINED_FIRST 0x600  /* below are no scripts that need a joiner */

static int is_visible(unsigned int code, unsigned int before)
{
    apr_size_t i;

    if (code >= JOINER_FIRST && code <= JOINER_LAST) {
        return before >= JOINED_FIRST && (before < JOINER_FIRST || before > JOINER_LAST);
    }
    for (i = 0; i < sizeof(invisible) / sizeof(invisible[0]); i++) {
        if (code >= invisible[i].first && code <= invisible[i].last) {
            return 0;
        }
    }
    return 1;
}

int pay_text_is_visible(const char *text, const char *controls)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned int code = 0;
    int len;

    if (!pay_text_is_plain(text, controls)) {
        return 0;
    }
    for (; *s; s += len) {
        const unsigned int before = code;

        len = *s < 0x80 ? 1 : sequence_len(s);
        code = code_point(s, len);
        if (!is_visible(code, before)) {
            return 0;
        }
    }
    return 1;
}

/* Every byte but those that go on with a character begins one. */
apr_size_t pay_text_length(const char *text)
{
    apr_size_t length = 0;

    for (; *text; text++) {
        length += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return length;
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

/* Ranges of characters that are not seen, or move what is. */
static const struct {
    apr_uint32_t first, last;
} unseen[] = {
    {0x00ad, 0x00ad}, {0x034f, 0x034f}, {0x061c, 0x061c}, {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};

static apr_uint32_t code_of(const unsigned char *s, int len)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    apr_uint32_t code = s[0] & lead_bits[len];
    int i;

    for (i = 1; i < len; i++) {
        code = code << 6 | (s[i] & 0x3f);
    }
    return code;
}

apr_size_t pay_text_visible_len(const char *at)
{
    const unsigned char *s = (const unsigned char *)at;
    apr_uint32_t code;
    size_t i;
    int len;

    if (*s < 0x80) {
        return *s >= 0x20 && *s != 0x7f;
    }
    len = sequence_len(s);
    if (!len) {
        return 0;
    }
    code = code_of(s, len);
    for (i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++) {
        if (code >= unseen[i].first && code <= unseen[i].last) {
            return 0;
        }
    }
    return (apr_size_t)len;
}

const char *pay_text_visible(const char *text, apr_pool_t *p)
{
    char *out = apr_palloc(p, strlen(text) + 1);
    char *to = out;
    apr_size_t len;

    while (*text) {
        len = pay_text_visible_len(text);
        memcpy(to, text, len);
        to += len;
        text += len ? len : 1;
    }
    *to = '\0';
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
