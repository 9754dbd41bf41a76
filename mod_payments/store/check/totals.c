/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"
#include "store/payment/charge.h"
#include "store/payment/checkout.h"
#include "store/payment/refund.h"
#include "store/payment/total.h"
#include "store/record/rows.h"
#include "store/record/scope.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <string.h>

#define PLACE_LEN (PAY_STORE_SCOPE_LEN + 8) /* all three tables begin with scope and time */

/* The sums of a step under one key of table total. */
typedef struct counted_t {
    pay_store_total_t row;
    int kept; /* table total has a row with that key */
} counted_t;

/* One step of one scope, counted and compared within one read transaction. */
typedef struct step_t {
    pay_store_check_t *check;
    pay_scope_t scope;
    apr_time_t from, to;         /* its first and last time */
    apr_array_header_t *counted; /* array of counted_t */
    apr_pool_t *row_pool;        /* for one row */
    int unsure;                  /* a row does not decode, which is reported elsewhere */
    int rows;                    /* examined so far, including earlier steps */
} step_t;

typedef int (*count_row_t)(step_t *step, const pay_bytes_t *key, const pay_bytes_t *row);

int pay_store_check_total(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_store_total_t total;
    pay_store_scope_t last;
    int rc, found;

    rc = pay_store_total_decode(&total, key, row);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_TOTAL, key, "the row does not decode");
        return 0;
    }
    if (rc) {
        return rc;
    }
    rc = pay_store_check_account_known(&found, check, key->data);
    if (rc) {
        return rc;
    }
    if (!found) {
        pay_store_check_fault(check, PAY_TABLE_TOTAL, key, "there is no such account");
    }
    rc = pay_store_scope_get(&last, check->txn, &total.scope);
    if (rc) {
        return rc == PAY_ROWS_BAD ? 0 : rc; /* reported with the scope */
    }
    if (total.import_number > last.import_done && total.import_number != last.import_open
        && total.import_number != last.import_left) {
        pay_store_check_fault(check, PAY_TABLE_TOTAL, key, "of an unknown import");
    }
    return 0;
}

static counted_t *find(step_t *step, const pay_store_total_t *row)
{
    counted_t *one;
    int i;

    for (i = 0; i < step->counted->nelts; i++) {
        one = &APR_ARRAY_IDX(step->counted, i, counted_t);
        if (one->row.import_number == row->import_number
            && strcmp(one->row.total.currency, row->total.currency) == 0) {
            return one;
        }
    }
    return NULL;
}

static void count(step_t *step, const pay_store_total_t *row)
{
    counted_t *one;

    if (pay_total_is_zero(&row->total)) {
        return;
    }
    one = find(step, row);
    if (one) {
        pay_total_add(&one->row.total, &row->total);
        return;
    }
    one = apr_array_push(step->counted);
    one->row = *row;
    one->kept = 0;
}

static int count_charge(step_t *step, const pay_bytes_t *key, const pay_bytes_t *row)
{
    const unsigned char *at = (const unsigned char *)key->data + PAY_STORE_SCOPE_LEN;
    pay_store_total_t total;
    pay_charge_t *charge;
    int rc;

    (void)row;
    if (key->len != PAY_STORE_CHARGE_TIME_KEY_LEN) {
        step->unsure = 1;
        return 0;
    }
    rc = pay_store_charge_get(&charge, step->check->txn, &step->scope,
                              pay_store_read_u64(at + sizeof(apr_uint64_t)), step->row_pool);
    if (rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD
        || (!rc && charge->created_at != pay_store_read_time(at))) {
        step->unsure = 1;
        return 0;
    }
    if (!rc) {
        pay_store_total_of_charge(&total, charge);
        count(step, &total);
    }
    return rc;
}

static int count_refund(step_t *step, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_store_refund_t *record;
    pay_store_total_t total;
    int rc;

    rc = pay_store_refund_peek(&record, key, row, step->row_pool);
    if (rc == PAY_ROWS_BAD) {
        step->unsure = 1;
        return 0;
    }
    if (!rc && record->refund.state == PAY_REFUND_PROCESSED) {
        pay_store_total_of_refund(&total, &record->refund);
        count(step, &total);
    }
    return rc;
}

/* "3 charges of 12.50, 1 failed, 2 refunds of 4.00, fees of 0.20" */
static const char *total_text(const pay_total_t *total, apr_pool_t *p)
{
    static const pay_sum_t zero = {0, 0};
    char charged[PAY_SUM_TEXT_MAX], refunded[PAY_SUM_TEXT_MAX], fees[PAY_SUM_TEXT_MAX];
    const int has_fees = pay_sum_compare(&total->fees, &zero) != 0;

    return apr_psprintf(p,
                        "%" APR_UINT64_T_FMT " charges of %s, %" APR_UINT64_T_FMT
                        " failed, %" APR_UINT64_T_FMT " refunds of %s%s%s",
                        total->charges, pay_sum_format(charged, &total->charged, total->currency),
                        total->failed, total->refunds,
                        pay_sum_format(refunded, &total->refunded, total->currency),
                        has_fees ? ", fees of " : "",
                        has_fees ? pay_sum_format(fees, &total->fees, total->currency) : "");
}

static int totals_differ(const pay_total_t *a, const pay_total_t *b)
{
    return a->charges != b->charges || a->failed != b->failed || a->refunds != b->refunds
           || pay_sum_compare(&a->charged, &b->charged) != 0
           || pay_sum_compare(&a->refunded, &b->refunded) != 0
           || pay_sum_compare(&a->fees, &b->fees) != 0;
}

/* Compares a stored row with the sums counted under its key. */
static int compare_kept(step_t *step, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_total_t nothing = {.from = step->from};
    pay_store_check_t *check = step->check;
    const pay_total_t *want = &nothing;
    pay_store_total_t kept;
    counted_t *one;
    int rc;

    rc = pay_store_total_decode(&kept, key, row);
    if (rc == PAY_ROWS_BAD) {
        step->unsure = 1; /* reported with the row */
        return 0;
    }
    if (rc) {
        return rc;
    }
    memcpy(nothing.currency, kept.total.currency, sizeof(nothing.currency));
    one = find(step, &kept);
    if (one) {
        one->kept = 1;
        want = &one->row.total;
    }
    if (!step->unsure && totals_differ(&kept.total, want)) {
        pay_store_check_fault(check, PAY_TABLE_TOTAL, key, "%s: stored as %s, but there are %s",
                              kept.total.currency, total_text(&kept.total, check->ptemp),
                              total_text(want, check->ptemp));
    }
    return 0;
}

static void tell_not_kept(step_t *step)
{
    pay_store_check_t *check = step->check;
    pay_store_key_t key;
    pay_bytes_t at;
    int i;

    for (i = 0; i < step->counted->nelts && !step->unsure; i++) {
        const counted_t *one = &APR_ARRAY_IDX(step->counted, i, counted_t);

        if (!one->kept) {
            pay_store_total_key(&key, &one->row);
            at = pay_store_key_val(&key);
            pay_store_check_fault(check, PAY_TABLE_TOTAL, &at,
                                  "%s: there is no row, but there are %s", one->row.total.currency,
                                  total_text(&one->row.total, check->ptemp));
        }
    }
}

/* Passes the table's rows of the step to `visit`. */
static int walk_step(step_t *step, pay_table_t table, count_row_t visit)
{
    pay_store_key_t prefix, first;
    pay_rows_scan_t scan = pay_rows_scan(step->check->txn, table, &prefix, &first, PAY_ROWS_FROM);
    pay_bytes_t key, row;
    int rc;

    pay_store_key_of_scope(&prefix, &step->scope);
    first = prefix;
    pay_store_key_time(&first, step->from);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && key.len >= PLACE_LEN
           && pay_store_read_time((const char *)key.data + PAY_STORE_SCOPE_LEN) <= step->to) {
        step->rows++;
        rc = visit(step, &key, &row);
        apr_pool_clear(step->row_pool);
        if (!rc) {
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

/* The place of the table's first row from `from` on; PAY_ROWS_NOTFOUND if there is no such row. */
static int first_place(unsigned char place[PLACE_LEN], const pay_store_check_t *check,
                       pay_table_t table, const pay_store_key_t *from)
{
    pay_rows_scan_t scan = pay_rows_scan(check->txn, table, NULL, from, PAY_ROWS_FROM);
    pay_bytes_t key, row;
    int rc;

    do {
        rc = pay_rows_next(&key, &row, &scan);
    } while (!rc && key.len < PLACE_LEN); /* not a key of this table: reported with its row */
    if (!rc) {
        memcpy(place, key.data, PLACE_LEN);
    }
    (void)pay_rows_scan_end(&scan, rc);
    return rc;
}

/* Advances to the next step in any of the tables; sets *done to 1 after the last one. */
static int next_step(int *done, step_t *step, const pay_store_key_t *from)
{
    static const pay_table_t tables[] = {PAY_TABLE_CHARGE_BY_TIME, PAY_TABLE_REFUND,
                                         PAY_TABLE_TOTAL};
    unsigned char place[PLACE_LEN], first[PLACE_LEN];
    size_t i;
    int rc;

    *done = 1;
    for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        rc = first_place(place, step->check, tables[i], from);
        if (rc && rc != PAY_ROWS_NOTFOUND) {
            return rc;
        }
        if (!rc && (*done || memcmp(place, first, PLACE_LEN) < 0)) {
            memcpy(first, place, PLACE_LEN);
            *done = 0;
        }
    }
    if (!*done) {
        pay_store_read_scope(&step->scope, first);
        step->from = pay_total_step(pay_store_read_time(first + PAY_STORE_SCOPE_LEN));
        step->to = step->from > APR_INT64_MAX - PAY_TOTAL_STEP ? APR_INT64_MAX
                                                               : step->from + PAY_TOTAL_STEP - 1;
    }
    return 0;
}

static int check_step(step_t *step)
{
    int rc;

    step->counted = apr_array_make(step->check->ptemp, 4, sizeof(counted_t));
    step->unsure = 0;
    rc = walk_step(step, PAY_TABLE_CHARGE_BY_TIME, count_charge);
    if (!rc) {
        rc = walk_step(step, PAY_TABLE_REFUND, count_refund);
    }
    if (!rc) {
        rc = walk_step(step, PAY_TABLE_TOTAL, compare_kept);
    }
    if (!rc) {
        tell_not_kept(step);
    }
    return rc;
}

/*
 * The first key after all keys that the step can have, however long they are; returns 0 if there is
 * none.
 */
static int next_from(pay_store_key_t *from, const step_t *step)
{
    size_t i;

    pay_store_key_of_scope(from, &step->scope);
    pay_store_key_time(from, step->to);
    for (i = PLACE_LEN; i > 0; i--) {
        if (++from->bytes[i - 1] != 0) {
            return 1;
        }
    }
    return 0;
}

int pay_store_check_total_part(int *done, pay_store_key_t *from, pay_store_check_t *check)
{
    step_t step = {.check = check};
    int rc = 0;

    *done = 0;
    apr_pool_create(&step.row_pool, check->ptemp);
    while (!rc && !*done && step.rows < PAY_STORE_CHECK_ROWS_MAX) {
        rc = next_step(done, &step, from);
        if (!rc && !*done) {
            rc = check_step(&step);
            *done = !next_from(from, &step);
        }
    }
    return rc;
}

/* ---- counts of rows */

/* A damaged checkout is reported with its table, and makes the number uncertain. */
static int count_anonymous(apr_uint64_t *out, int *unsure, pay_store_check_t *check,
                           const pay_scope_t *scope)
{
    pay_checkout_t *checkout;
    pay_store_key_t prefix;
    pay_rows_scan_t scan =
        pay_rows_scan(check->txn, PAY_TABLE_CHECKOUT, &prefix, NULL, PAY_ROWS_FROM);
    apr_pool_t *row_pool;
    pay_bytes_t key, row;
    int rc;

    *out = 0;
    *unsure = 0;
    apr_pool_create(&row_pool, check->ptemp);
    pay_store_key_of_scope(&prefix, scope);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc) {
        if (pay_store_checkout_decode(&checkout, &key, &row, row_pool) != 0) {
            *unsure = 1;
        } else if (checkout->anonymous) {
            (*out)++;
        }
        apr_pool_clear(row_pool);
        rc = pay_rows_next(&key, &row, &scan);
    }
    apr_pool_destroy(row_pool);
    return pay_rows_scan_end(&scan, rc);
}

int pay_store_check_rows(pay_store_check_t *check, const pay_bytes_t *key, const pay_scope_t *scope,
                         const pay_store_scope_t *last)
{
    apr_uint64_t rows, anonymous;
    int rc, unsure;

    if (last->rows_told == 0) { /* not counted since an earlier version wrote it */
        return 0;
    }
    rc = pay_store_rows_count(&rows, check->txn, scope);
    if (!rc) {
        rc = count_anonymous(&anonymous, &unsure, check, scope);
    }
    if (rc) {
        return rc;
    }
    if (rows != last->rows_told - 1) {
        pay_store_check_fault(check, PAY_TABLE_SCOPE, key,
                              "counts %" APR_UINT64_T_FMT
                              " idempotency records, events, tokens, links and checkouts, there "
                              "are %" APR_UINT64_T_FMT,
                              last->rows_told - 1, rows);
    }
    if (!unsure && anonymous != last->anonymous) {
        pay_store_check_fault(check, PAY_TABLE_SCOPE, key,
                              "counts %" APR_UINT64_T_FMT
                              " unpaid checkouts of public keys and links, there are "
                              "%" APR_UINT64_T_FMT,
                              last->anonymous, anonymous);
    }
    return 0;
}
