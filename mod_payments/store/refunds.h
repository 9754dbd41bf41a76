/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_REFUNDS_H
#define PAY_STORE_REFUNDS_H

/* Units of work of the store for refunds, both created here and imported. Include store/store.h
 * instead. */

#include "store/types.h"

/*
 * Judges against the charge and inserts the refund as pending, in one transaction. The proposal
 * names id, references, notes, channel, acquirer, worker, due_at; `amount_minor` 0 requests the
 * whole remainder. `use` (NULL: none) claims its Idempotency-Key in the same transaction: for the
 * refund, as long as it exists, or for a refusal, for PAY_IDEMPOTENCY_KEEP: R1 of a charge that is
 * decided, R2 and R3 if processed refunds alone cause them. R4, and refusals caused by a pending
 * charge or pending refunds, are not stored, because a later attempt may succeed. `repeat_window`
 * 0, or with `use`: no R5 rule; the rule also applies to a reversed charge, and comes before R2 to
 * R4. In Live Mode a refund that does not wait is refused while the store is restored and
 * unconfirmed, and for PAY_EPOCH_REPEAT_WINDOW if one of the same amount was fetched. *charge is
 * the charge afterwards. *record is set if the key is known: nothing was done then, and the rest is
 * not set. APR_NOTFOUND: no such charge; APR_EEXIST: id or reference is in use.
 */
apr_status_t pay_store_refund_open(pay_refund_t **out, pay_charge_t **charge,
                                   pay_refund_verdict_t *verdict, pay_idempotency_record_t **record,
                                   pay_store_t *store, const pay_refund_t *proposal,
                                   const pay_idempotency_t *use, apr_interval_time_t repeat_window,
                                   apr_pool_t *p);
/* Like charge_resolve, only while it is pending; also changes the charge's amounts and state. */
apr_status_t pay_store_refund_resolve(pay_refund_t **out, int *changed, pay_store_t *store,
                                      const pay_scope_t *scope, const char *refund_reference,
                                      const pay_outcome_t *outcome, apr_time_t due_at,
                                      apr_pool_t *p);
/*
 * The acquirer's later report that a processed refund failed after all: its amount can be refunded
 * again, and a reversed charge is successful again. *changed 0: it is not processed, and nothing
 * was done.
 */
apr_status_t pay_store_refund_fail(pay_refund_t **out, int *changed, pay_store_t *store,
                                   const pay_scope_t *scope, const char *refund_reference,
                                   apr_pool_t *p);
apr_status_t pay_store_refund_find(pay_refund_t **out, pay_store_t *store, const pay_scope_t *scope,
                                   const char *refund_reference, apr_pool_t *p);
/*
 * Writes the next chunk of the list: records as JSON text, a comma before each except the list's
 * first, into `buffer` of `size` bytes (at least PAY_STORE_CHUNK_SIZE). Order: createdAt, then seq.
 * No transaction stays open between chunks; the view is that of the first one. *count counts the
 * records of this chunk, which may be 0 before cursor->done is set.
 */
apr_status_t pay_store_refund_scan(pay_refund_cursor_t *cursor, apr_size_t *len, apr_size_t *count,
                                   pay_store_t *store, const pay_scope_t *scope,
                                   const pay_time_range_t *range, char *buffer, apr_size_t size);
/*
 * Array of pay_refund_t * created in `range`, newest first, at most `limit`: by createdAt and then
 * seq. Examines no more than PAY_STORE_LOOKS_MAX rows, and skips those of an unfinished import:
 * fewer than `limit`, or an empty array, is not the end. Call again until cursor->done.
 */
apr_status_t pay_store_refund_page(apr_array_header_t **out, pay_page_cursor_t *cursor,
                                   pay_store_t *store, const pay_scope_t *scope,
                                   const pay_time_range_t *range, int limit, apr_pool_t *p);

/*
 * Claims a refund that waits to be sent: it no longer waits, and has this worker and these
 * deadlines. *claimed 0: nothing was done, because it was not waiting, its account is in Test Mode,
 * or the store was restored and nobody confirmed it.
 */
apr_status_t pay_store_refund_claim(pay_refund_t **out, int *claimed, pay_store_t *store,
                                    const pay_scope_t *scope, const char *refund_reference,
                                    const pay_worker_t *worker, apr_int64_t send_before_ms,
                                    apr_int64_t wait_until_ms, apr_time_t due_at, apr_pool_t *p);
/*
 * A refund that failed for absence is queried late: makes it due at `due_at` (0: no more), holds
 * it, and stores `found` (NULL: nothing was found) as a contradiction, logged at ALERT. *changed 0:
 * it is not failed, and nothing was done.
 */
apr_status_t pay_store_refund_late(pay_refund_t **out, int *changed, pay_store_t *store,
                                   const pay_scope_t *scope, const char *refund_reference,
                                   const pay_outcome_t *found, apr_time_t due_at, pay_held_t held,
                                   const char *resolution, apr_pool_t *p);
/*
 * A refund made elsewhere that is pending there: from `due_at` on its acquirer is queried about it,
 * by its reference, as about ours. *changed 0: it is decided, queried already, made here, or has no
 * amount, and nothing was done. APR_NOTFOUND: none exists.
 */
apr_status_t pay_store_refund_ask(pay_refund_t **out, int *changed, pay_store_t *store,
                                  const pay_scope_t *scope, const char *refund_reference,
                                  const char *acquirer, apr_time_t due_at, apr_pool_t *p);
/* Sets *found to 1 if another account has, in the same mode, the charge or the refund that an
 * acquirer knows by this name or under this tag (each may be ""). */
apr_status_t pay_store_acquirer_elsewhere(int *found, pay_store_t *store, const pay_scope_t *scope,
                                          const char *charge_reference, const char *tag);
/* Finds the refund made here with the acquirer's name `acquirer_reference`, else the one sent under
 * `tag` (each may be ""); APR_NOTFOUND. */
apr_status_t pay_store_refund_find_acquirer(pay_refund_t **out, pay_store_t *store,
                                            const pay_scope_t *scope,
                                            const char *acquirer_reference, const char *tag,
                                            apr_pool_t *p);

/*
 * Links an imported refund to the charge of the acquirer's name for it, by the stored name, or in
 * rows of earlier versions by the record's transactionReference. `change` 0: only reports the
 * effect. *charge is set if there is one. APR_NOTFOUND: no such refund.
 */
apr_status_t pay_store_refund_link(pay_refund_t **out, pay_charge_t **charge,
                                   pay_refund_link_t *verdict, pay_store_t *store,
                                   const pay_scope_t *scope, const char *refund_reference,
                                   int change, apr_pool_t *p);

/* --- progress of fetching an acquirer's refunds (model/history.h) --- */
/* Never APR_NOTFOUND: a scope without a history reads as an empty one. */
apr_status_t pay_store_history_get(pay_history_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, apr_pool_t *p);
/* Requests a range, which ends now if its end is in the future; APR_EBUSY: one is under way. *out
 * is the stored request. */
apr_status_t pay_store_history_ask(pay_history_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, apr_time_t from, apr_time_t to,
                                   apr_pool_t *p);
/* Writes everything except the members that history_ask writes: asked, from, to. A row whose
 * `asked` has advanced keeps its own request's part. */
apr_status_t pay_store_history_put(pay_store_t *store, const pay_history_t *history, apr_pool_t *p);

/* --- import (docs/operations.md); APR_EBUSY: another one is running --- */
apr_status_t pay_store_import_begin(pay_import_t *out, pay_store_t *store, const pay_scope_t *scope,
                                    apr_pool_t *p);
/*
 * Array of pay_refund_t *, at most PAY_STORE_ROWS_MAX, one transaction. APR_EEXIST: *at is the
 * index of a row whose id or reference is known with other content; APR_EINVAL: its createdAt is
 * more than 5 minutes in the future. Nothing of the batch is written then.
 */
apr_status_t pay_store_import_rows(pay_import_t *import, int *at, pay_store_t *store,
                                   const apr_array_header_t *refunds, apr_pool_t *p);
apr_status_t pay_store_import_finish(pay_import_t *import, pay_store_t *store, apr_pool_t *p);
/* Instead of import_finish: deletes its rows and returns their amounts to charges; may be run
 * again. APR_EBUSY: it has ended already. import_begin removes the remains of a failed one. */
apr_status_t pay_store_import_abort(pay_import_t *import, pay_store_t *store, apr_pool_t *p);

#endif
