/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/open.h"

#include "base/crypto/trusted_path.h"
#include "store/lmdb/files.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY_MODE 0700

/*
 * What root does for a store, before it gives up its rights: makes the directory, or gives away one
 * that is its own. It opens no file, and touches nothing in what another user owns, who could put a
 * link to somebody else's file there at any moment. What remains to be said is said by who opens
 * the store, as the user that the server runs as.
 */

static const char *const files[] = {PAY_LMDB_DATA_FILE, PAY_LMDB_LOCK_FILE};

/* The directory above `path`; -1: there is none, or somebody else than root can change the way. */
static int parent_enter(const char *path, apr_pool_t *p)
{
    const char *parent = apr_pstrmemdup(p, path, (apr_size_t)(strrchr(path, '/') - path) + 1);
    const char *reason;
    struct stat info;
    int fd;

    (void)pay_trusted_path_open(&fd, &info, &reason, "store", parent, NULL, p);
    return fd;
}

/* A new directory of root's, durable with its name. EEXIST: it has come meanwhile. */
static apr_status_t directory_make(int parent, const char *name)
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

/* In a directory of root's own, so that no entry changes between the look and the deed. */
static apr_status_t file_give(int dir_fd, const char *name, const char *path, apr_uid_t uid,
                              apr_gid_t gid, pay_lmdb_reason_t *reason)
{
    struct stat info;

    if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? APR_SUCCESS : errno;
    }
    /* Another name of it may lie where somebody else put it. */
    if (!S_ISREG(info.st_mode) || info.st_nlink != 1) {
        pay_lmdb_reason_set(reason, "store %s: %s is not a plain file with one name", path, name);
        return APR_EGENERAL;
    }
    if (info.st_uid == 0 && fchownat(dir_fd, name, uid, gid, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno;
    }
    return APR_SUCCESS;
}

/* The files first: they are root's business while the directory is. */
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
        rv = errno == ENOENT ? directory_make(parent, name) : errno;
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
        rv = pay_lmdb_place_check(fd, &info, path, reason);
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
