/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_OPS_H
#define PAY_STORE_OPS_H

/* The vtable of a store: typed units of work. Include store/pay_store.h instead. */

#include "store/pay_store_account_ops.h"
#include "store/pay_store_charge_ops.h"
#include "store/pay_store_checkout_ops.h"
#include "store/pay_store_due_ops.h"
#include "store/pay_store_erase_ops.h"
#include "store/pay_store_event_ops.h"
#include "store/pay_store_refund_ops.h"

/* --- housekeeping --- */
typedef apr_status_t pay_store_stat_fn(pay_store_stat_t *out, pay_store_t *store, apr_pool_t *p);
/* Counts faults: rows that do not decode, indexes that disagree, sums of refunds that do. */
typedef apr_status_t pay_store_check_fn(apr_size_t *faults, pay_store_t *store,
                                        pay_store_fault_t report, void *baton, apr_pool_t *p);
/* A compact copy into the new directory `path` (mode 0700), which says that it is one: opened for
 * writing, it begins a new epoch. */
typedef apr_status_t pay_store_backup_fn(pay_store_t *store, const char *path, apr_pool_t *p);
/* Frees the slots of dead readers; reopens a store that is down when its back-off is over. */
typedef apr_status_t pay_store_housekeep_fn(pay_store_t *store, apr_pool_t *p);

/* --- what follows when a copy is put back (model/pay_epoch.h) --- */
typedef apr_status_t pay_store_epoch_find_fn(pay_epoch_t *out, pay_store_t *store);
/* 1 in *wanted if the refunds of the account's Live Mode must be fetched from its acquirer before
 * the hold ends: it is in Live Mode, or has charges there; 1 in *synced if they were since the
 * epoch began; *from: when they must be fetched from at the latest, 0: not known. */
typedef apr_status_t pay_store_epoch_synced_fn(int *wanted, int *synced, apr_time_t *from,
                                               pay_store_t *store, const pay_account_t *account,
                                               apr_pool_t *p);
/*
 * Ends the hold. *was_held 0: nothing was held. Unless `allow_unsynced`, *unsynced is set, and
 * nothing is done, while there is an account that must be synced and is not: the first one.
 */
typedef apr_status_t pay_store_epoch_confirm_fn(int *was_held, const pay_account_t **unsynced,
                                                pay_store_t *store, int allow_unsynced,
                                                apr_pool_t *p);

/* A typed unit of work each. */
typedef struct pay_store_ops_t {
    /* accounts, keys, tokens, grants, audit: pay_store_account_ops.h */
    pay_store_account_create_fn *account_create;
    pay_store_account_get_fn *account_get;
    pay_store_account_set_fn *account_set;
    pay_store_account_list_fn *account_list;
    pay_store_account_rows_fn *account_rows;
    pay_store_defaults_put_fn *defaults_put;
    pay_store_defaults_get_fn *defaults_get;
    pay_store_key_create_fn *key_create;
    pay_store_key_find_fn *key_find;
    pay_store_key_get_fn *key_get;
    pay_store_key_list_fn *key_list;
    pay_store_key_revoke_fn *key_revoke;
    pay_store_key_rotate_fn *key_rotate;
    pay_store_key_touch_fn *key_touch;
    pay_store_token_create_fn *token_create;
    pay_store_token_get_fn *token_get;
    pay_store_token_list_fn *token_list;
    pay_store_token_revoke_fn *token_revoke;
    pay_store_grant_put_fn *grant_put;
    pay_store_grant_delete_fn *grant_delete;
    pay_store_grant_get_fn *grant_get;
    pay_store_grant_list_fn *grant_list;
    pay_store_grant_list_user_fn *grant_list_user;
    pay_store_audit_note_fn *audit_note;
    pay_store_audit_list_fn *audit_list;
    /* charges, idempotency keys: pay_store_charge_ops.h */
    pay_store_charge_find_fn *charge_find;
    pay_store_charge_find_acquirer_fn *charge_find_acquirer;
    pay_store_charge_open_fn *charge_open;
    pay_store_charge_resolve_fn *charge_resolve;
    pay_store_charge_late_fn *charge_late;
    pay_store_charge_withdraw_fn *charge_withdraw;
    pay_store_charge_list_fn *charge_list;
    pay_store_charge_search_fn *charge_search;
    pay_store_transaction_find_fn *transaction_find;
    pay_store_transaction_get_fn *transaction_get;
    pay_store_charge_void_fn *charge_void;
    pay_store_page_find_fn *page_find; /* pay_store_checkout_ops.h */
    pay_store_checkout_move_fn *checkout_move;
    pay_store_checkout_sweep_fn *checkout_sweep;
    pay_store_link_create_fn *link_create;
    pay_store_link_get_fn *link_get;
    pay_store_link_list_fn *link_list;
    pay_store_link_disable_fn *link_disable;
    pay_store_kept_find_fn *kept_find;
    pay_store_kept_put_fn *kept_put;
    pay_store_kept_expire_fn *kept_expire;
    /* refunds, import: pay_store_refund_ops.h */
    pay_store_refund_open_fn *refund_open;
    pay_store_refund_resolve_fn *refund_resolve;
    pay_store_refund_fail_fn *refund_fail;
    pay_store_refund_claim_fn *refund_claim;
    pay_store_refund_late_fn *refund_late;
    pay_store_refund_ask_fn *refund_ask;
    pay_store_acquirer_elsewhere_fn *acquirer_elsewhere;
    pay_store_refund_link_fn *refund_link;
    pay_store_refund_find_fn *refund_find;
    pay_store_refund_find_acquirer_fn *refund_find_acquirer;
    pay_store_refund_scan_fn *refund_scan;
    pay_store_refund_page_fn *refund_page;
    pay_store_history_get_fn *history_get;
    pay_store_history_ask_fn *history_ask;
    pay_store_history_put_fn *history_put;
    pay_store_import_begin_fn *import_begin;
    pay_store_import_rows_fn *import_rows;
    pay_store_import_finish_fn *import_finish;
    pay_store_import_abort_fn *import_abort;
    /* endpoints, events: pay_store_event_ops.h */
    pay_store_delivery_put_fn *delivery_put;
    pay_store_delivery_get_fn *delivery_get;
    pay_store_endpoint_put_fn *endpoint_put;
    pay_store_endpoint_switch_fn *endpoint_switch;
    pay_store_endpoint_get_fn *endpoint_get;
    pay_store_endpoint_list_fn *endpoint_list;
    pay_store_endpoint_reseal_fn *endpoint_reseal;
    pay_store_event_test_fn *event_test;
    pay_store_event_take_fn *event_take;
    pay_store_event_finish_fn *event_finish;
    pay_store_event_list_fn *event_list;
    pay_store_event_get_fn *event_get;
    pay_store_event_retry_fn *event_retry;
    pay_store_event_drop_fn *event_drop;
    pay_store_event_stat_fn *event_stat;
    /* encryption keys: pay_store_account_ops.h */
    pay_store_encryption_key_put_fn *encryption_key_put;
    pay_store_encryption_key_get_fn *encryption_key_get;
    pay_store_encryption_key_list_fn *encryption_key_list;
    pay_store_encryption_key_reseal_fn *encryption_key_reseal;
    /* erasing: pay_store_erase_ops.h */
    pay_store_payer_erase_fn *payer_erase;
    pay_store_scope_reset_fn *scope_reset;
    /* reconciliation: pay_store_due_ops.h */
    pay_store_due_take_fn *due_take;
    pay_store_held_list_fn *held_list;
    pay_store_waiting_count_fn *waiting_count;
    pay_store_refund_waiting_fn *refund_waiting;
    /* above */
    pay_store_total_list_fn *total_list;
    pay_store_stat_fn *stat;
    pay_store_check_fn *check;
    pay_store_backup_fn *backup;
    pay_store_epoch_find_fn *epoch_find;
    pay_store_epoch_synced_fn *epoch_synced;
    pay_store_epoch_confirm_fn *epoch_confirm;
    pay_store_housekeep_fn *housekeep;
} pay_store_ops_t;

#endif
