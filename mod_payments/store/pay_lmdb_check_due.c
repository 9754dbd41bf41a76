/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_check.h"

#include "model/pay_checkout.h"
#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_due.h"
#include "store/pay_lmdb_refund.h"

int pay_lmdb_check_due_entry(pay_lmdb_check_t *check, pay_lmdb_table_t table, const MDB_val *key,
                             int is_due, pay_lmdb_table_t due_table, const MDB_val *due_key)
{
    int rc, found;

    rc = pay_lmdb_check_has(&found, NULL, check, due_table, due_key);
    if (rc) {
        return rc;
    }
    if (is_due && !found) {
        pay_lmdb_check_fault(check, table, key, "it is due, but nothing will ask about it");
    }
    return MDB_SUCCESS;
}

/* When the row behind an entry is due: *is_due 0 when it is not, or there is none; *is_open 1: it
 * is a checkout that may stand apart. */
static int row_due_at(apr_time_t *due_at, int *is_due, int *is_open, pay_lmdb_check_t *check,
                      pay_lmdb_table_t table, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *at = (const unsigned char *)key->mv_data + sizeof(apr_uint64_t);
    pay_lmdb_refund_t *refund;
    pay_charge_t *charge;
    pay_scope_t scope;
    apr_uint64_t seq;
    int rc;

    *due_at = 0;
    *is_due = 0;
    *is_open = 0;
    pay_lmdb_read_scope(&scope, at);
    seq = pay_lmdb_read_u64(at + PAY_LMDB_SCOPE_LEN + 1);
    if (at[PAY_LMDB_SCOPE_LEN] == PAY_DUE_CHARGE) {
        rc = pay_lmdb_charge_get(&charge, check->txn, check->db, &scope, seq, check->ptemp);
        if (!rc) {
            *due_at = charge->due_at;
            *is_due = charge->due_at != 0 && pay_lmdb_due_table_charge(charge) == table;
            *is_open = pay_checkout_is_open(charge);
        }
        return rc;
    }
    if (at[PAY_LMDB_SCOPE_LEN] != PAY_DUE_REFUND) {
        return MDB_NOTFOUND;
    }
    rc = pay_lmdb_refund_get(&refund, check->txn, check->db, row, check->ptemp);
    if (!rc) {
        *due_at = refund->refund.due_at;
        *is_due = refund->refund.due_at != 0 && refund->refund.seq == seq
                  && pay_lmdb_due_table_refund(&refund->refund) == table;
    }
    return rc;
}

static int check_entry(pay_lmdb_check_t *check, pay_lmdb_table_t table, const MDB_val *key,
                       const MDB_val *row)
{
    apr_time_t due_at;
    int rc, is_due, is_open;

    if (key->mv_size != PAY_LMDB_DUE_KEY_LEN) {
        pay_lmdb_check_fault(check, table, key, "the key has a wrong length");
        return MDB_SUCCESS;
    }
    rc = row_due_at(&due_at, &is_due, &is_open, check, table, key, row);
    if (rc == PAY_LMDB_BAD_ROW) { /* told with the row */
        return MDB_SUCCESS;
    }
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    if (!is_due) {
        pay_lmdb_check_fault(check, table, key, "leads to nothing that is due");
    } else if (due_at != pay_lmdb_due_time(key)) {
        pay_lmdb_check_fault(check, table, key, "its row is due at another time");
    } else if (!is_open && pay_lmdb_due_part(key) == PAY_DUE_OPEN) {
        pay_lmdb_check_fault(check, table, key, "it counts as an open checkout, and is none");
    }
    return MDB_SUCCESS;
}

int pay_lmdb_check_due(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    return check_entry(check, PAY_TABLE_PENDING_DUE, key, row);
}

int pay_lmdb_check_late_due(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    return check_entry(check, PAY_TABLE_LATE_DUE, key, row);
}
