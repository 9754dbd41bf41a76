/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_INDEX_H
#define PAY_STORE_RECORD_INDEX_H

/*
 * Records and their indexes. A record declares each index once: which entry a row has in it. Every
 * writer of a row moves its entries by pay_store_index_move, which compares the rows before and
 * after; no unit of work names an index. `store check` reads the same declarations in both
 * directions (store/check/check.c).
 *
 * A missing entry never prevents a row from being written or deleted: store check reports it.
 *
 * Functions run inside the caller's transaction and return the seam's codes or PAY_ROWS_BAD.
 */

#include "store/keys.h"
#include "store/rows.h"

#define PAY_STORE_ENTRY_VALUE_MAX (1 + PAY_STORE_KEY_MAX) /* bytes: a kind and a row's key */

/* One entry of an index: the key, and a value that leads to the row or describes it. */
typedef struct pay_store_entry_t {
    pay_table_t table;
    pay_store_key_t key;
    unsigned char value[PAY_STORE_ENTRY_VALUE_MAX];
    size_t value_len;
} pay_store_entry_t;

typedef enum pay_index_rule_t {
    /* The key contains the row's own number, so no other row can have the entry. */
    PAY_INDEX_OWN,
    /* Writing the row fails with PAY_ROWS_EXISTS while another row has the entry. */
    PAY_INDEX_UNIQUE,
    /* The first row to have the entry keeps it; the other row has no entry, and `taken` is called.
     */
    PAY_INDEX_FIRST,
    /*
     * A second place where earlier versions, or an earlier state, may have left the entry: it is
     * deleted whenever the row is written, and never put. Precedes the index it belongs to; store
     * check counts it as that index.
     */
    PAY_INDEX_FORMER
} pay_index_rule_t;

#define PAY_STORE_INDEX_TABLES_MAX 2

typedef struct pay_store_index_t {
    /* The tables of its entries, ended by 0 (table meta holds no index). */
    pay_table_t tables[PAY_STORE_INDEX_TABLES_MAX];
    /* 0 and the entry of the record, whose row has the key `at`; PAY_ROWS_NOTFOUND if it has
     * no entry; else a failure. */
    int (*entry_of)(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record);
    /*
     * Returns 1 if both have the same entry, which avoids building it twice. NULL: always compare.
     */
    int (*is_same)(const void *before, const void *after);
    /* The length of its keys, or their minimum length, in bytes; 0: any length. A key of another
     * length is a fault, which row_of never sees. */
    size_t key_len, key_min;
    /*
     * Sets the key of the row that an entry leads to. Returns 0 if it is not an entry of this
     * index.
     */
    int (*row_of)(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value);
    /* PAY_INDEX_FIRST: logs that the record has no entry because another row has it. */
    void (*taken)(const void *record);
    pay_index_rule_t rule;
    const char *missing; /* what store check reports for a row without its entry */
    const char *astray;  /* and for an entry that leads to no row with that entry */
    /* What it reports for an entry that leads to the record, which has another one; NULL: nothing,
     * the entry is allowed there. Without this function it reports `astray`. */
    const char *(*wrong)(pay_table_t table, const pay_bytes_t *key, const void *record);
} pay_store_index_t;

typedef struct pay_store_record_t {
    pay_table_t table;
    const pay_store_index_t *indexes;
    size_t index_count;
    /* Loads the record of a row into `p`; PAY_ROWS_NOTFOUND, or PAY_ROWS_BAD, which is logged. */
    int (*load)(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p);
    /* The name that store check puts before a fault; NULL: no name. */
    const char *(*label)(const void *record, apr_pool_t *p);
} pay_store_record_t;

/* Build entries from their parts. */
void pay_store_entry_value(pay_store_entry_t *entry, const void *value, size_t len);
void pay_store_entry_number(pay_store_entry_t *entry,
                            apr_uint64_t number); /* 8 bytes, big-endian */

/*
 * Moves the entries of the row at the key `at`: from those of `before` (NULL: the row is new) to
 * those of `after` (NULL: the row is deleted). The caller writes the row itself.
 */
int pay_store_index_move(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, const void *before, const void *after);

/* Puts the entries of a stored row that no other row can have, in case some are missing. */
int pay_store_index_put(pay_rows_txn_t *txn, const pay_store_record_t *record,
                        const pay_store_key_t *at, const void *row);

/* Deletes an entry that leads nowhere; not an error if it no longer exists. */
int pay_store_entry_del(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key);

/* An index whose entries are ordered by due time: a key is `prefix`, that time, and more. */
typedef struct pay_store_timed_t {
    pay_table_t table;
    size_t key_len; /* entries of another length are skipped; 0: none are */
    pay_store_key_t prefix;
} pay_store_timed_t;

/*
 * Appends to `out` the keys (pay_bytes_t) of entries that are due from `from` to `until`, by time,
 * until it has `limit`. They are copies in its pool, because an index changes while it is
 * processed.
 */
int pay_store_entries_between(apr_array_header_t *out, pay_rows_txn_t *txn,
                              const pay_store_timed_t *index, apr_time_t from, apr_time_t until,
                              int limit);
/* Sets *due_at to the time of the first entry that is due at `from` or later, 0 if there is no
 * such entry. The index has a key_len. */
int pay_store_entries_next(apr_time_t *due_at, pay_rows_txn_t *txn, const pay_store_timed_t *index,
                           apr_time_t from, apr_pool_t *p);
/* The first `limit` entries that are due: by `until`, then from `beyond` on, because no entry is
 * postponed that far: the clock was ahead. */
int pay_store_entries_due(apr_array_header_t **out, pay_rows_txn_t *txn,
                          const pay_store_timed_t *index, apr_time_t until, apr_time_t beyond,
                          int limit, apr_pool_t *p);

/* Returns 1 if the table contains the entry with that key and that value. */
int pay_store_entry_is(const pay_store_entry_t *entry, pay_table_t table, const pay_bytes_t *key,
                       const pay_bytes_t *value);

/*
 * A row together with the entries that its record declares (store/record/index.h). Functions run
 * inside the caller's transaction and return the seam's codes or PAY_ROWS_BAD (already logged).
 */

/*
 * Writes the row of `after` at the key `at`, and moves its entries from those of `before`, the
 * stored row. `before` NULL: the row is new; PAY_ROWS_EXISTS if its key or a unique entry is taken.
 * If nothing that an index uses has changed, `before` may be `after` itself. Counts the rows of
 * counted tables (store/record/rows.h).
 */
int pay_store_record_put(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, pay_bytes_t *row, const void *before,
                         const void *after);

/* Does the same, whatever is stored there. */
int pay_store_record_store(pay_rows_txn_t *txn, const pay_store_record_t *record,
                           const pay_store_key_t *at, pay_bytes_t *row, const void *after,
                           apr_pool_t *p);

/* Deletes the row at `at` with its entries; `stored` is the row as it was read. Not an error if
 * the row no longer exists. */
int pay_store_record_del(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, const void *stored);

#endif
