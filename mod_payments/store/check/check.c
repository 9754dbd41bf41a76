/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/keys.h"
#include "store/record/scope.h"
#include "store/rows_scan.h"

#include <apr_strings.h>

/* ---- indexes */

/* Compares rows and indexes in both directions, using the declarations of the records. */

#include "store/check/check.h"

#include "store/account/account.h"
#include "store/account/api_key.h"
#include "store/account/grant.h"
#include "store/event/endpoint.h"
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/checkout.h"
#include "store/payment/idempotency.h"
#include "store/payment/link.h"
#include "store/payment/refund.h"

static const pay_store_record_t *const records[] = {
    &pay_store_account_record,  &pay_store_api_key_record, &pay_store_grant_record,
    &pay_store_charge_record,   &pay_store_refund_record,  &pay_store_idempotency_record,
    &pay_store_checkout_record, &pay_store_link_record,    &pay_store_endpoint_record,
    &pay_store_event_record,
};

/* ---- from the rows to the indexes */

/* Sets *found to 1 if the row has no entry in the index, or if the entry exists and leads to it.
 * An entry that another row had first may lead to that row; a wrong value is reported for the
 * entry. */
static int has_entry(int *found, pay_store_check_t *check, const pay_store_index_t *index,
                     const pay_store_key_t *at, const void *row)
{
    pay_store_entry_t entry;
    pay_bytes_t key, value;
    int rc;

    *found = 1;
    rc = index->entry_of(&entry, at, row);
    if (!rc && pay_rows_table_is_missing(check->txn, entry.table)) {
        return 0;
    }
    if (rc) {
        *found = rc == PAY_ROWS_NOTFOUND; /* nothing is found for a row that can have no entry */
        return 0;
    }
    key = pay_store_key_val(&entry.key);
    rc = pay_store_check_has(found, &value, check, entry.table, &key);
    if (!rc && *found && index->rule != PAY_INDEX_FIRST && !index->wrong && entry.value_len > 0) {
        *found = pay_store_entry_is(&entry, entry.table, &key, &value);
    }
    return rc;
}

int pay_store_check_entries(pay_store_check_t *check, const pay_store_record_t *record,
                            const pay_bytes_t *key, const void *row)
{
    const pay_store_index_t *index = record->indexes;
    const pay_store_index_t *end = index + record->index_count;
    const char *label = record->label ? record->label(row, check->ptemp) : NULL;
    pay_store_entry_t former;
    pay_store_key_t at;
    int rc, found;

    (void)pay_store_key_of(&at, key->data, key->len);
    for (; index < end; index++) {
        if (index->rule == PAY_INDEX_FORMER) {
            continue;
        }
        rc = has_entry(&found, check, index, &at, row);
        if (!rc && !found && index > record->indexes && index[-1].rule == PAY_INDEX_FORMER
            && index[-1].entry_of(&former, &at, row) == 0) {
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
    return 0;
}

/* ---- from the indexes to the rows */

/* The fault of an entry that leads to the row; NULL if it has none. */
static const char *fault_of(const pay_store_index_t *index, pay_table_t table,
                            const pay_bytes_t *key, const pay_bytes_t *value,
                            const pay_store_key_t *at, const void *row)
{
    pay_store_entry_t entry;

    if (index->entry_of(&entry, at, row) == 0 && pay_store_entry_is(&entry, table, key, value)) {
        return NULL;
    }
    return index->wrong ? index->wrong(table, key, row) : index->astray;
}

/* *fault is NULL if the entry, which leads to the row at `at`, is right, or if its row is reported
 * separately. */
static int follow(const char **fault, pay_store_check_t *check, const pay_store_record_t *record,
                  const pay_store_index_t *index, const pay_store_key_t *at, pay_table_t table,
                  const pay_bytes_t *key, const pay_bytes_t *value)
{
    const pay_bytes_t row_key = pay_store_key_val(at);
    void *row;
    int rc;

    rc = record->load(&row, check->txn, &row_key, check->ptemp);
    if (rc) {
        *fault = rc == PAY_ROWS_NOTFOUND ? index->astray : NULL;
        return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? 0 : rc;
    }
    *fault = fault_of(index, table, key, value, at, row);
    return 0;
}

/* Returns 1 if the index accepts the entry as its own, which then leads to `at`; else *fault is
 * its text for the entry. */
static int takes(pay_store_key_t *at, const char **fault, const pay_store_index_t *index,
                 pay_table_t table, const pay_bytes_t *key, const pay_bytes_t *value)
{
    if (index->tables[0] != table && index->tables[1] != table) {
        return 0;
    }
    if ((index->key_len && key->len != index->key_len) || key->len < index->key_min) {
        *fault = "the key has a wrong length";
        return 0;
    }
    *fault = index->astray;
    return index->row_of(at, key, value);
}

/* The first index that accepts the entry as its own decides. */
static int check_index(pay_store_check_t *check, pay_table_t table, const pay_bytes_t *key,
                       const pay_bytes_t *value)
{
    const char *fault = "belongs to no index that is known";
    const pay_store_record_t *record;
    pay_store_key_t at;
    size_t i, j;
    int rc = 0, taken = 0;

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

typedef struct walk_t {
    pay_store_check_t check;
    apr_pool_t *pool;
    pay_store_fault_t report;
    void *baton;
    apr_size_t faults;
} walk_t;

void pay_store_check_fault(pay_store_check_t *check, pay_table_t table, const pay_bytes_t *key,
                           const char *format, ...)
{
    const char *text, *where = "";
    va_list args;

    va_start(args, format);
    text = apr_pvsprintf(check->ptemp, format, args);
    va_end(args);
    if (key) {
        where = apr_pstrcat(check->ptemp, " ", pay_hex(key->data, key->len, check->ptemp), NULL);
    }
    APR_ARRAY_PUSH(check->lines, const char *) =
        apr_psprintf(check->ptemp, "%s%s: %s", pay_rows_table_name(table), where, text);
}

/* ---- the walk over all tables */

int pay_store_check_has(int *found, pay_bytes_t *val, const pay_store_check_t *check,
                        pay_table_t table, const pay_bytes_t *key)
{
    pay_bytes_t at = *key, value;
    int rc;

    *found = 0;
    if (at.len == 0 || at.len > PAY_STORE_KEY_MAX) {
        return 0; /* from a damaged index row: no row has such a key */
    }
    rc = pay_rows_get(&value, check->txn, table, &at);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    *found = 1;
    if (val) {
        *val = value;
    }
    return 0;
}

static int check_scope(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_store_scope_t last;
    pay_scope_t scope;
    int rc, found;

    (void)row;
    if (key->len != PAY_STORE_SCOPE_LEN) {
        pay_store_check_fault(check, PAY_TABLE_SCOPE, key, "the key has a wrong length");
        return 0;
    }
    pay_store_read_scope(&scope, key->data);
    rc = pay_store_scope_get(&last, check->txn, &scope);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_SCOPE, key, "the row does not decode");
        return 0;
    }
    if (rc) {
        return rc;
    }
    if (last.import_done > last.import_given || last.import_open > last.import_given
        || last.import_left > last.import_given) {
        pay_store_check_fault(check, PAY_TABLE_SCOPE, key, "an import number was never given");
    }
    rc = pay_store_check_account_known(&found, check, key->data);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_SCOPE, key, "there is no such account");
    }
    return rc ? rc : pay_store_check_rows(check, key, &scope, &last);
}

/* How a table is checked; a table that is not listed here holds entries of the records' indexes. */
typedef struct table_t {
    pay_store_check_row_t row;
    pay_store_check_after_t after; /* NULL: there is nothing left to check */
    pay_store_check_part_t part;   /* instead of `row` */
} table_t;

static const table_t tables[PAY_TABLE_COUNT] = {
    [PAY_TABLE_META] = {.row = pay_store_check_meta},
    [PAY_TABLE_ACCOUNT] = {.row = pay_store_check_account},
    [PAY_TABLE_API_KEY] = {.row = pay_store_check_api_key},
    [PAY_TABLE_TOKEN] = {.row = pay_store_check_token, .after = pay_store_check_token_after},
    [PAY_TABLE_SCOPE] = {.row = check_scope},
    [PAY_TABLE_CHARGE] = {.row = pay_store_check_charge},
    [PAY_TABLE_REFUND] = {.row = pay_store_check_refund},
    [PAY_TABLE_IDEMPOTENCY] = {.row = pay_store_check_idempotency},
    [PAY_TABLE_TOTAL] = {.row = pay_store_check_total},
    [PAY_TABLE_ENDPOINT] = {.row = pay_store_check_endpoint},
    [PAY_TABLE_EVENT] = {.row = pay_store_check_event},
    [PAY_TABLE_GRANT] = {.row = pay_store_check_grant},
    [PAY_TABLE_ENCRYPTION_KEY] = {.row = pay_store_check_encryption_key},
    [PAY_TABLE_AUDIT] = {.row = pay_store_check_audit},
    [PAY_TABLE_CHECKOUT] = {.row = pay_store_check_checkout},
    [PAY_TABLE_LINK] = {.row = pay_store_check_link},
};
static const table_t totals = {.part = pay_store_check_total_part};

static void part_start(walk_t *walk)
{
    apr_pool_clear(walk->pool);
    walk->check.lines = apr_array_make(walk->pool, 4, sizeof(const char *));
    walk->check.keys = apr_array_make(walk->pool, 4, sizeof(pay_bytes_t));
}

static void tell(walk_t *walk)
{
    int i;

    for (i = 0; i < walk->check.lines->nelts; i++) {
        walk->faults++;
        walk->report(walk->baton, APR_ARRAY_IDX(walk->check.lines, i, const char *));
    }
}

/* The rows from `from` on; sets *done to 1 at the table's end, else `from` to where to continue. */
static int walk_part(int *done, pay_store_key_t *from, pay_store_check_t *check, pay_table_t id,
                     const table_t *table)
{
    const pay_store_key_t start = *from;
    pay_rows_scan_t scan = pay_rows_scan(check->txn, id, NULL, &start, PAY_ROWS_FROM);
    pay_bytes_t key, row;
    int rc, rows = 0;

    *done = pay_rows_table_is_missing(check->txn, id);
    if (*done) {
        return 0;
    }
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && rows++ < PAY_STORE_CHECK_ROWS_MAX) {
        rc = table->row ? table->row(check, &key, &row) : check_index(check, id, &key, &row);
        if (table->after) {
            APR_ARRAY_PUSH(check->keys, pay_bytes_t) = pay_rows_dup(&key, check->ptemp);
        }
        if (!rc) {
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    if (!rc) {
        (void)pay_store_key_of(from, key.data, key.len);
    }
    *done = rc == PAY_ROWS_NOTFOUND;
    return pay_rows_scan_end(&scan, rc);
}

/* Checks that other files make in a transaction of their own, after that of the batch has ended. */
static apr_status_t check_after(pay_store_check_t *check, const table_t *table)
{
    apr_status_t rv = APR_SUCCESS;
    int i;

    for (i = 0; i < check->keys->nelts && rv == APR_SUCCESS; i++) {
        rv = table->after(check, &APR_ARRAY_IDX(check->keys, i, pay_bytes_t));
    }
    return rv;
}

static apr_status_t walk_table(walk_t *walk, pay_table_t id, const table_t *table)
{
    pay_store_check_t *check = &walk->check;
    pay_rows_txn_t txn;
    pay_store_key_t from;
    apr_status_t rv;
    int rc, done = 0;

    check->txn = &txn;
    pay_store_key_start(&from);
    while (!done) {
        part_start(walk);
        rv = pay_rows_begin(&txn, check->store);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        rc = table->part ? table->part(&done, &from, check)
                         : walk_part(&done, &from, check, id, table);
        pay_rows_end(&txn);
        rv = rc ? pay_rows_status(rc) : check_after(check, table);
        tell(walk);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    return APR_SUCCESS;
}

apr_status_t pay_store_check(apr_size_t *faults, pay_store_t *store, pay_store_fault_t report,
                             void *baton, apr_pool_t *p)
{
    walk_t walk = {.report = report, .baton = baton};
    apr_status_t rv;
    int i;

    *faults = 0;
    rv = apr_pool_create(&walk.pool, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    walk.check.store = store;
    walk.check.ptemp = walk.pool;
    for (i = 0; rv == APR_SUCCESS && i < PAY_TABLE_COUNT; i++) {
        rv = walk_table(&walk, (pay_table_t)i, &tables[i]);
    }
    if (rv == APR_SUCCESS) {
        rv = walk_table(&walk, PAY_TABLE_TOTAL, &totals);
    }
    *faults = walk.faults;
    apr_pool_destroy(walk.pool);
    return rv;
}
