/* SPDX-License-Identifier: Apache-2.0 */
#include "rows_watch.h"
#include "unit.h"

#include "store/keys.h"

#include <apr_strings.h>
#include <string.h>

#define SEEN_MAX 64

/* A row that was hinted or read; both, if it was. */
typedef struct seen_t {
    pay_table_t table;
    unsigned char key[PAY_STORE_KEY_MAX];
    size_t len;
    int is_hinted, is_read;
} seen_t;

static seen_t seen[SEEN_MAX];
static int seen_count, is_watching, is_at_work;
static pay_rows_work_t watched; /* the current work */

__typeof__(pay_rows_commit) __real_pay_rows_commit, __wrap_pay_rows_commit;
__typeof__(pay_rows_hint) __wrap_pay_rows_hint;
__typeof__(mdb_get) __real_mdb_get, __wrap_mdb_get;

static seen_t *seen_of(pay_table_t table, const void *key, size_t len)
{
    seen_t *one;
    int i;

    for (i = 0; i < seen_count; i++) {
        one = &seen[i];
        if (one->table == table && one->len == len && !memcmp(one->key, key, len)) {
            return one;
        }
    }
    ck_assert_int_lt(seen_count, SEEN_MAX);
    one = &seen[seen_count++];
    *one = (seen_t){.table = table, .len = len};
    memcpy(one->key, key, len);
    return one;
}

/* The target of an announced reference is fetched with it. */
static void follow(const seen_t *from, const MDB_val *row)
{
    pay_store_key_t key;

    if (!from->is_hinted) {
        return;
    }
    if (from->table == PAY_TABLE_CHARGE_REF) {
        (void)pay_store_key_of(&key, from->key, PAY_STORE_SCOPE_LEN);
        (void)pay_store_key_bytes(&key, row->mv_data, row->mv_size);
        seen_of(PAY_TABLE_CHARGE, key.bytes, key.len)->is_hinted = 1;
    } else if (from->table == PAY_TABLE_REFUND_REF) {
        seen_of(PAY_TABLE_REFUND, row->mv_data, row->mv_size)->is_hinted = 1;
    }
}

void rows_watch(void)
{
    seen_count = 0;
    is_watching = 1;
}

void __wrap_pay_rows_hint(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key)
{
    (void)txn;
    seen_of(table, key->data, key->len)->is_hinted = 1;
}

/* Reads of the engine around the work are its own. */
static int work_watched(pay_rows_txn_t *txn, void *baton)
{
    int rc;

    is_at_work = 1;
    rc = watched(txn, baton);
    is_at_work = 0;
    return rc;
}

/* Like an engine that uses them, it requests the hints first. */
apr_status_t __wrap_pay_rows_commit(pay_store_t *store, pay_turn_t turn, int grows,
                                    pay_rows_work_t work, void *baton)
{
    pay_rows_txn_t none = {.store = store, .turn = turn};

    if (!is_watching) {
        return __real_pay_rows_commit(store, turn, grows, work, baton);
    }
    if (turn.hints) {
        turn.hints(&none, baton);
    }
    watched = work;
    return __real_pay_rows_commit(store, turn, grows, work_watched, baton);
}

int __wrap_mdb_get(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *row)
{
    const int rc = __real_mdb_get(txn, dbi, key, row);
    pay_table_t table = 0;
    seen_t *one;

    if (!is_at_work) {
        return rc;
    }
    while (table < PAY_TABLE_COUNT && pay_lmdb_dbi(table) != dbi) {
        table++;
    }
    if (table < PAY_TABLE_COUNT) {
        one = seen_of(table, key->mv_data, key->mv_size);
        one->is_read = 1;
        if (!rc) {
            follow(one, row);
        }
    }
    return rc;
}

static const char *names(int hinted, int read)
{
    const char *text = "", *name;
    int i;

    for (i = 0; i < seen_count; i++) {
        name = apr_pstrcat(unit_pool, pay_rows_table_name(seen[i].table), " ", NULL);
        if (seen[i].is_hinted == hinted && seen[i].is_read == read && !strstr(text, name)) {
            text = apr_pstrcat(unit_pool, text, name, NULL);
        }
    }
    return text;
}

const char *rows_watch_unhinted(void)
{
    return names(0, 1);
}

const char *rows_watch_unread(void)
{
    return names(1, 0);
}
