/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_PAGER_H
#define PAY_BASE_PAGER_H

/* Walks a long list batch by batch, in the memory of two batches. Used by one thread. */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_tables.h>

typedef struct pay_pager_t {
    /*
     * The next batch, in `p`: an array of pointers to rows, or of rows that are larger than a
     * pointer. `after` is the last row of the batch before, NULL for the first one.
     */
    apr_status_t (*list)(apr_array_header_t **rows, void *baton, const void *after, apr_pool_t *p);
    /* Does the work of one row; row and `p` are gone after two batches. APR_EOF ends the walk. */
    apr_status_t (*each)(void *baton, const void *row, apr_pool_t *p);
    const int *done; /* not 0: there is no other batch; NULL: an empty batch is the last one */
} pay_pager_t;

/*
 * Calls pager->each with `baton` for every row, in the order of the list. Returns APR_SUCCESS at
 * the end of the list and after APR_EOF, else the first failure of either function. Scratch is in
 * `p` until it returns.
 */
apr_status_t pay_pager_walk(const pay_pager_t *pager, void *baton, apr_pool_t *p);

#endif
