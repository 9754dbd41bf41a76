/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/key_usage.h"
#include "shop.h"

#define LONG_ENOUGH "abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnop"

static shop_t *shop;

static const pay_problem_t *authenticate(const pay_api_key_t **key, const char *header)
{
    int given;

    return pay_key_authenticate(key, &given, &shop->service, header, unit_pool);
}

static const struct {
    const char *name;
    const char *format; /* of the header, NULL: none */
    int given;
    int ok;
} header_cases[] = {
    {"bearer", "Bearer %s", 1, 1},
    {"colon", "Bearer: %s", 1, 1},
    {"bare", "%s", 1, 1},
    {"any case", "bEaReR %s", 1, 1},
    {"none", NULL, 0, 0},
    {"empty", "", 0, 0},
    {"blank", "  \t", 0, 0},
    {"the scheme alone", "Bearer", 1, 0},
    {"another scheme", "Basic %s", 1, 0},
    {"two", "Bearer %s, x", 1, 0},
    {"one character more", "Bearer %sa", 1, 0},
    {"unknown", "Bearer pay_testsk_" LONG_ENOUGH, 1, 0},
};

START_TEST(test_header)
{
    const char *name = header_cases[_i].name, *header = NULL, *text;
    const pay_problem_t *problem;
    const pay_api_key_t *key;
    pay_api_key_t *issued;
    int given;

    shop = shop_open(unit_dir());
    ck_assert_ptr_null(pay_key_issue(&issued, &text, &shop->service, shop->account, PAY_TEST,
                                     PAY_KEY_SECRET, unit_pool));
    if (header_cases[_i].format) {
        const char *at = strstr(header_cases[_i].format, "%s");

        header = at ? apr_pstrcat(unit_pool,
                                  apr_pstrmemdup(unit_pool, header_cases[_i].format,
                                                 (apr_size_t)(at - header_cases[_i].format)),
                                  text, at + 2, NULL)
                    : header_cases[_i].format;
    }
    problem = pay_key_authenticate(&key, &given, &shop->service, header, unit_pool);
    ck_assert_msg(given == header_cases[_i].given, "%s: given %d", name, given);
    if (header_cases[_i].ok) {
        ck_assert_msg(problem == NULL, "%s: a problem", name);
        ck_assert_str_eq(key->id, issued->id);
        ck_assert_str_eq(key->account->name, "demo");
    } else {
        shop_check_problem(name, problem, 401, "B01");
        ck_assert_ptr_null(key);
    }
}
END_TEST

START_TEST(test_issue)
{
    const pay_api_key_t *key;
    pay_api_key_t *issued;
    pay_key_kind_t kind;
    pay_mode_t mode;
    const char *text;
    int i;

    shop = shop_open(unit_dir());
    for (i = 0; i < 4; i++) {
        ck_assert_ptr_null(pay_key_issue(&issued, &text, &shop->service, shop->account,
                                         (pay_mode_t)(i % 2), (pay_key_kind_t)(i / 2), unit_pool));
        ck_assert_int_eq(strncmp(text, "pay_", 4), 0);
        ck_assert_int_eq(strncmp(issued->id, "key_", 4), 0);
        ck_assert_int_eq(pay_api_key_parse(&mode, &kind, text), APR_SUCCESS);
        ck_assert_int_eq(mode, i % 2);
        ck_assert_int_eq(kind, i / 2);
        ck_assert_ptr_null(authenticate(&key, text));
        ck_assert_str_eq(key->id, issued->id);
        ck_assert_int_eq(key->scope.mode, i % 2);
        ck_assert_int_eq(key->kind, i / 2);
    }
}
END_TEST

START_TEST(test_account_of_the_host)
{
    const pay_api_key_t *key;
    pay_api_key_t *issued;
    const char *text;

    shop = shop_open(unit_dir());
    ck_assert_ptr_null(pay_key_issue(&issued, &text, &shop->service, shop->account, PAY_TEST,
                                     PAY_KEY_PUBLIC, unit_pool));
    shop->service.account_name = "demo";
    ck_assert_ptr_null(authenticate(&key, text));
    shop->service.account_name = "demo2";
    shop_check_problem("another host", authenticate(&key, text), 401, "B01");
    ck_assert_ptr_null(key);
}
END_TEST

START_TEST(test_revoked)
{
    const pay_api_key_t *key;
    pay_api_key_t *issued;
    const char *text;

    shop = shop_open(unit_dir());
    ck_assert_ptr_null(pay_key_issue(&issued, &text, &shop->service, shop->account, PAY_TEST,
                                     PAY_KEY_SECRET, unit_pool));
    ck_assert_int_eq(pay_store_key_revoke(&issued, shop->store, issued->id, 0, unit_pool),
                     APR_SUCCESS);
    shop_check_problem("revoked", authenticate(&key, text), 401, "B01");
    shop_clock_set(apr_time_from_sec(1000000000));
    shop_check_problem("the clock stepped back", authenticate(&key, text), 401, "B01");
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    pay_mode_t mode;
    pay_key_kind_t kind;
    int ok;
} import_cases[] = {
    {"live secret", "nc_livesk_" LONG_ENOUGH, PAY_LIVE, PAY_KEY_SECRET, 1},
    {"test public", "nc_testpk_" LONG_ENOUGH, PAY_TEST, PAY_KEY_PUBLIC, 1},
    {"another mode", "nc_livesk_" LONG_ENOUGH, PAY_TEST, PAY_KEY_SECRET, 0},
    {"another kind", "nc_livesk_" LONG_ENOUGH, PAY_LIVE, PAY_KEY_PUBLIC, 0},
    {"no key", "swordfish", PAY_LIVE, PAY_KEY_SECRET, 0},
    {"empty", "", PAY_LIVE, PAY_KEY_SECRET, 0},
};

START_TEST(test_import)
{
    const char *name = import_cases[_i].name;
    const pay_problem_t *problem;
    const pay_api_key_t *key;
    pay_api_key_t *imported;

    shop = shop_open(unit_dir());
    problem = pay_key_import(&imported, &shop->service, shop->account, import_cases[_i].mode,
                             import_cases[_i].kind, import_cases[_i].text, unit_pool);
    if (!import_cases[_i].ok) {
        shop_check_problem(name, problem, 400, "T1");
        ck_assert_str_eq(shop_fields(problem), "/key");
        ck_assert_ptr_null(imported);
        return;
    }
    ck_assert_msg(problem == NULL, "%s: a problem", name);
    ck_assert_ptr_null(authenticate(&key, import_cases[_i].text));
    ck_assert_str_eq(key->id, imported->id);
    shop_check_problem(name,
                       pay_key_import(&imported, &shop->service, shop->account,
                                      import_cases[_i].mode, import_cases[_i].kind,
                                      import_cases[_i].text, unit_pool),
                       409, "D1");
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t overlap;
    apr_interval_time_t later; /* when both keys are tried */
    int old_works;
} rotate_cases[] = {
    {"no overlap", 0, 0, 0},
    {"within", apr_time_from_sec(3600), apr_time_from_sec(3599), 1},
    {"past", apr_time_from_sec(3600), apr_time_from_sec(3601), 0},
    {"no overlap, and the clock steps back", 0, -apr_time_from_sec(3600), 0},
};

START_TEST(test_rotate)
{
    const char *name = rotate_cases[_i].name, *old_text, *text;
    apr_time_t start = apr_time_from_sec(1800000000);
    const pay_api_key_t *key;
    const apr_interval_time_t overlap = rotate_cases[_i].overlap;
    pay_api_key_t *old, *successor, *ended;

    shop_clock_set(start);
    shop = shop_open(unit_dir());
    ck_assert_ptr_null(pay_key_issue(&old, &old_text, &shop->service, shop->account, PAY_LIVE,
                                     PAY_KEY_PUBLIC, unit_pool));
    ck_assert_ptr_null(pay_key_rotate(&successor, &ended, &text, &shop->service, shop->account,
                                      old->id, overlap, unit_pool));
    ck_assert_str_eq(ended->id, old->id);
    ck_assert_int_eq(ended->valid_until, overlap ? start + overlap : 0);
    ck_assert_int_eq(ended->revoked_at, overlap ? 0 : start);
    shop_clock_set(start + rotate_cases[_i].later);
    ck_assert_ptr_null(authenticate(&key, text));
    ck_assert_str_eq(key->id, successor->id);
    ck_assert_str_ne(key->id, old->id);
    ck_assert_int_eq(key->scope.mode, PAY_LIVE);
    ck_assert_int_eq(key->kind, PAY_KEY_PUBLIC);
    ck_assert_msg((authenticate(&key, old_text) == NULL) == rotate_cases[_i].old_works, "%s", name);
}
END_TEST

START_TEST(test_rotate_refused)
{
    pay_account_t other = {.number = 99};
    const char *text = "left";
    pay_api_key_t *key, *out, *old;

    shop = shop_open(unit_dir());
    key = shop_key(shop, PAY_TEST);
    old = key;
    shop_check_problem(
        "unknown",
        pay_key_rotate(&out, &old, &text, &shop->service, NULL, "key_unknown", 0, unit_pool), 404,
        "N1");
    ck_assert_ptr_null(text);
    ck_assert_ptr_null(old);
    shop_check_problem(
        "another account's",
        pay_key_rotate(&out, &old, &text, &shop->service, &other, key->id, 0, unit_pool), 404,
        "N1");
    shop_check_problem("another account's",
                       pay_key_revoke(&out, &shop->service, &other, key->id, unit_pool), 404, "N1");
    ck_assert_ptr_null(pay_key_revoke(&out, &shop->service, shop->account, key->id, unit_pool));
    shop_check_problem(
        "revoked", pay_key_rotate(&out, &old, &text, &shop->service, NULL, key->id, 0, unit_pool),
        409, "D1");
    ck_assert_ptr_null(text);
}
END_TEST

static pay_api_key_t *other_key;

static apr_status_t find_other(pay_api_key_t **out, pay_store_t *store,
                               const unsigned char digest[PAY_SHA256_LEN], apr_pool_t *p)
{
    (void)store, (void)digest, (void)p;
    *out = other_key;
    return APR_SUCCESS;
}

static apr_status_t find_fails(pay_api_key_t **out, pay_store_t *store,
                               const unsigned char digest[PAY_SHA256_LEN], apr_pool_t *p)
{
    (void)store, (void)digest, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

START_TEST(test_store_is_not_trusted)
{
    const char *header = "Bearer pay_testsk_" LONG_ENOUGH;
    const pay_api_key_t *key;

    shop = shop_open(unit_dir());
    other_key = shop_key(shop, PAY_TEST);
    store_script.key_find = find_other;
    shop_check_problem("another digest", authenticate(&key, header), 401, "B01");
    store_script.key_find = find_fails;
    shop_check_problem("down", authenticate(&key, header), 503, "E2");
    ck_assert_ptr_null(key);
}
END_TEST

START_TEST(test_use_is_noted)
{
    apr_time_t start = apr_time_from_sec(1800000007);
    const pay_api_key_t *key;
    pay_api_key_t *issued;
    const char *text;

    shop_clock_set(start);
    shop = shop_open(unit_dir());
    ck_assert_int_eq(pay_key_usage_create(&shop->service.usage, unit_pool), APR_SUCCESS);
    ck_assert_ptr_null(pay_key_issue(&issued, &text, &shop->service, shop->account, PAY_TEST,
                                     PAY_KEY_SECRET, unit_pool));
    shop->service.account_name = "another";
    shop_check_problem("refused", authenticate(&key, text), 401, "B01");
    ck_assert_int_eq(pay_key_usage_flush(shop->service.usage, shop->store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_key_get(&issued, shop->store, issued->id, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(issued->last_used_at, 0);
    shop->service.account_name = NULL;
    ck_assert_ptr_null(authenticate(&key, text));
    ck_assert_int_eq(pay_key_usage_flush(shop->service.usage, shop->store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_key_get(&issued, shop->store, issued->id, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(issued->last_used_at, start - start % apr_time_from_sec(60));
}
END_TEST

static const struct {
    const char *text;
    apr_int64_t seconds; /* -1: not valid */
} overlap_cases[] = {
    {"0s", 0},    {"90s", 90},   {"30m", 1800},       {"24h", 86400}, {"366d", 31622400},
    {"367d", -1}, {"8785h", -1}, {"9999999999s", -1}, {"0", -1},      {"h", -1},
    {"", -1},     {"-1s", -1},   {"1.5h", -1},        {"1h ", -1},    {"1H", -1},
};

START_TEST(test_overlap)
{
    const apr_int64_t want = overlap_cases[_i].seconds;
    apr_interval_time_t overlap;
    apr_status_t rv;

    rv = pay_overlap_parse(&overlap, overlap_cases[_i].text);
    ck_assert_msg(rv == (want < 0 ? APR_EINVAL : APR_SUCCESS), "%s: %d", overlap_cases[_i].text,
                  rv);
    ck_assert_msg(overlap == (want < 0 ? 0 : apr_time_from_sec(want)), "%s",
                  overlap_cases[_i].text);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_header, 0, UNIT_ROWS(header_cases));
    tcase_add_test(tcase, test_issue);
    tcase_add_test(tcase, test_account_of_the_host);
    tcase_add_test(tcase, test_revoked);
    tcase_add_loop_test(tcase, test_import, 0, UNIT_ROWS(import_cases));
    tcase_add_loop_test(tcase, test_rotate, 0, UNIT_ROWS(rotate_cases));
    tcase_add_test(tcase, test_rotate_refused);
    tcase_add_test(tcase, test_store_is_not_trusted);
    tcase_add_test(tcase, test_use_is_noted);
    tcase_add_loop_test(tcase, test_overlap, 0, UNIT_ROWS(overlap_cases));
}

UNIT_PROGRAM(add)
