/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/payment/charge.h"
#include "store/payment/link.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

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

int pay_store_link_holds(const pay_charge_t *charge)
{
    switch (charge->state) {
    case PAY_CHARGE_PENDING:
        return 1;
    case PAY_CHARGE_FAILED:
    case PAY_CHARGE_ABANDONED:
    case PAY_CHARGE_VOID:
        return charge->due_at != 0 || charge->held != PAY_NOT_HELD
               || charge->late == PAY_LATE_REFUNDING;
    case PAY_CHARGE_SUCCESSFUL:
    case PAY_CHARGE_REVERSED:
    case PAY_CHARGE_STATE_COUNT:
        break;
    }
    return 0;
}

/* ---- counting those of a link */

/* One checkout of the table; *mine 1: it was made from the link, and holds it. */
static int look(int *mine, pay_rows_txn_t *txn, const pay_link_t *link, const MDB_val *key,
                const MDB_val *row, apr_pool_t *ptemp)
{
    pay_checkout_t *checkout;
    pay_charge_t *charge;
    int rc;

    *mine = 0;
    rc = pay_store_checkout_decode(&checkout, key, row, ptemp);
    if (rc) {
        return rc == PAY_ROWS_BAD ? MDB_SUCCESS : rc; /* nobody knows whose it is */
    }
    if (strcmp(checkout->link, link->reference) != 0) {
        return MDB_SUCCESS;
    }
    rc = pay_store_charge_get(&charge, txn, &link->scope,
                              pay_store_read_u64((const char *)key->mv_data + PAY_STORE_SCOPE_LEN),
                              ptemp);
    if (rc == PAY_ROWS_BAD) {
        *mine = 1; /* what became of it cannot be told */
        return MDB_SUCCESS;
    }
    *mine = !rc && pay_store_link_holds(charge);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

int pay_store_link_count(apr_uint64_t *holding, int *whole, pay_rows_txn_t *txn,
                         const pay_link_t *link, apr_pool_t *p)
{
    pay_store_key_t scope, beyond;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_CHECKOUT, &scope, &beyond, PAY_ROWS_BEFORE);
    apr_pool_t *ptemp;
    MDB_val key, row;
    int rc, mine, looks = 0;

    *holding = 0;
    *whole = 1;
    if (link->last_seq == 0) {
        return MDB_SUCCESS;
    }
    apr_pool_create(&ptemp, p);
    pay_store_key_of_scope(&scope, &link->scope);
    pay_store_charge_key(&beyond, &link->scope, link->last_seq + 1);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && key.mv_size == PAY_STORE_SCOPE_LEN + sizeof(apr_uint64_t)) {
        if (looks++ == PAY_STORE_LINK_LOOKS_MAX) {
            *whole = 0;
            break;
        }
        apr_pool_clear(ptemp);
        rc = look(&mine, txn, link, &key, &row, ptemp);
        if (!rc) {
            *holding += (apr_uint64_t)mine;
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    apr_pool_destroy(ptemp);
    return pay_rows_scan_end(&scan, rc);
}

/* Of a row that did not count them: once, when the next payer comes. */
static int count_older(int *whole, pay_rows_txn_t *txn, pay_link_t *link, apr_pool_t *p)
{
    int rc;

    *whole = 1;
    if (link->counted) {
        return MDB_SUCCESS;
    }
    rc = pay_store_link_count(&link->holding, whole, txn, link, p);
    if (rc || !*whole) {
        return rc;
    }
    link->counted = 1;
    return pay_store_link_put(txn, link, p);
}

/* The link that a checkout holds or ceases to hold; *link NULL: there is none that counts it. */
static int load_counting(pay_link_t **link, pay_rows_txn_t *txn, const pay_charge_t *charge,
                         apr_pool_t *p)
{
    int rc;

    *link = NULL;
    if (!charge->checkout || !*charge->checkout->link) {
        return MDB_SUCCESS;
    }
    rc = pay_store_link_load(link, txn, &charge->scope, charge->checkout->link, p);
    if (rc == MDB_NOTFOUND || rc == PAY_ROWS_BAD) {
        return MDB_SUCCESS; /* what happened to the money does not depend on it */
    }
    if (!rc && (!(*link)->once || !(*link)->counted)) {
        *link = NULL;
    }
    return rc;
}

/* It held the link `before`, and does so `now`. */
static int recount(pay_rows_txn_t *txn, const pay_charge_t *charge, int before, int now,
                   apr_pool_t *p)
{
    pay_link_t *link;
    int rc;

    if (before == now) {
        return MDB_SUCCESS;
    }
    rc = load_counting(&link, txn, charge, p);
    if (rc || !link || (!now && link->holding == 0)) {
        return rc;
    }
    link->holding = now ? link->holding + 1 : link->holding - 1;
    return pay_store_link_put(txn, link, p);
}

int pay_store_link_follow(pay_rows_txn_t *txn, const pay_charge_t *before,
                          const pay_charge_t *charge, apr_pool_t *p)
{
    if (!charge->checkout || !*charge->checkout->link) {
        return MDB_SUCCESS;
    }
    return recount(txn, charge, before && pay_store_link_holds(before),
                   pay_store_link_holds(charge), p);
}

/* ---- the next payer */

/* Of a link that is paid once, by all its checkouts; *charge is the last one where its payer goes
 * on. */
static int judge_once(pay_claim_t *claim, pay_charge_t **charge, pay_rows_txn_t *txn,
                      pay_link_t *link, const pay_charge_t *proposal, apr_time_t now, apr_pool_t *p)
{
    pay_charge_t *last;
    int rc, whole;

    rc = count_older(&whole, txn, link, p);
    if (rc) {
        return rc;
    }
    if (!whole) {
        *claim = PAY_CLAIM_LINK_BUSY;
        pay_log(
            PAY_LOG_ERR, APR_SUCCESS,
            PAYLOGNO(00730) "payment link %s was created by an earlier version and has too many "
                            "checkouts to find out whether one may be paid: create another link",
            link->reference);
        return MDB_SUCCESS;
    }
    rc = pay_store_charge_get(&last, txn, &proposal->scope, link->last_seq, p);
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    if (rc == MDB_NOTFOUND) { /* it was withdrawn */
        last = NULL;
    }
    if (last && (last->state == PAY_CHARGE_SUCCESSFUL || last->state == PAY_CHARGE_REVERSED)) {
        *claim = PAY_CLAIM_LINK_USED;
    } else if (link->holding == 0 && !(last && pay_store_link_holds(last))) {
        *claim = PAY_CLAIM_NEW;
    } else if (link->holding == 1 && last && last->state == PAY_CHARGE_PENDING
               && goes_on(last, proposal, now)) {
        *claim = PAY_CLAIM_LINK_AGAIN;
        *charge = last;
    } else {
        *claim = PAY_CLAIM_LINK_BUSY;
    }
    return MDB_SUCCESS;
}

int pay_store_link_judge(pay_claim_t *claim, pay_link_t **link, pay_charge_t **charge,
                         pay_rows_txn_t *txn, const pay_charge_t *proposal, apr_pool_t *p)
{
    const apr_time_t now = pay_store_time_now();
    int rc;

    *claim = PAY_CLAIM_NEW;
    *link = NULL;
    *charge = NULL;
    if (!proposal->checkout || !*proposal->checkout->link) {
        return MDB_SUCCESS;
    }
    rc = pay_store_link_load(link, txn, &proposal->scope, proposal->checkout->link, p);
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
    return judge_once(claim, charge, txn, *link, proposal, now, p);
}

int pay_store_link_opened(pay_rows_txn_t *txn, pay_link_t *link, const pay_charge_t *charge,
                          apr_pool_t *p)
{
    if (!link) {
        return MDB_SUCCESS;
    }
    link->last_seq = charge->seq;
    if (link->once && pay_store_link_holds(charge)) {
        link->holding++;
    }
    return pay_store_link_put(txn, link, p);
}

int pay_store_link_decided(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_link_t *link;
    int rc;

    if (!pay_charge_was_approved(charge) || !charge->checkout || !*charge->checkout->link) {
        return MDB_SUCCESS;
    }
    rc = pay_store_link_load(&link, txn, &charge->scope, charge->checkout->link, p);
    if (rc == MDB_NOTFOUND || rc == PAY_ROWS_BAD) {
        return MDB_SUCCESS; /* what happened to the money does not depend on it */
    }
    if (rc) {
        return rc;
    }
    link->paid++;
    return pay_store_link_put(txn, link, p);
}

int pay_store_link_removed(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_link_t *link;
    int rc;

    if (!charge->checkout || !*charge->checkout->link) {
        return MDB_SUCCESS;
    }
    rc = recount(txn, charge, pay_store_link_holds(charge), 0, p);
    if (rc || !pay_charge_was_approved(charge)) {
        return rc;
    }
    rc = pay_store_link_load(&link, txn, &charge->scope, charge->checkout->link, p);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    if (link->paid > 0) {
        link->paid--;
    }
    return pay_store_link_put(txn, link, p);
}
