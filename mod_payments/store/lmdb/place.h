/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_PLACE_H
#define PAY_STORE_LMDB_PLACE_H

/*
 * The place of a store: its directory, its owner, its file system. Nothing here follows a symbolic
 * link in the last component.
 */

#include <apr_errno.h>
#include <sys/stat.h>

/* The two files in the directory. */
#define PAY_LMDB_DATA_FILE "data.mdb"
#define PAY_LMDB_LOCK_FILE "lock.mdb"

#define PAY_LMDB_REASON_LEN 512

/* A sentence for the log that describes the fault and the remedy. */
typedef struct pay_lmdb_reason_t {
    char text[PAY_LMDB_REASON_LEN];
} pay_lmdb_reason_t;

void pay_lmdb_reason_set(pay_lmdb_reason_t *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * APR_SUCCESS for a file system (magic number of statfs(2)) on which LMDB's locks and map work and
 * that keeps its data; else APR_ENOTIMPL and the sentence. overlayfs is for tests, whose
 * environment says PAYMENTS_OVERLAYFS=tests.
 */
apr_status_t pay_lmdb_place_judge(unsigned long magic, const char *path, pay_lmdb_reason_t *reason);

/*
 * Opens the directory, and creates it first (0700) if it is missing and `create` is set. Root is
 * refused if another user owns it. The caller closes *dir_fd; -1 on failure.
 */
apr_status_t pay_lmdb_place_open(int *dir_fd, struct stat *info, const char *path, int create,
                                 pay_lmdb_reason_t *reason);

/* Makes the sentence for an errno of opening the directory or a file in it. */
void pay_lmdb_place_explain(pay_lmdb_reason_t *reason, const char *path, int error);

/* Returns 1 if `path` still leads to that directory and data file. */
int pay_lmdb_place_is_same(const char *path, dev_t dev, ino_t dir_ino, ino_t data_ino);

#endif
