/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/secret_file.h"

#include "child_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define WHAT "test secret"
#define SIZE 17 /* of the buffer: a file may have one byte less */
#define OTHER_USER 4711
#define MAKERS 4
#define ROUNDS 50

static char text[SIZE];
static apr_size_t text_len;
static const char *reason;

static const char *write_file(const char *name, const void *content, apr_size_t len, mode_t mode)
{
    const char *path = unit_file(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, len), len);
    ck_assert_int_eq(fchmod(fd, mode), 0);
    close(fd);
    return path;
}

static apr_status_t read_file(const char *path)
{
    return pay_secret_file_read(&text_len, &reason, text, sizeof(text), WHAT, path, geteuid(),
                                unit_pool);
}

static int entries(const char *path)
{
    DIR *dir = opendir(path);
    int count = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir)) {
        count++;
    }
    closedir(dir);
    return count - 2;
}

/* Each sentence names the purpose, the path and what is wrong. */
static void assert_refused(apr_status_t want, apr_status_t got, const char *path, const char *words)
{
    ck_assert_int_eq(got, want);
    ck_assert_ptr_nonnull(reason);
    ck_assert_msg(strstr(reason, words) && strstr(reason, path) && strstr(reason, WHAT), "%s",
                  reason);
}

static const struct {
    const char *name;
    const char *content;
    apr_size_t len;
    apr_status_t want;
} length_rows[] = {
    {"empty", "", 0, APR_SUCCESS},
    {"as long as allowed", "0123456789abcdef", 16, APR_SUCCESS},
    {"a byte more", "0123456789abcdefg", 17, APR_EINVAL},
    {"NUL is no end", "a\0b", 3, APR_SUCCESS},
};

START_TEST(test_read)
{
    const char *path = write_file("f", length_rows[_i].content, length_rows[_i].len, 0600);

    ck_assert_msg(read_file(path) == length_rows[_i].want, "%s", length_rows[_i].name);
    if (length_rows[_i].want == APR_SUCCESS) {
        ck_assert_ptr_null(reason);
        ck_assert_uint_eq(text_len, length_rows[_i].len);
        ck_assert_int_eq(memcmp(text, length_rows[_i].content, text_len), 0);
        ck_assert_int_eq(text[text_len], '\0');
    } else {
        assert_refused(APR_EINVAL, APR_EINVAL, path, "is longer than 16 bytes");
        ck_assert_uint_eq(text_len, 0);
        ck_assert_int_eq(text[0], '\0');
    }
}
END_TEST

static const struct {
    mode_t mode;
    int allowed;
} mode_rows[] = {{0600, 1}, {0400, 1}, {0700, 1}, {0640, 0}, {0620, 0},
                 {0610, 0}, {0604, 0}, {0602, 0}, {0601, 0}, {0666, 0}};

START_TEST(test_read_mode)
{
    const char *path = write_file("f", "secret", 6, mode_rows[_i].mode);

    if (mode_rows[_i].allowed) {
        ck_assert_int_eq(read_file(path), APR_SUCCESS);
        ck_assert_str_eq(text, "secret");
    } else {
        assert_refused(APR_EACCES, read_file(path), path, "is open to others");
        ck_assert_str_eq(text, "");
    }
}
END_TEST

START_TEST(test_read_kind)
{
    const char *path = write_file("f", "secret", 6, 0600);
    const char *link_path = unit_file("link");
    const char *fifo_path = unit_file("fifo");

    ck_assert_int_eq(symlink(path, link_path), 0);
    assert_refused(APR_EACCES, read_file(link_path), link_path, "is a symbolic link");
    ck_assert_int_eq(mkfifo(fifo_path, 0600), 0);
    assert_refused(APR_EACCES, read_file(fifo_path), fifo_path, "is not a regular file");
    assert_refused(APR_EACCES, read_file(unit_file(".")), unit_file("."), "is not a regular file");
    assert_refused(ENOENT, read_file(unit_file("none")), unit_file("none"), "cannot be opened");
    assert_refused(ENOTDIR, read_file(unit_file("f/f")), unit_file("f/f"), "cannot be opened");
}
END_TEST

/*
 * Owners of files are root, the reading process and the named one. Only root can give a file away;
 * if the tests run as another user, it is the reader's own.
 */
START_TEST(test_read_owner)
{
    const char *path = write_file("f", "secret", 6, 0600);

    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path, OTHER_USER, (gid_t)-1), 0);
        assert_refused(APR_EACCES, read_file(path), path, "belongs to user 4711");
    }
    ck_assert_int_eq(pay_secret_file_read(&text_len, &reason, text, sizeof(text), WHAT, path,
                                          OTHER_USER, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_secret_file_read(&text_len, &reason, text, sizeof(text), WHAT, path,
                                          PAY_SECRET_FILE_ANY_OWNER, unit_pool),
                     APR_SUCCESS);
}
END_TEST

/* With its mode whatever the umask, alone in its directory, and never in place of another. */
START_TEST(test_make)
{
    const char *path = unit_file("f");
    struct stat info;

    umask(0777);
    ck_assert_int_eq(pay_secret_file_make(&reason, WHAT, path, "first", 5, unit_pool), APR_SUCCESS);
    umask(022);
    ck_assert_ptr_null(reason);
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0600);
    ck_assert_uint_eq(info.st_nlink, 1);
    ck_assert_int_eq(entries(unit_file(".")), 1);
    ck_assert(
        APR_STATUS_IS_EEXIST(pay_secret_file_make(&reason, WHAT, path, "second", 6, unit_pool)));
    ck_assert_int_eq(entries(unit_file(".")), 1);
    ck_assert_int_eq(read_file(path), APR_SUCCESS);
    ck_assert_str_eq(text, "first");
}
END_TEST

/* A dangling link also belongs to somebody. */
START_TEST(test_make_at_link)
{
    const char *path = unit_file("link");

    ck_assert_int_eq(symlink(unit_file("elsewhere"), path), 0);
    ck_assert(
        APR_STATUS_IS_EEXIST(pay_secret_file_make(&reason, WHAT, path, "text", 4, unit_pool)));
    ck_assert_int_eq(access(unit_file("elsewhere"), F_OK), -1);
    ck_assert_int_eq(entries(unit_file(".")), 1);
}
END_TEST

static const struct {
    mode_t mode;
    int allowed;
} directory_rows[] = {{0700, 1}, {0755, 1}, {0757, 0}, {0777, 0}, {01777, 1}};

START_TEST(test_make_directory)
{
    const char *directory = unit_file("d");
    const char *path = unit_file("d/f");
    apr_status_t rv;

    ck_assert_int_eq(mkdir(directory, 0700), 0);
    ck_assert_int_eq(chmod(directory, directory_rows[_i].mode), 0);
    rv = pay_secret_file_make(&reason, WHAT, path, "text", 4, unit_pool);
    if (directory_rows[_i].allowed) {
        ck_assert_int_eq(rv, APR_SUCCESS);
    } else {
        assert_refused(APR_EACCES, rv, path, "others may write to its directory");
    }
    ck_assert_int_eq(entries(directory), directory_rows[_i].allowed);
}
END_TEST

START_TEST(test_make_nowhere)
{
    const char *path = unit_file("none/f");

    assert_refused(ENOENT, pay_secret_file_make(&reason, WHAT, path, "text", 4, unit_pool), path,
                   "its directory cannot be opened");
}
END_TEST

static int make_own(const char *path, int ready_fd)
{
    const char *own = apr_psprintf(unit_pool, "%d", (int)getpid());
    apr_status_t rv;

    (void)!write(ready_fd, "x", 1);
    rv = pay_secret_file_make(&reason, WHAT, path, own, strlen(own), unit_pool);
    if (rv != APR_SUCCESS && !APR_STATUS_IS_EEXIST(rv)) {
        return 2;
    }
    /* Whichever process made it: it is there, and complete. */
    if (read_file(path) != APR_SUCCESS || atoi(text) <= 0) {
        return 3;
    }
    return rv == APR_SUCCESS ? !!strcmp(text, own) * 4 : !strcmp(text, own) * 5 + 1;
}

/* Of many processes that make it at once one learns that it has. */
START_TEST(test_make_at_once)
{
    pid_t makers[MAKERS];
    const char *path;
    int round, i, won;

    for (round = 0; round < ROUNDS; round++) {
        path = unit_file(apr_psprintf(unit_pool, "f%d", round));
        won = 0;
        for (i = 0; i < MAKERS; i++) {
            makers[i] = fixture_fork(make_own, path);
        }
        for (i = 0; i < MAKERS; i++) {
            int code = fixture_wait(makers[i]);

            ck_assert_msg(code == 0 || code == 1, "code %d", code);
            won += code == 0;
        }
        ck_assert_int_eq(won, 1);
    }
    ck_assert_int_eq(entries(unit_file(".")), ROUNDS);
}
END_TEST

START_TEST(test_replace)
{
    const char *path = write_file("f", "before", 6, 0600);
    uid_t owner = geteuid() == 0 ? OTHER_USER : geteuid();
    struct stat info;
    int lock;

    ck_assert_int_eq(chown(path, owner, (gid_t)-1), 0);
    ck_assert_int_eq(pay_secret_file_lock(&lock, &reason, WHAT, path, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_secret_file_replace(&reason, lock, WHAT, path, "after", 5, unit_pool),
                     APR_SUCCESS);
    pay_secret_file_unlock(lock);
    ck_assert_int_eq(
        pay_secret_file_read(&text_len, &reason, text, sizeof(text), WHAT, path, owner, unit_pool),
        APR_SUCCESS);
    ck_assert_str_eq(text, "after");
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_uid, owner);
    ck_assert_uint_eq(info.st_mode & 07777, 0600);
    ck_assert_int_eq(entries(unit_file(".")), 1);
}
END_TEST

/* One at a time; readers do not wait. */
START_TEST(test_lock)
{
    const char *path = write_file("f", "before", 6, 0600);
    int first, second;

    ck_assert_int_eq(pay_secret_file_lock(&first, &reason, WHAT, path, unit_pool), APR_SUCCESS);
    assert_refused(APR_EBUSY, pay_secret_file_lock(&second, &reason, WHAT, path, unit_pool), path,
                   "being changed by another process");
    ck_assert_int_eq(second, -1);
    ck_assert_int_eq(read_file(path), APR_SUCCESS);
    pay_secret_file_unlock(first);
    ck_assert_int_eq(pay_secret_file_lock(&second, &reason, WHAT, path, unit_pool), APR_SUCCESS);
    pay_secret_file_unlock(second);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_read, 0, UNIT_ROWS(length_rows));
    tcase_add_loop_test(tcase, test_read_mode, 0, UNIT_ROWS(mode_rows));
    tcase_add_test(tcase, test_read_kind);
    tcase_add_test(tcase, test_read_owner);
    tcase_add_test(tcase, test_make);
    tcase_add_test(tcase, test_make_at_link);
    tcase_add_loop_test(tcase, test_make_directory, 0, UNIT_ROWS(directory_rows));
    tcase_add_test(tcase, test_make_nowhere);
    tcase_add_test(tcase, test_make_at_once);
    tcase_add_test(tcase, test_replace);
    tcase_add_test(tcase, test_lock);
}

UNIT_PROGRAM(add)
