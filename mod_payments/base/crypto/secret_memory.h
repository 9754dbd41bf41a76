/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_SECRET_MEMORY_H
#define PAY_BASE_CRYPTO_SECRET_MEMORY_H

/* Memory for secrets that the process needs again and again: no core file holds it. */

#include <apr_errno.h>
#include <apr_pools.h>

/*
 * `size` zero bytes in pages of their own, wiped and given back with `p`. An error where core files
 * could not be kept from taking it.
 */
apr_status_t pay_secret_memory_make(void **out, apr_size_t size, apr_pool_t *p);

/* Nothing is written to it any more. */
apr_status_t pay_secret_memory_seal(void *memory);

/* Wiped and given back now. */
void pay_secret_memory_free(void *memory, apr_pool_t *p);

#endif
