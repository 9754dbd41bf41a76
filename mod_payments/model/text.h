/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_TEXT_H
#define PAY_MODEL_TEXT_H

/* Text that people wrote: names, notes, addresses. Pure. */

#include <apr_pools.h>

/*
 * 1 when `text` is UTF-8 (RFC 3629: no overlong forms, surrogates or values above U+10FFFF)
 * without control characters (C0, DEL, C1) but those of the set `controls`.
 */
int pay_text_is_plain(const char *text, const char *controls);

/*
 * The same, and no character that is not seen but changes what is: marks of direction (U+061C,
 * U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), blanks without width, separators of
 * lines and paragraphs, tags. The joiners of Arabic, Indic and other scripts (U+200C, U+200D) pass
 * after a character of such a script. For what payers are shown.
 */
int pay_text_is_visible(const char *text, const char *controls);

/* How many characters (code points) UTF-8 text has. */
apr_size_t pay_text_length(const char *text);

/* `text` of at most `max` characters, or its beginning and an ellipsis, which are as many. `text`
 * or in `p`. */
const char *pay_text_cut(const char *text, apr_size_t max, apr_pool_t *p);

/*
 * What may be shown of bytes from elsewhere: at most `len_max` bytes of `text` (NULL: "") in `p`, a
 * question mark for each byte that is not part of plain text, newlines and tabs kept.
 */
const char *pay_text_printable(const char *text, apr_size_t len_max, apr_pool_t *p);

/* `text` without control characters, without what is no UTF-8 and without what people do not see,
 * soft hyphens and fillers too; joiners stay where the above lets them pass. */
const char *pay_text_visible(const char *text, apr_pool_t *p);

/* 1 when mail programs would make a link of a part of it: it has "://" or "www.". */
int pay_text_has_link(const char *text);

#endif
