/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_FILES_H
#define PAY_STORE_LMDB_FILES_H

/*
 * The two files of a store. Nothing here follows a symbolic link, or opens a file that an
 * environment of this process has open, except with O_PATH: closing it would drop that
 * environment's locks.
 */

#include "store/lmdb/place.h"

/* Distinguishes a file from its copies, as far as its file system does. */
typedef struct pay_lmdb_file_id_t {
    apr_uint64_t inode;
    apr_int64_t
        born_us; /* creation time of the file, microseconds; 0: unknown to its file system */
} pay_lmdb_file_id_t;

/*
 * Checks the two files and creates missing ones (0600): data.mdb only if `create` is set and the
 * directory is empty. *lock_fd stays open as long as the environment: it shows whether another
 * process has the store open.
 */
apr_status_t pay_lmdb_files_open(int *lock_fd, ino_t *data_ino, int dir_fd, const char *path,
                                 int create, pay_lmdb_reason_t *reason);

struct MDB_env;

/*
 * mdb_env_open: returns 0 or its code. Programs that this process starts inherit no descriptor of
 * it.
 */
int pay_lmdb_files_map(struct MDB_env *mdb, const char *path, unsigned int flags);

/* Returns 1 while another process has the environment of `lock_fd` open. Call before holding it. */
int pay_lmdb_files_is_shared(int lock_fd);

/*
 * Prevents the environment of `lock_fd`, which is open in this process, from being taken for an
 * unused one. LMDB's own locks end as soon as the process closes any other descriptor of the lock
 * file, as happens if a tenant's .htaccess names it as AuthUserFile; the next opener would then
 * initialize its reader table. This lock ends with `lock_fd` only.
 */
int pay_lmdb_files_hold(int lock_fd);

/* The same for this process's slots in the reader table: takes LMDB's lock again, which belongs to
 * the process and not to a descriptor, in case it has ended. */
void pay_lmdb_files_claim(int lock_fd);

/*
 * Called if there is no data.mdb: returns APR_SUCCESS if the directory contains only what a file
 * system or an earlier store may leave; else APR_ENOTEMPTY and the sentence.
 */
apr_status_t pay_lmdb_files_none(int dir_fd, const char *path, pay_lmdb_reason_t *reason);

#endif
