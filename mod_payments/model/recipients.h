/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_RECIPIENTS_H
#define PAY_MODEL_RECIPIENTS_H

/* Allowed recipients of Test Mode's receipts: a list of addresses and domains. Pure. */

#include <apr_pools.h>

#define PAY_RECIPIENTS_MAX 16 /* entries */
#define PAY_RECIPIENTS_FAULT                                                                       \
    "want at most 16 addresses such as ada@shop.example and domains such as @shop.example, in "    \
    "all "                                                                                         \
    "at most 1000 bytes"

/*
 * Sets *out to the entries of `text` (separated by blanks) in stored form: lower case, each once.
 * "" lists nobody. Returns 0 if it is not a valid list.
 */
int pay_recipients_read(const char **out, const char *text, apr_pool_t *p);

/* Returns 1 if `address`, one address in lower case, or its domain is listed. */
int pay_recipients_has(const char *list, const char *address);

/*
 * Returns a text that is the same for all addresses of one mailbox: the address without its
 * "+detail".
 */
const char *pay_recipients_mailbox(const char *address, apr_pool_t *p);

#endif
