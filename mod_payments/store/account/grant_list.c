/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/grant.h"

#include "store/account/account.h"
#include "store/record/walk.h"

#include <stdlib.h>
#include <string.h>

static int by_host(const void *a, const void *b)
{
    const pay_grant_t *one = *(const pay_grant_t *const *)a;
    const pay_grant_t *other = *(const pay_grant_t *const *)b;
    const int order = strcmp(one->host, other->host);

    return order ? order : strcmp(one->user, other->user);
}

static int by_account(const void *a, const void *b)
{
    const pay_grant_t *one = *(const pay_grant_t *const *)a;
    const pay_grant_t *other = *(const pay_grant_t *const *)b;

    return strcmp(one->account->name, other->account->name);
}

static void sort(apr_array_header_t *grants, int (*order)(const void *a, const void *b))
{
    if (grants->nelts > 1) {
        qsort(grants->elts, (size_t)grants->nelts, sizeof(pay_grant_t *), order);
    }
}

apr_status_t pay_store_grant_get(pay_grant_t **out, pay_store_t *store, const char *name,
                                 const char *host, const char *user, apr_pool_t *p)
{
    unsigned char digest[PAY_SHA256_LEN];
    pay_account_t *account;
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    *out = NULL;
    rv = pay_store_grant_name_read(&host, &user, digest, host, user, p);
    if (rv != APR_SUCCESS) {
        return rv == APR_EINVAL ? APR_NOTFOUND : rv;
    }
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_account_by_name(&account, &txn, name, p);
    if (!rc) {
        rc = pay_store_grant_load(out, &txn, account, digest, p);
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

apr_status_t pay_store_grant_list(apr_array_header_t **out, pay_store_t *store, const char *name,
                                  apr_pool_t *p)
{
    apr_array_header_t *grants;
    pay_account_t *account;
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_account_by_name(&account, &txn, name, p);
    if (!rc) {
        rc = pay_store_grant_of_account(&grants, &txn, account, p);
    }
    pay_rows_end(&txn);
    if (!rc) {
        sort(grants, by_host);
        *out = grants;
    }
    return pay_rows_status(rc);
}

/* A user's grants while they are listed. */
typedef struct listing_t {
    const unsigned char *digest;
    apr_array_header_t *grants;
} listing_t;

/* An entry of the index, which must lead to a grant of an account that there is. */
static int visit_entry(void *baton, pay_rows_txn_t *txn, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *number = (const unsigned char *)key->mv_data + PAY_SHA256_LEN;
    listing_t *listing = baton;
    pay_account_t *account;
    pay_grant_t *grant;
    int rc;

    (void)row;
    if (key->mv_size != PAY_STORE_GRANT_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_GRANT_USER, key);
    }
    rc = pay_store_account_by_number(&account, txn, pay_store_read_u32(number),
                                     listing->grants->pool);
    if (!rc) {
        rc = pay_store_grant_load(&grant, txn, account, listing->digest, listing->grants->pool);
    }
    if (rc == MDB_NOTFOUND) {
        return pay_rows_bad(PAY_TABLE_GRANT_USER, key);
    }
    if (!rc) {
        APR_ARRAY_PUSH(listing->grants, pay_grant_t *) = grant;
    }
    return rc;
}

apr_status_t pay_store_grant_list_user(apr_array_header_t **out, pay_store_t *store,
                                       const char *host, const char *user, apr_pool_t *p)
{
    unsigned char digest[PAY_SHA256_LEN];
    listing_t listing = {.digest = digest};
    pay_store_key_t prefix;
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    *out = NULL;
    listing.grants = apr_array_make(p, 4, sizeof(pay_grant_t *));
    rv = pay_store_grant_name_read(&host, &user, digest, host, user, p);
    if (rv == APR_EINVAL) {
        *out = listing.grants; /* nobody's */
        return APR_SUCCESS;
    }
    if (rv == APR_SUCCESS) {
        rv = pay_rows_begin(&txn, store);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    pay_store_key_start(&prefix);
    (void)pay_store_key_bytes(&prefix, digest, sizeof(digest));
    rc = pay_store_walk_part(&txn, PAY_TABLE_GRANT_USER, &prefix, NULL, PAY_GRANTS_MAX, visit_entry,
                             &listing);
    pay_rows_end(&txn);
    if (!rc) {
        sort(listing.grants, by_account);
        *out = listing.grants;
    }
    return pay_rows_status(rc);
}
