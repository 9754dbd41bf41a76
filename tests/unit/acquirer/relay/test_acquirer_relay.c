/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/relay.h"

#include "acquirer/acquirer.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIVE_KEY "nc_livesk_abcdefghijklmnopqrstuvwx"
#define TEST_KEY "pay_testsk_abcdefghijklmnopqrstuvwx"
#define PUBLIC_KEY "nc_livepk_abcdefghijklmnopqrstuvwx"

/* The key's place is in `given` before the key itself: "file:..." where httpd reads it later. */
static payments_settings_t *settings(const char *url, const char *name, const char *value)
{
    payments_settings_t *out = apr_pcalloc(unit_pool, sizeof(*out));
    apr_table_t *given = apr_table_make(unit_pool, 2);

    apr_table_set(given, "key", "file:/etc/payments/relay.key");
    if (name && !value) {
        apr_table_unset(given, name);
    } else if (name) {
        apr_table_set(given, name, value);
    }
    out->struct_size = sizeof(*out);
    out->url = url;
    out->given = given;
    out->account = "demo";
    out->live = 1;
    out->timeout = apr_time_from_sec(20);
    return out;
}

static const struct {
    const char *name;
    const char *url;
    const char *parameter, *value; /* no value: the parameter is missing */
    const char *fault;             /* a part of it; NULL: valid */
} check_rows[] = {
    {"a host", "https://api.example.com", NULL, NULL, NULL},
    {"a port and a path", "https://api.example.com:8443/pay/", NULL, NULL, NULL},
    {"certificates", "https://api.example.com", "ca", "/etc/ssl/api.pem", NULL},
    {"a key", "https://api.example.com", "key", LIVE_KEY, NULL},
    {"no key", "https://api.example.com", "key", NULL, "want a secret key"},
    {"no URL", NULL, NULL, NULL, "want the upstream's URL"},
    {"an empty URL", "", NULL, NULL, "want the upstream's URL"},
    {"not encrypted", "http://api.example.com", NULL, NULL, "https"},
    {"no URL at all", "api.example.com", NULL, NULL, "https"},
    {"a password", "https://u:p@api.example.com", NULL, NULL, "no password"},
    {"a query", "https://api.example.com/?a=b", NULL, NULL, "neither a query"},
    {"an empty query", "https://api.example.com/?", NULL, NULL, "neither a query"},
    {"a fragment", "https://api.example.com/#a", NULL, NULL, "nor a fragment"},
    {"another parameter", "https://api.example.com", "keys", LIVE_KEY, "keys is not a parameter"},
    {"a relative path", "https://api.example.com", "ca", "api.pem", "absolute path"},
    {"an empty path", "https://api.example.com", "ca", "", "absolute path"},
};

START_TEST(test_check)
{
    const char *fault = pay_acquirer_relay.check(
        settings(check_rows[_i].url, check_rows[_i].parameter, check_rows[_i].value), unit_pool);
    const char *want = check_rows[_i].fault;

    if (want) {
        ck_assert_msg(fault && strstr(fault, want), "%s: %s", check_rows[_i].name, fault);
        ck_assert_ptr_null(strstr(fault, LIVE_KEY));
        ck_assert_ptr_null(strstr(fault, "u:p"));
    } else {
        ck_assert_msg(!fault, "%s: %s", check_rows[_i].name, fault);
    }
}
END_TEST

static const struct {
    const char *name;
    const char *key; /* NULL: none */
    const char *fault;
    int test; /* it is of Test Mode */
} key_rows[] = {
    {"live", LIVE_KEY, NULL, 0},
    {"test", TEST_KEY, NULL, 1},
    {"as a file has it", " " TEST_KEY " \r\n", NULL, 1},
    {"none", NULL, "key: want a secret key", 0},
    {"empty", "", "key: want a secret key", 0},
    {"a line's end", "\n", "key: want a secret key, PREFIX_livesk_", 0},
    {"public", PUBLIC_KEY, "key: want a secret key, PREFIX_livesk_", 0},
    {"no key", "secret", "key: want a secret key, PREFIX_livesk_", 0},
    {"two", LIVE_KEY "\n" LIVE_KEY, "key: want a secret key, PREFIX_livesk_", 0},
    {"a header behind it", LIVE_KEY "\r\nX: y", "key: want a secret key, PREFIX_livesk_", 0},
    {"the longest",
     "nc_livesk_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmn",
     NULL, 0},
    {"one longer",
     "nc_livesk_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmno",
     "key: want a secret key, PREFIX_livesk_", 0},
};

START_TEST(test_key)
{
    const char *key = key_rows[_i].key;
    const char *want = key_rows[_i].fault;
    const char *fault = NULL;
    void *context = NULL;
    apr_status_t rv;

    rv = pay_acquirer_relay.open(&context, &fault, settings("https://api.example.com", "key", key),
                                 unit_pool);
    if (want) {
        ck_assert_msg(rv != APR_SUCCESS && !context, "%s: opened", key_rows[_i].name);
        ck_assert_msg(fault && strstr(fault, want), "%s: %s", key_rows[_i].name, fault);
        ck_assert_ptr_null(strstr(fault, "abcdefgh"));
    } else {
        ck_assert_msg(rv == APR_SUCCESS && context && !fault, "%s: %s", key_rows[_i].name, fault);
        pay_acquirer_relay.stop(context);
    }
    if (key) {
        ck_assert_int_eq(pay_acquirer_relay_is_test_key(key), key_rows[_i].test);
    }
}
END_TEST

/* What check refuses, open refuses too. */
START_TEST(test_open_checks)
{
    const char *fault = NULL;
    void *context;

    ck_assert_int_eq(pay_acquirer_relay.open(&context, &fault,
                                             settings("http://api.example.com", "key", LIVE_KEY),
                                             unit_pool),
                     APR_EINVAL);
    ck_assert_ptr_nonnull(fault);
    ck_assert_ptr_null(context);
}
END_TEST

/* Logged at the start, not by each charge: the file exists, and this process may read it. */
START_TEST(test_certificates)
{
    const char *dir = unit_dir(), *path = apr_pstrcat(unit_pool, dir, "/ca.pem", NULL);
    payments_settings_t *given = settings("https://api.example.com", "ca", path);
    const char *fault;
    void *context;
    FILE *file;

    apr_table_set((apr_table_t *)given->given, "key", LIVE_KEY);
    ck_assert_int_eq(pay_acquirer_relay.open(&context, &fault, given, unit_pool), ENOENT);
    ck_assert_str_eq(fault,
                     apr_psprintf(unit_pool, "ca: %s cannot be read by the server's user", path));
    ck_assert_ptr_null(context);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    ck_assert_int_eq(pay_acquirer_relay.open(&context, &fault, given, unit_pool), APR_SUCCESS);
    ck_assert_ptr_nonnull(context);
}
END_TEST

START_TEST(test_table)
{
    ck_assert_ptr_null(pay_acquirer_fault(&pay_acquirer_relay, unit_pool));
    ck_assert_str_eq(pay_acquirer_relay.name, "relay");
    ck_assert_uint_eq(pay_acquirer_relay.flags, PAYMENTS_OWN_TOKENS);
    ck_assert_str_eq(pay_acquirer_relay.secrets[0], "key");
    ck_assert_ptr_null(pay_acquirer_relay.secrets[1]);
    ck_assert_ptr_nonnull((void *)pay_acquirer_relay.refund_list);
    ck_assert_ptr_nonnull((void *)pay_acquirer_relay.checkout);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_check, 0, UNIT_ROWS(check_rows));
    tcase_add_loop_test(tcase, test_key, 0, UNIT_ROWS(key_rows));
    tcase_add_test(tcase, test_open_checks);
    tcase_add_test(tcase, test_certificates);
    tcase_add_test(tcase, test_table);
}

UNIT_PROGRAM(add)
