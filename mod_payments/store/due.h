/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_DUE_H
#define PAY_STORE_DUE_H

/* Units of work of the store for what waits: for its acquirer, or for a person. Include
 * store/store.h instead. */

#include "store/types.h"

/*
 * Array of pay_due_t, at most `limit`, due at `now`; each is pushed `lease` ahead and its
 * attempts counted in the same transaction, so that a process that dies loses nothing.
 * Rows whose worker is at work are left alone. A row that does not decode is logged and
 * skipped. Among them are failed ones, which are asked about late.
 */
apr_status_t pay_store_due_take(apr_array_header_t **out, pay_store_t *store, apr_time_t now,
                                apr_interval_time_t lease, int limit, apr_pool_t *p);

/*
 * Charges and refunds that are held for a person, of one scope or (NULL) of all, at most `limit`,
 * by scope, charges first; those behind `after` (NULL: from the start), the last one of the call
 * before.
 */
apr_status_t pay_store_held_list(apr_array_header_t **out, pay_store_t *store,
                                 const pay_scope_t *scope, const pay_due_t *after, int limit,
                                 apr_pool_t *p);

/* What waits in a scope, counted up to `limit` each; of the pending charges, and of the open
 * checkouts, the first ones that are due, of all scopes PAY_STORE_LOOKS_MAX at most. */
apr_status_t pay_store_waiting_count(pay_waiting_t *out, pay_store_t *store,
                                     const pay_scope_t *scope, int limit);

/* Array of pay_refund_t *, at most `limit`: those of the scope that wait to be sent, by the time
 * they are due, as far as they are among the first PAY_STORE_LOOKS_MAX pending rows of the store.
 */
apr_status_t pay_store_refund_waiting(apr_array_header_t **out, pay_store_t *store,
                                      const pay_scope_t *scope, int limit, apr_pool_t *p);

#endif
