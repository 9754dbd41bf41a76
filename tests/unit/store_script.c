/* SPDX-License-Identifier: Apache-2.0 */
#include "store_script.h"

#include "store/rows.h"

store_script_t store_script;
_Atomic int store_reads;

__typeof__(pay_rows_begin) __real_pay_rows_begin, __wrap_pay_rows_begin;

apr_status_t __wrap_pay_rows_begin(pay_rows_txn_t *txn, pay_store_t *store)
{
    store_reads++;
    return __real_pay_rows_begin(txn, store);
}

#define SCRIPTED(name) (store_script.name ? store_script.name : STORE_REAL(name))

#define WRAPPER_DECLARE(name) __typeof__(pay_store_##name) __wrap_pay_store_##name;
STORE_SCRIPT(WRAPPER_DECLARE)

apr_status_t __wrap_pay_store_account_get(pay_account_t **out, pay_store_t *store, const char *name,
                                          apr_pool_t *p)
{
    return SCRIPTED(account_get)(out, store, name, p);
}

apr_status_t __wrap_pay_store_account_list(apr_array_header_t **out, pay_store_t *store,
                                           apr_pool_t *p)
{
    return SCRIPTED(account_list)(out, store, p);
}

apr_status_t __wrap_pay_store_account_rows(pay_account_rows_t *out, pay_store_t *store,
                                           apr_uint32_t account, apr_pool_t *p)
{
    return SCRIPTED(account_rows)(out, store, account, p);
}

apr_status_t __wrap_pay_store_account_set(pay_account_t **out, pay_store_t *store, const char *name,
                                          const pay_account_settings_t *settings,
                                          const pay_mode_t *mode, apr_pool_t *p)
{
    return SCRIPTED(account_set)(out, store, name, settings, mode, p);
}

apr_status_t __wrap_pay_store_audit_list(apr_array_header_t **out, pay_store_t *store,
                                         apr_uint32_t account, apr_uint64_t before, int limit,
                                         apr_pool_t *p)
{
    return SCRIPTED(audit_list)(out, store, account, before, limit, p);
}

apr_status_t __wrap_pay_store_audit_note(pay_store_t *store)
{
    return SCRIPTED(audit_note)(store);
}

apr_status_t __wrap_pay_store_charge_find(pay_charge_t **out, pay_store_t *store,
                                          const pay_scope_t *scope, const char *reference,
                                          apr_pool_t *p)
{
    return SCRIPTED(charge_find)(out, store, scope, reference, p);
}

apr_status_t __wrap_pay_store_charge_late(pay_charge_t **out, int *changed, pay_store_t *store,
                                          const pay_scope_t *scope, apr_uint64_t seq,
                                          const pay_late_step_t *step, apr_pool_t *p)
{
    return SCRIPTED(charge_late)(out, changed, store, scope, seq, step, p);
}

apr_status_t __wrap_pay_store_charge_list(apr_array_header_t **out, pay_store_t *store,
                                          const pay_scope_t *scope, const pay_time_range_t *range,
                                          const pay_charge_t *after, int limit, apr_pool_t *p)
{
    return SCRIPTED(charge_list)(out, store, scope, range, after, limit, p);
}

apr_status_t __wrap_pay_store_charge_look(pay_charge_look_t *out, pay_store_t *store,
                                          const pay_scope_t *scope, const char *reference,
                                          const char *token, apr_pool_t *p)
{
    return SCRIPTED(charge_look)(out, store, scope, reference, token, p);
}

apr_status_t __wrap_pay_store_charge_open(pay_charge_t **out, pay_claim_t *claim,
                                          pay_store_t *store, const pay_charge_t *proposal,
                                          const pay_outcome_t *outcome,
                                          const pay_idempotency_t *use, apr_pool_t *p)
{
    return SCRIPTED(charge_open)(out, claim, store, proposal, outcome, use, p);
}

apr_status_t __wrap_pay_store_charge_resolve(pay_charge_t **out, int *changed, pay_store_t *store,
                                             const pay_scope_t *scope, apr_uint64_t seq,
                                             const pay_outcome_t *outcome, apr_time_t due_at,
                                             apr_pool_t *p)
{
    return SCRIPTED(charge_resolve)(out, changed, store, scope, seq, outcome, due_at, p);
}

apr_status_t __wrap_pay_store_charge_search(apr_array_header_t **out, pay_charge_cursor_t *cursor,
                                            pay_store_t *store, const pay_scope_t *scope,
                                            const pay_charge_filter_t *filter, int limit,
                                            apr_pool_t *p)
{
    return SCRIPTED(charge_search)(out, cursor, store, scope, filter, limit, p);
}

apr_status_t __wrap_pay_store_charge_void(pay_charge_t **out, int *voided,
                                          pay_idempotency_record_t **record, pay_store_t *store,
                                          const pay_scope_t *scope, const char *reference,
                                          const pay_idempotency_t *use, apr_pool_t *p)
{
    return SCRIPTED(charge_void)(out, voided, record, store, scope, reference, use, p);
}

apr_status_t __wrap_pay_store_charge_withdraw(pay_store_t *store, const pay_scope_t *scope,
                                              apr_uint64_t seq, apr_pool_t *p)
{
    return SCRIPTED(charge_withdraw)(store, scope, seq, p);
}

apr_status_t __wrap_pay_store_delivery_get(pay_delivery_t **out, pay_store_t *store, apr_pool_t *p)
{
    return SCRIPTED(delivery_get)(out, store, p);
}

apr_status_t __wrap_pay_store_due_take(apr_array_header_t **out, pay_store_t *store, apr_time_t now,
                                       apr_interval_time_t lease, int limit, apr_pool_t *p)
{
    return SCRIPTED(due_take)(out, store, now, lease, limit, p);
}

apr_status_t __wrap_pay_store_encryption_key_get(pay_encryption_key_t **out, pay_store_t *store,
                                                 const pay_scope_t *scope, apr_pool_t *p)
{
    return SCRIPTED(encryption_key_get)(out, store, scope, p);
}

apr_status_t __wrap_pay_store_encryption_key_list(apr_array_header_t **out, pay_store_t *store,
                                                  const pay_scope_t *after, int limit,
                                                  apr_pool_t *p)
{
    return SCRIPTED(encryption_key_list)(out, store, after, limit, p);
}

apr_status_t __wrap_pay_store_encryption_key_put(pay_encryption_key_t **out, pay_store_t *store,
                                                 const pay_encryption_key_t *key, int replace,
                                                 apr_pool_t *p)
{
    return SCRIPTED(encryption_key_put)(out, store, key, replace, p);
}

apr_status_t __wrap_pay_store_endpoint_get(pay_endpoint_t **out, pay_store_t *store,
                                           const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                           apr_pool_t *p)
{
    return SCRIPTED(endpoint_get)(out, store, scope, kind, p);
}

apr_status_t __wrap_pay_store_endpoint_list(apr_array_header_t **out, pay_store_t *store,
                                            const pay_endpoint_t *after, int limit, apr_pool_t *p)
{
    return SCRIPTED(endpoint_list)(out, store, after, limit, p);
}

apr_status_t __wrap_pay_store_epoch_find(pay_epoch_t *out, pay_store_t *store)
{
    return SCRIPTED(epoch_find)(out, store);
}

apr_status_t __wrap_pay_store_epoch_synced(int *wanted, int *synced, apr_time_t *from,
                                           pay_store_t *store, const pay_account_t *account,
                                           apr_pool_t *p)
{
    return SCRIPTED(epoch_synced)(wanted, synced, from, store, account, p);
}

apr_status_t __wrap_pay_store_event_drop(pay_event_t **out, pay_store_t *store,
                                         const pay_scope_t *scope, const pay_event_t *place,
                                         apr_pool_t *p)
{
    return SCRIPTED(event_drop)(out, store, scope, place, p);
}

apr_status_t __wrap_pay_store_event_finish(pay_store_t *store, apr_array_header_t *results,
                                           apr_pool_t *p)
{
    return SCRIPTED(event_finish)(store, results, p);
}

apr_status_t __wrap_pay_store_event_get(pay_event_t **out, pay_store_t *store,
                                        const pay_scope_t *scope, const pay_event_t *place,
                                        apr_pool_t *p)
{
    return SCRIPTED(event_get)(out, store, scope, place, p);
}

apr_status_t __wrap_pay_store_event_list(apr_array_header_t **out, pay_store_t *store,
                                         const pay_scope_t *scope, int parked,
                                         const pay_event_t *after, int limit, apr_pool_t *p)
{
    return SCRIPTED(event_list)(out, store, scope, parked, after, limit, p);
}

apr_status_t __wrap_pay_store_event_retry(pay_event_t **out, pay_store_t *store,
                                          const pay_scope_t *scope, const pay_event_t *place,
                                          apr_pool_t *p)
{
    return SCRIPTED(event_retry)(out, store, scope, place, p);
}

apr_status_t __wrap_pay_store_event_stat(pay_event_stat_t *out, pay_store_t *store, apr_pool_t *p)
{
    return SCRIPTED(event_stat)(out, store, p);
}

apr_status_t __wrap_pay_store_event_take(apr_array_header_t **out, pay_store_t *store, int limit,
                                         pay_event_budget_t *budget, void *baton, apr_pool_t *p)
{
    return SCRIPTED(event_take)(out, store, limit, budget, baton, p);
}

apr_status_t __wrap_pay_store_event_test(pay_event_t **out, pay_store_t *store,
                                         const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                         apr_pool_t *p)
{
    return SCRIPTED(event_test)(out, store, scope, kind, p);
}

apr_status_t __wrap_pay_store_grant_list(apr_array_header_t **out, pay_store_t *store,
                                         const char *name, apr_pool_t *p)
{
    return SCRIPTED(grant_list)(out, store, name, p);
}

apr_status_t __wrap_pay_store_grant_put(pay_grant_t **out, pay_grant_verdict_t *verdict,
                                        pay_store_t *store, const char *name, const char *host,
                                        const char *user, pay_role_t role, int keep_owner,
                                        apr_pool_t *p)
{
    return SCRIPTED(grant_put)(out, verdict, store, name, host, user, role, keep_owner, p);
}

apr_status_t __wrap_pay_store_held_list(apr_array_header_t **out, pay_store_t *store,
                                        const pay_scope_t *scope, const pay_due_t *after, int limit,
                                        apr_pool_t *p)
{
    return SCRIPTED(held_list)(out, store, scope, after, limit, p);
}

apr_status_t __wrap_pay_store_history_ask(pay_history_t **out, pay_store_t *store,
                                          const pay_scope_t *scope, apr_time_t from, apr_time_t to,
                                          apr_pool_t *p)
{
    return SCRIPTED(history_ask)(out, store, scope, from, to, p);
}

apr_status_t __wrap_pay_store_history_get(pay_history_t **out, pay_store_t *store,
                                          const pay_scope_t *scope, apr_pool_t *p)
{
    return SCRIPTED(history_get)(out, store, scope, p);
}

apr_status_t __wrap_pay_store_history_put(pay_store_t *store, const pay_history_t *history,
                                          apr_pool_t *p)
{
    return SCRIPTED(history_put)(store, history, p);
}

apr_status_t __wrap_pay_store_import_abort(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    return SCRIPTED(import_abort)(import, store, p);
}

apr_status_t __wrap_pay_store_import_begin(pay_import_t *out, pay_store_t *store,
                                           const pay_scope_t *scope, apr_pool_t *p)
{
    return SCRIPTED(import_begin)(out, store, scope, p);
}

apr_status_t __wrap_pay_store_import_finish(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    return SCRIPTED(import_finish)(import, store, p);
}

apr_status_t __wrap_pay_store_import_rows(pay_import_t *import, int *at, pay_store_t *store,
                                          const apr_array_header_t *refunds, apr_pool_t *p)
{
    return SCRIPTED(import_rows)(import, at, store, refunds, p);
}

apr_status_t __wrap_pay_store_idempotency_find(pay_idempotency_record_t **out, pay_store_t *store,
                                               const pay_scope_t *scope,
                                               const pay_idempotency_t *use, apr_pool_t *p)
{
    return SCRIPTED(idempotency_find)(out, store, scope, use, p);
}

apr_status_t __wrap_pay_store_idempotency_put(pay_idempotency_record_t **out, pay_store_t *store,
                                              const pay_scope_t *scope,
                                              const pay_idempotency_t *use, const char *text,
                                              apr_pool_t *p)
{
    return SCRIPTED(idempotency_put)(out, store, scope, use, text, p);
}

apr_status_t __wrap_pay_store_key_find(pay_api_key_t **out, pay_store_t *store,
                                       const unsigned char digest[PAY_SHA256_LEN], apr_pool_t *p)
{
    return SCRIPTED(key_find)(out, store, digest, p);
}

apr_status_t __wrap_pay_store_key_list(apr_array_header_t **out, pay_store_t *store,
                                       const char *name, apr_pool_t *p)
{
    return SCRIPTED(key_list)(out, store, name, p);
}

apr_status_t __wrap_pay_store_key_touch(pay_store_t *store, const apr_array_header_t *used,
                                        apr_pool_t *p)
{
    return SCRIPTED(key_touch)(store, used, p);
}

apr_status_t __wrap_pay_store_link_get(pay_link_t **out, pay_store_t *store,
                                       const pay_scope_t *scope, const char *reference,
                                       apr_pool_t *p)
{
    return SCRIPTED(link_get)(out, store, scope, reference, p);
}

apr_status_t __wrap_pay_store_link_list(apr_array_header_t **out, pay_store_t *store,
                                        const pay_scope_t *scope, const char *after, int limit,
                                        apr_pool_t *p)
{
    return SCRIPTED(link_list)(out, store, scope, after, limit, p);
}

apr_status_t __wrap_pay_store_payer_erase(pay_erasure_t *at, pay_store_t *store,
                                          const pay_scope_t *scope, const char *email,
                                          apr_pool_t *p)
{
    return SCRIPTED(payer_erase)(at, store, scope, email, p);
}

apr_status_t __wrap_pay_store_refund_claim(pay_refund_t **out, int *claimed, pay_store_t *store,
                                           const pay_scope_t *scope, const char *refund_reference,
                                           const pay_worker_t *worker, apr_int64_t send_before_ms,
                                           apr_int64_t wait_until_ms, apr_time_t due_at,
                                           apr_pool_t *p)
{
    return SCRIPTED(refund_claim)(out, claimed, store, scope, refund_reference, worker,
                                  send_before_ms, wait_until_ms, due_at, p);
}

apr_status_t __wrap_pay_store_refund_find(pay_refund_t **out, pay_store_t *store,
                                          const pay_scope_t *scope, const char *refund_reference,
                                          apr_pool_t *p)
{
    return SCRIPTED(refund_find)(out, store, scope, refund_reference, p);
}

apr_status_t __wrap_pay_store_refund_late(pay_refund_t **out, int *changed, pay_store_t *store,
                                          const pay_scope_t *scope, const char *refund_reference,
                                          const pay_outcome_t *found, apr_time_t due_at,
                                          pay_held_t held, const char *resolution, apr_pool_t *p)
{
    return SCRIPTED(refund_late)(out, changed, store, scope, refund_reference, found, due_at, held,
                                 resolution, p);
}

apr_status_t __wrap_pay_store_refund_link(pay_refund_t **out, pay_charge_t **charge,
                                          pay_refund_link_t *verdict, pay_store_t *store,
                                          const pay_scope_t *scope, const char *refund_reference,
                                          int change, apr_pool_t *p)
{
    return SCRIPTED(refund_link)(out, charge, verdict, store, scope, refund_reference, change, p);
}

apr_status_t __wrap_pay_store_refund_open(pay_refund_t **out, pay_charge_t **charge,
                                          pay_refund_verdict_t *verdict,
                                          pay_idempotency_record_t **record, pay_store_t *store,
                                          const pay_refund_t *proposal,
                                          const pay_idempotency_t *use,
                                          apr_interval_time_t repeat_window, apr_pool_t *p)
{
    return SCRIPTED(refund_open)(out, charge, verdict, record, store, proposal, use, repeat_window,
                                 p);
}

apr_status_t __wrap_pay_store_refund_page(apr_array_header_t **out, pay_page_cursor_t *cursor,
                                          pay_store_t *store, const pay_scope_t *scope,
                                          const pay_time_range_t *range, int limit, apr_pool_t *p)
{
    return SCRIPTED(refund_page)(out, cursor, store, scope, range, limit, p);
}

apr_status_t __wrap_pay_store_refund_resolve(pay_refund_t **out, int *changed, pay_store_t *store,
                                             const pay_scope_t *scope, const char *refund_reference,
                                             const pay_outcome_t *outcome, apr_time_t due_at,
                                             apr_pool_t *p)
{
    return SCRIPTED(refund_resolve)(out, changed, store, scope, refund_reference, outcome, due_at,
                                    p);
}

apr_status_t __wrap_pay_store_refund_scan(pay_refund_cursor_t *cursor, apr_size_t *len,
                                          apr_size_t *count, pay_store_t *store,
                                          const pay_scope_t *scope, const pay_time_range_t *range,
                                          char *buffer, apr_size_t size)
{
    return SCRIPTED(refund_scan)(cursor, len, count, store, scope, range, buffer, size);
}

apr_status_t __wrap_pay_store_refund_waiting(apr_array_header_t **out, pay_store_t *store,
                                             const pay_scope_t *scope, int limit, apr_pool_t *p)
{
    return SCRIPTED(refund_waiting)(out, store, scope, limit, p);
}

apr_status_t __wrap_pay_store_scope_reset(pay_reset_t *at, pay_store_t *store,
                                          const pay_scope_t *scope, apr_pool_t *p)
{
    return SCRIPTED(scope_reset)(at, store, scope, p);
}

apr_status_t __wrap_pay_store_stat(pay_store_stat_t *out, pay_store_t *store, apr_pool_t *p)
{
    return SCRIPTED(stat)(out, store, p);
}

apr_status_t __wrap_pay_store_token_get(pay_token_t **out, pay_store_t *store,
                                        const pay_scope_t *scope, const char *token, apr_pool_t *p)
{
    return SCRIPTED(token_get)(out, store, scope, token, p);
}

apr_status_t __wrap_pay_store_token_list(apr_array_header_t **out, pay_store_t *store,
                                         const pay_scope_t *scope, apr_pool_t *p)
{
    return SCRIPTED(token_list)(out, store, scope, p);
}

apr_status_t __wrap_pay_store_total_list(apr_array_header_t **out, pay_store_t *store,
                                         const pay_scope_t *scope, const pay_time_range_t *range,
                                         const pay_total_t *after, int limit, apr_pool_t *p)
{
    return SCRIPTED(total_list)(out, store, scope, range, after, limit, p);
}

apr_status_t __wrap_pay_store_transaction_find(pay_transaction_t *out, pay_store_t *store,
                                               const pay_scope_t *scope, const char *reference,
                                               apr_pool_t *p)
{
    return SCRIPTED(transaction_find)(out, store, scope, reference, p);
}

apr_status_t __wrap_pay_store_waiting_count(pay_waiting_t *out, pay_store_t *store,
                                            const pay_scope_t *scope, int limit)
{
    return SCRIPTED(waiting_count)(out, store, scope, limit);
}
