/* SPDX-License-Identifier: Apache-2.0 */

/* Rows and indexes held against each other, in both directions, from what the records declare. */

#include "store/check/check.h"

#include "store/account/account.h"
#include "store/account/api_key.h"
#include "store/account/grant.h"
#include "store/event/endpoint.h"
#include "store/event/event.h"
#include "store/payment/charge_record.h"
#include "store/payment/checkout.h"
#include "store/payment/kept.h"
#include "store/payment/link.h"
#include "store/payment/refund_record.h"

static const pay_store_record_t *const records[] = {
    &pay_store_account_record,  &pay_store_api_key_record, &pay_store_grant_record,
    &pay_store_charge_record,   &pay_store_refund_record,  &pay_store_kept_record,
    &pay_store_checkout_record, &pay_store_link_record,    &pay_store_endpoint_record,
    &pay_store_event_record,
};

/* ---- from the rows to the indexes */

/* 1 in *found when the row has no entry in the index, or the entry is there and leads to it. One
 * that another row had first may lead there; what is wrong with a value is told of the entry. */
static int has_entry(int *found, pay_store_check_t *check, const pay_store_index_t *index,
                     const pay_store_key_t *at, const void *row)
{
    pay_store_entry_t entry;
    MDB_val key, value;
    int rc;

    *found = 1;
    rc = index->entry_of(&entry, at, row);
    if (!rc && pay_rows_table_is_missing(check->txn, entry.table)) {
        return MDB_SUCCESS;
    }
    if (rc) {
        *found = rc == MDB_NOTFOUND; /* of what can have none, nothing is found */
        return MDB_SUCCESS;
    }
    key = pay_store_key_val(&entry.key);
    rc = pay_store_check_has(found, &value, check, entry.table, &key);
    if (!rc && *found && index->rule != PAY_INDEX_FIRST && !index->wrong && entry.value_len > 0) {
        *found = pay_store_entry_is(&entry, entry.table, &key, &value);
    }
    return rc;
}

int pay_store_check_entries(pay_store_check_t *check, const pay_store_record_t *record,
                            const MDB_val *key, const void *row)
{
    const pay_store_index_t *index = record->indexes;
    const pay_store_index_t *end = index + record->index_count;
    const char *label = record->label ? record->label(row, check->ptemp) : NULL;
    pay_store_entry_t former;
    pay_store_key_t at;
    int rc, found;

    (void)pay_store_key_of(&at, key->mv_data, key->mv_size);
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
            pay_store_check_fault(check, record->table, key, "%s%s%s", label ? label : "",
                                  label ? ": " : "", index->missing);
        }
    }
    return MDB_SUCCESS;
}

/* ---- from the indexes to the rows */

/* What is wrong with an entry that leads to the row; NULL: nothing. */
static const char *fault_of(const pay_store_index_t *index, pay_table_t table, const MDB_val *key,
                            const MDB_val *value, const pay_store_key_t *at, const void *row)
{
    pay_store_entry_t entry;

    if (index->entry_of(&entry, at, row) == MDB_SUCCESS
        && pay_store_entry_is(&entry, table, key, value)) {
        return NULL;
    }
    return index->wrong ? index->wrong(table, key, row) : index->astray;
}

/* *fault NULL: the entry, which leads to the row at `at`, is right, or its row is told of by
 * itself.
 */
static int follow(const char **fault, pay_store_check_t *check, const pay_store_record_t *record,
                  const pay_store_index_t *index, const pay_store_key_t *at, pay_table_t table,
                  const MDB_val *key, const MDB_val *value)
{
    const MDB_val row_key = pay_store_key_val(at);
    void *row;
    int rc;

    rc = record->load(&row, check->txn, &row_key, check->ptemp);
    if (rc) {
        *fault = rc == MDB_NOTFOUND ? index->astray : NULL;
        return rc == MDB_NOTFOUND || rc == PAY_ROWS_BAD ? MDB_SUCCESS : rc;
    }
    *fault = fault_of(index, table, key, value, at, row);
    return MDB_SUCCESS;
}

/* 1 when the index takes it for an entry of its own, which then leads to `at`; else *fault is what
 * it says of it. */
static int takes(pay_store_key_t *at, const char **fault, const pay_store_index_t *index,
                 pay_table_t table, const MDB_val *key, const MDB_val *value)
{
    if (index->tables[0] != table && index->tables[1] != table) {
        return 0;
    }
    if ((index->key_len && key->mv_size != index->key_len) || key->mv_size < index->key_min) {
        *fault = "the key has a wrong length";
        return 0;
    }
    *fault = index->astray;
    return index->row_of(at, key, value);
}

/* The first index that takes the entry for one of its own decides. */
int pay_store_check_index(pay_store_check_t *check, pay_table_t table, const MDB_val *key,
                          const MDB_val *value)
{
    const char *fault = "belongs to no index that is known";
    const pay_store_record_t *record;
    pay_store_key_t at;
    size_t i, j;
    int rc = MDB_SUCCESS, taken = 0;

    for (i = 0; !taken && i < sizeof(records) / sizeof(records[0]); i++) {
        record = records[i];
        for (j = 0; !taken && j < record->index_count; j++) {
            taken = takes(&at, &fault, &record->indexes[j], table, key, value);
            if (taken) {
                rc = follow(&fault, check, record, &record->indexes[j], &at, table, key, value);
            }
        }
    }
    if (!rc && fault) {
        pay_store_check_fault(check, table, key, "%s", fault);
    }
    return rc;
}
