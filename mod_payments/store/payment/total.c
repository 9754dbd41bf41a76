/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/total.h"

#include "store/record/scope.h"
#include "store/row.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

#define LIST_SIZE_HINT 64

/* Rows after which a list ends, if it has a result: many imports may share few steps. */
#define LIST_VISITS_MAX 4096

/* Step and currency are in the key. New fields go to the end. */
static const pay_row_field_t total_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, pay_total_t, charges),
    PAY_ROW_MAX(pay_total_t, charged.high, APR_INT64_MAX),
    PAY_ROW_MAX(pay_total_t, charged.low, PAY_SUM_LOW_END - 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_total_t, failed),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_total_t, refunds),
    PAY_ROW_MAX(pay_total_t, refunded.high, APR_INT64_MAX),
    PAY_ROW_MAX(pay_total_t, refunded.low, PAY_SUM_LOW_END - 1),
    PAY_ROW_MAX(pay_total_t, fees.high, APR_INT64_MAX),
    PAY_ROW_MAX(pay_total_t, fees.low, PAY_SUM_LOW_END - 1),
};
#define TOTAL_FIELDS (sizeof(total_fields) / sizeof(total_fields[0]))

void pay_store_total_key(pay_store_key_t *key, const pay_store_total_t *row)
{
    pay_store_key_of_scope(key, &row->scope);
    pay_store_key_time(key, row->total.from);
    (void)pay_store_key_bytes(key, row->total.currency, PAY_CURRENCY_LEN);
    pay_store_key_u32(key, row->import_number);
}

/* Three capital letters: totals stay readable when ISO 4217 drops a currency. */
static int is_currency(const char *text)
{
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == PAY_CURRENCY_LEN;
}

int pay_store_total_decode(pay_store_total_t *out, const pay_bytes_t *key, const pay_bytes_t *row)
{
    const unsigned char *at = key->data;
    pay_total_t *total = &out->total;
    int rc;

    memset(out, 0, sizeof(*out));
    if (key->len != PAY_STORE_TOTAL_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_TOTAL, key);
    }
    /* It has no strings, so no pool is needed. */
    rc = pay_row_decode(total, total_fields, TOTAL_FIELDS, row, NULL, NULL);
    pay_store_read_scope(&out->scope, at);
    at += PAY_STORE_SCOPE_LEN;
    total->from = pay_store_read_time(at);
    at += sizeof(apr_uint64_t);
    memcpy(total->currency, at, PAY_CURRENCY_LEN);
    out->import_number = pay_store_read_u32(at + PAY_CURRENCY_LEN);
    if (rc || pay_total_step(total->from) != total->from || !is_currency(total->currency)
        || pay_total_is_zero(total)) {
        return pay_rows_bad(PAY_TABLE_TOTAL, key);
    }
    return 0;
}

void pay_store_total_of_charge(pay_store_total_t *out, const pay_charge_t *charge)
{
    memset(out, 0, sizeof(*out));
    out->scope = charge->scope;
    out->total.from = pay_total_step(charge->created_at);
    memcpy(out->total.currency, charge->money.currency, sizeof(out->total.currency));
    if (charge->state == PAY_CHARGE_SUCCESSFUL || charge->state == PAY_CHARGE_REVERSED) {
        out->total.charges = 1;
        pay_sum_add(&out->total.charged, charge->money.amount_minor);
        pay_sum_add(&out->total.fees, charge->fee_minor);
    } else if (charge->state == PAY_CHARGE_FAILED) {
        out->total.failed = 1;
    }
}

void pay_store_total_of_refund(pay_store_total_t *out, const pay_refund_t *refund)
{
    memset(out, 0, sizeof(*out));
    out->scope = refund->scope;
    out->import_number = refund->import_number;
    out->total.from = pay_total_step(refund->created_at);
    memcpy(out->total.currency, refund->money.currency, sizeof(out->total.currency));
    if (refund->money.currency[0] != '\0') {
        out->total.refunds = 1;
        pay_sum_add(&out->total.refunded, refund->money.amount_minor);
    }
}

static int sum_is_sound(const pay_sum_t *sum)
{
    return sum->high >= 0 && sum->low >= 0 && sum->low < PAY_SUM_LOW_END;
}

/* Returns 0, with `total` invalid, if it is smaller than what is subtracted. */
static int take_away(pay_total_t *total, const pay_total_t *less)
{
    if (total->charges < less->charges || total->failed < less->failed
        || total->refunds < less->refunds) {
        return 0;
    }
    total->charges -= less->charges;
    total->failed -= less->failed;
    total->refunds -= less->refunds;
    pay_sum_subtract_sum(&total->charged, &less->charged);
    pay_sum_subtract_sum(&total->refunded, &less->refunded);
    pay_sum_subtract_sum(&total->fees, &less->fees);
    return sum_is_sound(&total->charged) && sum_is_sound(&total->refunded)
           && sum_is_sound(&total->fees);
}

/* Like change(); PAY_ROWS_BAD, already logged: the row is damaged, and was left unchanged. */
static int change_row(pay_rows_txn_t *txn, const pay_store_total_t *by, int count, apr_pool_t *p)
{
    pay_store_total_t row;
    pay_store_key_t key;
    pay_bytes_t at, val;
    int rc;

    pay_store_total_key(&key, by);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&val, txn, PAY_TABLE_TOTAL, &at);
    if (rc == PAY_ROWS_NOTFOUND) {
        memset(&row, 0, sizeof(row));
        rc = 0;
    } else if (!rc) {
        rc = pay_store_total_decode(&row, &at, &val);
    }
    if (rc) {
        return rc;
    }
    if (count > 0) {
        pay_total_add(&row.total, &by->total);
    } else if (!take_away(&row.total, &by->total)) {
        return pay_rows_bad(PAY_TABLE_TOTAL, &at);
    }
    if (pay_total_is_zero(&row.total)) {
        return pay_rows_del(txn, PAY_TABLE_TOTAL, &at);
    }
    rc = pay_row_encode(&val, total_fields, TOTAL_FIELDS, &row.total, p);
    return rc ? rc : pay_rows_put(txn, PAY_TABLE_TOTAL, &at, &val, 0);
}

/*
 * Adds `by` to the stored row of its key, or subtracts it. A damaged row must not prevent money
 * from being decided: the decision proceeds, and `store check` reports the row.
 */
static int change(pay_rows_txn_t *txn, const pay_store_total_t *by, int count, apr_pool_t *p)
{
    int rc;

    assert(count == 1 || count == -1);
    if (pay_total_is_zero(&by->total)) {
        return 0;
    }
    rc = change_row(txn, by, count, p);
    return rc == PAY_ROWS_BAD ? 0 : rc;
}

int pay_store_total_charge(pay_rows_txn_t *txn, const pay_charge_t *charge, int count,
                           apr_pool_t *p)
{
    pay_store_total_t by;

    pay_store_total_of_charge(&by, charge);
    return change(txn, &by, count, p);
}

int pay_store_total_refund(pay_rows_txn_t *txn, const pay_refund_t *refund, int count,
                           apr_pool_t *p)
{
    pay_store_total_t by;

    pay_store_total_of_refund(&by, refund);
    return change(txn, &by, count, p);
}

/* The first key of the range after `after`: nothing of that step and currency follows it. */
static void list_start(pay_store_key_t *first, const pay_scope_t *scope, apr_time_t from,
                       const pay_total_t *after)
{
    pay_store_total_t last = {.scope = *scope, .import_number = APR_UINT32_MAX};

    if (after && after->from >= from) {
        last.total = *after;
        pay_store_total_key(first, &last);
        (void)pay_store_key_bytes(first, "", 1);
    } else {
        pay_store_key_of_scope(first, scope);
        pay_store_key_time(first, from);
    }
}

/*
 * Adds a row to the total before it if both have the same step and currency. Returns 0 if the list
 * is full.
 */
static int list_row(apr_array_header_t *totals, const pay_total_t *row, int limit)
{
    pay_total_t *last = NULL;

    if (totals->nelts > 0) {
        last = &APR_ARRAY_IDX(totals, totals->nelts - 1, pay_total_t);
    }
    if (last && last->from == row->from && strcmp(last->currency, row->currency) == 0) {
        pay_total_add(last, row);
        return 1;
    }
    if (totals->nelts == limit) {
        return 0;
    }
    APR_ARRAY_PUSH(totals, pay_total_t) = *row;
    return 1;
}

static int list(apr_array_header_t *totals, pay_rows_txn_t *txn, const pay_store_key_t *first,
                const pay_scope_t *scope, apr_time_t to, int limit)
{
    pay_store_key_t prefix;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_TOTAL, &prefix, first, PAY_ROWS_FROM);
    pay_store_scope_t view;
    pay_store_total_t row;
    pay_bytes_t key, val;
    int rc, visits = 0;

    rc = pay_store_scope_get(&view, txn, scope);
    if (rc) {
        return rc;
    }
    pay_store_key_of_scope(&prefix, scope);
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc) {
        rc = pay_store_total_decode(&row, &key, &val);
        if (rc || row.total.from > to) {
            break;
        }
        if (visits++ >= LIST_VISITS_MAX && totals->nelts > 0) {
            limit = totals->nelts; /* rows that belong to the last one are still read */
        }
        if (row.import_number <= view.import_done && !list_row(totals, &row.total, limit)) {
            break;
        }
        rc = pay_rows_next(&key, &val, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

apr_status_t pay_store_total_list(apr_array_header_t **out, pay_store_t *store,
                                  const pay_scope_t *scope, const pay_time_range_t *range,
                                  const pay_total_t *after, int limit, apr_pool_t *p)
{
    pay_store_key_t first;
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    *out = apr_array_make(p, limit < LIST_SIZE_HINT ? limit : LIST_SIZE_HINT, sizeof(pay_total_t));
    list_start(&first, scope, range->from, after);
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = list(*out, &txn, &first, scope, range->to, limit);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
