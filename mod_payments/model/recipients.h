/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_RECIPIENTS_H
#define PAY_MODEL_RECIPIENTS_H

/* To whom receipts of Test Mode may go: a list of addresses and domains. Pure. */

#include <apr_pools.h>

#define PAY_RECIPIENTS_MAX 16 /* entries */
#define PAY_RECIPIENTS_FAULT                                                                       \
    "want at most 16 addresses such as ada@shop.example and domains such as @shop.example, in "    \
    "all "                                                                                         \
    "at most 1000 bytes"

/*
 * *out is the entries of `text` (blanks between them) as they are stored: in lower case, each once.
 * "" is a list of nobody. 0: it is no such list.
 */
int pay_recipients_read(const char **out, const char *text, apr_pool_t *p);

/* 1 when `address`, one address in lower case, is listed, or its domain is. */
int pay_recipients_has(const char *list, const char *address);

/* What stands for all addresses that lead to one mailbox: the address without its "+detail". */
const char *pay_recipients_mailbox(const char *address, apr_pool_t *p);

#endif
