/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_HTML_H
#define PAY_BASE_TEXT_HTML_H

/* Writes HTML. One function writes markup and another writes text, and the latter is the only way
 * for foreign text into a page. Used by one thread; text grows in the pool. */

#include <apr.h>
#include <apr_pools.h>

typedef struct pay_html_t {
    char *text; /* always NUL-terminated */
    apr_size_t len;
    apr_size_t size;
    apr_pool_t *pool;
} pay_html_t;

pay_html_t *pay_html_make(apr_size_t size_hint, apr_pool_t *p);

/* Appends markup: a literal of the program. */
void pay_html_markup(pay_html_t *html, const char *literal);

/* Appends text of any origin, between tags or in an attribute in double quotes. Control characters
 * other than line breaks and tabs become question marks. */
void pay_html_text(pay_html_t *html, const char *text);

/*
 * Returns the entity for a character that could be markup, in text and in attributes; NULL if it
 * cannot.
 */
const char *pay_html_entity(char c);

#endif
