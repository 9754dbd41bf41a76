/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/payment/link.h"

#include <string.h>

/* What keeps the next payer away is there. A checkout that is not counted is told with itself. */
static int check_holding(pay_store_check_t *check, const MDB_val *key, const pay_link_t *link)
{
    apr_uint64_t holding;
    int rc, whole;

    if (!link->once || !link->counted || link->holding == 0) {
        return MDB_SUCCESS;
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

int pay_store_check_link(pay_store_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_link_t *link;
    int rc, found;

    rc = pay_store_link_decode(&link, key, row, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_LINK, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    if (!rc) {
        rc = pay_store_check_account_known(&found, check, key->mv_data);
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

int pay_store_check_checkout_link(pay_store_check_t *check, const MDB_val *key,
                                  const pay_checkout_t *checkout, const pay_charge_t *charge)
{
    pay_link_t *link;
    int rc;

    if (!*checkout->link) {
        return MDB_SUCCESS;
    }
    rc = pay_store_link_load(&link, check->txn, &charge->scope, checkout->link, check->ptemp);
    if (rc == PAY_ROWS_BAD) { /* told with the link */
        return MDB_SUCCESS;
    }
    if (rc == MDB_NOTFOUND) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "there is no such payment link");
        return MDB_SUCCESS;
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
