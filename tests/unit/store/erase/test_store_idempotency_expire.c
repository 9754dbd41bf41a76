/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/idempotency.h"

#define END (TILL_NOW + PAY_IDEMPOTENCY_KEEP)
#define HOUR apr_time_from_sec(60 * 60)

static int expire(apr_time_t now, int limit)
{
    int count;

    ck_assert_int_eq(pay_store_idempotency_expire(&count, till->store, now, limit, unit_pool),
                     APR_SUCCESS);
    return count;
}

static const pay_idempotency_t *text_use(const char *key)
{
    return till_use(PAY_OPERATION_VERIFY, key, "a");
}

static void keep_text(int i, const char *key)
{
    pay_idempotency_record_t *record;

    ck_assert_int_eq(pay_store_idempotency_put(&record, till->store, &till->scopes[i],
                                               text_use(key), "{}", unit_pool),
                     APR_SUCCESS);
}

/*
 * Stored while the clock was ahead: nobody knows how long ago, so it is kept for the whole time
 * from now on.
 */
START_TEST(test_stored_ahead)
{
    till_clock = TILL_NOW + 365 * 24 * HOUR;
    keep_text(0, "key-1");
    till_clock = TILL_NOW;
    keep_text(1, "key-2");
    ck_assert_int_eq(expire(TILL_NOW, 10), 1);
    ck_assert_ptr_nonnull(till_idempotency(0, text_use("key-1")));
    till_check_clean();
    ck_assert_int_eq(expire(TILL_NOW, 10), 0);
    ck_assert_int_eq(expire(END - 1, 10), 0);
    ck_assert_int_eq(expire(END, 10), 2);
    ck_assert_ptr_null(till_idempotency(0, text_use("key-1")));
    till_check_clean();
}
END_TEST

static const pay_idempotency_t *charge_use(void)
{
    return till_use(PAY_OPERATION_CHARGE, "key-c", "a");
}

static void keep_charge(int i)
{
    pay_charge_t *charge;
    pay_claim_t claim;

    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store,
                                           till_proposal(i, "order-1", 1000), NULL, charge_use(),
                                           unit_pool),
                     APR_SUCCESS);
    ck_assert(claim == PAY_CLAIM_NEW && charge->seq == 1);
}

/* The refund of 100, or the refusal of more than the charge of 1000. */
static const pay_idempotency_t *keep_refund(int i, apr_int64_t amount_minor)
{
    const pay_idempotency_t *use =
        till_use(PAY_OPERATION_REFUND, amount_minor > 1000 ? "key-x" : "key-r", "a");
    pay_refund_verdict_t verdict;
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           till_refund_proposal(i, "order-1", amount_minor), use, 0,
                                           unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, amount_minor > 1000 ? PAY_REFUND_REFUSED_ABOVE : PAY_REFUND_OPENED);
    return use;
}

START_TEST(test_times)
{
    const char *before;
    int i;

    ck_assert_int_eq(expire(TILL_NOW, 10), 0);
    for (i = 0; i < TILL_SCOPES; i++) {
        till_clock = TILL_NOW + apr_time_from_sec(i);
        keep_text(i, "key-1");
    }
    before = till_snapshot();
    ck_assert_int_eq(expire(END - 1, 10), 0);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(expire(END, 10), 1);
    ck_assert_ptr_null(till_idempotency(0, text_use("key-1")));
    ck_assert_ptr_nonnull(till_idempotency(1, text_use("key-1")));
    ck_assert_int_eq(expire(END + apr_time_from_sec(9), 10), 2);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_ptr_null(till_idempotency(i, text_use("key-1")));
        keep_text(i, "key-1"); /* and may be used again */
    }
    till_check_clean();
}
END_TEST

START_TEST(test_limit)
{
    int n;

    for (n = 0; n < 7; n++) {
        keep_text(n % TILL_SCOPES, apr_psprintf(unit_pool, "key-%d", n));
    }
    ck_assert_int_eq(expire(END, 3), 3);
    till_check_clean();
    ck_assert_int_eq(expire(END, 3), 3);
    ck_assert_int_eq(expire(END, 3), 1);
    ck_assert_int_eq(expire(END, 3), 0);
    for (n = 0; n < 7; n++) {
        ck_assert_ptr_null(
            till_idempotency(n % TILL_SCOPES, text_use(apr_psprintf(unit_pool, "key-%d", n))));
    }
    till_check_clean();
}
END_TEST

/* A pending charge keeps its key, one look an hour; a decided one releases it. */
START_TEST(test_pending)
{
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        keep_charge(i);
    }
    (void)till_resolve(&charge, _i, 1, PAY_OUTCOME_DECLINED);
    ck_assert_int_eq(expire(END, 10), TILL_SCOPES);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert((till_idempotency(i, charge_use()) == NULL) == (i == _i));
    }
    till_check_clean();
    ck_assert_int_eq(expire(END + HOUR - 1, 10), 0);
    ck_assert_int_eq(expire(END + HOUR, 10), TILL_SCOPES - 1);
    for (i = 0; i < TILL_SCOPES; i++) {
        if (i != _i) {
            ck_assert_ptr_nonnull(till_idempotency(i, charge_use())->charge);
            (void)till_resolve(&charge, i, 1, PAY_OUTCOME_APPROVED);
        }
    }
    till_check_clean();
    ck_assert_int_eq(expire(END + 2 * HOUR, 10), TILL_SCOPES - 1);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_ptr_null(till_idempotency(i, charge_use()));
        ck_assert(till_find(i, "order-1")->seq == 1); /* the charge itself stays */
    }
    ck_assert_int_eq(expire(END + 100 * HOUR, 10), 0);
    till_check_clean();
}
END_TEST

/* The charge of a postponed key can still be withdrawn with it. */
START_TEST(test_withdraw_after_a_look)
{
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        keep_charge(i);
    }
    ck_assert_int_eq(expire(END, 10), TILL_SCOPES);
    ck_assert_int_eq(pay_store_charge_withdraw(till->store, &till->scopes[_i], 1, unit_pool),
                     APR_SUCCESS);
    ck_assert_ptr_null(till_idempotency(_i, charge_use()));
    till_check_clean();
    ck_assert_int_eq(expire(END + HOUR, 10), TILL_SCOPES - 1);
}
END_TEST

START_TEST(test_refunds_stay)
{
    const pay_idempotency_t *refund = NULL, *refusal = NULL;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        refusal = keep_refund(i, 1001);
        refund = keep_refund(i, 100);
    }
    ck_assert_int_eq(expire(END + 1000 * HOUR, 10), TILL_SCOPES); /* the refusals */
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_ptr_null(till_idempotency(i, refusal));
        ck_assert_ptr_nonnull(till_idempotency(i, refund)->refund);
    }
    till_check_clean();
}
END_TEST

/* ---- rows and entries that are not as they should be */

/* The entry of the row at `use` that is due at `due_at`. */
static void due_key(pay_store_key_t *key, int i, const pay_idempotency_t *use, apr_time_t due_at)
{
    pay_store_key_t record;
    pay_bytes_t at;

    till_idempotency_key(&record, i, use);
    at = pay_store_key_val(&record);
    pay_store_idempotency_due_key(key, due_at, &at);
}

START_TEST(test_bad_row_waits)
{
    pay_store_key_t key;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        keep_text(i, "key-1");
    }
    till_idempotency_key(&key, _i, text_use("key-1"));
    till_plant(PAY_TABLE_IDEMPOTENCY, &key, "\1\1", 2);
    ck_assert_int_eq(expire(END, 10), TILL_SCOPES); /* it stops none of the others */
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 1);
    ck_assert_int_eq(expire(END, 10), 0);
    ck_assert_int_eq(expire(END + HOUR - 1, 10), 0);
    ck_assert_int_eq(expire(END + HOUR, 10), 1);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 2);
    ck_assert_int_eq(expire(END + HOUR, 10), 0);
    for (i = 0; i < TILL_SCOPES; i++) {
        if (i != _i) {
            ck_assert_ptr_null(till_idempotency(i, text_use("key-1")));
        }
    }
}
END_TEST

START_TEST(test_dangling_waits)
{
    pay_charge_t *charge;
    pay_store_key_t key;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        keep_charge(i);
        (void)till_resolve(&charge, i, 1, PAY_OUTCOME_APPROVED);
    }
    pay_store_key_of_scope(&key, &till->scopes[_i]);
    pay_store_key_u64(&key, 1);
    till_plant(PAY_TABLE_CHARGE, &key, NULL, 0);
    ck_assert_int_eq(expire(END, 10), TILL_SCOPES);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 1);
    ck_assert_int_eq(expire(END + HOUR - 1, 10), 0);
    ck_assert_int_eq(expire(END + HOUR, 10), 1);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 2);
}
END_TEST

static const struct {
    const char *name;
    const char *key; /* of a stored text; "key-r": of a refund; else of nothing */
    apr_time_t due_at;
    int gone; /* whether the text was removed with it */
} stray_cases[] = {
    {"of nothing", "key-9", TILL_NOW, 0},
    {"ahead of the row's own time", "key-1", TILL_NOW, 0},
    {"of a refund, which has no time", "key-r", TILL_NOW, 0},
    {"behind the row's own time", "key-1", END + 1, 1},
};

START_TEST(test_stray_entries)
{
    const char *name = stray_cases[_i].name;
    apr_time_t now = stray_cases[_i].due_at;
    const pay_idempotency_t *refund = NULL, *use;
    pay_store_key_t key;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        keep_text(i, "key-1");
        refund = keep_refund(i, 100);
        use = strcmp(stray_cases[_i].key, "key-r") == 0 ? refund : text_use(stray_cases[_i].key);
        due_key(&key, i, use, stray_cases[_i].due_at);
        till_plant(PAY_TABLE_IDEMPOTENCY_DUE, &key, "", 0);
    }
    ck_assert_msg(expire(now, 10) > 0, "%s", name);
    ck_assert_msg(expire(now, 10) == 0, "%s", name);
    till_check_clean();
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_ptr_nonnull(till_idempotency(i, refund)->refund);
        ck_assert_msg((till_idempotency(i, text_use("key-1")) == NULL) == stray_cases[_i].gone,
                      "%s", name);
    }
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 0);
}
END_TEST

START_TEST(test_entries_of_a_wrong_length)
{
    pay_store_key_t key;
    size_t len;

    keep_text(_i, "key-1");
    due_key(&key, _i, text_use("key-1"), TILL_NOW);
    for (len = 1; len < PAY_STORE_IDEMPOTENCY_DUE_KEY_LEN; len += 9) {
        key.len = len;
        till_plant(PAY_TABLE_IDEMPOTENCY_DUE, &key, "", 0);
    }
    while (expire(TILL_NOW, 2) > 0) { /* each is reported once, and removed */
        ck_assert_int_lt(till_lines[PAY_LOG_ERR], 10);
    }
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 6);
    ck_assert_ptr_nonnull(till_idempotency(_i, text_use("key-1")));
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_times);
    tcase_add_test(tcase, test_stored_ahead);
    tcase_add_test(tcase, test_limit);
    tcase_add_loop_test(tcase, test_pending, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_withdraw_after_a_look, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_refunds_stay);
    tcase_add_loop_test(tcase, test_bad_row_waits, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_dangling_waits, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_stray_entries, 0, UNIT_ROWS(stray_cases));
    tcase_add_loop_test(tcase, test_entries_of_a_wrong_length, 0, TILL_SCOPES);
}

UNIT_PROGRAM(add)
