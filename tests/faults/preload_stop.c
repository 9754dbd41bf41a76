/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into processes that write to a store: the first one to commit while the file
 * PAYMENTS_STOP_FILE exists removes it and stops itself (SIGSTOP) in the middle of its write
 * transaction, while it holds LMDB's lock. Linked with LMDB, so that the real function is found
 * after it.
 */

#include <dlfcn.h>
#include <lmdb.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef int begin_t(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn);
typedef int commit_t(MDB_txn *txn);

static begin_t *real_begin;
static commit_t *real_commit;
static _Atomic(MDB_txn *) writing; /* a process has one write transaction at most */
static const char *stop_file;

__attribute__((constructor)) static void prepare(void)
{
    (void)mdb_version(NULL, NULL, NULL); /* without a use of it the linker would leave LMDB out */
    stop_file = getenv("PAYMENTS_STOP_FILE");
    *(void **)&real_begin = dlsym(RTLD_NEXT, "mdb_txn_begin");
    *(void **)&real_commit = dlsym(RTLD_NEXT, "mdb_txn_commit");
}

EXPORTED int mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn)
{
    int rc;

    rc = real_begin(env, parent, flags, txn);
    if (rc == 0 && !(flags & MDB_RDONLY)) {
        writing = *txn;
    }
    return rc;
}

EXPORTED int mdb_txn_commit(MDB_txn *txn)
{
    /* Removing it succeeds in one process only. */
    if (txn == writing && stop_file && unlink(stop_file) == 0) {
        raise(SIGSTOP);
    }
    return real_commit(txn);
}
