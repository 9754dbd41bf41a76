/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/api_key.h"

#include "store/account/account.h"
#include "store/keys.h"
#include "store/record/audit.h"
#include "store/record/index.h"
#include "store/record/time.h"
#include "store/record/walk.h"
#include "store/row.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The digest is the row's key. */
static const pay_row_field_t key_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_api_key_t, id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_api_key_t, scope.account),
    PAY_ROW_MAX(pay_api_key_t, scope.mode, PAY_LIVE),
    PAY_ROW_MAX(pay_api_key_t, kind, PAY_KEY_PUBLIC),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_api_key_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_api_key_t, last_used_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_api_key_t, revoked_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_api_key_t, valid_until),
};
#define KEY_FIELDS (sizeof(key_fields) / sizeof(key_fields[0]))

typedef struct key_work_t {
    const pay_api_key_t *proposal;  /* for create */
    const char *id;                 /* for revoke */
    apr_time_t when;                /* 0: now */
    const apr_array_header_t *used; /* for touch */
    pay_api_key_t *key, *old;
    apr_pool_t *pool;
} key_work_t;

static pay_bytes_t digest_val(const unsigned char *digest)
{
    pay_bytes_t val = {PAY_SHA256_LEN, digest};

    return val;
}

/* The row with the digest `at`, without its account. */
static int api_key_decode(pay_api_key_t **out, const pay_bytes_t *at, const pay_bytes_t *row,
                          apr_pool_t *p)
{
    pay_api_key_t *key = apr_pcalloc(p, sizeof(*key));

    *out = NULL;
    if (at->len != PAY_SHA256_LEN || pay_row_decode(key, key_fields, KEY_FIELDS, row, NULL, p)
        || !*key->id) {
        return pay_rows_bad(PAY_TABLE_API_KEY, at);
    }
    memcpy(key->digest, at->data, PAY_SHA256_LEN);
    *out = key;
    return 0;
}

int pay_store_api_key_of_row(pay_api_key_t **out, pay_rows_txn_t *txn, const pay_bytes_t *at,
                             const pay_bytes_t *row, apr_pool_t *p)
{
    pay_account_t *account;
    pay_api_key_t *key;
    int rc;

    *out = NULL;
    rc = api_key_decode(&key, at, row, p);
    if (rc) {
        return rc;
    }
    rc = pay_store_account_by_number(&account, txn, key->scope.account, p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? pay_rows_bad(PAY_TABLE_API_KEY, at) : rc;
    }
    key->account = account;
    *out = key;
    return 0;
}

static int key_by_digest(pay_api_key_t **out, pay_rows_txn_t *txn, const unsigned char *digest,
                         apr_pool_t *p)
{
    pay_bytes_t at = digest_val(digest), row;
    int rc;

    *out = NULL;
    rc = pay_rows_get(&row, txn, PAY_TABLE_API_KEY, &at);
    return rc ? rc : pay_store_api_key_of_row(out, txn, &at, &row, p);
}

static int key_by_id(pay_api_key_t **out, pay_rows_txn_t *txn, const char *id, apr_pool_t *p)
{
    pay_bytes_t at = {strlen(id), id}, row;
    int rc;

    *out = NULL;
    if (at.len == 0 || at.len > PAY_STORE_KEY_MAX) {
        return PAY_ROWS_NOTFOUND;
    }
    rc = pay_rows_get(&row, txn, PAY_TABLE_API_KEY_ID, &at);
    if (rc) {
        return rc;
    }
    if (row.len != PAY_SHA256_LEN) {
        return pay_rows_bad(PAY_TABLE_API_KEY_ID, &at);
    }
    rc = key_by_digest(out, txn, row.data, p);
    return rc == PAY_ROWS_NOTFOUND ? pay_rows_bad(PAY_TABLE_API_KEY_ID, &at) : rc;
}

int pay_store_api_key_is_public(int *out, pay_rows_txn_t *txn, const char *id, apr_pool_t *p)
{
    pay_api_key_t *key;
    int rc;

    *out = 0;
    rc = key_by_id(&key, txn, id, p);
    if (rc) { /* an unreadable key belongs to nobody who could be blocked because of it */
        return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? 0 : rc;
    }
    *out = key->kind == PAY_KEY_PUBLIC;
    return 0;
}

/* ---- the record: indexed by its id, which never changes */

static int id_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_api_key_t *key = record;

    entry->table = PAY_TABLE_API_KEY_ID;
    pay_store_entry_value(entry, at->bytes, at->len);
    return pay_store_key_of(&entry->key, key->id, strlen(key->id)) ? 0 : ENAMETOOLONG;
}

static int row_of_id(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    (void)key;
    return value->len == PAY_SHA256_LEN && pay_store_key_of(row_key, value->data, value->len);
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_API_KEY_ID},
     .entry_of = id_of,
     .row_of = row_of_id,
     .rule = PAY_INDEX_UNIQUE,
     .missing = "it is not found by its id",
     .astray = "leads to no key"},
};

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
{
    pay_api_key_t *key;
    int rc = key_by_digest(&key, txn, row_key->data, p);

    *record = key;
    return rc;
}

static const char *label(const void *record, apr_pool_t *p)
{
    return apr_pstrcat(p, "key ", ((const pay_api_key_t *)record)->id, NULL);
}

const pay_store_record_t pay_store_api_key_record = {
    .table = PAY_TABLE_API_KEY, .indexes = indexes, .index_count = 1, .load = load, .label = label};

/* `before` NULL: a new key; PAY_ROWS_EXISTS if its digest or id exists. */
static int key_put(pay_rows_txn_t *txn, const pay_api_key_t *before, const pay_api_key_t *key,
                   apr_pool_t *p)
{
    pay_store_key_t at;
    pay_bytes_t row;
    int rc;

    rc = pay_row_encode(&row, key_fields, KEY_FIELDS, key, p);
    if (rc) {
        return rc;
    }
    (void)pay_store_key_of(&at, key->digest, sizeof(key->digest));
    return pay_store_record_put(txn, &pay_store_api_key_record, &at, &row, before, key);
}

/* Writes a new key and reads it back with its account. */
static int key_insert(pay_api_key_t **out, pay_rows_txn_t *txn, const pay_api_key_t *proposal,
                      apr_time_t now, apr_pool_t *p)
{
    pay_api_key_t key = *proposal;
    int rc;

    *out = NULL;
    key.created_at = now;
    key.last_used_at = 0;
    key.valid_until = 0;
    key.revoked_at = 0;
    rc = key_put(txn, NULL, &key, p);
    return rc ? rc : key_by_digest(out, txn, key.digest, p);
}

/* Adds the key's id, mode and kind to the audit entry. */
static void tell(pay_store_t *db, const pay_api_key_t *key, const char *more, apr_pool_t *p)
{
    pay_store_audit_tell(db, key->scope.account, key->id,
                         apr_psprintf(p, "%s %s%s", pay_mode_name(key->scope.mode),
                                      pay_key_kind_name(key->kind), more));
}

static int create_work(pay_rows_txn_t *txn, void *baton)
{
    key_work_t *work = baton;
    pay_account_t *account;
    int rc;

    work->key = NULL;
    rc = pay_store_account_by_number(&account, txn, work->proposal->scope.account, work->pool);
    if (rc) {
        return rc;
    }
    tell(txn->store, work->proposal, "", work->pool);
    return key_insert(&work->key, txn, work->proposal, pay_store_time_now(), work->pool);
}

apr_status_t pay_store_key_create(pay_api_key_t **out, pay_store_t *store, const pay_api_key_t *key,
                                  apr_pool_t *p)
{
    key_work_t work = {.proposal = key, .pool = p};
    apr_status_t rv;

    assert(key->id && *key->id);
    assert(key->scope.mode == PAY_TEST || key->scope.mode == PAY_LIVE);
    assert(key->kind == PAY_KEY_SECRET || key->kind == PAY_KEY_PUBLIC);
    *out = NULL;
    rv = pay_rows_commit(store, pay_turn_account(key->scope.account), 1, create_work, &work);
    if (rv == APR_SUCCESS) {
        *out = work.key;
    }
    return rv;
}

apr_status_t pay_store_key_find(pay_api_key_t **out, pay_store_t *store,
                                const unsigned char digest[PAY_SHA256_LEN], apr_pool_t *p)
{
    apr_status_t rv;
    pay_rows_txn_t txn;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_rows_status(key_by_digest(out, &txn, digest, p));
    pay_rows_end(&txn);
    return rv;
}

apr_status_t pay_store_key_get(pay_api_key_t **out, pay_store_t *store, const char *id,
                               apr_pool_t *p)
{
    apr_status_t rv;
    pay_rows_txn_t txn;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_rows_status(key_by_id(out, &txn, id, p));
    pay_rows_end(&txn);
    return rv;
}

/*
 * Ends the key at `when` (0: now). An end that is not in the future is a state, not a time to
 * compare with later: a clock that steps back must not undo it. The first end is kept: returns 0 if
 * the key had one.
 */
static int key_end(pay_api_key_t *key, apr_time_t when, apr_time_t now)
{
    const apr_time_t before = key->valid_until;
    apr_time_t end = when ? when : now;

    if (key->revoked_at) {
        return 0;
    }
    if (before && before < end) {
        end = before;
    }
    *(end > now ? &key->valid_until : &key->revoked_at) = end;
    return key->revoked_at || key->valid_until != before;
}

static int revoke_work(pay_rows_txn_t *txn, void *baton)
{
    key_work_t *work = baton;
    pay_api_key_t *key;
    int rc;

    work->key = NULL;
    rc = key_by_id(&key, txn, work->id, work->pool);
    if (rc) {
        return rc;
    }
    work->key = key;
    if (!key_end(key, work->when, pay_store_time_now())) {
        return PAY_ROWS_SILENT;
    }
    tell(txn->store, key, "", work->pool);
    return key_put(txn, key, key, work->pool);
}

apr_status_t pay_store_key_revoke(pay_api_key_t **out, pay_store_t *store, const char *id,
                                  apr_time_t when, apr_pool_t *p)
{
    key_work_t work = {.id = id, .when = when, .pool = p};
    apr_status_t rv;

    *out = NULL;
    rv = pay_rows_commit(store, pay_turn_store(), 0, revoke_work, &work);
    if (rv == APR_SUCCESS) {
        *out = work.key;
    }
    return rv;
}

static int rotate_work(pay_rows_txn_t *txn, void *baton)
{
    key_work_t *work = baton;
    apr_time_t now = pay_store_time_now();
    pay_api_key_t proposal = *work->proposal;
    int rc;

    rc = key_by_id(&work->old, txn, work->id, work->pool);
    if (rc) {
        return rc;
    }
    if (pay_api_key_end(work->old)) {
        return EINVAL; /* revoked, or rotated before and in its overlap */
    }
    proposal.scope =
        work->old->scope; /* whatever the caller set: a successor has the same rights */
    proposal.kind = work->old->kind;
    rc = key_insert(&work->key, txn, &proposal, now, work->pool);
    if (rc) {
        return rc;
    }
    (void)key_end(work->old, work->when, now);
    tell(txn->store, work->old, apr_pstrcat(work->pool, ", now ", proposal.id, NULL), work->pool);
    return key_put(txn, work->old, work->old, work->pool);
}

apr_status_t pay_store_key_rotate(pay_api_key_t **out, pay_api_key_t **old, pay_store_t *store,
                                  const char *id, apr_time_t until, const pay_api_key_t *successor,
                                  apr_pool_t *p)
{
    key_work_t work = {.proposal = successor, .id = id, .when = until, .pool = p};
    apr_status_t rv;

    *out = *old = NULL;
    rv = pay_rows_commit(store, pay_turn_store(), 0, rotate_work, &work);
    if (rv == APR_SUCCESS) {
        *out = work.key;
        *old = work.old;
    }
    return rv;
}

static int touch_work(pay_rows_txn_t *txn, void *baton)
{
    const key_work_t *work = baton;
    const pay_api_key_t *used;
    pay_api_key_t *key;
    int i, rc = 0;

    for (i = 0; !rc && i < work->used->nelts; i++) {
        used = &APR_ARRAY_IDX(work->used, i, pay_api_key_t);
        rc = key_by_digest(&key, txn, used->digest, work->pool);
        if (rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD) {
            rc = 0; /* one bad row must not prevent the other times from being written */
            continue;
        }
        if (!rc && key->last_used_at < used->last_used_at) {
            key->last_used_at = used->last_used_at;
            rc = key_put(txn, key, key, work->pool);
        }
    }
    return rc;
}

apr_status_t pay_store_key_touch(pay_store_t *store, const apr_array_header_t *used, apr_pool_t *p)
{
    key_work_t work = {.used = used, .pool = p};

    assert(used->nelts <= PAY_STORE_ROWS_MAX);
    if (used->nelts == 0) {
        return APR_SUCCESS;
    }
    return pay_rows_commit(pay_rows_base(store), pay_turn_all(), 0, touch_work, &work);
}

/* ---- lists */

typedef struct key_list_t {
    apr_uint32_t account; /* 0: all */
    apr_array_header_t *keys;
    apr_pool_t *scratch; /* for one row, to find its owner */
} key_list_t;

/* Keys of other accounts, of which there may be many, leave nothing in the caller's pool. */
static int list_visit(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *at,
                      const pay_bytes_t *val)
{
    key_list_t *list = baton;
    pay_api_key_t *key;
    int rc;

    if (list->account) {
        apr_pool_clear(list->scratch);
        rc = api_key_decode(&key, at, val, list->scratch);
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

/* Oldest first; keys of the same millisecond by id, so that the order is stable. */
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
