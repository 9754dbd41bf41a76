/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"

#include "base/text/money.h"
#include "base/text/time.h"

#include <apr_strings.h>
#include <limits.h>
#include <string.h>

#define SIZE_MIN 64
#define INTEGER_TEXT_MAX 24
#define ESCAPE_LEN 6 /* "\u2028" */

/* Makes room for so many more bytes and a NUL. */
static void grow(pay_writer_t *w, apr_size_t len)
{
    char *larger;

    while (len >= w->size - w->len) {
        w->size *= 2;
    }
    larger = apr_palloc(w->pool, w->size);
    memcpy(larger, w->text, w->len);
    w->text = larger;
}

static void append(pay_writer_t *w, const char *text, apr_size_t len)
{
    if (len >= w->size - w->len) {
        grow(w, len);
    }
    memcpy(w->text + w->len, text, len);
    w->len += len;
    w->text[w->len] = '\0';
}

static void append_char(pay_writer_t *w, char c)
{
    if (w->size - w->len <= 1) {
        grow(w, 1);
    }
    w->text[w->len++] = c;
    w->text[w->len] = '\0';
}

static void append_escape(pay_writer_t *w, unsigned int code)
{
    static const char digits[] = "0123456789abcdef";
    char escape[ESCAPE_LEN] = {'\\',
                               'u',
                               digits[code >> 12 & 0x0f],
                               digits[code >> 8 & 0x0f],
                               digits[code >> 4 & 0x0f],
                               digits[code & 0x0f]};

    append(w, escape, sizeof(escape));
}

/*
 * Writes the character at `s` in its escaped form and returns its length, or 0 if it needs no
 * escape.
 */
static apr_size_t escape_at(pay_writer_t *w, const char *s)
{
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = strchr(named, *s);

    if (found) {
        char escape[2] = {'\\', letters[found - named]};

        append(w, escape, sizeof(escape));
        return 1;
    }
    if ((unsigned char)*s < ' ' || *s == 0x7f) {
        append_escape(w, (unsigned char)*s);
        return 1;
    }
    /* Line and paragraph separators end a line in JavaScript before ES2019. */
    if (strncmp(s, "\xe2\x80\xa8", 3) == 0 || strncmp(s, "\xe2\x80\xa9", 3) == 0) {
        append_escape(w, s[2] == '\xa8' ? 0x2028 : 0x2029);
        return 3;
    }
    return 0;
}

/* Bytes that end a part which is copied as it is: the NUL, and those that escape_at() judges. A
 * table, because most bytes of an answer pass here. */
static const char ends_part[UCHAR_MAX + 1] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* control characters */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ['"'] = 1, ['\\'] = 1, [0x7f] = 1, [0xe2] = 1,
};

static apr_size_t part_len(const char *s)
{
    const char *start = s;

    while (!ends_part[(unsigned char)*s]) {
        s++;
    }
    return (apr_size_t)(s - start);
}

static void append_quoted(pay_writer_t *w, const char *value)
{
    const char *s = value;
    apr_size_t len;

    append_char(w, '"');
    for (;;) {
        len = part_len(s);
        append(w, s, len);
        s += len;
        if (!*s) {
            break;
        }
        len = escape_at(w, s);
        if (len == 0) {
            append_char(w, *s);
            len = 1;
        }
        s += len;
    }
    append_char(w, '"');
}

/* Writes everything before a value: the comma that is due, and the member's name. */
static void begin(pay_writer_t *w, const char *name)
{
    if (w->comma) {
        append_char(w, ',');
    }
    w->comma = 1;
    if (name) {
        append_quoted(w, name);
        append_char(w, ':');
    }
}

static void open_with(pay_writer_t *w, const char *name, char bracket)
{
    begin(w, name);
    append_char(w, bracket);
    w->comma = 0;
}

static void close_with(pay_writer_t *w, char bracket)
{
    append_char(w, bracket);
    w->comma = 1;
}

pay_writer_t *pay_writer_make(apr_size_t size_hint, apr_pool_t *p)
{
    pay_writer_t *w = apr_pcalloc(p, sizeof(*w));

    w->pool = p;
    w->size = size_hint < SIZE_MIN ? SIZE_MIN : size_hint;
    w->text = apr_palloc(p, w->size);
    w->text[0] = '\0';
    return w;
}

void pay_writer_object_open(pay_writer_t *w, const char *name)
{
    open_with(w, name, '{');
}

void pay_writer_object_close(pay_writer_t *w)
{
    close_with(w, '}');
}

void pay_writer_array_open(pay_writer_t *w, const char *name)
{
    open_with(w, name, '[');
}

void pay_writer_array_close(pay_writer_t *w)
{
    close_with(w, ']');
}

void pay_writer_raw(pay_writer_t *w, const char *name, const char *json)
{
    begin(w, name);
    append(w, json, strlen(json));
}

void pay_writer_string(pay_writer_t *w, const char *name, const char *value)
{
    if (!value) {
        pay_writer_null(w, name);
        return;
    }
    begin(w, name);
    append_quoted(w, value);
}

void pay_writer_words(pay_writer_t *w, const char *name, const char *text)
{
    char word[PAY_WRITER_WORD_MAX + 1];
    apr_size_t len;

    pay_writer_array_open(w, name);
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        len = strcspn(text, " ");
        apr_cpystrn(word, text, len < sizeof(word) ? len + 1 : sizeof(word));
        pay_writer_string(w, NULL, word);
        text += len;
    }
    pay_writer_array_close(w);
}

void pay_writer_integer(pay_writer_t *w, const char *name, apr_int64_t value)
{
    char text[INTEGER_TEXT_MAX];

    apr_snprintf(text, sizeof(text), "%" APR_INT64_T_FMT, value);
    pay_writer_raw(w, name, text);
}

void pay_writer_bool(pay_writer_t *w, const char *name, int value)
{
    pay_writer_raw(w, name, value ? "true" : "false");
}

void pay_writer_null(pay_writer_t *w, const char *name)
{
    pay_writer_raw(w, name, "null");
}

void pay_writer_amount(pay_writer_t *w, const char *name, apr_int64_t amount_minor,
                       const char *currency)
{
    char text[PAY_MONEY_TEXT_MAX];

    pay_writer_raw(w, name, pay_money_format(text, amount_minor, currency));
}

void pay_writer_time(pay_writer_t *w, const char *name, apr_int64_t when)
{
    char text[PAY_TIME_TEXT_LEN + 1];

    if (!when) {
        pay_writer_null(w, name);
        return;
    }
    pay_writer_string(w, name, pay_time_format(text, when));
}
