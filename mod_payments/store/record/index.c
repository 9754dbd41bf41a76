/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/index.h"

#include "store/record/rows.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

void pay_store_entry_value(pay_store_entry_t *entry, const void *value, size_t len)
{
    assert(len <= sizeof(entry->value));
    if (len > 0) {
        memcpy(entry->value, value, len);
    }
    entry->value_len = len;
}

void pay_store_entry_number(pay_store_entry_t *entry, apr_uint64_t number)
{
    pay_store_key_t bytes;

    pay_store_key_start(&bytes);
    pay_store_key_u64(&bytes, number);
    pay_store_entry_value(entry, bytes.bytes, bytes.len);
}

static pay_bytes_t value_of(pay_store_entry_t *entry)
{
    pay_bytes_t val = {entry->value_len, entry->value};

    return val;
}

static int is_value(const pay_store_entry_t *entry, const pay_bytes_t *val)
{
    return val->len == entry->value_len && !memcmp(val->data, entry->value, val->len);
}

int pay_store_entry_is(const pay_store_entry_t *entry, pay_table_t table, const pay_bytes_t *key,
                       const pay_bytes_t *value)
{
    return entry->table == table && entry->key.len == key->len
           && !memcmp(entry->key.bytes, key->data, key->len) && is_value(entry, value);
}

static int same_place(const pay_store_entry_t *a, const pay_store_entry_t *b)
{
    return a->table == b->table && a->key.len == b->key.len
           && !memcmp(a->key.bytes, b->key.bytes, a->key.len);
}

static int same_value(const pay_store_entry_t *a, const pay_store_entry_t *b)
{
    return a->value_len == b->value_len && !memcmp(a->value, b->value, a->value_len);
}

/* PAY_ROWS_NOTFOUND if there is no record, or if its stored values can no longer have an entry. */
static int entry_before(pay_store_entry_t *entry, const pay_store_index_t *index,
                        const pay_store_key_t *key, const void *before)
{
    return before && index->entry_of(entry, key, before) == 0 ? 0 : PAY_ROWS_NOTFOUND;
}

static int entry_after(pay_store_entry_t *entry, const pay_store_index_t *index,
                       const pay_store_key_t *key, const void *after)
{
    return after ? index->entry_of(entry, key, after) : PAY_ROWS_NOTFOUND;
}

/* Leaves an entry of another row alone. PAY_ROWS_NOTFOUND if there is no entry. */
static int take_out(pay_rows_txn_t *txn, const pay_store_index_t *index,
                    const pay_store_entry_t *entry)
{
    pay_bytes_t at = pay_store_key_val(&entry->key), val;
    int rc;

    if (pay_rows_table_is_missing(txn, entry->table)) {
        return PAY_ROWS_NOTFOUND;
    }
    if (index->rule == PAY_INDEX_FIRST) {
        rc = pay_rows_get(&val, txn, entry->table, &at);
        if (rc || !is_value(entry, &val)) {
            return rc ? rc : PAY_ROWS_NOTFOUND;
        }
    }
    return pay_rows_del(txn, entry->table, &at);
}

static int put(pay_rows_txn_t *txn, const pay_store_index_t *index, pay_store_entry_t *entry,
               const void *record)
{
    pay_bytes_t at = pay_store_key_val(&entry->key), val = value_of(entry);
    int rc;

    rc = pay_rows_put(txn, entry->table, &at, &val,
                      index->rule == PAY_INDEX_OWN ? 0 : PAY_ROWS_NOOVERWRITE);
    if (rc != PAY_ROWS_EXISTS || index->rule != PAY_INDEX_FIRST) {
        return rc;
    }
    if (!is_value(entry, &val)) {
        index->taken(record);
    }
    return 0;
}

/* Sets *taken to 1 if there was one, so that the row may have no other. */
static int take_out_former(int *taken, pay_rows_txn_t *txn, const pay_store_index_t *index,
                           const pay_store_key_t *key, const void *record)
{
    pay_store_entry_t entry;
    int rc = entry_before(&entry, index, key, record);

    if (!rc) {
        rc = take_out(txn, index, &entry);
        *taken |= rc == 0;
    }
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

/* With the flag set, puts the entry even if it should exist already. */
static int move_entry(pay_rows_txn_t *txn, const pay_store_index_t *index,
                      const pay_store_key_t *key, const void *before, const void *after, int anew)
{
    pay_store_entry_t from, to;
    int had, has, rc = 0;

    had = entry_before(&from, index, key, before) == 0;
    has = entry_after(&to, index, key, after);
    if (has && has != PAY_ROWS_NOTFOUND) {
        return has;
    }
    has = has == 0;
    if (had && has && same_place(&from, &to)) {
        if (same_value(&from, &to) && !anew) {
            return 0;
        }
    } else if (had) {
        rc = take_out(txn, index, &from);
        rc = rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    return rc || !has ? rc : put(txn, index, &to, after);
}

int pay_store_index_move(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, const void *before, const void *after)
{
    const pay_store_index_t *index = record->indexes;
    const pay_store_index_t *end = index + record->index_count;
    int rc = 0, anew = 0;

    if (before == after) {
        return 0;
    }
    for (; !rc && index < end; index++) {
        if (index->rule == PAY_INDEX_FORMER) {
            rc = take_out_former(&anew, txn, index, at, before);
            if (!rc) {
                rc = take_out_former(&anew, txn, index, at, after);
            }
            continue;
        }
        if (!before || !after || !index->is_same || !index->is_same(before, after)) {
            rc = move_entry(txn, index, at, before, after, anew);
        }
        anew = 0;
    }
    return rc;
}

int pay_store_index_put(pay_rows_txn_t *txn, const pay_store_record_t *record,
                        const pay_store_key_t *at, const void *row)
{
    const pay_store_index_t *index = record->indexes;
    const pay_store_index_t *end = index + record->index_count;
    pay_store_entry_t entry;
    int rc = 0;

    for (; !rc && index < end; index++) {
        if (index->rule == PAY_INDEX_OWN) {
            rc = entry_after(&entry, index, at, row);
            rc = rc ? rc : put(txn, index, &entry, row);
            rc = rc == PAY_ROWS_NOTFOUND ? 0 : rc;
        }
    }
    return rc;
}

/* ---- operations on single entries */

int pay_store_entry_del(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key)
{
    pay_bytes_t at = *key;
    int rc;

    rc = pay_rows_del(txn, table, &at);
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

/* Returns 1 if the key is greater than any that begins with `last`. */
static int is_behind(const pay_bytes_t *key, const pay_store_key_t *last)
{
    const size_t len = key->len < last->len ? key->len : last->len;

    return memcmp(key->data, last->bytes, len) > 0;
}

int pay_store_entries_between(apr_array_header_t *out, pay_rows_txn_t *txn,
                              const pay_store_timed_t *index, apr_time_t from, apr_time_t until,
                              int limit)
{
    pay_store_key_t first = index->prefix, last = index->prefix;
    pay_rows_scan_t scan = pay_rows_scan(txn, index->table, &index->prefix, &first, PAY_ROWS_FROM);
    pay_bytes_t key, val;
    int rc;

    pay_store_key_time(&first, from);
    pay_store_key_time(&last, until);
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc && out->nelts < limit && !is_behind(&key, &last)) {
        if (!index->key_len || key.len == index->key_len) {
            APR_ARRAY_PUSH(out, pay_bytes_t) = pay_rows_dup(&key, out->pool);
        }
        rc = pay_rows_next(&key, &val, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

int pay_store_entries_next(apr_time_t *due_at, pay_rows_txn_t *txn, const pay_store_timed_t *index,
                           apr_time_t from, apr_pool_t *p)
{
    apr_array_header_t *first = apr_array_make(p, 1, sizeof(pay_bytes_t));
    const char *key;
    int rc;

    assert(index->key_len >= index->prefix.len + sizeof(apr_uint64_t));
    *due_at = 0;
    rc = pay_store_entries_between(first, txn, index, from, APR_INT64_MAX, 1);
    if (!rc && first->nelts > 0) {
        key = APR_ARRAY_IDX(first, 0, pay_bytes_t).data;
        *due_at = pay_store_read_time(key + index->prefix.len);
    }
    return rc;
}

int pay_store_entries_due(apr_array_header_t **out, pay_rows_txn_t *txn,
                          const pay_store_timed_t *index, apr_time_t until, apr_time_t beyond,
                          int limit, apr_pool_t *p)
{
    int rc;

    *out = apr_array_make(p, 16, sizeof(pay_bytes_t));
    rc = pay_store_entries_between(*out, txn, index, APR_INT64_MIN, until, limit);
    if (!rc && (*out)->nelts < limit) {
        rc = pay_store_entries_between(*out, txn, index, beyond, APR_INT64_MAX, limit);
    }
    return rc;
}

/* ---- the record */

int pay_store_record_put(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, pay_bytes_t *row, const void *before,
                         const void *after)
{
    pay_bytes_t key = pay_store_key_val(at);
    int rc;

    rc = before ? pay_rows_put(txn, record->table, &key, row, 0)
                : pay_store_rows_put(txn, record->table, &key, row, PAY_ROWS_NOOVERWRITE);
    return rc ? rc : pay_store_index_move(txn, record, at, before, after);
}

int pay_store_record_store(pay_rows_txn_t *txn, const pay_store_record_t *record,
                           const pay_store_key_t *at, pay_bytes_t *row, const void *after,
                           apr_pool_t *p)
{
    const pay_bytes_t key = pay_store_key_val(at);
    void *before;
    int rc;

    rc = record->load(&before, txn, &key, p);
    if (rc && rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    return pay_store_record_put(txn, record, at, row, rc ? NULL : before, after);
}

int pay_store_record_del(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, const void *stored)
{
    pay_bytes_t key = pay_store_key_val(at);
    int rc;

    rc = pay_store_index_move(txn, record, at, stored, NULL);
    if (!rc) {
        rc = pay_store_rows_del(txn, record->table, &key);
    }
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}
