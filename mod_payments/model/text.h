/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_TEXT_H
#define PAY_MODEL_TEXT_H

/* Text written by people: names, notes, addresses. Pure. */

#include <apr_pools.h>

/*
 * Returns 1 if `text` is UTF-8 (RFC 3629: no overlong forms, surrogates or values above U+10FFFF)
 * without control characters (C0, DEL, C1) other than those in `controls`.
 */
int pay_text_is_plain(const char *text, const char *controls);

/*
 * Returns 1 if the text is plain and has no invisible character that changes how it looks: marks of
 * direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), blanks without width,
 * separators of lines and paragraphs, tags. The joiners of Arabic, Indic and other scripts (U+200C,
 * U+200D) are accepted after a character of such a script. For text that payers see.
 */
int pay_text_is_visible(const char *text, const char *controls);

/* Returns the number of characters (code points) of UTF-8 text. */
apr_size_t pay_text_length(const char *text);

/* Returns `text` if it has at most `max` characters, else its beginning and an ellipsis, together
 * `max` characters. `text` itself or in `p`. */
const char *pay_text_cut(const char *text, apr_size_t max, apr_pool_t *p);

/*
 * Returns text from elsewhere in a form that may be shown: at most `len_max` bytes of `text` (NULL:
 * "") in `p`, with a question mark for each byte that is not part of plain text; newlines and tabs
 * stay.
 */
const char *pay_text_printable(const char *text, apr_size_t len_max, apr_pool_t *p);

/* Returns `text` without control characters, invalid UTF-8 and invisible characters, including soft
 * hyphens and fillers; joiners stay where pay_text_is_visible accepts them. */
const char *pay_text_visible(const char *text, apr_pool_t *p);

/* Returns 1 if mail programs would make a link of a part of it: it contains "://" or "www.". */
int pay_text_has_link(const char *text);

#endif
