/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_TRUSTED_PATH_H
#define PAY_BASE_CRYPTO_TRUSTED_PATH_H

/*
 * Opens the file or directory at a path of the configuration, and checks who else could make the
 * path lead elsewhere. The path is walked one component at a time, so that the file that was
 * checked is the one that is opened.
 *
 * A symbolic link on the way is followed if it belongs to root or to this process's user, and
 * nobody else may write to the directory that contains it.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_user.h>
#include <sys/stat.h>

#define PAY_TRUSTED_PATH_LINKS_MAX 40 /* symbolic links on the way; the kernel's limit */

/*
 * A user with fewer rights than this process, with its group: the one that httpd's children run as.
 */
typedef struct pay_guest_t {
    apr_uid_t uid;
    apr_gid_t gid;
} pay_guest_t;

/*
 * Opens an absolute path with O_PATH; the caller closes *fd, which is -1 on failure. No directory
 * on the way, nor the file at its end, may be writable by others. If `guest` is NULL, each belongs
 * to root or to this process's user, and those that belong to root must not be writable by a group
 * either; otherwise any owner except the guest is accepted, and any group except the guest's.
 * Sticky directories may be writable by anybody. APR_EACCES if one of them breaks these rules.
 * *reason says which one and what to do, and begins with `what`; NULL on success.
 */
apr_status_t pay_trusted_path_open(int *fd, struct stat *info, const char **reason,
                                   const char *what, const char *path, const pay_guest_t *guest,
                                   apr_pool_t *p);

/* Returns the fault of one file or directory, as above; NULL if it has none. */
const char *pay_trusted_path_fault(const struct stat *info, const pay_guest_t *guest,
                                   apr_pool_t *p);

#endif
