/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_OPEN_H
#define PAY_STORE_LMDB_OPEN_H

/*
 * Functions that need a path, for store/life/open.c. `path` is the URL without its scheme; their
 * contracts are in store/store.h.
 */

#include "store/store.h"

const char *pay_lmdb_path_fault(const char *path);
void pay_lmdb_path_trim(char *path); /* removes trailing slashes */

apr_status_t pay_lmdb_open(pay_store_t **out, const char *path, const pay_store_options_t *options,
                           apr_pool_t *p);
apr_status_t pay_lmdb_hand_over(const char **reason, const char *path, apr_uid_t uid, apr_gid_t gid,
                                apr_pool_t *p);
apr_status_t pay_lmdb_prepare(const char **reason, const char *path,
                              const pay_store_options_t *options, apr_pool_t *p);
void pay_lmdb_mark_log(pay_store_mark_t *mark, const char *path);
apr_status_t pay_lmdb_verify(const char **reason, const char *path,
                             const pay_store_options_t *options, apr_pool_t *p);
apr_status_t pay_lmdb_upgrade(const char **text, const char *path,
                              const pay_store_options_t *options, int dry_run, apr_pool_t *p);

#endif
