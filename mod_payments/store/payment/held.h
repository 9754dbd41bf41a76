/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_HELD_H
#define PAY_STORE_PAYMENT_HELD_H

/*
 * The index of charges and refunds that need review by a person: a row has an entry while its
 * `held` names a reason. Keys are those of pending_due without the time. Functions run inside the
 * caller's transaction.
 */

#include "store/keys.h"
#include "store/payment/due.h"
#include "store/rows.h"

/* scope (5), kind (1), seq (8) */
#define PAY_STORE_HELD_KEY_LEN (PAY_STORE_SCOPE_LEN + 1 + 8)

/* What the indexes of charges and of refunds (pay_store_index_t) have in common. */
#define PAY_STORE_HELD_INDEX                                                                       \
    .tables = {PAY_TABLE_HELD}, .key_len = PAY_STORE_HELD_KEY_LEN,                                 \
    .missing = "it waits for a person, but is not in that list",                                   \
    .astray = "leads to nothing that waits for a person"

void pay_store_held_key(pay_store_key_t *key, const pay_scope_t *scope, pay_store_due_kind_t kind,
                        apr_uint64_t seq);

#endif
