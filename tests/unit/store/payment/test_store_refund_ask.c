/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#define ACQUIRER "relay@acquirer.example"
#define DUE (TILL_NOW + apr_time_from_sec(60))

/* One record of history in scope `i`, which is visible unless `open`. */
static void import(int i, pay_refund_state_t state, apr_int64_t amount_minor, int open)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(const pay_refund_t *));
    pay_import_t run;
    int at;

    APR_ARRAY_PUSH(rows, const pay_refund_t *) =
        till_history(i, 1, TILL_NOW, state, NULL, amount_minor);
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    if (!open) {
        ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    }
}

static pay_refund_t *ask(int i, const char *reference, apr_status_t want, int want_changed)
{
    pay_refund_t *refund;
    int changed;

    ck_assert_int_eq(pay_store_refund_ask(&refund, &changed, till->store, &till->scopes[i],
                                          reference, ACQUIRER, DUE, unit_pool),
                     want);
    ck_assert_int_eq(changed, want_changed);
    return refund;
}

START_TEST(test_asked)
{
    const char *reference =
        till_history(_i, 1, TILL_NOW, PAY_REFUND_PENDING, NULL, 100)->refund_reference;
    apr_array_header_t *rows;
    const pay_refund_t *due;
    pay_refund_t *refund;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        import(i, PAY_REFUND_PENDING, 100, 0);
    }
    refund = ask(_i, reference, APR_SUCCESS, 1);
    ck_assert_str_eq(refund->acquirer, ACQUIRER);
    ck_assert_int_eq(refund->due_at, DUE);
    (void)ask(_i, reference, APR_SUCCESS, 0); /* once */
    till_check_clean();
    ck_assert_int_eq(pay_store_due_take(&rows, till->store, DUE, 1, 16, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(rows->nelts, 1);
    due = APR_ARRAY_IDX(rows, 0, pay_due_t).refund;
    ck_assert_str_eq(due->refund_reference, reference);
    ck_assert_uint_eq(due->scope.account, till->scopes[_i].account);
    ck_assert_int_eq(till_refund_resolve(&refund, _i, reference, PAY_OUTCOME_DECLINED), 1);
    (void)ask(_i, reference, APR_SUCCESS, 0);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    pay_refund_state_t state;
    apr_int64_t amount_minor;
    int open;
    apr_status_t want;
} others[] = {
    {"processed", PAY_REFUND_PROCESSED, 100, 0, APR_SUCCESS},
    {"failed", PAY_REFUND_FAILED, 100, 0, APR_SUCCESS},
    {"of no amount", PAY_REFUND_PENDING, 0, 0, APR_SUCCESS},
    {"of an import that is not done", PAY_REFUND_PENDING, 100, 1, APR_NOTFOUND},
};

START_TEST(test_not_asked)
{
    const char *before,
        *reference = till_history(0, 1, TILL_NOW, others[_i].state, NULL, others[_i].amount_minor)
                         ->refund_reference;

    import(0, others[_i].state, others[_i].amount_minor, others[_i].open);
    before = till_snapshot();
    (void)ask(0, reference, others[_i].want, 0);
    (void)ask(1, reference, APR_NOTFOUND, 0);
    ck_assert_msg(!strcmp(till_snapshot(), before), "%s", others[_i].name);
}
END_TEST

/* One of ours is still queried, by the instance that it was sent through. */
START_TEST(test_ours)
{
    const char *before;
    pay_refund_t *refund;

    (void)till_charge(1, "order-1", 1000);
    refund = till_refund(1, "order-1", 100, PAY_REFUND_OPENED);
    before = till_snapshot();
    (void)ask(1, refund->refund_reference, APR_SUCCESS, 0);
    ck_assert_str_eq(till_snapshot(), before);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_asked, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_not_asked, 0, UNIT_ROWS(others));
    tcase_add_test(tcase, test_ours);
}

UNIT_PROGRAM(add)
