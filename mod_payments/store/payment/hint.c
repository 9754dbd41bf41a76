/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/hint.h"

#include "base/text/money.h"
#include "store/event/endpoint.h"
#include "store/payment/charge.h"
#include "store/payment/idempotency.h"
#include "store/payment/link.h"
#include "store/payment/refund.h"
#include "store/payment/total.h"
#include "store/record/epoch.h"
#include "store/record/time.h"

#include <apr_strings.h>

static void hint(pay_rows_txn_t *txn, pay_table_t table, const pay_store_key_t *key)
{
    const pay_bytes_t at = pay_store_key_val(key);

    pay_rows_hint(txn, table, &at);
}

void pay_store_hint_reference(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *reference)
{
    pay_store_key_t key;

    if (pay_store_charge_ref_key(&key, scope, reference)) {
        hint(txn, PAY_TABLE_CHARGE_REF, &key);
    }
}

void pay_store_hint_charge(pay_rows_txn_t *txn, const pay_scope_t *scope, apr_uint64_t seq)
{
    pay_store_key_t key;

    pay_store_charge_key(&key, scope, seq);
    hint(txn, PAY_TABLE_CHARGE, &key);
    hint(txn, PAY_TABLE_CHECKOUT, &key);
}

void pay_store_hint_idempotency(pay_rows_txn_t *txn, const pay_scope_t *scope,
                                const pay_idempotency_t *use)
{
    pay_store_key_t key;

    if (use && pay_store_idempotency_key(&key, scope, use) == 0) {
        hint(txn, PAY_TABLE_IDEMPOTENCY, &key);
    }
}

void pay_store_hint_refund(pay_rows_txn_t *txn, pay_table_t table, const pay_scope_t *scope,
                           const char *name)
{
    pay_store_key_t key;

    if (pay_store_refund_name_key(&key, scope, name)) {
        hint(txn, table, &key);
    }
}

void pay_store_hint_events(pay_rows_txn_t *txn, const pay_scope_t *scope)
{
    const pay_bytes_t epoch = pay_store_epoch_key();
    pay_store_key_t key;
    int kind;

    for (kind = PAY_ENDPOINT_WEBHOOK; kind <= PAY_ENDPOINT_KIND_LAST; kind++) {
        pay_store_endpoint_key(&key, scope, (pay_endpoint_kind_t)kind);
        hint(txn, PAY_TABLE_ENDPOINT, &key);
    }
    pay_rows_hint(txn, PAY_TABLE_META, &epoch);
}

void pay_store_hint_fee(pay_rows_txn_t *txn, const pay_scope_t *scope)
{
    pay_store_key_t key;

    pay_store_key_start(&key);
    pay_store_key_u32(&key, scope->account);
    hint(txn, PAY_TABLE_ACCOUNT, &key);
}

void pay_store_hint_total(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *currency)
{
    pay_store_total_t total = {.scope = *scope};
    pay_store_key_t key;

    total.total.from = pay_total_step(pay_store_time_now());
    apr_cpystrn(total.total.currency, currency, sizeof(total.total.currency));
    pay_store_total_key(&key, &total);
    hint(txn, PAY_TABLE_TOTAL, &key);
}

void pay_store_hint_link(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *reference)
{
    pay_store_key_t key;

    if (pay_store_link_key(&key, scope, reference)) {
        hint(txn, PAY_TABLE_LINK, &key);
    }
}
