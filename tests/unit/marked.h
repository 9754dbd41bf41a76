/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MARKED_H
#define MARKED_H

/* Stores with a mark, in memory that forked processes share, and processes that die in one. */

#include "lmdb_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#define MARKED_PAGE 4096
#define MARKED_BY_SIGNAL 128 /* fixture_wait adds it to the signal that a process died of */

static pay_store_mark_t *marked;

/* An unset mark. */
static inline void marked_make(void)
{
    void *memory =
        mmap(NULL, MARKED_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_uint_le(pay_store_mark_size(), MARKED_PAGE);
    marked = pay_store_mark_at(memory);
}

static inline pay_store_t *marked_open(const char *dir)
{
    pay_store_options_t options = fixture_options();

    options.mark = marked;
    return fixture_open_with(dir, &options);
}

/* The handlers of sanitizers and httpd for these signals are not the subject of the test. */
static inline void marked_signals_default(void)
{
    (void)signal(SIGBUS, SIG_DFL);
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGABRT, SIG_DFL);
}

/* A process that dies by a signal in the store. */
static inline int marked_die(const char *dir, int ready_fd)
{
    pay_store_t *store;
    pay_rows_txn_t txn;

    (void)ready_fd;
    marked_signals_default();
    pay_store_deaths_watch(NULL, 0, unit_pool);
    store = marked_open(dir);
    if (pay_rows_begin(&txn, store) != APR_SUCCESS) {
        return 1;
    }
    abort();
}

static inline void marked_set(const char *dir)
{
    ck_assert_int_eq(fixture_wait(fixture_fork(marked_die, dir)), MARKED_BY_SIGNAL + SIGABRT);
    ck_assert_int_eq(pay_store_mark_is_set(marked), 1);
}

static inline void marked_truncate(const char *dir, off_t size)
{
    ck_assert_int_eq(truncate(apr_pstrcat(unit_pool, dir, "/data.mdb", NULL), size), 0);
}

#endif
