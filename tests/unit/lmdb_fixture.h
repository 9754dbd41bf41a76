/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LMDB_FIXTURE_H
#define LMDB_FIXTURE_H

/* The common part of the tests of the LMDB store: small stores, three scopes, the logged lines. */

#include "child_fixture.h"
#include "unit.h"

#include "base/log.h"
#include "store/keys.h"
#include "store/lmdb/env.h"
#include "store_options.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIXTURE_LOG_MAX 4096

/* Rows of one scope must never show in another: every store test interleaves these. */
static const pay_scope_t fixture_scopes[] = {{1, PAY_TEST}, {1, PAY_LIVE}, {2, PAY_TEST}};
#define FIXTURE_SCOPES UNIT_ROWS(fixture_scopes)

static char fixture_log[FIXTURE_LOG_MAX];
static int fixture_lines;
static pay_log_level_t fixture_level;

static inline void fixture_sink(void *baton, pay_log_level_t level, apr_status_t status,
                                const char *text)
{
    size_t len = strlen(fixture_log);

    (void)baton;
    (void)status;
    fixture_level = level;
    fixture_lines += level != PAY_LOG_NOTICE; /* "made a new store" comes with every first open */
    (void)snprintf(fixture_log + len, sizeof(fixture_log) - len, "%s\n", text);
}

/* Forgets the log and listens from now on. */
static inline void fixture_listen(void)
{
    fixture_log[0] = '\0';
    fixture_lines = 0;
    pay_log_set_sink(fixture_sink, NULL);
}

static inline int fixture_logged(const char *text)
{
    return strstr(fixture_log, text) != NULL;
}

/* 64 MiB, no reserve. */
static inline pay_store_options_t fixture_options(void)
{
    pay_store_options_t options = unit_store_options();

    options.map_bytes = APR_INT64_C(64) << 20;
    options.reserve_bytes = 0;
    options.readers_max = 64;
    return options;
}

static inline pay_store_t *fixture_open_with(const char *dir, const pay_store_options_t *options)
{
    pay_store_t *store;
    const char *url = apr_pstrcat(unit_pool, "lmdb:", dir, NULL);

    ck_assert_int_eq(pay_store_open(&store, url, options, unit_pool), APR_SUCCESS);
    return store;
}

static inline pay_store_t *fixture_open(const char *dir)
{
    const pay_store_options_t options = fixture_options();

    return fixture_open_with(dir, &options);
}

/* A store with the accounts "one" and "two", whose numbers the scopes hold. */
static inline pay_store_t *fixture_shop(const char *dir)
{
    static const char *const names[] = {"one", "two"};
    pay_store_t *store = fixture_open(dir);
    pay_account_t *account;
    int i;

    for (i = 0; i < UNIT_ROWS(names); i++) {
        ck_assert_int_eq(pay_store_account_create(&account, store, names[i],
                                                  &pay_account_settings_builtin, unit_pool),
                         APR_SUCCESS);
        ck_assert_uint_eq(account->number, (unsigned int)i + 1);
    }
    return store;
}

/* Writes a value under a name to the table meta; the name is the baton's. */
typedef struct fixture_row_t {
    pay_table_t table;
    const char *key;
    size_t key_len; /* 0: strlen(key) */
    const void *value;
    size_t value_len;
} fixture_row_t;

static inline int fixture_put_work(pay_rows_txn_t *txn, void *baton)
{
    const fixture_row_t *row = baton;
    pay_bytes_t key = {row->key_len ? row->key_len : strlen(row->key), row->key};
    pay_bytes_t val = {row->value_len, row->value};

    return pay_rows_put(txn, row->table, &key, &val, 0);
}

static inline apr_status_t fixture_put(pay_store_t *store, fixture_row_t row)
{
    return pay_rows_commit(store, pay_turn_all(), 0, fixture_put_work, &row);
}

/* Returns 1 if the table meta has the name. */
static inline int fixture_has(pay_store_t *store, const char *name)
{
    pay_store_t *db = store;
    pay_bytes_t key = {strlen(name), name};
    pay_bytes_t val;
    pay_rows_txn_t txn;
    int rc;

    ck_assert_int_eq(pay_rows_begin(&txn, db), APR_SUCCESS);
    rc = pay_rows_get(&val, &txn, PAY_TABLE_META, &key);
    pay_rows_end(&txn);
    return rc == 0;
}

static inline apr_status_t fixture_put_meta(pay_store_t *store, const char *name)
{
    return fixture_put(store, (fixture_row_t){PAY_TABLE_META, name, 0, "x", 1});
}

#endif
