/* SPDX-License-Identifier: Apache-2.0 */
#include "request_goods.h"

#include "model/charge_request.h"

#define N10 "abcdefghij"
#define N50 N10 N10 N10 N10 N10
#define N100 N50 N50
#define N250 N100 N100 N50

#define WITHOUT_TOKEN "\"amount\":10.5,\"email\":\"a@b.example\",\"reference\":\"r\""
#define WITHOUT_AMOUNT "\"token\":\"t\",\"email\":\"a@b.example\",\"reference\":\"r\""
#define WITHOUT_EMAIL "\"token\":\"t\",\"amount\":10.5,\"reference\":\"r\""
#define WITHOUT_REFERENCE "\"token\":\"t\",\"amount\":10.5,\"email\":\"a@b.example\""
#define WHOLE WITHOUT_TOKEN ",\"token\":\"t\""

static const struct {
    const char *name;
    const char *body;
    const char *want; /* fields at fault */
} fault_cases[] = {
    {"whole", "{" WHOLE "}", ""},
    {"unknown members are ignored", "{" WHOLE ",\"x\":{\"y\":[1]}}", ""},
    {"empty object", "{}", "/token /amount /email /reference"},
    {"all wrong at once",
     "{\"token\":1,\"amount\":true,\"email\":\"x\",\"reference\":\"a/b\",\"currency\":\"XXZ\","
     "\"firstName\":2,\"lastName\":[]}",
     "/token /currency /amount /email /reference /firstName /lastName"},

    {"token null", "{" WITHOUT_TOKEN ",\"token\":null}", "/token"},
    {"token empty", "{" WITHOUT_TOKEN ",\"token\":\"\"}", "/token"},
    {"token a number", "{" WITHOUT_TOKEN ",\"token\":5}", "/token"},
    {"token with a blank", "{" WITHOUT_TOKEN ",\"token\":\"a b\"}", "/token"},
    {"longest token", "{" WITHOUT_TOKEN ",\"token\":\"" N250 "12345\"}", ""},
    {"token one longer", "{" WITHOUT_TOKEN ",\"token\":\"" N250 "123456\"}", "/token"},
    {"token a card number", "{" WITHOUT_TOKEN ",\"token\":\"" PAN "\"}", "/token"},
    {"token a card number with blanks", "{" WITHOUT_TOKEN ",\"token\":\"4111 1111 1111 1111\"}",
     "/token"},

    {"amount null", "{" WITHOUT_AMOUNT ",\"amount\":null}", "/amount"},
    {"amount true", "{" WITHOUT_AMOUNT ",\"amount\":true}", "/amount"},
    {"amount an object", "{" WITHOUT_AMOUNT ",\"amount\":{}}", "/amount"},
    {"amount an empty string", "{" WITHOUT_AMOUNT ",\"amount\":\"\"}", "/amount"},
    {"amount no number", "{" WITHOUT_AMOUNT ",\"amount\":\"ten\"}", "/amount"},
    {"amount with a blank", "{" WITHOUT_AMOUNT ",\"amount\":\" 10\"}", "/amount"},
    {"amount with grouping", "{" WITHOUT_AMOUNT ",\"amount\":\"1,000\"}", "/amount"},
    {"amount with a plus sign", "{" WITHOUT_AMOUNT ",\"amount\":\"+1\"}", "/amount"},
    {"amount 0", "{" WITHOUT_AMOUNT ",\"amount\":0}", "/amount"},
    {"amount -0", "{" WITHOUT_AMOUNT ",\"amount\":-0}", "/amount"},
    {"amount below 0", "{" WITHOUT_AMOUNT ",\"amount\":-1}", "/amount"},
    {"too many decimals for any currency", "{" WITHOUT_AMOUNT ",\"amount\":0.00001}", "/amount"},
    {"amount of one minor unit", "{" WITHOUT_AMOUNT ",\"amount\":0.01}", ""},
    {"amount below that", "{" WITHOUT_AMOUNT ",\"amount\":0.001}", "/amount"},
    {"largest amount", "{" WITHOUT_AMOUNT ",\"amount\":999999999999.99}", ""},
    {"amount one larger", "{" WITHOUT_AMOUNT ",\"amount\":1000000000000.00}", "/amount"},
    {"amount 1e400", "{" WITHOUT_AMOUNT ",\"amount\":\"1e400\"}", "/amount"},
    {"yen have no decimals", "{" WITHOUT_AMOUNT ",\"amount\":10.5,\"currency\":\"JPY\"}",
     "/amount"},
    {"dinars have three", "{" WITHOUT_AMOUNT ",\"amount\":10.555,\"currency\":\"KWD\"}", ""},
    {"dinars have no four", "{" WITHOUT_AMOUNT ",\"amount\":10.5555,\"currency\":\"KWD\"}",
     "/amount"},
    {"amount is well where the currency is not",
     "{" WITHOUT_AMOUNT ",\"amount\":10.555,\"currency\":\"?\"}", "/currency"},
    {"amount and currency", "{" WITHOUT_AMOUNT ",\"amount\":\"x\",\"currency\":\"?\"}",
     "/currency /amount"},
    {"amount a card number", "{" WITHOUT_AMOUNT ",\"amount\":" PAN "}", "/amount"},
    {"amount a card number in a string", "{" WITHOUT_AMOUNT ",\"amount\":\"" PAN "\"}", "/amount"},

    {"email null", "{" WITHOUT_EMAIL ",\"email\":null}", "/email"},
    {"email empty", "{" WITHOUT_EMAIL ",\"email\":\"\"}", "/email"},
    {"email a number", "{" WITHOUT_EMAIL ",\"email\":1}", "/email"},
    {"two addresses", "{" WITHOUT_EMAIL ",\"email\":\"a@b.example,c@d.example\"}", "/email"},
    {"email a card number", "{" WITHOUT_EMAIL ",\"email\":\"" PAN "\"}", "/email"},

    {"reference null", "{" WITHOUT_REFERENCE ",\"reference\":null}", "/reference"},
    {"reference empty", "{" WITHOUT_REFERENCE ",\"reference\":\"\"}", "/reference"},
    {"reference a number", "{" WITHOUT_REFERENCE ",\"reference\":17}", "/reference"},
    {"longest reference", "{" WITHOUT_REFERENCE ",\"reference\":\"" N100 "\"}", ""},
    {"reference one longer", "{" WITHOUT_REFERENCE ",\"reference\":\"" N100 "k\"}", "/reference"},
    {"reference a time", "{" WITHOUT_REFERENCE ",\"reference\":\"1763701200000\"}", ""},
    {"reference a card number", "{" WITHOUT_REFERENCE ",\"reference\":\"" PAN "\"}", "/reference"},
    {"reference a card number with dashes",
     "{" WITHOUT_REFERENCE ",\"reference\":\"4111-1111-1111-1111\"}", "/reference"},

    {"currency null", "{" WHOLE ",\"currency\":null}", ""},
    {"currency in lower case", "{" WHOLE ",\"currency\":\"usd\"}", ""},
    {"currency empty", "{" WHOLE ",\"currency\":\"\"}", "/currency"},
    {"currency a number", "{" WHOLE ",\"currency\":566}", "/currency"},
    {"currency numeric code", "{" WHOLE ",\"currency\":\"566\"}", "/currency"},
    {"currency too long", "{" WHOLE ",\"currency\":\"NGNN\"}", "/currency"},
    {"currency a card number", "{" WHOLE ",\"currency\":\"" PAN "\"}", "/currency"},

    {"names null", "{" WHOLE ",\"firstName\":null,\"lastName\":null}", ""},
    {"names empty", "{" WHOLE ",\"firstName\":\"\",\"lastName\":\"\"}", ""},
    {"longest name", "{" WHOLE ",\"firstName\":\"" N100 "\"}", ""},
    {"name one longer", "{" WHOLE ",\"firstName\":\"" N100 "k\"}", "/firstName"},
    {"last name one longer", "{" WHOLE ",\"lastName\":\"" N100 "k\"}", "/lastName"},
    {"name with a newline", "{" WHOLE ",\"lastName\":\"a\\nb\"}", "/lastName"},
    {"name a number", "{" WHOLE ",\"lastName\":3}", "/lastName"},
    {"name a card number", "{" WHOLE ",\"firstName\":\"4111 1111 1111 1111\"}", "/firstName"},
    {"card number in a name", "{" WHOLE ",\"firstName\":\"x " PAN "\"}", "/firstName"},
    {"card number in an e-mail", "{" WITHOUT_EMAIL ",\"email\":\"" PAN "@b.example\"}", "/email"},
    {"name with an isolate", "{" WHOLE ",\"lastName\":\"a\\u2066b\"}", "/lastName"},
    {"last name a card number", "{" WHOLE ",\"lastName\":\"" PAN "\"}", "/lastName"},
};

START_TEST(test_faults)
{
    pay_charge_request_t *request = (pay_charge_request_t *)unit_pool;
    const pay_problem_t *problem;
    const char *got;

    problem = pay_charge_request_from_json(&request, parse(fault_cases[_i].body), "NGN", unit_pool);
    got = fields_of(problem || !request ? problem : request->amount_fault);
    ck_assert_msg(!strcmp(got, fault_cases[_i].want), "%s: %s", fault_cases[_i].name, got);
    ck_assert_msg((request != NULL) == (problem == NULL), "%s", fault_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *amount;
    const char *currency;
    apr_int64_t want_minor;
    const char *want_currency;
} value_cases[] = {
    {"number", "10.50", "null", 1050, "NGN"},
    {"string", "\"10.50\"", "null", 1050, "NGN"},
    {"integer", "10", "\"eur\"", 1000, "EUR"},
    {"exponent", "1.05e1", "\"EUR\"", 1050, "EUR"},
    {"one that a double cannot hold", "0.29", "\"EUR\"", 29, "EUR"},
    {"large and exact", "999999999999.99", "\"EUR\"", APR_INT64_C(99999999999999), "EUR"},
    {"trailing zeros beyond the currency's", "10.5000", "\"EUR\"", 1050, "EUR"},
    {"yen", "10", "\"jpy\"", 10, "JPY"},
    {"dinars", "\"10.555\"", "\"Kwd\"", 10555, "KWD"},
};

START_TEST(test_values)
{
    pay_charge_request_t *request;
    const char *body =
        apr_psprintf(unit_pool,
                     "{\"token\":\"t\",\"reference\":\"r\",\"email\":\"a@b.example\","
                     "\"amount\":%s,\"currency\":%s}",
                     value_cases[_i].amount, value_cases[_i].currency);

    ck_assert_ptr_null(pay_charge_request_from_json(&request, parse(body), "NGN", unit_pool));
    ck_assert_msg(request->money.amount_minor == value_cases[_i].want_minor, "%s",
                  value_cases[_i].name);
    ck_assert_msg(!strcmp(request->money.currency, value_cases[_i].want_currency), "%s",
                  value_cases[_i].name);
}
END_TEST

START_TEST(test_whole_request)
{
    pay_charge_request_t *request;

    ck_assert_ptr_null(pay_charge_request_from_json(
        &request,
        parse("{\"token\":\"tok_1\",\"amount\":10.50,\"email\":\" Ada@Example.com \","
              "\"reference\":\"order-1\",\"currency\":\"ngn\",\"firstName\":\"Ada\","
              "\"lastName\":\"Obi\"}"),
        "USD", unit_pool));
    ck_assert_str_eq(request->token, "tok_1");
    ck_assert_str_eq(request->reference, "order-1");
    ck_assert_str_eq(request->email, "ada@example.com");
    ck_assert_str_eq(request->first_name, "Ada");
    ck_assert_str_eq(request->last_name, "Obi");
    /* Stored rows are compared with it: the encoding must never change. */
    ck_assert_str_eq(pay_hex(request->digest, PAY_SHA256_LEN, unit_pool),
                     "838995b859bdbb6a1f08a565c20c45ca8e5858227bcd41203ac5bf52b0dfa1e1");
}
END_TEST

#define BASE "\"reference\":\"r\",\"token\":\"t\",\"amount\":10,\"email\":\"a@b.example\""

static const struct {
    const char *name;
    const char *body;
    int same;
} digest_cases[] = {
    {"other notation of the amount",
     "{\"reference\":\"r\",\"token\":\"t\",\"amount\":\"10.00\",\"email\":\"a@b.example\"}", 1},
    {"the default currency named", "{" BASE ",\"currency\":\"ngn\"}", 1},
    {"e-mail in other case",
     "{\"reference\":\"r\",\"token\":\"t\",\"amount\":10,\"email\":\"A@B.Example\"}", 1},
    {"names do not count", "{" BASE ",\"firstName\":\"Ada\"}", 1},
    {"other token", "{\"reference\":\"r\",\"token\":\"T\",\"amount\":10,\"email\":\"a@b.example\"}",
     0},
    {"other amount",
     "{\"reference\":\"r\",\"token\":\"t\",\"amount\":10.01,\"email\":\"a@b.example\"}", 0},
    {"other currency", "{" BASE ",\"currency\":\"USD\"}", 0},
    {"other payer", "{\"reference\":\"r\",\"token\":\"t\",\"amount\":10,\"email\":\"c@b.example\"}",
     0},
    {"a token that reads like the parts behind it",
     "{\"reference\":\"r\",\"token\":\"t,4:1000,\",\"amount\":10,\"email\":\"a@b.example\"}", 0},
};

START_TEST(test_digest)
{
    pay_charge_request_t *first;
    pay_charge_request_t *second;
    int same;

    ck_assert_ptr_null(pay_charge_request_from_json(&first, parse("{" BASE "}"), "NGN", unit_pool));
    ck_assert_ptr_null(
        pay_charge_request_from_json(&second, parse(digest_cases[_i].body), "NGN", unit_pool));
    same = memcmp(first->digest, second->digest, PAY_SHA256_LEN) == 0;
    ck_assert_msg(same == digest_cases[_i].same, "%s", digest_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *amount;
    const char *before; /* the default currency of the rebase */
    const char *after;  /* the one that the request was read with */
    const char *first;  /* amount of the request that was read with `before`; NULL: rebase fails */
    int same;
} rebase_cases[] = {
    {"from yen", "1000", "NGN", "JPY", "1000", 1},
    {"to yen", "1000", "JPY", "NGN", "1000.00", 1},
    {"written otherwise", "\"1e3\"", "NGN", "JPY", "1000", 1},
    {"decimals that yen have not", "10.50", "NGN", "JPY", "10.5", 1},
    {"another amount", "1001", "NGN", "JPY", "1000", 0},
    {"another amount, decimals that yen have not", "10.51", "NGN", "JPY", "10.5", 0},
    {"the same minor units", "100000", "NGN", "JPY", "1000", 0},
    {"decimals that the other has not", "10.50", "JPY", "NGN", NULL, 0},
};

static pay_charge_request_t *read_amount(const char *amount, const char *currency)
{
    pay_charge_request_t *request;
    const char *body = apr_psprintf(unit_pool, "{" WITHOUT_AMOUNT ",\"amount\":%s}", amount);

    ck_assert_ptr_null(pay_charge_request_from_json(&request, parse(body), currency, unit_pool));
    ck_assert_int_eq(request->currency_defaulted, 1);
    return request;
}

START_TEST(test_rebase)
{
    const char *name = rebase_cases[_i].name;
    pay_charge_request_t *request = read_amount(rebase_cases[_i].amount, rebase_cases[_i].after);
    const pay_charge_request_t as_read = *request;
    pay_charge_request_t *rebased = request, *first;
    apr_status_t rv;

    rv = pay_charge_request_rebase(&rebased, request, rebase_cases[_i].before, unit_pool);
    ck_assert_msg(!memcmp(request, &as_read, sizeof(as_read)), "%s: it changed", name);
    if (!rebase_cases[_i].first) {
        ck_assert_msg(rv == APR_EINVAL && !rebased, "%s: %d", name, rv);
        return;
    }
    ck_assert_msg(rv == APR_SUCCESS && !rebased->amount_fault, "%s: %d", name, rv);
    ck_assert_str_eq(rebased->money.currency, rebase_cases[_i].before);
    first = read_amount(rebase_cases[_i].first, rebase_cases[_i].before);
    ck_assert_msg((memcmp(first->digest, rebased->digest, PAY_SHA256_LEN) == 0)
                      == rebase_cases[_i].same,
                  "%s", name);
}
END_TEST

START_TEST(test_only_the_decimals_of_a_default_can_wait)
{
    pay_charge_request_t *request = read_amount("10.5", "JPY");
    const pay_problem_t *problem;

    ck_assert_str_eq(fields_of(request->amount_fault), "/amount");
    problem = pay_charge_request_from_json(
        &request, parse("{" WITHOUT_AMOUNT ",\"amount\":10.5,\"currency\":\"JPY\"}"), "JPY",
        unit_pool);
    ck_assert_str_eq(fields_of(problem), "/amount");
    problem = pay_charge_request_from_json(
        &request, parse("{\"token\":\"t\",\"amount\":10.5,\"reference\":\"r\"}"), "JPY", unit_pool);
    ck_assert_str_eq(fields_of(problem), "/amount /email");
    problem = pay_charge_request_from_json(&request, parse("{" WITHOUT_AMOUNT ",\"amount\":0}"),
                                           "JPY", unit_pool);
    ck_assert_str_eq(fields_of(problem), "/amount");
    ck_assert_ptr_null(request);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_faults, 0, UNIT_ROWS(fault_cases));
    tcase_add_loop_test(tcase, test_values, 0, UNIT_ROWS(value_cases));
    tcase_add_test(tcase, test_whole_request);
    tcase_add_loop_test(tcase, test_digest, 0, UNIT_ROWS(digest_cases));
    tcase_add_loop_test(tcase, test_rebase, 0, UNIT_ROWS(rebase_cases));
    tcase_add_test(tcase, test_only_the_decimals_of_a_default_can_wait);
}

UNIT_PROGRAM(add)
