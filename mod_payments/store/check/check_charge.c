/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/payment/charge.h"
#include "store/payment/charge_record.h"
#include "store/payment/refund.h"
#include "store/record/scope.h"
#include "store/rows_scan.h"

#include <string.h>

typedef struct sums_t {
    apr_int64_t processed_minor;
    apr_int64_t pending_minor;
    apr_uint64_t at_acquirer; /* seq of the pending one that was made here; 0: none */
    int at_acquirer_count;
    int overflow;
    int imported; /* 1: imported history is among them, which may exceed the charge */
} sums_t;

static void add(sums_t *sums, const pay_refund_t *refund)
{
    apr_int64_t *sum = NULL;

    if (refund->state == PAY_REFUND_PROCESSED) {
        sum = &sums->processed_minor;
    } else if (refund->state == PAY_REFUND_PENDING) {
        sum = &sums->pending_minor;
    }
    if (sum && __builtin_add_overflow(*sum, refund->money.amount_minor, sum)) {
        sums->overflow = 1;
    }
    if (refund->import_number != 0) {
        sums->imported = 1;
    } else if (refund->state == PAY_REFUND_PENDING) {
        sums->at_acquirer = refund->seq;
        sums->at_acquirer_count++;
    }
}

/* The refunds that the index names for the charge; what is wrong with them is told elsewhere. */
static int sum_refunds(sums_t *sums, pay_store_check_t *check, const pay_charge_t *charge)
{
    pay_store_refund_t *row;
    pay_store_key_t prefix;
    pay_rows_scan_t scan =
        pay_rows_scan(check->txn, PAY_TABLE_REFUND_BY_CHARGE, &prefix, NULL, PAY_ROWS_FROM);
    MDB_val key, refund_key, val;
    int rc, found;

    memset(sums, 0, sizeof(*sums));
    pay_store_charge_key(&prefix, &charge->scope, charge->seq);
    rc = pay_rows_next(&key, &refund_key, &scan);
    while (!rc) {
        rc = pay_store_check_has(&found, &val, check, PAY_TABLE_REFUND, &refund_key);
        if (!rc && found
            && pay_store_refund_peek(&row, &refund_key, &val, check->ptemp) == MDB_SUCCESS) {
            add(sums, &row->refund);
        }
        if (!rc) {
            rc = pay_rows_next(&key, &refund_key, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

static int check_amounts(pay_store_check_t *check, const MDB_val *key, const pay_charge_t *charge)
{
    apr_int64_t sum;
    sums_t sums;
    int rc;

    rc = sum_refunds(&sums, check, charge);
    if (rc) {
        return rc;
    }
    if (sums.overflow || sums.processed_minor != charge->refunded_minor) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key,
                              "charge %s: refunded %" APR_INT64_T_FMT
                              ", but its processed refunds come to %" APR_INT64_T_FMT,
                              charge->reference, charge->refunded_minor, sums.processed_minor);
    }
    if (sums.overflow || sums.pending_minor != charge->refunds_pending_minor) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key,
                              "charge %s: refunds pending %" APR_INT64_T_FMT
                              ", but its pending refunds come to %" APR_INT64_T_FMT,
                              charge->reference, charge->refunds_pending_minor, sums.pending_minor);
    }
    if (sums.at_acquirer_count > 1 || sums.at_acquirer != charge->refund_at_acquirer) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key,
                              "charge %s: refund %" APR_UINT64_T_FMT
                              " is said to be at the acquirer, but %d are, the last of them "
                              "%" APR_UINT64_T_FMT,
                              charge->reference, charge->refund_at_acquirer, sums.at_acquirer_count,
                              sums.at_acquirer);
    }
    if (!sums.imported
        && (__builtin_add_overflow(charge->refunded_minor, charge->refunds_pending_minor, &sum)
            || sum > charge->money.amount_minor)) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key, "charge %s: refunds exceed its amount",
                              charge->reference);
    }
    return MDB_SUCCESS;
}

static void check_state(pay_store_check_t *check, const MDB_val *key, const pay_charge_t *charge)
{
    pay_charge_state_t decided = charge->state;
    const apr_int64_t amount = charge->money.amount_minor;

    if (pay_charge_was_approved(charge)
        && (charge->state == PAY_CHARGE_SUCCESSFUL || charge->state == PAY_CHARGE_REVERSED)) {
        decided = charge->decided_state; /* refunds go both ways between the two */
    } else if (charge->state == PAY_CHARGE_REVERSED) {
        decided = PAY_CHARGE_SUCCESSFUL;
    } else if (charge->state == PAY_CHARGE_VOID || charge->state == PAY_CHARGE_ABANDONED) {
        decided = PAY_CHARGE_PENDING; /* a checkout that was closed is not decided by that */
    }
    if (decided != charge->decided_state) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key,
                              "charge %s: it is %s but was decided %s", charge->reference,
                              pay_charge_state_name(charge->state),
                              pay_charge_state_name(charge->decided_state));
    }
    if (charge->fee_minor != 0 && !pay_charge_was_approved(charge)) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key,
                              "charge %s: it has a fee but was not approved", charge->reference);
    }
    /* Earlier versions left a charge successful that the acquirer alone knew to be reversed. */
    if ((charge->state == PAY_CHARGE_REVERSED && pay_charge_refunded_minor(charge) < amount)
        || (charge->state == PAY_CHARGE_SUCCESSFUL && charge->refunded_minor >= amount)) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key,
                              "charge %s: its state is %s, which its refunds contradict",
                              charge->reference, pay_charge_state_name(charge->state));
    }
}

/* Its key id and its scope know of it. */
static int check_ties(pay_store_check_t *check, const MDB_val *key, const pay_charge_t *charge)
{
    pay_store_scope_t last;
    MDB_val at;
    int rc, found;

    if (charge->key_id[0] != '\0') {
        at.mv_data = (void *)charge->key_id; /* only read */
        at.mv_size = strlen(charge->key_id);
        rc = pay_store_check_has(&found, NULL, check, PAY_TABLE_API_KEY_ID, &at);
        if (rc) {
            return rc;
        }
        if (!found) {
            pay_store_check_fault(check, PAY_TABLE_CHARGE, key, "charge %s: no key has the id %s",
                                  charge->reference, charge->key_id);
        }
    }
    rc = pay_store_scope_get(&last, check->txn, &charge->scope);
    if (rc == PAY_ROWS_BAD) { /* told with the scope */
        return MDB_SUCCESS;
    }
    if (!rc && charge->seq > last.charge_seq) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key,
                              "charge %s: its scope never gave this number", charge->reference);
    }
    return rc;
}

int pay_store_check_charge(pay_store_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_charge_t *charge;
    int rc;

    if (key->mv_size != PAY_STORE_CHARGE_KEY_LEN) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key, "the key has a wrong length");
        return MDB_SUCCESS;
    }
    rc = pay_store_charge_decode(&charge, key, row, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    if (rc) {
        return rc;
    }
    check_state(check, key, charge);
    rc = check_ties(check, key, charge);
    if (!rc) {
        rc = check_amounts(check, key, charge);
    }
    if (!rc) {
        rc = pay_store_check_entries(check, &pay_store_charge_record, key, charge);
    }
    return rc ? rc : pay_store_check_charge_checkout(check, key, charge);
}
