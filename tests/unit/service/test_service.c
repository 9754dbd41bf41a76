/* SPDX-License-Identifier: Apache-2.0 */
#include "shop.h"

static const struct {
    const char *name;
    apr_status_t status;
    int http_status;
    const char *code;
} status_cases[] = {
    {"down", PAY_STORE_EDOWN, 503, "E2"},       {"schema", PAY_STORE_ESCHEMA, 503, "E2"},
    {"full", PAY_STORE_EFULL, 503, "E2"},       {"busy", PAY_STORE_EBUSY, 503, "E2"},
    {"unknown", PAY_STORE_EUNKNOWN, 503, "E2"}, {"corrupt", PAY_STORE_ECORRUPT, 500, "E1"},
    {"beyond", PAY_STORE_ELAST + 1, 500, "E1"}, {"no memory", APR_ENOMEM, 500, "E1"},
};

START_TEST(test_problem_of_store)
{
    const char *name = status_cases[_i].name;
    const pay_problem_t *problem;

    problem = pay_problem_of_store(status_cases[_i].status, unit_pool);
    shop_check_problem(name, problem, status_cases[_i].http_status, status_cases[_i].code);
    ck_assert_msg(problem->cause == status_cases[_i].status, "%s: no cause", name);
    ck_assert_msg((problem->retry_after > 0) == (status_cases[_i].http_status == 503), "%s", name);
}
END_TEST

static const struct {
    const char *name;
    pay_mode_t account;
    pay_mode_t mode;
    int configured; /* an acquirer for the mode */
    const char *message;
} mode_cases[] = {
    {"test in Test Mode", PAY_TEST, PAY_TEST, 1, NULL},
    {"test in Live Mode", PAY_LIVE, PAY_TEST, 1, NULL},
    {"live in Live Mode", PAY_LIVE, PAY_LIVE, 1, NULL},
    {"live in Test Mode", PAY_TEST, PAY_LIVE, 1,
     "Invalid Merchant Authorization for this operation."},
    {"no live acquirer", PAY_LIVE, PAY_LIVE, 0, "No live acquirer is configured"},
    {"no test acquirer", PAY_TEST, PAY_TEST, 0, "No test acquirer is configured"},
};

START_TEST(test_judge_mode)
{
    const char *name = mode_cases[_i].name;
    pay_account_t account = {.number = 1, .mode = mode_cases[_i].account};
    pay_service_t service = {0};
    const pay_problem_t *problem;

    service.acquirer[mode_cases[_i].mode] = mode_cases[_i].configured ? &script_acquirer : NULL;
    problem = pay_service_judge_mode(&service, &account, mode_cases[_i].mode, unit_pool);
    if (!mode_cases[_i].message) {
        ck_assert_msg(problem == NULL, "%s: a problem", name);
        return;
    }
    shop_check_problem(name, problem, 403, "B02");
    ck_assert_msg(
        !strncmp(problem->message, mode_cases[_i].message, strlen(mode_cases[_i].message)),
        "%s: %s", name, problem->message);
}
END_TEST

START_TEST(test_deadline)
{
    pay_acquirer_t acquirer = {.timeout = apr_time_from_sec(7)};
    apr_int64_t before_ms = pay_time_boot_ms(), after_ms;
    pay_worker_t self = pay_worker_self();
    pay_deadline_t deadline;

    shop_clock_set(apr_time_from_sec(1800000000));
    deadline = pay_deadline_make(&acquirer);
    after_ms = pay_time_boot_ms();
    ck_assert_int_ge(deadline.send_before_ms, before_ms + PAY_SEND_BEFORE_MS);
    ck_assert_int_le(deadline.send_before_ms, after_ms + PAY_SEND_BEFORE_MS);
    ck_assert_int_eq(deadline.wait_until_ms, deadline.send_before_ms + 7000);
    ck_assert_int_eq(deadline.due_at, shop_clock + apr_time_from_sec(5 + 7 + 30));
    ck_assert_int_eq(deadline.worker.pid, self.pid);
    ck_assert_int_eq(deadline.worker.start_ticks, self.start_ticks);
}
END_TEST

START_TEST(test_problem_of_reference)
{
    const pay_problem_t *problem = pay_problem_of_reference("100%s", unit_pool);

    shop_check_problem("unknown", problem, 404, "N1");
    ck_assert_str_eq(problem->message, "no record found for transaction with reference 100%s");
}
END_TEST

START_TEST(test_problem_of_no_reference)
{
    static const char *const texts[] = {
        "", ".", "..", "a/b", "a b", "caf\xc3\xa9", "4111111111111111"};
    int i;

    for (i = 0; i < UNIT_ROWS(texts); i++) {
        const pay_problem_t *problem = pay_problem_of_reference(texts[i], unit_pool);

        shop_check_problem(texts[i], problem, 404, "N1");
        ck_assert_str_eq(problem->message, "no record found for transaction with this reference");
    }
}
END_TEST

START_TEST(test_caller_use)
{
    static const char *const values[] = {"order-1", NULL};
    pay_api_key_t key = {.id = "key_1", .scope = {7, PAY_LIVE}, .kind = PAY_KEY_PUBLIC};
    pay_caller_t caller = pay_caller_of_key(&key, NULL);
    const pay_idempotency_t *use = (const pay_idempotency_t *)&key;
    unsigned char digest[PAY_SHA256_LEN];

    ck_assert_ptr_null(pay_caller_use(&use, &caller, PAY_OPERATION_VOID, values, 2, unit_pool));
    ck_assert_ptr_null(use);
    caller = pay_caller_of_key(&key, "k-1");
    ck_assert_ptr_null(pay_caller_use(&use, &caller, PAY_OPERATION_VOID, values, 2, unit_pool));
    ck_assert_int_eq(use->operation, PAY_OPERATION_VOID);
    ck_assert_int_eq(use->key_kind, PAY_KEY_PUBLIC);
    ck_assert_str_eq(use->key, "k-1");
    ck_assert_int_eq(pay_idempotency_digest(digest, values, 2), APR_SUCCESS);
    ck_assert_mem_eq(use->digest, digest, PAY_SHA256_LEN);
}
END_TEST

static struct {
    apr_status_t status;
    pay_idempotency_record_t record;
} recall_answer;

static apr_status_t recall_find(pay_idempotency_record_t **out, pay_store_t *store,
                                const pay_scope_t *scope, const pay_idempotency_t *use,
                                apr_pool_t *p)
{
    (void)store, (void)scope, (void)use, (void)p;
    *out = recall_answer.status == APR_SUCCESS ? &recall_answer.record : NULL;
    return recall_answer.status;
}

static const struct {
    const char *name;
    apr_status_t status;
    int same_request;
    int http_status; /* 0: no problem */
    const char *code;
    int record;
} recall_cases[] = {
    {"nothing", APR_NOTFOUND, 0, 0, "", 0},
    {"the same request", APR_SUCCESS, 1, 0, "", 1},
    {"another request", APR_SUCCESS, 0, 409, "D1", 0},
    {"down", PAY_STORE_EDOWN, 0, 503, "E2", 0},
    {"corrupt", PAY_STORE_ECORRUPT, 0, 500, "E1", 0},
};

START_TEST(test_recall)
{
    const char *name = recall_cases[_i].name;
    const pay_idempotency_t use = {.operation = PAY_OPERATION_VERIFY, .key = "k-1"};
    const pay_scope_t scope = {7, PAY_TEST};
    pay_service_t service = {0};
    pay_idempotency_record_t *record = &recall_answer.record;
    const pay_problem_t *problem;

    store_script.idempotency_find = recall_find;
    recall_answer.status = recall_cases[_i].status;
    recall_answer.record.same_request = recall_cases[_i].same_request;
    problem = pay_service_recall(&record, &service, &scope, &use, unit_pool);
    ck_assert_msg((record != NULL) == recall_cases[_i].record, "%s", name);
    if (recall_cases[_i].http_status) {
        shop_check_problem(name, problem, recall_cases[_i].http_status, recall_cases[_i].code);
    } else {
        ck_assert_msg(problem == NULL, "%s: a problem", name);
    }
    store_script.idempotency_find = NULL; /* it is called without a key: there is no store */
    ck_assert_ptr_null(pay_service_recall(&record, &service, &scope, NULL, unit_pool));
    ck_assert_ptr_null(record);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_problem_of_store, 0, UNIT_ROWS(status_cases));
    tcase_add_loop_test(tcase, test_judge_mode, 0, UNIT_ROWS(mode_cases));
    tcase_add_test(tcase, test_deadline);
    tcase_add_test(tcase, test_problem_of_reference);
    tcase_add_test(tcase, test_problem_of_no_reference);
    tcase_add_test(tcase, test_caller_use);
    tcase_add_loop_test(tcase, test_recall, 0, UNIT_ROWS(recall_cases));
}

UNIT_PROGRAM(add)
