/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include <sys/stat.h>

#define NOBODY 65534
#define OTHER 65533

/* The server's work at its start: first as root, then as its user. */
static apr_status_t prepare(const char **reason, const char *dir, apr_uid_t uid)
{
    const pay_store_options_t options = fixture_options();
    const char *url = apr_pstrcat(unit_pool, "lmdb:", dir, NULL);
    const int root = geteuid() == 0;
    apr_status_t rv;

    rv = pay_store_hand_over(reason, url, uid, uid, unit_pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    ck_assert(!root || (setegid(uid) == 0 && seteuid(uid) == 0));
    rv = pay_store_prepare(reason, url, &options, unit_pool);
    ck_assert(!root || (seteuid(0) == 0 && setegid(0) == 0));
    return rv;
}

static const char *inside(const char *dir, const char *name)
{
    return apr_pstrcat(unit_pool, dir, "/", name, NULL);
}

static void assert_owned(const char *path, uid_t uid, mode_t mode)
{
    struct stat info;

    ck_assert_msg(stat(path, &info) == 0, "%s", path);
    ck_assert_msg(info.st_uid == uid, "%s", path);
    ck_assert_msg((info.st_mode & 07777) == mode, "%s", path);
}

static void assert_store_of(const char *dir, uid_t uid)
{
    assert_owned(dir, uid, 0700);
    assert_owned(inside(dir, "data.mdb"), uid, 0600);
    assert_owned(inside(dir, "lock.mdb"), uid, 0600);
}

static uid_t expected(uid_t uid)
{
    return geteuid() == 0 ? uid : geteuid();
}

/* Opens the store as the user that it was given to, like the server's children. */
static int use_as_owner(const char *dir, int ready_fd)
{
    pay_store_options_t options = fixture_options();
    pay_store_t *store;

    (void)ready_fd;
    if (geteuid() == 0 && (setegid(NOBODY) != 0 || seteuid(NOBODY) != 0)) {
        return 2;
    }
    options.create = 0;
    store = fixture_open_with(dir, &options);
    return fixture_put_meta(store, "a") == APR_SUCCESS && fixture_has(store, "a") ? 0 : 1;
}

/* Returns a directory that other users can reach. */
static const char *reachable_dir(void)
{
    const char *dir = unit_dir();
    const char *top = apr_pstrndup(unit_pool, dir, (apr_size_t)(strrchr(dir, '/') - dir));

    ck_assert_int_eq(chmod(top, 0711), 0);
    ck_assert_int_eq(chmod(dir, 0755), 0);
    return dir;
}

START_TEST(test_makes_and_hands_over)
{
    const char *dir = inside(reachable_dir(), "store");
    const char *reason = "unset";

    ck_assert_int_eq(prepare(&reason, dir, NOBODY), APR_SUCCESS);
    ck_assert_ptr_null(reason);
    assert_store_of(dir, expected(NOBODY));
    ck_assert_int_eq(prepare(&reason, inside(dir, "/"), NOBODY), APR_SUCCESS);
    assert_store_of(dir, expected(NOBODY));
}
END_TEST

START_TEST(test_the_new_owner_can_use_it)
{
    const char *dir = inside(reachable_dir(), "store");
    const char *reason;

    ck_assert_int_eq(prepare(&reason, dir, NOBODY), APR_SUCCESS);
    ck_assert_int_eq(fixture_wait(fixture_fork(use_as_owner, dir)), 0);
    assert_store_of(dir, expected(NOBODY));
}
END_TEST

START_TEST(test_nothing_stays_open)
{
    const char *dir = inside(reachable_dir(), "store");
    const char *reason;
    struct stat info;
    int fd;

    ck_assert_int_eq(prepare(&reason, dir, NOBODY), APR_SUCCESS);
    for (fd = 3; fd < 64; fd++) {
        struct stat data;

        if (fstat(fd, &info) == 0 && stat(inside(dir, "data.mdb"), &data) == 0) {
            ck_assert_uint_ne(info.st_ino, data.st_ino);
        }
    }
}
END_TEST

START_TEST(test_the_store_of_another_user)
{
    const char *dir = inside(reachable_dir(), "store");
    const char *reason;

    ck_assert_int_eq(prepare(&reason, dir, OTHER), APR_SUCCESS);
    assert_store_of(dir, expected(OTHER));
    if (geteuid() == 0) {
        ck_assert_int_ne(prepare(&reason, dir, NOBODY), APR_SUCCESS);
        ck_assert_msg(strstr(reason, "chown -R") != NULL, "%s", reason);
        assert_store_of(dir, OTHER);
    }
}
END_TEST

/* Its owner could put a link there at any moment. */
START_TEST(test_root_opens_no_store_of_another_user)
{
    const char *dir = inside(reachable_dir(), "store");
    const char *reason;

    ck_assert_int_eq(prepare(&reason, dir, NOBODY), APR_SUCCESS);
    ck_assert_int_eq(unlink(inside(dir, "lock.mdb")), 0);
    if (geteuid() == 0) {
        ck_assert_int_ne(pay_store_ready(&reason, fixture_open(dir), unit_pool), APR_SUCCESS);
        ck_assert_msg(strstr(reason, "root opens no file of it") != NULL, "%s", reason);
        ck_assert_int_ne(access(inside(dir, "lock.mdb"), F_OK), 0);
    }
}
END_TEST

/* The faults of a directory. */
static void wrong_full(const char *dir)
{
    int fd = open(inside(dir, "letters.txt"), O_CREAT | O_WRONLY, 0600);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void wrong_open_to_all(const char *dir)
{
    ck_assert_int_eq(chmod(dir, 0777), 0);
}

static void wrong_open_to_group(const char *dir)
{
    ck_assert_int_eq(chmod(dir, 0770), 0);
}

static void wrong_link(const char *dir)
{
    ck_assert_int_eq(rmdir(dir), 0);
    ck_assert_int_eq(symlink(unit_dir(), dir), 0);
}

static void wrong_file(const char *dir)
{
    ck_assert_int_eq(rmdir(dir), 0);
    ck_assert_int_ge(open(dir, O_CREAT | O_WRONLY, 0600), 0);
}

static void wrong_data_link(const char *dir)
{
    const char *target = inside(unit_dir(), "data.mdb");

    ck_assert_int_ge(open(target, O_CREAT | O_WRONLY, 0600), 0);
    ck_assert_int_eq(symlink(target, inside(dir, "data.mdb")), 0);
}

static void wrong_lock_link(const char *dir)
{
    ck_assert_int_eq(symlink(inside(unit_dir(), "lock.mdb"), inside(dir, "lock.mdb")), 0);
}

static void wrong_above(const char *dir)
{
    const char *parent = apr_pstrndup(unit_pool, dir, (apr_size_t)(strrchr(dir, '/') - dir));

    ck_assert_int_eq(rmdir(dir), 0);
    ck_assert_int_eq(chmod(parent, 0777), 0);
}

static void wrong_nothing_above(const char *dir)
{
    ck_assert_int_eq(rmdir(dir), 0);
    ck_assert_int_eq(rmdir(apr_pstrndup(unit_pool, dir, (apr_size_t)(strrchr(dir, '/') - dir))), 0);
}

static const struct {
    const char *name;
    void (*make)(const char *dir);
    const char *reason;
} wrong_rows[] = {
    {"other files", wrong_full, "holds other files"},
    {"writable by all", wrong_open_to_all, "chmod 0700"},
    {"writable by the group", wrong_open_to_group, "chmod 0700"},
    {"a symbolic link", wrong_link, "symbolic link"},
    {"a file", wrong_file, "not a directory"},
    {"the data file is a link", wrong_data_link, "not a plain file"},
    {"the lock file is a link", wrong_lock_link, "not a plain file"},
    {"others may write above it", wrong_above, "directory above"},
    {"nothing above it", wrong_nothing_above, "create it first"},
};

START_TEST(test_wrong_directories_are_refused)
{
    const char *dir = inside(reachable_dir(), "store");
    const char *reason = NULL;

    ck_assert_int_eq(mkdir(dir, 0700), 0);
    wrong_rows[_i].make(dir);
    ck_assert_msg(prepare(&reason, dir, NOBODY) != APR_SUCCESS, "%s", wrong_rows[_i].name);
    ck_assert_ptr_nonnull(reason);
    ck_assert_msg(strstr(reason, wrong_rows[_i].reason) != NULL, "%s: %s", wrong_rows[_i].name,
                  reason);
}
END_TEST

/* Where everybody may write but only owners rename, as in /tmp. */
START_TEST(test_a_sticky_directory_above_is_fine)
{
    const char *above = reachable_dir();
    const char *reason;

    ck_assert_int_eq(chmod(above, 01777), 0);
    ck_assert_int_eq(prepare(&reason, inside(above, "store"), NOBODY), APR_SUCCESS);
}
END_TEST

/* A hard link made by the directory's owner must not give him another user's file. */
START_TEST(test_a_file_with_two_names_is_refused_by_root)
{
    const char *dir = unit_dir();
    const char *victim = inside(unit_dir(), "victim");
    const char *reason;

    ck_assert_int_ge(open(victim, O_CREAT | O_WRONLY, 0600), 0);
    ck_assert_int_eq(link(victim, inside(dir, "data.mdb")), 0);
    if (geteuid() == 0) {
        ck_assert_int_ne(prepare(&reason, dir, NOBODY), APR_SUCCESS);
        assert_owned(victim, 0, 0600);
    } else {
        ck_assert_int_eq(prepare(&reason, dir, NOBODY), APR_SUCCESS);
    }
}
END_TEST

START_TEST(test_a_malformed_path)
{
    const char *reason = NULL;

    ck_assert_int_eq(prepare(&reason, "relative", NOBODY), APR_EINVAL);
    ck_assert_ptr_nonnull(reason);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_makes_and_hands_over);
    tcase_add_test(tcase, test_the_new_owner_can_use_it);
    tcase_add_test(tcase, test_nothing_stays_open);
    tcase_add_test(tcase, test_the_store_of_another_user);
    tcase_add_test(tcase, test_root_opens_no_store_of_another_user);
    tcase_add_loop_test(tcase, test_wrong_directories_are_refused, 0, UNIT_ROWS(wrong_rows));
    tcase_add_test(tcase, test_a_sticky_directory_above_is_fine);
    tcase_add_test(tcase, test_a_file_with_two_names_is_refused_by_root);
    tcase_add_test(tcase, test_a_malformed_path);
}

UNIT_PROGRAM(add)
