/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_TEXT_H
#define PAY_TEXT_H

/* Text that people wrote: names, notes, addresses. Pure. */

/*
 * 1 when `text` is UTF-8 (RFC 3629: no overlong forms, surrogates or values above U+10FFFF)
 * without control characters (C0, DEL, C1) but those of the set `controls`.
 */
int pay_text_is_plain(const char *text, const char *controls);

#endif
