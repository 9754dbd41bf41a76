/* SPDX-License-Identifier: Apache-2.0 */
#include "request_goods.h"

#include "model/checkout_request.h"

#define N10 "abcdefghij"
#define N50 N10 N10 N10 N10 N10
#define N100 N50 N50
#define N255 N100 N100 N50 "abcde"
#define FIVE "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac" /* euro signs */
#define E10 FIVE FIVE
#define E50 E10 E10 E10 E10 E10
#define E100 E50 E50
#define U10 "\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6"
#define U100 U10 U10 U10 U10 U10 U10 U10 U10 U10 U10
#define E255 E100 E100 E50 FIVE
#define N500 N100 N100 N100 N100 N100
#define BLANKS "4111 1111 1111 1111"

#define MONEY "\"amount\":10.5,\"currency\":\"ngn\""
#define PAYER "\"email\":\" Ada@Shop.example\",\"firstName\":\"Ada\",\"lastName\":\"Obi\""
#define CUSTOMER "\"checkoutCustomerData\":{" PAYER "}"
#define REFERENCE "\"transactionReference\":\"checkout-00000001\""
#define LINK "\"paymentLinkReference\":\"shop-1\""
#define WHOLE REFERENCE "," MONEY "," CUSTOMER

/* Of an order. */
#define NAMES "\"firstname\":\"Ada\",\"lastname\":\"Obi\""
#define BUYER "\"customer\":{" NAMES ",\"email\":\"ada@shop.example\"}"
#define GOODS "\"order\":{\"reference\":\"order-1\"," MONEY "}"

static const struct {
    const char *name;
    pay_checkout_form_t form;
    const char *body;
    const char *want; /* fields at fault */
} fault_cases[] = {
    {"whole", PAY_CHECKOUT_FORM_INITIATE, "{" WHOLE "}", ""},
    {"unknown members are ignored", PAY_CHECKOUT_FORM_INITIATE, "{" WHOLE ",\"x\":{\"y\":[1]}}",
     ""},
    {"empty", PAY_CHECKOUT_FORM_INITIATE, "{}",
     "/transactionReference /amount /checkoutCustomerData"},
    {"an empty link", PAY_CHECKOUT_FORM_LINK, "{}",
     "/paymentLinkReference /amount /checkoutCustomerData"},
    {"an empty order", PAY_CHECKOUT_FORM_ORDER, "{}", "/customer /order"},
    {"an order of empty parts", PAY_CHECKOUT_FORM_ORDER, "{\"customer\":{},\"order\":{}}",
     "/customer/firstname /customer/lastname /customer/email /order/reference "
     "/order/amount"},
    {"all wrong at once", PAY_CHECKOUT_FORM_INITIATE,
     "{\"transactionReference\":1,\"amount\":true,\"currency\":\"XXZ\",\"redirectUrl\":2,"
     "\"metaData\":3,\"checkoutCustomerData\":{\"email\":\"x\",\"firstName\":4,\"lastName\":[],"
     "\"phoneNumber\":5},\"checkoutCustomizationData\":{\"logoUrl\":6,\"paymentDescription\":7,"
     "\"checkoutModalTitle\":8}}",
     "/transactionReference /currency /amount /redirectUrl /metaData /checkoutCustomerData/email "
     "/checkoutCustomerData/firstName /checkoutCustomerData/lastName "
     "/checkoutCustomerData/phoneNumber /checkoutCustomizationData/logoUrl "
     "/checkoutCustomizationData/paymentDescription /checkoutCustomizationData/checkoutModalTitle"},

    {"reference of 15", PAY_CHECKOUT_FORM_INITIATE,
     "{\"transactionReference\":\"" N10 "abcde\"," MONEY "," CUSTOMER "}", "/transactionReference"},
    {"reference of 16", PAY_CHECKOUT_FORM_INITIATE,
     "{\"transactionReference\":\"" N10 "abcdef\"," MONEY "," CUSTOMER "}", ""},
    {"reference of 50", PAY_CHECKOUT_FORM_INITIATE,
     "{\"transactionReference\":\"" N50 "\"," MONEY "," CUSTOMER "}", ""},
    {"reference of 51", PAY_CHECKOUT_FORM_INITIATE,
     "{\"transactionReference\":\"" N50 "k\"," MONEY "," CUSTOMER "}", "/transactionReference"},
    {"reference with a slash", PAY_CHECKOUT_FORM_INITIATE,
     "{\"transactionReference\":\"" N10 "/abcdef\"," MONEY "," CUSTOMER "}",
     "/transactionReference"},
    {"reference a card number", PAY_CHECKOUT_FORM_INITIATE,
     "{\"transactionReference\":\"" PAN "\"," MONEY "," CUSTOMER "}", "/transactionReference"},
    {"reference null", PAY_CHECKOUT_FORM_INITIATE,
     "{\"transactionReference\":null," MONEY "," CUSTOMER "}", "/transactionReference"},
    {"a link of one character", PAY_CHECKOUT_FORM_LINK,
     "{\"paymentLinkReference\":\"a\"," MONEY "," CUSTOMER "}", ""},
    {"a link of 50", PAY_CHECKOUT_FORM_LINK,
     "{\"paymentLinkReference\":\"" N50 "\"," MONEY "," CUSTOMER "}", ""},
    {"a link of 51", PAY_CHECKOUT_FORM_LINK,
     "{\"paymentLinkReference\":\"" N50 "k\"," MONEY "," CUSTOMER "}", "/paymentLinkReference"},
    {"a link with a slash", PAY_CHECKOUT_FORM_LINK,
     "{\"paymentLinkReference\":\"a/b\"," MONEY "," CUSTOMER "}", "/paymentLinkReference"},
    {"an order of one character", PAY_CHECKOUT_FORM_ORDER,
     "{" BUYER ",\"order\":{\"reference\":\"a\"," MONEY "}}", ""},
    {"an order of 100", PAY_CHECKOUT_FORM_ORDER,
     "{" BUYER ",\"order\":{\"reference\":\"" N100 "\"," MONEY "}}", ""},
    {"an order of 101", PAY_CHECKOUT_FORM_ORDER,
     "{" BUYER ",\"order\":{\"reference\":\"" N100 "k\"," MONEY "}}", "/order/reference"},

    {"no amount", PAY_CHECKOUT_FORM_INITIATE, "{" REFERENCE "," CUSTOMER ",\"currency\":\"NGN\"}",
     "/amount"},
    {"amount null", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"currency\":\"NGN\",\"amount\":null}", "/amount"},
    {"amount 0", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"currency\":\"NGN\",\"amount\":0}", "/amount"},
    {"amount below 0", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"currency\":\"NGN\",\"amount\":\"-1\"}", "/amount"},
    {"too many decimals", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"currency\":\"NGN\",\"amount\":\"10.505\"}", "/amount"},
    {"yen have none", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"currency\":\"JPY\",\"amount\":10.5}", "/amount"},
    {"dinars have three", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"currency\":\"KWD\",\"amount\":10.555}", ""},
    {"largest amount", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"currency\":\"NGN\",\"amount\":999999999999.99}", ""},
    {"one larger", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"currency\":\"NGN\",\"amount\":\"1000000000000.00\"}",
     "/amount"},
    {"no currency", PAY_CHECKOUT_FORM_INITIATE, "{" REFERENCE "," CUSTOMER ",\"amount\":10}", ""},
    {"currency null", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"amount\":10,\"currency\":null}", ""},
    {"a currency of no letters", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"amount\":10,\"currency\":\"\"}", "/currency"},
    {"too many decimals for the default", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"amount\":\"10.505\"}", "/amount"},
    {"no such currency", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"amount\":10,\"currency\":\"XXQ\"}", "/currency"},
    {"both", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"amount\":\"x\",\"currency\":\"?\"}", "/currency /amount"},
    {"amount a card number", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," CUSTOMER ",\"currency\":\"NGN\",\"amount\":" PAN "}", "/amount"},

    {"no e-mail", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{\"firstName\":\"A\",\"lastName\":\"O\"}}",
     "/checkoutCustomerData/email"},
    {"two addresses", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{\"email\":\"a@b.example,c@d.example\","
     "\"firstName\":\"A\",\"lastName\":\"O\"}}",
     "/checkoutCustomerData/email"},
    {"no names", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY
     ",\"checkoutCustomerData\":{\"email\":\"a@b.example\",\"firstName\":\"\",\"lastName\":null}}",
     "/checkoutCustomerData/firstName /checkoutCustomerData/lastName"},
    {"longest name", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY
     ",\"checkoutCustomerData\":{\"email\":\"a@b.example\",\"firstName\":\"" N100
     "\",\"lastName\":\"O\"}}",
     ""},
    {"name one longer", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY
     ",\"checkoutCustomerData\":{\"email\":\"a@b.example\",\"firstName\":\"" N100
     "k\",\"lastName\":\"O\"}}",
     "/checkoutCustomerData/firstName"},
    {"name with a line's end", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{\"email\":\"a@b.example\",\"firstName\":"
     "\"a\\nb\",\"lastName\":\"O\"}}",
     "/checkoutCustomerData/firstName"},
    {"names card numbers", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY
     ",\"checkoutCustomerData\":{\"email\":\"a@b.example\",\"firstName\":\"" PAN
     "\",\"lastName\":\"my " BLANKS "\"}}",
     "/checkoutCustomerData/firstName /checkoutCustomerData/lastName"},
    {"longest phone", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{" PAYER ",\"phoneNumber\":\"" N10 N10 N10
     "ab\"}}",
     ""},
    {"phone one longer", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{" PAYER ",\"phoneNumber\":\"" N10 N10 N10
     "abc\"}}",
     "/checkoutCustomerData/phoneNumber"},
    {"a phone as long as a card number", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{" PAYER
     ",\"phoneNumber\":\"49 151 12345603\"}}",
     ""},
    {"a card number for a phone", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{" PAYER ",\"phoneNumber\":\"+" BLANKS
     "\"}}",
     "/checkoutCustomerData/phoneNumber"},
    {"a card number in the e-mail", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{\"email\":\"" PAN
     "@b.example\",\"firstName\":\"A\",\"lastName\":\"O\"}}",
     "/checkoutCustomerData/email"},
    {"a name with an override of direction", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{\"email\":\"a@b.example\",\"firstName\":"
     "\"a\\u202eb\",\"lastName\":\"O\"}}",
     "/checkoutCustomerData/firstName"},
    {"a title with a blank of no width", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"checkoutCustomizationData\":{\"checkoutModalTitle\":\"a\\u200bb\"}}",
     "/checkoutCustomizationData/checkoutModalTitle"},
    {"a card number in the way back", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"redirectUrl\":\"https://shop.example/?pan=" PAN "\"}", "/redirectUrl"},
    {"a payer that is no object", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":[]}", "/checkoutCustomerData"},

    {"no way back", PAY_CHECKOUT_FORM_INITIATE, "{" WHOLE ",\"redirectUrl\":\"\"}", ""},
    {"a relative way back", PAY_CHECKOUT_FORM_INITIATE, "{" WHOLE ",\"redirectUrl\":\"/done\"}",
     "/redirectUrl"},
    {"a script", PAY_CHECKOUT_FORM_INITIATE, "{" WHOLE ",\"redirectUrl\":\"javascript:alert(1)\"}",
     "/redirectUrl"},
    {"a password in it", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"redirectUrl\":\"https://a:b@shop.example/\"}", "/redirectUrl"},
    {"a line's end in it", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"redirectUrl\":\"https://shop.example/\\r\\nX: y\"}", "/redirectUrl"},
    {"a way back of 1,000", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"redirectUrl\":\"https://a.example/" N500 N100 N100 N100 N100 N50 N10 N10 N10
     "ab\"}",
     ""},
    {"a way back of 1,001", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"redirectUrl\":\"https://a.example/" N500 N100 N100 N100 N100 N50 N10 N10 N10
     "abc\"}",
     "/redirectUrl"},
    {"metadata of 2,000", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"metaData\":\"" N500 N500 N500 N500 "\"}", ""},
    {"metadata of 2,001", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"metaData\":\"" N500 N500 N500 N500 "k\"}", "/metaData"},
    {"metadata an array", PAY_CHECKOUT_FORM_INITIATE, "{" WHOLE ",\"metaData\":[1]}", "/metaData"},
    {"a card number in metadata", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"metaData\":{\"note\":\"" BLANKS "\"}}", "/metaData"},
    {"texts null", PAY_CHECKOUT_FORM_INITIATE, "{" WHOLE ",\"checkoutCustomizationData\":null}",
     ""},
    {"texts a string", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"checkoutCustomizationData\":\"x\"}", "/checkoutCustomizationData"},
    {"title of 255", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"checkoutCustomizationData\":{\"checkoutModalTitle\":\"" N255 "\"}}", ""},
    {"title of 256", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"checkoutCustomizationData\":{\"checkoutModalTitle\":\"" N255 "k\"}}",
     "/checkoutCustomizationData/checkoutModalTitle"},
    {"characters are counted, not bytes", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"checkoutCustomizationData\":{\"paymentDescription\":\"" E255 "\"}}", ""},
    {"one of them too many", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"checkoutCustomizationData\":{\"paymentDescription\":\"" E255 "k\"}}",
     "/checkoutCustomizationData/paymentDescription"},
    {"a name of 100 that are no ASCII", PAY_CHECKOUT_FORM_ORDER,
     "{\"customer\":{\"firstname\":\"" U100
     "\",\"lastname\":\"Obi\",\"email\":\"a@b.example\"}," GOODS "}",
     ""},
    {"both names too long together", PAY_CHECKOUT_FORM_ORDER,
     "{\"customer\":{\"firstname\":\"" E50 "\",\"lastname\":\"" E10 E10 E10
     "k\",\"email\":\"a@b.example\"}," GOODS "}",
     "/customer/lastname"},
    {"as long as both may be", PAY_CHECKOUT_FORM_ORDER,
     "{\"customer\":{\"firstname\":\"" E50 "\",\"lastname\":\"" E10 E10 E10
     "\",\"email\":\"a@b.example\"}," GOODS "}",
     ""},
    {"a name of 101", PAY_CHECKOUT_FORM_ORDER,
     "{\"customer\":{\"firstname\":\"" U100
     "k\",\"lastname\":\"Obi\",\"email\":\"a@b.example\"}," GOODS "}",
     "/customer/firstname"},
    {"a card number for a text", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"checkoutCustomizationData\":{\"paymentDescription\":\"" PAN "\"}}",
     "/checkoutCustomizationData/paymentDescription"},
    {"an order's way back", PAY_CHECKOUT_FORM_ORDER,
     "{" BUYER "," GOODS ",\"payment\":{\"RedirectUrl\":\"/done\"}}", "/payment/RedirectUrl"},
    {"an order's payment a number", PAY_CHECKOUT_FORM_ORDER, "{" BUYER "," GOODS ",\"payment\":1}",
     "/payment"},
    {"an order's payment null", PAY_CHECKOUT_FORM_ORDER, "{" BUYER "," GOODS ",\"payment\":null}",
     ""},
};

START_TEST(test_faults)
{
    pay_checkout_request_t *request = (pay_checkout_request_t *)unit_pool;
    const pay_problem_t *problem;
    const char *got;

    problem = pay_checkout_request_from_json(&request, parse(fault_cases[_i].body),
                                             fault_cases[_i].form, "NGN", unit_pool);
    got = fields_of(problem);
    ck_assert_msg(!strcmp(got, fault_cases[_i].want), "%s: %s", fault_cases[_i].name, got);
    ck_assert_msg((request != NULL) == (problem == NULL), "%s", fault_cases[_i].name);
}
END_TEST

static pay_checkout_request_t *take(const char *body, pay_checkout_form_t form)
{
    pay_checkout_request_t *request;

    ck_assert_str_eq(
        fields_of(pay_checkout_request_from_json(&request, parse(body), form, "NGN", unit_pool)),
        "");
    return request;
}

/* ---- what is read */

#define INITIATE_BODY                                                                              \
    "{" REFERENCE ",\"amount\":\"10.50\",\"currency\":\"ngn\",\"checkoutCustomerData\":{" PAYER    \
    ",\"phoneNumber\":\"+2348000000000\"},\"redirectUrl\":\"https://shop.example/#done\","         \
    "\"metaData\":{ \"cart\": 7.10 },\"checkoutCustomizationData\":{\"logoUrl\":\"/logo.png\","    \
    "\"paymentDescription\":\"One pair\",\"checkoutModalTitle\":\"Shoes\"}}"
#define LINK_BODY                                                                                  \
    "{" LINK "," MONEY "," CUSTOMER ",\"transactionReference\":\"is not read\","                   \
    "\"metaData\":\"a string\"}"
#define ORDER_BODY                                                                                 \
    "{\"customer\":{" NAMES ",\"email\":\"Ada@Shop.example\",\"mobile\":\"+2348000000000\","       \
    "\"country\":7},\"order\":{\"reference\":\"order-1\"," MONEY ",\"description\":\"One pair\"}," \
    "\"payment\":{\"RedirectUrl\":\"https://shop.example/#done\"}}"

static const struct {
    const char *name;
    pay_checkout_form_t form;
    const char *body;
    const char *reference, *link, *phone, *redirect, *metadata, *logo, *title, *description;
} value_cases[] = {
    {"initiate", PAY_CHECKOUT_FORM_INITIATE, INITIATE_BODY, "checkout-00000001", "",
     "+2348000000000", "https://shop.example/#done", "{ \"cart\": 7.10 }", "/logo.png", "Shoes",
     "One pair"},
    {"what need not be given", PAY_CHECKOUT_FORM_INITIATE, "{" WHOLE "}", "checkout-00000001", "",
     "", "", "", "", "", ""},
    {"a link", PAY_CHECKOUT_FORM_LINK, LINK_BODY, "", "shop-1", "", "", "a string", "", "", ""},
    {"an order", PAY_CHECKOUT_FORM_ORDER, ORDER_BODY, "order-1", "", "+2348000000000",
     "https://shop.example/#done", "", "", "", "One pair"},
    {"an order without what need not be given", PAY_CHECKOUT_FORM_ORDER, "{" BUYER "," GOODS "}",
     "order-1", "", "", "", "", "", "", ""},
};

START_TEST(test_values)
{
    const pay_checkout_request_t *got = take(value_cases[_i].body, value_cases[_i].form);

    ck_assert_int_eq(got->form, value_cases[_i].form);
    ck_assert_str_eq(got->reference, value_cases[_i].reference);
    ck_assert_str_eq(got->link, value_cases[_i].link);
    ck_assert_int_eq(got->money.amount_minor, 1050);
    ck_assert_str_eq(got->money.currency, "NGN");
    ck_assert_str_eq(got->email, "ada@shop.example");
    ck_assert_str_eq(got->first_name, "Ada");
    ck_assert_str_eq(got->last_name, "Obi");
    ck_assert_str_eq(got->phone, value_cases[_i].phone);
    ck_assert_str_eq(got->redirect_url, value_cases[_i].redirect);
    ck_assert_str_eq(got->metadata, value_cases[_i].metadata);
    ck_assert_str_eq(got->logo_url, value_cases[_i].logo);
    ck_assert_str_eq(got->title, value_cases[_i].title);
    ck_assert_str_eq(got->description, value_cases[_i].description);
}
END_TEST

/* Without a currency it is the account's default, and the same request as one that names it. */
START_TEST(test_default_currency)
{
    pay_checkout_request_t *request, *other;
    const char *body = "{" REFERENCE "," CUSTOMER ",\"amount\":\"10.50\"}";

    ck_assert_ptr_null(pay_checkout_request_from_json(
        &request, parse(body), PAY_CHECKOUT_FORM_INITIATE, "KWD", unit_pool));
    ck_assert_int_eq(request->currency_defaulted, 1);
    ck_assert_str_eq(request->money.currency, "KWD");
    ck_assert_int_eq(request->money.amount_minor, 10500);
    ck_assert_int_eq(pay_checkout_request_rebase(&other, request, "NGN", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(other->money.amount_minor, 1050);
    request = take("{" WHOLE "}", PAY_CHECKOUT_FORM_INITIATE);
    ck_assert_int_eq(request->currency_defaulted, 0);
    ck_assert_mem_eq(other->digest, request->digest, sizeof(request->digest));
    ck_assert_int_ne(pay_checkout_request_rebase(&other, request, "JPY", unit_pool), APR_SUCCESS);
    ck_assert_ptr_null(other);
}
END_TEST

/* ---- the same request */

static const struct {
    const char *name;
    pay_checkout_form_t form;
    const char *body;
    int same; /* as that of WHOLE */
} digest_cases[] = {
    {"another notation", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE ",\"amount\":\"10.50\",\"currency\":\"NGN\",\"checkoutCustomerData\":{"
     "\"email\":\"ADA@shop.example\",\"firstName\":\"Ada\",\"lastName\":\"Obi\"}}",
     1},
    {"an order for the same", PAY_CHECKOUT_FORM_ORDER, "{" BUYER "," GOODS "}", 1},
    {"metadata, texts and phone do not count", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"metaData\":{\"x\":1},\"checkoutCustomizationData\":{"
     "\"checkoutModalTitle\":\"Shoes\"},\"checkoutCustomerData\":{" PAYER
     ",\"phoneNumber\":\"1\"}}",
     1},
    {"another amount", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE ",\"amount\":10.51,\"currency\":\"NGN\"," CUSTOMER "}", 0},
    {"another currency", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE ",\"amount\":10.5,\"currency\":\"USD\"," CUSTOMER "}", 0},
    {"another payer", PAY_CHECKOUT_FORM_INITIATE,
     "{" REFERENCE "," MONEY ",\"checkoutCustomerData\":{\"email\":\"bob@shop.example\","
     "\"firstName\":\"Ada\",\"lastName\":\"Obi\"}}",
     0},
    {"another way back", PAY_CHECKOUT_FORM_INITIATE,
     "{" WHOLE ",\"redirectUrl\":\"https://shop.example/\"}", 0},
    {"of a link", PAY_CHECKOUT_FORM_LINK, "{" LINK "," MONEY "," CUSTOMER "}", 0},
};

START_TEST(test_digest)
{
    const pay_checkout_request_t *whole = take("{" WHOLE "}", PAY_CHECKOUT_FORM_INITIATE);
    const pay_checkout_request_t *other = take(digest_cases[_i].body, digest_cases[_i].form);

    ck_assert_msg((memcmp(whole->digest, other->digest, PAY_SHA256_LEN) == 0)
                      == digest_cases[_i].same,
                  "%s", digest_cases[_i].name);
}
END_TEST

/* Stored rows are compared with it: the encoding must never change. */
START_TEST(test_digest_is_frozen)
{
    ck_assert_str_eq(
        pay_hex(take("{" WHOLE "}", PAY_CHECKOUT_FORM_INITIATE)->digest, PAY_SHA256_LEN, unit_pool),
        "5c7826b3028657836859150c97d0245540e4d5104c39124111246ce81ad491a7");
    ck_assert_str_eq(
        pay_hex(take(LINK_BODY, PAY_CHECKOUT_FORM_LINK)->digest, PAY_SHA256_LEN, unit_pool),
        "6c7383536fd0935fa5bbf34f33286515ae0949000275ec05cf94db47b6a5b5cc");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_faults, 0, UNIT_ROWS(fault_cases));
    tcase_add_test(tcase, test_default_currency);
    tcase_add_loop_test(tcase, test_values, 0, UNIT_ROWS(value_cases));
    tcase_add_loop_test(tcase, test_digest, 0, UNIT_ROWS(digest_cases));
    tcase_add_test(tcase, test_digest_is_frozen);
}

UNIT_PROGRAM(add)
