/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_link.h"
#include "store/pay_lmdb_scope.h"

#include <string.h>

static pay_claim_t claim_of_state(const pay_link_t *link, apr_time_t now)
{
    static const pay_claim_t claims[] = {
        [PAY_LINK_ACTIVE] = PAY_CLAIM_NEW,
        [PAY_LINK_EXPIRED] = PAY_CLAIM_LINK_EXPIRED,
        [PAY_LINK_DISABLED] = PAY_CLAIM_LINK_DISABLED,
        [PAY_LINK_USED] = PAY_CLAIM_LINK_USED,
    };
    _Static_assert(sizeof(claims) / sizeof(claims[0]) == PAY_LINK_STATE_COUNT, "a claim each");

    return claims[pay_link_state(link, now)];
}

/* 1 when the payer of `last` is the one of `proposal`, for the same amount, and may go on. */
static int goes_on(const pay_charge_t *last, const pay_charge_t *proposal, apr_time_t now)
{
    return last->checkout && pay_checkout_stage(last, now) != PAY_STAGE_EXPIRED
           && strcmp(last->email, proposal->email) == 0
           && last->money.amount_minor == proposal->money.amount_minor;
}

/*
 * Of a link that is paid once, by the checkout made from it last. One that is over is over for the
 * link only when nobody, no acquirer and no person, is asked about it any more: until then one may
 * say that it was paid. One that its time ended is not free before its row says so, for a payment
 * that began just before may still be on its way into the store.
 */
static pay_claim_t claim_of_last(const pay_charge_t *last, const pay_charge_t *proposal,
                                 apr_time_t now)
{
    switch (last->state) {
    case PAY_CHARGE_SUCCESSFUL:
    case PAY_CHARGE_REVERSED:
        return PAY_CLAIM_LINK_USED;
    case PAY_CHARGE_FAILED: /* its acquirer may have been paid all the same, as it said late */
        return last->held == PAY_NOT_HELD && last->late != PAY_LATE_REFUNDING ? PAY_CLAIM_NEW
                                                                              : PAY_CLAIM_LINK_BUSY;
    case PAY_CHARGE_ABANDONED:
    case PAY_CHARGE_VOID:
        return last->due_at == 0 && last->held == PAY_NOT_HELD ? PAY_CLAIM_NEW
                                                               : PAY_CLAIM_LINK_BUSY;
    case PAY_CHARGE_PENDING:
    case PAY_CHARGE_STATE_COUNT:
        break;
    }
    return goes_on(last, proposal, now) ? PAY_CLAIM_LINK_AGAIN : PAY_CLAIM_LINK_BUSY;
}

int pay_lmdb_link_judge(pay_claim_t *claim, pay_link_t **link, pay_charge_t **charge, MDB_txn *txn,
                        const pay_lmdb_t *db, const pay_charge_t *proposal, apr_pool_t *p)
{
    const apr_time_t now = pay_lmdb_scope_now(0);
    pay_charge_t *last;
    int rc;

    *claim = PAY_CLAIM_NEW;
    *link = NULL;
    *charge = NULL;
    if (!proposal->checkout || !*proposal->checkout->link) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_link_load(link, txn, db, &proposal->scope, proposal->checkout->link, p);
    if (rc == MDB_NOTFOUND) {
        *claim = PAY_CLAIM_LINK_UNKNOWN;
        return MDB_SUCCESS;
    }
    if (rc) {
        return rc;
    }
    *claim = claim_of_state(*link, now);
    if (*claim != PAY_CLAIM_NEW || !(*link)->once || (*link)->last_seq == 0) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_charge_get(&last, txn, db, &proposal->scope, (*link)->last_seq, p);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc; /* it was withdrawn */
    }
    *claim = claim_of_last(last, proposal, now);
    if (*claim == PAY_CLAIM_LINK_AGAIN) {
        *charge = last;
    }
    return MDB_SUCCESS;
}

int pay_lmdb_link_opened(MDB_txn *txn, const pay_lmdb_t *db, pay_link_t *link,
                         const pay_charge_t *charge, apr_pool_t *p)
{
    if (!link) {
        return MDB_SUCCESS;
    }
    link->last_seq = charge->seq;
    return pay_lmdb_link_put(txn, db, link, p);
}

int pay_lmdb_link_decided(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge,
                          apr_pool_t *p)
{
    pay_link_t *link;
    int rc;

    if (charge->decided_state != PAY_CHARGE_SUCCESSFUL || !charge->checkout
        || !*charge->checkout->link) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_link_load(&link, txn, db, &charge->scope, charge->checkout->link, p);
    if (rc == MDB_NOTFOUND || rc == PAY_LMDB_BAD_ROW) {
        return MDB_SUCCESS; /* what happened to the money does not depend on it */
    }
    if (rc) {
        return rc;
    }
    link->paid++;
    return pay_lmdb_link_put(txn, db, link, p);
}

int pay_lmdb_link_removed(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge,
                          apr_pool_t *p)
{
    pay_link_t *link;
    int rc;

    if (charge->decided_state != PAY_CHARGE_SUCCESSFUL || !charge->checkout
        || !*charge->checkout->link) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_link_load(&link, txn, db, &charge->scope, charge->checkout->link, p);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    if (link->paid > 0) {
        link->paid--;
    }
    return pay_lmdb_link_put(txn, db, link, p);
}
