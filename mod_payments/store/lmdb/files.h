/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_FILES_H
#define PAY_STORE_LMDB_FILES_H

/*
 * The two files of a store. Nothing here follows a symbolic link, or opens for more than a look
 * what an environment of this process has open: closing it would drop that environment's locks.
 */

#include "store/lmdb/place.h"

/* What tells a file from its copies, as far as its file system does. */
typedef struct pay_lmdb_file_id_t {
    apr_uint64_t inode;
    apr_int64_t born_us; /* when the file was made, microseconds; 0: its file system does not say */
} pay_lmdb_file_id_t;

/*
 * Checks the two files and makes what is missing (0600):
 * data.mdb only when `create` says so and the directory is empty. *lock_fd stays open as long as
 * the environment: it answers whether another process has the store open.
 */
apr_status_t pay_lmdb_files_open(int *lock_fd, ino_t *data_ino, int dir_fd, const char *path,
                                 int create, pay_lmdb_reason_t *reason);

struct MDB_env;

/* mdb_env_open: 0 or its code. No descriptor of it reaches a program that this process starts. */
int pay_lmdb_files_map(struct MDB_env *mdb, const char *path, unsigned int flags);

/* 1 while another process has the environment behind `lock_fd` open. Asked before it is held. */
int pay_lmdb_files_is_shared(int lock_fd);

/*
 * Keeps the environment behind `lock_fd`, which is open in this process, from being taken for one
 * that nobody uses. LMDB's own locks end as soon as the process closes any other descriptor of the
 * lock file, as it does for a tenant whose .htaccess names it as AuthUserFile; the next opener
 * would then make its table of readers anew. This one ends with `lock_fd` alone.
 */
int pay_lmdb_files_hold(int lock_fd);

/* The same for the slots of this process in the table of readers: takes LMDB's lock again, which is
 * the process's and not a descriptor's, in case it has ended. */
void pay_lmdb_files_claim(int lock_fd);

/*
 * Asked where there is no data.mdb: APR_SUCCESS if nothing else is there either but what a file
 * system or an earlier store may leave; else APR_ENOTEMPTY and the sentence.
 */
apr_status_t pay_lmdb_files_none(int dir_fd, const char *path, pay_lmdb_reason_t *reason);

#endif
