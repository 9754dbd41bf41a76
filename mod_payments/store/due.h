/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_DUE_H
#define PAY_STORE_DUE_H

/* Units of work of the store for waiting payments: for their acquirer, or for a person. Include
 * store/store.h instead. */

#include "store/types.h"

/*
 * Array of pay_due_t, at most `limit`, due at `now`; each is postponed by `lease` and its attempts
 * are counted in the same transaction, so that a process that dies loses nothing. Rows whose worker
 * is at work are left alone. A row that does not decode is logged and skipped. Failed ones that are
 * queried late are among them.
 */
apr_status_t pay_store_due_take(apr_array_header_t **out, pay_store_t *store, apr_time_t now,
                                apr_interval_time_t lease, int limit, apr_pool_t *p);

/*
 * Charges and refunds that are held for a person, of one scope or (NULL) of all, at most `limit`,
 * by scope, charges first; those after `after` (NULL: from the start), the last one of the previous
 * call.
 */
apr_status_t pay_store_held_list(apr_array_header_t **out, pay_store_t *store,
                                 const pay_scope_t *scope, const pay_due_t *after, int limit,
                                 apr_pool_t *p);

/* Counts the waiting work of a scope, up to `limit` each; of the pending charges, and of the open
 * checkouts, the first due ones, at most PAY_STORE_LOOKS_MAX of all scopes. */
apr_status_t pay_store_waiting_count(pay_waiting_t *out, pay_store_t *store,
                                     const pay_scope_t *scope, int limit);

/* Array of pay_refund_t *, at most `limit`: those of the scope that wait to be sent, by due time,
 * as far as they are among the first PAY_STORE_LOOKS_MAX pending rows of the store. */
apr_status_t pay_store_refund_waiting(apr_array_header_t **out, pay_store_t *store,
                                      const pay_scope_t *scope, int limit, apr_pool_t *p);

#endif
