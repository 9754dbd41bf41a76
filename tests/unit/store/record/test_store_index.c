/* SPDX-License-Identifier: Apache-2.0 */

/* The rules by which a record's entries follow its row, on a record of this test's own. */

#include "till.h"

#include "store/record/index.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

/* Each member is the thing's entry in an index; 0: none. */
typedef struct thing_t {
    int own, value; /* of the own entry */
    int unique;
    int first;
    int due, former; /* two places of one entry */
} thing_t;

static int taken;

static int entry_of(pay_store_entry_t *entry, pay_table_t table, int number, int value)
{
    if (number == 0) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = table;
    pay_store_key_start(&entry->key);
    pay_store_key_u32(&entry->key, (apr_uint32_t)number);
    pay_store_entry_number(entry, (apr_uint64_t)value);
    return 0;
}

static int own_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const thing_t *thing = record;

    (void)at;
    return entry_of(entry, PAY_TABLE_HELD, thing->own, thing->value);
}

static int unique_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const thing_t *thing = record;

    (void)at;
    return thing->unique < 0 ? EINVAL
                             : entry_of(entry, PAY_TABLE_CHARGE_REF, thing->unique, thing->value);
}

static int first_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const thing_t *thing = record;

    (void)at;
    return entry_of(entry, PAY_TABLE_ACQUIRER, thing->first, thing->value);
}

static int former_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const thing_t *thing = record;

    (void)at;
    return entry_of(entry, PAY_TABLE_LATE_DUE, thing->former, 0);
}

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const thing_t *thing = record;

    (void)at;
    return entry_of(entry, PAY_TABLE_LATE_DUE, thing->due, 0);
}

static void count_taken(const void *record)
{
    (void)record;
    taken++;
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_HELD}, .entry_of = own_of},
    {.tables = {PAY_TABLE_CHARGE_REF}, .entry_of = unique_of, .rule = PAY_INDEX_UNIQUE},
    {.tables = {PAY_TABLE_ACQUIRER},
     .entry_of = first_of,
     .taken = count_taken,
     .rule = PAY_INDEX_FIRST},
    {.entry_of = former_of, .rule = PAY_INDEX_FORMER},
    {.tables = {PAY_TABLE_LATE_DUE}, .entry_of = due_of},
};
static const pay_store_key_t nowhere; /* the things have no rows */
static const pay_store_record_t thing_record = {.indexes = indexes, .index_count = 5};

typedef struct move_t {
    const thing_t *before, *after;
    int again; /* pay_store_index_put of `after` */
    int rc;
} move_t;

static int move_work(pay_rows_txn_t *txn, void *baton)
{
    move_t *move = baton;

    move->rc = move->again
                   ? pay_store_index_put(txn, &thing_record, &nowhere, move->after)
                   : pay_store_index_move(txn, &thing_record, &nowhere, move->before, move->after);
    return 0;
}

static int move(const thing_t *before, const thing_t *after)
{
    move_t move = {.before = before, .after = after};

    till_raw(move_work, &move);
    return move.rc;
}

/* All entries: letter of the table, number, value. */
static int list_work(pay_rows_txn_t *txn, void *baton)
{
    static const struct {
        char letter;
        pay_table_t table;
    } tables[] = {{'o', PAY_TABLE_HELD},
                  {'u', PAY_TABLE_CHARGE_REF},
                  {'f', PAY_TABLE_ACQUIRER},
                  {'d', PAY_TABLE_LATE_DUE}};
    const char **text = baton;
    MDB_cursor *cursor;
    pay_bytes_t key, val;
    size_t i;
    int rc;

    *text = "";
    for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        ck_assert_int_eq(mdb_cursor_open(txn->native, pay_lmdb_dbi(tables[i].table), &cursor), 0);
        for (rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_FIRST); !rc;
             rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_NEXT)) {
            *text =
                apr_psprintf(unit_pool, "%s%c%d=%d ", *text, tables[i].letter,
                             (int)pay_store_read_u32(key.data), (int)pay_store_read_u64(val.data));
        }
        mdb_cursor_close(cursor);
    }
    return 0;
}

static void check_entries(const char *name, const char *want)
{
    const char *text;

    till_raw(list_work, &text);
    ck_assert_msg(strcmp(text, want) == 0, "%s: %s", name, text);
}

static const struct {
    const char *name;
    thing_t before, after;
    int made, kept;   /* 0: there is nothing before, or after */
    const char *want; /* the entries at the end */
} moves[] = {
    {"a new one",
     {0},
     {.own = 1, .value = 7, .unique = 2, .first = 3, .due = 4},
     0,
     1,
     "o1=7 u2=7 f3=7 d4=0 "},
    {"one without any", {0}, {0}, 0, 1, ""},
    {"nothing moves",
     {.own = 1, .unique = 2, .first = 3, .due = 4},
     {.own = 1, .unique = 2, .first = 3, .due = 4},
     1,
     1,
     "o1=0 u2=0 f3=0 d4=0 "},
    {"all move",
     {.own = 1, .unique = 2, .first = 3, .due = 4},
     {.own = 11, .unique = 12, .first = 13, .due = 14},
     1,
     1,
     "o11=0 u12=0 f13=0 d14=0 "},
    {"an own value changes", {.own = 1}, {.own = 1, .value = 9}, 1, 1, "o1=9 "},
    {"it loses them", {.own = 1, .unique = 2, .first = 3, .due = 4}, {0}, 1, 1, ""},
    {"it gets them",
     {0},
     {.own = 1, .unique = 2, .first = 3, .due = 4},
     1,
     1,
     "o1=0 u2=0 f3=0 d4=0 "},
    {"it is taken out", {.own = 1, .unique = 2, .first = 3, .due = 4}, {0}, 1, 0, ""},
    {"the other place becomes its own",
     {.due = 4, .former = 5},
     {.due = 5, .former = 4},
     1,
     1,
     "d5=0 "},
};

START_TEST(test_moves)
{
    const thing_t *before = moves[_i].made ? &moves[_i].before : NULL;
    const thing_t *after = moves[_i].kept ? &moves[_i].after : NULL;

    if (before) {
        ck_assert_int_eq(move(NULL, before), 0);
    }
    ck_assert_msg(move(before, after) == 0, "%s", moves[_i].name);
    check_entries(moves[_i].name, moves[_i].want);
}
END_TEST

/* A missing entry keeps no row from being written or deleted. */
START_TEST(test_missing)
{
    const thing_t thing = {.own = 1, .unique = 2, .first = 3, .due = 4, .former = 5};
    const thing_t next = {.own = 11, .unique = 12, .first = 13, .due = 14};

    ck_assert_int_eq(move(&thing, _i ? NULL : &next), 0);
    check_entries("missing", _i ? "" : "o11=0 u12=0 f13=0 d14=0 ");
}
END_TEST

START_TEST(test_unique)
{
    const thing_t one = {.unique = 2, .value = 1}, two = {.unique = 2, .value = 2};

    ck_assert_int_eq(move(NULL, &one), 0);
    ck_assert_int_eq(move(NULL, &two), PAY_ROWS_EXISTS);
    check_entries("the first", "u2=1 ");
}
END_TEST

/* The second one goes without, and deletes nothing of the first one's. */
START_TEST(test_first)
{
    const thing_t one = {.first = 3, .value = 1}, two = {.first = 3, .value = 2};

    taken = 0;
    ck_assert_int_eq(move(NULL, &one), 0);
    ck_assert_int_eq(move(NULL, &two), 0);
    ck_assert_int_eq(taken, 1);
    check_entries("both", "f3=1 ");
    ck_assert_int_eq(move(&two, NULL), 0);
    check_entries("the second is gone", "f3=1 ");
    ck_assert_int_eq(move(&one, NULL), 0);
    check_entries("both are gone", "");
}
END_TEST

/* It was left in the other place: it is moved where it belongs, although the thing is unchanged. */
START_TEST(test_former)
{
    const thing_t left = {.due = 5}, thing = {.due = 4, .former = 5}, same = thing;

    ck_assert_int_eq(move(NULL, &left), 0);
    ck_assert_int_eq(move(&thing, &same), 0);
    check_entries("moved", "d4=0 ");
    ck_assert_int_eq(move(NULL, &left), 0);
    ck_assert_int_eq(move(&thing, NULL), 0);
    check_entries("taken out of both", "");
}
END_TEST

START_TEST(test_put)
{
    const thing_t thing = {.own = 1, .unique = 2, .first = 3, .due = 4, .former = 5};
    move_t again = {.after = &thing, .again = 1};

    till_raw(move_work, &again);
    ck_assert_int_eq(again.rc, 0);
    check_entries("what can only be its own", "o1=0 d4=0 ");
}
END_TEST

/* ---- entries by when they are due */

#define TIMED_PREFIX 7

/* Of each: the bytes before its time, its time, and whether its key is a byte too long, or, with no
 * time at all, too short. */
static const struct {
    apr_uint32_t prefix;
    apr_time_t at;
    int longer;
} timed_entries[] = {{TIMED_PREFIX - 1, 25, 0}, {TIMED_PREFIX, -10, 0},   {TIMED_PREFIX, 20, 0},
                     {TIMED_PREFIX, 30, 0},     {TIMED_PREFIX, 30, 1},    {TIMED_PREFIX, 40, 0},
                     {TIMED_PREFIX, 0, -8},     {TIMED_PREFIX + 1, 25, 0}};

static const struct {
    const char *name;
    apr_time_t from, until, beyond; /* beyond 0: pay_store_entries_between */
    int limit, any_length;
    const char *want;
} looks[] = {
    {"all", APR_INT64_MIN, APR_INT64_MAX, 0, 9, 0, "-10 20 30 40 "},
    {"both ends belong to it", 20, 30, 0, 9, 0, "20 30 "},
    {"nothing between", 31, 39, 0, 9, 0, ""},
    {"as many as asked for", APR_INT64_MIN, APR_INT64_MAX, 0, 2, 0, "-10 20 "},
    {"of any length", 20, 30, 0, 9, 1, "20 30 30 "},
    {"due", 0, 20, 41, 9, 0, "-10 20 "},
    {"due, and too far ahead", 0, 20, 40, 9, 0, "-10 20 40 "},
    {"due, no more than asked for", 0, 20, 40, 2, 0, "-10 20 "},
    {"one too far ahead", 0, 20, 30, 3, 0, "-10 20 30 "},
};

typedef struct look_t {
    int row;
    const char *text;
    apr_time_t next[3]; /* from 20, 21 and 41 on */
} look_t;

static void timed_start(pay_store_timed_t *timed, int any_length)
{
    timed->table = PAY_TABLE_LATE_DUE;
    timed->key_len = any_length ? 0 : sizeof(apr_uint32_t) + sizeof(apr_uint64_t);
    pay_store_key_start(&timed->prefix);
    pay_store_key_u32(&timed->prefix, TIMED_PREFIX);
}

static void timed_plant(void)
{
    pay_store_key_t key;
    size_t i;

    for (i = 0; i < UNIT_ROWS(timed_entries); i++) {
        pay_store_key_start(&key);
        pay_store_key_u32(&key, timed_entries[i].prefix);
        pay_store_key_time(&key, timed_entries[i].at);
        key.bytes[key.len] = 0;
        key.len += (size_t)timed_entries[i].longer;
        till_plant(PAY_TABLE_LATE_DUE, &key, "", 0);
    }
}

static int look_work(pay_rows_txn_t *txn, void *baton)
{
    static const apr_time_t from[] = {20, 21, 41};
    look_t *look = baton;
    const int row = look->row;
    apr_array_header_t *list = apr_array_make(unit_pool, 1, sizeof(pay_bytes_t));
    pay_store_timed_t timed;
    const char *at;
    int i;

    timed_start(&timed, 0);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(pay_store_entries_next(&look->next[i], txn, &timed, from[i], unit_pool),
                         0);
    }
    timed_start(&timed, looks[row].any_length);
    ck_assert_int_eq(looks[row].beyond
                         ? pay_store_entries_due(&list, txn, &timed, looks[row].until,
                                                 looks[row].beyond, looks[row].limit, unit_pool)
                         : pay_store_entries_between(list, txn, &timed, looks[row].from,
                                                     looks[row].until, looks[row].limit),
                     0);
    look->text = "";
    for (i = 0; i < list->nelts; i++) {
        at = (const char *)APR_ARRAY_IDX(list, i, pay_bytes_t).data + sizeof(apr_uint32_t);
        look->text = apr_psprintf(unit_pool, "%s%d ", look->text, (int)pay_store_read_time(at));
    }
    return 0;
}

START_TEST(test_looks)
{
    look_t look = {.row = _i};

    timed_plant();
    till_raw(look_work, &look);
    ck_assert_msg(strcmp(look.text, looks[_i].want) == 0, "%s: %s", looks[_i].name, look.text);
    ck_assert(look.next[0] == 20 && look.next[1] == 30 && look.next[2] == 0);
}
END_TEST

static int entry_del_work(pay_rows_txn_t *txn, void *baton)
{
    const pay_store_key_t *key = baton;
    const pay_bytes_t at = pay_store_key_val(key);

    return pay_store_entry_del(txn, PAY_TABLE_LATE_DUE, &at);
}

START_TEST(test_entry_del)
{
    const thing_t thing = {.due = 4};
    pay_store_key_t key;

    ck_assert_int_eq(move(NULL, &thing), 0);
    pay_store_key_start(&key);
    pay_store_key_u32(&key, 4);
    till_raw(entry_del_work, &key);
    check_entries("gone", "");
    till_raw(entry_del_work, &key); /* which is no error */
}
END_TEST

/* A value that cannot be stored is refused; one that was stored anyway can be replaced. */
START_TEST(test_no_entry_can_be_made)
{
    const thing_t odd = {.own = 1, .unique = -1}, thing = {.own = 1, .unique = 2};

    ck_assert_int_eq(move(NULL, &odd), EINVAL);
    ck_assert_int_eq(move(&odd, &thing), 0);
    check_entries("replaced", "o1=0 u2=0 ");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_moves, 0, UNIT_ROWS(moves));
    tcase_add_loop_test(tcase, test_missing, 0, 2);
    tcase_add_test(tcase, test_unique);
    tcase_add_test(tcase, test_first);
    tcase_add_test(tcase, test_former);
    tcase_add_test(tcase, test_put);
    tcase_add_test(tcase, test_no_entry_can_be_made);
    tcase_add_loop_test(tcase, test_looks, 0, UNIT_ROWS(looks));
    tcase_add_test(tcase, test_entry_del);
}

UNIT_PROGRAM(add)
