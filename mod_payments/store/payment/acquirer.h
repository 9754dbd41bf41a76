/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_ACQUIRER_H
#define PAY_STORE_PAYMENT_ACQUIRER_H

/*
 * The index of the names under which acquirers know charges and refunds. Functions run inside the
 * caller's transaction.
 */

#include "store/keys.h"
#include "store/rows.h"

typedef enum pay_store_acquirer_kind_t {
    PAY_ACQUIRER_CHARGE = 1, /* a charge's acquirer_reference */
    PAY_ACQUIRER_REFUND = 2, /* the acquirer's name of a refund */
    PAY_ACQUIRER_TAG = 3,    /* the tag a refund was sent under */
    /* A charge that is unknown here: the name, a NUL, and the number of one of its refunds. */
    PAY_ACQUIRER_UNLINKED = 4
} pay_store_acquirer_kind_t;

#define PAY_STORE_ACQUIRER_KIND_AT PAY_STORE_SCOPE_LEN /* the text follows it */
#define PAY_STORE_ACQUIRER_KEY_MIN (PAY_STORE_ACQUIRER_KIND_AT + 2)

/* Returns 0 if the name is too long for any key. */
int pay_store_acquirer_key(pay_store_key_t *key, const pay_scope_t *scope,
                           pay_store_acquirer_kind_t kind, const char *name);

/* The key of PAY_ACQUIRER_UNLINKED: `name` is the acquirer's name of the charge of refund `seq`.
 * Returns 0 if it is too long for any key. */
int pay_store_acquirer_unlinked_key(pay_store_key_t *key, const pay_scope_t *scope,
                                    const char *name, apr_uint64_t seq);

/* Stores the acquirer's name of the refund unless one is known. The caller writes the row. */
void pay_store_acquirer_name_refund(pay_refund_t *refund, const char *acquirer_reference,
                                    apr_pool_t *p);

/* --- store/payment/acquirer.c --- */
/* The charge with that name at the acquirer; PAY_ROWS_NOTFOUND. */
int pay_store_acquirer_charge(pay_charge_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                              const char *name, apr_pool_t *p);

#endif
