/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_CHARGES_H
#define PAY_STORE_CHARGES_H

/* Units of work of the store for charges and idempotency records. Include store/store.h instead. */

#include "store/types.h"

/* The result of charge_open for the reference. */
typedef enum pay_claim_t {
    PAY_CLAIM_NEW,      /* created now, pending */
    PAY_CLAIM_KNOWN,    /* the same request was made before: *out is its row */
    PAY_CLAIM_CONFLICT, /* another request has the reference: *out is its row */
    PAY_CLAIM_KEY_USED, /* the reference is new, the Idempotency-Key another request's: *out NULL */
    /* For a checkout of a payment link. */
    PAY_CLAIM_LINK_AGAIN, /* can be paid once, and this payer has begun: *out is that checkout */
    PAY_CLAIM_LINK_BUSY,  /* another payer has begun; here and below *out is NULL */
    PAY_CLAIM_LINK_USED,
    PAY_CLAIM_LINK_EXPIRED,
    PAY_CLAIM_LINK_DISABLED,
    PAY_CLAIM_LINK_UNKNOWN
} pay_claim_t;

/* Finds a charge by its acquirer's reference, if it has one; APR_NOTFOUND. */
apr_status_t pay_store_charge_find_acquirer(pay_charge_t **out, pay_store_t *store,
                                            const pay_scope_t *scope,
                                            const char *acquirer_reference, apr_pool_t *p);
apr_status_t pay_store_charge_find(pay_charge_t **out, pay_store_t *store, const pay_scope_t *scope,
                                   const char *reference, apr_pool_t *p);
/* The data to judge a charge request by, read at one moment. */
typedef struct pay_charge_look_t {
    pay_charge_t *known;       /* the charge that has the reference; NULL: it is new */
    pay_token_t *token;        /* the token of a new one; else NULL */
    apr_status_t token_status; /* APR_NOTFOUND: there is no such token; or why it cannot be read */
} pay_charge_look_t;

/*
 * Looks up the reference and, if it is new, the token (NULL: no token), in one read transaction.
 * APR_SUCCESS also if the token cannot be read: it is judged later.
 */
apr_status_t pay_store_charge_look(pay_charge_look_t *out, pay_store_t *store,
                                   const pay_scope_t *scope, const char *reference,
                                   const char *token, apr_pool_t *p);
/*
 * Claims proposal->reference and inserts the charge with the next seq; sets created_at, updated_at
 * and seq. `outcome` NULL: it is pending, and due_at of the proposal is the first reconciliation.
 * Else it is decided in the same transaction (never PAY_OUTCOME_UNKNOWN), which is for outcomes
 * that are unknown outside this process: pay_acquirer_t's is_pure. `use` (NULL: none) claims its
 * Idempotency-Key for the charge in the same transaction; the reference is judged first. A checkout
 * that names a payment link is opened only if the link can be paid now.
 */
apr_status_t pay_store_charge_open(pay_charge_t **out, pay_claim_t *claim, pay_store_t *store,
                                   const pay_charge_t *proposal, const pay_outcome_t *outcome,
                                   const pay_idempotency_t *use, apr_pool_t *p);
/*
 * Compare and set: acts only while the charge is pending. *changed 1: this call decided it (or, for
 * PAY_OUTCOME_UNKNOWN, released its worker and made it due at `due_at`). *changed 0: it was decided
 * before; *out is the stored outcome, which the client gets. A contradicting outcome is logged at
 * ALERT and stored, unless it is a person's. A checkout that is void or abandoned was not decided:
 * PAY_OUTCOME_APPROVED makes it successful (*changed 1), anything else leaves it alone, except for
 * the time (0: none) of the next query while it is queried. With PAY_OUTCOME_UNKNOWN the row takes
 * over absent_since, absent_from and held; a decision clears them. An outcome for absence leaves it
 * due at late_check_at, for charge_late.
 */
apr_status_t pay_store_charge_resolve(pay_charge_t **out, int *changed, pay_store_t *store,
                                      const pay_scope_t *scope, apr_uint64_t seq,
                                      const pay_outcome_t *outcome, apr_time_t due_at,
                                      apr_pool_t *p);
/*
 * A step of a failed charge that is queried late (docs/live-mode.md, "Late approvals"): acts only
 * while it is failed and its `late` is step->from, else *changed 0. The steps to PAY_LATE_FOUND or
 * PAY_LATE_REFUNDING from PAY_LATE_NONE store step->outcome as a contradiction, logged at ALERT.
 * State, amounts and totals never change.
 */
typedef struct pay_late_step_t {
    pay_late_t from, to;
    const char *tag;              /* of PAY_LATE_REFUNDING; NULL: unchanged */
    const pay_outcome_t *outcome; /* the approval; NULL: none */
    apr_time_t sent_at;           /* of PAY_LATE_REFUNDING, stored as absent_since; 0: unchanged */
    pay_moment_t sent;            /* stored as absent_from, with sent_at */
    apr_time_t due_at;            /* time of the next query; 0: no more */
    pay_held_t held;
    const char *resolution; /* NULL: unchanged */
} pay_late_step_t;
apr_status_t pay_store_charge_late(pay_charge_t **out, int *changed, pay_store_t *store,
                                   const pay_scope_t *scope, apr_uint64_t seq,
                                   const pay_late_step_t *step, apr_pool_t *p);
/* Removes a pending charge that provably never left the process: the reference is free again.
 * APR_EINVAL: it is not pending. */
apr_status_t pay_store_charge_withdraw(pay_store_t *store, const pay_scope_t *scope,
                                       apr_uint64_t seq, apr_pool_t *p);
/*
 * Array of pay_charge_t * created in `range`, at most `limit`, by createdAt and then seq; those
 * after `after` (NULL: from the start), the last row of the previous call.
 */
apr_status_t pay_store_charge_list(apr_array_header_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, const pay_time_range_t *range,
                                   const pay_charge_t *after, int limit, apr_pool_t *p);
/*
 * Array of pay_charge_t * that match `filter`, newest first (by createdAt and then seq), at most
 * `limit`. One short read transaction, which reads no more than PAY_STORE_LOOKS_MAX rows: fewer
 * than `limit`, or an empty array, is not the end. Call again until cursor->done.
 */
apr_status_t pay_store_charge_search(apr_array_header_t **out, pay_charge_cursor_t *cursor,
                                     pay_store_t *store, const pay_scope_t *scope,
                                     const pay_charge_filter_t *filter, int limit, apr_pool_t *p);
/* Finds the charge and its refunds, as one read transaction sees them. */
apr_status_t pay_store_transaction_find(pay_transaction_t *out, pay_store_t *store,
                                        const pay_scope_t *scope, const char *reference,
                                        apr_pool_t *p);
/* Finds the same by the charge's seq. */
apr_status_t pay_store_transaction_get(pay_transaction_t *out, pay_store_t *store,
                                       const pay_scope_t *scope, apr_uint64_t seq, apr_pool_t *p);
/*
 * Voids a pending checkout, in one transaction with the idempotency record of `use` (NULL: none):
 * the text of pay_void_answer_to_json. *voided 0: it is something else, or a worker is at work on
 * it, and nothing was done. *record is set if the Idempotency-Key is known: nothing was done then
 * either.
 */
apr_status_t pay_store_charge_void(pay_charge_t **out, int *voided,
                                   pay_idempotency_record_t **record, pay_store_t *store,
                                   const pay_scope_t *scope, const char *reference,
                                   const pay_idempotency_t *use, apr_pool_t *p);

/* --- Idempotency-Keys (docs/api.md, "Retries") --- */
/* Finds the idempotency record of the key; APR_NOTFOUND if none exists. */
apr_status_t pay_store_idempotency_find(pay_idempotency_record_t **out, pay_store_t *store,
                                        const pay_scope_t *scope, const pay_idempotency_t *use,
                                        apr_pool_t *p);
/* Stores `text` as the answer of an operation that changes nothing else. An existing record stays;
 * *out is the present record. */
apr_status_t pay_store_idempotency_put(pay_idempotency_record_t **out, pay_store_t *store,
                                       const pay_scope_t *scope, const pay_idempotency_t *use,
                                       const char *text, apr_pool_t *p);
/*
 * Deletes up to `limit` idempotency records that have expired at `now`, never those of refunds nor
 * of pending charges (examined again an hour later). *count: examined entries.
 */
apr_status_t pay_store_idempotency_expire(int *count, pay_store_t *store, apr_time_t now, int limit,
                                          apr_pool_t *p);

#endif
