/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_OPS_H
#define PAY_STORE_OPS_H

/* The vtable of a store: typed units of work. Include store/pay_store.h instead. */

#include "store/pay_store_types.h"

typedef struct pay_store_ops_t {
    /* --- accounts: APR_EEXIST when the name is taken --- */
    apr_status_t (*account_create)(pay_account_t **out, pay_store_t *store, const char *name,
                                   const pay_account_settings_t *settings, apr_pool_t *p);
    apr_status_t (*account_get)(pay_account_t **out, pay_store_t *store, const char *name,
                                apr_pool_t *p);
    /* NULL members of `settings` stay as they are; `mode` NULL likewise. */
    apr_status_t (*account_set)(pay_account_t **out, pay_store_t *store, const char *name,
                                const pay_account_settings_t *settings, const pay_mode_t *mode,
                                apr_pool_t *p);
    /* Array of pay_account_t *, by name. */
    apr_status_t (*account_list)(apr_array_header_t **out, pay_store_t *store, apr_pool_t *p);

    /* The settings that `account create NAME` starts from; `name` "" for any account. */
    apr_status_t (*defaults_put)(pay_store_t *store, const char *name,
                                 const pay_account_settings_t *settings, apr_pool_t *p);
    /* Of the name, else of "", else the built-in ones. Never APR_NOTFOUND. */
    apr_status_t (*defaults_get)(pay_account_settings_t **out, pay_store_t *store, const char *name,
                                 apr_pool_t *p);

    /* --- keys: digest, id, scope, kind of `key` are stored; APR_EEXIST: the digest is known --- */
    apr_status_t (*key_create)(pay_api_key_t **out, pay_store_t *store, const pay_api_key_t *key,
                               apr_pool_t *p);
    /* By digest, revoked ones too; account filled in. */
    apr_status_t (*key_find)(pay_api_key_t **out, pay_store_t *store,
                             const unsigned char digest[PAY_SHA256_LEN], apr_pool_t *p);
    apr_status_t (*key_get)(pay_api_key_t **out, pay_store_t *store, const char *id, apr_pool_t *p);
    /* Array of pay_api_key_t *, oldest first; all accounts' when `name` is NULL. */
    apr_status_t (*key_list)(apr_array_header_t **out, pay_store_t *store, const char *name,
                             apr_pool_t *p);
    /* Valid until `when`; 0 or not ahead: revoked for good. An earlier end stands. */
    apr_status_t (*key_revoke)(pay_api_key_t **out, pay_store_t *store, const char *id,
                               apr_time_t when, apr_pool_t *p);
    /* At once: `id` ends as by key_revoke, `successor` created. APR_EINVAL: it has an end already.
     */
    apr_status_t (*key_rotate)(pay_api_key_t **out, pay_store_t *store, const char *id,
                               apr_time_t until, const pay_api_key_t *successor, apr_pool_t *p);
    /* Array of pay_api_key_t (digest and last_used_at set): moves last_used_at forward only. */
    apr_status_t (*key_touch)(pay_store_t *store, const apr_array_header_t *used, apr_pool_t *p);

    /* --- tokens: APR_EEXIST when the scope has it --- */
    apr_status_t (*token_create)(pay_token_t **out, pay_store_t *store, const pay_token_t *token,
                                 apr_pool_t *p);
    apr_status_t (*token_get)(pay_token_t **out, pay_store_t *store, const pay_scope_t *scope,
                              const char *token, apr_pool_t *p);
    apr_status_t (*token_list)(apr_array_header_t **out, pay_store_t *store,
                               const pay_scope_t *scope, apr_pool_t *p);
    apr_status_t (*token_revoke)(pay_token_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 const char *token, apr_pool_t *p);

    /* --- charges --- */
    apr_status_t (*charge_find)(pay_charge_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const char *reference, apr_pool_t *p);
    /*
     * Claims proposal->reference and inserts the charge as pending with the next seq; created_at,
     * updated_at and seq are given here. due_at of the proposal is the first reconciliation.
     */
    apr_status_t (*charge_open)(pay_charge_t **out, pay_claim_t *claim, pay_store_t *store,
                                const pay_charge_t *proposal, apr_pool_t *p);
    /*
     * Compare and set: acts only while the charge is pending. *changed 1: this call decided it
     * (or, for PAY_OUTCOME_UNKNOWN, released its worker and made it due at `due_at`). *changed 0:
     * it was decided before; *out is the stored outcome, which is what the client is told. A
     * contradicting outcome is logged at ALERT and kept.
     */
    apr_status_t (*charge_resolve)(pay_charge_t **out, int *changed, pay_store_t *store,
                                   const pay_scope_t *scope, apr_uint64_t seq,
                                   const pay_outcome_t *outcome, apr_time_t due_at, apr_pool_t *p);
    /* Takes back a pending charge that provably never left the process: the reference is free
     * again. APR_EINVAL: it is not pending. */
    apr_status_t (*charge_withdraw)(pay_store_t *store, const pay_scope_t *scope, apr_uint64_t seq,
                                    apr_pool_t *p);
    /* Array of pay_charge_t *, seq above `after`, ascending, at most `limit`. */
    apr_status_t (*charge_list)(apr_array_header_t **out, pay_store_t *store,
                                const pay_scope_t *scope, apr_uint64_t after, int limit,
                                apr_pool_t *p);

    /* --- refunds --- */
    /*
     * One transaction judges against the charge and inserts the refund as pending. The
     * proposal names id, references, notes, channel, acquirer, worker, due_at; `amount_minor` 0
     * asks for all that is left. `repeat_window` 0: no R5 rule. *charge is the charge as it is
     * afterwards. APR_NOTFOUND: no such charge; APR_EEXIST: id or reference is in use.
     */
    apr_status_t (*refund_open)(pay_refund_t **out, pay_charge_t **charge,
                                pay_refund_verdict_t *verdict, pay_store_t *store,
                                const pay_refund_t *proposal, apr_interval_time_t repeat_window,
                                apr_pool_t *p);
    /* As charge_resolve, only while it is pending; moves the charge's amounts and state too. */
    apr_status_t (*refund_resolve)(pay_refund_t **out, int *changed, pay_store_t *store,
                                   const pay_scope_t *scope, const char *refund_reference,
                                   const pay_outcome_t *outcome, apr_time_t due_at, apr_pool_t *p);
    apr_status_t (*refund_find)(pay_refund_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const char *refund_reference, apr_pool_t *p);
    /*
     * The next chunk of the list: records as JSON text, a comma before each but the list's first,
     * into `buffer` of `size` bytes (at least PAY_STORE_CHUNK_SIZE). Order: createdAt, then seq.
     * No transaction stays open between chunks; the view is that of the first one.
     * *count counts the records of this chunk, which may be none before cursor->done is set.
     */
    apr_status_t (*refund_scan)(pay_refund_cursor_t *cursor, apr_size_t *len, apr_size_t *count,
                                pay_store_t *store, const pay_scope_t *scope,
                                const pay_refund_range_t *range, char *buffer, apr_size_t size);

    /* --- import (docs/operations.md); APR_EBUSY: another one is running --- */
    apr_status_t (*import_begin)(pay_import_t *out, pay_store_t *store, const pay_scope_t *scope,
                                 apr_pool_t *p);
    /*
     * Array of pay_refund_t *, at most PAY_STORE_ROWS_MAX, one transaction. APR_EEXIST: *at is the
     * index of a row whose id or reference is known with other content; APR_EINVAL: its createdAt
     * lies more than 5 minutes ahead. Nothing of the batch is written then.
     */
    apr_status_t (*import_rows)(pay_import_t *import, int *at, pay_store_t *store,
                                const apr_array_header_t *refunds, apr_pool_t *p);
    apr_status_t (*import_finish)(pay_import_t *import, pay_store_t *store, apr_pool_t *p);
    /* Instead of import_finish: takes out its rows, gives charges their amounts back; may be run
     * again. APR_EBUSY: it is over already. What a failed one leaves, import_begin removes. */
    apr_status_t (*import_abort)(pay_import_t *import, pay_store_t *store, apr_pool_t *p);

    /* --- reconciliation --- */
    /*
     * Array of pay_due_t, at most `limit`, due at `now`; each is pushed `lease` ahead and its
     * attempts counted in the same transaction, so that a process that dies loses nothing.
     * Rows whose worker is at work are left alone. A row that does not decode is logged and
     * skipped.
     */
    apr_status_t (*due_take)(apr_array_header_t **out, pay_store_t *store, apr_time_t now,
                             apr_interval_time_t lease, int limit, apr_pool_t *p);

    /* --- housekeeping --- */
    apr_status_t (*stat)(pay_store_stat_t *out, pay_store_t *store, apr_pool_t *p);
    /* Counts faults: rows that do not decode, indexes that disagree, sums of refunds that do. */
    apr_status_t (*check)(apr_size_t *faults, pay_store_t *store, pay_store_fault_t report,
                          void *baton, apr_pool_t *p);
    /* A compact copy into the new directory `path` (mode 0700). */
    apr_status_t (*backup)(pay_store_t *store, const char *path, apr_pool_t *p);
    /* Frees the slots of dead readers; reopens a store that is down when its back-off is over. */
    apr_status_t (*housekeep)(pay_store_t *store, apr_pool_t *p);
} pay_store_ops_t;

#endif
