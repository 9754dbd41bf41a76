/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BETWEEN_H
#define BETWEEN_H

/*
 * Intercepts the library's calls to LMDB and libc: a program sets the function to call instead,
 * which may call the real one. NULL: the real one.
 */

#include <lmdb.h>
#include <netdb.h>
#include <sys/types.h>

typedef int between_getaddrinfo_t(const char *host, const char *service,
                                  const struct addrinfo *hints, struct addrinfo **out);
typedef int between_txn_begin_t(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn);
typedef int between_txn_commit_t(MDB_txn *txn);
typedef int between_open_t(const char *path, int flags, mode_t mode);

typedef struct between_t {
    between_getaddrinfo_t *getaddrinfo;
    between_txn_begin_t *txn_begin;
    between_txn_commit_t *txn_commit;
    between_open_t *open;
} between_t;

/* Set before threads start. */
extern between_t between;

/* Number of row look-ups so far (mdb_get, mdb_cursor_get), by all threads. */
extern _Atomic int between_looks;

/* The real ones. */
between_getaddrinfo_t between_real_getaddrinfo;
between_txn_begin_t between_real_txn_begin;
between_txn_commit_t between_real_txn_commit;
between_open_t between_real_open;

#endif
