/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_KEYRING_H
#define PAY_BASE_CRYPTO_KEYRING_H

/*
 * The master key, under which secrets that must be read back are stored (AES-256-GCM, NIST SP
 * 800-38D). It lives in a file of its own, apart from the store and every backup of it: a line of
 * 64 hex digits each, the current key first, up to PAY_KEYRING_KEYS_MAX. Keys are kept out of core
 * files. A keyring is immutable; used by any thread and by processes forked later.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_user.h>

#define PAY_KEYRING_KEYS_MAX 4

#define PAY_KEYRING_TEXT_MAX (16 * 1024) /* bytes of one text to seal */

typedef struct pay_keyring_t pay_keyring_t;

/* Where the key of a store lies unless something else is said: "lmdb:/var/x/store" has
 * "/var/x/store.key". */
const char *pay_keyring_path(const char *store_url, apr_pool_t *p);

/*
 * Reads `path`; `create` 1 makes it, mode 0600, when it is missing (two who do so at once get the
 * same), *made then 1. The file must be regular, no symbolic link, readable by its owner only, and
 * owned by root, by this process's user or by `owner`. *reason is a sentence that names the path
 * and says what to do. Wiped with `p`.
 */
apr_status_t pay_keyring_load(pay_keyring_t **out, int *made, const char **reason, const char *path,
                              int create, apr_uid_t owner, apr_pool_t *p);

/*
 * "v1:<key's id>:<base64 of nonce, text, tag>" under the current key, bound to `context`: it opens
 * under the same context only. APR_EINVAL: longer than PAY_KEYRING_TEXT_MAX.
 */
apr_status_t pay_keyring_seal(const char **sealed, const pay_keyring_t *ring, const char *context,
                              const char *text, apr_pool_t *p);
/* APR_NOTFOUND: sealed under a key that the ring does not hold. APR_EINVAL: changed, or of another
 * context. */
apr_status_t pay_keyring_open(const char **text, const pay_keyring_t *ring, const char *context,
                              const char *sealed, apr_pool_t *p);
/* The same into the caller's memory (base/crypto/secret_memory.h); "" after an error. APR_EINVAL
 * also when it is too small. */
apr_status_t pay_keyring_open_into(char *text, apr_size_t size, const pay_keyring_t *ring,
                                   const char *context, const char *sealed, apr_pool_t *p);

/* 1 when `sealed` is under the current key. */
int pay_keyring_is_current(const pay_keyring_t *ring, const char *sealed);

/*
 * The file gets a new first key; the others stay until pay_keyring_prune, which leaves the current
 * key of `ring` alone. Each replaces the file in one step. *reason as above. APR_EBUSY: another
 * process changes it; or, of prune, has changed it since `ring` was loaded.
 */
apr_status_t pay_keyring_add(const char **reason, const char *path, apr_pool_t *p);
apr_status_t pay_keyring_prune(const char **reason, const char *path, const pay_keyring_t *ring,
                               apr_pool_t *p);

#endif
