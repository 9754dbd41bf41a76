/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/due.h"
#include "store/rows_scan.h"

void pay_store_due_key(pay_store_key_t *key, apr_time_t due_at, const pay_scope_t *scope,
                       pay_store_due_kind_t kind, apr_uint64_t seq)
{
    unsigned char byte = (unsigned char)kind;

    pay_store_key_start(key);
    pay_store_key_time(key, due_at);
    pay_store_key_scope(key, scope);
    (void)pay_store_key_bytes(key, &byte, 1);
    pay_store_key_u64(key, seq);
}

pay_table_t pay_store_due_table_charge(const pay_charge_t *charge)
{
    return charge->state == PAY_CHARGE_PENDING ? PAY_TABLE_PENDING_DUE : PAY_TABLE_LATE_DUE;
}

pay_table_t pay_store_due_table_refund(const pay_refund_t *refund)
{
    return refund->state == PAY_REFUND_FAILED ? PAY_TABLE_LATE_DUE : PAY_TABLE_PENDING_DUE;
}

/* Of a row that is damaged the time may be anything. */
static int may_stand_apart(const pay_charge_t *charge)
{
    return charge->kind == PAY_CHARGE_CHECKOUT && charge->state == PAY_CHARGE_PENDING
           && charge->due_at > 0 && charge->due_at < PAY_STORE_DUE_OPEN_FROM;
}

int pay_store_due_places(pay_store_key_t places[PAY_STORE_DUE_PLACES_MAX],
                         const pay_charge_t *charge)
{
    pay_store_due_key(&places[0], charge->due_at, &charge->scope, PAY_DUE_CHARGE, charge->seq);
    if (!may_stand_apart(charge)) {
        return 1;
    }
    pay_store_due_key(&places[1], PAY_STORE_DUE_OPEN_FROM + charge->due_at, &charge->scope,
                      PAY_DUE_CHARGE, charge->seq);
    return 2;
}

pay_store_due_part_t pay_store_due_part(const MDB_val *key)
{
    return key->mv_size == PAY_STORE_DUE_KEY_LEN
                   && pay_store_read_time(key->mv_data) >= PAY_STORE_DUE_OPEN_FROM
               ? PAY_DUE_OPEN
               : PAY_DUE_SENT;
}

apr_time_t pay_store_due_time(const MDB_val *key)
{
    const apr_time_t at = pay_store_read_time(key->mv_data);

    return at >= PAY_STORE_DUE_OPEN_FROM ? at - PAY_STORE_DUE_OPEN_FROM : at;
}

void pay_store_due_begin(pay_store_key_t *key, pay_store_due_part_t part)
{
    pay_store_key_start(key);
    if (part == PAY_DUE_OPEN) {
        pay_store_key_time(key, PAY_STORE_DUE_OPEN_FROM);
    }
}

int pay_store_due_count(apr_uint64_t *sent, apr_uint64_t *open, pay_rows_txn_t *txn)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_PENDING_DUE, NULL, NULL, PAY_ROWS_FROM);
    MDB_val key, val;
    apr_uint64_t all;
    int rc;

    *sent = *open = 0;
    rc = pay_rows_count(&all, txn, PAY_TABLE_PENDING_DUE);
    if (!rc) {
        rc = pay_rows_next(&key, &val, &scan);
    }
    while (!rc && pay_store_due_part(&key) == PAY_DUE_SENT && *sent < PAY_STORE_DUE_COUNT_MAX) {
        ++*sent;
        rc = pay_rows_next(&key, &val, &scan);
    }
    if (*sent == PAY_STORE_DUE_COUNT_MAX) {
        *sent = all;
    }
    *open = all - *sent;
    return pay_rows_scan_end(&scan, rc);
}
