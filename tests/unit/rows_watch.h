/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ROWS_WATCH_H
#define ROWS_WATCH_H

/*
 * Which rows a unit of work says that it will read (pay_rows_hint), and which it reads one by one
 * in its transaction: what an engine over a network would fetch with the turns, and what would cost
 * it a trip each. For tests of one thread.
 */

#include "store/rows.h"

/* From here on; nothing was seen yet. */
void rows_watch(void);
/*
 * Names of tables, in the order of the first time, each with a blank behind it. Unhinted: of rows
 * that were read and not told of; those that a reference led to count as told of with it. Unread:
 * of rows that were told of and not read by their keys.
 */
const char *rows_watch_unhinted(void);
const char *rows_watch_unread(void);

#endif
