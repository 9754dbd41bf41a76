/* SPDX-License-Identifier: Apache-2.0 */
#include "between.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>

/* Each of these precedes the library's own function of that name. */
#define EXPORTED __attribute__((visibility("default")))

between_t between;
_Atomic int between_looks;

int between_real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                             struct addrinfo **out)
{
    between_getaddrinfo_t *real;

    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(host, service, hints, out);
}

int between_real_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn)
{
    between_txn_begin_t *real;

    *(void **)&real = dlsym(RTLD_NEXT, "mdb_txn_begin");
    return real(env, parent, flags, txn);
}

int between_real_txn_commit(MDB_txn *txn)
{
    between_txn_commit_t *real;

    *(void **)&real = dlsym(RTLD_NEXT, "mdb_txn_commit");
    return real(txn);
}

int between_real_open(const char *path, int flags, mode_t mode)
{
    int (*real)(const char *, int, ...);

    *(void **)&real = dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}

EXPORTED int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list rest;

    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return between.open ? between.open(path, flags, mode) : between_real_open(path, flags, mode);
}

EXPORTED int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                         struct addrinfo **out)
{
    return between.getaddrinfo ? between.getaddrinfo(host, service, hints, out)
                               : between_real_getaddrinfo(host, service, hints, out);
}

EXPORTED int mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn)
{
    return between.txn_begin ? between.txn_begin(env, parent, flags, txn)
                             : between_real_txn_begin(env, parent, flags, txn);
}

EXPORTED int mdb_txn_commit(MDB_txn *txn)
{
    return between.txn_commit ? between.txn_commit(txn) : between_real_txn_commit(txn);
}

EXPORTED int mdb_get(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *val)
{
    int (*real)(MDB_txn *, MDB_dbi, MDB_val *, MDB_val *);

    *(void **)&real = dlsym(RTLD_NEXT, "mdb_get");
    between_looks++;
    return real(txn, dbi, key, val);
}

EXPORTED int mdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *val, MDB_cursor_op op)
{
    int (*real)(MDB_cursor *, MDB_val *, MDB_val *, MDB_cursor_op);

    *(void **)&real = dlsym(RTLD_NEXT, "mdb_cursor_get");
    between_looks++;
    return real(cursor, key, val, op);
}
