/* SPDX-License-Identifier: Apache-2.0 */
#include "store/rows.h"

#include "store/row.h"

/* One row of the table meta. */
static const char delivery_name[] = "delivery";

static const pay_row_field_t delivery_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, pay_delivery_t, webhook_insecure),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, trusted_ca),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, webhook_allow),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, mail_relay),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, mail_login),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, mail_from),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, mail_templates),
};
#define DELIVERY_FIELDS (sizeof(delivery_fields) / sizeof(delivery_fields[0]))

static int has_strings(const pay_delivery_t *delivery)
{
    return delivery->trusted_ca && delivery->webhook_allow && delivery->mail_relay
           && delivery->mail_login && delivery->mail_from && delivery->mail_templates;
}

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    MDB_val key = {sizeof(delivery_name) - 1, (void *)delivery_name};
    MDB_val row = *(const MDB_val *)baton;

    return pay_rows_put(txn, PAY_TABLE_META, &key, &row, 0);
}

apr_status_t pay_store_delivery_put(pay_store_t *store, const pay_delivery_t *delivery,
                                    apr_pool_t *p)
{
    MDB_val row;
    int rc;

    if (!has_strings(delivery)) {
        return APR_EINVAL;
    }
    rc = pay_row_encode(&row, delivery_fields, DELIVERY_FIELDS, delivery, p);
    if (rc) {
        return pay_rows_status(rc);
    }
    return pay_rows_commit(pay_rows_base(store), pay_turn_store(), 0, put_work, &row);
}

apr_status_t pay_store_delivery_get(pay_delivery_t **out, pay_store_t *store, apr_pool_t *p)
{
    MDB_val key = {sizeof(delivery_name) - 1, (void *)delivery_name};
    pay_delivery_t *delivery = apr_pcalloc(p, sizeof(*delivery));
    apr_status_t rv;
    MDB_val row;
    pay_rows_txn_t txn;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_rows_get(&row, &txn, PAY_TABLE_META, &key);
    if (!rc) {
        rc = pay_row_decode(delivery, delivery_fields, DELIVERY_FIELDS, &row, NULL, p);
        if (rc) {
            rc = pay_rows_bad(PAY_TABLE_META, &key);
        }
    }
    pay_rows_end(&txn);
    if (rc) {
        return pay_rows_status(rc);
    }
    *out = delivery;
    return APR_SUCCESS;
}
