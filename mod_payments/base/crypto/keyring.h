/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_KEYRING_H
#define PAY_BASE_CRYPTO_KEYRING_H

/*
 * The master key, which encrypts stored secrets that must be readable again (AES-256-GCM, NIST SP
 * 800-38D). It is in a file of its own, apart from the store and all its backups: one line of 64
 * hex digits for each key, the current key first, at most PAY_KEYRING_KEYS_MAX. Keys are kept out
 * of core files. A keyring is immutable; any thread may use it, and so may processes forked later.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_user.h>

#define PAY_KEYRING_KEYS_MAX 4

#define PAY_KEYRING_TEXT_MAX (16 * 1024) /* bytes of one text to seal */

typedef struct pay_keyring_t pay_keyring_t;

/* Returns the default path of a store's key: "/var/x/store.key" for "lmdb:/var/x/store". */
const char *pay_keyring_path(const char *store_url, apr_pool_t *p);

/*
 * Reads `path`. If `create` is 1 and the file is missing, makes it with mode 0600 and sets *made to
 * 1 (two processes that do so at once get the same key). The file must be regular, not a symbolic
 * link, readable by its owner only, and owned by root, by this process's user or by `owner`.
 * *reason is a sentence that names the path and says what to do. Wiped with `p`.
 */
apr_status_t pay_keyring_load(pay_keyring_t **out, int *made, const char **reason, const char *path,
                              int create, apr_uid_t owner, apr_pool_t *p);

/*
 * Writes "v1:<key's id>:<base64 of nonce, text, tag>" under the current key, bound to `context`: it
 * opens only under the same context. APR_EINVAL if the text is longer than PAY_KEYRING_TEXT_MAX.
 */
apr_status_t pay_keyring_seal(const char **sealed, const pay_keyring_t *ring, const char *context,
                              const char *text, apr_pool_t *p);
/* APR_NOTFOUND: sealed under a key that is not in the ring. APR_EINVAL: altered, or of another
 * context. */
apr_status_t pay_keyring_open(const char **text, const pay_keyring_t *ring, const char *context,
                              const char *sealed, apr_pool_t *p);
/* Does the same into the caller's memory (base/crypto/secret_memory.h); writes "" after an error.
 * APR_EINVAL also if the memory is too small. */
apr_status_t pay_keyring_open_into(char *text, apr_size_t size, const pay_keyring_t *ring,
                                   const char *context, const char *sealed, apr_pool_t *p);

/* Returns 1 if `sealed` is under the current key. */
int pay_keyring_is_current(const pay_keyring_t *ring, const char *sealed);

/*
 * pay_keyring_add gives the file a new first key; the others stay until pay_keyring_prune, which
 * leaves only the current key of `ring`. Each replaces the file in one step. *reason as above.
 * APR_EBUSY if another process is changing the file; for prune, also if one has changed it since
 * `ring` was loaded.
 */
apr_status_t pay_keyring_add(const char **reason, const char *path, apr_pool_t *p);
apr_status_t pay_keyring_prune(const char **reason, const char *path, const pay_keyring_t *ring,
                               apr_pool_t *p);

#endif
