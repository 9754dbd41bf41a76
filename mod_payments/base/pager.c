/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pager.h"

static const void *row_at(const apr_array_header_t *rows, int i)
{
    if (rows->elt_size == (int)sizeof(const void *)) {
        return APR_ARRAY_IDX(rows, i, const void *);
    }
    return rows->elts + (apr_size_t)i * (apr_size_t)rows->elt_size;
}

/* *after becomes the last row. */
static apr_status_t batch_work(const void **after, const pay_pager_t *pager, void *baton,
                               const apr_array_header_t *rows, apr_pool_t *p)
{
    apr_status_t rv = APR_SUCCESS;
    int i;

    for (i = 0; rv == APR_SUCCESS && i < rows->nelts; i++) {
        *after = row_at(rows, i);
        rv = pager->each(baton, *after, p);
    }
    return rv;
}

apr_status_t pay_pager_walk(const pay_pager_t *pager, void *baton, apr_pool_t *p)
{
    const void *after = NULL;
    apr_pool_t *batch[2]; /* the last row of one is where the next one begins */
    apr_array_header_t *rows;
    apr_status_t rv;
    int turn = 0;

    apr_pool_create(&batch[0], p);
    apr_pool_create(&batch[1], p);
    do {
        turn = !turn;
        apr_pool_clear(batch[turn]);
        rv = pager->list(&rows, baton, after, batch[turn]);
        if (rv == APR_SUCCESS) {
            rv = batch_work(&after, pager, baton, rows, batch[turn]);
        }
    } while (rv == APR_SUCCESS && (pager->done ? !*pager->done : rows->nelts > 0));
    apr_pool_destroy(batch[0]);
    apr_pool_destroy(batch[1]);
    return rv == APR_EOF ? APR_SUCCESS : rv;
}
