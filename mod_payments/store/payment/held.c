/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/held.h"

void pay_store_held_key(pay_store_key_t *key, const pay_scope_t *scope, pay_store_due_kind_t kind,
                        apr_uint64_t seq)
{
    unsigned char byte = (unsigned char)kind;

    pay_store_key_of_scope(key, scope);
    (void)pay_store_key_bytes(key, &byte, 1);
    pay_store_key_u64(key, seq);
}
