/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_DUE_H
#define PAY_STORE_PAYMENT_DUE_H

/*
 * The index of rows by the time of their next query to the acquirer, in one of two tables: a
 * pending row has an entry in pending_due at its own due_at; one that failed for absence, or a
 * closed checkout, has an entry in late_due as long as its due_at is not 0. A checkout that nobody
 * has paid yet is due when it expires: these open ones have a part of their own, after all that
 * were sent to an acquirer, so that both can be counted without reading a row. A store that an
 * earlier version wrote has them among the others, where they count as pending until they are
 * checked: at the latest when they expire. Functions run inside the caller's transaction.
 */

#include "store/keys.h"
#include "store/rows.h"

typedef enum pay_store_due_kind_t { PAY_DUE_CHARGE = 1, PAY_DUE_REFUND = 2 } pay_store_due_kind_t;

/* due time (8), scope (5), kind (1), seq (8) */
#define PAY_STORE_DUE_KEY_LEN (8 + PAY_STORE_SCOPE_LEN + 1 + 8)

/* Added to the time in the key of an open checkout. No due time is that late. */
#define PAY_STORE_DUE_OPEN_FROM ((apr_time_t)1 << 62)

/* What the indexes of charges and of refunds (pay_store_index_t) have in common. */
#define PAY_STORE_DUE_NOTHING "leads to nothing that is due"
#define PAY_STORE_DUE_INDEX                                                                        \
    .tables = {PAY_TABLE_PENDING_DUE, PAY_TABLE_LATE_DUE}, .key_len = PAY_STORE_DUE_KEY_LEN,       \
    .missing = "it is due, but nothing will query it", .astray = PAY_STORE_DUE_NOTHING

#define PAY_STORE_DUE_PLACES_MAX 2

typedef enum pay_store_due_part_t { PAY_DUE_SENT, PAY_DUE_OPEN } pay_store_due_part_t;

/* Entries of pending_due that are counted one by one; if more were sent, all count as sent. */
#define PAY_STORE_DUE_COUNT_MAX 100000

pay_table_t pay_store_due_table_charge(const pay_charge_t *charge);
pay_table_t pay_store_due_table_refund(const pay_refund_t *refund);

void pay_store_due_key(pay_store_key_t *key, apr_time_t due_at, const pay_scope_t *scope,
                       pay_store_due_kind_t kind, apr_uint64_t seq);

/* The keys at which the entry of a charge may be; the last one is for an open checkout. */
int pay_store_due_places(pay_store_key_t places[PAY_STORE_DUE_PLACES_MAX],
                         const pay_charge_t *charge);

/* Accepts any key of the table; a key of a wrong length counts as sent. */
pay_store_due_part_t pay_store_due_part(const pay_bytes_t *key);
/* The due time of a key of PAY_STORE_DUE_KEY_LEN bytes, in either part. */
apr_time_t pay_store_due_time(const pay_bytes_t *key);
/* Makes the first key of a part. */
void pay_store_due_begin(pay_store_key_t *key, pay_store_due_part_t part);

/* Counts the entries of each part of pending_due. Its time depends on the number of sent entries,
 * not of open ones. */
int pay_store_due_count(apr_uint64_t *sent, apr_uint64_t *open, pay_rows_txn_t *txn);

#endif
