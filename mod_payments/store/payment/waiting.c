/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/endpoint.h"
#include "store/payment/due.h"
#include "store/payment/refund.h"
#include "store/record/scope.h"
#include "store/record/walk.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

/* The keys of pending_due begin with the time, so entries of other scopes are in between. */
static int count_pending(int *count, pay_rows_txn_t *txn, const pay_store_key_t *scope,
                         pay_store_due_part_t part, int limit)
{
    pay_store_key_t from;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_PENDING_DUE, NULL, &from, PAY_ROWS_FROM);
    const unsigned char *at;
    pay_bytes_t key, val;
    int rc, looks;

    pay_store_due_begin(&from, part);
    rc = pay_rows_next(&key, &val, &scan);
    for (looks = 0; !rc && *count < limit && looks < PAY_STORE_LOOKS_MAX; looks++) {
        if (pay_store_due_part(&key) != part) {
            break;
        }
        at = (const unsigned char *)key.data + 8;
        if (key.len == PAY_STORE_DUE_KEY_LEN && memcmp(at, scope->bytes, scope->len) == 0
            && at[PAY_STORE_SCOPE_LEN] == PAY_DUE_CHARGE) {
            ++*count;
        }
        rc = pay_rows_next(&key, &val, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

static int count_all(pay_waiting_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope, int limit)
{
    pay_store_key_t prefix, webhook;
    pay_store_scope_t last;
    int rc;

    pay_store_key_of_scope(&prefix, scope);
    pay_store_endpoint_key(&webhook, scope, PAY_ENDPOINT_WEBHOOK);
    rc = pay_store_scope_get(&last, txn, scope);
    if (rc) {
        return rc;
    }
    out->charges = last.charge_seq > 0;
    rc = count_pending(&out->pending, txn, &prefix, PAY_DUE_SENT, limit);
    if (!rc) {
        rc = count_pending(&out->open, txn, &prefix, PAY_DUE_OPEN, limit);
    }
    if (!rc) {
        rc = pay_store_walk_count(&out->held, txn, PAY_TABLE_HELD, &prefix, limit);
    }
    if (!rc) {
        rc = pay_store_walk_count(&out->webhooks, txn, PAY_TABLE_EVENT, &webhook, limit);
    }
    if (!rc) {
        rc = pay_store_walk_count(&out->parked, txn, PAY_TABLE_EVENT_PARKED, &webhook, limit);
    }
    if (!rc) {
        rc = pay_store_walk_count(&out->events, txn, PAY_TABLE_EVENT, &prefix, limit);
    }
    return rc ? rc : pay_store_walk_count(&out->tokens, txn, PAY_TABLE_TOKEN, &prefix, limit);
}

apr_status_t pay_store_waiting_count(pay_waiting_t *out, pay_store_t *store,
                                     const pay_scope_t *scope, int limit)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    assert(limit >= 1);
    memset(out, 0, sizeof(*out));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = count_all(out, &txn, scope, limit);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/* Adds the refund of an entry of pending_due, if it waits and belongs to that scope. */
static int waiting_add(apr_array_header_t *out, pay_rows_txn_t *txn, const pay_store_key_t *scope,
                       const pay_bytes_t *key, const pay_bytes_t *refund_key, apr_pool_t *p)
{
    const unsigned char *at = (const unsigned char *)key->data + 8;
    pay_store_refund_t *row;
    int rc;

    if (key->len != PAY_STORE_DUE_KEY_LEN || memcmp(at, scope->bytes, scope->len) != 0
        || at[PAY_STORE_SCOPE_LEN] != PAY_DUE_REFUND) {
        return 0;
    }
    rc = pay_store_refund_get(&row, txn, refund_key, p);
    if (!rc && row->refund.waiting) {
        APR_ARRAY_PUSH(out, pay_refund_t *) = &row->refund;
    }
    return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? 0 : rc; /* store check reports it */
}

static int waiting_list(apr_array_header_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                        int limit, apr_pool_t *p)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_PENDING_DUE, NULL, NULL, PAY_ROWS_FROM);
    pay_store_key_t prefix;
    pay_bytes_t key, val;
    int rc, looks;

    pay_store_key_of_scope(&prefix, scope);
    rc = pay_rows_next(&key, &val, &scan);
    for (looks = 0; !rc && out->nelts < limit && looks < PAY_STORE_LOOKS_MAX; looks++) {
        if (pay_store_due_part(&key) != PAY_DUE_SENT) {
            break;
        }
        rc = waiting_add(out, txn, &prefix, &key, &val, p);
        if (!rc) {
            rc = pay_rows_next(&key, &val, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

apr_status_t pay_store_refund_waiting(apr_array_header_t **out, pay_store_t *store,
                                      const pay_scope_t *scope, int limit, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    assert(limit >= 1);
    *out = apr_array_make(p, 4, sizeof(pay_refund_t *));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = waiting_list(*out, &txn, scope, limit, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
