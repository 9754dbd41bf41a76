/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_ID_H
#define PAY_BASE_TEXT_ID_H

/* Random identifiers: lower-case RFC 4648 base32 without padding. Thread-safe. */

#include <apr_errno.h>
#include <apr_pools.h>

#define PAY_ID_BITS 130  /* 26 characters: unique without coordination */
#define PAY_KEY_BITS 240 /* 48 characters: the body of an API key, a secret */

/* Makes `prefix`, then `bits` / 5 random characters of a-z and 2-7. `bits` is a multiple of 5, at
 * most 320. */
apr_status_t pay_id_make(const char **out, const char *prefix, int bits, apr_pool_t *p);

#endif
