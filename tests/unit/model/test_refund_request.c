/* SPDX-License-Identifier: Apache-2.0 */
#include "request_goods.h"
#include "shop.h"

#define N10 "abcdefghij"
#define N50 N10 N10 N10 N10 N10
#define N500 N50 N50 N50 N50 N50 N50 N50 N50 N50 N50
#define E5 "\\u00e9\\ud83d\\ude00\\u00e9\\ud83d\\ude00\\u00e9"
#define E500 E50 E50 E50 E50 E50 E50 E50 E50 E50 E50
#define E50 E5 E5 E5 E5 E5 E5 E5 E5 E5 E5

static const pay_problem_t *read_body(pay_refund_request_t **out, const char *text, int partial)
{
    return pay_refund_request_from_json(out, parse(text), partial, unit_pool);
}

static const struct {
    const char *name;
    int partial;
    const char *body;
    const char *amount;
    const char *customer_note;
    const char *merchant_note;
} good_cases[] = {
    {"the least", 0, "{\"reference\":\"order-1\"}", NULL, NULL, NULL},
    {"an amount is ignored", 0, "{\"reference\":\"order-1\",\"amount\":\"nonsense\"}", NULL, NULL,
     NULL},
    {"notes", 0,
     "{\"reference\":\"order-1\",\"customer_note\":\"for you\",\"merchant_note\":\"for us\"}", NULL,
     "for you", "for us"},
    {"empty notes are notes", 0,
     "{\"reference\":\"order-1\",\"customer_note\":\"\",\"merchant_note\":\"\"}", NULL, "", ""},
    {"null notes, unknown members", 0,
     "{\"more\":[1],\"merchant_note\":null,\"customer_note\":null,\"reference\":\"order-1\"}", NULL,
     NULL, NULL},
    {"part", 1, "{\"reference\":\"order-1\",\"amount\":4.20}", "4.20", NULL, NULL},
    {"part in text", 1, "{\"reference\":\"order-1\",\"amount\":\"4.20\"}", "4.20", NULL, NULL},
    {"part of four decimals", 1, "{\"reference\":\"order-1\",\"amount\":0.0001}", "0.0001", NULL,
     NULL},
    {"longest notes", 1,
     "{\"reference\":\"order-1\",\"amount\":1,\"customer_note\":\"" N500
     "\",\"merchant_note\":\"" N500 "\"}",
     "1", N500, N500},
    {"phone number and time in a note", 0,
     "{\"reference\":\"order-1\",\"merchant_note\":\"+2348012345678 at 1763701200000\"}", NULL,
     NULL, "+2348012345678 at 1763701200000"},
};

START_TEST(test_good)
{
    pay_refund_request_t *request;
    const pay_problem_t *problem;

    problem = read_body(&request, good_cases[_i].body, good_cases[_i].partial);
    ck_assert_msg(problem == NULL, "%s: %s", good_cases[_i].name, shop_fields(problem));
    ck_assert_str_eq(request->reference, "order-1");
    ck_assert_pstr_eq(request->amount, good_cases[_i].amount);
    ck_assert_pstr_eq(request->customer_note, good_cases[_i].customer_note);
    ck_assert_pstr_eq(request->merchant_note, good_cases[_i].merchant_note);
    ck_assert_str_eq(request->channel, "API");
}
END_TEST

/* Characters are counted, not bytes: 500 of up to four bytes each. */
START_TEST(test_longest_note_in_bytes)
{
    pay_refund_request_t *request;

    ck_assert_ptr_null(
        read_body(&request, "{\"reference\":\"order-1\",\"customer_note\":\"" E500 "\"}", 0));
    ck_assert_uint_eq(strlen(request->customer_note), 1400);
    shop_check_problem(
        "one more",
        read_body(&request, "{\"reference\":\"order-1\",\"customer_note\":\"" E500 "\\u00e9\"}", 0),
        400, "T1");
}
END_TEST

static const struct {
    const char *name;
    int partial;
    const char *body;
    const char *fields;
} bad_cases[] = {
    {"empty", 0, "{}", "/reference"},
    {"empty part", 1, "{}", "/reference/amount"},
    {"all null", 1, "{\"reference\":null,\"amount\":null}", "/reference/amount"},
    {"all of the wrong type", 1,
     "{\"reference\":1,\"amount\":{},\"customer_note\":2,\"merchant_note\":[]}",
     "/reference/amount/customer_note/merchant_note"},
    {"zero", 1, "{\"reference\":\"r\",\"amount\":0}", "/amount"},
    {"negative", 1, "{\"reference\":\"r\",\"amount\":-4.20}", "/amount"},
    {"empty amount", 1, "{\"reference\":\"r\",\"amount\":\"\"}", "/amount"},
    {"five decimals", 1, "{\"reference\":\"r\",\"amount\":0.12345}", "/amount"},
    {"two dots", 0, "{\"reference\":\"..\"}", "/reference"},
    {"a card number", 0, "{\"reference\":\"4111111111111111\"}", "/reference"},
    {"note one longer", 0, "{\"reference\":\"r\",\"customer_note\":\"" N500 "k\"}",
     "/customer_note"},
    {"newline", 0, "{\"reference\":\"r\",\"merchant_note\":\"a\\nb\"}", "/merchant_note"},
    {"tab", 0, "{\"reference\":\"r\",\"merchant_note\":\"a\\tb\"}", "/merchant_note"},
    {"DEL", 0, "{\"reference\":\"r\",\"merchant_note\":\"a\\u007f\"}", "/merchant_note"},
    {"C1", 0, "{\"reference\":\"r\",\"merchant_note\":\"a\\u0085\"}", "/merchant_note"},
    {"card number within a note", 0,
     "{\"reference\":\"r\",\"customer_note\":\"card 4111 1111 1111 1111\"}", "/customer_note"},
};

START_TEST(test_bad)
{
    pay_refund_request_t *request = (pay_refund_request_t *)unit_pool;
    const pay_problem_t *problem;

    problem = read_body(&request, bad_cases[_i].body, bad_cases[_i].partial);
    shop_check_problem(bad_cases[_i].name, problem, 400, "T1");
    ck_assert_msg(!strcmp(shop_fields(problem), bad_cases[_i].fields), "%s: %s", bad_cases[_i].name,
                  shop_fields(problem));
    ck_assert_ptr_null(request);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_good, 0, UNIT_ROWS(good_cases));
    tcase_add_test(tcase, test_longest_note_in_bytes);
    tcase_add_loop_test(tcase, test_bad, 0, UNIT_ROWS(bad_cases));
}

UNIT_PROGRAM(add)
