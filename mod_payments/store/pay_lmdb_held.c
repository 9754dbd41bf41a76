/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_held.h"

void pay_lmdb_held_key(pay_lmdb_key_t *key, const pay_scope_t *scope, pay_lmdb_due_kind_t kind,
                       apr_uint64_t seq)
{
    unsigned char byte = (unsigned char)kind;

    pay_lmdb_key_of_scope(key, scope);
    (void)pay_lmdb_key_bytes(key, &byte, 1);
    pay_lmdb_key_u64(key, seq);
}
