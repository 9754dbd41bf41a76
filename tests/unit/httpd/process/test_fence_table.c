/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/fence_table.h"

#include "acquirer/relay/relay.h"
#include "httpd/process/acquirers.h"
#include "request.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files that no site may serve: found by device and inode, under any name. */

static const char *dir;

static const char *path_of(const char *name)
{
    return apr_pstrcat(unit_pool, dir, "/", name, NULL);
}

/* The present file, as httpd describes it. */
static pay_fence_file_t file_at(const char *name)
{
    struct stat info;

    ck_assert_msg(lstat(path_of(name), &info) == 0, "%s", name);
    return (pay_fence_file_t){.dev = info.st_dev,
                              .ino = info.st_ino,
                              .uid = info.st_uid,
                              .is_private = (info.st_mode & 077) == 0};
}

static void make(const char *name, mode_t mode)
{
    const int fd = open(path_of(name), O_CREAT | O_WRONLY, mode);

    ck_assert_int_ge(fd, 0);
    (void)close(fd);
}

/* A store in `dir`, its key, the login of its relay, and the secrets of an acquirer. */
static pay_store_host_t *store_host_make(void)
{
    pay_store_host_t *store_host = apr_pcalloc(unit_pool, sizeof(*store_host));
    pay_acquirers_one_t *one = apr_pcalloc(unit_pool, sizeof(*one));
    pay_conf_acquirer_t *said = apr_pcalloc(unit_pool, sizeof(*said));
    server_rec *s = request_server();

    said->given = apr_table_make(unit_pool, 3);
    apr_table_set(said->given, "key", apr_pstrcat(unit_pool, "file:", path_of("relay.key"), NULL));
    apr_table_set(said->given, "ca", apr_pstrcat(unit_pool, "file:", path_of("ca.pem"), NULL));
    one->said = said;
    one->connector = &pay_acquirer_relay;
    store_host->url = apr_pstrcat(unit_pool, "lmdb:", path_of("store"), NULL);
    store_host->key_path = path_of("store.key");
    store_host->hosts = apr_array_make(unit_pool, 1, sizeof(server_rec *));
    APR_ARRAY_PUSH(store_host->hosts, server_rec *) = s;
    store_host->acquirers = apr_array_make(unit_pool, 1, sizeof(pay_acquirers_one_t *));
    APR_ARRAY_PUSH(store_host->acquirers, pay_acquirers_one_t *) = one;
    pay_conf_get(s)->mail_login_file = path_of("mail.login");
    return store_host;
}

static pay_fence_table_t *table_make(void)
{
    apr_array_header_t *store_hosts = apr_array_make(unit_pool, 1, sizeof(pay_store_host_t *));

    APR_ARRAY_PUSH(store_hosts, pay_store_host_t *) = store_host_make();
    return pay_fence_table_make(store_hosts, unit_pool);
}

static void files_make(void)
{
    dir = unit_dir();
    ck_assert_int_eq(mkdir(path_of("store"), 0700), 0);
    make("store/data.mdb", 0600);
    make("store/lock.mdb", 0600);
    make("store.key", 0600);
    make("mail.login", 0600);
    make("relay.key", 0600);
    make("ca.pem", 0644);
    make("page.html", 0644);
    make("private", 0600);
    unit_boot_stop(1000000);
}

static const struct {
    const char *name;
    int want;
} file_rows[] = {
    {"store", 1},     {"store/data.mdb", 1}, {"store/lock.mdb", 1},
    {"store.key", 1}, {"relay.key", 1},      {"mail.login", 1},
    {"ca.pem", 0},    {"page.html", 0},      {"private", 0},
};

START_TEST(test_files)
{
    pay_fence_match_t match;
    pay_fence_table_t *table;
    pay_fence_file_t file;
    int found;

    files_make();
    table = table_make();
    file = file_at(file_rows[_i].name);
    found = pay_fence_table_find(&match, table, &file);
    ck_assert_msg(found == file_rows[_i].want, "%s", file_rows[_i].name);
    if (found) {
        ck_assert_str_eq(match.path, path_of(file_rows[_i].name));
        ck_assert_str_eq(match.url, apr_pstrcat(unit_pool, "lmdb:", path_of("store"), NULL));
        ck_assert_int_eq(match.may_be_said, 1);
        ck_assert_uint_eq(match.unsaid, 0);
    }
}
END_TEST

/*
 * Not by its number alone: the same number on another disk, or with another owner, is another file.
 */
START_TEST(test_what_makes_a_file)
{
    pay_fence_file_t file, other;
    pay_fence_match_t match;
    pay_fence_table_t *table;
    int i;

    files_make();
    table = table_make();
    file = file_at("relay.key");
    file.is_private = 0;
    for (i = 0; i < 6; i++) {
        other = file;
        other.ino += (ino_t)(i == 0) - (ino_t)(i == 1) * 1000000;
        other.dev += (dev_t)(i == 2) - (dev_t)(i == 3);
        other.uid += (uid_t)(i == 4) - (uid_t)(i == 5);
        ck_assert_msg(!pay_fence_table_find(&match, table, &other), "%d", i);
    }
    ck_assert(pay_fence_table_find(&match, table, &file));
}
END_TEST

START_TEST(test_a_line_a_minute)
{
    pay_fence_match_t match;
    pay_fence_table_t *table;
    pay_fence_file_t key, login;

    files_make();
    table = table_make();
    key = file_at("store.key");
    login = file_at("mail.login");
    ck_assert(pay_fence_table_find(&match, table, &key));
    ck_assert_int_eq(match.may_be_said, 1);
    ck_assert(pay_fence_table_find(&match, table, &key));
    ck_assert_int_eq(match.may_be_said, 0);
    unit_boot_pass(PAY_FENCE_SAY_PAUSE_MS - 1);
    ck_assert(pay_fence_table_find(&match, table, &key));
    ck_assert_int_eq(match.may_be_said, 0);
    ck_assert(pay_fence_table_find(&match, table, &login)); /* which was not looked up yet */
    ck_assert_int_eq(match.may_be_said, 1);
    unit_boot_pass(1);
    ck_assert(pay_fence_table_find(&match, table, &key));
    ck_assert_int_eq(match.may_be_said, 1);
    ck_assert_uint_eq(match.unsaid, 2);
    unit_boot_pass(PAY_FENCE_SAY_PAUSE_MS);
    ck_assert(pay_fence_table_find(&match, table, &key));
    ck_assert_uint_eq(match.unsaid, 0);
}
END_TEST

/* Paths are looked up again after a second; one that only its owner may read, at once. */
START_TEST(test_files_that_come_and_go)
{
    pay_fence_match_t match;
    pay_fence_table_t *table;
    pay_fence_file_t file, gone;

    files_make();
    table = table_make();
    file = file_at("page.html");
    ck_assert(!pay_fence_table_find(&match, table, &file));
    gone = file_at("relay.key");
    ck_assert_int_eq(rename(path_of("relay.key"), path_of("old.key")), 0);
    ck_assert(pay_fence_table_find(&match, table, &gone)); /* as it was looked up */
    make("relay.key", 0644);
    file = file_at("relay.key");
    ck_assert_int_eq(file.is_private, 0);
    ck_assert(!pay_fence_table_find(&match, table, &file));
    unit_boot_pass(PAY_FENCE_LOOK_PAUSE_MS - 1);
    ck_assert(!pay_fence_table_find(&match, table, &file));
    unit_boot_pass(1);
    ck_assert(pay_fence_table_find(&match, table, &file));
    gone.is_private = 0;
    ck_assert(!pay_fence_table_find(&match, table, &gone));
    ck_assert_int_eq(rename(path_of("private"), path_of("relay.key")), 0);
    file = file_at("relay.key");
    ck_assert(pay_fence_table_find(&match, table, &file)); /* private: it may be a new key */
    ck_assert_int_eq(unlink(path_of("relay.key")), 0);
    ck_assert(pay_fence_table_find(&match, table, &file));
    unit_boot_pass(PAY_FENCE_LOOK_PAUSE_MS);
    ck_assert(!pay_fence_table_find(&match, table, &file));
}
END_TEST

START_TEST(test_no_store)
{
    const apr_array_header_t *none = apr_array_make(unit_pool, 1, sizeof(pay_store_host_t *));

    ck_assert_ptr_null(pay_fence_table_make(none, unit_pool));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_files, 0, UNIT_ROWS(file_rows));
    tcase_add_test(tcase, test_what_makes_a_file);
    tcase_add_test(tcase, test_a_line_a_minute);
    tcase_add_test(tcase, test_files_that_come_and_go);
    tcase_add_test(tcase, test_no_store);
}

UNIT_PROGRAM(add)
