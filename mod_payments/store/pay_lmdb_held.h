/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_LMDB_HELD_H
#define PAY_LMDB_HELD_H

/*
 * The index of charges and refunds that wait for a person: a row has an entry while its `held` says
 * why. Keys are those of pending_due without the time. Functions run inside the caller's
 * transaction.
 */

#include "store/pay_rows.h"
#include "store/pay_lmdb_due.h"
#include "store/pay_lmdb_keys.h"

/* scope (5), kind (1), seq (8) */
#define PAY_LMDB_HELD_KEY_LEN (PAY_LMDB_SCOPE_LEN + 1 + 8)

void pay_lmdb_held_key(pay_lmdb_key_t *key, const pay_scope_t *scope, pay_lmdb_due_kind_t kind,
                       apr_uint64_t seq);

#endif
