/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_WRITER_H
#define PAY_BASE_TEXT_WRITER_H

/*
 * Writes compact JSON text (RFC 8259), members in the order of the calls. Used by one thread. Text
 * grows in the pool; `name` is NULL inside an array and at the top. Strings must be UTF-8; control
 * characters, quotes, backslashes and U+2028/2029 are escaped.
 */

#include <apr.h>
#include <apr_pools.h>

typedef struct pay_writer_t {
    char *text;     /* always NUL-terminated */
    apr_size_t len; /* without the NUL */
    apr_size_t size;
    int comma; /* a comma must precede the next value */
    apr_pool_t *pool;
} pay_writer_t;

/* Makes a writer with room for `size_hint` bytes; it grows beyond that by itself. */
pay_writer_t *pay_writer_make(apr_size_t size_hint, apr_pool_t *p);

void pay_writer_object_open(pay_writer_t *w, const char *name);
void pay_writer_object_close(pay_writer_t *w);
void pay_writer_array_open(pay_writer_t *w, const char *name);
void pay_writer_array_close(pay_writer_t *w);
void pay_writer_string(pay_writer_t *w, const char *name, const char *value); /* NULL: null */
/* Writes an array of the words of `text`, which are separated by blanks; a word has at most
 * PAY_WRITER_WORD_MAX bytes. */
#define PAY_WRITER_WORD_MAX 1000
void pay_writer_words(pay_writer_t *w, const char *name, const char *text);
void pay_writer_integer(pay_writer_t *w, const char *name, apr_int64_t value);
void pay_writer_bool(pay_writer_t *w, const char *name, int value);
void pay_writer_null(pay_writer_t *w, const char *name);
/* Inserts `json` as it is: a number literal or a finished JSON value. */
void pay_writer_raw(pay_writer_t *w, const char *name, const char *json);
/* Writes a number in major units with the currency's decimals. */
void pay_writer_amount(pay_writer_t *w, const char *name, apr_int64_t amount_minor,
                       const char *currency);
/* Writes the RFC 3339 text of `when`, or null for 0. */
void pay_writer_time(pay_writer_t *w, const char *name, apr_int64_t when);

#endif
