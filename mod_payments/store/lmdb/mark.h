/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_MARK_H
#define PAY_STORE_LMDB_MARK_H

/*
 * The mark of a store in which a process died, and the store that a thread is in. For the handles
 * (store/lmdb/handle.c), _env, _use and _verify only; its part for the layers above is in
 * store/store.h.
 */

#include "store/store.h"

/*
 * Between enter and leave this thread may touch the files of the store with that mark (NULL: a
 * store without a mark). Calls nest within one store; a signal handler reads the state that they
 * write.
 */
void pay_lmdb_mark_enter(pay_store_mark_t *mark);
void pay_lmdb_mark_leave(void);

/*
 * A number that changes each time the mark is set or cleared. An environment opened at another
 * number is not used any more: its files may have been restored meanwhile. NULL: 0.
 */
unsigned int pay_lmdb_mark_word(const pay_store_mark_t *mark);

#endif
