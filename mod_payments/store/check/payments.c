/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"
#include "store/payment/charge.h"
#include "store/payment/checkout.h"
#include "store/payment/idempotency.h"
#include "store/payment/link.h"
#include "store/payment/refund.h"
#include "store/record/scope.h"
#include "store/rows_scan.h"

#include <string.h>

/* ---- links */

/*
 * The checkouts that block the next payer exist. A checkout that is not counted is reported with
 * its own row.
 */
static int check_holding(pay_store_check_t *check, const pay_bytes_t *key, const pay_link_t *link)
{
    apr_uint64_t holding;
    int rc, whole;

    if (!link->once || !link->counted || link->holding == 0) {
        return 0;
    }
    rc = pay_store_link_count(&holding, &whole, check->txn, link, check->ptemp);
    if (!rc && whole && holding != link->holding) {
        pay_store_check_fault(check, PAY_TABLE_LINK, key,
                              "it counts %" APR_UINT64_T_FMT " checkouts that may be paid, and has "
                              "%" APR_UINT64_T_FMT,
                              link->holding, holding);
    }
    return rc;
}

int pay_store_check_link(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_link_t *link;
    int rc, found;

    rc = pay_store_link_decode(&link, key, row, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_LINK, key, "the row does not decode");
        return 0;
    }
    if (!rc) {
        rc = pay_store_check_account_known(&found, check, key->data);
    }
    if (rc) {
        return rc;
    }
    if (!found) {
        pay_store_check_fault(check, PAY_TABLE_LINK, key, "there is no such account");
    }
    rc = pay_store_check_entries(check, &pay_store_link_record, key, link);
    return rc ? rc : check_holding(check, key, link);
}

/* The link that a checkout was made from counts it. */
static int check_checkout_link(pay_store_check_t *check, const pay_bytes_t *key,
                               const pay_checkout_t *checkout, const pay_charge_t *charge)
{
    pay_link_t *link;
    int rc;

    if (!*checkout->link) {
        return 0;
    }
    rc = pay_store_link_load(&link, check->txn, &charge->scope, checkout->link, check->ptemp);
    if (rc == PAY_ROWS_BAD) { /* reported with the link */
        return 0;
    }
    if (rc == PAY_ROWS_NOTFOUND) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "there is no such payment link");
        return 0;
    }
    if (!rc && link->last_seq < charge->seq) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key,
                              "payment link %s does not have charge %s", link->reference,
                              charge->reference);
    }
    if (!rc && link->once && link->counted && link->holding == 0 && pay_store_link_holds(charge)) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key,
                              "payment link %s does not count charge %s, which may yet be paid",
                              link->reference, charge->reference);
    }
    if (!rc && pay_charge_was_approved(charge) && link->paid == 0) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key,
                              "payment link %s does not count charge %s, which paid it",
                              link->reference, charge->reference);
    }
    return rc;
}

/* ---- checkouts and pages */

int pay_store_check_checkout(pay_store_check_t *check, const pay_bytes_t *key,
                             const pay_bytes_t *row)
{
    pay_checkout_t *checkout;
    pay_charge_t *charge;
    pay_bytes_t val;
    int rc, found;

    if (key->len != PAY_STORE_CHARGE_KEY_LEN) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "the key has a wrong length");
        return 0;
    }
    rc = pay_store_checkout_decode(&checkout, key, row, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "the row does not decode");
        return 0;
    }
    if (!rc) {
        rc = pay_store_check_has(&found, &val, check, PAY_TABLE_CHARGE, key);
    }
    if (rc) {
        return rc;
    }
    if (!found) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "there is no such charge");
    } else if (pay_store_charge_decode(&charge, key, &val, check->ptemp) == 0) {
        if (charge->kind != PAY_CHARGE_CHECKOUT) {
            pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "charge %s is not a checkout",
                                  charge->reference);
        }
        rc = check_checkout_link(check, key, checkout, charge);
    }
    return rc ? rc : pay_store_check_entries(check, &pay_store_checkout_record, key, checkout);
}

/* A checkout has its row in addition to the charge's (store/check/payments.c). */
static int check_charge_checkout(pay_store_check_t *check, const pay_bytes_t *key,
                                 const pay_charge_t *charge)
{
    int rc, found;

    if (charge->kind != PAY_CHARGE_CHECKOUT) {
        return 0;
    }
    rc = pay_store_check_has(&found, NULL, check, PAY_TABLE_CHECKOUT, key);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key, "charge %s: its checkout is lost",
                              charge->reference);
    }
    return rc;
}

typedef struct sums_t {
    apr_int64_t processed_minor;
    apr_int64_t pending_minor;
    apr_uint64_t at_acquirer; /* seq of the pending one that was made here; 0 if none exists */
    int at_acquirer_count;
    int overflow;
    int imported; /* 1: imported history is included, which may exceed the charge */
} sums_t;

/* ---- charges */

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

/* The refunds that the index lists for the charge; their own faults are reported elsewhere. */
static int sum_refunds(sums_t *sums, pay_store_check_t *check, const pay_charge_t *charge)
{
    pay_store_refund_t *row;
    pay_store_key_t prefix;
    pay_rows_scan_t scan =
        pay_rows_scan(check->txn, PAY_TABLE_REFUND_BY_CHARGE, &prefix, NULL, PAY_ROWS_FROM);
    pay_bytes_t key, refund_key, val;
    int rc, found;

    memset(sums, 0, sizeof(*sums));
    pay_store_charge_key(&prefix, &charge->scope, charge->seq);
    rc = pay_rows_next(&key, &refund_key, &scan);
    while (!rc) {
        rc = pay_store_check_has(&found, &val, check, PAY_TABLE_REFUND, &refund_key);
        if (!rc && found && pay_store_refund_peek(&row, &refund_key, &val, check->ptemp) == 0) {
            add(sums, &row->refund);
        }
        if (!rc) {
            rc = pay_rows_next(&key, &refund_key, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

static int check_amounts(pay_store_check_t *check, const pay_bytes_t *key,
                         const pay_charge_t *charge)
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
    return 0;
}

static void check_state(pay_store_check_t *check, const pay_bytes_t *key,
                        const pay_charge_t *charge)
{
    pay_charge_state_t decided = charge->state;
    const apr_int64_t amount = charge->money.amount_minor;

    if (pay_charge_was_approved(charge)
        && (charge->state == PAY_CHARGE_SUCCESSFUL || charge->state == PAY_CHARGE_REVERSED)) {
        decided = charge->decided_state; /* refunds change it between the two in both directions */
    } else if (charge->state == PAY_CHARGE_REVERSED) {
        decided = PAY_CHARGE_SUCCESSFUL;
    } else if (charge->state == PAY_CHARGE_VOID || charge->state == PAY_CHARGE_ABANDONED) {
        decided = PAY_CHARGE_PENDING; /* closing a checkout does not decide it */
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
    /* Earlier versions left a charge successful if only the acquirer knew it to be reversed. */
    if ((charge->state == PAY_CHARGE_REVERSED && pay_charge_refunded_minor(charge) < amount)
        || (charge->state == PAY_CHARGE_SUCCESSFUL && charge->refunded_minor >= amount)) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key,
                              "charge %s: its state is %s, which its refunds contradict",
                              charge->reference, pay_charge_state_name(charge->state));
    }
}

/* Its key id and its scope are consistent with it. */
static int check_ties(pay_store_check_t *check, const pay_bytes_t *key, const pay_charge_t *charge)
{
    pay_store_scope_t last;
    pay_bytes_t at;
    int rc, found;

    if (charge->key_id[0] != '\0') {
        at.data = charge->key_id;
        at.len = strlen(charge->key_id);
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
    if (rc == PAY_ROWS_BAD) { /* reported with the scope */
        return 0;
    }
    if (!rc && charge->seq > last.charge_seq) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key,
                              "charge %s: its scope never gave this number", charge->reference);
    }
    return rc;
}

int pay_store_check_charge(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_charge_t *charge;
    int rc;

    if (key->len != PAY_STORE_CHARGE_KEY_LEN) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key, "the key has a wrong length");
        return 0;
    }
    rc = pay_store_charge_decode(&charge, key, row, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key, "the row does not decode");
        return 0;
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
    return rc ? rc : check_charge_checkout(check, key, charge);
}

/* ---- refunds */

static int check_refund_charge(pay_store_check_t *check, const pay_bytes_t *key,
                               const pay_refund_t *refund)
{
    pay_charge_t *charge;
    int rc;

    if (refund->charge_seq == 0) {
        if (refund->import_number == 0) {
            pay_store_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: of no charge",
                                  refund->refund_reference);
        }
        return 0;
    }
    rc =
        pay_store_charge_get(&charge, check->txn, &refund->scope, refund->charge_seq, check->ptemp);
    if (rc == PAY_ROWS_BAD) { /* reported with the charge */
        return 0;
    }
    if (rc && rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    if (rc == PAY_ROWS_NOTFOUND || !refund->transaction_reference
        || strcmp(refund->transaction_reference, charge->reference) != 0) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: its charge is not there",
                              refund->refund_reference);
    } else if (strcmp(refund->money.currency, charge->money.currency) != 0) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key,
                              "refund %s: in another currency than its charge",
                              refund->refund_reference);
    }
    return 0;
}

/* Its scope assigned its numbers, and its key id exists. */
static int check_refund_ties(pay_store_check_t *check, const pay_bytes_t *key,
                             const pay_refund_t *refund)
{
    pay_store_scope_t last;
    pay_bytes_t at;
    int rc, found;

    if (refund->key_id[0] != '\0') {
        at.data = refund->key_id;
        at.len = strlen(refund->key_id);
        rc = pay_store_check_has(&found, NULL, check, PAY_TABLE_API_KEY_ID, &at);
        if (rc) {
            return rc;
        }
        if (!found) {
            pay_store_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: no key has the id %s",
                                  refund->refund_reference, refund->key_id);
        }
    }
    rc = pay_store_scope_get(&last, check->txn, &refund->scope);
    if (rc) {
        return rc == PAY_ROWS_BAD ? 0 : rc; /* reported with the scope */
    }
    if (refund->seq > last.refund_seq) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key,
                              "refund %s: its scope never gave this number",
                              refund->refund_reference);
    }
    if (refund->import_number > last.import_done && refund->import_number != last.import_open
        && refund->import_number != last.import_left) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: of an unknown import",
                              refund->refund_reference);
    }
    return 0;
}

int pay_store_check_refund(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_store_refund_t *record;
    pay_refund_t *refund;
    int rc;

    rc = pay_store_refund_decode(&record, key, row, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key, "the row does not decode");
        return 0;
    }
    if (rc) {
        return rc;
    }
    refund = &record->refund;
    rc = pay_store_check_entries(check, &pay_store_refund_record, key, record);
    if (!rc) {
        rc = check_refund_charge(check, key, refund);
    }
    return rc ? rc : check_refund_ties(check, key, refund);
}

/* ---- idempotency records */

#define KIND_OFFSET PAY_STORE_SCOPE_LEN
#define OPERATION_OFFSET (KIND_OFFSET + 1)

static int is_key(const pay_bytes_t *key)
{
    const unsigned char *at = key->data;

    if (key->len != PAY_STORE_IDEMPOTENCY_KEY_LEN) {
        return 0;
    }
    if (at[KIND_OFFSET] == PAY_STORE_IDEMPOTENCY_NO_KIND) {
        return at[OPERATION_OFFSET] == 0;
    }
    return (at[KIND_OFFSET] == PAY_KEY_SECRET || at[KIND_OFFSET] == PAY_KEY_PUBLIC)
           && at[OPERATION_OFFSET] >= PAY_OPERATION_CHARGE
           && at[OPERATION_OFFSET] <= PAY_OPERATION_ORDER;
}

/*
 * The charge and its row refer to each other; a charge that does not decode is reported with its
 * row.
 */
static int check_charge_of_record(pay_store_check_t *check, const pay_bytes_t *key,
                                  const pay_store_idempotency_t *record)
{
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    pay_store_read_scope(&scope, key->data);
    rc = pay_store_charge_get(&charge, check->txn, &scope, record->seq, check->ptemp);
    if (rc == PAY_ROWS_NOTFOUND || (!rc && !pay_store_idempotency_is_of_charge(charge, key))) {
        pay_store_check_fault(check, PAY_TABLE_IDEMPOTENCY, key,
                              "leads to no charge that was opened so");
        return 0;
    }
    return rc == PAY_ROWS_BAD ? 0 : rc;
}

static int check_refund(pay_store_check_t *check, const pay_bytes_t *key,
                        const pay_store_idempotency_t *record)
{
    pay_store_key_t refund_key;
    pay_bytes_t at;
    int rc, found;

    pay_store_idempotency_refund_key(&refund_key, key, record);
    at = pay_store_key_val(&refund_key);
    rc = pay_store_check_has(&found, NULL, check, PAY_TABLE_REFUND, &at);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_IDEMPOTENCY, key, "leads to no refund");
    }
    return rc;
}

int pay_store_check_idempotency(pay_store_check_t *check, const pay_bytes_t *key,
                                const pay_bytes_t *row)
{
    pay_store_idempotency_t record;
    int rc, found;

    if (!is_key(key)) {
        pay_store_check_fault(check, PAY_TABLE_IDEMPOTENCY, key, "the key is malformed");
        return 0;
    }
    rc = pay_store_check_account_known(&found, check, key->data);
    if (rc) {
        return rc;
    }
    if (!found) {
        pay_store_check_fault(check, PAY_TABLE_IDEMPOTENCY, key, "there is no such account");
    }
    rc = pay_store_idempotency_decode(&record, key, row);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_IDEMPOTENCY, key, "the row does not decode");
        return 0;
    }
    if (rc) {
        return rc;
    }
    if (record.what == PAY_IDEMPOTENCY_CHARGE) {
        rc = check_charge_of_record(check, key, &record);
    } else if (record.what == PAY_IDEMPOTENCY_REFUND || record.what == PAY_IDEMPOTENCY_REPEAT) {
        rc = check_refund(check, key, &record);
    }
    return rc ? rc : pay_store_check_entries(check, &pay_store_idempotency_record, key, &record);
}
