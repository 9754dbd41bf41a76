/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/mark.h"

#include "marked.h"

#include "store/lmdb/backoff.h"

#define WORDS "the store is damaged\n"
#define WORDS_CODE 7
#define CHAINED_CODE 42
#define STAYED 99 /* a process that should have died lives */

/*
 * Ways in which a process dies; each is called with the store open, by the process that is to die.
 */
typedef void (*death_t)(pay_store_t *store);

static const char *store_dir;

static pay_rows_txn_t *enter(pay_store_t *store)
{
    static pay_rows_txn_t txns[2];
    static int count;
    pay_rows_txn_t *txn = &txns[count++];

    if (pay_rows_begin(txn, store) != APR_SUCCESS) {
        _exit(STAYED);
    }
    return txn;
}

static void wild(void)
{
    const volatile char *nowhere =
        mmap(NULL, MARKED_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)*nowhere;
}

static void read_past_the_end(pay_store_t *store)
{
    pay_account_t *account;

    marked_truncate(store_dir, 2 * MARKED_PAGE);
    (void)pay_store_account_get(&account, store, "one", unit_pool);
}

static void open_past_the_end(pay_store_t *store)
{
    (void)pay_lmdb_handle_close(store);
    marked_truncate(store_dir, 2 * MARKED_PAGE);
    (void)pay_store_ready(NULL, marked_open(store_dir), unit_pool);
}

static void write_past_the_end(pay_store_t *store)
{
    marked_truncate(store_dir, 0);
    (void)fixture_put_meta(store, "a");
}

static void wild_inside(pay_store_t *store)
{
    (void)enter(store);
    wild();
}

static void abort_inside(pay_store_t *store)
{
    (void)enter(store);
    abort();
}

static void abort_nested(pay_store_t *store)
{
    (void)enter(store);
    pay_rows_end(enter(store));
    abort();
}

static void killed_inside(pay_store_t *store)
{
    (void)enter(store);
    (void)kill(getpid(), SIGBUS);
}

static void wild_before(pay_store_t *store)
{
    (void)store;
    wild();
}

static void abort_after(pay_store_t *store)
{
    pay_rows_end(enter(store));
    abort();
}

static const struct {
    const char *name;
    death_t die;
    int signal;
    int set;
} death_rows[] = {
    {"a page past the end of the file", read_past_the_end, SIGBUS, 1},
    {"the same while it is opened", open_past_the_end, SIGBUS, 1},
    {"the same in a write", write_past_the_end, SIGBUS, 1},
    {"a wild pointer", wild_inside, SIGSEGV, 1},
    {"an assertion", abort_inside, SIGABRT, 1},
    {"an assertion after a use within the use", abort_nested, SIGABRT, 1},
    {"a signal that somebody sent", killed_inside, SIGBUS, 0},
    {"a wild pointer elsewhere", wild_before, SIGSEGV, 0},
    {"an assertion elsewhere", abort_after, SIGABRT, 0},
};

static int row;

static int die(const char *dir, int ready_fd)
{
    pay_store_t *store;

    (void)ready_fd;
    marked_signals_default();
    pay_store_deaths_watch(NULL, 0, unit_pool);
    store = marked_open(dir);
    if (pay_store_ready(NULL, store, unit_pool) != APR_SUCCESS) {
        return STAYED;
    }
    death_rows[row].die(store);
    return STAYED;
}

/* A store that this process has no longer open. */
static const char *closed_store(void)
{
    const char *dir = unit_dir();

    ck_assert_int_eq(pay_lmdb_handle_close(fixture_shop(dir)), APR_SUCCESS);
    store_dir = dir;
    return dir;
}

START_TEST(test_deaths_are_noted)
{
    int code;

    marked_make();
    row = _i;
    code = fixture_wait(fixture_fork(die, closed_store()));
    ck_assert_msg(code == MARKED_BY_SIGNAL + death_rows[_i].signal, "%s: %d", death_rows[_i].name,
                  code);
    ck_assert_msg(pay_store_mark_is_set(marked) == death_rows[_i].set, "%s", death_rows[_i].name);
}
END_TEST

static void chained(int number)
{
    _exit(number == SIGBUS ? CHAINED_CODE : STAYED);
}

static int die_chained(const char *dir, int ready_fd)
{
    pay_store_t *store;

    (void)ready_fd;
    (void)signal(SIGBUS, chained);
    pay_store_deaths_watch(NULL, 0, unit_pool);
    store = marked_open(dir);
    (void)pay_store_ready(NULL, store, unit_pool);
    read_past_the_end(store);
    return STAYED;
}

START_TEST(test_who_handled_the_signal_before_still_does)
{
    marked_make();
    ck_assert_int_eq(fixture_wait(fixture_fork(die_chained, closed_store())), CHAINED_CODE);
    ck_assert_int_eq(pay_store_mark_is_set(marked), 1);
}
END_TEST

static int die_with_words(const char *dir, int ready_fd)
{
    pay_store_t *store;

    (void)dup2(ready_fd, STDERR_FILENO);
    pay_store_deaths_watch(WORDS, WORDS_CODE, unit_pool);
    store = marked_open(dir);
    (void)pay_store_ready(NULL, store, unit_pool);
    read_past_the_end(store);
    return STAYED;
}

START_TEST(test_last_words)
{
    const char *dir = closed_store();
    char said[sizeof(WORDS)] = "";
    int fds[2];
    pid_t pid;

    marked_make();
    ck_assert_int_eq(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        _exit(die_with_words(dir, fds[1]));
    }
    ck_assert_int_eq(fixture_wait(pid), WORDS_CODE);
    ck_assert_int_eq(read(fds[0], said, sizeof(said) - 1), (ssize_t)strlen(WORDS));
    ck_assert_str_eq(said, WORDS);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

static int is_former_action(int number)
{
    struct sigaction action;

    ck_assert_int_eq(sigaction(number, NULL, &action), 0);
    return action.sa_handler == chained;
}

START_TEST(test_watching_ends_with_its_pool)
{
    apr_pool_t *pool;

    (void)signal(SIGBUS, chained);
    apr_pool_create(&pool, unit_pool);
    pay_store_deaths_watch(NULL, 0, pool);
    ck_assert(!is_former_action(SIGBUS));
    apr_pool_destroy(pool);
    ck_assert(is_former_action(SIGBUS));
}
END_TEST

START_TEST(test_marked_store_is_left_alone)
{
    const char *dir = closed_store();
    pay_store_t *store;
    pay_lmdb_env_t *env;
    const char *reason;
    int i;

    marked_make();
    store = marked_open(dir);
    ck_assert_int_eq(fixture_put_meta(store, "before"), APR_SUCCESS);
    env = store->env;
    marked_set(dir);
    fixture_listen();
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(pay_store_probe(store), PAY_STORE_EDOWN);
        ck_assert_int_eq(fixture_put_meta(store, "a"), PAY_STORE_EDOWN);
        ck_assert_int_eq(pay_store_housekeep(store, unit_pool), PAY_STORE_EDOWN);
    }
    ck_assert_int_eq(env->state, PAY_LMDB_CLOSED);
    ck_assert_int_eq(fixture_lines, 1);
    ck_assert(fixture_logged("PAY00650") && fixture_logged(dir) && fixture_logged("store check"));
    ck_assert_int_eq(pay_store_ready(&reason, store, unit_pool), PAY_STORE_EDOWN);
    ck_assert_ptr_nonnull(strstr(reason, "damaged"));

    pay_store_mark_clear(marked);
    ck_assert_int_eq(pay_store_probe(store), APR_SUCCESS);
    ck_assert(fixture_has(store, "before") && !fixture_has(store, "a"));
    ck_assert_int_eq(fixture_lines, 1);
}
END_TEST

START_TEST(test_what_was_open_before_is_opened_anew)
{
    const char *dir = closed_store();
    pay_store_t *store;
    pay_lmdb_env_t *env;
    unsigned int word;

    marked_make();
    store = marked_open(dir);
    ck_assert_int_eq(pay_store_probe(store), APR_SUCCESS);
    env = store->env;
    word = env->mark_word;
    marked_set(dir);
    pay_store_mark_clear(marked); /* before this process has seen it */
    ck_assert_int_eq(pay_lmdb_env_is_stale(env), 1);
    ck_assert_int_eq(pay_store_probe(store), APR_SUCCESS);
    ck_assert_uint_eq(env->mark_word, word + 2);
}
END_TEST

START_TEST(test_use_that_is_under_way_ends_first)
{
    const char *dir = closed_store();
    pay_store_t *store;
    pay_lmdb_env_t *env;
    pay_rows_txn_t txn;

    marked_make();
    store = marked_open(dir);
    ck_assert_int_eq(pay_rows_begin(&txn, store), APR_SUCCESS);
    env = store->env;
    marked_set(dir);
    ck_assert_int_eq(pay_store_probe(store), PAY_STORE_EDOWN);
    ck_assert_int_eq(env->state, PAY_LMDB_DOWN);
    pay_rows_end(&txn);
    ck_assert_int_eq(env->state, PAY_LMDB_CLOSED);
}
END_TEST

START_TEST(test_another_handle_of_the_directory_is_refused_too)
{
    const char *dir = closed_store();
    pay_store_t *store, *other;

    marked_make();
    other = fixture_open(dir); /* without a mark */
    store = marked_open(dir);
    ck_assert_int_eq(pay_store_probe(store), APR_SUCCESS);
    ck_assert_int_eq(pay_store_probe(other), APR_SUCCESS);
    marked_set(dir);
    ck_assert_int_eq(pay_store_probe(other), PAY_STORE_EDOWN);
    ck_assert_int_eq(pay_store_probe(store), PAY_STORE_EDOWN);
}
END_TEST

START_TEST(test_pause_before_the_first_check)
{
    const char *dir = closed_store();
    int i, tries = 0;

    marked_make();
    marked_set(dir);
    ck_assert_int_eq(pay_store_mark_pause(marked), PAY_LMDB_BACKOFF_MIN_MS);
    ck_assert_int_eq(pay_store_mark_pause(marked), PAY_LMDB_BACKOFF_MIN_MS); /* another inspector */
    for (i = 0; i < 10; i++) { /* damaged again as soon as it was restored */
        pay_store_mark_clear(marked);
        marked_set(dir);
        tries += pay_store_mark_pause(marked) == PAY_LMDB_BACKOFF_MAX_MS;
    }
    ck_assert_int_eq(tries, 5);
}
END_TEST

START_TEST(test_no_mark)
{
    ck_assert_int_eq(pay_store_mark_is_set(NULL), 0);
    fixture_listen();
    pay_store_mark_log(NULL, "lmdb:/nowhere");
    ck_assert_int_eq(fixture_lines, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_deaths_are_noted, 0, UNIT_ROWS(death_rows));
    tcase_add_test(tcase, test_who_handled_the_signal_before_still_does);
    tcase_add_test(tcase, test_last_words);
    tcase_add_test(tcase, test_watching_ends_with_its_pool);
    tcase_add_test(tcase, test_marked_store_is_left_alone);
    tcase_add_test(tcase, test_what_was_open_before_is_opened_anew);
    tcase_add_test(tcase, test_use_that_is_under_way_ends_first);
    tcase_add_test(tcase, test_another_handle_of_the_directory_is_refused_too);
    tcase_add_test(tcase, test_pause_before_the_first_check);
    tcase_add_test(tcase, test_no_mark);
}

UNIT_PROGRAM(add)
