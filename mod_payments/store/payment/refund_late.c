/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/payment/charge.h"
#include "store/payment/refund_record.h"
#include "store/record/text.h"

#include <assert.h>

typedef struct late_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    const pay_outcome_t *found; /* NULL: nothing was */
    apr_time_t due_at;
    pay_held_t held;
    const char *resolution; /* NULL: as it is */
    apr_pool_t *p;
    pay_refund_t *out; /* NULL: there is none */
    int changed;
    int contradicts; /* and that is new */
} late_t;

/* What was found before, and a person decided since, is not held again. */
static pay_held_t held_now(const late_t *late, const pay_store_refund_t *row)
{
    int decided = late->found && row->contradiction[0] != '\0' && row->refund.held == PAY_NOT_HELD
                  && row->refund.resolution[0] != '\0';

    return decided ? PAY_NOT_HELD : late->held;
}

static int changes_nothing(const late_t *late, const pay_store_refund_t *row)
{
    return late->due_at == row->refund.due_at && held_now(late, row) == row->refund.held
           && (!late->found || row->contradiction[0] != '\0') && !late->resolution;
}

static int late_work(pay_rows_txn_t *txn, void *baton)
{
    late_t *late = baton;
    pay_store_refund_t *row;
    pay_refund_t *refund;
    int rc;

    late->out = NULL;
    late->changed = 0;
    late->contradicts = 0;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, late->scope,
                                   late->refund_reference, late->p);
    if (rc) {
        return rc == MDB_NOTFOUND ? PAY_ROWS_SILENT : rc;
    }
    refund = &row->refund;
    late->out = refund;
    if (refund->state != PAY_REFUND_FAILED || changes_nothing(late, row)) {
        return PAY_ROWS_SILENT;
    }
    refund->due_at = late->due_at;
    refund->held = held_now(late, row);
    if (late->found && row->contradiction[0] == '\0') {
        row->contradiction = pay_store_contradiction(late->found, late->p);
        late->contradicts = 1;
    }
    if (late->resolution) {
        refund->resolution = pay_store_text_cut(late->resolution, PAY_RESOLUTION_MAX, late->p);
    }
    late->changed = 1;
    return pay_store_refund_put(txn, row, late->p);
}

apr_status_t pay_store_refund_late(pay_refund_t **out, int *changed, pay_store_t *store,
                                   const pay_scope_t *scope, const char *refund_reference,
                                   const pay_outcome_t *found, apr_time_t due_at, pay_held_t held,
                                   const char *resolution, apr_pool_t *p)
{
    late_t late = {.scope = scope,
                   .refund_reference = refund_reference,
                   .found = found,
                   .due_at = due_at,
                   .held = held,
                   .resolution = resolution,
                   .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    assert(due_at >= 0);
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, late_work, &late);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!late.out) {
        return APR_NOTFOUND;
    }
    if (late.contradicts) {
        pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                PAYLOGNO(00172) "refund %s (key %s): it failed here, but acquirer %s reports "
                                "otherwise; its answer is stored with the refund",
                late.out->refund_reference, late.out->key_id, late.out->acquirer);
    }
    *out = late.out;
    *changed = late.changed;
    return APR_SUCCESS;
}
