/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/account.h"
#include "store/account/grant.h"
#include "store/record/audit.h"
#include "store/record/index.h"
#include "store/record/time.h"
#include "store/record/walk.h"
#include "store/row.h"

#include <apr_strings.h>
#include <stdlib.h>
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

/* Host and user as stored, and their digest. APR_EINVAL if nobody can have such a grant. */
static apr_status_t grant_name_read(const char **host_out, const char **user_out,
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

/* Returns 1 if the row matches its key and has the form that model/grant.h requires. */
static int is_sound(const pay_grant_t *grant, const pay_bytes_t *key, apr_pool_t *p)
{
    unsigned char digest[PAY_SHA256_LEN];
    const char *host;

    if (grant->role < PAY_ROLE_VIEWER || pay_grant_user_check(grant->user) != APR_SUCCESS
        || pay_grant_host(&host, grant->host, p) != APR_SUCCESS || strcmp(host, grant->host) != 0) {
        return 0;
    }
    return pay_store_grant_digest(digest, grant->host, grant->user, p) == APR_SUCCESS
           && !memcmp(digest, (const char *)key->data + 4, sizeof(digest));
}

int pay_store_grant_decode(pay_grant_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                           apr_pool_t *p)
{
    pay_grant_t *grant = apr_pcalloc(p, sizeof(*grant));
    int rc;

    *out = NULL;
    if (key->len != PAY_STORE_GRANT_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_GRANT, key);
    }
    rc = pay_row_decode(grant, grant_fields, GRANT_FIELDS, row, NULL, p);
    if (rc || !is_sound(grant, key, p)) {
        return pay_rows_bad(PAY_TABLE_GRANT, key);
    }
    *out = grant;
    return 0;
}

int pay_store_grant_encode(pay_bytes_t *row, const pay_grant_t *grant, apr_pool_t *p)
{
    return pay_row_encode(row, grant_fields, GRANT_FIELDS, grant, p);
}

/* The user's grant for the account, including its account. */
static int grant_load(pay_grant_t **out, pay_rows_txn_t *txn, const pay_account_t *account,
                      const unsigned char *digest, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
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

/* ---- the record: also indexed by its user. Both keys are made of account and digest. */

static int user_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    (void)record;
    entry->table = PAY_TABLE_GRANT_USER;
    entry->value_len = 0;
    pay_store_grant_user_key(&entry->key, at->bytes + sizeof(apr_uint32_t),
                             pay_store_read_u32(at->bytes));
    return 0;
}

static int row_of_user(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    const unsigned char *digest = key->data;

    if (key->len != PAY_STORE_GRANT_KEY_LEN || value->len != 0) {
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

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
{
    pay_bytes_t at = *row_key, row;
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

/* Collects the grants of an account. */
typedef struct listing_t {
    const pay_account_t *account;
    apr_array_header_t *grants;
} listing_t;

static int visit_grant(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                       const pay_bytes_t *row)
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

/* Array of pay_grant_t *, unordered. */
static int grant_of_account(apr_array_header_t **out, pay_rows_txn_t *txn,
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

/* ---- units of work */

typedef struct grant_work_t {
    const char *name;
    const char *host, *user;
    pay_role_t role;
    int keep_owner;
    unsigned char digest[PAY_SHA256_LEN];
    pay_grant_t *grant;
    pay_grant_verdict_t verdict;
    apr_pool_t *pool;
} grant_work_t;

/* `before` NULL: a new grant; else only its role changes. */
static int grant_write(pay_rows_txn_t *txn, const pay_grant_t *before, const pay_grant_t *grant,
                       const unsigned char *digest, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t row;
    int rc;

    rc = pay_store_grant_encode(&row, grant, p);
    if (rc) {
        return rc;
    }
    pay_store_grant_key(&key, grant->account->number, digest);
    return pay_store_record_put(txn, &pay_store_grant_record, &key, &row, before, grant);
}

/* Sets *out to 1 if the account or the user has the maximum number of grants. */
static int is_full(int *out, pay_rows_txn_t *txn, const pay_account_t *account,
                   const unsigned char *digest)
{
    int of_account, of_user, rc;
    pay_store_key_t prefix;

    *out = 0;
    pay_store_key_start(&prefix);
    pay_store_key_u32(&prefix, account->number);
    rc = pay_store_walk_count(&of_account, txn, PAY_TABLE_GRANT, &prefix, PAY_GRANTS_MAX);
    if (rc) {
        return rc;
    }
    pay_store_key_start(&prefix);
    (void)pay_store_key_bytes(&prefix, digest, PAY_SHA256_LEN);
    rc = pay_store_walk_count(&of_user, txn, PAY_TABLE_GRANT_USER, &prefix, PAY_GRANTS_MAX);
    *out = of_account >= PAY_GRANTS_MAX || of_user >= PAY_GRANTS_MAX;
    return rc;
}

/* Sets *out to 1 if no other grant makes an owner of the account. */
static int is_last_owner(int *out, pay_rows_txn_t *txn, const pay_grant_t *grant, apr_pool_t *p)
{
    apr_array_header_t *grants;
    int rc, i, owners = 0;

    *out = 0;
    if (grant->role != PAY_ROLE_OWNER) {
        return 0;
    }
    rc = grant_of_account(&grants, txn, grant->account, p);
    for (i = 0; !rc && i < grants->nelts; i++) {
        owners += APR_ARRAY_IDX(grants, i, const pay_grant_t *)->role == PAY_ROLE_OWNER;
    }
    *out = owners == 1;
    return rc;
}

/*
 * Checks whether the existing grant may get another role, or a new one may be added; sets
 * work->verdict if not.
 */
static int put_judge(grant_work_t *work, pay_rows_txn_t *txn, const pay_account_t *account,
                     const pay_grant_t *before)
{
    int rc, refused = 0;

    if (!before) {
        rc = is_full(&refused, txn, account, work->digest);
        work->verdict = refused ? PAY_GRANT_REFUSED_FULL : PAY_GRANT_DONE;
        return rc;
    }
    if (before->role == work->role) {
        work->verdict = PAY_GRANT_UNCHANGED;
        return 0;
    }
    rc = work->keep_owner ? is_last_owner(&refused, txn, before, work->pool) : 0;
    work->verdict = refused ? PAY_GRANT_REFUSED_OWNER : PAY_GRANT_DONE;
    return rc;
}

static void put_tell(const grant_work_t *work, pay_store_t *db, const pay_account_t *account,
                     const pay_grant_t *before)
{
    pay_store_audit_tell(db, account->number, work->user,
                         apr_psprintf(work->pool, "%s: %s -> %s", work->host,
                                      before ? pay_role_name(before->role) : "none",
                                      pay_role_name(work->role)));
}

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    grant_work_t *work = baton;
    pay_grant_t *grant, *before;
    pay_account_t *account;
    int rc;

    work->grant = NULL;
    work->verdict = PAY_GRANT_DONE;
    rc = pay_store_account_by_name(&account, txn, work->name, work->pool);
    if (rc) {
        return rc;
    }
    rc = grant_load(&grant, txn, account, work->digest, work->pool);
    if (rc && rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    rc = put_judge(work, txn, account, grant);
    if (rc || work->verdict != PAY_GRANT_DONE) {
        work->grant = grant;
        return rc ? rc : PAY_ROWS_SILENT;
    }
    put_tell(work, txn->store, account, grant);
    before = grant;
    if (!grant) {
        grant = apr_pcalloc(work->pool, sizeof(*grant));
        grant->host = work->host;
        grant->user = work->user;
        grant->account = account;
        grant->created_at = pay_store_time_now();
    }
    grant->role = work->role;
    grant->updated_at = pay_store_time_now();
    work->grant = grant;
    return grant_write(txn, before, grant, work->digest, work->pool);
}

apr_status_t pay_store_grant_put(pay_grant_t **out, pay_grant_verdict_t *verdict,
                                 pay_store_t *store, const char *name, const char *host,
                                 const char *user, pay_role_t role, int keep_owner, apr_pool_t *p)
{
    grant_work_t work = {.name = name, .role = role, .keep_owner = keep_owner, .pool = p};
    apr_status_t rv;

    *out = NULL;
    *verdict = PAY_GRANT_DONE;
    if (role < PAY_ROLE_VIEWER || role > PAY_ROLE_LAST) {
        return APR_EINVAL;
    }
    rv = grant_name_read(&work.host, &work.user, work.digest, host, user, p);
    if (rv == APR_SUCCESS) {
        rv = pay_rows_commit(store, pay_turn_store(), 1, put_work, &work);
    }
    if (rv == APR_SUCCESS) {
        *out = work.grant;
        *verdict = work.verdict;
    }
    return rv;
}

static int delete_work(pay_rows_txn_t *txn, void *baton)
{
    grant_work_t *work = baton;
    pay_account_t *account;
    pay_store_key_t key;
    pay_grant_t *grant;
    int rc, last = 0;

    work->verdict = PAY_GRANT_DONE;
    rc = pay_store_account_by_name(&account, txn, work->name, work->pool);
    if (!rc) {
        rc = grant_load(&grant, txn, account, work->digest, work->pool);
    }
    if (!rc && work->keep_owner) {
        rc = is_last_owner(&last, txn, grant, work->pool);
    }
    if (rc) {
        return rc;
    }
    if (last) {
        work->verdict = PAY_GRANT_REFUSED_OWNER;
        return PAY_ROWS_SILENT;
    }
    pay_store_audit_tell(
        txn->store, account->number, work->user,
        apr_psprintf(work->pool, "%s: %s -> none", work->host, pay_role_name(grant->role)));
    pay_store_grant_key(&key, account->number, work->digest);
    return pay_store_record_del(txn, &pay_store_grant_record, &key, grant);
}

apr_status_t pay_store_grant_delete(pay_grant_verdict_t *verdict, pay_store_t *store,
                                    const char *name, const char *host, const char *user,
                                    int keep_owner, apr_pool_t *p)
{
    grant_work_t work = {.name = name, .keep_owner = keep_owner, .pool = p};
    apr_status_t rv;

    *verdict = PAY_GRANT_DONE;
    rv = grant_name_read(&work.host, &work.user, work.digest, host, user, p);
    if (rv != APR_SUCCESS) {
        return rv == APR_EINVAL ? APR_NOTFOUND : rv;
    }
    rv = pay_rows_commit(store, pay_turn_store(), 0, delete_work, &work);
    if (rv == APR_SUCCESS) {
        *verdict = work.verdict;
    }
    return rv;
}

/* ---- lists */

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
    rv = grant_name_read(&host, &user, digest, host, user, p);
    if (rv != APR_SUCCESS) {
        return rv == APR_EINVAL ? APR_NOTFOUND : rv;
    }
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_account_by_name(&account, &txn, name, p);
    if (!rc) {
        rc = grant_load(out, &txn, account, digest, p);
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
        rc = grant_of_account(&grants, &txn, account, p);
    }
    pay_rows_end(&txn);
    if (!rc) {
        sort(grants, by_host);
        *out = grants;
    }
    return pay_rows_status(rc);
}

/* Collects a user's grants. */
typedef struct user_listing_t {
    const unsigned char *digest;
    apr_array_header_t *grants;
} user_listing_t;

/* Visits an entry of the index, which must lead to a grant of an existing account. */
static int visit_entry(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                       const pay_bytes_t *row)
{
    const unsigned char *number = (const unsigned char *)key->data + PAY_SHA256_LEN;
    user_listing_t *listing = baton;
    pay_account_t *account;
    pay_grant_t *grant;
    int rc;

    (void)row;
    if (key->len != PAY_STORE_GRANT_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_GRANT_USER, key);
    }
    rc = pay_store_account_by_number(&account, txn, pay_store_read_u32(number),
                                     listing->grants->pool);
    if (!rc) {
        rc = grant_load(&grant, txn, account, listing->digest, listing->grants->pool);
    }
    if (rc == PAY_ROWS_NOTFOUND) {
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
    user_listing_t listing = {.digest = digest};
    pay_store_key_t prefix;
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    *out = NULL;
    listing.grants = apr_array_make(p, 4, sizeof(pay_grant_t *));
    rv = grant_name_read(&host, &user, digest, host, user, p);
    if (rv == APR_EINVAL) {
        *out = listing.grants; /* no user has that name */
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
