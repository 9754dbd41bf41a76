/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/grant.h"

#include "store/record/walk.h"
#include "store/row.h"

#include <apr_strings.h>
#include <string.h>

static const pay_row_field_t grant_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_grant_t, host),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_grant_t, user),
    PAY_ROW_MAX(pay_grant_t, role, PAY_ROLE_LAST),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_grant_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_grant_t, updated_at),
};
#define GRANT_FIELDS (sizeof(grant_fields) / sizeof(grant_fields[0]))

apr_status_t pay_store_grant_digest(unsigned char out[PAY_SHA256_LEN], const char *host,
                                    const char *user, apr_pool_t *p)
{
    const size_t host_size = strlen(host) + 1, user_len = strlen(user);
    char *both = apr_palloc(p, host_size + user_len + 1);

    memcpy(both, host, host_size);
    memcpy(both + host_size, user, user_len + 1);
    return pay_sha256(out, both, host_size + user_len);
}

apr_status_t pay_store_grant_name_read(const char **host_out, const char **user_out,
                                       unsigned char digest[PAY_SHA256_LEN], const char *host,
                                       const char *user, apr_pool_t *p)
{
    apr_status_t rv;

    *user_out = NULL;
    rv = pay_grant_host(host_out, host, p);
    if (rv == APR_SUCCESS) {
        rv = pay_grant_user_check(user);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *user_out = apr_pstrdup(p, user);
    return pay_store_grant_digest(digest, *host_out, *user_out, p);
}

void pay_store_grant_key(pay_store_key_t *key, apr_uint32_t account, const unsigned char *digest)
{
    pay_store_key_start(key);
    pay_store_key_u32(key, account);
    (void)pay_store_key_bytes(key, digest, PAY_SHA256_LEN);
}

void pay_store_grant_user_key(pay_store_key_t *key, const unsigned char *digest,
                              apr_uint32_t account)
{
    pay_store_key_start(key);
    (void)pay_store_key_bytes(key, digest, PAY_SHA256_LEN);
    pay_store_key_u32(key, account);
}

/* 1 when the row is what its key says, and of the form that model/grant.h wants. */
static int is_sound(const pay_grant_t *grant, const MDB_val *key, apr_pool_t *p)
{
    unsigned char digest[PAY_SHA256_LEN];
    const char *host;

    if (grant->role < PAY_ROLE_VIEWER || pay_grant_user_check(grant->user) != APR_SUCCESS
        || pay_grant_host(&host, grant->host, p) != APR_SUCCESS || strcmp(host, grant->host) != 0) {
        return 0;
    }
    return pay_store_grant_digest(digest, grant->host, grant->user, p) == APR_SUCCESS
           && !memcmp(digest, (const char *)key->mv_data + 4, sizeof(digest));
}

int pay_store_grant_decode(pay_grant_t **out, const MDB_val *key, const MDB_val *row, apr_pool_t *p)
{
    pay_grant_t *grant = apr_pcalloc(p, sizeof(*grant));
    int rc;

    *out = NULL;
    if (key->mv_size != PAY_STORE_GRANT_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_GRANT, key);
    }
    rc = pay_row_decode(grant, grant_fields, GRANT_FIELDS, row, NULL, p);
    if (rc || !is_sound(grant, key, p)) {
        return pay_rows_bad(PAY_TABLE_GRANT, key);
    }
    *out = grant;
    return MDB_SUCCESS;
}

int pay_store_grant_encode(MDB_val *row, const pay_grant_t *grant, apr_pool_t *p)
{
    return pay_row_encode(row, grant_fields, GRANT_FIELDS, grant, p);
}

int pay_store_grant_load(pay_grant_t **out, pay_rows_txn_t *txn, const pay_account_t *account,
                         const unsigned char *digest, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val at, row;
    int rc;

    *out = NULL;
    pay_store_grant_key(&key, account->number, digest);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_GRANT, &at);
    if (!rc) {
        rc = pay_store_grant_decode(out, &at, &row, p);
    }
    if (!rc) {
        (*out)->account = account;
    }
    return rc;
}

/* ---- the record: found by its user too. Both keys are made of account and digest. */

static int user_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    (void)record;
    entry->table = PAY_TABLE_GRANT_USER;
    entry->value_len = 0;
    pay_store_grant_user_key(&entry->key, at->bytes + sizeof(apr_uint32_t),
                             pay_store_read_u32(at->bytes));
    return MDB_SUCCESS;
}

static int row_of_user(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    const unsigned char *digest = key->mv_data;

    if (key->mv_size != PAY_STORE_GRANT_KEY_LEN || value->mv_size != 0) {
        return 0;
    }
    pay_store_grant_key(row_key, pay_store_read_u32(digest + PAY_SHA256_LEN), digest);
    return 1;
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_GRANT_USER},
     .entry_of = user_of,
     .row_of = row_of_user,
     .missing = "it is not found by its user",
     .astray = "leads to no grant"},
};

static int load(void **record, pay_rows_txn_t *txn, const MDB_val *row_key, apr_pool_t *p)
{
    MDB_val at = *row_key, row;
    pay_grant_t *grant = NULL;
    int rc;

    rc = pay_rows_get(&row, txn, PAY_TABLE_GRANT, &at);
    if (!rc) {
        rc = pay_store_grant_decode(&grant, row_key, &row, p);
    }
    *record = grant;
    return rc;
}

const pay_store_record_t pay_store_grant_record = {
    .table = PAY_TABLE_GRANT, .indexes = indexes, .index_count = 1, .load = load};

/* Grants of an account while they are listed. */
typedef struct listing_t {
    const pay_account_t *account;
    apr_array_header_t *grants;
} listing_t;

static int visit_grant(void *baton, pay_rows_txn_t *txn, const MDB_val *key, const MDB_val *row)
{
    listing_t *listing = baton;
    pay_grant_t *grant;
    int rc;

    (void)txn;
    rc = pay_store_grant_decode(&grant, key, row, listing->grants->pool);
    if (!rc) {
        grant->account = listing->account;
        APR_ARRAY_PUSH(listing->grants, pay_grant_t *) = grant;
    }
    return rc;
}

int pay_store_grant_of_account(apr_array_header_t **out, pay_rows_txn_t *txn,
                               const pay_account_t *account, apr_pool_t *p)
{
    listing_t listing = {account, apr_array_make(p, 8, sizeof(pay_grant_t *))};
    pay_store_key_t prefix;

    *out = listing.grants;
    pay_store_key_start(&prefix);
    pay_store_key_u32(&prefix, account->number);
    return pay_store_walk_part(txn, PAY_TABLE_GRANT, &prefix, NULL, PAY_GRANTS_MAX, visit_grant,
                               &listing);
}
