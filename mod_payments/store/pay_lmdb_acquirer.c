/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_acquirer.h"

#include "base/pay_log.h"
#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_refund.h"

#include <errno.h>
#include <string.h>

int pay_lmdb_acquirer_key(pay_lmdb_key_t *key, const pay_scope_t *scope,
                          pay_lmdb_acquirer_kind_t kind, const char *name)
{
    unsigned char byte = (unsigned char)kind;

    pay_lmdb_key_start(key);
    pay_lmdb_key_scope(key, scope);
    (void)pay_lmdb_key_bytes(key, &byte, 1);
    return pay_lmdb_key_bytes(key, name, strlen(name));
}

static int is_named(const char *name)
{
    return name && *name;
}

int pay_lmdb_acquirer_put_charge(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge)
{
    pay_lmdb_key_t key, seq;
    MDB_val at, val;

    if (!is_named(charge->acquirer_reference)) {
        return MDB_SUCCESS;
    }
    if (!pay_lmdb_acquirer_key(&key, &charge->scope, PAY_ACQUIRER_CHARGE,
                               charge->acquirer_reference)) {
        return ENAMETOOLONG;
    }
    pay_lmdb_key_start(&seq);
    pay_lmdb_key_u64(&seq, charge->seq);
    at = pay_lmdb_key_val(&key);
    val = pay_lmdb_key_val(&seq);
    return mdb_put(txn, pay_lmdb_dbi(db, PAY_TABLE_ACQUIRER), &at, &val, MDB_NOOVERWRITE);
}

int pay_lmdb_acquirer_del_charge(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge)
{
    pay_lmdb_key_t key;
    MDB_val at;
    int rc;

    if (!is_named(charge->acquirer_reference)
        || !pay_lmdb_acquirer_key(&key, &charge->scope, PAY_ACQUIRER_CHARGE,
                                  charge->acquirer_reference)) {
        return MDB_SUCCESS;
    }
    at = pay_lmdb_key_val(&key);
    rc = mdb_del(txn, pay_lmdb_dbi(db, PAY_TABLE_ACQUIRER), &at, NULL);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

static int put_refund(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund,
                      pay_lmdb_acquirer_kind_t kind, const char *name)
{
    pay_lmdb_key_t key, refund_key;
    MDB_val at, val;
    int rc;

    if (!is_named(name)) {
        return MDB_SUCCESS;
    }
    if (!pay_lmdb_acquirer_key(&key, &refund->scope, kind, name)) {
        return ENAMETOOLONG;
    }
    pay_lmdb_refund_key(&refund_key, &refund->scope, refund->created_at, refund->seq);
    at = pay_lmdb_key_val(&key);
    val = pay_lmdb_key_val(&refund_key);
    rc = mdb_put(txn, pay_lmdb_dbi(db, PAY_TABLE_ACQUIRER), &at, &val, MDB_NOOVERWRITE);
    if (rc != MDB_KEYEXIST) {
        return rc;
    }
    if (val.mv_size != refund_key.len || memcmp(val.mv_data, refund_key.bytes, val.mv_size) != 0) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00170) "refund %s: the acquirer gives it a name that another refund has",
                refund->refund_reference);
    }
    return MDB_SUCCESS;
}

int pay_lmdb_acquirer_put_refund(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund)
{
    int rc;

    rc = put_refund(txn, db, refund, PAY_ACQUIRER_TAG, refund->tag);
    if (rc) {
        return rc;
    }
    return put_refund(txn, db, refund, PAY_ACQUIRER_REFUND, refund->acquirer_reference);
}

/* The entry of a name, unless it is another refund's. */
static int del_refund(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund,
                      pay_lmdb_acquirer_kind_t kind, const char *name)
{
    pay_lmdb_key_t key, refund_key;
    MDB_val at, val;
    int rc;

    if (!is_named(name) || !pay_lmdb_acquirer_key(&key, &refund->scope, kind, name)) {
        return MDB_SUCCESS;
    }
    pay_lmdb_refund_key(&refund_key, &refund->scope, refund->created_at, refund->seq);
    at = pay_lmdb_key_val(&key);
    rc = mdb_get(txn, pay_lmdb_dbi(db, PAY_TABLE_ACQUIRER), &at, &val);
    if (!rc && val.mv_size == refund_key.len
        && memcmp(val.mv_data, refund_key.bytes, refund_key.len) == 0) {
        rc = mdb_del(txn, pay_lmdb_dbi(db, PAY_TABLE_ACQUIRER), &at, NULL);
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

int pay_lmdb_acquirer_del_refund(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund)
{
    int rc;

    rc = del_refund(txn, db, refund, PAY_ACQUIRER_TAG, refund->tag);
    if (rc) {
        return rc;
    }
    return del_refund(txn, db, refund, PAY_ACQUIRER_REFUND, refund->acquirer_reference);
}

int pay_lmdb_acquirer_name_refund(MDB_txn *txn, const pay_lmdb_t *db, pay_refund_t *refund,
                                  const char *acquirer_reference, apr_pool_t *p)
{
    if (refund->import_number != 0 /* its own reference is the acquirer's */
        || !is_named(acquirer_reference) || is_named(refund->acquirer_reference)
        || strlen(acquirer_reference) > PAY_REFUND_REFERENCE_MAX) {
        return MDB_SUCCESS;
    }
    refund->acquirer_reference = pay_lmdb_text_cut(acquirer_reference, PAY_REFUND_REFERENCE_MAX, p);
    return put_refund(txn, db, refund, PAY_ACQUIRER_REFUND, refund->acquirer_reference);
}

/* ---- refunds without a charge */

int pay_lmdb_acquirer_unlinked_key(pay_lmdb_key_t *key, const pay_scope_t *scope, const char *name,
                                   apr_uint64_t seq)
{
    pay_lmdb_key_t number;

    pay_lmdb_key_start(&number);
    pay_lmdb_key_u64(&number, seq);
    return pay_lmdb_acquirer_key(key, scope, PAY_ACQUIRER_UNLINKED, name)
           && pay_lmdb_key_bytes(key, "", 1) && pay_lmdb_key_bytes(key, number.bytes, number.len);
}

int pay_lmdb_acquirer_put_unlinked(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund)
{
    pay_lmdb_key_t key, refund_key;
    MDB_val at, val;

    if (!is_named(refund->acquirer_charge)) {
        return MDB_SUCCESS;
    }
    if (!pay_lmdb_acquirer_unlinked_key(&key, &refund->scope, refund->acquirer_charge,
                                        refund->seq)) {
        return ENAMETOOLONG;
    }
    pay_lmdb_refund_key(&refund_key, &refund->scope, refund->created_at, refund->seq);
    at = pay_lmdb_key_val(&key);
    val = pay_lmdb_key_val(&refund_key);
    return mdb_put(txn, pay_lmdb_dbi(db, PAY_TABLE_ACQUIRER), &at, &val, 0);
}

int pay_lmdb_acquirer_del_unlinked(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund)
{
    pay_lmdb_key_t key;
    MDB_val at;
    int rc;

    if (!is_named(refund->acquirer_charge)
        || !pay_lmdb_acquirer_unlinked_key(&key, &refund->scope, refund->acquirer_charge,
                                           refund->seq)) {
        return MDB_SUCCESS;
    }
    at = pay_lmdb_key_val(&key);
    rc = mdb_del(txn, pay_lmdb_dbi(db, PAY_TABLE_ACQUIRER), &at, NULL);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

/* ---- looking up */

/* What the name leads to; MDB_NOTFOUND. */
static int find(MDB_val *val, pay_lmdb_key_t *key, MDB_txn *txn, const pay_lmdb_t *db,
                const pay_scope_t *scope, pay_lmdb_acquirer_kind_t kind, const char *name)
{
    MDB_val at;

    if (!is_named(name) || !pay_lmdb_acquirer_key(key, scope, kind, name)) {
        return MDB_NOTFOUND;
    }
    at = pay_lmdb_key_val(key);
    return mdb_get(txn, pay_lmdb_dbi(db, PAY_TABLE_ACQUIRER), &at, val);
}

static int bad_entry(const pay_lmdb_key_t *key)
{
    MDB_val at = pay_lmdb_key_val(key);

    return pay_lmdb_bad_row(PAY_TABLE_ACQUIRER, &at);
}

int pay_lmdb_acquirer_charge(pay_charge_t **out, MDB_txn *txn, const pay_lmdb_t *db,
                             const pay_scope_t *scope, const char *name, apr_pool_t *p)
{
    pay_lmdb_key_t key;
    MDB_val val;
    int rc;

    *out = NULL;
    rc = find(&val, &key, txn, db, scope, PAY_ACQUIRER_CHARGE, name);
    if (rc) {
        return rc;
    }
    rc = val.mv_size == sizeof(apr_uint64_t)
             ? pay_lmdb_charge_get(out, txn, db, scope, pay_lmdb_read_u64(val.mv_data), p)
             : PAY_LMDB_BAD_ROW;
    return rc == MDB_NOTFOUND || rc == PAY_LMDB_BAD_ROW ? bad_entry(&key) : rc;
}

apr_status_t pay_lmdb_charge_find_acquirer(pay_charge_t **out, pay_store_t *store,
                                           const pay_scope_t *scope, const char *acquirer_reference,
                                           apr_pool_t *p)
{
    pay_lmdb_t *db = (pay_lmdb_t *)store;
    MDB_txn *txn;
    apr_status_t rv;
    int rc;

    *out = NULL;
    rv = pay_lmdb_read_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_lmdb_acquirer_charge(out, txn, db, scope, acquirer_reference, p);
    pay_lmdb_read_end(db, txn);
    return pay_lmdb_status(rc);
}

static int refund_of(pay_refund_t **out, MDB_txn *txn, const pay_lmdb_t *db,
                     const pay_scope_t *scope, pay_lmdb_acquirer_kind_t kind, const char *name,
                     apr_pool_t *p)
{
    pay_lmdb_refund_t *row;
    pay_lmdb_key_t key;
    MDB_val val;
    int rc;

    rc = find(&val, &key, txn, db, scope, kind, name);
    if (rc) {
        return rc;
    }
    rc = pay_lmdb_refund_get(&row, txn, db, &val, p);
    if (rc == MDB_NOTFOUND) {
        return bad_entry(&key);
    }
    if (!rc) {
        *out = &row->refund;
    }
    return rc;
}

apr_status_t pay_lmdb_refund_find_acquirer(pay_refund_t **out, pay_store_t *store,
                                           const pay_scope_t *scope, const char *acquirer_reference,
                                           const char *tag, apr_pool_t *p)
{
    pay_lmdb_t *db = (pay_lmdb_t *)store;
    MDB_txn *txn;
    apr_status_t rv;
    int rc;

    *out = NULL;
    rv = pay_lmdb_read_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = refund_of(out, txn, db, scope, PAY_ACQUIRER_REFUND, acquirer_reference, p);
    if (rc == MDB_NOTFOUND) {
        rc = refund_of(out, txn, db, scope, PAY_ACQUIRER_TAG, tag, p);
    }
    pay_lmdb_read_end(db, txn);
    return pay_lmdb_status(rc);
}

/* ---- another account's */

/* 1 in *found when the scope has a charge of that name, or a refund of that tag. */
static int scope_has(int *found, MDB_txn *txn, const pay_lmdb_t *db, const pay_scope_t *scope,
                     const char *charge_reference, const char *tag)
{
    pay_lmdb_key_t key;
    MDB_val val;
    int rc;

    rc = find(&val, &key, txn, db, scope, PAY_ACQUIRER_CHARGE, charge_reference);
    if (rc == MDB_NOTFOUND) {
        rc = find(&val, &key, txn, db, scope, PAY_ACQUIRER_TAG, tag);
    }
    *found = rc == MDB_SUCCESS;
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

apr_status_t pay_lmdb_acquirer_elsewhere(int *found, pay_store_t *store, const pay_scope_t *scope,
                                         const char *charge_reference, const char *tag)
{
    pay_lmdb_t *db = (pay_lmdb_t *)store;
    MDB_cursor *cursor = NULL;
    pay_scope_t other = *scope;
    MDB_val key, row;
    MDB_txn *txn;
    apr_status_t rv;
    int rc;

    *found = 0;
    rv = pay_lmdb_read_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = mdb_cursor_open(txn, pay_lmdb_dbi(db, PAY_TABLE_ACCOUNT), &cursor);
    if (!rc) {
        rc = mdb_cursor_get(cursor, &key, &row, MDB_FIRST);
    }
    while (!rc && !*found) {
        if (key.mv_size == sizeof(apr_uint32_t)) {
            other.account = pay_lmdb_read_u32(key.mv_data);
            if (other.account != scope->account) {
                rc = scope_has(found, txn, db, &other, charge_reference, tag);
            }
        }
        if (!rc) {
            rc = mdb_cursor_get(cursor, &key, &row, MDB_NEXT);
        }
    }
    if (cursor) {
        mdb_cursor_close(cursor);
    }
    pay_lmdb_read_end(db, txn);
    return pay_lmdb_status(rc == MDB_NOTFOUND ? MDB_SUCCESS : rc);
}
