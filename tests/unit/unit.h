/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_H
#define UNIT_H

/* What every unit test program shares: its main, a pool per test, a temporary directory. */

#include <apr_general.h>
#include <apr_pools.h>
#include <apr_strings.h>
#include <check.h>
#include <stdlib.h>

/* The pool of the running test. */
extern apr_pool_t *unit_pool;

/* Runs the cases that `add` registers, each with a fresh unit_pool; returns main's exit code. */
int unit_run(const char *name, void (*add)(TCase *tcase));

/* A new empty directory of mode 0700 that unit_run removes after the test. */
const char *unit_dir(void);

/* The tree's folder share/. */
const char *unit_share(void);

/* How many rows a table has. */
#define UNIT_ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

#endif
