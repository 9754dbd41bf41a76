/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_LMDB_ACQUIRER_H
#define PAY_LMDB_ACQUIRER_H

/*
 * The index by the names under which acquirers know charges and refunds. Functions run inside the
 * caller's transaction.
 */

#include "store/pay_lmdb.h"
#include "store/pay_lmdb_keys.h"

typedef enum pay_lmdb_acquirer_kind_t {
    PAY_ACQUIRER_CHARGE = 1, /* a charge's acquirer_reference */
    PAY_ACQUIRER_REFUND = 2, /* what the acquirer calls a refund */
    PAY_ACQUIRER_TAG = 3,    /* what a refund was sent under */
    /* A charge that is not known here: the name, a NUL, and the number of one of its refunds. */
    PAY_ACQUIRER_UNLINKED = 4
} pay_lmdb_acquirer_kind_t;

#define PAY_LMDB_ACQUIRER_KIND_AT PAY_LMDB_SCOPE_LEN /* the text follows it */

/* 0 when the name is too long for any key. */
int pay_lmdb_acquirer_key(pay_lmdb_key_t *key, const pay_scope_t *scope,
                          pay_lmdb_acquirer_kind_t kind, const char *name);

/* Nothing is done for a name that is "". MDB_KEYEXIST: another row has it. */
int pay_lmdb_acquirer_put_charge(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge);
int pay_lmdb_acquirer_del_charge(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge);

/*
 * A refund's tag, and what the acquirer calls it, as far as it has them; for a row that is written
 * in the same transaction. A name that another refund has already is left to that one: logged, for
 * an acquirer that mixes up its records must not keep an outcome from being stored.
 */
int pay_lmdb_acquirer_put_refund(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund);

/* Takes both out, as far as they lead to it. */
int pay_lmdb_acquirer_del_refund(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund);

/* The same for what the acquirer calls the charge of a refund that has none here. The row is
 * written, or taken out, in the same transaction. */
int pay_lmdb_acquirer_unlinked_key(pay_lmdb_key_t *key, const pay_scope_t *scope, const char *name,
                                   apr_uint64_t seq);
int pay_lmdb_acquirer_put_unlinked(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund);
int pay_lmdb_acquirer_del_unlinked(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund);

/* The charge that the acquirer calls so; MDB_NOTFOUND. */
int pay_lmdb_acquirer_charge(pay_charge_t **out, MDB_txn *txn, const pay_lmdb_t *db,
                             const pay_scope_t *scope, const char *name, apr_pool_t *p);

/* Takes over what the acquirer calls it, unless that is known. The row is written by the caller. */
int pay_lmdb_acquirer_name_refund(MDB_txn *txn, const pay_lmdb_t *db, pay_refund_t *refund,
                                  const char *acquirer_reference, apr_pool_t *p);

#endif
