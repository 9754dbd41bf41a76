/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_SECRET_FILE_H
#define PAY_BASE_CRYPTO_SECRET_FILE_H

/*
 * Files that hold a secret: regular, not a symbolic link, mode 0600 or less, owned by root, by this
 * process's user or by `owner`. `what` names the file's purpose in sentences ("master key");
 * *reason is a sentence of this kind, with the path and what to do, and NULL on success.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_user.h>

#define PAY_SECRET_FILE_ANY_OWNER ((apr_uid_t)-1)

/*
 * Reads the whole file into `text`, which has `size` bytes, and adds a NUL; *len is its length.
 * APR_ENOENT if it is missing, APR_EACCES if it is not as above, APR_EINVAL if it is longer.
 */
apr_status_t pay_secret_file_read(apr_size_t *len, const char **reason, char *text, apr_size_t size,
                                  const char *what, const char *path, apr_uid_t owner,
                                  apr_pool_t *p);

/*
 * Makes the file with its whole content, mode 0600, durably and in one step. APR_EEXIST if it
 * exists; it is then left alone.
 */
apr_status_t pay_secret_file_make(const char **reason, const char *what, const char *path,
                                  const char *text, apr_size_t len, apr_pool_t *p);

/*
 * Makes this process the only one that changes the file until pay_secret_file_unlock(*lock).
 * APR_EBUSY if another process holds the lock. Readers do not wait.
 */
apr_status_t pay_secret_file_lock(int *lock, const char **reason, const char *what,
                                  const char *path, apr_pool_t *p);
void pay_secret_file_unlock(int lock);

/* Replaces the content of the file in one step; owner and group stay. The caller holds `lock`. */
apr_status_t pay_secret_file_replace(const char **reason, int lock, const char *what,
                                     const char *path, const char *text, apr_size_t len,
                                     apr_pool_t *p);

#endif
