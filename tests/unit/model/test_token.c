/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/writer.h"
#include "model/token.h"

#include <string.h>

#define T10 "abcdefghi_"
#define T50 T10 T10 T10 T10 T10
#define T255 T50 T50 T50 T50 T50 "12345"

static const struct {
    const char *name;
    const char *text;
    apr_status_t want;
} text_cases[] = {
    {"one character", "t", APR_SUCCESS},
    {"first and last of the set", "!~", APR_SUCCESS},
    {"longest", T255, APR_SUCCESS},
    {"one longer", T255 "6", APR_EINVAL},
    {"a long number that is no card's", "4111111111111112", APR_SUCCESS},
    {"empty", "", APR_EINVAL},
    {"blank", "tok en", APR_EINVAL},
    {"tab", "tok\ten", APR_EINVAL},
    {"DEL", "tok\x7f", APR_EINVAL},
    {"beyond ASCII", "tok\xc3\xa9", APR_EINVAL},
    {"card number", "4111111111111111", APR_EINVAL},
    {"card number with dashes", "4111-1111-1111-1111", APR_EINVAL},
};

START_TEST(test_text)
{
    ck_assert_msg(pay_token_text_check(text_cases[_i].text) == text_cases[_i].want, "%s",
                  text_cases[_i].name);
}
END_TEST

START_TEST(test_json)
{
    pay_token_t token = {.scope = {1, PAY_TEST},
                         .token = "tok_1",
                         .card = {"400000", "9995", "Visa", "NG", "debit"},
                         .email = "a@example.com",
                         .created_at = APR_INT64_C(1767225600000000),
                         .revoked_at = APR_INT64_C(1767225601000000)};
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_token_to_json(w, NULL, &token);
    ck_assert_str_eq(w->text, "{\"token\":\"tok_1\",\"mode\":\"test\",\"email\":\"a@example.com\","
                              "\"card\":{\"first6Digits\":\"400000\",\"last4Digits\":\"9995\","
                              "\"issuer\":\"Visa\",\"country\":\"NG\",\"type\":\"debit\"},"
                              "\"createdAt\":\"2026-01-01T00:00:00.000Z\","
                              "\"revokedAt\":\"2026-01-01T00:00:01.000Z\"}");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_text, 0, UNIT_ROWS(text_cases));
    tcase_add_test(tcase, test_json);
}

UNIT_PROGRAM(add)
