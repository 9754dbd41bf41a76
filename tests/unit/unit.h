/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_H
#define UNIT_H

/* The common part of every unit test program: main, a pool per test, a temporary directory, a boot
 * clock. */

#include <apr_general.h>
#include <apr_pools.h>
#include <apr_strings.h>
#include <check.h>
#include <stdlib.h>

/* The pool of the running test. */
extern apr_pool_t *unit_pool;

/*
 * Registers a program of the one binary that contains them, by the name of its file: `unit_tests
 * NAME` runs the cases that `add` adds, each with a fresh unit_pool, in a process of its own.
 * `prepare`, unless NULL, is called before.
 */
typedef struct unit_program_t {
    const char *file;
    void (*add)(TCase *tcase);
    void (*prepare)(void);
    struct unit_program_t *next;
} unit_program_t;

void unit_register(unit_program_t *program);

#define UNIT_PROGRAM_PREPARED(add, prepare)                                                        \
    static unit_program_t unit_program = {__FILE__, add, prepare, NULL};                           \
    __attribute__((constructor)) static void unit_program_register(void)                           \
    {                                                                                              \
        unit_register(&unit_program);                                                              \
    }
#define UNIT_PROGRAM(add) UNIT_PROGRAM_PREPARED(add, NULL)

/* From now to the end of the test the boot clock stands still at that time. */
void unit_boot_stop(apr_int64_t at_ms);

/* It moves ahead, for this test. */
void unit_boot_pass(apr_int64_t ms);

/* A sanitizer slows threads down by as much: with a storm that is shorter by this factor they meet
 * as often at a time. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNIT_SLOWER 4
#else
#define UNIT_SLOWER 1
#endif

/* A new empty directory of mode 0700 that unit_run removes after the test. */
const char *unit_dir(void);

/* The path of a file in one directory of this test, which the first call makes. */
const char *unit_file(const char *name);

/* The tree's folder share/. */
const char *unit_share(void);

/* How many rows a table has. */
#define UNIT_ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

#endif
