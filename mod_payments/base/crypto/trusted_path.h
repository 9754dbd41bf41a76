/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_TRUSTED_PATH_H
#define PAY_BASE_CRYPTO_TRUSTED_PATH_H

/*
 * Opens what a path of the configuration leads to, and judges who else could make it lead
 * elsewhere. The path is walked one component at a time, so that what was judged is what is opened.
 *
 * A symbolic link on the way is followed if it belongs to root or to this process's user, and
 * nobody else may write to the directory that it lies in.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_user.h>
#include <sys/stat.h>

#define PAY_TRUSTED_PATH_LINKS_MAX 40 /* symbolic links on the way, as the kernel allows */

/* A user of less rights than this process, with its group: the one that httpd's children run as. */
typedef struct pay_guest_t {
    apr_uid_t uid;
    apr_gid_t gid;
} pay_guest_t;

/*
 * Opens an absolute path with O_PATH; *fd is the caller's to close, -1 on failure. Every directory
 * on the way, and what is found at its end, must not be writable by others. With `guest` NULL each
 * belongs to root or to this process's user, and where that is root a group may not write either;
 * else any owner but the guest will do, and any group but the guest's. Sticky directories may be
 * written by anybody. APR_EACCES: one of them is not so. *reason says which and what to do, and
 * begins with `what`; NULL on success.
 */
apr_status_t pay_trusted_path_open(int *fd, struct stat *info, const char **reason,
                                   const char *what, const char *path, const pay_guest_t *guest,
                                   apr_pool_t *p);

/* What is wrong with one file or directory, as above; NULL if nothing is. */
const char *pay_trusted_path_fault(const struct stat *info, const pay_guest_t *guest,
                                   apr_pool_t *p);

#endif
