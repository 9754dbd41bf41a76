/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/time.h"
#include "store/event/endpoint.h"
#include "store/event/event.h"
#include "store/record/index.h"
#include "store/record/time.h"
#include "store/record/walk.h"
#include "store/row.h"

#include <assert.h>
#include <string.h>

static const pay_row_field_t endpoint_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, enabled),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, address),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, secret),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, old_secret),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, old_secret_until),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, updated_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, failures),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, probes),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, probing),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, failing_since),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, due_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, tests),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, answered_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, status),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, error),
    PAY_ROW_MAX(pay_endpoint_t, parked_told_at, APR_INT64_MAX),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, recipients),
};
#define ENDPOINT_FIELDS (sizeof(endpoint_fields) / sizeof(endpoint_fields[0]))

void pay_store_endpoint_key(pay_store_key_t *key, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind)
{
    unsigned char byte = (unsigned char)kind;

    pay_store_key_of_scope(key, scope);
    (void)pay_store_key_bytes(key, &byte, 1);
}

int pay_store_endpoint_key_read(pay_scope_t *scope, pay_endpoint_kind_t *kind, const void *bytes,
                                size_t len)
{
    const unsigned char *at = bytes;
    const unsigned char *number = at + PAY_STORE_SCOPE_LEN;

    if (len != PAY_STORE_ENDPOINT_KEY_LEN || *number < PAY_ENDPOINT_WEBHOOK
        || *number > PAY_ENDPOINT_KIND_LAST) {
        return 0;
    }
    pay_store_read_scope(scope, at);
    *kind = (pay_endpoint_kind_t)*number;
    return 1;
}

int pay_store_endpoint_decode(pay_endpoint_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                              apr_pool_t *p)
{
    pay_endpoint_t *endpoint = apr_pcalloc(p, sizeof(*endpoint));
    int rc;

    *out = NULL;
    if (!pay_store_endpoint_key_read(&endpoint->scope, &endpoint->kind, key->data, key->len)) {
        return pay_rows_bad(PAY_TABLE_ENDPOINT, key);
    }
    rc = pay_row_decode(endpoint, endpoint_fields, ENDPOINT_FIELDS, row, NULL, p);
    if (rc) {
        return pay_rows_bad(PAY_TABLE_ENDPOINT, key);
    }
    *out = endpoint;
    return 0;
}

/* ---- the time of the next check */

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_endpoint_t *endpoint = record;

    if (!endpoint->due_at) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = PAY_TABLE_ENDPOINT_DUE;
    entry->value_len = 0;
    pay_store_key_start(&entry->key);
    pay_store_key_time(&entry->key, endpoint->due_at);
    (void)pay_store_key_bytes(&entry->key, at->bytes, at->len);
    return 0;
}

static int row_of_due(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    (void)value;
    return pay_store_key_of(row_key, (const char *)key->data + 8, PAY_STORE_ENDPOINT_KEY_LEN);
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_ENDPOINT_DUE},
     .key_len = PAY_STORE_ENDPOINT_DUE_KEY_LEN,
     .entry_of = due_of,
     .row_of = row_of_due,
     .missing = "it is due, but nothing will look",
     .astray = "leads to no endpoint that is due"},
};

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
{
    pay_endpoint_t *endpoint = NULL;
    pay_bytes_t at = *row_key, row;
    int rc;

    rc = pay_rows_get(&row, txn, PAY_TABLE_ENDPOINT, &at);
    if (!rc) {
        rc = pay_store_endpoint_decode(&endpoint, row_key, &row, p);
    }
    *record = endpoint;
    return rc;
}

const pay_store_record_t pay_store_endpoint_record = {
    .table = PAY_TABLE_ENDPOINT, .indexes = indexes, .index_count = 1, .load = load};

const pay_store_timed_t pay_store_endpoint_due = {.table = PAY_TABLE_ENDPOINT_DUE,
                                                  .key_len = PAY_STORE_ENDPOINT_DUE_KEY_LEN};

/* ---- the row */

int pay_store_endpoint_load(pay_endpoint_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at;
    void *record;
    int rc;

    pay_store_endpoint_key(&key, scope, kind);
    at = pay_store_key_val(&key);
    rc = load(&record, txn, &at, p);
    *out = record;
    return rc;
}

int pay_store_endpoint_store(pay_rows_txn_t *txn, const pay_endpoint_t *endpoint, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t row;
    int rc;

    rc = pay_row_encode(&row, endpoint_fields, ENDPOINT_FIELDS, endpoint, p);
    if (rc) {
        return rc;
    }
    pay_store_endpoint_key(&key, &endpoint->scope, endpoint->kind);
    return pay_store_record_store(txn, &pay_store_endpoint_record, &key, &row, endpoint, p);
}

int pay_store_endpoint_hasten(pay_endpoint_t *endpoint, apr_time_t due_at)
{
    /* Later than any back-off: the clock was set back meanwhile. */
    const apr_interval_time_t wait_max = 2 * pay_endpoint_wait(APR_UINT32_MAX);

    if (endpoint->due_at
        && (endpoint->due_at <= due_at
            || (pay_endpoint_is_failing(endpoint) && endpoint->due_at - due_at <= wait_max))) {
        return 0;
    }
    endpoint->due_at = due_at;
    return 1;
}

/* ---- units of work */

typedef struct put_t {
    const pay_endpoint_t *endpoint, *was;
    apr_pool_t *p;
    pay_endpoint_t *out;
    apr_status_t verdict;
} put_t;

typedef struct switches_t {
    const apr_array_header_t *switches;
    apr_pool_t *p;
} switches_t;

typedef struct reseal_t {
    const pay_endpoint_t *endpoint;
    const char *was, *secret;
    apr_pool_t *p;
    int changed;
} reseal_t;

/* Returns 1 if it is set like that already, and deliveries need no restart. */
static int is_as_it_was(const pay_endpoint_t *before, const pay_endpoint_t *to, int waits)
{
    return before->enabled == to->enabled && !strcmp(before->address, to->address)
           && !strcmp(before->secret, to->secret) && !strcmp(before->old_secret, to->old_secret)
           && before->old_secret_until == to->old_secret_until
           && !strcmp(before->recipients, to->recipients)
           && (!to->enabled || (!waits && !before->failures && !before->failing_since));
}

/* Secrets are shown to a person once: a person who stored others meanwhile must not lose them. */
static int has_secrets_of(const pay_endpoint_t *endpoint, const pay_endpoint_t *was)
{
    return !strcmp(endpoint->secret, was->secret) && !strcmp(endpoint->old_secret, was->old_secret);
}

/* The existing endpoint, or a new one that is not yet written. */
static int load_or_make(pay_endpoint_t **out, int *is_new, pay_rows_txn_t *txn,
                        const pay_scope_t *scope, pay_endpoint_kind_t kind, apr_pool_t *p)
{
    pay_endpoint_t *made;
    int rc;

    rc = pay_store_endpoint_load(out, txn, scope, kind, p);
    *is_new = rc == PAY_ROWS_NOTFOUND;
    if (!*is_new) {
        return rc;
    }
    made = apr_pcalloc(p, sizeof(*made));
    made->scope = *scope;
    made->kind = kind;
    made->address = made->secret = made->old_secret = made->error = "";
    made->recipients = "";
    made->created_at = pay_store_time_now();
    *out = made;
    return 0;
}

/*
 * Writes `to` over `before` (NULL: no row); sets *changed to 0 and writes nothing if nothing
 * changed.
 */
static int change(int *changed, pay_rows_txn_t *txn, pay_endpoint_t *to,
                  const pay_endpoint_t *before, apr_pool_t *p)
{
    apr_time_t waits = 0; /* when the first waiting event is due */
    pay_store_timed_t timed;
    int rc;

    *changed = 0;
    if (to->enabled) { /* a new address deserves a try */
        to->failures = 0;
        to->probes = 0;
        to->probing = 0;
        to->failing_since = 0;
        pay_store_event_timed(&timed, &to->scope, to->kind);
        rc = pay_store_entries_next(&waits, txn, &timed, APR_INT64_MIN, p);
        if (rc) {
            return rc;
        }
    }
    if (before && is_as_it_was(before, to, waits != 0)) {
        return 0;
    }
    *changed = 1;
    to->updated_at = pay_store_time_not_before(to->updated_at);
    to->due_at = waits ? pay_time_now() : 0;
    return pay_store_endpoint_store(txn, to, p);
}

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    put_t *put = baton;
    const pay_endpoint_t *from = put->endpoint;
    pay_endpoint_t *to, before;
    int rc, is_new, changed;

    put->out = NULL;
    put->verdict = APR_SUCCESS;
    rc = load_or_make(&to, &is_new, txn, &from->scope, from->kind, put->p);
    if (rc) {
        return rc;
    }
    if (put->was && !has_secrets_of(to, put->was)) {
        put->verdict = APR_EEXIST;
        return PAY_ROWS_SILENT;
    }
    before = *to;
    to->enabled = from->enabled;
    to->address = from->address ? from->address : "";
    to->secret = from->secret ? from->secret : "";
    to->old_secret = from->old_secret ? from->old_secret : "";
    to->old_secret_until = from->old_secret_until;
    put->out = to;
    rc = change(&changed, txn, to, is_new ? NULL : &before, put->p);
    return rc || changed ? rc : PAY_ROWS_SILENT;
}

apr_status_t pay_store_endpoint_put(pay_endpoint_t **out, pay_store_t *store,
                                    const pay_endpoint_t *endpoint, const pay_endpoint_t *was,
                                    apr_pool_t *p)
{
    put_t put = {.endpoint = endpoint, .was = was, .p = p};
    apr_status_t rv;

    *out = NULL;
    assert(endpoint->scope.account > 0);
    assert(endpoint->kind >= PAY_ENDPOINT_WEBHOOK);
    assert(endpoint->kind <= PAY_ENDPOINT_KIND_LAST);
    if (endpoint->address && strlen(endpoint->address) > PAY_ENDPOINT_ADDRESS_MAX) {
        return APR_EINVAL;
    }
    rv = pay_rows_commit(store, pay_turn_scope(&endpoint->scope), 1, put_work, &put);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = put.out;
    return put.verdict;
}

static int switch_work(pay_rows_txn_t *txn, void *baton)
{
    const switches_t *work = baton;
    pay_endpoint_t *to, before;
    int i, rc, is_new, changed, any = 0;

    for (i = 0; i < work->switches->nelts; i++) {
        const pay_endpoint_switch_t *to_be =
            &APR_ARRAY_IDX(work->switches, i, const pay_endpoint_switch_t);

        rc = load_or_make(&to, &is_new, txn, &to_be->scope, to_be->kind, work->p);
        if (rc) {
            return rc;
        }
        if (is_new && to_be->enabled != 1 && !to_be->recipients) {
            continue;
        }
        before = *to;
        to->enabled = to_be->enabled < 0 ? to->enabled : to_be->enabled;
        to->address = to_be->address ? to_be->address : to->address;
        to->recipients = to_be->recipients ? to_be->recipients : to->recipients;
        rc = change(&changed, txn, to, is_new ? NULL : &before, work->p);
        if (rc) {
            return rc;
        }
        any |= changed;
    }
    return any ? 0 : PAY_ROWS_SILENT;
}

apr_status_t pay_store_endpoint_switch(pay_store_t *store, const apr_array_header_t *switches,
                                       apr_pool_t *p)
{
    switches_t work = {.switches = switches, .p = p};
    const pay_endpoint_switch_t *one;
    int i;

    assert(switches->nelts <= PAY_STORE_SWITCHES_MAX);
    for (i = 0; i < switches->nelts; i++) {
        one = &APR_ARRAY_IDX(switches, i, const pay_endpoint_switch_t);
        assert(one->scope.account > 0);
        if ((one->address && strlen(one->address) > PAY_ENDPOINT_ADDRESS_MAX)
            || (one->recipients && strlen(one->recipients) > PAY_ENDPOINT_ADDRESS_MAX)) {
            return APR_EINVAL;
        }
    }
    return pay_rows_commit(store, pay_turn_all(), 1, switch_work, &work);
}

apr_status_t pay_store_endpoint_get(pay_endpoint_t **out, pay_store_t *store,
                                    const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                    apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_endpoint_load(out, &txn, scope, kind, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

static int list_visit(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                      const pay_bytes_t *val)
{
    apr_array_header_t *endpoints = baton;
    pay_endpoint_t *endpoint;
    int rc;

    (void)txn;
    rc = pay_store_endpoint_decode(&endpoint, key, val, endpoints->pool);
    if (!rc) {
        APR_ARRAY_PUSH(endpoints, pay_endpoint_t *) = endpoint;
    }
    return rc;
}

apr_status_t pay_store_endpoint_list(apr_array_header_t **out, pay_store_t *store,
                                     const pay_endpoint_t *after, int limit, apr_pool_t *p)
{
    pay_store_key_t from;

    *out = apr_array_make(p, 16, sizeof(pay_endpoint_t *));
    pay_store_key_start(&from);
    if (after) {
        pay_store_endpoint_key(&from, &after->scope, after->kind);
    }
    return pay_store_walk_page(store, PAY_TABLE_ENDPOINT, NULL, &from, limit, list_visit, *out);
}

static int reseal_work(pay_rows_txn_t *txn, void *baton)
{
    reseal_t *reseal = baton;
    pay_endpoint_t *endpoint;
    int rc;

    reseal->changed = 0;
    rc = pay_store_endpoint_load(&endpoint, txn, &reseal->endpoint->scope, reseal->endpoint->kind,
                                 reseal->p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    if (strcmp(endpoint->secret, reseal->was) == 0) {
        endpoint->secret = reseal->secret;
    } else if (strcmp(endpoint->old_secret, reseal->was) == 0) {
        endpoint->old_secret = reseal->secret;
    } else {
        return 0;
    }
    reseal->changed = 1;
    return pay_store_endpoint_store(txn, endpoint, reseal->p);
}

apr_status_t pay_store_endpoint_reseal(int *changed, pay_store_t *store,
                                       const pay_endpoint_t *endpoint, const char *was,
                                       const char *secret, apr_pool_t *p)
{
    reseal_t reseal = {.endpoint = endpoint, .was = was, .secret = secret, .p = p};
    apr_status_t rv;

    *changed = 0;
    rv = pay_rows_commit(pay_rows_base(store), pay_turn_scope(&endpoint->scope), 0, reseal_work,
                         &reseal);
    if (rv == APR_SUCCESS) {
        *changed = reseal.changed;
    }
    return rv;
}
