/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_PLACE_H
#define PAY_STORE_LMDB_PLACE_H

/*
 * Where a store lies: its directory, whose it is, on what file system. Nothing here follows a
 * symbolic link in the last component.
 */

#include <apr_errno.h>
#include <sys/stat.h>

/* The two files in the directory. */
#define PAY_LMDB_DATA_FILE "data.mdb"
#define PAY_LMDB_LOCK_FILE "lock.mdb"

#define PAY_LMDB_REASON_LEN 512

/* A sentence for the log that says what is wrong and what to do. */
typedef struct pay_lmdb_reason_t {
    char text[PAY_LMDB_REASON_LEN];
} pay_lmdb_reason_t;

void pay_lmdb_reason_set(pay_lmdb_reason_t *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * APR_SUCCESS for a file system (magic number of statfs(2)) that LMDB's locks and map work on and
 * that keeps what it is given; else APR_ENOTIMPL and the sentence. overlayfs is for tests, whose
 * environment says PAYMENTS_OVERLAYFS=tests.
 */
apr_status_t pay_lmdb_place_judge(unsigned long magic, const char *path, pay_lmdb_reason_t *reason);

/*
 * Opens the directory, and makes it (0700) first when it is missing and `create` says so. Root is
 * refused where another user owns it. *dir_fd is the caller's to close; -1 on failure.
 */
apr_status_t pay_lmdb_place_open(int *dir_fd, struct stat *info, const char *path, int create,
                                 pay_lmdb_reason_t *reason);

/* The sentence for an errno that opening the directory or a file in it ended with. */
void pay_lmdb_place_explain(pay_lmdb_reason_t *reason, const char *path, int error);

/* 1 when `path` still leads to that directory and data file. */
int pay_lmdb_place_is_same(const char *path, dev_t dev, ino_t dir_ino, ino_t data_ino);

#endif
