/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/trusted_path.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define DIRECTORY_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* A walk along a path. */
typedef struct walk_t {
    const pay_guest_t *guest;
    apr_pool_t *p;
    int fd;           /* the directory reached so far, opened */
    struct stat info; /* of it */
    const char *seen; /* its path, for sentences */
    char *left;       /* the rest of the path */
    int links;        /* symbolic links so far */
    const char *fault;
} walk_t;

static int is_ours(const struct stat *info)
{
    return info->st_uid == 0 || info->st_uid == geteuid();
}

/* In a sticky directory, only the owners of entries and its own owner can move them. */
static int is_sticky(const struct stat *info)
{
    return S_ISDIR(info->st_mode) && (info->st_mode & S_ISVTX);
}

static int guest_may_write(const struct stat *info, const pay_guest_t *guest)
{
    return guest->uid != geteuid() && guest->uid != 0
           && (info->st_uid == guest->uid
               || (!is_sticky(info) && (info->st_mode & S_IWGRP) && info->st_gid == guest->gid));
}

const char *pay_trusted_path_fault(const struct stat *info, const pay_guest_t *guest, apr_pool_t *p)
{
    const mode_t others =
        !guest && (geteuid() == 0 || !S_ISDIR(info->st_mode)) ? S_IWOTH | S_IWGRP : S_IWOTH;

    if (guest && guest_may_write(info, guest)) {
        return apr_psprintf(p,
                            "may be changed by user %u, as which the server runs (mode %04o): "
                            "give it to root (chown root:root)",
                            (unsigned int)guest->uid, (unsigned int)(info->st_mode & 07777));
    }
    if (!guest && !is_ours(info)) {
        return apr_psprintf(p, "belongs to user %u: give it to root (chown root)",
                            (unsigned int)info->st_uid);
    }
    if ((info->st_mode & others) && !is_sticky(info)) {
        return apr_psprintf(p,
                            "may be changed by others (mode %04o): remove that permission (chmod "
                            "go-w)",
                            (unsigned int)(info->st_mode & 07777));
    }
    return NULL;
}

/* Goes on from `fd`, which the walk takes over. */
static apr_status_t walk_to(walk_t *walk, int fd, const char *seen)
{
    if (walk->fd >= 0) {
        close(walk->fd);
    }
    walk->fd = fd;
    walk->seen = seen;
    if (fd < 0 || fstat(fd, &walk->info) != 0) {
        return errno;
    }
    walk->fault = pay_trusted_path_fault(&walk->info, walk->guest, walk->p);
    return walk->fault ? APR_EACCES : APR_SUCCESS;
}

static apr_status_t walk_from_root(walk_t *walk)
{
    return walk_to(walk, open("/", DIRECTORY_FLAGS), "/");
}

/* `fd` is the link `seen`, in the walk's current directory. */
static apr_status_t walk_link(walk_t *walk, int fd, const struct stat *link, const char *seen)
{
    const char *directory = walk->seen;
    char target[PATH_MAX];
    ssize_t len;

    walk->seen = seen; /* until it is followed */
    if (!is_ours(link) || pay_trusted_path_fault(&walk->info, NULL, walk->p)) {
        walk->fault = "is a symbolic link that others may change: name its target";
        return APR_EACCES;
    }
    if (++walk->links > PAY_TRUSTED_PATH_LINKS_MAX) {
        return ELOOP;
    }
    len = readlinkat(fd, "", target, sizeof(target));
    if (len < 0 || (size_t)len == sizeof(target)) {
        return len < 0 ? errno : ENAMETOOLONG;
    }
    target[len] = '\0';
    walk->left = apr_pstrcat(walk->p, target, "/", walk->left, NULL);
    walk->seen = directory;
    return target[0] == '/' ? walk_from_root(walk) : APR_SUCCESS;
}

static apr_status_t walk_step(walk_t *walk, const char *name)
{
    const int at_root = !strcmp(walk->seen, "/");
    const char *seen = apr_pstrcat(walk->p, at_root ? "" : walk->seen, "/", name, NULL);
    struct stat info;
    apr_status_t rv;
    int fd;

    fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        rv = errno;
        walk->seen = seen;
        if (fd >= 0) {
            close(fd);
        }
        return rv;
    }
    if (!S_ISLNK(info.st_mode)) {
        return walk_to(walk, fd, seen);
    }
    rv = walk_link(walk, fd, &info, seen);
    close(fd);
    return rv;
}

/* Bounded by the links that are followed, each of which adds one path at most. */
static apr_status_t walk_all(walk_t *walk)
{
    apr_status_t rv = walk_from_root(walk);
    char *name;

    while (rv == APR_SUCCESS) {
        walk->left += strspn(walk->left, "/");
        if (!*walk->left) {
            break;
        }
        name = walk->left;
        walk->left += strcspn(name, "/");
        if (*walk->left) {
            *walk->left++ = '\0';
        }
        rv = walk_step(walk, name);
    }
    return rv;
}

apr_status_t pay_trusted_path_open(int *fd, struct stat *info, const char **reason,
                                   const char *what, const char *path, const pay_guest_t *guest,
                                   apr_pool_t *p)
{
    walk_t walk = {.guest = guest, .p = p, .fd = -1, .seen = "/", .left = apr_pstrdup(p, path)};
    apr_status_t rv;

    *fd = -1;
    *reason = NULL;
    rv = walk_all(&walk);
    if (rv == APR_SUCCESS) {
        *fd = walk.fd;
        *info = walk.info;
        return APR_SUCCESS;
    }
    if (walk.fd >= 0) {
        close(walk.fd);
    }
    if (!walk.fault) {
        walk.fault = apr_psprintf(p, "cannot be opened: %s", strerror(rv));
    }
    *reason = strcmp(walk.seen, path) != 0
                  ? apr_psprintf(p, "%s %s: %s %s", what, path, walk.seen, walk.fault)
                  : apr_psprintf(p, "%s %s %s", what, path, walk.fault);
    return rv;
}
