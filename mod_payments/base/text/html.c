/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/html.h"

#include <string.h>

static void append(pay_html_t *html, const char *text, apr_size_t len)
{
    char *larger;

    if (html->len + len >= html->size) {
        while (html->size <= html->len + len) {
            html->size *= 2;
        }
        larger = apr_palloc(html->pool, html->size);
        memcpy(larger, html->text, html->len);
        html->text = larger;
    }
    memcpy(html->text + html->len, text, len);
    html->len += len;
    html->text[html->len] = '\0';
}

pay_html_t *pay_html_make(apr_size_t size_hint, apr_pool_t *p)
{
    pay_html_t *html = apr_pcalloc(p, sizeof(*html));

    html->size = size_hint > 0 ? size_hint : 1;
    html->text = apr_palloc(p, html->size);
    html->text[0] = '\0';
    html->pool = p;
    return html;
}

void pay_html_markup(pay_html_t *html, const char *literal)
{
    append(html, literal, strlen(literal));
}

const char *pay_html_entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Returns the text in a page for the byte; NULL: the byte itself. */
static const char *shown_as(char c)
{
    const int is_control = ((unsigned char)c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;

    return is_control ? "?" : pay_html_entity(c);
}

void pay_html_text(pay_html_t *html, const char *text)
{
    const char *start = text;
    const char *entity;

    for (; *text; text++) {
        entity = shown_as(*text);
        if (entity) {
            append(html, start, (apr_size_t)(text - start));
            pay_html_markup(html, entity);
            start = text + 1;
        }
    }
    append(html, start, (apr_size_t)(text - start));
}
