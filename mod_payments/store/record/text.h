/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_TEXT_H
#define PAY_STORE_RECORD_TEXT_H

/* Texts of rows. Pure. */

#include <apr_pools.h>

/* Returns `text` (NULL: "") in `p`, cut to `len_max` bytes at the end of a UTF-8 character. */
const char *pay_store_text_cut(const char *text, apr_size_t len_max, apr_pool_t *p);

#endif
