/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_TEXT_H
#define PAY_TEXT_H

/* Text that people wrote: names, notes, addresses. Pure. */

#include <apr.h>

/*
 * 1 when `text` is UTF-8 (RFC 3629: no overlong forms, surrogates or values above U+10FFFF)
 * without control characters (C0, DEL, C1) but those of the set `controls`.
 */
int pay_text_is_plain(const char *text, const char *controls);

/* How many characters (code points) UTF-8 text has. */
apr_size_t pay_text_length(const char *text);

#endif
