/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "base/text/time.h"
#include "store/payment/charge.h"
#include "store/record/epoch.h"
#include "store/record/scope.h"
#include "store/row.h"

#include <apr_file_io.h>
#include <sys/stat.h>

#define YEAR APR_INT64_C(31536000)
#define STEP apr_time_from_sec(600)
#define ZERO apr_time_from_sec(APR_INT64_C(1767225600)) /* 2026-01-01 */
#define NOW (ZERO + 1000 * STEP)

static apr_time_t clock_now;
static const char *base; /* the stores' directories are in it */

static apr_time_t clock_read(void)
{
    return clock_now;
}

static void clock_set(apr_time_t when)
{
    clock_now = when;
    pay_time_set_source(clock_read);
}

static pay_epoch_t epoch_of(pay_store_t *store)
{
    pay_epoch_t epoch;

    ck_assert_int_eq(pay_store_epoch_find(&epoch, store), APR_SUCCESS);
    return epoch;
}

static const char *path_in(const char *dir, const char *name)
{
    return apr_pstrcat(unit_pool, dir, "/", name, NULL);
}

static void store_close(pay_store_t *store)
{
    ck_assert_int_eq(pay_lmdb_handle_close(store), APR_SUCCESS);
}

/* A store with an account in Live Mode, closed. */
static const char *store_make(void)
{
    const char *dir = path_in(base = unit_dir(), "store");
    const pay_account_settings_t same = {0};
    const pay_mode_t live = PAY_LIVE;
    pay_account_t *account;
    pay_store_t *store;

    clock_set(NOW);
    store = fixture_open(dir);
    ck_assert_int_eq(
        pay_store_account_create(&account, store, "demo", &pay_account_settings_builtin, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(pay_store_account_set(&account, store, "demo", &same, &live, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(epoch_of(store).number, 0);
    ck_assert_int_eq(epoch_of(store).held, 0);
    store_close(store);
    return dir;
}

/* data.mdb of one in the directory of another, which is made if it is missing; into the existing
 * file, if `over`. */
static const char *copy(const char *from, const char *to, int over)
{
    const char *file = path_in(to, "data.mdb"), *fresh = path_in(to, "fresh");

    (void)mkdir(to, 0700);
    ck_assert_int_eq(apr_file_copy(path_in(from, "data.mdb"), over ? file : fresh,
                                   APR_FPROT_FILE_SOURCE_PERMS, unit_pool),
                     APR_SUCCESS);
    ck_assert(over || rename(fresh, file) == 0);
    return to;
}

static const char *backup(const char *dir)
{
    const char *to = path_in(base, "backup");
    pay_store_t *store = fixture_open(dir);

    ck_assert_int_eq(pay_store_backup(store, to, unit_pool), APR_SUCCESS);
    ck_assert_int_ne(access(path_in(to, "lock.mdb"), F_OK), 0);
    ck_assert_int_eq(epoch_of(store).held, 0); /* the store itself is not one */
    store_close(store);
    return to;
}

typedef enum way_t { REOPENED, RENAMED, COPIED, REPLACED, BACKUP, BACKUP_OVER, OVERWRITTEN } way_t;

static const struct {
    const char *name;
    way_t way;
    int put_back;
    int copied_at; /* it is known */
} ways[] = {
    {"opened again", REOPENED, 0, 0},
    {"its directory got another name", RENAMED, 0, 0},
    {"a copy beside it", COPIED, 1, 0},
    {"a copy in place of the file", REPLACED, 1, 0},
    {"a backup", BACKUP, 1, 1},
    {"a backup's bytes in the same file", BACKUP_OVER, 1, 1},
    {"a copy's bytes in the same file, which nothing tells apart", OVERWRITTEN, 0, 0},
};

static const char *bring(const char *dir, way_t way)
{
    const char *beside = path_in(base, "beside");

    switch (way) {
    case REOPENED:
        return dir;
    case RENAMED:
        ck_assert_int_eq(rename(dir, beside), 0);
        return beside;
    case COPIED:
        return copy(dir, beside, 0);
    case REPLACED:
        return copy(copy(dir, beside, 0), dir, 0);
    case BACKUP:
        return backup(dir);
    case BACKUP_OVER:
        return copy(backup(dir), dir, 1);
    case OVERWRITTEN:
        return copy(copy(dir, beside, 0), dir, 1);
    }
    return NULL;
}

START_TEST(test_ways)
{
    const char *name = ways[_i].name, *dir;
    pay_store_options_t looking = fixture_options();
    const pay_account_t *unsynced;
    pay_epoch_t epoch;
    pay_store_t *store;
    int was_held;

    dir = bring(store_make(), ways[_i].way);
    clock_set(NOW + STEP);
    looking.read_only = 1;
    fixture_listen();
    store = fixture_open_with(dir, &looking);
    ck_assert_msg(epoch_of(store).held == ways[_i].put_back, "%s: seen, and left", name);
    ck_assert_msg(epoch_of(store).number == 0, "%s", name);
    store_close(store);
    ck_assert_msg(!fixture_logged("PAY00700"), "%s", name);

    store = fixture_open(dir);
    epoch = epoch_of(store);
    ck_assert_msg(epoch.held == ways[_i].put_back, "%s: %d", name, epoch.held);
    ck_assert_msg(epoch.number == (ways[_i].put_back ? 1001u : 0u), "%s: %u", name, epoch.number);
    ck_assert_msg(epoch.copied_at == (ways[_i].copied_at ? NOW : 0), "%s", name);
    ck_assert_msg(fixture_logged("PAY00700") == ways[_i].put_back, "%s", name);
    store_close(store);

    fixture_listen();
    store = fixture_open(dir);
    ck_assert_msg(epoch_of(store).number == epoch.number, "%s: once", name);
    ck_assert_int_eq(pay_store_epoch_confirm(&was_held, &unsynced, store, 1, unit_pool),
                     APR_SUCCESS);
    ck_assert_msg(was_held == ways[_i].put_back && !unsynced, "%s", name);
    ck_assert_int_eq(epoch_of(store).held, 0);
    store_close(store);
    ck_assert_msg(!fixture_logged("PAY00700"), "%s", name);
}
END_TEST

static const struct {
    const char *name;
    apr_time_t first, second; /* if the same backup is restored */
    apr_uint32_t want_first, want_second;
} clocks[] = {
    {"an hour apart", NOW, NOW + 6 * STEP, 1000, 1006},
    {"a clock before 2026", ZERO - STEP, NOW, 1, 1000},
    {"a clock that is far ahead", ZERO + apr_time_from_sec(40 * YEAR), NOW, 1, 1000},
};

/* Neither history knows of the other. */
START_TEST(test_numbers)
{
    const char *from = backup(store_make());
    pay_store_t *store;

    clock_set(clocks[_i].first);
    store = fixture_open(copy(from, path_in(base, "first"), 0));
    ck_assert_msg(epoch_of(store).number == clocks[_i].want_first, "%s", clocks[_i].name);
    store_close(store);
    clock_set(clocks[_i].second);
    store = fixture_open(copy(from, path_in(base, "second"), 0));
    ck_assert_msg(epoch_of(store).number == clocks[_i].want_second, "%s", clocks[_i].name);
    store_close(store);
    clock_set(ZERO - STEP); /* a copy of that one, and a clock that went back */
    store = fixture_open(copy(path_in(base, "second"), path_in(base, "third"), 0));
    ck_assert_int_eq(epoch_of(store).number, clocks[_i].want_second + 1);
    store_close(store);
}
END_TEST

START_TEST(test_sequences)
{
    static const struct {
        const char *name;
        apr_uint32_t number, last, want;
    } rows[] = {
        {"never put back", 0, 0, 1},
        {"the next", 0, 7, 8},
        {"put back", 1, 7, 4097},
        {"and on", 1, 4097, 4098},
        {"more than have room", 1, 9000, 9001},
        {"the last number", (1u << 20) - 1, 5, 0xfffff001u},
    };
    pay_store_t *store = fixture_open(store_make());
    const pay_epoch_t epoch = epoch_of(store);
    apr_uint32_t sequence;
    pay_epoch_t other;
    pay_rows_txn_t txn;
    MDB_txn *native;
    size_t i;

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        ck_assert_int_eq(mdb_txn_begin(store->env->mdb, NULL, 0, &native), 0);
        txn.native = native;
        other = epoch;
        other.number = rows[i].number;
        ck_assert_int_eq(pay_store_epoch_store(&txn, &other), 0);
        ck_assert_int_eq(pay_store_epoch_sequence(&sequence, &txn, rows[i].last), 0);
        ck_assert_msg(sequence == rows[i].want, "%s: %u", rows[i].name, sequence);
        mdb_txn_abort(native);
    }
    store_close(store);
}
END_TEST

static void fault_note(void *baton, const char *text)
{
    *(const char **)baton = apr_pstrdup(unit_pool, text);
}

/* store check reports it; opened for writing, the store counts as restored. */
START_TEST(test_bad_row)
{
    const char *dir = store_make(), *fault = "";
    pay_store_t *store = fixture_open(dir);
    apr_size_t faults;

    ck_assert_int_eq(pay_store_check(&faults, store, fault_note, &fault, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(faults, 0);
    ck_assert_int_eq(
        fixture_put(store, (fixture_row_t){PAY_TABLE_META, "epoch", 0, "\1\2garbage", 9}),
        APR_SUCCESS);
    ck_assert_int_eq(pay_store_check(&faults, store, fault_note, &fault, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(faults, 1);
    ck_assert_msg(strstr(fault, "epoch does not decode") != NULL, "%s", fault);
    store_close(store);
    fixture_listen();
    store = fixture_open(dir);
    ck_assert_int_eq(epoch_of(store).held, 1);
    ck_assert(fixture_logged("PAY00700"));
    ck_assert_int_eq(pay_store_check(&faults, store, fault_note, &fault, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(faults, 0);
    store_close(store);
}
END_TEST

/* A store from before there were epochs is not a restored one; its backup is. */
START_TEST(test_older_store)
{
    const char *dir = store_make();
    pay_store_t *store = fixture_open(dir);
    pay_bytes_t key = {5, "epoch"};
    pay_rows_txn_t txn;
    MDB_txn *native;

    ck_assert_int_eq(epoch_of(store).held, 0);
    ck_assert_int_eq(mdb_txn_begin(store->env->mdb, NULL, 0, &native), 0);
    txn.native = native;
    ck_assert_int_eq(pay_rows_del(&txn, PAY_TABLE_META, &key), 0);
    ck_assert_int_eq(mdb_txn_commit(native), 0);
    ck_assert_int_eq(pay_store_backup(store, path_in(base, "early"), unit_pool), APR_SUCCESS);
    store_close(store);
    store = fixture_open(path_in(base, "early"));
    ck_assert_int_eq(epoch_of(store).held, 1);
    store_close(store);
    fixture_listen();
    store = fixture_open(dir);
    ck_assert_int_eq(epoch_of(store).held, 0);
    ck_assert_uint_ne(epoch_of(store).inode, 0);
    ck_assert(!fixture_logged("PAY00700"));
    store_close(store);
}
END_TEST

/* The scope of the only account, and its newest charge, as far as the search goes. */
typedef struct charged_t {
    pay_mode_t mode;
    apr_time_t at;
} charged_t;

static int charged_work(pay_rows_txn_t *txn, void *baton)
{
    const charged_t *charged = baton;
    const pay_scope_t scope = {1, charged->mode};
    const pay_store_scope_t row = {.charge_seq = 1, .created_at = charged->at};
    pay_store_key_t key;
    pay_bytes_t at, mark = {4, "mark"};
    int rc;

    pay_store_charge_time_key(&key, &scope, charged->at, 1);
    at = pay_store_key_val(&key);
    rc = pay_rows_put(txn, PAY_TABLE_CHARGE_BY_TIME, &at, &mark, 0);
    return rc ? rc : pay_store_scope_put(txn, &scope, &row, unit_pool);
}

static void charge(const char *dir, pay_mode_t mode, apr_time_t at)
{
    charged_t charged = {mode, at};
    pay_store_t *store = fixture_open(dir);

    ck_assert_int_eq(pay_rows_commit(store, pay_turn_all(), 0, charged_work, &charged),
                     APR_SUCCESS);
    store_close(store);
}

static const struct {
    const char *name;
    apr_time_t from, to; /* days around the restore */
    int finished;
    int synced;
    int unknown; /* when the copy was made; its newest charge was made then */
} ranges[] = {
    {"from before the copy until now", -3, 1, 1, 1, 0},
    {"asked for, and not done", -3, 1, 0, 0, 0},
    {"from after the copy", -1, 1, 1, 0, 0},
    {"ends before now", -3, -1, 1, 0, 0},
    {"not known: from before its newest charge", -3, 1, 1, 1, 1},
    {"not known: from after it", -1, 1, 1, 0, 1},
};

/* The copy is two days older. Only a later request that covers all of it counts. */
START_TEST(test_synced)
{
    const apr_time_t day = apr_time_from_sec(86400), later = NOW + 2 * day;
    const char *name = ranges[_i].name, *dir;
    const pay_account_t *unsynced;
    pay_account_t *account;
    pay_history_t *history;
    pay_scope_t scope;
    pay_store_t *store;
    int was_held, wanted, synced;
    apr_time_t from;

    dir = store_make();
    if (ranges[_i].unknown) {
        charge(dir, PAY_LIVE, NOW);
        charge(dir, PAY_TEST, NOW + 3 * day); /* the clock was ahead */
        dir = copy(dir, path_in(base, "beside"), 0);
    } else {
        dir = backup(dir);
    }
    clock_set(later);
    store = fixture_open(dir);
    ck_assert_int_eq(pay_store_account_get(&account, store, "demo", unit_pool), APR_SUCCESS);
    scope = (pay_scope_t){account->number, PAY_LIVE};
    ck_assert_int_eq(pay_store_history_ask(&history, store, &scope, later + ranges[_i].from * day,
                                           later + ranges[_i].to * day, unit_pool),
                     APR_SUCCESS);
    ck_assert_msg(history->to == later + (ranges[_i].to < 0 ? ranges[_i].to * day : 0), "%s", name);
    if (ranges[_i].finished) { /* as the server does at the end */
        history->answered = history->asked;
        history->synced_epoch = history->asked_epoch;
        ck_assert_int_eq(pay_store_history_put(store, history, unit_pool), APR_SUCCESS);
    }
    ck_assert_int_eq(pay_store_epoch_synced(&wanted, &synced, &from, store, account, unit_pool),
                     APR_SUCCESS);
    ck_assert_msg(wanted && synced == ranges[_i].synced, "%s", name);
    ck_assert(from == NOW);
    ck_assert_int_eq(pay_store_epoch_confirm(&was_held, &unsynced, store, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(was_held, 1);
    ck_assert_msg((unsynced == NULL) == ranges[_i].synced, "%s", name);
    ck_assert_msg(epoch_of(store).held != ranges[_i].synced, "%s", name);
    store_close(store);
    /* A store that was restored again has not been fetched since. */
    clock_set(later + day);
    store = fixture_open(copy(dir, path_in(base, "again"), 0));
    ck_assert_int_eq(pay_store_epoch_synced(&wanted, &synced, &from, store, account, unit_pool),
                     APR_SUCCESS);
    ck_assert_msg(wanted && !synced, "%s", name);
    store_close(store);
}
END_TEST

static const struct {
    const char *name;
    pay_mode_t mode;    /* of the account, when the store is confirmed */
    pay_mode_t charged; /* the mode of its only charge; PAY_MODE_COUNT: it has none */
    int wanted;
} accounts[] = {
    {"Live Mode, nothing charged", PAY_LIVE, PAY_MODE_COUNT, 1},
    {"Test Mode, nothing charged", PAY_TEST, PAY_MODE_COUNT, 0},
    {"Test Mode, charged in it", PAY_TEST, PAY_TEST, 0},
    {"Test Mode, charged in Live Mode", PAY_TEST, PAY_LIVE, 1},
};

/* An account that left Live Mode while the store was held may come back to it. */
START_TEST(test_wanted)
{
    const pay_account_settings_t same = {0};
    const char *dir = store_make();
    const pay_account_t *unsynced;
    pay_account_t *account;
    pay_store_t *store;
    int was_held;

    if (accounts[_i].charged != PAY_MODE_COUNT) {
        charge(dir, accounts[_i].charged, NOW);
    }
    store = fixture_open(backup(dir));
    ck_assert_int_eq(
        pay_store_account_set(&account, store, "demo", &same, &accounts[_i].mode, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(pay_store_epoch_confirm(&was_held, &unsynced, store, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(was_held, 1);
    ck_assert_msg((unsynced != NULL) == accounts[_i].wanted, "%s", accounts[_i].name);
    store_close(store);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_ways, 0, UNIT_ROWS(ways));
    tcase_add_loop_test(tcase, test_numbers, 0, UNIT_ROWS(clocks));
    tcase_add_test(tcase, test_sequences);
    tcase_add_test(tcase, test_bad_row);
    tcase_add_test(tcase, test_older_store);
    tcase_add_loop_test(tcase, test_synced, 0, UNIT_ROWS(ranges));
    tcase_add_loop_test(tcase, test_wanted, 0, UNIT_ROWS(accounts));
}

UNIT_PROGRAM(add)
