/* SPDX-License-Identifier: Apache-2.0 */
#include "link_goods.h"
#include "outlet.h"

#include "store/lmdb/env.h"
#include "store/record/rows.h"

#define QUOTA 64 /* an eighth: four checkouts of two rows */

static pay_account_rows_t rows_of(int i)
{
    pay_account_rows_t rows;

    ck_assert_int_eq(pay_store_account_rows(&rows, till->store, till->scopes[i].account, unit_pool),
                     APR_SUCCESS);
    return rows;
}

static apr_uint64_t count(int i)
{
    return rows_of(i).rows[till->scopes[i].mode];
}

static void quota(int rows)
{
    till->store->options.account_rows_max = rows;
}

static apr_status_t token(int i, const char *text)
{
    const pay_token_t proposal = {.scope = till->scopes[i],
                                  .token = text,
                                  .card = {"", "", "", "", ""},
                                  .email = "ada@shop.example"};
    pay_token_t *made;

    return pay_store_token_create(&made, till->store, &proposal, unit_pool);
}

static apr_status_t link_create(int i, const char *reference)
{
    const pay_link_t proposal = link_proposal(i, reference, 0);
    pay_link_t *link;

    return pay_store_link_create(&link, till->store, &proposal, unit_pool);
}

/* A checkout of a visitor of the link, or with the shop's own key. */
static apr_status_t checkout(pay_charge_t **out, int i, const char *reference, int of_visitor)
{
    pay_charge_t *proposal = till_proposal(i, reference, LINK_AMOUNT_MINOR);
    pay_checkout_t *beside = checkout_make(till_clock + apr_time_from_sec(60), unit_pool);
    pay_claim_t claim;

    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->token = "";
    proposal->checkout = beside;
    if (of_visitor) {
        beside->link = "link-1";
        proposal->key_id = "";
    }
    return pay_store_charge_open(out, &claim, till->store, proposal, NULL, NULL, unit_pool);
}

static apr_status_t visit(int i, int n)
{
    pay_charge_t *charge;

    return checkout(&charge, i, apr_psprintf(unit_pool, "visit-%d", n), 1);
}

static apr_status_t note(int i, pay_audit_bound_t bound)
{
    const pay_audit_t entry = {.account = till->scopes[i].account,
                               .who = "ada",
                               .from = "",
                               .what = "sign-in",
                               .subject = "",
                               .detail = "",
                               .bound = bound};
    pay_store_t *audited;

    ck_assert_int_eq(pay_store_audited(&audited, till->store, &entry, unit_pool), APR_SUCCESS);
    return pay_store_audit_note(audited);
}

/* Each kind of row counts once, when it is added and when it is removed; another mode's do not. */
START_TEST(test_every_row_counts)
{
    const pay_idempotency_t *use = till_use(PAY_OPERATION_VOID, "k-1", "a");
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    int expired;

    ck_assert_uint_eq(count(_i), 0);
    (void)till_open(_i, "order-1", 1000);
    ck_assert_uint_eq(count(_i), 1);
    ck_assert_int_eq(checkout(&charge, _i, "order-2", 0), APR_SUCCESS);
    ck_assert_uint_eq(count(_i), 3); /* a charge, and the rows beside it */
    ck_assert_int_eq(token(_i, "tok_1"), APR_SUCCESS);
    ck_assert_int_eq(token(_i, "tok_1"), APR_EEXIST);
    ck_assert_uint_eq(count(_i), 4);
    ck_assert_int_eq(link_create(_i, "link-1"), APR_SUCCESS);
    ck_assert_int_eq(link_create(_i, "link-1"), APR_EEXIST);
    ck_assert_uint_eq(count(_i), 5);
    ck_assert_int_eq(
        pay_store_idempotency_put(&record, till->store, &till->scopes[_i], use, "{}", unit_pool),
        APR_SUCCESS);
    ck_assert_uint_eq(count(_i), 6);
    outlet_open(_i, PAY_ENDPOINT_WEBHOOK);
    ck_assert_int_eq(till_resolve(&charge, _i, charge->seq, PAY_OUTCOME_DECLINED), 1);
    ck_assert_uint_eq(count(_i), 7); /* the event */
    till_check_clean();
    ck_assert_int_eq(note(_i, PAY_AUDIT_UNBOUNDED), APR_SUCCESS);
    ck_assert_uint_eq(count(_i), 7);
    ck_assert_uint_eq(rows_of(_i).entries, 1);
    ck_assert_int_ge(outlet_run(PAY_EVENT_DELIVERED), 1);
    ck_assert_int_eq(pay_store_idempotency_expire(&expired, till->store,
                                                  till_clock + 2 * PAY_IDEMPOTENCY_KEEP, 10,
                                                  unit_pool),
                     APR_SUCCESS);
    ck_assert_uint_eq(count(_i), 5);
    till_check_clean();
}
END_TEST

/* The account's own request is refused; the outcome of an earlier one is not. */
START_TEST(test_quota)
{
    const pay_idempotency_t *use = till_use(PAY_OPERATION_REFUND, "k-1", "a");
    pay_charge_t *open, *out;
    pay_refund_verdict_t verdict;
    pay_refund_t *refund;
    pay_claim_t claim;
    pay_idempotency_record_t *record;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    (void)till_charge(0, "paid", 1000);
    open = till_open(0, "order-2", 1000);
    refund = till_refund(0, "order-1", 10, PAY_REFUND_OPENED);
    quota((int)count(0));
    ck_assert_int_eq(link_create(0, "link-1"), PAY_STORE_EFULL);
    ck_assert_int_eq(pay_store_charge_open(&out, &claim, till->store,
                                           till_proposal(0, "order-3", 1), NULL, NULL, unit_pool),
                     PAY_STORE_EFULL);
    ck_assert_int_eq(pay_store_refund_open(&refund, &out, &verdict, &record, till->store,
                                           till_refund_proposal(0, "order-1", 2000), use, 0,
                                           unit_pool),
                     APR_SUCCESS);
    ck_assert_ptr_null(till_idempotency(0, use)); /* a refusal is not stored then */
    ck_assert_int_eq(pay_store_refund_open(&refund, &out, &verdict, &record, till->store,
                                           till_refund_proposal(0, "paid", 10), use, 0, unit_pool),
                     PAY_STORE_EFULL);
    ck_assert_ptr_null(refund);
    ck_assert_ptr_null(till_idempotency(0, use));
    ck_assert_int_eq(till_resolve(&open, 0, open->seq, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(till_refund_resolve(&refund, 0, "rfd_1", PAY_OUTCOME_APPROVED), 1);
    ck_assert_uint_gt(count(0), (apr_uint64_t)till->store->options.account_rows_max);
    ck_assert_int_eq(link_create(1, "link-1"), APR_SUCCESS); /* another account */
    till_check_clean();
}
END_TEST

/* Notices fill half of the audit's share and changes all of it; charges and refunds go on, and so
 * do changes that end something. */
START_TEST(test_audit_is_bounded)
{
    int n;

    quota(8);
    for (n = 0; n < 4; n++) {
        ck_assert_int_eq(note(0, PAY_AUDIT_OF_NOTICE), APR_SUCCESS);
    }
    till->store->env->log_next_ms[PAY_LMDB_CAUSE_QUOTA] = 0;
    ck_assert_int_eq(note(0, PAY_AUDIT_OF_NOTICE), PAY_STORE_EFULL);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    ck_assert_ptr_nonnull(strstr(till_line, "PaymentsAccountQuota allows 4"));
    for (n = 4; n < 8; n++) {
        ck_assert_int_eq(note(0, PAY_AUDIT_OF_CHANGE), APR_SUCCESS);
    }
    ck_assert_int_eq(note(0, PAY_AUDIT_OF_CHANGE), PAY_STORE_EFULL);
    ck_assert_int_eq(note(0, PAY_AUDIT_UNBOUNDED), APR_SUCCESS);
    ck_assert_uint_eq(rows_of(0).entries, 9);
    ck_assert_int_eq(note(1, PAY_AUDIT_OF_CHANGE), APR_SUCCESS); /* another account */
    (void)till_charge(0, "order-1", 1000);
    ck_assert_ptr_nonnull(till_refund(0, "order-1", 10, PAY_REFUND_OPENED));
    quota(0);
    ck_assert_int_eq(note(0, PAY_AUDIT_OF_NOTICE), APR_SUCCESS);
    till_check_clean();
}
END_TEST

/* Visitors fill an eighth; the shop goes on, and paid checkouts make room for others. */
START_TEST(test_eighth_of_anonymous_clients)
{
    pay_charge_t *charge;
    int n;

    ck_assert_int_eq(link_create(0, "link-1"), APR_SUCCESS);
    till->store->env->log_next_ms[PAY_LMDB_CAUSE_QUOTA] =
        0; /* an earlier test's file had this inode */
    quota(QUOTA);
    for (n = 0; n < 4; n++) {
        ck_assert_int_eq(visit(0, n), APR_SUCCESS);
    }
    ck_assert_int_eq(visit(0, 4), PAY_STORE_EFULL);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    ck_assert_ptr_nonnull(strstr(till_line, "an eighth of PaymentsAccountQuota"));
    ck_assert_int_eq(visit(0, 3), APR_SUCCESS); /* known already */
    ck_assert_int_eq(checkout(&charge, 0, "ours", 0), APR_SUCCESS);
    (void)till_charge(0, "order-1", 1000);
    charge = till_find(0, "visit-0");
    ck_assert_int_eq(till_resolve(&charge, 0, charge->seq, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(visit(0, 4), APR_SUCCESS);
    charge = till_find(0, "visit-1");
    ck_assert_int_eq(till_resolve(&charge, 0, charge->seq, PAY_OUTCOME_DECLINED), 1);
    ck_assert_int_eq(visit(0, 5), PAY_STORE_EFULL); /* until it is removed */
    till_check_clean();
}
END_TEST

static int miscount_work(pay_rows_txn_t *txn, void *baton)
{
    const int *rows = baton;
    pay_store_scope_t row;

    ck_assert_int_eq(pay_store_scope_get(&row, txn, &till->scopes[0]), 0);
    if (*rows) {
        row.rows_told++;
    } else {
        row.anonymous++;
    }
    return pay_store_scope_write(txn, &till->scopes[0], &row, unit_pool);
}

START_TEST(test_check_counts)
{
    int rows = _i;

    (void)till_checkout(0, "order-1", 1000);
    till_check_clean();
    till_raw(miscount_work, &rows);
    ck_assert_int_eq(till_faults("counts"), 1);
    ck_assert_ptr_nonnull(strstr(till_fault, rows ? "there are 1" : "there are 0"));
}
END_TEST

static const struct {
    const char *name;
    int (*judge)(int *reached, pay_rows_txn_t *txn, const pay_scope_t *scope);
} quota_rows[] = {
    {"the account's", pay_store_rows_quota},
    {"of anonymous", pay_store_rows_quota_anonymous},
};

static int judge_work(pay_rows_txn_t *txn, void *baton)
{
    const int *row = baton;
    int reached = 1;

    ck_assert_int_eq(quota_rows[*row].judge(&reached, txn, &till->scopes[0]), PAY_ROWS_BAD);
    ck_assert_msg(!reached, "%s", quota_rows[*row].name);
    return 0;
}

/* If the count cannot be read no quota counts as reached, not even one that allows nothing. */
START_TEST(test_damaged_count)
{
    pay_store_key_t key;
    int row = _i;

    quota(1);
    pay_store_key_of_scope(&key, &till->scopes[0]);
    till_plant(PAY_TABLE_SCOPE, &key, "\xff", 1);
    till_raw(judge_work, &row);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_every_row_counts, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_quota);
    tcase_add_test(tcase, test_audit_is_bounded);
    tcase_add_test(tcase, test_eighth_of_anonymous_clients);
    tcase_add_loop_test(tcase, test_check_counts, 0, 2);
    tcase_add_loop_test(tcase, test_damaged_count, 0, UNIT_ROWS(quota_rows));
}

UNIT_PROGRAM(add)
