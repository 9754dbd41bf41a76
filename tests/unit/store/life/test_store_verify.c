/* SPDX-License-Identifier: Apache-2.0 */
#include "marked.h"

#include <sys/stat.h>

static apr_status_t verify(const char **reason, const char *dir)
{
    pay_store_options_t options = fixture_options();

    options.mark = marked;
    return pay_store_verify(reason, apr_pstrcat(unit_pool, "lmdb:", dir, NULL), &options,
                            unit_pool);
}

static void close_store(pay_store_t *store)
{
    ck_assert_int_eq(pay_lmdb_handle_close(store), APR_SUCCESS);
}

/* A page of data.mdb, read or written. */
static void copy_data(char page[MARKED_PAGE], size_t at, const char *dir, int in)
{
    const char *path = apr_pstrcat(unit_pool, dir, "/data.mdb", NULL);
    int fd = open(path, O_RDWR);
    ssize_t done;

    ck_assert_int_ge(fd, 0);
    done = in ? pwrite(fd, page, MARKED_PAGE, (off_t)at) : pread(fd, page, MARKED_PAGE, (off_t)at);
    ck_assert_int_eq(done, MARKED_PAGE);
    close(fd);
}

static size_t data_size(const char *dir)
{
    struct stat info;

    ck_assert_int_eq(stat(apr_pstrcat(unit_pool, dir, "/data.mdb", NULL), &info), 0);
    return (size_t)info.st_size;
}

START_TEST(test_sound_store_passes_whatever_its_mark_says)
{
    const char *dir = unit_dir();
    const char *reason;

    marked_make();
    close_store(fixture_shop(dir));
    marked_set(dir);
    ck_assert_int_eq(verify(&reason, dir), APR_SUCCESS);
    ck_assert_int_eq(pay_store_mark_is_set(marked), 1); /* its caller clears it */
}
END_TEST

static int verify_apart(const char *dir, int ready_fd)
{
    const char *reason;

    (void)ready_fd;
    marked_signals_default();
    (void)alarm(20); /* a damaged tree may have no end */
    return verify(&reason, dir) == APR_SUCCESS ? 0 : 1;
}

#define BRANCH_FLAG 1 /* of LMDB's page header, whose fields lie as follows */
#define FLAGS_AT 10
#define END_AT 12
#define OFFSETS_AT 16
#define FAR_PAGE 16000 /* within the map, past the end of the file */

static unsigned int number_at(const char *page, size_t at)
{
    return (unsigned char)page[at] | (unsigned int)(unsigned char)page[at + 1] << 8;
}

/* How many of the pages that this one leads to the check misses if they are not there. */
static size_t links_that_matter(size_t at, const char *dir)
{
    char page[MARKED_PAGE], bad[MARKED_PAGE];
    const char far_page[6] = {(char)(FAR_PAGE & 0xff), (char)(FAR_PAGE >> 8)};
    size_t offset, count = 0;

    copy_data(page, at, dir, 0);
    if (number_at(page, FLAGS_AT) != BRANCH_FLAG) {
        return 0;
    }
    for (offset = OFFSETS_AT; offset < number_at(page, END_AT); offset += 2) {
        memcpy(bad, page, sizeof(bad));
        memcpy(bad + number_at(page, offset), far_page, sizeof(far_page));
        copy_data(bad, at, dir, 1);
        count += fixture_wait(fixture_fork(verify_apart, dir)) != 0;
    }
    copy_data(page, at, dir, 1);
    return count;
}

static size_t leaf_pages(pay_store_t *store, pay_table_t table)
{
    MDB_stat stat;
    pay_rows_txn_t txn;

    ck_assert_int_eq(pay_rows_begin(&txn, store), APR_SUCCESS);
    ck_assert_int_eq(mdb_stat(txn.native, pay_lmdb_dbi(table), &stat), 0);
    pay_rows_end(&txn);
    return stat.ms_leaf_pages;
}

/* Also of a table of which the check of rows reads nothing. */
START_TEST(test_every_page_is_read)
{
    const char *dir = unit_dir();
    pay_store_t *store = fixture_shop(dir);
    size_t at, leaves, count = 0;
    int i;

    marked_make();
    for (i = 0; i < 100; i++) {
        ck_assert_int_eq(fixture_put_meta(store, apr_psprintf(unit_pool, "name %0200d", i)),
                         APR_SUCCESS);
    }
    leaves = leaf_pages(store, PAY_TABLE_META);
    ck_assert_uint_gt(leaves, 5);
    close_store(store);
    for (at = 2 * MARKED_PAGE; at < data_size(dir); at += MARKED_PAGE) {
        count +=
            links_that_matter(at, dir); /* of the branch page in use; its old copies lead nowhere */
    }
    ck_assert_uint_ge(count, leaves);
    ck_assert_int_eq(fixture_wait(fixture_fork(verify_apart, dir)), 0);
}
END_TEST

static const off_t cut_rows[] = {0, MARKED_PAGE, 2 * MARKED_PAGE};

START_TEST(test_cut_store_does_not_pass)
{
    const char *dir = unit_dir();

    marked_make();
    close_store(fixture_shop(dir));
    marked_truncate(dir, cut_rows[_i]);
    ck_assert_int_ne(fixture_wait(fixture_fork(verify_apart, dir)), 0);
}
END_TEST

START_TEST(test_faults_of_rows_do_not_pass)
{
    static const char key[] = {0, 0, 0, 9};
    const char *dir = unit_dir();
    pay_store_t *store = fixture_shop(dir);
    const fixture_row_t bad = {.table = PAY_TABLE_ACCOUNT,
                               .key = key,
                               .key_len = sizeof(key),
                               .value = "no row",
                               .value_len = 6};
    const char *reason;

    marked_make();
    ck_assert_int_eq(fixture_put(store, bad), APR_SUCCESS);
    close_store(store);
    ck_assert_int_eq(verify(&reason, dir), PAY_STORE_ECORRUPT);
    ck_assert_ptr_nonnull(strstr(reason, "fault"));
}
END_TEST

static int hold_open(const char *dir, int ready_fd)
{
    pay_store_t *store = fixture_open(dir);

    if (!fixture_has(store, "first")) {
        return 1;
    }
    (void)!write(ready_fd, "", 1);
    pause();
    return 0;
}

/*
 * LMDB would go on from the wrong one of the two newest states, as long as any process has it open.
 */
START_TEST(test_older_data_beside_a_newer_lock_file_does_not_pass)
{
    const char *dir = unit_dir();
    pay_store_t *store = fixture_shop(dir);
    apr_array_header_t *older = apr_array_make(unit_pool, 64, MARKED_PAGE);
    const char *reason;
    size_t at;
    pid_t pid;

    marked_make();
    ck_assert_int_eq(fixture_put_meta(store, "first"), APR_SUCCESS);
    for (at = 0; at < data_size(dir); at += MARKED_PAGE) {
        copy_data(apr_array_push(older), at, dir, 0);
    }
    ck_assert_int_eq(fixture_put_meta(store, "second"), APR_SUCCESS);
    close_store(store);
    pid = fixture_fork(hold_open, dir);
    ck_assert_int_eq(verify(&reason, dir), APR_SUCCESS);
    for (at = 0; at < (size_t)older->nelts; at++) {
        copy_data(older->elts + at * MARKED_PAGE, at * MARKED_PAGE, dir, 1);
    }
    ck_assert_int_eq(verify(&reason, dir), PAY_STORE_EDOWN);
    ck_assert_ptr_nonnull(strstr(reason, "another process"));
    kill(pid, SIGKILL);
    (void)fixture_wait(pid);
    ck_assert_int_eq(verify(&reason, dir), APR_SUCCESS);
}
END_TEST

START_TEST(test_no_store)
{
    const char *reason;

    marked_make();
    ck_assert_int_ne(verify(&reason, unit_dir()), APR_SUCCESS);
    ck_assert_ptr_nonnull(strstr(reason, "holds no store"));
    ck_assert_int_eq(pay_store_verify(&reason, "nothing:/", &pay_store_options_default, unit_pool),
                     APR_EINVAL);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_sound_store_passes_whatever_its_mark_says);
    tcase_add_test(tcase, test_every_page_is_read);
    tcase_add_loop_test(tcase, test_cut_store_does_not_pass, 0, UNIT_ROWS(cut_rows));
    tcase_add_test(tcase, test_faults_of_rows_do_not_pass);
    tcase_add_test(tcase, test_older_data_beside_a_newer_lock_file_does_not_pass);
    tcase_add_test(tcase, test_no_store);
}

UNIT_PROGRAM(add)
