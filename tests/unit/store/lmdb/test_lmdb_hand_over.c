/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "store/store.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERVER 65534 /* the user that the server runs as */
#define OTHER 65533

/*
 * Below the test's directory: "roots" is root's, "theirs" the server's user's, who has made
 * "theirs/ link", which leads to "roots"; "link" leads there too, and is root's.
 */
static const char *top;

static const char *at(const char *name)
{
    return apr_pstrcat(unit_pool, top, "/", name, NULL);
}

static void make_directory(const char *name, uid_t owner, mode_t mode)
{
    ck_assert_int_eq(mkdir(at(name), 0700), 0);
    ck_assert_int_eq(chmod(at(name), mode), 0);
    ck_assert_int_eq(lchown(at(name), owner, owner), 0);
}

static void make_file(const char *name, uid_t owner)
{
    int fd = open(at(name), O_CREAT | O_WRONLY, 0600);

    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(lchown(at(name), owner, owner), 0);
}

/* Only root can set it up. */
static void setup(void)
{
    top = unit_dir();
    make_directory("roots", 0, 0755);
    make_directory("theirs", SERVER, 0755);
    ck_assert_int_eq(symlink(at("roots"), at("theirs/link")), 0);
    ck_assert_int_eq(lchown(at("theirs/link"), SERVER, SERVER), 0);
    ck_assert_int_eq(symlink(at("roots"), at("link")), 0);
    ck_assert_int_eq(symlink("loop", at("loop")), 0);
    ck_assert_int_eq(symlink("roots/../roots/.", at("relative")), 0);
}

static apr_status_t hand_over(const char **reason, const char *name)
{
    return pay_store_hand_over(reason, apr_pstrcat(unit_pool, "lmdb:", at(name), NULL), SERVER,
                               SERVER, unit_pool);
}

/* -1: none exists. */
static long owner_of(const char *name)
{
    struct stat info;

    return lstat(at(name), &info) == 0 ? (long)info.st_uid : -1;
}

/* ---- a directory that is missing */

static const struct {
    const char *name;
    const char *path;
    mode_t above;
    long made; /* the owner of the directory then */
} missing_rows[] = {
    {"in one of root's", "roots/store", 0755, SERVER},
    {"with slashes behind it", "roots/store//", 0755, SERVER},
    {"by a link of root's", "link/store", 0755, SERVER},
    {"where others make things and only owners rename", "roots/store", 01777, SERVER},
    {"where others rename", "roots/store", 0777, -1},
    {"where a group renames", "roots/store", 0775, -1},
    {"in one of theirs", "theirs/store", 0755, -1},
    {"by a link of theirs", "theirs/link/store", 0755, -1},
    {"by a link to itself", "loop/store", 0755, -1},
    {"by a relative link of root's", "relative/store", 0755, SERVER},
    {"below nothing", "nothing/store", 0755, -1},
};

START_TEST(test_missing)
{
    const char *reason = "unset";
    struct stat info;

    if (geteuid() != 0) {
        return;
    }
    setup();
    ck_assert_int_eq(chmod(at("roots"), missing_rows[_i].above), 0);
    ck_assert_int_eq(hand_over(&reason, missing_rows[_i].path), APR_SUCCESS);
    ck_assert_ptr_null(reason);
    ck_assert_msg(owner_of(missing_rows[_i].path) == missing_rows[_i].made, "%s",
                  missing_rows[_i].name);
    ck_assert(missing_rows[_i].made >= 0 || owner_of("roots/store") == -1);
    if (missing_rows[_i].made >= 0) {
        ck_assert_int_eq(stat(at(missing_rows[_i].path), &info), 0);
        ck_assert_uint_eq(info.st_mode & 07777, 0700);
        ck_assert_uint_eq(info.st_gid, SERVER);
        ck_assert_int_eq(hand_over(&reason, missing_rows[_i].path), APR_SUCCESS);
    }
}
END_TEST

/* ---- one that is there */

static const struct {
    const char *name;
    const char *above;
    uid_t directory, file;
    uid_t directory_then, file_then;
} there_rows[] = {
    {"root's, with root's files", "roots", 0, 0, SERVER, SERVER},
    {"root's, with the server's files", "roots", 0, SERVER, SERVER, SERVER},
    {"root's, with another's files", "roots", 0, OTHER, SERVER, OTHER},
    {"the server's, with root's files", "roots", SERVER, 0, SERVER, 0},
    {"another's, with root's files", "roots", OTHER, 0, OTHER, 0},
    {"root's in one of theirs", "theirs", 0, 0, 0, 0},
    {"root's behind a link of theirs", "theirs/link", 0, 0, 0, 0},
};

START_TEST(test_there)
{
    const char *store, *reason = "unset";

    if (geteuid() != 0) {
        return;
    }
    setup();
    store = apr_pstrcat(unit_pool, there_rows[_i].above, "/store", NULL);
    make_directory(store, there_rows[_i].directory, 0700);
    make_file(apr_pstrcat(unit_pool, store, "/data.mdb", NULL), there_rows[_i].file);
    make_file(apr_pstrcat(unit_pool, store, "/lock.mdb", NULL), there_rows[_i].file);
    make_file(apr_pstrcat(unit_pool, store, "/notes.txt", NULL), 0);
    ck_assert_int_eq(hand_over(&reason, store), APR_SUCCESS);
    ck_assert_ptr_null(reason);
    ck_assert_msg(owner_of(store) == (long)there_rows[_i].directory_then, "%s",
                  there_rows[_i].name);
    ck_assert_msg(owner_of(apr_pstrcat(unit_pool, store, "/data.mdb", NULL))
                      == (long)there_rows[_i].file_then,
                  "%s", there_rows[_i].name);
    ck_assert_int_eq(owner_of(apr_pstrcat(unit_pool, store, "/lock.mdb", NULL)),
                     (long)there_rows[_i].file_then);
    ck_assert_int_eq(owner_of(apr_pstrcat(unit_pool, store, "/notes.txt", NULL)), 0);
}
END_TEST

/* ---- directories of root that are refused */

static void with_others(void)
{
    make_file("roots/store/notes.txt", 0);
}

static void with_a_link(void)
{
    make_file("secret", 0);
    ck_assert_int_eq(symlink(at("secret"), at("roots/store/data.mdb")), 0);
}

static void with_a_second_name(void)
{
    make_file("secret", 0);
    ck_assert_int_eq(link(at("secret"), at("roots/store/data.mdb")), 0);
}

static void with_a_linked_lock(void)
{
    make_file("secret", 0);
    make_file("roots/store/data.mdb", 0);
    ck_assert_int_eq(symlink(at("secret"), at("roots/store/lock.mdb")), 0);
}

static void with_writers(void)
{
    ck_assert_int_eq(chmod(at("roots/store"), 0770), 0);
}

static const struct {
    const char *name;
    void (*make)(void);
    const char *reason;
} refused_rows[] = {
    {"other files", with_others, "holds other files"},
    {"a link", with_a_link, "data.mdb is not a plain file"},
    {"a second name", with_a_second_name, "data.mdb is not a plain file"},
    {"a lock that is a link", with_a_linked_lock, "lock.mdb is not a plain file"},
    {"others may write", with_writers, "chmod 0700"},
};

START_TEST(test_refused)
{
    const char *reason = NULL;

    if (geteuid() != 0) {
        return;
    }
    setup();
    make_directory("roots/store", 0, 0700);
    refused_rows[_i].make();
    ck_assert_int_ne(hand_over(&reason, "roots/store"), APR_SUCCESS);
    ck_assert_ptr_nonnull(reason);
    ck_assert_msg(strstr(reason, refused_rows[_i].reason) != NULL, "%s: %s", refused_rows[_i].name,
                  reason);
    ck_assert_int_eq(owner_of("roots/store"), 0);
    ck_assert(owner_of("secret") <= 0);
}
END_TEST

/* A link in place of the directory itself. */
START_TEST(test_a_link)
{
    const char *reason = "unset";

    if (geteuid() != 0) {
        return;
    }
    setup();
    ck_assert_int_eq(hand_over(&reason, "link"), APR_SUCCESS);
    ck_assert_int_eq(owner_of("roots"), 0);
    ck_assert_int_eq(owner_of("link"), 0);
}
END_TEST

/* A process that is not root has nothing to hand over. */
START_TEST(test_an_ordinary_user)
{
    const char *reason = "unset";

    top = unit_dir();
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(top, OTHER, OTHER), 0);
        ck_assert_int_eq(seteuid(OTHER), 0);
    }
    ck_assert_int_eq(hand_over(&reason, "store"), APR_SUCCESS);
    ck_assert_ptr_null(reason);
    ck_assert_int_eq(owner_of("store"), -1);
    ck_assert(geteuid() != OTHER || seteuid(0) == 0);
}
END_TEST

START_TEST(test_a_malformed_url)
{
    const char *reason = NULL;

    ck_assert_int_eq(pay_store_hand_over(&reason, "lmdb:relative", SERVER, SERVER, unit_pool),
                     APR_EINVAL);
    ck_assert_ptr_nonnull(reason);
    ck_assert_int_eq(pay_store_hand_over(&reason, "sqlite:/x", SERVER, SERVER, unit_pool),
                     APR_EINVAL);
    ck_assert_ptr_nonnull(reason);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_missing, 0, UNIT_ROWS(missing_rows));
    tcase_add_loop_test(tcase, test_there, 0, UNIT_ROWS(there_rows));
    tcase_add_loop_test(tcase, test_refused, 0, UNIT_ROWS(refused_rows));
    tcase_add_test(tcase, test_a_link);
    tcase_add_test(tcase, test_an_ordinary_user);
    tcase_add_test(tcase, test_a_malformed_url);
}

UNIT_PROGRAM(add)
