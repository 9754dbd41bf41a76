/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/checkout.h"

#include "store/account/account.h"
#include "store/payment/charge.h"
#include "store/payment/link.h"

#include <string.h>

static int page_of_link(pay_store_page_t *out, pay_rows_txn_t *txn, const MDB_val *at,
                        const MDB_val *place, apr_pool_t *p)
{
    const MDB_val key = {place->mv_size - 1, (unsigned char *)place->mv_data + 1};
    pay_link_t *link;
    int rc;

    rc = pay_store_link_of_page(&link, txn, &key, p);
    if (!rc) {
        rc = pay_store_account_by_number(&out->account, txn, link->scope.account, p);
    }
    if (rc == MDB_NOTFOUND) {
        return pay_rows_bad(PAY_TABLE_PAGE, at);
    }
    if (!rc) {
        out->link = link;
    }
    return rc;
}

/* What stands behind an id of table page. */
static int page_read(pay_store_page_t *out, pay_rows_txn_t *txn, const MDB_val *at,
                     const MDB_val *place, apr_pool_t *p)
{
    const unsigned char *bytes = place->mv_data;
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    if (place->mv_size > 0 && bytes[0] == PAY_PAGE_LINK) {
        return page_of_link(out, txn, at, place, p);
    }
    if (place->mv_size != PAY_STORE_PAGE_LEN || bytes[0] != PAY_PAGE_CHECKOUT) {
        return pay_rows_bad(PAY_TABLE_PAGE, at);
    }
    pay_store_read_scope(&scope, bytes + 1);
    rc = pay_store_charge_get(&charge, txn, &scope,
                              pay_store_read_u64(bytes + 1 + PAY_STORE_SCOPE_LEN), p);
    if (!rc && !charge->checkout) {
        return MDB_NOTFOUND;
    }
    if (!rc) {
        rc = pay_store_account_by_number(&out->account, txn, scope.account, p);
    }
    if (rc == MDB_NOTFOUND) {
        return pay_rows_bad(PAY_TABLE_PAGE, at);
    }
    out->charge = charge;
    return rc;
}

apr_status_t pay_store_page_find(pay_store_page_t *out, pay_store_t *store, const char *page_id,
                                 apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val at, place;
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    memset(out, 0, sizeof(*out));
    if (!pay_store_page_key(&key, page_id)) {
        return APR_NOTFOUND;
    }
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&place, &txn, PAY_TABLE_PAGE, &at);
    if (!rc) {
        rc = page_read(out, &txn, &at, &place, p);
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
