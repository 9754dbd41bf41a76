/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_FENCE_TABLE_H
#define PAY_HTTPD_PROCESS_FENCE_TABLE_H

/*
 * The files that no request may lead to, by device and inode: directory, data and lock of every
 * store, master keys, and secrets that directives name by file:. Made by the parent, used by any
 * thread of a child.
 *
 * Paths are looked up again as requests come, because a store may be made again or replaced while
 * the server runs: at once for a file with owner and mode of a store's, else at most once a second.
 * A path that a child may not look up (a key in a directory that only root may enter) keeps the
 * result that the parent found at start.
 */

#include <apr_pools.h>
#include <apr_tables.h>
#include <sys/types.h>

typedef struct pay_fence_table_t pay_fence_table_t;

/* A file as stat(2) or httpd's own look-up describes it. */
typedef struct pay_fence_file_t {
    dev_t dev;
    ino_t ino;
    uid_t uid;
    int is_private; /* neither group nor others have any right */
} pay_fence_file_t;

/* Why a file may not be served. */
typedef struct pay_fence_match_t {
    const char *path;
    const char *url; /* of the store that it belongs to */
    int may_be_said; /* a line of the log about this file is due */
    unsigned unsaid; /* how many there were since the last line */
} pay_fence_match_t;

#define PAY_FENCE_LOOK_PAUSE_MS 1000 /* between two look-ups of the paths in one process */
#define PAY_FENCE_SAY_PAUSE_MS 60000 /* between two lines about one file in one process */

/* Called in the parent, while it has the right to look at keys. NULL if there are no stores. */
pay_fence_table_t *pay_fence_table_make(const apr_array_header_t *store_hosts, apr_pool_t *pconf);

/* Returns 1 if `file` is one of them. */
int pay_fence_table_find(pay_fence_match_t *match, pay_fence_table_t *table,
                         const pay_fence_file_t *file);

#endif
