/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/trusted_path.h"

#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHAT "the test's file"
#define OTHER_USER 4711
#define OTHER_GROUP 4712
#define NOBODY ((apr_uid_t)-1) /* not changed */

static const pay_guest_t guest = {OTHER_USER, OTHER_GROUP};
static const char *top;
static const char *reason;

static const char *at(const char *name)
{
    return apr_pstrcat(unit_pool, top, "/", name, NULL);
}

/* top/dir/file, and links that lead there. */
static void make_tree(void)
{
    int fd;

    top = unit_dir();
    ck_assert_int_eq(mkdir(at("dir"), 0755), 0);
    fd = open(at("dir/file"), O_WRONLY | O_CREAT | O_EXCL, 0755);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fchmod(fd, 0755), 0);
    close(fd);
    ck_assert_int_eq(symlink(at("dir/file"), at("absolute")), 0);
    ck_assert_int_eq(symlink("dir/../dir/./file", at("relative")), 0);
    ck_assert_int_eq(symlink("dir", at("folder")), 0);
    ck_assert_int_eq(symlink("relative", at("twice")), 0);
    ck_assert_int_eq(symlink("endless", at("endless")), 0);
    ck_assert_int_eq(symlink("nowhere", at("dangling")), 0);
}

static apr_status_t open_path(const char *name, const pay_guest_t *judged)
{
    struct stat found, wanted;
    apr_status_t rv;
    int fd;

    rv = pay_trusted_path_open(&fd, &found, &reason, WHAT, at(name), judged, unit_pool);
    ck_assert((fd >= 0) == (rv == APR_SUCCESS));
    ck_assert((reason != NULL) == (rv != APR_SUCCESS));
    if (rv == APR_SUCCESS) {
        ck_assert_int_eq(stat(at(name), &wanted), 0);
        ck_assert(found.st_ino == wanted.st_ino && found.st_dev == wanted.st_dev);
        ck_assert_int_eq(fstat(fd, &found), 0);
        ck_assert(found.st_ino == wanted.st_ino);
        close(fd);
    } else {
        ck_assert_msg(strstr(reason, WHAT) && strstr(reason, at(name)), "%s", reason);
    }
    return rv;
}

static const struct {
    const char *name;
    apr_status_t want;
} way_rows[] = {
    {"dir/file", APR_SUCCESS}, {"dir//./file", APR_SUCCESS}, {"dir", APR_SUCCESS},
    {"absolute", APR_SUCCESS}, {"relative", APR_SUCCESS},    {"folder/file", APR_SUCCESS},
    {"twice", APR_SUCCESS},    {"endless", ELOOP},           {"dangling", ENOENT},
    {"none", ENOENT},          {"dir/file/below", ENOTDIR},
};

START_TEST(test_ways)
{
    make_tree();
    ck_assert_int_eq(open_path(way_rows[_i].name, NULL), way_rows[_i].want);
    ck_assert_int_eq(open_path(way_rows[_i].name, &guest), way_rows[_i].want);
}
END_TEST

/* As many links in a row as the kernel follows, and one more. */
START_TEST(test_links_max)
{
    const char *name = "dir/file";
    int i;

    make_tree();
    for (i = 1; i <= PAY_TRUSTED_PATH_LINKS_MAX + 1; i++) {
        const char *link = apr_psprintf(unit_pool, "link%d", i);

        ck_assert_int_eq(symlink(at(name), at(link)), 0);
        name = link;
    }
    ck_assert_int_eq(open_path(apr_psprintf(unit_pool, "link%d", PAY_TRUSTED_PATH_LINKS_MAX), NULL),
                     APR_SUCCESS);
    ck_assert_int_eq(open_path(name, NULL), ELOOP);
}
END_TEST

/* Which others may change a checked file: strictly, and by a guest's rights; 1: as root alone. */
static const struct {
    const char *name;
    const char *changed;
    mode_t mode;
    apr_uid_t uid;
    apr_gid_t gid;
    int by_root;
    const char *strict; /* words of the sentence; NULL: it is opened */
    const char *guests;
} rights_rows[] = {
    {"file, group", "dir/file", 0775, NOBODY, NOBODY, 0, "changed by others (mode 0775)", NULL},
    {"file, others", "dir/file", 0757, NOBODY, NOBODY, 0, "changed by others (mode 0757)",
     "changed by others (mode 0757)"},
    {"file, sticky", "dir/file", 01777, NOBODY, NOBODY, 0, "changed by others (mode 1777)",
     "changed by others (mode 1777)"},
    {"file, the guest's group", "dir/file", 0775, NOBODY, OTHER_GROUP, 1, "changed by others",
     "changed by user 4711"},
    {"file, readable by that group", "dir/file", 0755, NOBODY, OTHER_GROUP, 1, NULL, NULL},
    {"file, the guest's", "dir/file", 0700, OTHER_USER, NOBODY, 1, "belongs to user 4711",
     "changed by user 4711"},
    {"file, somebody's", "dir/file", 0700, OTHER_USER + 1, NOBODY, 1, "belongs to user 4712", NULL},
    {"directory, group", "dir", 0775, NOBODY, NOBODY, 1, "changed by others (mode 0775)", NULL},
    {"directory, others", "dir", 0757, NOBODY, NOBODY, 0, "changed by others (mode 0757)",
     "changed by others (mode 0757)"},
    {"directory, sticky", "dir", 01777, NOBODY, NOBODY, 0, NULL, NULL},
    {"directory, the guest's group", "dir", 0775, NOBODY, OTHER_GROUP, 1, "changed by others",
     "changed by user 4711"},
    {"directory, the guest's, sticky", "dir", 01755, OTHER_USER, NOBODY, 1, "belongs to user 4711",
     "changed by user 4711"},
    {"directory, somebody's", "dir", 0755, OTHER_USER + 1, NOBODY, 1, "belongs to user 4712", NULL},
};

static void assert_judged(const char *name, const pay_guest_t *judged, const char *changed,
                          const char *words)
{
    ck_assert_int_eq(open_path(name, judged), words ? APR_EACCES : APR_SUCCESS);
    ck_assert_msg(!words || (strstr(reason, words) && strstr(reason, at(changed))), "%s", reason);
}

START_TEST(test_rights)
{
    const char *changed = rights_rows[_i].changed;

    make_tree();
    if (rights_rows[_i].by_root && geteuid() != 0) {
        return;
    }
    ck_assert_int_eq(chown(at(changed), rights_rows[_i].uid, rights_rows[_i].gid), 0);
    ck_assert_int_eq(chmod(at(changed), rights_rows[_i].mode), 0);
    assert_judged("dir/file", NULL, changed, rights_rows[_i].strict);
    assert_judged("dir/file", &guest, changed, rights_rows[_i].guests);
    assert_judged("folder/file", NULL, changed, rights_rows[_i].strict);
    assert_judged("absolute", &guest, changed, rights_rows[_i].guests);
}
END_TEST

/* A link that others may change is never followed. */
START_TEST(test_links_of_others)
{
    make_tree();
    ck_assert_int_eq(symlink("file", at("dir/link")), 0);
    ck_assert_int_eq(chmod(at("dir"), 0757), 0);
    assert_judged("dir/link", NULL, "dir", "changed by others");
    ck_assert_int_eq(chmod(at("dir"), 01757), 0);
    assert_judged("dir/link", NULL, "dir", NULL);
    if (geteuid() == 0) {
        ck_assert_int_eq(lchown(at("dir/link"), OTHER_USER, (gid_t)-1), 0);
        assert_judged("dir/link", NULL, "dir/link", "is a symbolic link that others may change");
        assert_judged("dir/link", &guest, "dir/link", "is a symbolic link that others may change");
        ck_assert_int_eq(lchown(at("dir/link"), 0, (gid_t)-1), 0);
        ck_assert_int_eq(chown(at("dir"), OTHER_USER + 1, (gid_t)-1), 0);
        assert_judged("dir/file", &guest, "dir", NULL);
        assert_judged("dir/link", &guest, "dir/link", "is a symbolic link that others may change");
    }
}
END_TEST

/* The process's own user is not a guest. */
START_TEST(test_guest_that_is_nobody_else)
{
    const pay_guest_t self = {geteuid(), getegid()};

    make_tree();
    ck_assert_int_eq(chmod(at("dir/file"), 0775), 0);
    ck_assert_int_eq(open_path("dir/file", &self), APR_SUCCESS);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_ways, 0, UNIT_ROWS(way_rows));
    tcase_add_test(tcase, test_links_max);
    tcase_add_loop_test(tcase, test_rights, 0, UNIT_ROWS(rights_rows));
    tcase_add_test(tcase, test_links_of_others);
    tcase_add_test(tcase, test_guest_that_is_nobody_else);
}

UNIT_PROGRAM(add)
