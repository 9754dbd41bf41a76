/* SPDX-License-Identifier: Apache-2.0 */
#include "request_goods.h"
#include "shop.h"

#include "base/text/writer.h"

#define CREATED APR_INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */
#define T10 "BankTransf"
#define T100 T10 T10 T10 T10 T10 T10 T10 T10 T10 T10

static const struct {
    const char *name;
    const char *body;
    const char *fields; /* at fault; else what was read: */
    const char *reference;
    const char *amount;
    const char *type;
} verify_cases[] = {
    {"the least", "{\"transactionReference\":\"r-1\"}", "", "r-1", NULL, NULL},
    {"all", "{\"transactionReference\":\"r-1\",\"amount\":10.5,\"transactionType\":\"CARD\"}", "",
     "r-1", "10.5", "CARD"},
    {"text and unknown members", "{\"x\":{},\"amount\":\"10.50\",\"transactionReference\":\"r-1\"}",
     "", "r-1", "10.50", NULL},
    {"nulls", "{\"transactionReference\":\"r-1\",\"amount\":null,\"transactionType\":null}", "",
     "r-1", NULL, NULL},
    {"empty type", "{\"transactionReference\":\"r-1\",\"transactionType\":\"\"}", "", "r-1", NULL,
     ""},
    {"longest type", "{\"transactionReference\":\"r-1\",\"transactionType\":\"" T100 "\"}", "",
     "r-1", NULL, T100},
    {"type one longer", "{\"transactionReference\":\"r-1\",\"transactionType\":\"" T100 "x\"}",
     "/transactionType", NULL, NULL, NULL},
    {"type a card number",
     "{\"transactionReference\":\"r-1\",\"transactionType\":\"4111 1111 1111 1111\"}",
     "/transactionType", NULL, NULL, NULL},
    {"empty", "{}", "/transactionReference", NULL, NULL, NULL},
    {"wrong name", "{\"reference\":\"r-1\"}", "/transactionReference", NULL, NULL, NULL},
    {"zero", "{\"transactionReference\":\"r-1\",\"amount\":0}", "/amount", NULL, NULL, NULL},
    {"all at fault", "{\"transactionReference\":\"a/b\",\"amount\":true,\"transactionType\":1}",
     "/transactionReference/amount/transactionType", NULL, NULL, NULL},
};

START_TEST(test_verify_request)
{
    pay_verify_request_t *request = (pay_verify_request_t *)unit_pool;
    const pay_problem_t *problem;

    problem = pay_verify_request_from_json(&request, parse(verify_cases[_i].body), unit_pool);
    ck_assert_msg(!strcmp(shop_fields(problem), verify_cases[_i].fields), "%s: %s",
                  verify_cases[_i].name, shop_fields(problem));
    ck_assert_msg((request == NULL) == (problem != NULL), "%s", verify_cases[_i].name);
    if (problem) {
        shop_check_problem(verify_cases[_i].name, problem, 400, "T1");
        return;
    }
    ck_assert_str_eq(request->reference, verify_cases[_i].reference);
    ck_assert_pstr_eq(request->amount, verify_cases[_i].amount);
    ck_assert_pstr_eq(request->transaction_type, verify_cases[_i].type);
}
END_TEST

START_TEST(test_void_request)
{
    const char *reference;

    ck_assert_ptr_null(pay_void_reference_from_json(
        &reference, parse("{\"transactionReference\":\"r-1\"}"), unit_pool));
    ck_assert_str_eq(reference, "r-1");
    shop_check_problem("empty", pay_void_reference_from_json(&reference, parse("{}"), unit_pool),
                       400, "T1");
    ck_assert_ptr_null(reference);
}
END_TEST

static pay_charge_t charge_make(void)
{
    pay_charge_t charge = {.scope = {7, PAY_TEST},
                           .seq = 42,
                           .reference = "order-1",
                           .token = "tok_1",
                           .card = {"555555", "4444", "Mastercard", "NG", "debit"},
                           .money = {1050, "NGN"},
                           .email = "ada@example.com",
                           .first_name = "Ada",
                           .last_name = "Obi",
                           .request_ip = "192.0.2.1",
                           .state = PAY_CHARGE_SUCCESSFUL,
                           .created_at = CREATED,
                           .updated_at = CREATED,
                           .code = "00",
                           .message = "Approved",
                           .authorization_code = "L5K7O4",
                           .refunded_minor = 300};
    return charge;
}

static const struct {
    const char *name;
    int count;
    int complete;
    pay_view_t view;
    const char *want; /* how the object ends */
} object_cases[] = {
    {"no refunds", 0, 1, PAY_VIEW_SECRET, "\"refunds\":[],\"refundsComplete\":true}"},
    {"two, oldest first", 2, 1, PAY_VIEW_SECRET,
     "\"refunds\":[\"rfd_0\",\"rfd_1\"],\"refundsComplete\":true}"},
    {"more than are shown", 2, 0, PAY_VIEW_SECRET,
     "\"refunds\":[\"rfd_0\",\"rfd_1\"],\"refundsComplete\":false}"},
    {"none, public", 0, 1, PAY_VIEW_PUBLIC, "\"refunds\":[],\"refundsComplete\":true}"},
    {"two, public", 2, 1, PAY_VIEW_PUBLIC, "\"refunds\":[],\"refundsComplete\":false}"},
};

START_TEST(test_object)
{
    pay_charge_t charge = charge_make();
    pay_transaction_t transaction = {&charge, NULL, object_cases[_i].complete};
    pay_writer_t *charge_w = pay_writer_make(64, unit_pool);
    pay_writer_t *w = pay_writer_make(64, unit_pool);
    const char *want;
    int i;

    transaction.refunds = apr_array_make(unit_pool, 2, sizeof(const char *));
    for (i = 0; i < object_cases[_i].count; i++) {
        APR_ARRAY_PUSH(transaction.refunds, const char *) = apr_psprintf(unit_pool, "rfd_%d", i);
    }
    pay_transaction_to_json(w, NULL, &transaction, object_cases[_i].view);
    pay_charge_to_json(charge_w, NULL, &charge, object_cases[_i].view);
    want = apr_psprintf(unit_pool, "%.*s,%s", (int)charge_w->len - 1, charge_w->text,
                        object_cases[_i].want);
    ck_assert_msg(!strcmp(w->text, want), "%s: %s", object_cases[_i].name, w->text);
    if (object_cases[_i].view == PAY_VIEW_PUBLIC) {
        ck_assert_ptr_null(strstr(w->text, "ada@example.com"));
        ck_assert_ptr_null(strstr(w->text, "Obi"));
        ck_assert_ptr_null(strstr(w->text, "tok_1"));
        ck_assert_ptr_null(strstr(w->text, "192.0.2.1"));
        ck_assert_ptr_null(strstr(w->text, "L5K7O4"));
        ck_assert_ptr_null(strstr(w->text, "rfd_"));
    }
}
END_TEST

START_TEST(test_answers)
{
    pay_charge_t charge = charge_make();
    pay_transaction_t transaction = {&charge, NULL, 1};
    pay_writer_t *object = pay_writer_make(64, unit_pool);
    pay_writer_t *verify = pay_writer_make(64, unit_pool);
    pay_writer_t *voided = pay_writer_make(64, unit_pool);

    transaction.refunds = apr_array_make(unit_pool, 1, sizeof(const char *));
    pay_transaction_to_json(object, NULL, &transaction, PAY_VIEW_SECRET);
    pay_verify_answer_to_json(verify, &transaction, PAY_VIEW_SECRET, NULL);
    ck_assert_str_eq(
        verify->text,
        apr_pstrcat(unit_pool,
                    "{\"status\":true,\"message\":\"Transaction details retrieved successfully\","
                    "\"data\":",
                    object->text, ",\"log\":{\"history\":[]}}", NULL));
    pay_void_answer_to_json(voided, &charge);
    ck_assert_str_eq(voided->text,
                     apr_pstrcat(unit_pool,
                                 "{\"status\":true,\"message\":\"Transaction voided successfully\","
                                 "\"data\":",
                                 object->text, "}", NULL));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_verify_request, 0, UNIT_ROWS(verify_cases));
    tcase_add_test(tcase, test_void_request);
    tcase_add_loop_test(tcase, test_object, 0, UNIT_ROWS(object_cases));
    tcase_add_test(tcase, test_answers);
}

UNIT_PROGRAM(add)
