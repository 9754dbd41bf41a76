/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_AUDIT_H
#define PAY_STORE_RECORD_AUDIT_H

/*
 * The audit: a handle of pay_store_audited appends its entry in the transaction of the first change
 * that is made through it, as the hook of that handle. Works and the commit do not know about it,
 * except for works that add details.
 */

#include "store/keys.h"
#include "store/rows.h"

#define PAY_STORE_AUDIT_KEY_LEN (4 + 8)

/*
 * Sets what a work adds to the entry of its handle, if there is one. An account of 0 and NULL texts
 * keep the caller's values. The texts live until the work has ended.
 */
void pay_store_audit_tell(pay_store_t *db, apr_uint32_t account, const char *subject,
                          const char *detail);

void pay_store_audit_key(pay_store_key_t *key, apr_uint32_t account, apr_uint64_t seq);
int pay_store_audit_decode(pay_audit_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                           apr_pool_t *p);
int pay_store_audit_encode(pay_bytes_t *row, const pay_audit_t *entry, apr_pool_t *p);

/* Sets *out to the seq of the account's last entry, 0 if it has none. PAY_ROWS_BAD if that entry's
 * key is damaged. */
int pay_store_audit_last(apr_uint64_t *out, pay_rows_txn_t *txn, apr_uint32_t account);

#endif
