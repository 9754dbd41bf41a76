/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ROWS_WATCH_H
#define ROWS_WATCH_H

/*
 * Which rows a unit of work announces to read (pay_rows_hint), and which it reads one by one in its
 * transaction: the rows that an engine over a network would fetch with the turns, and those that
 * would cost it one trip each. For tests of one thread.
 */

#include "store/rows.h"

/* From here on; nothing was seen yet. */
void rows_watch(void);
/*
 * Names of tables, in the order of the first time, each followed by a blank. Unhinted: of rows that
 * were read but not announced; those that a reference led to count as announced with it. Unread: of
 * rows that were announced but not read by their keys.
 */
const char *rows_watch_unhinted(void);
const char *rows_watch_unread(void);

#endif
