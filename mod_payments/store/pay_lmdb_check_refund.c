/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_check.h"

#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_due.h"
#include "store/pay_lmdb_refund.h"
#include "store/pay_lmdb_scope.h"

#include <string.h>

static int same_bytes(const MDB_val *a, const MDB_val *b)
{
    return a->mv_size == b->mv_size && memcmp(a->mv_data, b->mv_data, a->mv_size) == 0;
}

/* An index leads to the row at `key`. */
static int check_index(pay_lmdb_check_t *check, const MDB_val *key, pay_lmdb_table_t table,
                       const pay_lmdb_key_t *index)
{
    MDB_val at = pay_lmdb_key_val(index), val;
    int rc, found;

    rc = pay_lmdb_check_has(&found, &val, check, table, &at);
    if (rc) {
        return rc;
    }
    if (!found || !same_bytes(&val, key)) {
        pay_lmdb_check_fault(check, PAY_TABLE_REFUND, key, "table %s does not lead to it",
                             pay_lmdb_table_name(table));
    }
    return MDB_SUCCESS;
}

/* What another request like it may repeat: made here, and not failed. */
static int is_repeatable(const pay_refund_t *refund)
{
    return refund->import_number == 0 && refund->state != PAY_REFUND_FAILED;
}

static int check_indexes(pay_lmdb_check_t *check, const MDB_val *key, const pay_refund_t *refund)
{
    pay_lmdb_key_t index;
    int rc;

    (void)pay_lmdb_refund_name_key(&index, &refund->scope, refund->refund_reference);
    rc = check_index(check, key, PAY_TABLE_REFUND_REF, &index);
    if (rc) {
        return rc;
    }
    (void)pay_lmdb_refund_name_key(&index, &refund->scope, refund->id);
    rc = check_index(check, key, PAY_TABLE_REFUND_ID, &index);
    if (rc || refund->charge_seq == 0) {
        return rc;
    }
    pay_lmdb_refund_by_charge_key(&index, &refund->scope, refund->charge_seq, refund->seq);
    rc = check_index(check, key, PAY_TABLE_REFUND_BY_CHARGE, &index);
    if (rc || !is_repeatable(refund)) {
        return rc;
    }
    rc = pay_lmdb_refund_repeat_key(&index, refund);
    return rc ? rc : check_index(check, key, PAY_TABLE_REFUND_REPEAT, &index);
}

static int check_charge(pay_lmdb_check_t *check, const MDB_val *key, const pay_refund_t *refund)
{
    pay_charge_t *charge;
    int rc;

    if (refund->charge_seq == 0) {
        if (refund->import_number == 0) {
            pay_lmdb_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: of no charge",
                                 refund->refund_reference);
        }
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_charge_get(&charge, check->txn, check->db, &refund->scope, refund->charge_seq,
                             check->ptemp);
    if (rc == PAY_LMDB_BAD_ROW) { /* told with the charge */
        return MDB_SUCCESS;
    }
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    if (rc == MDB_NOTFOUND || !refund->transaction_reference
        || strcmp(refund->transaction_reference, charge->reference) != 0) {
        pay_lmdb_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: its charge is not there",
                             refund->refund_reference);
    } else if (strcmp(refund->money.currency, charge->money.currency) != 0) {
        pay_lmdb_check_fault(check, PAY_TABLE_REFUND, key,
                             "refund %s: in another currency than its charge",
                             refund->refund_reference);
    }
    return MDB_SUCCESS;
}

/* Its scope gave its numbers, and its key id is known. */
static int check_ties(pay_lmdb_check_t *check, const MDB_val *key, const pay_refund_t *refund)
{
    pay_lmdb_scope_t last;
    MDB_val at;
    int rc, found;

    if (refund->key_id[0] != '\0') {
        at.mv_data = (void *)refund->key_id; /* only read */
        at.mv_size = strlen(refund->key_id);
        rc = pay_lmdb_check_has(&found, NULL, check, PAY_TABLE_API_KEY_ID, &at);
        if (rc) {
            return rc;
        }
        if (!found) {
            pay_lmdb_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: no key has the id %s",
                                 refund->refund_reference, refund->key_id);
        }
    }
    rc = pay_lmdb_scope_get(&last, check->txn, check->db, &refund->scope);
    if (rc) {
        return rc == PAY_LMDB_BAD_ROW ? MDB_SUCCESS : rc; /* told with the scope */
    }
    if (refund->seq > last.refund_seq) {
        pay_lmdb_check_fault(check, PAY_TABLE_REFUND, key,
                             "refund %s: its scope never gave this number",
                             refund->refund_reference);
    }
    if (refund->import_number > last.import_done && refund->import_number != last.import_open
        && refund->import_number != last.import_left) {
        pay_lmdb_check_fault(check, PAY_TABLE_REFUND, key,
                             "refund %s: of an import that is not known", refund->refund_reference);
    }
    return MDB_SUCCESS;
}

int pay_lmdb_check_refund(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_lmdb_refund_t *record;
    pay_refund_t *refund;
    pay_lmdb_key_t due;
    MDB_val due_key;
    int rc;

    rc = pay_lmdb_refund_decode(&record, key, row, check->ptemp);
    if (rc == PAY_LMDB_BAD_ROW) {
        pay_lmdb_check_fault(check, PAY_TABLE_REFUND, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    if (rc) {
        return rc;
    }
    refund = &record->refund;
    rc = check_indexes(check, key, refund);
    if (!rc) {
        rc = check_charge(check, key, refund);
    }
    if (!rc) {
        rc = check_ties(check, key, refund);
    }
    if (!rc) {
        rc = pay_lmdb_check_refund_outside(check, key, refund);
    }
    if (rc) {
        return rc;
    }
    pay_lmdb_due_key(&due, refund->due_at, &refund->scope, PAY_DUE_REFUND, refund->seq);
    due_key = pay_lmdb_key_val(&due);
    return pay_lmdb_check_due_entry(
        check, PAY_TABLE_REFUND, key,
        (refund->state == PAY_REFUND_PENDING && refund->import_number == 0) || refund->due_at != 0,
        pay_lmdb_due_table_refund(refund), &due_key);
}

/* The refund that an index entry leads to; *found 0 when there is none. A row that does not decode
 * is told with the row: *skip 1. */
static int follow(pay_lmdb_refund_t **out, int *skip, pay_lmdb_check_t *check, const MDB_val *row)
{
    int rc;

    *skip = 0;
    rc = pay_lmdb_refund_get(out, check->txn, check->db, row, check->ptemp);
    if (rc == PAY_LMDB_BAD_ROW) {
        *skip = 1;
        return MDB_SUCCESS;
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

static int check_name(pay_lmdb_check_t *check, pay_lmdb_table_t table, const MDB_val *key,
                      const MDB_val *row)
{
    pay_lmdb_refund_t *record;
    pay_lmdb_key_t name;
    MDB_val want;
    int rc, skip, same = 0;

    rc = follow(&record, &skip, check, row);
    if (rc || skip) {
        return rc;
    }
    if (record
        && pay_lmdb_refund_name_key(&name, &record->refund.scope,
                                    table == PAY_TABLE_REFUND_REF ? record->refund.refund_reference
                                                                  : record->refund.id)) {
        want = pay_lmdb_key_val(&name);
        same = same_bytes(&want, key);
    }
    if (!same) {
        pay_lmdb_check_fault(check, table, key, "leads to no refund of that name");
    }
    return MDB_SUCCESS;
}

int pay_lmdb_check_refund_ref(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    return check_name(check, PAY_TABLE_REFUND_REF, key, row);
}

int pay_lmdb_check_refund_id(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    return check_name(check, PAY_TABLE_REFUND_ID, key, row);
}

int pay_lmdb_check_refund_by_charge(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_lmdb_refund_t *record;
    pay_lmdb_key_t index;
    MDB_val want;
    int rc, skip, same = 0;

    rc = follow(&record, &skip, check, row);
    if (rc || skip) {
        return rc;
    }
    if (record) {
        pay_lmdb_refund_by_charge_key(&index, &record->refund.scope, record->refund.charge_seq,
                                      record->refund.seq);
        want = pay_lmdb_key_val(&index);
        same = same_bytes(&want, key);
    }
    if (!same) {
        pay_lmdb_check_fault(check, PAY_TABLE_REFUND_BY_CHARGE, key,
                             "leads to no refund of that charge");
    }
    return MDB_SUCCESS;
}

int pay_lmdb_check_refund_repeat(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_lmdb_refund_t *record;
    pay_lmdb_key_t index;
    MDB_val want;
    int rc, skip, same = 0;

    rc = follow(&record, &skip, check, row);
    if (rc || skip) {
        return rc;
    }
    if (record && is_repeatable(&record->refund)) {
        rc = pay_lmdb_refund_repeat_key(&index, &record->refund);
        if (rc) {
            return rc;
        }
        want = pay_lmdb_key_val(&index);
        same = same_bytes(&want, key);
    }
    if (!same) {
        pay_lmdb_check_fault(check, PAY_TABLE_REFUND_REPEAT, key,
                             "leads to no refund that could be repeated");
    }
    return MDB_SUCCESS;
}
