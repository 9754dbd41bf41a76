/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "store/lmdb/place.h"
#include "watched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned long magic;  /* of statfs(2) */
    const char *variable; /* PAYMENTS_OVERLAYFS, or NULL */
    const char *word;     /* of the sentence that refuses it; NULL: it is allowed */
} system_rows[] = {
    {"ext4", 0xEF53, NULL, NULL},
    {"XFS", 0x58465342, NULL, NULL},
    {"Btrfs", 0x9123683E, NULL, NULL},
    {"ZFS", 0x2FC12FC1, NULL, NULL},
    {"tmpfs", 0x01021994, NULL, NULL},
    {"overlayfs", 0x794C7630, NULL, "lost with the container"},
    {"overlayfs of tests", 0x794C7630, "tests", NULL},
    {"overlayfs and another word", 0x794C7630, "test", "lost with the container"},
    {"overlayfs and no word", 0x794C7630, "", "lost with the container"},
    {"NFS", 0x6969, NULL, "0x6969"},
    {"NFS and the word of overlayfs", 0x6969, "tests", "0x6969"},
    {"SMB", 0xFF534D42, NULL, "0xff534d42"},
    {"CIFS", 0xFE534D42, NULL, "0xfe534d42"},
    {"9p", 0x01021997, NULL, "0x1021997"},
    {"FUSE", 0x65735546, NULL, "0x65735546"},
    {"Ceph", 0x00C36400, NULL, "0xc36400"},
    {"GFS2", 0x01161970, NULL, "0x1161970"},
    {"ramfs", 0x858458F6, NULL, "0x858458f6"},
    {"unheard of", 0, NULL, "0x0"},
};

START_TEST(test_which_file_systems)
{
    const char *name = system_rows[_i].name;
    const char *word = system_rows[_i].word;
    pay_lmdb_reason_t reason = {{0}};
    apr_status_t rv;

    if (system_rows[_i].variable) {
        ck_assert_int_eq(setenv("PAYMENTS_OVERLAYFS", system_rows[_i].variable, 1), 0);
    } else {
        ck_assert_int_eq(unsetenv("PAYMENTS_OVERLAYFS"), 0);
    }
    watch();
    rv = pay_lmdb_place_judge(system_rows[_i].magic, "/srv/shop", &reason);
    ck_assert_msg(rv == (word ? APR_ENOTIMPL : APR_SUCCESS), "%s: %d", name, rv);
    ck_assert_msg(
        logged("PAY00180: ")
            == (system_rows[_i].variable && !word && !strcmp(system_rows[_i].variable, "tests")),
        "%s", name);
    ck_assert_msg(strstr(reason.text, word ? word : "") != NULL, "%s: %s", name, reason.text);
    ck_assert_msg(!word == !strstr(reason.text, "/srv/shop"), "%s: %s", name, reason.text);
}
END_TEST

START_TEST(test_made_only_when_asked)
{
    const char *dir = apr_pstrcat(unit_pool, unit_dir(), "/store", NULL);
    pay_lmdb_reason_t reason;
    struct stat info;
    int fd;

    ck_assert_int_eq(pay_lmdb_place_open(&fd, &info, dir, 0, &reason), ENOENT);
    ck_assert_int_eq(fd, -1);
    ck_assert_int_ne(access(dir, F_OK), 0);
    ck_assert_int_eq(pay_lmdb_place_open(&fd, &info, dir, 1, &reason), APR_SUCCESS);
    ck_assert_int_ge(fd, 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0700);
    ck_assert_uint_eq(info.st_uid, geteuid());
    close(fd);
    ck_assert_int_eq(pay_lmdb_place_open(&fd, &info, dir, 0, &reason), APR_SUCCESS);
    close(fd);
}
END_TEST

START_TEST(test_the_umask_opens_nothing)
{
    const char *dir = apr_pstrcat(unit_pool, unit_dir(), "/store", NULL);
    pay_lmdb_reason_t reason;
    struct stat info;
    int fd;

    umask(0);
    ck_assert_int_eq(pay_lmdb_place_open(&fd, &info, dir, 1, &reason), APR_SUCCESS);
    ck_assert_uint_eq(info.st_mode & 07777, 0700);
    close(fd);
}
END_TEST

static const struct {
    const char *name;
    int error;
    const char *word;
} explain_rows[] = {
    {"missing", ENOENT, "does not exist"},  {"no directory", ENOTDIR, "not a directory"},
    {"a link", ELOOP, "symbolic link"},     {"no right", EACCES, "server's user"},
    {"anything else", EIO, "Input/output"},
};

START_TEST(test_reasons_name_the_path)
{
    pay_lmdb_reason_t reason;

    pay_lmdb_place_explain(&reason, "/srv/shop", explain_rows[_i].error);
    ck_assert_msg(strstr(reason.text, explain_rows[_i].word) != NULL, "%s", explain_rows[_i].name);
    ck_assert_msg(strstr(reason.text, "/srv/shop") != NULL, "%s", explain_rows[_i].name);
}
END_TEST

START_TEST(test_a_long_reason_is_cut)
{
    pay_lmdb_reason_t reason;
    char text[PAY_LMDB_REASON_LEN + 1];

    memset(text, 'x', sizeof(text));
    text[PAY_LMDB_REASON_LEN] = '\0';
    pay_lmdb_reason_set(&reason, "%s", text);
    ck_assert_uint_eq(strlen(reason.text), PAY_LMDB_REASON_LEN - 1);
}
END_TEST

START_TEST(test_the_same_or_replaced)
{
    const char *dir = apr_pstrcat(unit_pool, unit_dir(), "/store", NULL);
    const char *data = apr_pstrcat(unit_pool, dir, "/data.mdb", NULL);
    struct stat info, file;

    ck_assert_int_eq(mkdir(dir, 0700), 0);
    ck_assert_int_eq(stat(dir, &info), 0);
    ck_assert_int_eq(pay_lmdb_place_is_same(dir, info.st_dev, info.st_ino, 1), 0);
    ck_assert_int_ge(open(data, O_CREAT | O_WRONLY, 0600), 0);
    ck_assert_int_eq(stat(data, &file), 0);
    ck_assert_int_eq(pay_lmdb_place_is_same(dir, info.st_dev, info.st_ino, file.st_ino), 1);
    ck_assert_int_eq(pay_lmdb_place_is_same(dir, info.st_dev, info.st_ino, file.st_ino + 1), 0);
    ck_assert_int_eq(pay_lmdb_place_is_same(dir, info.st_dev, info.st_ino + 1, file.st_ino), 0);
    ck_assert_int_eq(pay_lmdb_place_is_same(dir, info.st_dev + 1, info.st_ino, file.st_ino), 0);
    ck_assert_int_eq(unlink(data), 0);
    ck_assert_int_eq(pay_lmdb_place_is_same(dir, info.st_dev, info.st_ino, file.st_ino), 0);
    ck_assert_int_eq(rmdir(dir), 0);
    ck_assert_int_eq(pay_lmdb_place_is_same(dir, info.st_dev, info.st_ino, file.st_ino), 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_which_file_systems, 0, UNIT_ROWS(system_rows));
    tcase_add_test(tcase, test_made_only_when_asked);
    tcase_add_test(tcase, test_the_umask_opens_nothing);
    tcase_add_loop_test(tcase, test_reasons_name_the_path, 0, UNIT_ROWS(explain_rows));
    tcase_add_test(tcase, test_a_long_reason_is_cut);
    tcase_add_test(tcase, test_the_same_or_replaced);
}

UNIT_PROGRAM(add)
