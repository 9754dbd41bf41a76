/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge.h"
#include "store/payment/refund_record.h"
#include "store/record/text.h"

#include <assert.h>

typedef struct ask_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    const char *acquirer;
    apr_time_t due_at;
    apr_pool_t *p;
    pay_refund_t *out; /* NULL: there is none */
    int changed;
} ask_t;

/* Without amount and currency no answer could be compared with it. */
static int may_be_asked(const pay_refund_t *refund)
{
    return refund->import_number != 0 && refund->state == PAY_REFUND_PENDING && refund->due_at == 0
           && refund->money.amount_minor > 0 && refund->money.currency[0] != '\0';
}

static int ask_work(pay_rows_txn_t *txn, void *baton)
{
    ask_t *ask = baton;
    pay_store_refund_t *row;
    pay_refund_t *refund;
    int rc, visible;

    ask->out = NULL;
    ask->changed = 0;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, ask->scope,
                                   ask->refund_reference, ask->p);
    if (rc) {
        return rc == MDB_NOTFOUND ? PAY_ROWS_SILENT : rc;
    }
    refund = &row->refund;
    rc = pay_store_refund_visible(&visible, txn, refund);
    if (rc || !visible) {
        return rc ? rc : PAY_ROWS_SILENT;
    }
    ask->out = refund;
    if (!may_be_asked(refund)) {
        return PAY_ROWS_SILENT;
    }
    refund->acquirer = pay_store_text_cut(ask->acquirer, PAY_STORE_NAME_MAX, ask->p);
    refund->due_at = ask->due_at;
    ask->changed = 1;
    return pay_store_refund_put(txn, row, ask->p);
}

apr_status_t pay_store_refund_ask(pay_refund_t **out, int *changed, pay_store_t *store,
                                  const pay_scope_t *scope, const char *refund_reference,
                                  const char *acquirer, apr_time_t due_at, apr_pool_t *p)
{
    ask_t ask = {.scope = scope,
                 .refund_reference = refund_reference,
                 .acquirer = acquirer,
                 .due_at = due_at,
                 .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    assert(due_at > 0);
    assert(acquirer[0] != '\0');
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, ask_work, &ask);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!ask.out) {
        return APR_NOTFOUND;
    }
    *out = ask.out;
    *changed = ask.changed;
    return APR_SUCCESS;
}
