/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_SECRET_MEMORY_H
#define PAY_BASE_CRYPTO_SECRET_MEMORY_H

/* Memory for secrets that the process needs repeatedly, kept out of core files. */

#include <apr_errno.h>
#include <apr_pools.h>

/*
 * Allocates `size` zero bytes in pages of their own, wiped and freed with `p`. Fails if the pages
 * could not be kept out of core files.
 */
apr_status_t pay_secret_memory_make(void **out, apr_size_t size, apr_pool_t *p);

/* Makes the memory read-only. */
apr_status_t pay_secret_memory_seal(void *memory);

/* Wipes and frees it now. */
void pay_secret_memory_free(void *memory, apr_pool_t *p);

#endif
