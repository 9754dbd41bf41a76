/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/refund.h"

#define FIRST (TILL_NOW + apr_time_from_sec(1)) /* when the outcomes come */
#define SECOND (TILL_NOW + apr_time_from_sec(2))

static const struct {
    const char *name;
    pay_outcome_kind_t first, second;
    pay_refund_state_t want_state;
    int want_changed; /* by the second */
    apr_int64_t want_refunded, want_pending;
    int want_alerts;
    apr_time_t want_decided_at;
} resolve_cases[] = {
    {"processed twice", PAY_OUTCOME_APPROVED, PAY_OUTCOME_APPROVED, PAY_REFUND_PROCESSED, 0, 100, 0,
     0, FIRST},
    {"failed twice", PAY_OUTCOME_DECLINED, PAY_OUTCOME_DECLINED, PAY_REFUND_FAILED, 0, 0, 0, 0,
     FIRST},
    {"unknown twice", PAY_OUTCOME_UNKNOWN, PAY_OUTCOME_UNKNOWN, PAY_REFUND_PENDING, 1, 0, 100, 0,
     0},
    {"unknown, then processed", PAY_OUTCOME_UNKNOWN, PAY_OUTCOME_APPROVED, PAY_REFUND_PROCESSED, 1,
     100, 0, 0, SECOND},
    {"unknown, then failed", PAY_OUTCOME_UNKNOWN, PAY_OUTCOME_DECLINED, PAY_REFUND_FAILED, 1, 0, 0,
     0, SECOND},
    {"processed, then unknown", PAY_OUTCOME_APPROVED, PAY_OUTCOME_UNKNOWN, PAY_REFUND_PROCESSED, 0,
     100, 0, 0, FIRST},
    {"processed, then failed", PAY_OUTCOME_APPROVED, PAY_OUTCOME_DECLINED, PAY_REFUND_PROCESSED, 0,
     100, 0, 1, FIRST},
    {"failed, then unknown", PAY_OUTCOME_DECLINED, PAY_OUTCOME_UNKNOWN, PAY_REFUND_FAILED, 0, 0, 0,
     0, FIRST},
    {"failed, then processed", PAY_OUTCOME_DECLINED, PAY_OUTCOME_APPROVED, PAY_REFUND_FAILED, 0, 0,
     0, 1, FIRST},
};

START_TEST(test_resolve)
{
    const char *name = resolve_cases[_i].name;
    pay_refund_t *opened[TILL_SCOPES], *refund;
    pay_charge_t *charge;
    int i, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        opened[i] = till_refund(i, "order-1", 100, PAY_REFUND_OPENED);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        till_clock = FIRST;
        changed =
            till_refund_resolve(&refund, i, opened[i]->refund_reference, resolve_cases[_i].first);
        ck_assert_msg(changed == 1, "%s", name);
        till_clock = SECOND;
        changed =
            till_refund_resolve(&refund, i, opened[i]->refund_reference, resolve_cases[_i].second);
        ck_assert_msg(changed == resolve_cases[_i].want_changed, "%s: changed", name);
        ck_assert_msg(refund->state == resolve_cases[_i].want_state, "%s: told", name);
        ck_assert_int_eq(pay_store_refund_find(&refund, till->store, &till->scopes[i],
                                               opened[i]->refund_reference, unit_pool),
                         APR_SUCCESS);
        ck_assert_msg(refund->state == resolve_cases[_i].want_state, "%s: stored", name);
        ck_assert(refund->created_at == TILL_NOW);
        ck_assert_msg(refund->decided_state == resolve_cases[_i].want_state, "%s: decided", name);
        ck_assert_msg(refund->decided_at == resolve_cases[_i].want_decided_at, "%s: when", name);
        charge = till_find(i, "order-1");
        ck_assert_msg(charge->refunded_minor == resolve_cases[_i].want_refunded, "%s: refunded",
                      name);
        ck_assert_msg(charge->refunds_pending_minor == resolve_cases[_i].want_pending,
                      "%s: pending", name);
        ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    }
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], TILL_SCOPES * resolve_cases[_i].want_alerts);
    till_check_clean();
}
END_TEST

START_TEST(test_reversed_stays)
{
    pay_refund_t *first, *rest, *refund;
    pay_charge_t *charge;

    (void)till_charge(_i, "order-1", 1000);
    first = till_refund(_i, "order-1", 400, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, _i, first->refund_reference, PAY_OUTCOME_APPROVED);
    rest = till_refund(_i, "order-1", 0, PAY_REFUND_OPENED);
    ck_assert_int_eq(till_find(_i, "order-1")->state, PAY_CHARGE_SUCCESSFUL);
    (void)till_refund_resolve(&refund, _i, rest->refund_reference, PAY_OUTCOME_APPROVED);
    charge = till_find(_i, "order-1");
    ck_assert_int_eq(charge->state, PAY_CHARGE_REVERSED);
    ck_assert_int_eq(charge->decided_state, PAY_CHARGE_SUCCESSFUL);
    till_check_clean();
    /* "It was not sent", from a worker that comes late: the amount was still refunded. */
    ck_assert_int_eq(
        till_refund_resolve(&refund, _i, first->refund_reference, PAY_OUTCOME_DECLINED), 0);
    ck_assert_int_eq(refund->state, PAY_REFUND_PROCESSED);
    charge = till_find(_i, "order-1");
    ck_assert_int_eq(charge->state, PAY_CHARGE_REVERSED);
    ck_assert(charge->refunded_minor == 1000 && charge->refunds_pending_minor == 0);
    (void)till_refund(_i, "order-1", 0, PAY_REFUND_REFUSED_FULL);
    (void)till_refund(_i, "order-1", 400, PAY_REFUND_REFUSED_FULL);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    pay_outcome_kind_t stored, late;
    pay_refund_state_t want_state;
    const char *want_kept;
} contradiction_cases[] = {
    {"failed, then processed", PAY_OUTCOME_DECLINED, PAY_OUTCOME_APPROVED, PAY_REFUND_FAILED,
     "approved 00: Approved"},
    {"processed, then failed", PAY_OUTCOME_APPROVED, PAY_OUTCOME_DECLINED, PAY_REFUND_PROCESSED,
     "declined 05: Do not honour"},
};

typedef struct kept_t {
    const pay_scope_t *scope;
    const char *want;
} kept_t;

static int read_contradiction(pay_rows_txn_t *txn, void *baton)
{
    const kept_t *kept = baton;
    pay_store_refund_t *row;

    ck_assert_int_eq(
        pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, kept->scope, "rfd_1", unit_pool),
        0);
    ck_assert_str_eq(row->contradiction, kept->want);
    return 0;
}

START_TEST(test_contradiction_is_kept)
{
    const char *name = contradiction_cases[_i].name;
    kept_t kept = {&till->scopes[1], contradiction_cases[_i].want_kept};
    pay_outcome_kind_t late = contradiction_cases[_i].late;
    pay_refund_t *refund;

    (void)till_charge(1, "order-1", 1000);
    (void)till_refund(1, "order-1", 400, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, 1, "rfd_1", contradiction_cases[_i].stored);
    ck_assert_msg(till_refund_resolve(&refund, 1, "rfd_1", late) == 0, "%s", name);
    ck_assert_msg(refund->state == contradiction_cases[_i].want_state, "%s", name);
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 1);
    ck_assert_int_eq(till_logged("PAY00152"), 1);
    ck_assert_ptr_nonnull(strstr(till_line, "rfd_1"));
    ck_assert_ptr_nonnull(strstr(till_line, till->key_ids[1]));
    till_raw(read_contradiction, &kept);
    till_check_clean();
}
END_TEST

/* A person's decision that repeats a recent one contradicts nobody. */
START_TEST(test_person_comes_late)
{
    const pay_outcome_t late = {.kind = PAY_OUTCOME_DECLINED, .resolution = "never arrived"};
    kept_t kept = {&till->scopes[1], ""};
    pay_refund_t *refund;
    int changed;

    (void)till_charge(1, "order-1", 1000);
    (void)till_refund(1, "order-1", 400, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, 1, "rfd_1", PAY_OUTCOME_APPROVED);
    ck_assert_int_eq(pay_store_refund_resolve(&refund, &changed, till->store, &till->scopes[1],
                                              "rfd_1", &late, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 0);
    ck_assert_int_eq(refund->state, PAY_REFUND_PROCESSED);
    ck_assert_str_eq(refund->resolution, "");
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 0);
    till_raw(read_contradiction, &kept);
    till_check_clean();
}
END_TEST

START_TEST(test_unknown_releases_the_worker)
{
    pay_refund_t *proposal, *refund;
    pay_refund_verdict_t verdict;
    pay_idempotency_record_t *record;
    pay_charge_t *charge;

    (void)till_charge(_i, "order-1", 1000);
    proposal = till_refund_proposal(_i, "order-1", 100);
    proposal->worker = pay_worker_self();
    proposal->send_before_ms = 5;
    proposal->wait_until_ms = 6;
    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           proposal, NULL, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert(refund->worker.pid != 0 && refund->wait_until_ms == 6);
    ck_assert_int_eq(refund->wait_until_at, TILL_NOW);
    (void)till_refund_resolve(&refund, _i, "rfd_1", PAY_OUTCOME_UNKNOWN);
    ck_assert(refund->worker.pid == 0 && refund->send_before_ms == 0);
    ck_assert(refund->wait_until_ms == 0 && refund->wait_until_at == 0);
    ck_assert(refund->due_at == TILL_NOW + apr_time_from_sec(5));
    till_check_clean();
}
END_TEST

START_TEST(test_no_such_refund)
{
    int other = (_i + 1) % TILL_SCOPES, changed;
    pay_refund_t *refund;

    (void)till_charge(other, "order-1", 1000);
    (void)till_refund(other, "order-1", 400, PAY_REFUND_OPENED);
    ck_assert_int_eq(pay_store_refund_resolve(&refund, &changed, till->store, &till->scopes[_i],
                                              "rfd_1", till_outcome(PAY_OUTCOME_APPROVED), 0,
                                              unit_pool),
                     APR_NOTFOUND);
    ck_assert_ptr_null(refund);
}
END_TEST

START_TEST(test_charge_is_gone)
{
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_store_key_t key;
    int changed;

    charge = till_charge(_i, "order-1", 1000);
    (void)till_refund(_i, "order-1", 400, PAY_REFUND_OPENED);
    ck_assert_int_eq(
        pay_store_charge_withdraw(till->store, &till->scopes[_i], charge->seq, unit_pool),
        APR_EINVAL);
    pay_store_key_of_scope(&key, &till->scopes[_i]);
    pay_store_key_u64(&key, charge->seq);
    till_plant(PAY_TABLE_CHARGE, &key, NULL, 0);
    ck_assert_int_eq(pay_store_refund_resolve(&refund, &changed, till->store, &till->scopes[_i],
                                              "rfd_1", till_outcome(PAY_OUTCOME_APPROVED), 0,
                                              unit_pool),
                     PAY_STORE_ECORRUPT);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_resolve, 0, UNIT_ROWS(resolve_cases));
    tcase_add_loop_test(tcase, test_reversed_stays, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_contradiction_is_kept, 0, UNIT_ROWS(contradiction_cases));
    tcase_add_test(tcase, test_person_comes_late);
    tcase_add_loop_test(tcase, test_unknown_releases_the_worker, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_no_such_refund, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_charge_is_gone, 0, TILL_SCOPES);
}

UNIT_PROGRAM(add)
