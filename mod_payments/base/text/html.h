/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_HTML_H
#define PAY_BASE_TEXT_HTML_H

/* Writes HTML. Markup goes in by one function and text by the other, which is the only way that
 * anything given by people gets into a page. Used by one thread; text grows in the pool. */

#include <apr.h>
#include <apr_pools.h>

typedef struct pay_html_t {
    char *text; /* always NUL-terminated */
    apr_size_t len;
    apr_size_t size;
    apr_pool_t *pool;
} pay_html_t;

pay_html_t *pay_html_make(apr_size_t size_hint, apr_pool_t *p);

/* Markup: a literal of the program's own. */
void pay_html_markup(pay_html_t *html, const char *literal);

/* Text of whatever origin, between tags or in an attribute in double quotes. Control characters
 * other than line breaks and tabs become question marks. */
void pay_html_text(pay_html_t *html, const char *text);

/* The entity for a character that could be markup, in text and in attributes; NULL: it is none. */
const char *pay_html_entity(char c);

#endif
