/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "base/pay_keyring.h"
#include "base/pay_time.h"
#include "service/pay_endpoints.h"

#include <unistd.h>

static pay_service_t service;

static void set_up(void)
{
    const char *reason;
    pay_keyring_t *ring;
    int made;

    till_set_up();
    memset(&service, 0, sizeof(service));
    service.store = till->store;
    ck_assert_int_eq(pay_keyring_load(&ring, &made, &reason,
                                      apr_pstrcat(unit_pool, unit_dir(), "/key", NULL), 1, getuid(),
                                      unit_pool),
                     APR_SUCCESS);
    service.keyring = ring;
}

static const char *opened(const pay_scope_t *scope, const char *sealed)
{
    const char *text;

    ck_assert_int_eq(pay_keyring_open(&text, service.keyring,
                                      pay_endpoint_secret_context(scope, unit_pool), sealed,
                                      unit_pool),
                     APR_SUCCESS);
    return text;
}

START_TEST(test_webhook)
{
    const pay_scope_t *scope = &till->scopes[_i];
    pay_endpoint_t *endpoint;
    const char *first, *secret;
    int i;

    ck_assert_ptr_null(pay_webhook_set(&endpoint, &secret, &service, scope, NULL, unit_pool));
    ck_assert_ptr_null(endpoint); /* there was nothing to switch off */
    ck_assert_ptr_null(
        pay_webhook_set(&endpoint, &first, &service, scope, "https://a.example/x", unit_pool));
    ck_assert_int_eq(endpoint->enabled, 1);
    ck_assert_str_eq(endpoint->address, "https://a.example/x");
    ck_assert_str_eq(opened(scope, endpoint->secret), first);
    ck_assert_ptr_null(
        pay_webhook_set(&endpoint, &secret, &service, scope, "https://b.example/", unit_pool));
    ck_assert_ptr_null(secret);
    ck_assert_str_eq(opened(scope, endpoint->secret), first);
    ck_assert_ptr_null(pay_webhook_set(&endpoint, &secret, &service, scope, NULL, unit_pool));
    ck_assert_int_eq(endpoint->enabled, 0);
    ck_assert_str_eq(endpoint->address, "https://b.example/");
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_ptr_null(pay_endpoint_find(&endpoint, &service, &till->scopes[i],
                                             PAY_ENDPOINT_WEBHOOK, unit_pool));
        ck_assert_int_eq(endpoint != NULL, i == _i);
    }
}
END_TEST

START_TEST(test_renew)
{
    const pay_scope_t *scope = &till->scopes[0];
    const pay_problem_t *problem;
    const char *first, *second, *third;
    pay_endpoint_t *endpoint;

    problem = pay_webhook_renew(&endpoint, &second, &service, scope, 0, unit_pool);
    ck_assert_int_eq(problem->status, 409);
    ck_assert_ptr_null(
        pay_webhook_set(&endpoint, &first, &service, scope, "https://a.example/", unit_pool));
    ck_assert_ptr_null(
        pay_webhook_renew(&endpoint, &second, &service, scope, apr_time_from_sec(60), unit_pool));
    ck_assert_str_ne(first, second);
    ck_assert_str_eq(opened(scope, endpoint->secret), second);
    ck_assert_str_eq(opened(scope, endpoint->old_secret), first);
    ck_assert_int_eq(endpoint->old_secret_until, pay_time_now() + apr_time_from_sec(60));
    ck_assert_ptr_null(pay_webhook_renew(&endpoint, &third, &service, scope, 0, unit_pool));
    ck_assert_str_eq(opened(scope, endpoint->secret), third);
    ck_assert_str_eq(endpoint->old_secret, "");
}
END_TEST

static const struct {
    const char *name;
    const char *url;
    int status; /* 0: well */
} url_cases[] = {
    {"https", "https://a.example/", 0},
    {"http, judged when it is called", "http://a.example/", 0},
    {"another scheme", "ftp://a.example/", 400},
    {"no host", "https:///", 400},
    {"nothing", "", 400},
};

START_TEST(test_url)
{
    const pay_problem_t *problem;
    pay_endpoint_t *endpoint;
    const char *secret;

    problem = pay_webhook_set(&endpoint, &secret, &service, &till->scopes[0], url_cases[_i].url,
                              unit_pool);
    ck_assert_msg((problem ? problem->status : 0) == url_cases[_i].status, "%s",
                  url_cases[_i].name);
}
END_TEST

START_TEST(test_url_length)
{
    char url[PAY_ENDPOINT_ADDRESS_MAX + 2];
    pay_endpoint_t *endpoint;
    const char *secret;

    memset(url, 'x', sizeof(url) - 1);
    memcpy(url, "https://a.example/", 18);
    url[PAY_ENDPOINT_ADDRESS_MAX + 1] = '\0';
    ck_assert_ptr_nonnull(
        pay_webhook_set(&endpoint, &secret, &service, &till->scopes[0], url, unit_pool));
    url[PAY_ENDPOINT_ADDRESS_MAX] = '\0';
    ck_assert_ptr_null(
        pay_webhook_set(&endpoint, &secret, &service, &till->scopes[0], url, unit_pool));
}
END_TEST

START_TEST(test_no_master_key)
{
    const pay_problem_t *problem;
    pay_endpoint_t *endpoint;
    const char *secret;

    service.keyring = NULL;
    problem = pay_webhook_set(&endpoint, &secret, &service, &till->scopes[0], "https://a.example/",
                              unit_pool);
    ck_assert_int_eq(problem->status, 503);
    ck_assert_ptr_null(
        pay_endpoint_find(&endpoint, &service, &till->scopes[0], PAY_ENDPOINT_WEBHOOK, unit_pool));
    ck_assert_ptr_null(endpoint);
}
END_TEST

START_TEST(test_mail)
{
    const pay_scope_t *scope = &till->scopes[1];
    pay_endpoint_t *endpoint;

    ck_assert_ptr_null(pay_mail_switch(&service, scope, PAY_ENDPOINT_NOTICE, 0, NULL, unit_pool));
    ck_assert_ptr_null(
        pay_endpoint_find(&endpoint, &service, scope, PAY_ENDPOINT_NOTICE, unit_pool));
    ck_assert_ptr_null(endpoint); /* what was never on is not switched off */
    ck_assert_ptr_null(
        pay_mail_switch(&service, scope, PAY_ENDPOINT_NOTICE, 1, "shop@example.com", unit_pool));
    ck_assert_ptr_null(pay_mail_switch(&service, scope, PAY_ENDPOINT_NOTICE, 0, NULL, unit_pool));
    ck_assert_ptr_null(
        pay_endpoint_find(&endpoint, &service, scope, PAY_ENDPOINT_NOTICE, unit_pool));
    ck_assert_int_eq(endpoint->enabled, 0);
    ck_assert_str_eq(endpoint->address, "shop@example.com");
    ck_assert_ptr_null(pay_mail_switch(&service, scope, PAY_ENDPOINT_RECEIPT, 1, NULL, unit_pool));
    ck_assert_ptr_null(
        pay_endpoint_find(&endpoint, &service, scope, PAY_ENDPOINT_RECEIPT, unit_pool));
    ck_assert_int_eq(endpoint->enabled, 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_webhook, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_renew);
    tcase_add_loop_test(tcase, test_url, 0, UNIT_ROWS(url_cases));
    tcase_add_test(tcase, test_url_length);
    tcase_add_test(tcase, test_no_master_key);
    tcase_add_test(tcase, test_mail);
}

int main(void)
{
    return unit_run("endpoints", add);
}
