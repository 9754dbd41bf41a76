/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_EMAIL_H
#define PAY_MODEL_EMAIL_H

/* One e-mail address. Pure. */

#include <apr_errno.h>
#include <apr_pools.h>

#define PAY_EMAIL_MAX 254 /* bytes, RFC 5321 4.5.3.1.3 without the brackets */

/*
 * Normalises one addr-spec (RFC 5322 3.4.1, dot-atom local part of at most 64 bytes, UTF-8 as in
 * RFC 6531; a domain name with a dot): removes blanks around it and converts to lower case ASCII.
 * APR_EINVAL for anything else: lists, names, comments, quoted strings.
 */
apr_status_t pay_email_normalize(const char **out, const char *text, apr_pool_t *p);

#endif
