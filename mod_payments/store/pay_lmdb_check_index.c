/* SPDX-License-Identifier: Apache-2.0 */

/* Rows and indexes held against each other, in both directions, from what the records declare. */

#include "store/pay_lmdb_check.h"

#include "store/pay_lmdb_account.h"
#include "store/pay_lmdb_api_key.h"
#include "store/pay_lmdb_charge_record.h"
#include "store/pay_lmdb_checkout.h"
#include "store/pay_lmdb_grant.h"
#include "store/pay_lmdb_kept.h"
#include "store/pay_lmdb_link.h"
#include "store/pay_lmdb_refund_record.h"

#include <string.h>

static const pay_lmdb_record_t *const records[] = {
    &pay_lmdb_account_record,  &pay_lmdb_api_key_record, &pay_lmdb_grant_record,
    &pay_lmdb_charge_record,   &pay_lmdb_refund_record,  &pay_lmdb_kept_record,
    &pay_lmdb_checkout_record, &pay_lmdb_link_record,
};

/* ---- from the rows to the indexes */

/* 1 in *found when the row has no entry in the index, or the entry is there and leads to it. One
 * that another row had first may lead there; what is wrong with a value is told of the entry. */
static int has_entry(int *found, pay_lmdb_check_t *check, const pay_lmdb_index_t *index,
                     const pay_lmdb_key_t *at, const void *row)
{
    pay_lmdb_entry_t entry;
    MDB_val key, value;
    int rc;

    *found = 1;
    rc = index->entry_of(&entry, at, row);
    if (!rc && pay_lmdb_table_is_missing(check->txn, entry.table)) {
        return MDB_SUCCESS;
    }
    if (rc) {
        *found = rc == MDB_NOTFOUND; /* of what can have none, nothing is found */
        return MDB_SUCCESS;
    }
    key = pay_lmdb_key_val(&entry.key);
    rc = pay_lmdb_check_has(found, &value, check, entry.table, &key);
    if (!rc && *found && index->rule != PAY_INDEX_FIRST && !index->wrong && entry.value_len > 0) {
        *found = pay_lmdb_entry_is(&entry, entry.table, &key, &value);
    }
    return rc;
}

int pay_lmdb_check_entries(pay_lmdb_check_t *check, const pay_lmdb_record_t *record,
                           const MDB_val *key, const void *row)
{
    const pay_lmdb_index_t *index = record->indexes;
    const pay_lmdb_index_t *end = index + record->index_count;
    const char *label = record->label ? record->label(row, check->ptemp) : NULL;
    pay_lmdb_entry_t former;
    pay_lmdb_key_t at;
    int rc, found;

    (void)pay_lmdb_key_of(&at, key->mv_data, key->mv_size);
    for (; index < end; index++) {
        if (index->rule == PAY_INDEX_FORMER) {
            continue;
        }
        rc = has_entry(&found, check, index, &at, row);
        if (!rc && !found && index > record->indexes && index[-1].rule == PAY_INDEX_FORMER
            && index[-1].entry_of(&former, &at, row) == MDB_SUCCESS) {
            rc = has_entry(&found, check, index - 1, &at, row);
        }
        if (rc) {
            return rc;
        }
        if (!found) {
            pay_lmdb_check_fault(check, record->table, key, "%s%s%s", label ? label : "",
                                 label ? ": " : "", index->missing);
        }
    }
    return MDB_SUCCESS;
}

/* ---- from the indexes to the rows */

/* What is wrong with an entry that leads to the row; NULL: nothing. */
static const char *fault_of(const pay_lmdb_index_t *index, pay_lmdb_table_t table,
                            const MDB_val *key, const MDB_val *value, const pay_lmdb_key_t *at,
                            const void *row)
{
    pay_lmdb_entry_t entry;

    if (index->entry_of(&entry, at, row) == MDB_SUCCESS
        && pay_lmdb_entry_is(&entry, table, key, value)) {
        return NULL;
    }
    return index->wrong ? index->wrong(table, key, row) : index->astray;
}

/* *fault NULL: the entry is right, or its row is told of by itself. */
static int follow(const char **fault, pay_lmdb_check_t *check, const pay_lmdb_record_t *record,
                  const pay_lmdb_index_t *index, pay_lmdb_table_t table, const MDB_val *key,
                  const MDB_val *value)
{
    pay_lmdb_key_t row_key;
    MDB_val at;
    void *row;
    int rc;

    if (!index->row_of(&row_key, key, value)) {
        *fault = index->astray;
        return MDB_SUCCESS;
    }
    at = pay_lmdb_key_val(&row_key);
    rc = record->load(&row, check->txn, &at, check->ptemp);
    if (rc) {
        *fault = rc == MDB_NOTFOUND ? index->astray : NULL;
        return rc == MDB_NOTFOUND || rc == PAY_LMDB_BAD_ROW ? MDB_SUCCESS : rc;
    }
    *fault = fault_of(index, table, key, value, &row_key, row);
    return MDB_SUCCESS;
}

static int is_in(const pay_lmdb_index_t *index, pay_lmdb_table_t table)
{
    return index->tables[0] == table || index->tables[1] == table;
}

/* The first index that takes the entry for one of its own decides. */
int pay_lmdb_check_index(pay_lmdb_check_t *check, pay_lmdb_table_t table, const MDB_val *key,
                         const MDB_val *value)
{
    const char *fault = "belongs to no index that is known";
    pay_lmdb_key_t row_key;
    size_t i, j;
    int rc = MDB_SUCCESS, taken = 0;

    for (i = 0; !rc && !taken && i < sizeof(records) / sizeof(records[0]); i++) {
        const pay_lmdb_index_t *index = records[i]->indexes;

        for (j = 0; !rc && !taken && j < records[i]->index_count; j++) {
            if (is_in(&index[j], table)) {
                taken = index[j].row_of(&row_key, key, value);
                rc = follow(&fault, check, records[i], &index[j], table, key, value);
            }
        }
    }
    if (!rc && fault) {
        pay_lmdb_check_fault(check, table, key, "%s", fault);
    }
    return rc;
}
