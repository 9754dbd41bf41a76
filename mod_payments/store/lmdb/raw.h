/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_RAW_H
#define PAY_STORE_LMDB_RAW_H

/*
 * Transactions outside the commit queue: in an environment that this process is opening, or in a
 * copy that nobody else uses yet. They have the turn of the store, and no store. pay_lmdb_raw_*
 * return 0, or the code of LMDB or of the work.
 */

#include "store/rows.h"

#include <lmdb.h>

/* An environment of LMDB: opaque for callers outside of the engine. */
typedef MDB_env pay_lmdb_raw_t;

int pay_lmdb_raw_read(pay_lmdb_raw_t *mdb, pay_rows_work_t work, void *baton);
/* Commits if `work` returns 0. Waits for other processes without a time limit. */
int pay_lmdb_raw_write(pay_lmdb_raw_t *mdb, pay_rows_work_t work, void *baton);

/*
 * Makes a compact copy of the store's file in the new directory `path` (mode 0700), runs `mark` in
 * it, and returns when it is durable. EEXIST if the path exists. A failed copy is logged and
 * removed.
 */
apr_status_t pay_lmdb_copy(pay_store_t *store, const char *path, pay_rows_work_t mark, void *baton,
                           apr_pool_t *p);

#endif
