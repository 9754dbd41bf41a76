/* SPDX-License-Identifier: Apache-2.0 */

/* The indexes of what goes through acquirers, both ways: names at the acquirer, and what is held.
 */

#include "store/pay_lmdb_acquirer.h"
#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_check.h"
#include "store/pay_lmdb_held.h"
#include "store/pay_lmdb_refund.h"

#include <string.h>

/* ---- from the rows to the indexes */

static int check_entry(pay_lmdb_check_t *check, pay_lmdb_table_t of, const MDB_val *row_key,
                       pay_lmdb_table_t table, const pay_lmdb_key_t *key, const char *fault)
{
    MDB_val at = pay_lmdb_key_val(key);
    int rc, found;

    rc = pay_lmdb_check_has(&found, NULL, check, table, &at);
    if (!rc && !found) {
        pay_lmdb_check_fault(check, of, row_key, "%s", fault);
    }
    return rc;
}

static int check_name(pay_lmdb_check_t *check, pay_lmdb_table_t of, const MDB_val *row_key,
                      const pay_scope_t *scope, pay_lmdb_acquirer_kind_t kind, const char *name)
{
    pay_lmdb_key_t key;

    if (*name == '\0') {
        return MDB_SUCCESS;
    }
    if (!pay_lmdb_acquirer_key(&key, scope, kind, name)) {
        pay_lmdb_check_fault(check, of, row_key, "its name at the acquirer is too long");
        return MDB_SUCCESS;
    }
    return check_entry(check, of, row_key, PAY_TABLE_ACQUIRER, &key,
                       "it is not found by its name at the acquirer");
}

static int check_held(pay_lmdb_check_t *check, pay_lmdb_table_t of, const MDB_val *row_key,
                      const pay_scope_t *scope, pay_lmdb_due_kind_t kind, apr_uint64_t seq,
                      pay_held_t held)
{
    pay_lmdb_key_t key;

    if (held == PAY_NOT_HELD) {
        return MDB_SUCCESS;
    }
    pay_lmdb_held_key(&key, scope, kind, seq);
    return check_entry(check, of, row_key, PAY_TABLE_HELD, &key,
                       "it waits for a person, but is not among what does");
}

int pay_lmdb_check_charge_outside(pay_lmdb_check_t *check, const MDB_val *key,
                                  const pay_charge_t *charge)
{
    int rc;

    rc = check_name(check, PAY_TABLE_CHARGE, key, &charge->scope, PAY_ACQUIRER_CHARGE,
                    charge->acquirer_reference);
    if (rc) {
        return rc;
    }
    return check_held(check, PAY_TABLE_CHARGE, key, &charge->scope, PAY_DUE_CHARGE, charge->seq,
                      charge->held);
}

/* One whose charge is not known here is found by what the acquirer calls that. */
static int check_unlinked(pay_lmdb_check_t *check, const MDB_val *row_key,
                          const pay_refund_t *refund)
{
    pay_lmdb_key_t key;

    if (!pay_lmdb_acquirer_unlinked_key(&key, &refund->scope, refund->acquirer_charge,
                                        refund->seq)) {
        pay_lmdb_check_fault(check, PAY_TABLE_REFUND, row_key,
                             "the acquirer's name of its charge is too long");
        return MDB_SUCCESS;
    }
    return check_entry(check, PAY_TABLE_REFUND, row_key, PAY_TABLE_ACQUIRER, &key,
                       "it is not found by the acquirer's name of its charge");
}

int pay_lmdb_check_refund_outside(pay_lmdb_check_t *check, const MDB_val *key,
                                  const pay_refund_t *refund)
{
    int rc;

    rc = check_name(check, PAY_TABLE_REFUND, key, &refund->scope, PAY_ACQUIRER_TAG, refund->tag);
    if (!rc) {
        rc = check_name(check, PAY_TABLE_REFUND, key, &refund->scope, PAY_ACQUIRER_REFUND,
                        refund->acquirer_reference);
    }
    if (!rc && *refund->acquirer_charge != '\0') {
        rc = check_unlinked(check, key, refund);
    }
    if (rc) {
        return rc;
    }
    return check_held(check, PAY_TABLE_REFUND, key, &refund->scope, PAY_DUE_REFUND, refund->seq,
                      refund->held);
}

/* ---- from the indexes to the rows */

/* 1 when the entry's name is this one. */
static int is_name(const MDB_val *key, const char *name)
{
    const size_t head = PAY_LMDB_ACQUIRER_KIND_AT + 1;

    return key->mv_size == head + strlen(name)
           && !memcmp((const char *)key->mv_data + head, name, strlen(name));
}

static int is_name_of_refund(const MDB_val *key, const pay_refund_t *refund)
{
    pay_lmdb_key_t unlinked;

    switch (((const unsigned char *)key->mv_data)[PAY_LMDB_ACQUIRER_KIND_AT]) {
    case PAY_ACQUIRER_TAG:
        return is_name(key, refund->tag);
    case PAY_ACQUIRER_REFUND:
        return is_name(key, refund->acquirer_reference);
    case PAY_ACQUIRER_UNLINKED:
        return pay_lmdb_acquirer_unlinked_key(&unlinked, &refund->scope, refund->acquirer_charge,
                                              refund->seq)
               && unlinked.len == key->mv_size
               && !memcmp(unlinked.bytes, key->mv_data, unlinked.len);
    default:
        return 0;
    }
}

/* What the row behind an entry of table acquirer says of it: *same. */
static int follow_name(int *same, pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *at = key->mv_data;
    pay_lmdb_refund_t *record;
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    *same = 0;
    pay_lmdb_read_scope(&scope, at);
    if (at[PAY_LMDB_ACQUIRER_KIND_AT] == PAY_ACQUIRER_CHARGE) {
        if (row->mv_size != sizeof(apr_uint64_t)) {
            return MDB_SUCCESS;
        }
        rc = pay_lmdb_charge_get(&charge, check->txn, check->db, &scope,
                                 pay_lmdb_read_u64(row->mv_data), check->ptemp);
        *same = !rc && is_name(key, charge->acquirer_reference);
        return rc;
    }
    rc = pay_lmdb_refund_get(&record, check->txn, check->db, row, check->ptemp);
    if (rc) {
        return rc;
    }
    *same = record->refund.scope.account == scope.account && record->refund.scope.mode == scope.mode
            && is_name_of_refund(key, &record->refund);
    return MDB_SUCCESS;
}

/* What the row behind an entry of table held says of it: *same. */
static int follow_held(int *same, pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *at = key->mv_data;
    pay_lmdb_refund_t *record;
    pay_charge_t *charge;
    pay_lmdb_key_t want;
    pay_scope_t scope;
    apr_uint64_t seq;
    int rc;

    *same = 0;
    pay_lmdb_read_scope(&scope, at);
    seq = pay_lmdb_read_u64(at + PAY_LMDB_SCOPE_LEN + 1);
    if (at[PAY_LMDB_SCOPE_LEN] == PAY_DUE_CHARGE) {
        rc = pay_lmdb_charge_get(&charge, check->txn, check->db, &scope, seq, check->ptemp);
        *same = !rc && charge->held != PAY_NOT_HELD;
        return rc;
    }
    rc = pay_lmdb_refund_get(&record, check->txn, check->db, row, check->ptemp);
    if (rc) {
        return rc;
    }
    pay_lmdb_held_key(&want, &record->refund.scope, PAY_DUE_REFUND, record->refund.seq);
    *same = record->refund.held != PAY_NOT_HELD && want.len == key->mv_size
            && !memcmp(want.bytes, at, want.len);
    return MDB_SUCCESS;
}

static int check_follow(pay_lmdb_check_t *check, pay_lmdb_table_t table, const MDB_val *key, int rc,
                        int same, const char *fault)
{
    if (rc == PAY_LMDB_BAD_ROW) { /* told with the row */
        return MDB_SUCCESS;
    }
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    if (!same) {
        pay_lmdb_check_fault(check, table, key, "%s", fault);
    }
    return MDB_SUCCESS;
}

int pay_lmdb_check_acquirer(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    int rc, same;

    if (key->mv_size <= PAY_LMDB_ACQUIRER_KIND_AT + 1) {
        pay_lmdb_check_fault(check, PAY_TABLE_ACQUIRER, key, "the key has a wrong length");
        return MDB_SUCCESS;
    }
    rc = follow_name(&same, check, key, row);
    return check_follow(check, PAY_TABLE_ACQUIRER, key, rc, same,
                        "leads to nothing of that name at the acquirer");
}

int pay_lmdb_check_held(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    int rc, same;

    if (key->mv_size != PAY_LMDB_HELD_KEY_LEN) {
        pay_lmdb_check_fault(check, PAY_TABLE_HELD, key, "the key has a wrong length");
        return MDB_SUCCESS;
    }
    rc = follow_held(&same, check, key, row);
    return check_follow(check, PAY_TABLE_HELD, key, rc, same,
                        "leads to nothing that waits for a person");
}
