/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_ACCEPT_H
#define PAY_HTTPD_CALL_ACCEPT_H

/* Content negotiation (RFC 9110 section 12.5.1). Pure. */

#define PAY_MEDIA_JSON "application/json"

/*
 * Returns the media type of the answer for an Accept header (NULL: absent): application/json,
 * text/json or text/plain, the first of equals. NULL if none of them is acceptable.
 */
const char *pay_accept_choose(const char *accept);

/*
 * Returns 1 if `content_type` (NULL: absent) is application/json, text/json or
 * application/...+json.
 */
int pay_accept_is_json(const char *content_type);

#endif
