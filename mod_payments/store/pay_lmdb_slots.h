/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_LMDB_SLOTS_H
#define PAY_LMDB_SLOTS_H

/* LMDB's units of work, as the slots of store/pay_store_ops.h say. */

#include "store/pay_store.h"

/* Slots of the vtable, by file. pay_lmdb_ops.c names them all. */
#define PAY_LMDB_SLOT(name) __typeof__(*((pay_store_ops_t *)0)->name) pay_lmdb_##name
PAY_LMDB_SLOT(account_create); /* pay_lmdb_account.c */
PAY_LMDB_SLOT(account_get);
PAY_LMDB_SLOT(account_set);
PAY_LMDB_SLOT(account_list);
PAY_LMDB_SLOT(account_rows); /* pay_lmdb_rows.c */
PAY_LMDB_SLOT(defaults_put);
PAY_LMDB_SLOT(defaults_get);
PAY_LMDB_SLOT(key_create); /* pay_lmdb_api_key.c */
PAY_LMDB_SLOT(key_find);
PAY_LMDB_SLOT(key_get);
PAY_LMDB_SLOT(key_revoke);
PAY_LMDB_SLOT(key_rotate);
PAY_LMDB_SLOT(key_touch);
PAY_LMDB_SLOT(key_list);     /* pay_lmdb_api_key_list.c */
PAY_LMDB_SLOT(token_create); /* pay_lmdb_token.c */
PAY_LMDB_SLOT(token_get);
PAY_LMDB_SLOT(token_list);
PAY_LMDB_SLOT(token_revoke);
PAY_LMDB_SLOT(grant_put); /* pay_lmdb_grant.c */
PAY_LMDB_SLOT(grant_delete);
PAY_LMDB_SLOT(grant_get); /* pay_lmdb_grant_list.c */
PAY_LMDB_SLOT(grant_list);
PAY_LMDB_SLOT(grant_list_user);
PAY_LMDB_SLOT(audit_note); /* pay_lmdb_audit.c */
PAY_LMDB_SLOT(audit_list);
PAY_LMDB_SLOT(charge_find); /* pay_lmdb_charge_open.c */
PAY_LMDB_SLOT(charge_open);
PAY_LMDB_SLOT(charge_resolve);
PAY_LMDB_SLOT(charge_withdraw);
PAY_LMDB_SLOT(charge_late);      /* pay_lmdb_charge_late.c */
PAY_LMDB_SLOT(charge_list);      /* pay_lmdb_charge_list.c */
PAY_LMDB_SLOT(charge_search);    /* pay_lmdb_charge_search.c */
PAY_LMDB_SLOT(transaction_find); /* pay_lmdb_transaction.c */
PAY_LMDB_SLOT(transaction_get);
PAY_LMDB_SLOT(charge_void);    /* pay_lmdb_charge_void.c */
PAY_LMDB_SLOT(page_find);      /* pay_lmdb_page.c */
PAY_LMDB_SLOT(checkout_move);  /* pay_lmdb_checkout_move.c */
PAY_LMDB_SLOT(checkout_sweep); /* pay_lmdb_checkout_sweep.c */
PAY_LMDB_SLOT(link_create);    /* pay_lmdb_link.c */
PAY_LMDB_SLOT(link_get);
PAY_LMDB_SLOT(link_list);
PAY_LMDB_SLOT(link_disable);
PAY_LMDB_SLOT(kept_find); /* pay_lmdb_kept.c */
PAY_LMDB_SLOT(kept_put);
PAY_LMDB_SLOT(kept_expire);    /* pay_lmdb_kept_expire.c */
PAY_LMDB_SLOT(total_list);     /* pay_lmdb_total.c */
PAY_LMDB_SLOT(refund_open);    /* pay_lmdb_refund_open.c */
PAY_LMDB_SLOT(refund_resolve); /* pay_lmdb_refund_resolve.c */
PAY_LMDB_SLOT(refund_fail);    /* pay_lmdb_refund_fail.c */
PAY_LMDB_SLOT(refund_find);
PAY_LMDB_SLOT(refund_claim);         /* pay_lmdb_refund_claim.c */
PAY_LMDB_SLOT(refund_late);          /* pay_lmdb_refund_late.c */
PAY_LMDB_SLOT(refund_ask);           /* pay_lmdb_refund_ask.c */
PAY_LMDB_SLOT(acquirer_elsewhere);   /* pay_lmdb_acquirer_find.c */
PAY_LMDB_SLOT(refund_link);          /* pay_lmdb_refund_link.c */
PAY_LMDB_SLOT(charge_find_acquirer); /* pay_lmdb_acquirer_find.c */
PAY_LMDB_SLOT(refund_find_acquirer);
PAY_LMDB_SLOT(history_get); /* pay_lmdb_history.c */
PAY_LMDB_SLOT(history_ask);
PAY_LMDB_SLOT(history_put);
PAY_LMDB_SLOT(held_list);     /* pay_lmdb_held_list.c */
PAY_LMDB_SLOT(refund_scan);   /* pay_lmdb_refund_list.c */
PAY_LMDB_SLOT(refund_page);   /* pay_lmdb_refund_page.c */
PAY_LMDB_SLOT(waiting_count); /* pay_lmdb_waiting.c */
PAY_LMDB_SLOT(refund_waiting);
PAY_LMDB_SLOT(import_begin); /* pay_lmdb_import.c */
PAY_LMDB_SLOT(import_rows);
PAY_LMDB_SLOT(import_abort); /* pay_lmdb_import_abort.c */
PAY_LMDB_SLOT(import_finish);
PAY_LMDB_SLOT(delivery_put); /* pay_lmdb_delivery.c */
PAY_LMDB_SLOT(delivery_get);
PAY_LMDB_SLOT(endpoint_put); /* pay_lmdb_endpoint.c */
PAY_LMDB_SLOT(endpoint_switch);
PAY_LMDB_SLOT(endpoint_get);
PAY_LMDB_SLOT(endpoint_list);
PAY_LMDB_SLOT(endpoint_reseal);
PAY_LMDB_SLOT(encryption_key_put); /* pay_lmdb_encryption_key.c */
PAY_LMDB_SLOT(encryption_key_get);
PAY_LMDB_SLOT(encryption_key_list);
PAY_LMDB_SLOT(encryption_key_reseal);
PAY_LMDB_SLOT(event_test);   /* pay_lmdb_event_add.c */
PAY_LMDB_SLOT(event_take);   /* pay_lmdb_event_take.c */
PAY_LMDB_SLOT(event_finish); /* pay_lmdb_event_finish.c */
PAY_LMDB_SLOT(event_list);   /* pay_lmdb_event_list.c */
PAY_LMDB_SLOT(event_get);
PAY_LMDB_SLOT(event_retry); /* pay_lmdb_event_retry.c */
PAY_LMDB_SLOT(event_drop);
PAY_LMDB_SLOT(event_stat); /* pay_lmdb_event_list.c */
PAY_LMDB_SLOT(due_take);   /* pay_lmdb_due_take.c */
PAY_LMDB_SLOT(stat);       /* pay_lmdb_stat.c */
PAY_LMDB_SLOT(check);      /* pay_lmdb_check.c */
PAY_LMDB_SLOT(backup);     /* pay_lmdb_stat.c */
PAY_LMDB_SLOT(epoch_find); /* pay_lmdb_epoch.c */
PAY_LMDB_SLOT(epoch_synced);
PAY_LMDB_SLOT(epoch_confirm);
PAY_LMDB_SLOT(housekeep);   /* pay_lmdb_handle.c */
PAY_LMDB_SLOT(payer_erase); /* pay_lmdb_erase.c */
PAY_LMDB_SLOT(scope_reset); /* pay_lmdb_reset.c */
#undef PAY_LMDB_SLOT

#endif
