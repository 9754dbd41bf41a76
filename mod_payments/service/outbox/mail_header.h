/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_MAIL_HEADER_H
#define PAY_SERVICE_OUTBOX_MAIL_HEADER_H

/*
 * The header of an e-mail (RFC 5322). pay_mail_header_put makes every line and lets nothing through
 * that could end it: any value stays within its line. Pure.
 */

#include <apr_pools.h>
#include <apr_tables.h>
#include <apr_time.h>

#define PAY_MAIL_LINE_MAX 998 /* RFC 5322 2.1.1 */

/*
 * Adds "name: value" to `headers` (of const char *), cut to PAY_MAIL_LINE_MAX. Copies only
 * printable ASCII and blanks from `value`: text written by people goes through pay_mail_header_text
 * first.
 */
void pay_mail_header_put(apr_array_header_t *headers, const char *name, const char *value);

/*
 * Returns text (UTF-8) in a form for a header, at most `room` bytes long: as it is if it is plain
 * ASCII, else in encoded-words (RFC 2047, base64) of whole characters. The rest is left out.
 */
const char *pay_mail_header_text(const char *text, apr_size_t room, apr_pool_t *p);

/* Returns "name" <address>, the name quoted or encoded; `address` is from pay_email_normalize. */
const char *pay_mail_header_mailbox(const char *name, const char *address, apr_pool_t *p);

/* Returns "Sat, 21 Nov 2026 13:30:00 +0000". */
const char *pay_mail_header_date(apr_time_t when, apr_pool_t *p);

#endif
