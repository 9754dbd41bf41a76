/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/writer.h"
#include "model/account.h"

#include <string.h>

#define N16 "abcdefghijklmnop"
#define N64 N16 N16 N16 N16

static const struct {
    const char *name;
    const char *text;
    apr_status_t want;
} name_cases[] = {
    {"one letter", "a", APR_SUCCESS},
    {"one digit", "7", APR_SUCCESS},
    {"all kinds", "shop-7.example_eu", APR_SUCCESS},
    {"longest", N64, APR_SUCCESS},
    {"one longer", N64 "a", APR_EINVAL},
    {"empty", "", APR_EINVAL},
    {"first a dot", ".a", APR_EINVAL},
    {"first a dash", "-a", APR_EINVAL},
    {"first an underscore", "_a", APR_EINVAL},
    {"upper case", "Shop", APR_EINVAL},
    {"blank", "my shop", APR_EINVAL},
    {"slash", "a/b", APR_EINVAL},
    {"beyond ASCII", "caf\xc3\xa9", APR_EINVAL},
    {"newline at the end", "shop\n", APR_EINVAL},
};

START_TEST(test_name)
{
    ck_assert_msg(pay_account_name_check(name_cases[_i].text) == name_cases[_i].want, "%s",
                  name_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    apr_status_t want;
} prefix_cases[] = {
    {"one letter", "p", APR_SUCCESS},  {"letters and digits", "pay2", APR_SUCCESS},
    {"longest", N16, APR_SUCCESS},     {"one longer", N16 "a", APR_EINVAL},
    {"empty", "", APR_EINVAL},         {"first a digit", "2pay", APR_EINVAL},
    {"underscore", "a_b", APR_EINVAL}, {"upper case", "Pay", APR_EINVAL},
    {"dash", "a-b", APR_EINVAL},
};

START_TEST(test_prefix)
{
    ck_assert_msg(pay_key_prefix_check(prefix_cases[_i].text) == prefix_cases[_i].want, "%s",
                  prefix_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    pay_mode_t mode;
    apr_status_t want;
} mode_cases[] = {
    {"test", "test", PAY_TEST, APR_SUCCESS},   {"live", "live", PAY_LIVE, APR_SUCCESS},
    {"empty", "", PAY_TEST, APR_EINVAL},       {"upper case", "LIVE", PAY_TEST, APR_EINVAL},
    {"longer", "lives", PAY_TEST, APR_EINVAL}, {"shorter", "liv", PAY_TEST, APR_EINVAL},
};

START_TEST(test_mode)
{
    pay_mode_t mode = PAY_LIVE;

    ck_assert_msg(pay_mode_parse(&mode, mode_cases[_i].text) == mode_cases[_i].want, "%s",
                  mode_cases[_i].name);
    ck_assert_msg(mode == mode_cases[_i].mode, "%s", mode_cases[_i].name);
    if (mode_cases[_i].want == APR_SUCCESS) {
        ck_assert_str_eq(pay_mode_name(mode), mode_cases[_i].text);
    }
}
END_TEST

START_TEST(test_json)
{
    pay_account_t account = {.number = 4000000000u,
                             .name = "demo",
                             .settings = pay_account_settings_builtin,
                             .mode = PAY_LIVE,
                             .created_at = APR_INT64_C(1767225600000000),
                             .updated_at = APR_INT64_C(1767225600001000)};
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_account_to_json(w, NULL, &account);
    ck_assert_str_eq(
        w->text,
        "{\"name\":\"demo\",\"number\":4000000000,\"mode\":\"live\","
        "\"keyPrefix\":\"pay\",\"currency\":\"NGN\",\"timezone\":\"UTC\","
        "\"shop\":{\"name\":\"\",\"logo\":\"\",\"text\":\"\"},\"returnHosts\":[],\"fees\":\"\","
        "\"createdAt\":\"2026-01-01T00:00:00.000Z\","
        "\"updatedAt\":\"2026-01-01T00:00:00.001Z\"}");
}
END_TEST

/* Never changes, and differs for another account, mode, reference or secret. */
START_TEST(test_reference)
{
    static const struct {
        const char *name;
        apr_uint32_t number;
        pay_mode_t mode;
        unsigned char secret;
        const char *reference;
    } others[] = {
        {"account", 2, PAY_LIVE, 7, "order-1"},
        {"mode", 1, PAY_TEST, 7, "order-1"},
        {"secret", 1, PAY_LIVE, 8, "order-1"},
        {"reference", 1, PAY_LIVE, 7, "order-2"},
    };
    pay_account_t account = {.number = 1};
    const char *first, *other;
    int i;

    ck_assert_int_eq(pay_account_reference(&first, &account, PAY_LIVE, "order-1", unit_pool),
                     APR_EINVAL);
    ck_assert_ptr_null(first);
    memset(account.secret, 7, sizeof(account.secret));
    ck_assert_int_eq(pay_account_reference(&first, &account, PAY_LIVE, "order-1", unit_pool),
                     APR_SUCCESS);
    /* python3 -c 'import hmac; print(hmac.new(b"\x07" * 32, b"\0\0\0\x01\x01order-1",
     * "sha256").hexdigest()[:32])' */
    ck_assert_str_eq(first, "694793de71d9f0e65379c038f6ee158f");
    account.number = 0x81828384; /* b"\x81\x82\x83\x84\x01order-1" */
    ck_assert_int_eq(pay_account_reference(&other, &account, PAY_LIVE, "order-1", unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(other, "f2bbe92d640a624d1e63ccad125b3e9e");
    for (i = 0; i < UNIT_ROWS(others); i++) {
        account.number = others[i].number;
        memset(account.secret, others[i].secret, sizeof(account.secret));
        ck_assert_int_eq(
            pay_account_reference(&other, &account, others[i].mode, others[i].reference, unit_pool),
            APR_SUCCESS);
        ck_assert_msg(strlen(other) == 32 && strcmp(other, first) != 0, "%s", others[i].name);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_name, 0, UNIT_ROWS(name_cases));
    tcase_add_loop_test(tcase, test_prefix, 0, UNIT_ROWS(prefix_cases));
    tcase_add_loop_test(tcase, test_mode, 0, UNIT_ROWS(mode_cases));
    tcase_add_test(tcase, test_json);
    tcase_add_test(tcase, test_reference);
}

UNIT_PROGRAM(add)
