/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_MARK_H
#define PAY_STORE_LMDB_MARK_H

/*
 * The mark of a store that made a process die, and which store a thread is in. For the handles
 * (store/lmdb/handle.c), _env, _use and _verify only; what the floors above see of it is in
 * store/store.h.
 */

#include "store/store.h"

/*
 * From enter to leave this thread may touch the files of the store with that mark (NULL: one
 * without). Calls nest within one store; a signal handler reads what they wrote.
 */
void pay_lmdb_mark_enter(pay_store_mark_t *mark);
void pay_lmdb_mark_leave(void);

/*
 * Another number each time that the mark is set or cleared. What was opened at another one is not
 * used any more: its files may have been put back meanwhile. NULL: 0.
 */
unsigned int pay_lmdb_mark_word(const pay_store_mark_t *mark);

#endif
