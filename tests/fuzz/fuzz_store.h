/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_STORE_H
#define FUZZ_STORE_H

/*
 * A real store for the targets that need one: account "shop" with a key, a token, charges, refunds
 * and a finished import of one record. It is restored before each input.
 */

#include "fuzz.h"

#include "base/text/time.h"
#include "store/keys.h"
#include "store/lmdb/env.h"

#include <unistd.h>

#define FUZZ_NOW APR_TIME_C(1800000000000000) /* 2027-01-15T08:00:00Z: the time of the clock */
#define FUZZ_ROWS_MAX 128                     /* of the store as it was made */
#define FUZZ_AMOUNT_MINOR 1050

typedef struct fuzz_row_t {
    pay_table_t table;
    pay_bytes_t key;
    pay_bytes_t val;
} fuzz_row_t;

typedef struct fuzz_store_t {
    pay_store_t *store;
    pay_scope_t scope;
    unsigned char digest[PAY_SHA256_LEN]; /* of the key */
    const char *dir;
    const char *file; /* for an input that must be a file */
    fuzz_row_t rows[FUZZ_ROWS_MAX];
    int count;
    apr_pool_t *pool;
} fuzz_store_t;

static fuzz_store_t fuzz_store;

static inline apr_time_t fuzz_clock(void)
{
    return FUZZ_NOW;
}

static inline void fuzz_store_remove(void)
{
    static const char *const names[] = {"data.mdb", "lock.mdb", "input"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unlink(apr_pstrcat(fuzz_store.pool, fuzz_store.dir, "/", names[i], NULL));
    }
    (void)rmdir(fuzz_store.dir);
}

static inline pay_rows_txn_t fuzz_store_begin(unsigned int flags)
{
    pay_rows_txn_t txn = {.store = fuzz_store.store, .turn = pay_turn_all()};
    MDB_txn *native;

    CHECK(mdb_txn_begin(fuzz_store.store->env->mdb, NULL, flags, &native) == 0);
    txn.native = native;
    return txn;
}

/* Restores the original rows of every table. */
static inline void fuzz_store_reset(void)
{
    pay_rows_txn_t txn = fuzz_store_begin(0);
    int i;

    for (i = 0; i < PAY_TABLE_COUNT; i++) {
        CHECK(mdb_drop(txn.native, pay_lmdb_dbi((pay_table_t)i), 0) == 0);
    }
    for (i = 0; i < fuzz_store.count; i++) {
        fuzz_row_t *row = &fuzz_store.rows[i];

        CHECK(pay_rows_put(&txn, row->table, &row->key, &row->val, 0) == 0);
    }
    CHECK(mdb_txn_commit(txn.native) == 0);
}

static inline pay_bytes_t fuzz_store_dup(const pay_bytes_t *val)
{
    pay_bytes_t copy = {val->len, apr_pmemdup(fuzz_store.pool, val->data, val->len)};

    return copy;
}

static inline void fuzz_store_remember(void)
{
    pay_rows_txn_t txn = fuzz_store_begin(MDB_RDONLY);
    MDB_cursor *cursor;
    pay_bytes_t key, val;
    int i;

    for (i = 0; i < PAY_TABLE_COUNT; i++) {
        CHECK(mdb_cursor_open(txn.native, pay_lmdb_dbi((pay_table_t)i), &cursor) == 0);
        while (mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_NEXT) == 0) {
            CHECK(fuzz_store.count < FUZZ_ROWS_MAX);
            fuzz_store.rows[fuzz_store.count++] =
                (fuzz_row_t){(pay_table_t)i, fuzz_store_dup(&key), fuzz_store_dup(&val)};
        }
        mdb_cursor_close(cursor);
    }
    mdb_txn_abort(txn.native);
}

/* Makes an empty store with the account, in a directory that is removed with the process. */
static inline void fuzz_store_make(void)
{
    const char *parent = getenv("TMPDIR");
    pay_store_options_t options = pay_store_options_default;
    pay_account_t *account;
    char *dir;

    CHECK(apr_pool_create(&fuzz_store.pool, NULL) == APR_SUCCESS);
    dir = apr_pstrcat(fuzz_store.pool, parent && *parent ? parent : "/tmp", "/payments-fuzz-XXXXXX",
                      NULL);
    CHECK(mkdtemp(dir));
    fuzz_store.dir = dir;
    fuzz_store.file = apr_pstrcat(fuzz_store.pool, dir, "/input", NULL);
    CHECK(atexit(fuzz_store_remove) == 0);
    pay_time_set_source(fuzz_clock);
    options.map_bytes = APR_INT64_C(64) << 20;
    options.reserve_bytes = 0;
    options.commit_wait = apr_time_from_sec(30); /* a slow machine is no reason to fail */
    options.create = 1;
    CHECK(pay_store_open(&fuzz_store.store, apr_pstrcat(fuzz_store.pool, "lmdb:", dir, NULL),
                         &options, fuzz_store.pool)
          == APR_SUCCESS);
    CHECK(pay_store_account_create(&account, fuzz_store.store, "shop",
                                   &pay_account_settings_builtin, fuzz_store.pool)
          == APR_SUCCESS);
    fuzz_store.scope = (pay_scope_t){account->number, PAY_TEST};
    /* Nothing here must survive a power failure. */
    CHECK(mdb_env_set_flags(fuzz_store.store->env->mdb, MDB_NOSYNC, 1) == 0);
}

#endif
