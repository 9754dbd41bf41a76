/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/refund_link.h"

#include "base/log.h"
#include "store/payment/acquirer.h"
#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/record/audit.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

typedef struct link_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    int change; /* 0: only checks */
    apr_pool_t *p;
    pay_refund_t *out; /* NULL if it does not exist */
    pay_charge_t *charge;
    pay_refund_link_t verdict;
} link_t;

/* Imported history without an amount, and another currency, count for no charge. */
static int may_count(const pay_charge_t *charge, const pay_refund_t *refund)
{
    return refund->money.amount_minor > 0
           && strcmp(charge->money.currency, refund->money.currency) == 0;
}

/*
 * Changes the charge's amounts and the refund's fields; writes neither. ERANGE, and nothing is
 * changed, if they do not fit.
 */
static int join(pay_charge_t *charge, pay_refund_t *refund)
{
    int rc;

    if (refund->state != PAY_REFUND_FAILED) {
        rc = pay_store_charge_refund_moved(charge, PAY_REFUND_FAILED, refund->state,
                                           refund->money.amount_minor);
        if (rc) {
            return rc;
        }
        charge->updated_at = pay_store_time_not_before(charge->updated_at);
    }
    refund->charge_seq = charge->seq;
    refund->transaction_reference = charge->reference;
    refund->acquirer_charge = "";
    return 0;
}

/* Like `join`, for a refund that has a row. */
static int join_row(pay_rows_txn_t *txn, pay_charge_t *charge, pay_store_refund_t *row,
                    apr_pool_t *p)
{
    int rc = join(charge, &row->refund);

    return rc ? rc : pay_store_refund_put(txn, row, p);
}

/*
 * The acquirer's text stays in the record, unless the shop has a charge with that reference: it
 * would take the refund for one of that charge.
 */
static int show(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p)
{
    pay_charge_t *charge;
    int rc;

    refund->charge_seq = 0;
    refund->transaction_reference = NULL;
    if (*refund->acquirer_charge == '\0') {
        return 0;
    }
    rc = pay_store_charge_get_ref(&charge, txn, &refund->scope, refund->acquirer_charge, p);
    if (rc == PAY_ROWS_NOTFOUND) {
        refund->transaction_reference = refund->acquirer_charge;
        rc = 0;
    }
    return rc;
}

/* It belongs to this charge, but counts for none: a person must check. */
static void name_only(const pay_charge_t *charge, pay_refund_t *refund)
{
    refund->charge_seq = 0;
    refund->transaction_reference = charge->reference;
}

int pay_store_refund_link_new(int *turned, pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p)
{
    pay_charge_state_t before = PAY_CHARGE_PENDING;
    pay_store_key_t key;
    pay_charge_t *charge;
    int rc;

    *turned = 0;
    rc = pay_store_acquirer_charge(&charge, txn, &refund->scope, refund->acquirer_charge, p);
    if (rc == PAY_ROWS_NOTFOUND) {
        rc = show(txn, refund, p);
        if (!pay_store_acquirer_unlinked_key(&key, &refund->scope, refund->acquirer_charge, 0)) {
            refund->acquirer_charge = ""; /* our names are never that long */
        }
        return rc;
    }
    if (!rc && !may_count(charge, refund)) {
        name_only(charge, refund);
        return 0;
    }
    if (!rc) {
        before = charge->state;
        rc = join(charge, refund);
        *turned = charge->state != before;
    }
    if (rc || refund->state == PAY_REFUND_FAILED) {
        return rc;
    }
    return pay_store_charge_put(txn, charge, p);
}

/* Copies of the keys of refunds that wait for a charge with that name. */
static int waiting(apr_array_header_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                   const char *name, apr_pool_t *p)
{
    pay_store_key_t prefix;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_ACQUIRER, &prefix, NULL, PAY_ROWS_FROM);
    pay_bytes_t key, val;
    size_t key_len;
    int rc;

    *out = apr_array_make(p, 1, sizeof(pay_bytes_t));
    if (!name || !*name || !pay_store_acquirer_unlinked_key(&prefix, scope, name, 0)) {
        return 0;
    }
    key_len = prefix.len;
    prefix.len -= sizeof(apr_uint64_t);
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc && key.len == key_len) {
        if ((*out)->nelts == PAY_STORE_REFUND_LINKS_MAX) {
            pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                    PAYLOGNO(00720) "more than %d refunds wait for charge %s of the acquirer: "
                                    "'paymentsctl refund link' links the rest",
                    PAY_STORE_REFUND_LINKS_MAX, name);
            break;
        }
        APR_ARRAY_PUSH(*out, pay_bytes_t) = pay_rows_dup(&val, p);
        rc = pay_rows_next(&key, &val, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

/*
 * A refund that cannot be read does not prevent a charge from being opened: `store check` reports
 * it.
 */
static int load(pay_store_refund_t **row, pay_rows_txn_t *txn, const pay_bytes_t *at, apr_pool_t *p)
{
    int rc = pay_store_refund_get(row, txn, at, p);

    if (rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD) {
        *row = NULL;
        return 0;
    }
    return rc;
}

static int link_waiting(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    apr_array_header_t *found;
    pay_store_refund_t *row;
    int i, rc;

    rc = waiting(&found, txn, &charge->scope, charge->acquirer_reference, p);
    for (i = 0; !rc && i < found->nelts; i++) {
        rc = load(&row, txn, &APR_ARRAY_IDX(found, i, pay_bytes_t), p);
        if (rc || !row) {
            continue;
        }
        if (!may_count(charge, &row->refund)) {
            name_only(charge, &row->refund);
            rc = pay_store_refund_put(txn, row, p);
            continue;
        }
        rc = join_row(txn, charge, row, p);
        if (rc == ERANGE) { /* more than any amount of money: left for a person to review */
            rc = 0;
        }
    }
    return rc;
}

static int hide_shown(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    apr_array_header_t *found;
    pay_store_refund_t *row;
    int i, rc;

    rc = waiting(&found, txn, &charge->scope, charge->reference, p);
    for (i = 0; !rc && i < found->nelts; i++) {
        rc = load(&row, txn, &APR_ARRAY_IDX(found, i, pay_bytes_t), p);
        if (rc || !row || !row->refund.transaction_reference) {
            continue;
        }
        row->refund.transaction_reference = NULL;
        rc = pay_store_refund_put(txn, row, p);
    }
    return rc;
}

int pay_store_refund_link_opened(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    int rc;

    if (!charge->acquirer_reference || *charge->acquirer_reference == '\0') {
        return 0; /* no acquirer has it in its books */
    }
    rc = link_waiting(txn, charge, p);
    return rc ? rc : hide_shown(txn, charge, p);
}

/* ---- unlinking */

static int of_charge(apr_array_header_t **out, pay_rows_txn_t *txn, const pay_charge_t *charge,
                     apr_pool_t *p)
{
    pay_store_key_t prefix;
    pay_rows_scan_t scan =
        pay_rows_scan(txn, PAY_TABLE_REFUND_BY_CHARGE, &prefix, NULL, PAY_ROWS_FROM);
    pay_bytes_t key, val;
    int rc;

    *out = apr_array_make(p, 1, sizeof(pay_bytes_t));
    pay_store_charge_key(&prefix, &charge->scope, charge->seq);
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc && key.len == prefix.len + sizeof(apr_uint64_t)) {
        if ((*out)->nelts == PAY_STORE_REFUND_LINKS_MAX) {
            rc = EINVAL;
            break;
        }
        APR_ARRAY_PUSH(*out, pay_bytes_t) = pay_rows_dup(&val, p);
        rc = pay_rows_next(&key, &val, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

static int part(pay_rows_txn_t *txn, pay_charge_t *charge, pay_store_refund_t *row, apr_pool_t *p)
{
    pay_refund_t *refund = &row->refund;
    int rc;

    if (refund->state != PAY_REFUND_FAILED
        && pay_store_charge_refund_moved(charge, refund->state, PAY_REFUND_FAILED,
                                         refund->money.amount_minor)) {
        return EINVAL;
    }
    refund->acquirer_charge = charge->acquirer_reference;
    rc = show(txn, refund, p);
    return rc ? rc : pay_store_refund_put(txn, row, p);
}

int pay_store_refund_link_withdrawn(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    apr_array_header_t *found;
    pay_store_refund_t *row;
    int i, rc;

    if (!charge->acquirer_reference || *charge->acquirer_reference == '\0') {
        return 0;
    }
    rc = of_charge(&found, txn, charge, p);
    for (i = 0; !rc && i < found->nelts; i++) {
        rc = pay_store_refund_get(&row, txn, &APR_ARRAY_IDX(found, i, pay_bytes_t), p);
        if (!rc) {
            rc = part(txn, charge, row, p);
        }
    }
    return rc;
}

/* ---- refunds that an earlier version, or a person, left without their charge */

/* Earlier versions stored the acquirer's name of the charge only in the record. */
static const char *name_of(const pay_refund_t *refund)
{
    if (*refund->acquirer_charge || !refund->transaction_reference) {
        return refund->acquirer_charge;
    }
    return refund->transaction_reference;
}

static int keep_name(pay_rows_txn_t *txn, pay_store_refund_t *row, const char *name, apr_pool_t *p)
{
    pay_refund_t *refund = &row->refund;
    int rc;

    if (!*name || !strcmp(name, refund->acquirer_charge)) {
        return PAY_ROWS_SILENT;
    }
    refund->acquirer_charge = name;
    rc = show(txn, refund, p);
    return rc ? rc : pay_store_refund_put(txn, row, p);
}

static void tell(const link_t *link, pay_store_t *db)
{
    const pay_refund_t *refund = link->out;
    char amount[PAY_MONEY_TEXT_MAX];

    pay_store_audit_tell(
        db, refund->scope.account, refund->refund_reference,
        apr_psprintf(link->p, "%s: %s %s of %s", pay_mode_name(refund->scope.mode),
                     pay_money_format(amount, refund->money.amount_minor, refund->money.currency),
                     refund->money.currency, link->charge->reference));
}

static int link_found(link_t *link, pay_rows_txn_t *txn, pay_store_refund_t *row)
{
    int rc;

    link->verdict =
        may_count(link->charge, &row->refund) ? PAY_REFUND_LINKED : PAY_REFUND_LINK_DIFFERENT;
    if (link->verdict != PAY_REFUND_LINKED || !link->change) {
        return PAY_ROWS_SILENT;
    }
    rc = join_row(txn, link->charge, row, link->p);
    if (rc == ERANGE) {
        link->verdict = PAY_REFUND_LINK_DIFFERENT;
        return PAY_ROWS_SILENT;
    }
    if (!rc) {
        rc = pay_store_charge_put(txn, link->charge, link->p);
    }
    if (!rc) {
        tell(link, txn->store);
    }
    return rc;
}

static int link_work(pay_rows_txn_t *txn, void *baton)
{
    link_t *link = baton;
    pay_store_refund_t *row;
    const char *name;
    int rc, visible = 0;

    link->out = NULL;
    link->charge = NULL;
    link->verdict = PAY_REFUND_LINK_NONE;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, link->scope,
                                   link->refund_reference, link->p);
    if (!rc) {
        rc = pay_store_refund_visible(&visible, txn, &row->refund);
    }
    if (rc || !visible) {
        return rc && rc != PAY_ROWS_NOTFOUND ? rc : PAY_ROWS_SILENT;
    }
    link->out = &row->refund;
    if (row->refund.charge_seq != 0) {
        link->verdict = PAY_REFUND_LINK_KNOWN;
        return PAY_ROWS_SILENT;
    }
    name = name_of(&row->refund);
    rc = pay_store_acquirer_charge(&link->charge, txn, link->scope, name, link->p);
    if (!rc) {
        return link_found(link, txn, row);
    }
    if (rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    return link->change ? keep_name(txn, row, name, link->p) : PAY_ROWS_SILENT;
}

apr_status_t pay_store_refund_link(pay_refund_t **out, pay_charge_t **charge,
                                   pay_refund_link_t *verdict, pay_store_t *store,
                                   const pay_scope_t *scope, const char *refund_reference,
                                   int change, apr_pool_t *p)
{
    link_t link = {.scope = scope, .refund_reference = refund_reference, .change = change, .p = p};
    apr_status_t rv;

    *out = NULL;
    *charge = NULL;
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, link_work, &link);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = link.out;
    *charge = link.charge;
    *verdict = link.verdict;
    return link.out ? APR_SUCCESS : APR_NOTFOUND;
}
