/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/acquirer.h"

#include "store/record/text.h"

#include <string.h>

int pay_store_acquirer_key(pay_store_key_t *key, const pay_scope_t *scope,
                           pay_store_acquirer_kind_t kind, const char *name)
{
    unsigned char byte = (unsigned char)kind;

    pay_store_key_of_scope(key, scope);
    (void)pay_store_key_bytes(key, &byte, 1);
    return pay_store_key_bytes(key, name, strlen(name));
}

static int is_named(const char *name)
{
    return name && *name;
}

void pay_store_acquirer_name_refund(pay_refund_t *refund, const char *acquirer_reference,
                                    apr_pool_t *p)
{
    if (refund->import_number != 0 /* its own reference is the acquirer's */
        || !is_named(acquirer_reference) || is_named(refund->acquirer_reference)
        || strlen(acquirer_reference) > PAY_REFUND_REFERENCE_MAX) {
        return;
    }
    refund->acquirer_reference =
        pay_store_text_cut(acquirer_reference, PAY_REFUND_REFERENCE_MAX, p);
}

int pay_store_acquirer_unlinked_key(pay_store_key_t *key, const pay_scope_t *scope,
                                    const char *name, apr_uint64_t seq)
{
    pay_store_key_t number;

    pay_store_key_start(&number);
    pay_store_key_u64(&number, seq);
    return pay_store_acquirer_key(key, scope, PAY_ACQUIRER_UNLINKED, name)
           && pay_store_key_bytes(key, "", 1) && pay_store_key_bytes(key, number.bytes, number.len);
}
