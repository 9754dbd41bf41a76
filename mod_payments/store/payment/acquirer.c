/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/acquirer.h"

#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/record/text.h"
#include "store/rows_scan.h"

#include <string.h>

int pay_store_acquirer_key(pay_store_key_t *key, const pay_scope_t *scope,
                           pay_store_acquirer_kind_t kind, const char *name)
{
    unsigned char byte = (unsigned char)kind;

    pay_store_key_of_scope(key, scope);
    (void)pay_store_key_bytes(key, &byte, 1);
    return pay_store_key_bytes(key, name, strlen(name));
}

static int is_named(const char *name)
{
    return name && *name;
}

void pay_store_acquirer_name_refund(pay_refund_t *refund, const char *acquirer_reference,
                                    apr_pool_t *p)
{
    if (refund->import_number != 0 /* its own reference is the acquirer's */
        || !is_named(acquirer_reference) || is_named(refund->acquirer_reference)
        || strlen(acquirer_reference) > PAY_REFUND_REFERENCE_MAX) {
        return;
    }
    refund->acquirer_reference =
        pay_store_text_cut(acquirer_reference, PAY_REFUND_REFERENCE_MAX, p);
}

int pay_store_acquirer_unlinked_key(pay_store_key_t *key, const pay_scope_t *scope,
                                    const char *name, apr_uint64_t seq)
{
    pay_store_key_t number;

    pay_store_key_start(&number);
    pay_store_key_u64(&number, seq);
    return pay_store_acquirer_key(key, scope, PAY_ACQUIRER_UNLINKED, name)
           && pay_store_key_bytes(key, "", 1) && pay_store_key_bytes(key, number.bytes, number.len);
}

/* ---- lookup by name */

/* The value of the name's entry; PAY_ROWS_NOTFOUND. */
static int find(pay_bytes_t *val, pay_store_key_t *key, pay_rows_txn_t *txn,
                const pay_scope_t *scope, pay_store_acquirer_kind_t kind, const char *name)
{
    pay_bytes_t at;

    if (!name || !*name || !pay_store_acquirer_key(key, scope, kind, name)) {
        return PAY_ROWS_NOTFOUND;
    }
    at = pay_store_key_val(key);
    return pay_rows_get(val, txn, PAY_TABLE_ACQUIRER, &at);
}

static int bad_entry(const pay_store_key_t *key)
{
    pay_bytes_t at = pay_store_key_val(key);

    return pay_rows_bad(PAY_TABLE_ACQUIRER, &at);
}

int pay_store_acquirer_charge(pay_charge_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                              const char *name, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t val;
    int rc;

    *out = NULL;
    rc = find(&val, &key, txn, scope, PAY_ACQUIRER_CHARGE, name);
    if (rc) {
        return rc;
    }
    rc = val.len == sizeof(apr_uint64_t)
             ? pay_store_charge_get(out, txn, scope, pay_store_read_u64(val.data), p)
             : PAY_ROWS_BAD;
    return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? bad_entry(&key) : rc;
}

apr_status_t pay_store_charge_find_acquirer(pay_charge_t **out, pay_store_t *store,
                                            const pay_scope_t *scope,
                                            const char *acquirer_reference, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_acquirer_charge(out, &txn, scope, acquirer_reference, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

static int refund_of(pay_refund_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                     pay_store_acquirer_kind_t kind, const char *name, apr_pool_t *p)
{
    pay_store_refund_t *row;
    pay_store_key_t key;
    pay_bytes_t val;
    int rc;

    rc = find(&val, &key, txn, scope, kind, name);
    if (rc) {
        return rc;
    }
    rc = pay_store_refund_get(&row, txn, &val, p);
    if (rc == PAY_ROWS_NOTFOUND) {
        return bad_entry(&key);
    }
    if (!rc) {
        *out = &row->refund;
    }
    return rc;
}

apr_status_t pay_store_refund_find_acquirer(pay_refund_t **out, pay_store_t *store,
                                            const pay_scope_t *scope,
                                            const char *acquirer_reference, const char *tag,
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
    rc = refund_of(out, &txn, scope, PAY_ACQUIRER_REFUND, acquirer_reference, p);
    if (rc == PAY_ROWS_NOTFOUND) {
        rc = refund_of(out, &txn, scope, PAY_ACQUIRER_TAG, tag, p);
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/* ---- names in other accounts */

/* Sets *found to 1 if the scope has a charge with that name, or a refund with that tag. */
static int scope_has(int *found, pay_rows_txn_t *txn, const pay_scope_t *scope,
                     const char *charge_reference, const char *tag)
{
    pay_store_key_t key;
    pay_bytes_t val;
    int rc;

    rc = find(&val, &key, txn, scope, PAY_ACQUIRER_CHARGE, charge_reference);
    if (rc == PAY_ROWS_NOTFOUND) {
        rc = find(&val, &key, txn, scope, PAY_ACQUIRER_TAG, tag);
    }
    *found = rc == 0;
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

static int elsewhere(int *found, pay_rows_txn_t *txn, const pay_scope_t *scope,
                     const char *charge_reference, const char *tag)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_ACCOUNT, NULL, NULL, PAY_ROWS_FROM);
    pay_scope_t other = *scope;
    pay_bytes_t key, row;
    int rc;

    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && !*found) {
        if (key.len == sizeof(apr_uint32_t)) {
            other.account = pay_store_read_u32(key.data);
            if (other.account != scope->account) {
                rc = scope_has(found, txn, &other, charge_reference, tag);
            }
        }
        if (!rc) {
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

apr_status_t pay_store_acquirer_elsewhere(int *found, pay_store_t *store, const pay_scope_t *scope,
                                          const char *charge_reference, const char *tag)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *found = 0;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = elsewhere(found, &txn, scope, charge_reference, tag);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
