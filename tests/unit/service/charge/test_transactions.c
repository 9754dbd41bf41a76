/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "service/charge/transactions.h"
#include "service/refund/refunds.h"
#include "shop_charge.h"
#include "watched.h"

#define DAY apr_time_from_sec(24 * 3600)
#define R10 "abcdefghij"
#define R100 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10

static shop_t *shop;
static pay_caller_t caller;
static int replayed;

/* A shop in Test Mode with charge "order-1" of 10.50 NGN and two checkouts in both modes. */
static void set_up(void)
{
    pay_scope_t scope;
    int mode;

    shop_clock_set(apr_time_from_sec(1800000000));
    shop = shop_open(unit_dir());
    shop->service.acquirer[PAY_TEST] = &script_acquirer;
    memset(&script, 0, sizeof(script));
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = ""};
    for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
        scope = (pay_scope_t){shop->account->number, (pay_mode_t)mode};
        shop_charge(shop, &scope, "order-1");
        shop_charge_open(shop, &scope, "page-1", PAY_CHARGE_CHECKOUT);
        shop_charge_open(shop, &scope, "page-2", PAY_CHARGE_CHECKOUT);
    }
    caller = pay_caller_of_key(shop_key(shop, PAY_TEST), NULL);
}

static const char *refund(const char *amount)
{
    const pay_refund_request_t request = {"order-1", amount, NULL, NULL, "API"};
    pay_caller_t keyless = caller;
    pay_refund_t *made;
    int again;

    keyless.idempotency_key = NULL;
    ck_assert_ptr_null(
        pay_refund_create(&made, &again, &shop->service, &keyless, &request, unit_pool));
    return made->refund_reference;
}

static const pay_problem_t *verify(const char **text, const char *reference, const char *amount)
{
    const pay_verify_request_t request = {reference, amount, NULL};

    return pay_transaction_verify(text, &shop->service, &caller.scope, &request, unit_pool);
}

static const pay_problem_t *void_it(const char **text, const char *key, const char *reference)
{
    caller.idempotency_key = key;
    return pay_transaction_void(text, &replayed, &shop->service, &caller, reference, unit_pool);
}

static pay_charge_t *charge_now(const char *reference)
{
    pay_charge_t *charge;

    ck_assert_int_eq(
        STORE_REAL(charge_find)(&charge, shop->store, &caller.scope, reference, unit_pool),
        APR_SUCCESS);
    return charge;
}

static void expire(void)
{
    int count = 100;

    while (count == 100) {
        ck_assert_int_eq(
            pay_store_idempotency_expire(&count, shop->store, pay_time_now(), 100, unit_pool),
            APR_SUCCESS);
    }
}

/* ---- by reference */

START_TEST(test_get)
{
    pay_transaction_t transaction;
    const char *first, *second;

    set_up();
    first = refund("1");
    second = refund("2");
    ck_assert_ptr_null(
        pay_transaction_get(&transaction, &shop->service, &caller.scope, "order-1", unit_pool));
    ck_assert_str_eq(transaction.charge->reference, "order-1");
    ck_assert_int_eq(transaction.charge->refunded_minor, 300);
    ck_assert_int_eq(transaction.refunds->nelts, 2);
    ck_assert_str_eq(APR_ARRAY_IDX(transaction.refunds, 0, const char *), first);
    ck_assert_str_eq(APR_ARRAY_IDX(transaction.refunds, 1, const char *), second);
    ck_assert_int_eq(transaction.refunds_complete, 1);
}
END_TEST

static const struct {
    const char *name;
    const char *reference;
    int echoed;
} unknown_cases[] = {
    {"unknown", "order-2", 1},
    {"100 characters", R100, 1},
    {"percent signs", "100%s%n", 1},
    {"101 characters", R100 "x", 0},
    {"empty", "", 0},
    {"a dot", ".", 0},
    {"two dots", "..", 0},
    {"a slash", "order/1", 0},
    {"a backslash", "order\\1", 0},
    {"a question mark", "order?1", 0},
    {"a hash", "order#1", 0},
    {"a blank", "order 1", 0},
    {"a control character", "order\x01", 0},
    {"a newline", "order\n1", 0},
    {"DEL", "order\x7f", 0},
    {"not ASCII", "caf\xc3\xa9", 0},
    {"not UTF-8", "caf\xe9", 0},
    {"a card number", "4111111111111111", 0},
};

START_TEST(test_unknown)
{
    const char *name = unknown_cases[_i].name, *reference = unknown_cases[_i].reference, *text;
    const pay_problem_t *problem[2];
    pay_transaction_t transaction;
    int i;

    set_up();
    problem[0] =
        pay_transaction_get(&transaction, &shop->service, &caller.scope, reference, unit_pool);
    problem[1] = void_it(&text, "k-1", reference);
    ck_assert_ptr_null(transaction.charge);
    ck_assert_ptr_null(text);
    for (i = 0; i < 2; i++) {
        shop_check_problem(name, problem[i], 404, "N1");
        ck_assert_msg(
            !strcmp(problem[i]->message,
                    unknown_cases[_i].echoed
                        ? apr_pstrcat(unit_pool, "no record found for transaction with reference ",
                                      reference, NULL)
                        : "no record found for transaction with this reference"),
            "%s: %s", name, problem[i]->message);
    }
}
END_TEST

/* ---- verify */

static const struct {
    const char *name;
    const char *reference;
    const char *amount;
    int status; /* 0: found */
    const char *code;
    const char *fields;
} verify_cases[] = {
    {"no amount", "order-1", NULL, 0, "", ""},
    {"its amount", "order-1", "10.50", 0, "", ""},
    {"in another notation", "order-1", "105e-1", 0, "", ""},
    {"another amount", "order-1", "10.51", 409, "V1", "/amount"},
    {"a tenth", "order-1", "1.05", 409, "V1", "/amount"},
    {"too many decimals", "order-1", "10.505", 400, "T1", "/amount"},
    {"above every amount", "order-1", "1e15", 400, "T1", "/amount"},
    {"unknown", "order-2", "10.50", 404, "N1", ""},
    {"unknown, of no form", "..", "10.50", 404, "N1", ""},
};

START_TEST(test_verify)
{
    const char *name = verify_cases[_i].name, *text;
    const pay_problem_t *problem;
    pay_transaction_t transaction;
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    set_up();
    problem = verify(&text, verify_cases[_i].reference, verify_cases[_i].amount);
    if (verify_cases[_i].status) {
        shop_check_problem(name, problem, verify_cases[_i].status, verify_cases[_i].code);
        ck_assert_str_eq(shop_fields(problem), verify_cases[_i].fields);
        ck_assert_ptr_null(text);
        return;
    }
    ck_assert_msg(problem == NULL, "%s: %s", name, problem ? problem->message : "");
    ck_assert_ptr_null(
        pay_transaction_get(&transaction, &shop->service, &caller.scope, "order-1", unit_pool));
    pay_verify_answer_to_json(w, &transaction, PAY_VIEW_SECRET, NULL);
    ck_assert_str_eq(text, w->text);
}
END_TEST

/* A repeated request is answered again: nothing is stored, and the writer lock is not taken. */
START_TEST(test_verify_reads)
{
    const char *first, *again;

    set_up();
    store_script.idempotency_put = NULL;
    ck_assert_ptr_null(verify(&first, "order-1", "10.5"));
    refund("1");
    ck_assert_ptr_null(verify(&again, "order-1", "10.50"));
    ck_assert_str_ne(again, first);
    ck_assert_ptr_nonnull(strstr(again, "\"refundedAmount\":1.00,"));
}
END_TEST

/* ---- void */

START_TEST(test_void)
{
    const char *first, *again;
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    set_up();
    ck_assert_ptr_null(void_it(&first, "k-1", "page-1"));
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(charge_now("page-1")->state, PAY_CHARGE_VOID);
    pay_void_answer_to_json(w, charge_now("page-1"));
    ck_assert_str_eq(first, w->text);
    ck_assert_ptr_nonnull(strstr(first, "\"status\":\"failed\",\"paymentStatus\":\"void\""));
    shop_check_problem("again, another key", void_it(&again, "k-2", "page-1"), 409, "V2");
    shop_check_problem("again, no key", void_it(&again, NULL, "page-1"), 409, "V2");
    ck_assert_ptr_null(again);
    shop_check_problem("another request", void_it(&again, "k-1", "order-1"), 409, "D1");
    shop_clock += DAY - apr_time_from_sec(60);
    expire();
    ck_assert_ptr_null(void_it(&again, "k-1", "page-1"));
    ck_assert_int_eq(replayed, 1);
    ck_assert_str_eq(again, first);
    shop_clock += apr_time_from_sec(120);
    expire();
    shop_check_problem("its time is over", void_it(&again, "k-1", "page-1"), 409, "V2");
}
END_TEST

START_TEST(test_void_without_a_key)
{
    pay_writer_t *w = pay_writer_make(64, unit_pool);
    const char *text;

    set_up();
    ck_assert_ptr_null(void_it(&text, NULL, "page-1"));
    pay_void_answer_to_json(w, charge_now("page-1"));
    ck_assert_str_eq(text, w->text);
}
END_TEST

/* The payer was faster: the checkout is paid, and the stored answer is still the first one. */
START_TEST(test_void_paid_after_all)
{
    pay_charge_t *charge;
    const char *first, *again;
    int changed;

    set_up();
    ck_assert_ptr_null(void_it(&first, "k-1", "page-1"));
    charge = charge_now("page-1");
    ck_assert_int_eq(STORE_REAL(charge_resolve)(&charge, &changed, shop->store, &caller.scope,
                                                charge->seq, &script.outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_ptr_null(void_it(&again, "k-1", "page-1"));
    ck_assert_str_eq(again, first);
    shop_check_problem("another key", void_it(&again, "k-2", "page-1"), 409, "V2");
}
END_TEST

static const struct {
    const char *name;
    const char *reference;
    const char *code;
} not_void_cases[] = {
    {"a successful charge", "order-1", "V2"},
    {"a pending charge by token", "order-3", "V2"},
    {"unknown", "order-2", "N1"},
};

START_TEST(test_not_voidable)
{
    const char *name = not_void_cases[_i].name, *text;
    int status = strcmp(not_void_cases[_i].code, "V2") ? 404 : 409;

    set_up();
    shop_charge_open(shop, &caller.scope, "order-3", PAY_CHARGE_TOKENIZED);
    shop_check_problem(name, void_it(&text, NULL, not_void_cases[_i].reference), status,
                       not_void_cases[_i].code);
    shop_check_problem(name, void_it(&text, "k-1", not_void_cases[_i].reference), status,
                       not_void_cases[_i].code);
    ck_assert_ptr_null(text);
    ck_assert_int_eq(charge_now("order-1")->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(charge_now("order-3")->state, PAY_CHARGE_PENDING);
    ck_assert_ptr_null(void_it(&text, "k-1", "page-1")); /* the refusal was not stored */
}
END_TEST

/* ---- races and faults */

static apr_status_t find_nothing(pay_idempotency_record_t **out, pay_store_t *store,
                                 const pay_scope_t *scope, const pay_idempotency_t *use,
                                 apr_pool_t *p)
{
    (void)store, (void)scope, (void)use, (void)p;
    *out = NULL;
    return APR_NOTFOUND;
}

/* Another request with the key comes between the look and the write. */
START_TEST(test_beaten)
{
    const char *first, *again;

    set_up();
    store_script.idempotency_find = find_nothing;
    ck_assert_ptr_null(void_it(&first, "k-1", "page-1"));
    ck_assert_ptr_null(void_it(&again, "k-1", "page-1"));
    ck_assert_int_eq(replayed, 1);
    ck_assert_str_eq(again, first);
    shop_check_problem("another", void_it(&again, "k-1", "page-2"), 409, "D1");
    ck_assert_int_eq(replayed, 0);
}
END_TEST

static apr_status_t find_refusal(pay_idempotency_record_t **out, pay_store_t *store,
                                 const pay_scope_t *scope, const pay_idempotency_t *use,
                                 apr_pool_t *p)
{
    (void)store, (void)scope, (void)use;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->same_request = 1;
    (*out)->refusal = PAY_REFUND_REFUSED_FULL;
    return APR_SUCCESS;
}

static apr_status_t find_fails(pay_idempotency_record_t **out, pay_store_t *store,
                               const pay_scope_t *scope, const pay_idempotency_t *use,
                               apr_pool_t *p)
{
    (void)store, (void)scope, (void)use, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

static apr_status_t void_fails(pay_charge_t **out, int *voided, pay_idempotency_record_t **record,
                               pay_store_t *store, const pay_scope_t *scope, const char *reference,
                               const pay_idempotency_t *use, apr_pool_t *p)
{
    (void)store, (void)scope, (void)reference, (void)use, (void)p;
    *out = NULL;
    *voided = 0;
    *record = NULL;
    return PAY_STORE_EUNKNOWN;
}

static apr_status_t charge_fails(pay_charge_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 const char *reference, apr_pool_t *p)
{
    (void)store, (void)scope, (void)reference, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

static apr_status_t transaction_fails(pay_transaction_t *out, pay_store_t *store,
                                      const pay_scope_t *scope, const char *reference,
                                      apr_pool_t *p)
{
    (void)out, (void)store, (void)scope, (void)reference, (void)p;
    return PAY_STORE_EDOWN;
}

START_TEST(test_faults)
{
    const char *text;

    set_up();
    watch();
    store_script.idempotency_find = find_refusal;
    shop_check_problem("no answer is kept", void_it(&text, "k-1", "page-1"), 500, "E1");
    ck_assert_int_eq(logged("PAY00243: "), 1);
    store_script.idempotency_find = find_fails;
    shop_check_problem("the key", void_it(&text, "k-1", "page-1"), 503, "E2");
    ck_assert_ptr_null(text);
    ck_assert_ptr_null(verify(&text, "order-1", NULL));
    store_script.transaction_find = transaction_fails;
    shop_check_problem("down", verify(&text, "order-1", NULL), 503, "E2");
    ck_assert_ptr_null(text);
}
END_TEST

/*
 * A transaction other than a checkout is refused without a write transaction; a stored answer comes
 * first.
 */
START_TEST(test_void_without_the_writer_lock)
{
    const char *first, *again;

    set_up();
    ck_assert_ptr_null(void_it(&first, "k-1", "page-1"));
    store_script.charge_void = void_fails;
    shop_check_problem("unknown", void_it(&again, NULL, "order-2"), 404, "N1");
    shop_check_problem("a charge", void_it(&again, "k-2", "order-1"), 409, "V2");
    shop_check_problem("a checkout", void_it(&again, "k-2", "page-2"), 503, "E2");
    store_script.charge_find = charge_fails;
    shop_check_problem("cannot be read", void_it(&again, "k-2", "order-1"), 503, "E2");
    ck_assert_ptr_null(void_it(&again, "k-1", "page-1"));
    ck_assert_str_eq(again, first);
    shop_check_problem("another request", void_it(&again, "k-1", "order-1"), 409, "D1");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_get);
    tcase_add_loop_test(tcase, test_unknown, 0, UNIT_ROWS(unknown_cases));
    tcase_add_loop_test(tcase, test_verify, 0, UNIT_ROWS(verify_cases));
    tcase_add_test(tcase, test_verify_reads);
    tcase_add_test(tcase, test_void);
    tcase_add_test(tcase, test_void_without_a_key);
    tcase_add_test(tcase, test_void_paid_after_all);
    tcase_add_loop_test(tcase, test_not_voidable, 0, UNIT_ROWS(not_void_cases));
    tcase_add_test(tcase, test_beaten);
    tcase_add_test(tcase, test_faults);
    tcase_add_test(tcase, test_void_without_the_writer_lock);
}

UNIT_PROGRAM(add)
