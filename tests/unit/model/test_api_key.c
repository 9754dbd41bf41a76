/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/writer.h"
#include "model/api_key.h"

#include <string.h>

#define B10 "a1b2c3d4e5"
#define B40 B10 B10 B10 B10
#define KEY "pay_testsk_" B40
#define FULL "pay_livesk_" B40 B40 B10 B10 B10 "1234567" /* 128 characters */

static const struct {
    const char *name;
    const char *value;
    const char *want;
} header_cases[] = {
    {"bearer", "Bearer " KEY, KEY},
    {"bearer with a colon", "Bearer: " KEY, KEY},
    {"bare", KEY, KEY},
    {"scheme in lower case", "bearer " KEY, KEY},
    {"scheme in upper case, colon", "BEARER: " KEY, KEY},
    {"blanks around", " \tBearer \t " KEY "\t ", KEY},
    {"blanks around a bare key", "  " KEY "  ", KEY},
    {"longest", "Bearer " FULL, FULL},
    {"one longer", "Bearer " FULL "x", NULL},
    {"a prefix that reads like the scheme", "bearer_testsk_" B40, "bearer_testsk_" B40},
    {"no header", NULL, NULL},
    {"empty", "", NULL},
    {"scheme alone", "Bearer", NULL},
    {"scheme and blanks", "Bearer   ", NULL},
    {"scheme and colon", "Bearer:", NULL},
    {"scheme without a blank", "Bearer" KEY, NULL},
    {"colon without a blank", "Bearer:" KEY, NULL},
    {"two colons", "Bearer:: " KEY, NULL},
    {"scheme twice", "Bearer Bearer " KEY, NULL},
    {"inner blank", "Bearer pay_testsk_" B10 " " B10, NULL},
    {"two keys", "Bearer " KEY " " KEY, NULL},
    {"comma", "Bearer " KEY "," KEY, NULL},
    {"other scheme", "Basic " KEY, NULL},
    {"in quotes", "Bearer \"" KEY "\"", NULL},
    {"newline", "Bearer " KEY "\n", NULL},
};

START_TEST(test_header)
{
    const char *got = pay_api_key_from_header(header_cases[_i].value, unit_pool);

    if (!header_cases[_i].want) {
        ck_assert_msg(got == NULL, "%s", header_cases[_i].name);
        return;
    }
    ck_assert_msg(got && !strcmp(got, header_cases[_i].want), "%s", header_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    pay_mode_t mode;
    pay_key_kind_t kind;
    apr_status_t want;
} parse_cases[] = {
    {"test secret", "pay_testsk_" B40, PAY_TEST, PAY_KEY_SECRET, APR_SUCCESS},
    {"test public", "pay_testpk_" B40, PAY_TEST, PAY_KEY_PUBLIC, APR_SUCCESS},
    {"live secret", "pay_livesk_" B40, PAY_LIVE, PAY_KEY_SECRET, APR_SUCCESS},
    {"live public", "pay_livepk_" B40, PAY_LIVE, PAY_KEY_PUBLIC, APR_SUCCESS},
    {"prefix of another issuer", "nc_testpk_" B40, PAY_TEST, PAY_KEY_PUBLIC, APR_SUCCESS},
    {"shortest", "pay_testsk_123456789", PAY_TEST, PAY_KEY_SECRET, APR_SUCCESS},
    {"one shorter", "pay_testsk_12345678", PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"longest", FULL, PAY_LIVE, PAY_KEY_SECRET, APR_SUCCESS},
    {"one longer", FULL "x", PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"longest prefix", "a234567890123456_testsk_" B40, PAY_TEST, PAY_KEY_SECRET, APR_SUCCESS},
    {"prefix one longer", "a2345678901234567_testsk_" B40, PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"no prefix", "_testsk_" B40, PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"prefix in upper case", "PAY_testsk_" B40, PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"body in upper case", "pay_testsk_A" B40, PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"underscore in the body", "pay_testsk_" B10 "_" B10, PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"no body", "a23456789012_testsk_", PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"unknown mode", "pay_demosk_" B40, PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"unknown kind", "pay_testxk_" B40, PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"no underscore", B40, PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"one underscore", "pay_" B40, PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
    {"empty", "", PAY_TEST, PAY_KEY_PUBLIC, APR_EINVAL},
};

START_TEST(test_parse)
{
    pay_mode_t mode = PAY_LIVE;
    pay_key_kind_t kind = PAY_KEY_SECRET;
    apr_status_t rv = pay_api_key_parse(&mode, &kind, parse_cases[_i].text);

    ck_assert_msg(rv == parse_cases[_i].want, "%s", parse_cases[_i].name);
    ck_assert_msg(mode == parse_cases[_i].mode, "%s", parse_cases[_i].name);
    ck_assert_msg(kind == parse_cases[_i].kind, "%s", parse_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    pay_mode_t mode;
    pay_key_kind_t kind;
    const char *want;
} make_cases[] = {
    {"test secret", PAY_TEST, PAY_KEY_SECRET, "shop_testsk_"},
    {"test public", PAY_TEST, PAY_KEY_PUBLIC, "shop_testpk_"},
    {"live secret", PAY_LIVE, PAY_KEY_SECRET, "shop_livesk_"},
    {"live public", PAY_LIVE, PAY_KEY_PUBLIC, "shop_livepk_"},
};

START_TEST(test_make)
{
    const char *text;
    const char *other;
    pay_mode_t mode;
    pay_key_kind_t kind;

    ck_assert_int_eq(
        pay_api_key_text_make(&text, "shop", make_cases[_i].mode, make_cases[_i].kind, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(
        pay_api_key_text_make(&other, "shop", make_cases[_i].mode, make_cases[_i].kind, unit_pool),
        APR_SUCCESS);
    ck_assert_msg(!strncmp(text, make_cases[_i].want, strlen(make_cases[_i].want)), "%s",
                  make_cases[_i].name);
    ck_assert_uint_eq(strlen(text), strlen(make_cases[_i].want) + 48);
    ck_assert_str_ne(text, other);
    ck_assert_int_eq(pay_api_key_parse(&mode, &kind, text), APR_SUCCESS);
    ck_assert_int_eq(mode, make_cases[_i].mode);
    ck_assert_int_eq(kind, make_cases[_i].kind);
}
END_TEST

START_TEST(test_make_refuses_prefix)
{
    const char *text = "set";

    ck_assert_int_eq(pay_api_key_text_make(&text, "My_Shop", PAY_TEST, PAY_KEY_SECRET, unit_pool),
                     APR_EINVAL);
    ck_assert_ptr_null(text);
}
END_TEST

static const struct {
    const char *name;
    apr_time_t valid_until;
    apr_time_t revoked_at;
    apr_time_t now;
    int want;
    apr_time_t end;
} valid_cases[] = {
    {"neither", 0, 0, 1000, 1, 0},
    {"overlap is over", 999, 0, 1000, 0, 999},
    {"overlap ends at this very instant", 1000, 0, 1000, 0, 1000},
    {"still in the overlap", 1001, 0, 1000, 1, 1001},
    {"revoked", 0, 999, 1000, 0, 999},
    {"revoked, and the clock stepped back", 0, 1001, 1000, 0, 1001},
    {"revoked in its overlap", 1002, 999, 1000, 0, 999},
};

START_TEST(test_valid)
{
    pay_api_key_t key = {.valid_until = valid_cases[_i].valid_until,
                         .revoked_at = valid_cases[_i].revoked_at};

    ck_assert_msg(pay_api_key_is_valid(&key, valid_cases[_i].now) == valid_cases[_i].want, "%s",
                  valid_cases[_i].name);
    ck_assert_msg(pay_api_key_end(&key) == valid_cases[_i].end, "%s", valid_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    pay_key_kind_t kind;
    apr_status_t want;
} kind_cases[] = {
    {"secret", "secret", PAY_KEY_SECRET, APR_SUCCESS},
    {"public", "public", PAY_KEY_PUBLIC, APR_SUCCESS},
    {"empty", "", PAY_KEY_PUBLIC, APR_EINVAL},
    {"upper case", "Secret", PAY_KEY_PUBLIC, APR_EINVAL},
};

START_TEST(test_kind)
{
    pay_key_kind_t kind = PAY_KEY_SECRET;

    ck_assert_msg(pay_key_kind_parse(&kind, kind_cases[_i].text) == kind_cases[_i].want, "%s",
                  kind_cases[_i].name);
    ck_assert_msg(kind == kind_cases[_i].kind, "%s", kind_cases[_i].name);
    if (kind_cases[_i].want == APR_SUCCESS) {
        ck_assert_str_eq(pay_key_kind_name(kind), kind_cases[_i].text);
    }
}
END_TEST

START_TEST(test_json)
{
    pay_account_t account = {.name = "demo"};
    pay_api_key_t key = {.id = "key_1",
                         .scope = {7, PAY_LIVE},
                         .kind = PAY_KEY_PUBLIC,
                         .created_at = APR_INT64_C(1767225600000000),
                         .account = &account};
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_api_key_to_json(w, NULL, &key);
    ck_assert_str_eq(w->text, "{\"id\":\"key_1\",\"account\":\"demo\",\"mode\":\"live\","
                              "\"kind\":\"public\",\"createdAt\":\"2026-01-01T00:00:00.000Z\","
                              "\"lastUsedAt\":null,\"revokedAt\":null}");
    key.valid_until = APR_INT64_C(1767225602000000);
    w = pay_writer_make(64, unit_pool);
    pay_api_key_to_json(w, NULL, &key);
    ck_assert_ptr_nonnull(strstr(w->text, "\"revokedAt\":\"2026-01-01T00:00:02.000Z\"}"));
    key.revoked_at = APR_INT64_C(1767225601000000);
    w = pay_writer_make(64, unit_pool);
    pay_api_key_to_json(w, NULL, &key);
    ck_assert_ptr_nonnull(strstr(w->text, "\"revokedAt\":\"2026-01-01T00:00:01.000Z\"}"));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_header, 0, UNIT_ROWS(header_cases));
    tcase_add_loop_test(tcase, test_parse, 0, UNIT_ROWS(parse_cases));
    tcase_add_loop_test(tcase, test_make, 0, UNIT_ROWS(make_cases));
    tcase_add_test(tcase, test_make_refuses_prefix);
    tcase_add_loop_test(tcase, test_valid, 0, UNIT_ROWS(valid_cases));
    tcase_add_loop_test(tcase, test_kind, 0, UNIT_ROWS(kind_cases));
    tcase_add_test(tcase, test_json);
}

UNIT_PROGRAM(add)
