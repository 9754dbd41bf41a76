/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/writer.h"
#include "model/audit.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text;
    const char *want;
} text_cases[] = {
    {"none", NULL, ""},
    {"nothing", "", ""},
    {"as it is", "test -> live", "test -> live"},
    {"not ASCII", "\xc3\x85sa", "\xc3\x85sa"},
    {"one line", "a\nb\tc\rd", "a b c?d"},
    {"control characters", "a\x1b[31mb\x7f", "a?[31mb?"},
    {"not UTF-8", "a\xff", "a?"},
};

START_TEST(test_text)
{
    const char *name = text_cases[_i].name;

    ck_assert_msg(!strcmp(pay_audit_text(text_cases[_i].text, unit_pool), text_cases[_i].want),
                  "%s", name);
}
END_TEST

/* Cut between characters, never within one. */
START_TEST(test_longest_text)
{
    char *text = apr_pcalloc(unit_pool, PAY_AUDIT_TEXT_MAX + 2);

    memset(text, 'a', PAY_AUDIT_TEXT_MAX);
    ck_assert_str_eq(pay_audit_text(text, unit_pool), text);
    text[PAY_AUDIT_TEXT_MAX] = 'b';
    ck_assert_uint_eq(strlen(pay_audit_text(text, unit_pool)), PAY_AUDIT_TEXT_MAX);
    memcpy(text + PAY_AUDIT_TEXT_MAX - 1, "\xc3\x85", 2);
    ck_assert_uint_eq(strlen(pay_audit_text(text, unit_pool)), PAY_AUDIT_TEXT_MAX - 1);
}
END_TEST

START_TEST(test_json)
{
    const pay_audit_t entry = {.at = apr_time_from_sec(1),
                               .who = "\"ada\"",
                               .from = "paymentsctl",
                               .what = "key create",
                               .subject = "key_1",
                               .detail = ""};
    pay_writer_t *w = pay_writer_make(0, unit_pool);

    pay_audit_to_json(w, NULL, &entry, _i ? "shop" : NULL);
    ck_assert_str_eq(w->text,
                     apr_pstrcat(unit_pool, "{\"account\":", _i ? "\"shop\"" : "null",
                                 ",\"at\":\"1970-01-01T00:00:01.000Z\",\"who\":\"\\\"ada\\\"\","
                                 "\"from\":\"paymentsctl\",\"what\":\"key create\","
                                 "\"subject\":\"key_1\",\"detail\":\"\"}",
                                 NULL));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_text, 0, UNIT_ROWS(text_cases));
    tcase_add_test(tcase, test_longest_text);
    tcase_add_loop_test(tcase, test_json, 0, 2);
}

UNIT_PROGRAM(add)
