/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/secret_file.h"

#include "base/crypto/crypto.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MODE 0600
#define TEMPORARY_RANDOM_LEN 8

/* Opens the directory of `path`, and sets the name in it. */
static apr_status_t directory_open(int *fd, const char **name, const char **reason,
                                   const char *what, const char *path, apr_pool_t *p)
{
    const char *last = strrchr(path, '/');
    const char *directory =
        last ? apr_pstrmemdup(p, path, (apr_size_t)(last - path) + 1) : apr_pstrdup(p, ".");
    apr_status_t rv;

    *name = last ? last + 1 : path;
    *fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0) {
        rv = errno;
        *reason = apr_psprintf(p, "the %s %s is not created: its directory cannot be opened (%s)",
                               what, path, strerror(rv));
        return rv;
    }
    return APR_SUCCESS;
}

/* If others may rename entries, they could replace our file by theirs. */
static apr_status_t directory_check(const char **reason, int fd, const char *what, const char *path,
                                    apr_pool_t *p)
{
    mode_t others = geteuid() == 0 ? S_IWOTH | S_IWGRP : S_IWOTH;
    struct stat info;

    if (fstat(fd, &info) != 0) {
        return errno;
    }
    if ((info.st_mode & others) && !(info.st_mode & S_ISVTX)) {
        *reason = apr_psprintf(p,
                               "the %s %s is not created: others may write to its directory; "
                               "remove that permission (chmod go-w) or choose another place",
                               what, path);
        return APR_EACCES;
    }
    return APR_SUCCESS;
}

/* Writes a new file beside the one named `name`, durable with its content. */
static apr_status_t temporary_write(const char **temporary, int dir_fd, const char *name,
                                    const char *text, apr_size_t len, const struct stat *like,
                                    apr_pool_t *p)
{
    unsigned char random[TEMPORARY_RANDOM_LEN];
    apr_status_t rv;
    ssize_t written;
    int fd;

    *temporary = NULL;
    rv = pay_random_bytes(random, sizeof(random));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *temporary = apr_psprintf(p, "%s.new-%s", name, pay_hex(random, sizeof(random), p));
    fd =
        openat(dir_fd, *temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (fd < 0) {
        rv = errno;
        *temporary = NULL;
        return rv;
    }
    written = write(fd, text, len);
    if (written < 0) {
        rv = errno;
    } else if ((apr_size_t)written != len) {
        rv = ENOSPC;
    } else if (fchmod(fd, FILE_MODE) != 0
               || (like && geteuid() == 0 && fchown(fd, like->st_uid, like->st_gid) != 0)
               || fsync(fd) != 0) {
        rv = errno;
    }
    close(fd);
    return rv;
}

static apr_status_t refused(const char **reason, const char *what, const char *path,
                            const char *fault, apr_pool_t *p)
{
    *reason = apr_psprintf(p, "the %s %s %s", what, path, fault);
    return APR_EACCES;
}

static apr_status_t file_check(const char **reason, const struct stat *info, const char *what,
                               const char *path, apr_uid_t owner, apr_pool_t *p)
{
    if (!S_ISREG(info->st_mode)) {
        return refused(reason, what, path, "is not a regular file: name one that is", p);
    }
    if (info->st_mode & (S_IRWXG | S_IRWXO)) {
        return refused(reason, what, path,
                       apr_psprintf(p,
                                    "is open to others (mode %04o): remove that permission "
                                    "(chmod 600), and create a new one if they may have read it",
                                    (unsigned int)(info->st_mode & 07777)),
                       p);
    }
    if (owner != PAY_SECRET_FILE_ANY_OWNER && info->st_uid != 0 && info->st_uid != geteuid()
        && info->st_uid != owner) {
        return refused(reason, what, path,
                       apr_psprintf(p, "belongs to user %u: give it to root (chown root)",
                                    (unsigned int)info->st_uid),
                       p);
    }
    return APR_SUCCESS;
}

static apr_status_t file_open(int *fd, struct stat *info, const char **reason, const char *what,
                              const char *path, apr_uid_t owner, apr_pool_t *p)
{
    apr_status_t rv = APR_SUCCESS;

    /* A FIFO must not make the server wait. */
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0 || fstat(*fd, info) != 0) {
        rv = errno;
        *reason =
            rv == ELOOP
                ? apr_psprintf(p, "the %s %s is a symbolic link: name the file itself", what, path)
                : apr_psprintf(p, "the %s %s cannot be opened: %s", what, path, strerror(rv));
        rv = rv == ELOOP ? APR_EACCES : rv;
    }
    if (rv == APR_SUCCESS) {
        rv = file_check(reason, info, what, path, owner, p);
    }
    if (rv != APR_SUCCESS && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return rv;
}

apr_status_t pay_secret_file_read(apr_size_t *len, const char **reason, char *text, apr_size_t size,
                                  const char *what, const char *path, apr_uid_t owner,
                                  apr_pool_t *p)
{
    struct stat info;
    apr_status_t rv;
    ssize_t got = 1;
    int fd;

    *len = 0;
    *reason = NULL;
    text[0] = '\0';
    rv = file_open(&fd, &info, reason, what, path, owner, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    while (got > 0 && *len < size) {
        got = read(fd, text + *len, size - *len);
        *len += got > 0 ? (apr_size_t)got : 0;
    }
    if (got < 0) {
        rv = errno;
        *reason = apr_psprintf(p, "the %s %s cannot be read: %s", what, path, strerror(rv));
    } else if (*len == size) {
        rv = APR_EINVAL;
        *reason = apr_psprintf(p, "the %s %s is longer than %" APR_SIZE_T_FMT " bytes", what, path,
                               size - 1);
    }
    close(fd);
    if (rv != APR_SUCCESS) {
        pay_wipe(text, size);
        *len = 0;
        return rv;
    }
    text[*len] = '\0';
    return APR_SUCCESS;
}

apr_status_t pay_secret_file_make(const char **reason, const char *what, const char *path,
                                  const char *text, apr_size_t len, apr_pool_t *p)
{
    const char *name, *temporary = NULL;
    apr_status_t rv;
    int dir_fd;

    *reason = NULL;
    rv = directory_open(&dir_fd, &name, reason, what, path, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = directory_check(reason, dir_fd, what, path, p);
    if (rv == APR_SUCCESS) {
        rv = temporary_write(&temporary, dir_fd, name, text, len, NULL, p);
    }
    /* A link, not a rename: it does not replace a file that another process made first. */
    if (rv == APR_SUCCESS && linkat(dir_fd, temporary, dir_fd, name, 0) != 0) {
        rv = errno;
    }
    if (temporary) {
        (void)unlinkat(dir_fd, temporary, 0);
    }
    if ((rv == APR_SUCCESS || rv == EEXIST) && fsync(dir_fd) != 0) {
        rv = errno;
    }
    close(dir_fd);
    if (rv != APR_SUCCESS && rv != EEXIST && !*reason) {
        *reason = apr_psprintf(p, "the %s %s cannot be created: %s", what, path, strerror(rv));
    }
    return rv;
}

apr_status_t pay_secret_file_lock(int *lock, const char **reason, const char *what,
                                  const char *path, apr_pool_t *p)
{
    struct stat held, named;
    apr_status_t rv;

    *reason = NULL;
    rv = file_open(lock, &held, reason, what, path, PAY_SECRET_FILE_ANY_OWNER, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    /* A process that replaced the file meanwhile held the lock of the earlier one. */
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0 || lstat(path, &named) != 0
        || named.st_ino != held.st_ino || named.st_dev != held.st_dev) {
        close(*lock);
        *lock = -1;
        *reason = apr_psprintf(p,
                               "the %s %s is being changed by another process: try again when "
                               "that has ended",
                               what, path);
        return APR_EBUSY;
    }
    return APR_SUCCESS;
}

void pay_secret_file_unlock(int lock)
{
    close(lock);
}

apr_status_t pay_secret_file_replace(const char **reason, int lock, const char *what,
                                     const char *path, const char *text, apr_size_t len,
                                     apr_pool_t *p)
{
    const char *name, *temporary = NULL;
    struct stat like;
    apr_status_t rv;
    int dir_fd;

    *reason = NULL;
    if (fstat(lock, &like) != 0) {
        return errno;
    }
    rv = directory_open(&dir_fd, &name, reason, what, path, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = temporary_write(&temporary, dir_fd, name, text, len, &like, p);
    if (rv == APR_SUCCESS && renameat(dir_fd, temporary, dir_fd, name) != 0) {
        rv = errno;
    }
    if (rv != APR_SUCCESS && temporary) {
        (void)unlinkat(dir_fd, temporary, 0);
    }
    if (rv == APR_SUCCESS && fsync(dir_fd) != 0) {
        rv = errno;
    }
    close(dir_fd);
    if (rv != APR_SUCCESS) {
        *reason = apr_psprintf(p, "the %s %s cannot be changed: %s", what, path, strerror(rv));
    }
    return rv;
}
