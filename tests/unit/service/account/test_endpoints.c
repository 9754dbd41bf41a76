/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "base/crypto/keyring.h"
#include "base/text/time.h"
#include "service/account/endpoints.h"
#include "store/event/endpoint.h"

#include <pthread.h>
#include <unistd.h>

#define OWNERS 4
#define ROUNDS 20

static pay_service_t service;

/* A new master key. */
static const pay_keyring_t *keyring_make(void)
{
    const char *reason;
    pay_keyring_t *ring;
    int made;

    ck_assert_int_eq(pay_keyring_load(&ring, &made, &reason,
                                      apr_pstrcat(unit_pool, unit_dir(), "/key", NULL), 1, getuid(),
                                      unit_pool),
                     APR_SUCCESS);
    return ring;
}

static void set_up(void)
{
    till_set_up();
    memset(&service, 0, sizeof(service));
    service.store = till->store;
    service.keyring = keyring_make();
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

/* The master key was lost: texts sealed with it can no longer sign, and would delay the new one. */
START_TEST(test_renew_what_does_not_open)
{
    const pay_keyring_t *lost = service.keyring, *another = keyring_make();
    const pay_scope_t *scope = &till->scopes[0];
    const pay_problem_t *problem;
    const char *first, *second;
    pay_endpoint_t *endpoint;

    ck_assert_ptr_null(
        pay_webhook_set(&endpoint, &first, &service, scope, "https://a.example/", unit_pool));
    service.keyring = another;
    problem =
        pay_webhook_renew(&endpoint, &second, &service, scope, apr_time_from_sec(60), unit_pool);
    ck_assert_int_eq(problem->status, 409);
    service.keyring = lost;
    ck_assert_ptr_null(
        pay_endpoint_find(&endpoint, &service, scope, PAY_ENDPOINT_WEBHOOK, unit_pool));
    ck_assert_str_eq(opened(scope, endpoint->secret), first);
    ck_assert_str_eq(endpoint->old_secret, "");
    service.keyring = another;
    ck_assert_ptr_null(pay_webhook_renew(&endpoint, &second, &service, scope, 0, unit_pool));
    ck_assert_str_eq(opened(scope, endpoint->secret), second);
}
END_TEST

typedef struct owner_t {
    pthread_barrier_t *start;
    const pay_problem_t *problem;
    const char *secret;
} owner_t;

static void *renew(void *data)
{
    owner_t *owner = data;
    pay_endpoint_t *endpoint;
    apr_pool_t *p;

    apr_pool_create(&p, NULL);
    pthread_barrier_wait(owner->start);
    owner->problem = pay_webhook_renew(&endpoint, &owner->secret, &service, &till->scopes[0],
                                       apr_time_from_sec(60), p);
    return NULL;
}

/* How many of the owners saw a secret; *has: whether one of them saw this one. */
static int shown(int *has, const owner_t *owners, const char *secret)
{
    int i, count = 0;

    *has = 0;
    for (i = 0; i < OWNERS; i++) {
        ck_assert_int_eq(owners[i].secret == NULL, owners[i].problem != NULL);
        if (owners[i].problem) {
            ck_assert_int_eq(owners[i].problem->status, 409);
        } else {
            count++;
            *has |= strcmp(owners[i].secret, secret) == 0;
        }
    }
    return count;
}

/* A secret that an owner saw signs, until another owner who had seen it renewed it. */
START_TEST(test_owners_who_renew_at_once)
{
    owner_t owners[OWNERS];
    pthread_t threads[OWNERS];
    pthread_barrier_t start;
    pay_endpoint_t *endpoint;
    const char *before;
    int i, round, has;

    ck_assert_ptr_null(pay_webhook_set(&endpoint, &before, &service, &till->scopes[0],
                                       "https://a.example/", unit_pool));
    pthread_barrier_init(&start, NULL, OWNERS);
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < OWNERS; i++) {
            owners[i] = (owner_t){.start = &start};
            ck_assert_int_eq(pthread_create(&threads[i], NULL, renew, &owners[i]), 0);
        }
        for (i = 0; i < OWNERS; i++) {
            pthread_join(threads[i], NULL);
        }
        ck_assert_ptr_null(pay_endpoint_find(&endpoint, &service, &till->scopes[0],
                                             PAY_ENDPOINT_WEBHOOK, unit_pool));
        if (shown(&has, owners, opened(&till->scopes[0], endpoint->old_secret)) == 1) {
            ck_assert_str_eq(opened(&till->scopes[0], endpoint->old_secret), before);
        } else {
            ck_assert_int_eq(has, 1);
        }
        before = opened(&till->scopes[0], endpoint->secret);
        ck_assert_int_ge(shown(&has, owners, before), 1);
        ck_assert_int_eq(has, 1);
    }
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

/* The endpoint of both modes; NULL: neither was ever set. */
static const pay_endpoint_t *mail_of(apr_uint32_t account, pay_endpoint_kind_t kind)
{
    pay_endpoint_t *found[PAY_MODE_COUNT];
    pay_scope_t scope = {.account = account};
    int mode;

    for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
        scope.mode = (pay_mode_t)mode;
        ck_assert_ptr_null(pay_endpoint_find(&found[mode], &service, &scope, kind, unit_pool));
    }
    ck_assert_int_eq(found[PAY_TEST] != NULL, found[PAY_LIVE] != NULL);
    if (found[PAY_TEST]) {
        ck_assert_int_eq(found[PAY_TEST]->enabled, found[PAY_LIVE]->enabled);
        ck_assert_str_eq(found[PAY_TEST]->address, found[PAY_LIVE]->address);
    }
    return found[PAY_TEST];
}

static const pay_problem_t *mail_set(int notices, const char *address, int receipts, apr_pool_t *p)
{
    const pay_mail_settings_t settings = {notices, address, receipts, NULL};

    return pay_mail_set(&service, till->scopes[1].account, &settings, p);
}

START_TEST(test_mail)
{
    const apr_uint32_t account = till->scopes[1].account;
    const pay_endpoint_t *endpoint;

    ck_assert_ptr_null(mail_set(-1, NULL, -1, unit_pool));
    ck_assert_ptr_null(mail_set(0, NULL, 0, unit_pool));
    ck_assert_ptr_null(mail_of(account, PAY_ENDPOINT_NOTICE)); /* never on, so not switched off */
    ck_assert_ptr_null(mail_set(1, "shop@example.com", -1, unit_pool));
    ck_assert_int_eq(mail_of(account, PAY_ENDPOINT_NOTICE)->enabled, 1);
    ck_assert_ptr_null(mail_of(account, PAY_ENDPOINT_RECEIPT));
    ck_assert_ptr_null(mail_set(0, NULL, -1, unit_pool));
    endpoint = mail_of(account, PAY_ENDPOINT_NOTICE);
    ck_assert_int_eq(endpoint->enabled, 0);
    ck_assert_str_eq(endpoint->address, "shop@example.com");
    ck_assert_ptr_null(mail_set(-1, NULL, 1, unit_pool));
    ck_assert_int_eq(mail_of(account, PAY_ENDPOINT_RECEIPT)->enabled, 1);
    ck_assert_int_eq(mail_of(account, PAY_ENDPOINT_NOTICE)->enabled, 0);
}
END_TEST

/* They are of Test Mode alone, may be set before receipts are switched on, and switch nothing. */
START_TEST(test_mail_recipients)
{
    pay_mail_settings_t settings = {-1, NULL, -1, "ada@shop.example @test.example"};
    const apr_uint32_t account = till->scopes[1].account;
    const pay_scope_t test = {account, PAY_TEST}, live = {account, PAY_LIVE};
    pay_endpoint_t *endpoint;

    ck_assert_ptr_null(pay_mail_set(&service, account, &settings, unit_pool));
    ck_assert_ptr_null(
        pay_endpoint_find(&endpoint, &service, &test, PAY_ENDPOINT_RECEIPT, unit_pool));
    ck_assert_int_eq(endpoint->enabled, 0);
    ck_assert_str_eq(endpoint->recipients, settings.test_recipients);
    ck_assert_ptr_null(mail_set(-1, NULL, 1, unit_pool));
    ck_assert_int_eq(mail_of(account, PAY_ENDPOINT_RECEIPT)->enabled, 1);
    ck_assert_str_eq(mail_of(account, PAY_ENDPOINT_RECEIPT)->recipients, settings.test_recipients);
    ck_assert_ptr_null(
        pay_endpoint_find(&endpoint, &service, &live, PAY_ENDPOINT_RECEIPT, unit_pool));
    ck_assert_str_eq(endpoint->recipients, "");
    settings.test_recipients = "";
    ck_assert_ptr_null(pay_mail_set(&service, account, &settings, unit_pool));
    ck_assert_int_eq(mail_of(account, PAY_ENDPOINT_RECEIPT)->enabled, 1);
    ck_assert_str_eq(mail_of(account, PAY_ENDPOINT_RECEIPT)->recipients, "");
}
END_TEST

/* The last endpoint to be written is damaged: the others stay as they are. */
START_TEST(test_mail_is_all_or_nothing)
{
    const apr_uint32_t account = till->scopes[1].account;
    const pay_scope_t live = {account, PAY_LIVE};
    const pay_endpoint_t *endpoint;
    const pay_problem_t *problem;
    pay_store_key_t key;

    ck_assert_ptr_null(mail_set(1, "shop@example.com", -1, unit_pool));
    pay_store_endpoint_key(&key, &live, PAY_ENDPOINT_RECEIPT);
    till_plant(PAY_TABLE_ENDPOINT, &key, "x", 1);
    problem = mail_set(1, "other@example.com", 1, unit_pool);
    ck_assert_ptr_nonnull(problem);
    ck_assert_int_ge(problem->status, 500);
    endpoint = mail_of(account, PAY_ENDPOINT_NOTICE);
    ck_assert_str_eq(endpoint->address, "shop@example.com");
}
END_TEST

typedef struct saver_t {
    pthread_barrier_t *start;
    const char *address; /* NULL: no notices */
    const pay_problem_t *problem;
} saver_t;

static void *save(void *data)
{
    saver_t *saver = data;
    apr_pool_t *p;
    int i;

    apr_pool_create(&p, NULL);
    pthread_barrier_wait(saver->start);
    for (i = 0; i < ROUNDS && !saver->problem; i++) {
        saver->problem = mail_set(saver->address != NULL, saver->address, i % 2, p);
    }
    return NULL;
}

/* The last one to save decides for both modes, which mail_of checks. */
START_TEST(test_savers_of_mail_at_once)
{
    const apr_uint32_t account = till->scopes[1].account;
    saver_t savers[OWNERS] = {
        {.address = "a@example.com"}, {.address = "b@example.com"}, {.address = NULL}};
    pthread_t threads[OWNERS];
    pthread_barrier_t start;
    int i, round;

    pthread_barrier_init(&start, NULL, OWNERS);
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < OWNERS; i++) {
            savers[i].start = &start;
            ck_assert_int_eq(pthread_create(&threads[i], NULL, save, &savers[i]), 0);
        }
        for (i = 0; i < OWNERS; i++) {
            pthread_join(threads[i], NULL);
            ck_assert_ptr_null(savers[i].problem);
        }
        ck_assert_ptr_nonnull(mail_of(account, PAY_ENDPOINT_NOTICE));
        ck_assert_ptr_nonnull(mail_of(account, PAY_ENDPOINT_RECEIPT));
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_webhook, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_renew);
    tcase_add_test(tcase, test_renew_what_does_not_open);
    tcase_add_test(tcase, test_owners_who_renew_at_once);
    tcase_add_loop_test(tcase, test_url, 0, UNIT_ROWS(url_cases));
    tcase_add_test(tcase, test_url_length);
    tcase_add_test(tcase, test_no_master_key);
    tcase_add_test(tcase, test_mail);
    tcase_add_test(tcase, test_mail_recipients);
    tcase_add_test(tcase, test_mail_is_all_or_nothing);
    tcase_add_test(tcase, test_savers_of_mail_at_once);
}

UNIT_PROGRAM(add)
