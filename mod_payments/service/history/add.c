/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/parts.h"

#include "base/log.h"
#include "base/text/time.h"

#include <string.h>

#define ROWS_PER_WRITE 100  /* charges wait while they are written */
#define ROWS_PER_IMPORT 200 /* and while all events of them are written with the import's end */
#define PAUSE apr_time_from_msec(5)
#define BUSY_TRIES_MAX 10 /* each waits for the writer lock as long as the store's options say */

typedef struct add_t {
    pay_history_news_t *news;
    const pay_history_window_t *window;
    apr_array_header_t fresh; /* the part of pay_refund_t * that one import writes */
    apr_pool_t *pool;
    apr_pool_t *ptemp; /* cleared with each write */
} add_t;

/* Drops the rest of the array's rows, without the one at `at`. */
static void drop(apr_array_header_t *rows, int at)
{
    const pay_refund_t **row = (const pay_refund_t **)rows->elts;

    memmove(row + at, row + at + 1, (size_t)(rows->nelts - at - 1) * sizeof(*row));
    rows->nelts--;
}

/* Writes up to ROWS_PER_WRITE rows from `start` on; leaves out a row that cannot be written. */
static apr_status_t write_rows(pay_import_t *import, const add_t *add, int start)
{
    const pay_history_window_t *window = add->window;
    apr_array_header_t *rows;
    int i, at, tries = 0;
    apr_status_t rv;

    apr_pool_clear(add->ptemp);
    rows = apr_array_make(add->ptemp, ROWS_PER_WRITE, sizeof(const pay_refund_t *));
    for (i = start; i < add->fresh.nelts && rows->nelts < ROWS_PER_WRITE; i++) {
        APR_ARRAY_PUSH(rows, const pay_refund_t *) =
            APR_ARRAY_IDX(&add->fresh, i, const pay_refund_t *);
    }
    while (rows->nelts > 0) {
        rv = pay_store_import_rows(import, &at, window->store, rows, add->ptemp);
        if (rv == PAY_STORE_EBUSY && ++tries < BUSY_TRIES_MAX) {
            continue; /* nothing was done */
        }
        if ((rv != APR_EEXIST && rv != APR_EINVAL) || at < 0 || at >= rows->nelts) {
            return rv;
        }
        pay_history_refuse(add->news,
                           APR_ARRAY_IDX(rows, at, const pay_refund_t *)->refund_reference,
                           rv == APR_EEXIST ? "its id or reference is known here with different "
                                              "content"
                                            : "the store cannot hold it");
        drop(rows, at);
    }
    return APR_SUCCESS;
}

static void take_back(pay_import_t *import, const add_t *add)
{
    apr_status_t rv;

    rv = pay_store_import_abort(import, add->window->store, add->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00441) "refunds of acquirer %s that were stored in part could not be "
                                "removed: the next import removes them",
                add->window->acquirer->name);
    }
}

static apr_status_t write_all(pay_import_t *import, const add_t *add)
{
    apr_status_t rv = APR_SUCCESS;
    int start;

    for (start = 0; rv == APR_SUCCESS && start < add->fresh.nelts; start += ROWS_PER_WRITE) {
        if (start > 0) {
            apr_sleep(PAUSE);
        }
        rv = write_rows(import, add, start);
    }
    return rv;
}

/* Writes rows of the array from `start` on, by an import of their own. */
static apr_status_t add_part(add_t *add, const apr_array_header_t *fresh, int start)
{
    const pay_history_window_t *window = add->window;
    const int left = fresh->nelts - start;
    pay_import_t import;
    apr_status_t rv;

    add->fresh = *fresh;
    add->fresh.elts += start * fresh->elt_size;
    add->fresh.nelts = left < ROWS_PER_IMPORT ? left : ROWS_PER_IMPORT;
    rv = pay_store_import_begin(&import, window->store, &window->scope, add->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    import.by_acquirer = 1;
    import.acquirer = window->acquirer->name;
    import.tell_since = pay_time_now() - PAY_HISTORY_FAR_DAYS * apr_time_from_sec(24 * 3600);
    rv = write_all(&import, add);
    if (rv == APR_SUCCESS) {
        rv = pay_store_import_finish(&import, window->store, add->pool);
    }
    if (rv == APR_SUCCESS) {
        add->news->added += import.written;
    } else {
        take_back(&import, add);
    }
    return rv;
}

apr_status_t pay_history_add(pay_history_news_t *news, const pay_history_window_t *window,
                             const apr_array_header_t *fresh, apr_pool_t *p)
{
    add_t add = {.news = news, .window = window, .pool = p};
    apr_status_t rv = APR_SUCCESS;
    int start;

    apr_pool_create(&add.ptemp, p);
    for (start = 0; rv == APR_SUCCESS && start < fresh->nelts; start += ROWS_PER_IMPORT) {
        rv = add_part(&add, fresh, start);
    }
    apr_pool_destroy(add.ptemp);
    return rv;
}
