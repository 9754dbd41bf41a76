/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/charge_record.h"
#include "store/payment/checkout.h"
#include "store/record/text.h"
#include "store/record/time.h"

#include <apr_strings.h>
#include <assert.h>

typedef struct move_t {
    const pay_scope_t *scope;
    apr_uint64_t seq;
    const pay_checkout_move_t *what;
    apr_pool_t *p;
    pay_charge_t *out; /* NULL: there is none */
    int changed;
} move_t;

static int ends(const pay_checkout_move_t *what)
{
    return what->to == PAY_CHECKOUT_CANCELLED || what->to == PAY_CHECKOUT_EXPIRED;
}

static int may_move(const pay_charge_t *charge, const pay_checkout_move_t *what)
{
    return charge->state == PAY_CHARGE_PENDING && charge->checkout->step == what->from
           && pay_checkout_is_over(charge, what->now) == (what->to == PAY_CHECKOUT_EXPIRED);
}

/* The checkout as it is after the move. */
static void step(pay_charge_t *charge, const pay_checkout_move_t *what, apr_pool_t *p)
{
    pay_checkout_t *checkout = apr_pmemdup(p, charge->checkout, sizeof(*checkout));

    checkout->step = what->to;
    if (what->acquirer_url) {
        checkout->acquirer_url = apr_pstrdup(p, what->acquirer_url);
    }
    charge->checkout = checkout;
    charge->channel = what->channel;
    if (what->card) {
        charge->card = *what->card;
        charge->card.issuer = pay_store_text_cut(what->card->issuer, PAY_STORE_CARD_TEXT_MAX, p);
        charge->card.country = pay_store_text_cut(what->card->country, PAY_STORE_CARD_TEXT_MAX, p);
        charge->card.type = pay_store_text_cut(what->card->type, PAY_STORE_CARD_TEXT_MAX, p);
    }
}

/* Nothing is decided: it is looked at again at due_at, or it is abandoned. */
static int stay_or_end(move_t *move, pay_rows_txn_t *txn)
{
    pay_charge_t *charge = move->out;
    int rc = MDB_SUCCESS;

    pay_store_charge_clear_worker(charge);
    charge->due_at = move->what->due_at;
    if (ends(move->what)) {
        (void)pay_store_charge_become(charge, PAY_CHARGE_ABANDONED);
        charge->updated_at = pay_store_time_not_before(charge->updated_at);
        charge->held = PAY_NOT_HELD;
        rc = pay_store_event_of_charge(txn, charge, 1, move->p);
        if (!rc) {
            rc = pay_store_checkout_ended(txn, charge, move->p);
        }
    }
    return rc ? rc : pay_store_charge_put(txn, charge, move->p);
}

static int move_work(pay_rows_txn_t *txn, void *baton)
{
    move_t *move = baton;
    const pay_checkout_move_t *what = move->what;
    int rc;

    move->out = NULL;
    move->changed = 0;
    rc = pay_store_charge_get(&move->out, txn, move->scope, move->seq, move->p);
    if (rc || !move->out->checkout) {
        move->out = NULL;
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    if (!may_move(move->out, what)) {
        return MDB_SUCCESS;
    }
    step(move->out, what, move->p);
    rc = pay_store_checkout_put(txn, move->out, move->p);
    if (rc) {
        return rc;
    }
    move->changed = 1;
    if (what->outcome && what->outcome->kind != PAY_OUTCOME_UNKNOWN) {
        return pay_store_charge_settle(&move->changed, txn, move->out, what->outcome, move->p);
    }
    return stay_or_end(move, txn);
}

apr_status_t pay_store_checkout_move(pay_charge_t **out, int *changed, pay_store_t *store,
                                     const pay_scope_t *scope, apr_uint64_t seq,
                                     const pay_checkout_move_t *what, apr_pool_t *p)
{
    move_t move = {.scope = scope, .seq = seq, .what = what, .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    assert((unsigned int)what->to < PAY_CHECKOUT_STEP_COUNT);
    assert(what->due_at > 0 || ends(what) || (what->outcome && what->outcome->kind));
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, move_work, &move);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!move.out) {
        return APR_NOTFOUND;
    }
    *out = move.out;
    *changed = move.changed;
    return APR_SUCCESS;
}
