/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_BYTES_H
#define PAY_STORE_BYTES_H

#include <stddef.h>

/*
 * The bytes of a key or of a row, which belong to somebody else: the engine, a pool or the caller.
 * LMDB reads and fills in the same structure (store/rows_lmdb.h), so that no call copies it.
 */
typedef struct pay_bytes_t {
    size_t len;
    const void *data;
} pay_bytes_t;

#endif
