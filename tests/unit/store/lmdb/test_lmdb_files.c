/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include <errno.h>
#include <sys/stat.h>

static int open_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY);

    ck_assert_int_ge(fd, 0);
    return fd;
}

static void touch(const char *dir, const char *name)
{
    int fd = open(apr_pstrcat(unit_pool, dir, "/", name, NULL), O_CREAT | O_WRONLY, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "x", 1), 1);
    close(fd);
}

static const struct {
    const char *name;
    const char *has[4];
    int create;
    apr_status_t want;
} file_rows[] = {
    {"nothing, not to be made", {NULL}, 0, ENOENT},
    {"nothing, to be made", {NULL}, 1, APR_SUCCESS},
    {"what a mounted file system has", {"lost+found"}, 1, APR_SUCCESS},
    {"a lock without data, not to be made", {"lock.mdb"}, 0, ENOENT},
    {"a lock without data, to be made", {"lock.mdb"}, 1, APR_SUCCESS},
    {"data without a lock, as a restored backup", {"data.mdb"}, 0, APR_SUCCESS},
    {"both", {"data.mdb", "lock.mdb"}, 0, APR_SUCCESS},
    {"both among others", {"data.mdb", "lock.mdb", "notes.txt"}, 1, APR_SUCCESS},
    {"others only", {"notes.txt"}, 1, ENOTEMPTY},
    {"a hidden one only", {".profile"}, 1, ENOTEMPTY},
    {"others and a lock", {"lock.mdb", "lost+found", "notes.txt"}, 1, ENOTEMPTY},
};

START_TEST(test_what_is_made)
{
    const char *dir = unit_dir();
    pay_lmdb_reason_t reason = {""};
    int dir_fd = open_dir(dir);
    struct stat info;
    int lock_fd;
    ino_t data;
    int i;

    for (i = 0; file_rows[_i].has[i]; i++) {
        touch(dir, file_rows[_i].has[i]);
    }
    ck_assert_msg(pay_lmdb_files_open(&lock_fd, &data, dir_fd, dir, file_rows[_i].create, &reason)
                      == file_rows[_i].want,
                  "%s", file_rows[_i].name);
    if (file_rows[_i].want != APR_SUCCESS) {
        ck_assert_msg(lock_fd == -1, "%s", file_rows[_i].name);
        ck_assert_msg(strstr(reason.text, dir) != NULL, "%s", file_rows[_i].name);
        ck_assert_int_ne(access(apr_pstrcat(unit_pool, dir, "/data.mdb", NULL), F_OK), 0);
        return;
    }
    ck_assert_int_ge(lock_fd, 0);
    ck_assert_int_eq(fcntl(lock_fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(stat(apr_pstrcat(unit_pool, dir, "/data.mdb", NULL), &info), 0);
    ck_assert_uint_eq(info.st_ino, data);
    ck_assert_uint_eq(info.st_mode & 07777, 0600);
    ck_assert_int_eq(stat(apr_pstrcat(unit_pool, dir, "/lock.mdb", NULL), &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0600);
    close(lock_fd);
    close(dir_fd);
}
END_TEST

/* The beginning of LMDB's two headers, after the head of a page. */
#define HEADER_AT 16
static const apr_uint32_t header_magic = 0xbeefc0de;

/* Nobody ever finds a new file that is neither empty nor a store. */
START_TEST(test_new_data_has_its_header)
{
    const char *dir = unit_dir();
    const long page = sysconf(_SC_PAGESIZE);
    int dir_fd = open_dir(dir);
    pay_lmdb_reason_t reason;
    apr_uint32_t magic;
    int lock_fd, fd, i;
    ino_t data;

    ck_assert_int_eq(pay_lmdb_files_open(&lock_fd, &data, dir_fd, dir, 1, &reason), APR_SUCCESS);
    fd = openat(dir_fd, "data.mdb", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(lseek(fd, 0, SEEK_END), 2 * page);
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(pread(fd, &magic, sizeof(magic), i * page + HEADER_AT), sizeof(magic));
        ck_assert_uint_eq(magic, header_magic);
    }
    close(fd);
    close(lock_fd);
    close(dir_fd);
}
END_TEST

/* LMDB would make a new store of it, in which every reference can be charged once more. */
START_TEST(test_empty_data_is_refused)
{
    const char *dir = unit_dir();
    pay_lmdb_reason_t reason = {""};
    int dir_fd = open_dir(dir);
    int lock_fd;
    ino_t data;

    close(openat(dir_fd, "data.mdb", O_RDWR | O_CREAT, 0600));
    ck_assert_int_ne(pay_lmdb_files_open(&lock_fd, &data, dir_fd, dir, _i, &reason), APR_SUCCESS);
    ck_assert(strstr(reason.text, "data.mdb is empty") != NULL);
    ck_assert_int_eq(lock_fd, -1);
    close(dir_fd);
}
END_TEST

static const char *const kinds[] = {"data.mdb", "lock.mdb"};

START_TEST(test_only_plain_files)
{
    const char *dir = unit_dir();
    pay_lmdb_reason_t reason = {""};
    int dir_fd = open_dir(dir);
    int lock_fd;
    ino_t data;

    ck_assert_int_eq(mkdir(apr_pstrcat(unit_pool, dir, "/", kinds[_i], NULL), 0700), 0);
    ck_assert_int_ne(pay_lmdb_files_open(&lock_fd, &data, dir_fd, dir, 1, &reason), APR_SUCCESS);
    ck_assert(strstr(reason.text, kinds[_i]) != NULL);
    ck_assert_int_eq(lock_fd, -1);
    close(dir_fd);
}
END_TEST

static int open_child(const char *dir, int ready_fd)
{
    pay_store_t *store = fixture_open(dir);

    if (pay_store_ready(NULL, store, unit_pool) != APR_SUCCESS) {
        return 1;
    }
    (void)!write(ready_fd, "", 1);
    (void)pause();
    return 0;
}

START_TEST(test_who_else_has_it_open)
{
    const char *dir = unit_dir();
    pay_lmdb_reason_t reason;
    int dir_fd = open_dir(dir);
    pid_t pid = fixture_fork(open_child, dir);
    int lock_fd;
    ino_t data;

    ck_assert_int_eq(pay_lmdb_files_open(&lock_fd, &data, dir_fd, dir, 0, &reason), APR_SUCCESS);
    ck_assert_int_eq(pay_lmdb_files_is_shared(lock_fd), 1);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(fixture_wait(pid), 128 + SIGKILL);
    ck_assert_int_eq(pay_lmdb_files_is_shared(lock_fd), 0);
    close(lock_fd);
    close(dir_fd);
}
END_TEST

/* Our own environment does not count as another process's in the check before it is held. */
START_TEST(test_this_process_is_not_another)
{
    struct flock let_go = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    pay_store_t *store = fixture_open(unit_dir());
    pay_lmdb_env_t *env;

    ck_assert_int_eq(pay_store_ready(NULL, store, unit_pool), APR_SUCCESS);
    env = store->env;
    ck_assert_int_eq(pay_lmdb_files_is_shared(env->lock_fd), 1);
    ck_assert_int_eq(fcntl(env->lock_fd, F_OFD_SETLK, &let_go), 0);
    ck_assert_int_eq(pay_lmdb_files_is_shared(env->lock_fd), 0);
}
END_TEST

/* Returns 1 if a lock would stop a process that opens the store and locks that byte. */
static int is_locked(int fd, off_t byte)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    ck_assert_int_eq(fcntl(fd, F_OFD_GETLK, &lock), 0);
    return lock.l_type != F_UNLCK;
}

/* Any descriptor of the lock file that the process closes takes LMDB's locks with it. */
START_TEST(test_locks_outlive_a_descriptor)
{
    const char *dir = unit_dir();
    const char *path = apr_pstrcat(unit_pool, dir, "/lock.mdb", NULL);
    pay_store_t *store = fixture_open(dir);
    pay_account_t *account;
    int fd;

    ck_assert_int_eq(pay_store_ready(NULL, store, unit_pool), APR_SUCCESS);
    fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(close(open(path, O_RDONLY | O_CLOEXEC)), 0);
    ck_assert_int_eq(is_locked(fd, 0), 1);
    ck_assert_int_eq(is_locked(fd, getpid()), 0);
    while (!is_locked(fd, getpid())) { /* check ends it if no use ever takes the lock again */
        ck_assert_int_eq(pay_store_account_get(&account, store, "none", unit_pool), APR_NOTFOUND);
    }
    ck_assert_int_eq(is_locked(fd, 0), 1);
    close(fd);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_what_is_made, 0, UNIT_ROWS(file_rows));
    tcase_add_test(tcase, test_new_data_has_its_header);
    tcase_add_loop_test(tcase, test_empty_data_is_refused, 0, 2); /* create or not */
    tcase_add_loop_test(tcase, test_only_plain_files, 0, UNIT_ROWS(kinds));
    tcase_add_test(tcase, test_who_else_has_it_open);
    tcase_add_test(tcase, test_this_process_is_not_another);
    tcase_add_test(tcase, test_locks_outlive_a_descriptor);
}

UNIT_PROGRAM(add)
