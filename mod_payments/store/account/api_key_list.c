/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/api_key.h"

#include "store/record/walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct key_list_t {
    apr_uint32_t account; /* 0: all */
    apr_array_header_t *keys;
    apr_pool_t *scratch; /* of one row, to see whose it is */
} key_list_t;

/* Keys of other accounts, of which there may be many, leave nothing in the caller's pool. */
static int list_visit(void *baton, pay_rows_txn_t *txn, const MDB_val *at, const MDB_val *val)
{
    key_list_t *list = baton;
    pay_api_key_t *key;
    int rc;

    if (list->account) {
        apr_pool_clear(list->scratch);
        rc = pay_store_api_key_decode(&key, at, val, list->scratch);
        if (rc || key->scope.account != list->account) {
            return rc;
        }
    }
    rc = pay_store_api_key_of_row(&key, txn, at, val, list->keys->pool);
    if (!rc) {
        APR_ARRAY_PUSH(list->keys, pay_api_key_t *) = key;
    }
    return rc;
}

/* Oldest first; those of one millisecond by id, so that the order is always the same. */
static int key_compare(const void *a, const void *b)
{
    const pay_api_key_t *one = *(pay_api_key_t *const *)a;
    const pay_api_key_t *other = *(pay_api_key_t *const *)b;

    if (one->created_at != other->created_at) {
        return one->created_at < other->created_at ? -1 : 1;
    }
    return strcmp(one->id, other->id);
}

apr_status_t pay_store_key_list(apr_array_header_t **out, pay_store_t *store, const char *name,
                                apr_pool_t *p)
{
    key_list_t list = {.keys = apr_array_make(p, 8, sizeof(pay_api_key_t *))};
    pay_account_t *account;
    apr_status_t rv;

    *out = NULL;
    if (name) {
        rv = pay_store_account_get(&account, store, name, p);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        list.account = account->number;
    }
    rv = apr_pool_create(&list.scratch, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_store_walk(store, PAY_TABLE_API_KEY, NULL, list_visit, &list);
    apr_pool_destroy(list.scratch);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    qsort(list.keys->elts, (size_t)list.keys->nelts, sizeof(pay_api_key_t *), key_compare);
    *out = list.keys;
    return APR_SUCCESS;
}
