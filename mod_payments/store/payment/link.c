/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/link.h"

#include "store/account/account.h"
#include "store/record/record.h"
#include "store/record/rows.h"
#include "store/record/time.h"
#include "store/record/walk.h"
#include "store/row.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

#define LIST_SIZE_HINT 64

/* Scope and reference are the key's. New fields go to the end. */
static const pay_row_field_t link_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_link_t, page_id),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_link_t, title),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_link_t, description),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_link_t, redirect_url),
    PAY_ROW_MAX(pay_link_t, money.amount_minor, APR_INT64_MAX),
    PAY_ROW_FIELD(PAY_ROW_TEXT, pay_link_t, money.currency),
    PAY_ROW_MAX(pay_link_t, once, 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, expires_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, disabled_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, paid),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, last_seq),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, holding),
    PAY_ROW_MAX(pay_link_t, counted, 1),
};
#define LINK_FIELDS (sizeof(link_fields) / sizeof(link_fields[0]))

typedef struct link_work_t {
    const pay_link_t *proposal;
    const pay_scope_t *scope;
    const char *reference;
    pay_link_t *out;
    int changed;
    apr_status_t verdict;
    apr_pool_t *p;
} link_work_t;

int pay_store_link_key(pay_store_key_t *key, const pay_scope_t *scope, const char *reference)
{
    pay_store_key_of_scope(key, scope);
    return pay_link_reference_is(reference)
           && pay_store_key_bytes(key, reference, strlen(reference));
}

/* What the rest of the program relies on without looking again. */
static int is_sound(const pay_link_t *link)
{
    return pay_page_id_is(link->page_id) && pay_currency_digits(link->money.currency) >= 0
           && pay_link_reference_is(link->reference);
}

int pay_store_link_decode(pay_link_t **out, const MDB_val *key, const MDB_val *row, apr_pool_t *p)
{
    pay_link_t *link = apr_pcalloc(p, sizeof(*link));
    int rc = PAY_ROWS_BAD;

    *out = NULL;
    if (key->mv_size > PAY_STORE_SCOPE_LEN && key->mv_size <= PAY_STORE_LINK_KEY_MAX) {
        const char *reference = (const char *)key->mv_data + PAY_STORE_SCOPE_LEN;

        pay_store_read_scope(&link->scope, key->mv_data);
        if (!memchr(reference, '\0', key->mv_size - PAY_STORE_SCOPE_LEN)) {
            link->reference = apr_pstrmemdup(p, reference, key->mv_size - PAY_STORE_SCOPE_LEN);
            rc = pay_row_decode(link, link_fields, LINK_FIELDS, row, NULL, p);
        }
    }
    if (rc || !is_sound(link)) {
        return pay_rows_bad(PAY_TABLE_LINK, key);
    }
    *out = link;
    return MDB_SUCCESS;
}

int pay_store_link_encode(MDB_val *out, const pay_link_t *link, apr_pool_t *p)
{
    return pay_row_encode(out, link_fields, LINK_FIELDS, link, p);
}

static int load(pay_link_t **out, pay_rows_txn_t *txn, MDB_val *at, apr_pool_t *p)
{
    MDB_val row;
    int rc;

    *out = NULL;
    rc = pay_rows_get(&row, txn, PAY_TABLE_LINK, at);
    return rc ? rc : pay_store_link_decode(out, at, &row, p);
}

int pay_store_link_load(pay_link_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                        const char *reference, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val at;

    *out = NULL;
    if (!pay_store_link_key(&key, scope, reference)) {
        return MDB_NOTFOUND;
    }
    at = pay_store_key_val(&key);
    return load(out, txn, &at, p);
}

int pay_store_link_of_page(pay_link_t **out, pay_rows_txn_t *txn, const MDB_val *at, apr_pool_t *p)
{
    MDB_val key = *at;

    *out = NULL;
    if (key.mv_size <= PAY_STORE_SCOPE_LEN || key.mv_size > PAY_STORE_LINK_KEY_MAX) {
        return MDB_NOTFOUND;
    }
    return load(out, txn, &key, p);
}

/* ---- the record: found by its page, which never changes */

static int page_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_link_t *link = record;
    unsigned char place[1 + PAY_STORE_LINK_KEY_MAX];

    assert(at->len < sizeof(place));
    place[0] = PAY_PAGE_LINK;
    memcpy(place + 1, at->bytes, at->len);
    entry->table = PAY_TABLE_PAGE;
    pay_store_entry_value(entry, place, 1 + at->len);
    return pay_store_page_key(&entry->key, link->page_id) ? MDB_SUCCESS : EINVAL;
}

static int row_of_page(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    const char *place = value->mv_data;

    (void)key;
    return value->mv_size > 1 + PAY_STORE_SCOPE_LEN && value->mv_size <= 1 + PAY_STORE_LINK_KEY_MAX
           && place[0] == PAY_PAGE_LINK && pay_store_key_of(row_key, place + 1, value->mv_size - 1);
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_PAGE},
     .entry_of = page_of,
     .row_of = row_of_page,
     .rule = PAY_INDEX_UNIQUE,
     .missing = "its page does not lead to it",
     .astray = "leads to no checkout or link of that page"},
};

static int load_record(void **record, pay_rows_txn_t *txn, const MDB_val *row_key, apr_pool_t *p)
{
    MDB_val at = *row_key;
    pay_link_t *link;
    int rc = load(&link, txn, &at, p);

    *record = link;
    return rc;
}

const pay_store_record_t pay_store_link_record = {
    .table = PAY_TABLE_LINK, .indexes = indexes, .index_count = 1, .load = load_record};

/* `before` NULL: a new one. */
static int put(pay_rows_txn_t *txn, const pay_link_t *before, const pay_link_t *link, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val row;
    int rc;

    if (!pay_store_link_key(&key, &link->scope, link->reference)) {
        return EINVAL;
    }
    rc = pay_store_link_encode(&row, link, p);
    return rc ? rc : pay_store_record_put(txn, &pay_store_link_record, &key, &row, before, link);
}

int pay_store_link_put(pay_rows_txn_t *txn, const pay_link_t *link, apr_pool_t *p)
{
    return put(txn, link, link, p);
}

/* ---- a new one */

static int create_work(pay_rows_txn_t *txn, void *baton)
{
    link_work_t *work = baton;
    const pay_link_t *proposal = work->proposal;
    pay_account_t *account;
    pay_store_key_t key;
    MDB_val at, row;
    int rc, reached;

    work->verdict = APR_SUCCESS;
    work->out = NULL;
    if (!pay_store_link_key(&key, &proposal->scope, proposal->reference)) {
        return EINVAL;
    }
    rc = pay_store_account_by_number(&account, txn, proposal->scope.account, work->p);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_LINK, &at);
    if (rc != MDB_NOTFOUND) {
        work->verdict = APR_EEXIST;
        return rc ? rc : PAY_ROWS_SILENT;
    }
    rc = pay_store_rows_quota(&reached, txn, &proposal->scope);
    if (rc) {
        return rc;
    }
    if (reached) {
        work->verdict = PAY_STORE_EFULL;
        return PAY_ROWS_SILENT;
    }
    work->out = apr_pmemdup(work->p, proposal, sizeof(*proposal));
    work->out->created_at = pay_store_time_now();
    work->out->disabled_at = 0;
    work->out->paid = 0;
    work->out->last_seq = 0;
    work->out->holding = 0;
    work->out->counted = 1;
    rc = put(txn, NULL, work->out, work->p);
    return rc == MDB_KEYEXIST ? EINVAL : rc; /* its page must be its own */
}

apr_status_t pay_store_link_create(pay_link_t **out, pay_store_t *store, const pay_link_t *proposal,
                                   apr_pool_t *p)
{
    link_work_t work = {.proposal = proposal, .p = p};
    apr_status_t rv;

    *out = NULL;
    assert(proposal->money.amount_minor >= 0);
    assert(pay_currency_digits(proposal->money.currency) >= 0);
    rv = pay_rows_commit(store, pay_turn_scope(&proposal->scope), 1, create_work, &work);
    if (rv == APR_SUCCESS) {
        rv = work.verdict;
    }
    if (rv == APR_SUCCESS) {
        *out = work.out;
    }
    return rv;
}

/* ---- those there are */

apr_status_t pay_store_link_get(pay_link_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const char *reference, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_link_load(out, &txn, scope, reference, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

static int list_visit(void *baton, pay_rows_txn_t *txn, const MDB_val *key, const MDB_val *val)
{
    apr_array_header_t *links = baton;
    pay_link_t *link;
    int rc;

    (void)txn;
    rc = pay_store_link_decode(&link, key, val, links->pool);
    if (!rc) {
        APR_ARRAY_PUSH(links, pay_link_t *) = link;
    }
    return rc;
}

apr_status_t pay_store_link_list(apr_array_header_t **out, pay_store_t *store,
                                 const pay_scope_t *scope, const char *after, int limit,
                                 apr_pool_t *p)
{
    pay_store_key_t prefix, from;

    *out = apr_array_make(p, limit < LIST_SIZE_HINT ? limit : LIST_SIZE_HINT, sizeof(pay_link_t *));
    pay_store_key_of_scope(&prefix, scope);
    pay_store_key_start(&from);
    if (after && !pay_store_link_key(&from, scope, after)) {
        return APR_EINVAL;
    }
    return pay_store_walk_page(store, PAY_TABLE_LINK, &prefix, &from, limit, list_visit, *out);
}

/* ---- disabling */

static int disable_work(pay_rows_txn_t *txn, void *baton)
{
    link_work_t *work = baton;
    int rc;

    work->changed = 0;
    rc = pay_store_link_load(&work->out, txn, work->scope, work->reference, work->p);
    if (rc) {
        return rc;
    }
    if (work->out->disabled_at != 0) {
        return PAY_ROWS_SILENT;
    }
    work->changed = 1;
    work->out->disabled_at = pay_store_time_now();
    return pay_store_link_put(txn, work->out, work->p);
}

apr_status_t pay_store_link_disable(pay_link_t **out, int *changed, pay_store_t *store,
                                    const pay_scope_t *scope, const char *reference, apr_pool_t *p)
{
    link_work_t work = {.scope = scope, .reference = reference, .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, disable_work, &work);
    if (rv == APR_SUCCESS) {
        *out = work.out;
        *changed = work.changed;
    }
    return rv;
}
