/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/writer.h"
#include "model/charge.h"

#include <string.h>

#define CREATED APR_INT64_C(1767225600000000)
#define DECIDED APR_INT64_C(1767225600250000)

#define CARD(token)                                                                                \
    "\"card\":{\"first6Digits\":\"555555\",\"last4Digits\":\"4444\",\"issuer\":\"Mastercard\","    \
    "\"country\":\"NG\",\"type\":\"debit\",\"token\":\"" token "\"},"
#define CUSTOMER                                                                                   \
    "\"customer\":{\"id\":725075357,\"customerCode\":\"CUS_910dd3b09e8bd261\","                    \
    "\"email\":\"ada@example.com\",\"name\":\"Ada Obi\"},"
#define TRANSFER                                                                                   \
    "\"transferDetail\":{\"bankCode\":\"\",\"bankName\":\"\",\"accountNumber\":\"\","              \
    "\"sessionId\":\"\",\"creditAccountName\":\"\",\"originatorName\":\"\","                       \
    "\"originatorAccountNumber\":\"\"},"
#define HEAD "{\"id\":42,\"transactionReference\":\"order-1\",\"reference\":\"order-1\","
#define NONE                                                                                       \
    "\"paymentDescriptor\":\"\",\"transactionType\":\"\",\"redirectUrl\":\"\","                    \
    "\"checkoutMetadata\":\"\","
#define STATUS_OF(status, state) "\"status\":\"" status "\",\"paymentStatus\":\"" state "\","
#define STATUS(state) STATUS_OF(state, state)
#define AMOUNTS(charged, requested, refunded, refunding)                                           \
    "\"amount\":10.50,\"chargedAmount\":" charged ",\"transactionFee\":0.00,"                      \
    "\"requested_amount\":" requested ",\"refundedAmount\":" refunded                              \
    ",\"refundsPendingAmount\":" refunding ",\"currency\":\"NGN\",\"domain\":\"test\","            \
    "\"channel\":\"card\","
#define GATEWAY(code, message, auth)                                                               \
    "\"gatewayResponseCode\":\"" code "\",\"gatewayResponseMessage\":\"" message                   \
    "\",\"authorizationCode\":\"" auth "\",\"authCode\":\"" auth "\","
#define TIMES(updated)                                                                             \
    "\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"updatedAt\":\"2026-01-01T00:" updated "Z\"}"

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
                           .acquirer = "simulator",
                           .state = PAY_CHARGE_SUCCESSFUL,
                           .created_at = CREATED,
                           .updated_at = DECIDED,
                           .decided_state = PAY_CHARGE_SUCCESSFUL,
                           .decided_at = DECIDED,
                           .answer_version = 1,
                           .code = "00",
                           .message = "Approved",
                           .authorization_code = "L5K7O4",
                           .contradiction = ""};
    return charge;
}

static const char *object(const pay_charge_t *charge, pay_view_t view)
{
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_charge_to_json(w, NULL, charge, view);
    return w->text;
}

static const char *answer(const pay_charge_t *charge)
{
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_charge_answer_to_json(w, charge);
    return w->text;
}

START_TEST(test_object)
{
    pay_charge_t charge = charge_make();

    ck_assert_str_eq(
        object(&charge, PAY_VIEW_SECRET),
        HEAD STATUS("successful") AMOUNTS("10.50", "10.50", "0.00", "0.00")
            GATEWAY("00", "Approved", "L5K7O4") "\"requestIp\":\"192.0.2.1\"," NONE CARD("tok_1")
                CUSTOMER TRANSFER TIMES("00:00.250"));
}
END_TEST

START_TEST(test_public_view)
{
    pay_charge_t charge = charge_make();

    ck_assert_str_eq(object(&charge, PAY_VIEW_PUBLIC),
                     HEAD STATUS("successful") AMOUNTS("10.50", "10.50", "0.00", "0.00")
                         GATEWAY("00", "Approved", "") "\"requestIp\":\"\"," NONE CARD(
                             "") "\"customer\":{\"id\":0,\"customerCode\":\"\",\"email\":\"\","
                                 "\"name\":\"\"}," TRANSFER TIMES("00:00.250"));
}
END_TEST

START_TEST(test_partly_refunded)
{
    pay_charge_t charge = charge_make();

    charge.refunded_minor = 300;
    charge.refunds_pending_minor = 1;
    charge.updated_at = CREATED + apr_time_from_sec(90);
    ck_assert_str_eq(
        object(&charge, PAY_VIEW_SECRET),
        HEAD STATUS("successful") AMOUNTS("10.50", "10.50", "3.00", "0.01")
            GATEWAY("00", "Approved", "L5K7O4") "\"requestIp\":\"192.0.2.1\"," NONE CARD("tok_1")
                CUSTOMER TRANSFER TIMES("01:30.000"));
}
END_TEST

START_TEST(test_unset_strings_are_empty)
{
    pay_charge_t charge = {.reference = "r",
                           .email = "a@b.example",
                           .money = {10, "JPY"},
                           .created_at = CREATED,
                           .updated_at = CREATED};

    ck_assert_ptr_null(strstr(object(&charge, PAY_VIEW_SECRET), "null"));
    ck_assert_ptr_null(strstr(answer(&charge), "null"));
    ck_assert_ptr_nonnull(strstr(object(&charge, PAY_VIEW_SECRET), "\"amount\":10,"));
    ck_assert_ptr_nonnull(strstr(object(&charge, PAY_VIEW_SECRET), "\"name\":\"\"}"));
}
END_TEST

static const struct {
    const char *name;
    const char *first, *last, *want;
} name_cases[] = {
    {"both", "Ada", "Obi", "\"name\":\"Ada Obi\""},
    {"first only", "Ada", "", "\"name\":\"Ada\""},
    {"last only", "", "Obi", "\"name\":\"Obi\""},
    {"neither", "", "", "\"name\":\"\""},
};

START_TEST(test_name)
{
    pay_charge_t charge = charge_make();

    charge.first_name = name_cases[_i].first;
    charge.last_name = name_cases[_i].last;
    ck_assert_msg(strstr(object(&charge, PAY_VIEW_SECRET), name_cases[_i].want) != NULL, "%s",
                  name_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    pay_scope_t scope;
    const char *email;
    const char *want;
} customer_cases[] = {
    {"the payer",
     {7, PAY_TEST},
     "ada@example.com",
     "{\"id\":725075357,\"customerCode\":"
     "\"CUS_910dd3b09e8bd261\""},
    {"in Live Mode",
     {7, PAY_LIVE},
     "ada@example.com",
     "{\"id\":122997981,\"customerCode\":"
     "\"CUS_9ef2814d9d552240\""},
    {"of another account",
     {8, PAY_TEST},
     "ada@example.com",
     "{\"id\":661643781,"
     "\"customerCode\":"
     "\"CUS_ada36e79972475c1\""},
};

START_TEST(test_customer)
{
    pay_charge_t charge = charge_make();

    charge.scope = customer_cases[_i].scope;
    charge.email = customer_cases[_i].email;
    charge.reference = "another";
    ck_assert_msg(strstr(object(&charge, PAY_VIEW_SECRET), customer_cases[_i].want) != NULL, "%s",
                  customer_cases[_i].name);
}
END_TEST

/* Golden bytes: a charge decided under a form is always answered with these. */
#define GOLDEN_SUCCESSFUL                                                                          \
    "{\"status\":true,\"message\":\"Charge successful\",\"data\":" HEAD STATUS("successful")       \
        AMOUNTS("10.50", "10.50", "0.00", "0.00")                                                  \
            GATEWAY("00", "Approved", "L5K7O4") "\"requestIp\":\"192.0.2.1\"," NONE CARD("tok_1")  \
                CUSTOMER TRANSFER TIMES("00:00.250") "}"
#define GOLDEN_FAILED(requested)                                                                   \
    "{\"status\":false,\"message\":\"Do not honor\",\"data\":" HEAD STATUS("failed")               \
        AMOUNTS("0.00", requested, "0.00", "0.00")                                                 \
            GATEWAY("05", "Do not honor", "") "\"requestIp\":\"192.0.2.1\"," NONE CARD("tok_1")    \
                CUSTOMER TRANSFER TIMES("00:00.250") "}"
#define GOLDEN_PENDING                                                                             \
    "{\"status\":true,\"message\":\"Charge pending\",\"data\":" HEAD STATUS("pending")             \
        AMOUNTS("0.00", "0.00", "0.00", "0.00")                                                    \
            GATEWAY("", "", "") "\"requestIp\":\"192.0.2.1\"," NONE CARD("tok_1")                  \
                CUSTOMER TRANSFER TIMES("00:00.000") "}"

#define SHA256_SUCCESSFUL "c601fc1e9ebb53935770a31a76dccde5f78737d5c0436399b37d758fa4c3bb98"
#define SHA256_PENDING "cffb3393a87d722faf5486760cf82cc6022b833c42bf509742788c529833e61a"

static const struct {
    const char *name;
    int version;
    pay_charge_state_t decided_state;
    const char *code, *message, *authorization_code;
    const char *want;
    const char *sha256; /* pins the bytes even where a macro above is edited */
} answer_cases[] = {
    {"form 1, successful", 1, PAY_CHARGE_SUCCESSFUL, "00", "Approved", "L5K7O4", GOLDEN_SUCCESSFUL,
     SHA256_SUCCESSFUL},
    {"form 1, failed", 1, PAY_CHARGE_FAILED, "05", "Do not honor", "", GOLDEN_FAILED("10.50"),
     "a395e0128e544273e72eb177b604c47efb823f59bd2d5e77abc92b5865e15a0b"},
    /* Opened under form 1, and nothing is frozen yet. */
    {"form 1, pending", 1, PAY_CHARGE_PENDING, "", "", "", GOLDEN_PENDING, SHA256_PENDING},
    {"form 2, successful", 2, PAY_CHARGE_SUCCESSFUL, "00", "Approved", "L5K7O4", GOLDEN_SUCCESSFUL,
     SHA256_SUCCESSFUL},
    {"form 2, failed", 2, PAY_CHARGE_FAILED, "05", "Do not honor", "", GOLDEN_FAILED("0.00"),
     "f8579ae0d36c2030869f7ce8b18384bddd70b48a359fce059a2ff996640adb49"},
    {"form 2, pending", 2, PAY_CHARGE_PENDING, "", "", "", GOLDEN_PENDING, SHA256_PENDING},
};

START_TEST(test_answer)
{
    unsigned char digest[PAY_SHA256_LEN];
    pay_charge_t charge = charge_make();

    charge.state = answer_cases[_i].decided_state;
    charge.decided_state = answer_cases[_i].decided_state;
    charge.decided_at = charge.state == PAY_CHARGE_PENDING ? 0 : DECIDED;
    charge.answer_version = answer_cases[_i].version;
    charge.code = answer_cases[_i].code;
    charge.message = answer_cases[_i].message;
    charge.authorization_code = answer_cases[_i].authorization_code;
    ck_assert_msg(!strcmp(answer(&charge), answer_cases[_i].want), "%s: %s", answer_cases[_i].name,
                  answer(&charge));
    ck_assert_int_eq(pay_sha256(digest, answer(&charge), strlen(answer(&charge))), APR_SUCCESS);
    ck_assert_str_eq(pay_hex(digest, PAY_SHA256_LEN, unit_pool), answer_cases[_i].sha256);
}
END_TEST

/* The words and amounts of each state, in any form of the answer. */
static const struct {
    pay_charge_state_t state;
    apr_int64_t refunded_minor;
    const char *want;
} state_cases[] = {
    {PAY_CHARGE_PENDING, 0, STATUS("pending") AMOUNTS("0.00", "0.00", "0.00", "0.00")},
    {PAY_CHARGE_SUCCESSFUL, 0, STATUS("successful") AMOUNTS("10.50", "10.50", "0.00", "0.00")},
    {PAY_CHARGE_SUCCESSFUL, 300, STATUS("successful") AMOUNTS("10.50", "10.50", "3.00", "0.00")},
    {PAY_CHARGE_FAILED, 0, STATUS("failed") AMOUNTS("0.00", "0.00", "0.00", "0.00")},
    {PAY_CHARGE_REVERSED, 1050, STATUS("reversed") AMOUNTS("10.50", "0.00", "10.50", "0.00")},
    {PAY_CHARGE_VOID, 0, STATUS_OF("failed", "void") AMOUNTS("0.00", "0.00", "0.00", "0.00")},
    {PAY_CHARGE_ABANDONED, 0,
     STATUS_OF("failed", "abandoned") AMOUNTS("0.00", "0.00", "0.00", "0.00")},
};

START_TEST(test_states)
{
    pay_charge_t charge = charge_make();
    int version;

    charge.state = state_cases[_i].state;
    charge.refunded_minor = state_cases[_i].refunded_minor;
    for (version = 1; version <= PAY_CHARGE_ANSWER_VERSION; version++) {
        charge.answer_version = version;
        ck_assert_msg(strstr(object(&charge, PAY_VIEW_SECRET), state_cases[_i].want) != NULL,
                      "%s of form %d: %s", pay_charge_state_name(charge.state), version,
                      object(&charge, PAY_VIEW_SECRET));
        ck_assert_ptr_nonnull(strstr(object(&charge, PAY_VIEW_PUBLIC), state_cases[_i].want));
    }
}
END_TEST

static const struct {
    const char *name;
    pay_charge_state_t state;
    apr_int64_t refunded_minor, pending_minor;
} later_cases[] = {
    {"partly refunded", PAY_CHARGE_SUCCESSFUL, 300, 0},
    {"being refunded", PAY_CHARGE_SUCCESSFUL, 0, 300},
    {"reversed", PAY_CHARGE_REVERSED, 1050, 0},
};

START_TEST(test_answer_is_frozen)
{
    pay_charge_t charge = charge_make();

    charge.state = later_cases[_i].state;
    charge.refunded_minor = later_cases[_i].refunded_minor;
    charge.refunds_pending_minor = later_cases[_i].pending_minor;
    charge.updated_at = DECIDED + apr_time_from_sec(3600);
    charge.contradiction = "05 Do not honor";
    charge.attempts = 3;
    ck_assert_msg(!strcmp(answer(&charge), GOLDEN_SUCCESSFUL), "%s: %s", later_cases[_i].name,
                  answer(&charge));
}
END_TEST

START_TEST(test_failed_without_words)
{
    pay_charge_t charge = charge_make();

    charge.state = PAY_CHARGE_FAILED;
    charge.decided_state = PAY_CHARGE_FAILED;
    charge.message = "";
    ck_assert_ptr_nonnull(
        strstr(answer(&charge), "{\"status\":false,\"message\":\"Charge failed\","));
}
END_TEST

START_TEST(test_damaged_row)
{
    pay_charge_t charge = charge_make();

    charge.decided_state = (pay_charge_state_t)99;
    ck_assert_ptr_nonnull(strstr(answer(&charge), "\"paymentStatus\":\"pending\""));
    charge.state = (pay_charge_state_t)99;
    ck_assert_ptr_nonnull(
        strstr(object(&charge, PAY_VIEW_SECRET), STATUS_OF("pending", "unknown")));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_object);
    tcase_add_test(tcase, test_public_view);
    tcase_add_test(tcase, test_partly_refunded);
    tcase_add_test(tcase, test_unset_strings_are_empty);
    tcase_add_loop_test(tcase, test_name, 0, UNIT_ROWS(name_cases));
    tcase_add_loop_test(tcase, test_customer, 0, UNIT_ROWS(customer_cases));
    tcase_add_loop_test(tcase, test_answer, 0, UNIT_ROWS(answer_cases));
    tcase_add_loop_test(tcase, test_states, 0, UNIT_ROWS(state_cases));
    tcase_add_loop_test(tcase, test_answer_is_frozen, 0, UNIT_ROWS(later_cases));
    tcase_add_test(tcase, test_failed_without_words);
    tcase_add_test(tcase, test_damaged_row);
}

UNIT_PROGRAM(add)
