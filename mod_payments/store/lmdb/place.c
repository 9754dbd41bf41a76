/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/place.h"

#include "base/crypto/trusted_path.h"
#include "base/log.h"
#include "store/lmdb/files.h"
#include "store/lmdb/open.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define DIRECTORY_MODE 0700
#define OVERLAYFS_MAGIC 0x794C7630
#define OVERLAYFS_VARIABLE "PAYMENTS_OVERLAYFS" /* environment variable; set by tests only */
#define OVERLAYFS_WORD "tests"

/* Magic numbers of statfs(2). */
static const struct {
    const char *name;
    unsigned long magic;
} local_systems[] = {
    {"ext2, ext3, ext4", 0xEF53}, {"XFS", 0x58465342},   {"Btrfs", 0x9123683E},
    {"ZFS", 0x2FC12FC1},          {"tmpfs", 0x01021994},
};

void pay_lmdb_reason_set(pay_lmdb_reason_t *reason, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason->text, sizeof(reason->text), format, args);
    va_end(args);
}

/*
 * Tests run wherever they are started, in containers too. Everywhere else a container's own layer
 * is no place for payment data: it disappears with the container, and a file from a lower layer
 * becomes another file when it is written to.
 */
static apr_status_t overlayfs_judge(const char *path, pay_lmdb_reason_t *reason)
{
    const char *word = getenv(OVERLAYFS_VARIABLE);

    if (word && strcmp(word, OVERLAYFS_WORD) == 0) {
        pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                PAYLOGNO(00180) "store %s is on overlayfs, which " OVERLAYFS_VARIABLE
                                " allows for tests: never keep real payments in it",
                path);
        return APR_SUCCESS;
    }
    pay_lmdb_reason_set(reason,
                        "store %s is on overlayfs, a container's own layers: it would be lost "
                        "with the container; mount a volume of ext4, XFS, Btrfs or ZFS into the "
                        "container and name a directory on it",
                        path);
    return APR_ENOTIMPL;
}

apr_status_t pay_lmdb_place_judge(unsigned long magic, const char *path, pay_lmdb_reason_t *reason)
{
    size_t i;

    for (i = 0; i < sizeof(local_systems) / sizeof(local_systems[0]); i++) {
        if (local_systems[i].magic == magic) {
            return APR_SUCCESS;
        }
    }
    if (magic == OVERLAYFS_MAGIC) {
        return overlayfs_judge(path, reason);
    }
    pay_lmdb_reason_set(reason,
                        "store %s is on a file system of type 0x%lx, which is not known to be "
                        "local: LMDB needs ext4, XFS, Btrfs, ZFS or tmpfs; move the store",
                        path, magic);
    return APR_ENOTIMPL;
}

/* If others may rename entries, they could replace our directory with theirs. */
static apr_status_t parent_check(int fd, const char *path, pay_lmdb_reason_t *reason)
{
    struct stat info;
    mode_t others = S_IWOTH;

    if (fstat(fd, &info) != 0) {
        return errno;
    }
    if (geteuid() == 0) {
        others |= S_IWGRP;
    }
    if ((info.st_mode & others) && !(info.st_mode & S_ISVTX)) {
        pay_lmdb_reason_set(reason,
                            "store %s is not created: others may write to the directory above "
                            "it; remove that permission (chmod go-w) or choose another place",
                            path);
        return APR_EACCES;
    }
    return APR_SUCCESS;
}

static apr_status_t directory_make(const char *path, pay_lmdb_reason_t *reason)
{
    char parent[PATH_MAX];
    const char *last = strrchr(path, '/');
    apr_status_t rv;
    int fd;

    if (!last || (size_t)(last - path) + 2 > sizeof(parent)) {
        pay_lmdb_reason_set(reason, "store %s: its path is too long", path);
        return APR_ENAMETOOLONG;
    }
    (void)snprintf(parent, sizeof(parent), "%.*s/", (int)(last - path), path);
    fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        rv = errno;
        pay_lmdb_reason_set(reason,
                            "store %s is not created: cannot open %s (%s); create it "
                            "first",
                            path, parent, strerror(rv));
        return rv;
    }
    rv = parent_check(fd, path, reason);
    if (rv == APR_SUCCESS && mkdirat(fd, last + 1, DIRECTORY_MODE) != 0 && errno != EEXIST) {
        rv = errno;
        pay_lmdb_reason_set(reason,
                            "store %s is not created (%s): create it with mode 0700 for the "
                            "server's user",
                            path, strerror(rv));
    }
    if (rv == APR_SUCCESS) {
        (void)fsync(fd); /* the directory's own name survives a power failure like its content */
    }
    close(fd);
    return rv;
}

/*
 * APR_SUCCESS if this user may open a store in the directory: on a suitable file system, writable
 * by its owner only, and, if this is root, not owned by another user; else the sentence.
 */
static apr_status_t place_check(int dir_fd, const struct stat *info, const char *path,
                                pay_lmdb_reason_t *reason)
{
    struct statfs system;
    apr_status_t rv;

    if (geteuid() == 0 && info->st_uid != 0) {
        pay_lmdb_reason_set(reason,
                            "store %s belongs to user %u, who could put links to other files "
                            "there at any moment: root opens no file of it; run this as that user",
                            path, (unsigned int)info->st_uid);
        return APR_EACCES;
    }
    if (fstatfs(dir_fd, &system) != 0) {
        rv = errno;
        pay_lmdb_reason_set(reason, "store %s: statfs fails (%s)", path, strerror(rv));
        return rv;
    }
    rv = pay_lmdb_place_judge((unsigned long)system.f_type, path, reason);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (info->st_mode & (S_IWGRP | S_IWOTH)) {
        pay_lmdb_reason_set(reason, "store %s: others may write to the directory; chmod 0700 it",
                            path);
        return APR_EACCES;
    }
    return APR_SUCCESS;
}

void pay_lmdb_place_explain(pay_lmdb_reason_t *reason, const char *path, int error)
{
    switch (error) {
    case ENOENT:
        pay_lmdb_reason_set(reason,
                            "store %s does not exist: correct the path, or let the server's "
                            "start or \"paymentsctl -s lmdb:%s account create NAME\" create it",
                            path, path);
        return;
    case ENOTDIR:
    case ELOOP:
        pay_lmdb_reason_set(reason,
                            "store %s is not a directory, or a symbolic link: name the directory "
                            "itself",
                            path);
        return;
    case EACCES:
        pay_lmdb_reason_set(reason,
                            "store %s may not be opened by user %u: directory and files must "
                            "belong to the server's user (chown -R USER: %s), who must be able "
                            "to reach it",
                            path, (unsigned int)geteuid(), path);
        return;
    default:
        pay_lmdb_reason_set(reason, "store %s cannot be opened: %s", path, strerror(error));
        return;
    }
}

apr_status_t pay_lmdb_place_open(int *dir_fd, struct stat *info, const char *path, int create,
                                 pay_lmdb_reason_t *reason)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    apr_status_t rv;

    memset(info, 0, sizeof(*info));
    *dir_fd = open(path, flags);
    if (*dir_fd < 0 && errno == ENOENT && create) {
        rv = directory_make(path, reason);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        *dir_fd = open(path, flags);
    }
    if (*dir_fd < 0) {
        rv = errno;
        pay_lmdb_place_explain(reason, path, rv);
        return rv;
    }
    if (fstat(*dir_fd, info) != 0) {
        rv = errno;
        pay_lmdb_place_explain(reason, path, rv);
    } else {
        rv = place_check(*dir_fd, info, path, reason);
    }
    if (rv != APR_SUCCESS) {
        close(*dir_fd);
        *dir_fd = -1;
    }
    return rv;
}

int pay_lmdb_place_is_same(const char *path, dev_t dev, ino_t dir_ino, ino_t data_ino)
{
    char data[PATH_MAX];
    struct stat info;

    if (stat(path, &info) != 0) {
        return errno != ENOENT; /* any other error does not show whether it exists */
    }
    if (info.st_dev != dev || info.st_ino != dir_ino) {
        return 0;
    }
    if ((size_t)snprintf(data, sizeof(data), "%s/" PAY_LMDB_DATA_FILE, path) >= sizeof(data)) {
        return 1;
    }
    if (stat(data, &info) != 0) {
        return errno != ENOENT;
    }
    return info.st_ino == data_ino;
}

/* ---- handing over */

/*
 * Work of root for a store, before it drops its privileges: creates the directory, or gives away
 * one that it owns. It opens no file, and touches nothing in a directory of another user, who could
 * put a link to somebody else's file there at any moment. All other faults are reported by the
 * process that opens the store as the server's user.
 */

static const char *const files[] = {PAY_LMDB_DATA_FILE, PAY_LMDB_LOCK_FILE};

/*
 * Opens the directory above `path`; -1 if it does not exist, or a user other than root can change
 * the path.
 */
static int parent_enter(const char *path, apr_pool_t *p)
{
    const char *parent = apr_pstrmemdup(p, path, (apr_size_t)(strrchr(path, '/') - path) + 1);
    const char *reason;
    struct stat info;
    int fd;

    (void)pay_trusted_path_open(&fd, &info, &reason, "store", parent, NULL, p);
    return fd;
}

/* Creates a directory of root, durable with its name. EEXIST: it was created meanwhile. */
static apr_status_t directory_make_in(int parent, const char *name)
{
    int fd;

    if (mkdirat(parent, name, DIRECTORY_MODE) != 0) {
        return errno;
    }
    fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    return APR_SUCCESS;
}

/* In a directory that root owns, so that no entry changes between check and use. */
static apr_status_t file_give(int dir_fd, const char *name, const char *path, apr_uid_t uid,
                              apr_gid_t gid, pay_lmdb_reason_t *reason)
{
    struct stat info;

    if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? APR_SUCCESS : errno;
    }
    /* It may have another name, where another user put it. */
    if (!S_ISREG(info.st_mode) || info.st_nlink != 1) {
        pay_lmdb_reason_set(reason, "store %s: %s is not a plain file with one name", path, name);
        return APR_EGENERAL;
    }
    if (info.st_uid == 0 && fchownat(dir_fd, name, uid, gid, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno;
    }
    return APR_SUCCESS;
}

/* Files first: only root can change them while root owns the directory. */
static apr_status_t directory_give(int dir_fd, const char *path, apr_uid_t uid, apr_gid_t gid,
                                   pay_lmdb_reason_t *reason)
{
    apr_status_t rv = APR_SUCCESS;
    struct stat info;
    size_t i;

    if (fstatat(dir_fd, PAY_LMDB_DATA_FILE, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        rv = pay_lmdb_files_none(dir_fd, path, reason);
    }
    for (i = 0; rv == APR_SUCCESS && i < sizeof(files) / sizeof(files[0]); i++) {
        rv = file_give(dir_fd, files[i], path, uid, gid, reason);
    }
    if (rv == APR_SUCCESS && fchown(dir_fd, uid, gid) != 0) {
        rv = errno;
    }
    return rv;
}

static apr_status_t hand_over(int parent, const char *path, apr_uid_t uid, apr_gid_t gid,
                              pay_lmdb_reason_t *reason)
{
    const char *name = strrchr(path, '/') + 1;
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    apr_status_t rv = APR_SUCCESS;
    struct stat info;
    int fd;

    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        rv = errno == ENOENT ? directory_make_in(parent, name) : errno;
    } else if (info.st_uid != 0 || !S_ISDIR(info.st_mode)) {
        return APR_SUCCESS;
    }
    if (rv != APR_SUCCESS && rv != EEXIST) {
        return rv;
    }
    fd = openat(parent, name, flags);
    if (fd < 0) {
        return errno;
    }
    rv = fstat(fd, &info) != 0 ? errno : APR_SUCCESS;
    if (rv == APR_SUCCESS && info.st_uid == 0) {
        rv = place_check(fd, &info, path, reason);
        rv = rv == APR_SUCCESS ? directory_give(fd, path, uid, gid, reason) : rv;
    }
    close(fd);
    return rv;
}

apr_status_t pay_lmdb_hand_over(const char **reason, const char *path, apr_uid_t uid, apr_gid_t gid,
                                apr_pool_t *p)
{
    pay_lmdb_reason_t text = {""};
    apr_status_t rv;
    char *trimmed;
    int parent;

    *reason = pay_lmdb_path_fault(path);
    if (*reason) {
        return APR_EINVAL;
    }
    if (geteuid() != 0 || uid == 0) {
        return APR_SUCCESS;
    }
    trimmed = apr_pstrdup(p, path);
    pay_lmdb_path_trim(trimmed);
    parent = parent_enter(trimmed, p);
    if (parent < 0) {
        return APR_SUCCESS;
    }
    rv = hand_over(parent, trimmed, uid, gid, &text);
    close(parent);
    if (rv != APR_SUCCESS && !text.text[0]) {
        pay_lmdb_reason_set(&text, "store %s cannot be given to user %u: %s", trimmed,
                            (unsigned int)uid, strerror(rv));
    }
    *reason = rv == APR_SUCCESS ? NULL : apr_pstrdup(p, text.text);
    return rv;
}
