/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/rates.h"

#include "request.h"

/* Buckets that stay empty for the time of a test. */
#define ONE_AN_HOUR "1/h burst=1"

typedef const pay_problem_t *judge_t(request_rec *r);

static request_rec *request_of(server_rec *s, const char *address)
{
    request_rec *r = request_make(s);

    request_come_from(r, address);
    return r;
}

static server_rec *server_with(const char *directive, const char *value)
{
    server_rec *s = request_server();

    stand_in = (stand_in_t){.logged = 0};
    pay_rates_share(s, unit_pool);
    if (directive) {
        request_set(s, directive, value);
    }
    return s;
}

/* ---- of addresses */

static const struct {
    const char *name;
    const char *first, *second;
    int share;
} address_rows[] = {
    {"the same", "203.0.113.7", "203.0.113.7", 1},
    {"a neighbour", "203.0.113.7", "203.0.113.8", 0},
    {"mapped", "203.0.113.7", "::ffff:203.0.113.7", 1},
    {"a mapped neighbour", "203.0.113.7", "::ffff:203.0.113.8", 0},
    {"one subscriber of IPv6", "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", 1},
    {"another one", "2001:db8:1:2::1", "2001:db8:1:3::1", 0},
};

START_TEST(test_addresses)
{
    server_rec *s = server_with("PaymentsAuthFailureLimit", ONE_AN_HOUR);
    const pay_problem_t *problem;

    ck_assert_ptr_null(pay_rates_judge_failure(request_of(s, address_rows[_i].first)));
    problem = pay_rates_judge_failure(request_of(s, address_rows[_i].second));
    ck_assert_msg(!problem == !address_rows[_i].share, "%s", address_rows[_i].name);
    if (problem) {
        ck_assert_int_eq(problem->status, HTTP_TOO_MANY_REQUESTS);
        ck_assert_int_gt(problem->retry_after, 3590);
        ck_assert_int_le(problem->retry_after, 3600);
        ck_assert_int_eq(stand_in.logged, 1);
    }
}
END_TEST

/* The address as mod_remoteip has left it. */
START_TEST(test_the_asker_counts)
{
    server_rec *s = server_with("PaymentsAuthFailureLimit", ONE_AN_HOUR);
    request_rec *r = request_of(s, "10.0.0.1");

    r->useragent_addr = request_address("203.0.113.7");
    ck_assert_ptr_null(pay_rates_judge_failure(r));
    ck_assert_ptr_null(pay_rates_judge_failure(request_of(s, "10.0.0.1")));
    ck_assert_ptr_nonnull(pay_rates_judge_failure(request_of(s, "203.0.113.7")));
}
END_TEST

/* No kind takes the remaining tokens of another. */
static const struct {
    const char *name;
    judge_t *judge;
    const char *directive, *value;
    int let_in; /* so many */
    const char *off;
} kind_rows[] = {
    {"failures", pay_rates_judge_failure, "PaymentsAuthFailureLimit", "1/h burst=3", 3, "off"},
    {"pages", pay_rates_judge_page, "PaymentsRateLimit", "public 1/h burst=3", 3, "public off"},
    {"sign-ins", pay_rates_judge_sign_in, "PaymentsAuthFailureLimit", "1/h burst=3", 100, "off"},
    {"many sign-ins", pay_rates_judge_sign_in, "PaymentsAuthFailureLimit", "60/h burst=101", 101,
     "off"},
};

START_TEST(test_kinds)
{
    server_rec *s = server_with(kind_rows[_i].directive, kind_rows[_i].value);
    int i, kind;

    for (i = 0; i < kind_rows[_i].let_in; i++) {
        ck_assert_msg(!kind_rows[_i].judge(request_of(s, REQUEST_CLIENT)), "%s: %d",
                      kind_rows[_i].name, i);
    }
    for (i = 0; i < 3; i++) {
        ck_assert_msg(kind_rows[_i].judge(request_of(s, REQUEST_CLIENT)) != NULL, "%s",
                      kind_rows[_i].name);
    }
    ck_assert_int_eq(stand_in.logged, 1); /* not three times */
    for (kind = 0; kind < UNIT_ROWS(kind_rows); kind++) {
        ck_assert_int_eq(!kind_rows[kind].judge(request_of(s, REQUEST_CLIENT)),
                         kind_rows[kind].judge != kind_rows[_i].judge);
    }
    request_set(s, kind_rows[_i].directive, kind_rows[_i].off);
    ck_assert_ptr_null(kind_rows[_i].judge(request_of(s, REQUEST_CLIENT)));
}
END_TEST

/* A browser sends many requests at a time, and each counts until it is let in. */
START_TEST(test_who_signs_in_is_given_back)
{
    server_rec *s = server_with("PaymentsAuthFailureLimit", ONE_AN_HOUR);
    request_rec *r = request_of(s, REQUEST_CLIENT);
    int i;

    for (i = 0; i < 150; i++) {
        ck_assert_ptr_null(pay_rates_judge_sign_in(r));
        pay_rates_signed_in(r);
    }
    for (i = 0; i < 100; i++) {
        ck_assert_ptr_null(pay_rates_judge_sign_in(r));
    }
    ck_assert_ptr_nonnull(pay_rates_judge_sign_in(r));
}
END_TEST

/* ---- of keys */

static pay_api_key_t *key_of(pay_key_kind_t kind, int number)
{
    pay_api_key_t *key = apr_pcalloc(unit_pool, sizeof(*key));

    key->id = "key_x";
    key->kind = kind;
    key->digest[PAY_SHA256_LEN - 1] = (unsigned char)number;
    return key;
}

static int may_call(server_rec *s, const pay_api_key_t *key, const char *address)
{
    const pay_call_t call = {.key = key};

    return !pay_rates_judge_call(request_of(s, address), &call);
}

/* A secret key is one caller from any address; a public one is everybody's. */
START_TEST(test_keys)
{
    server_rec *s = server_with("PaymentsRateLimit", "secret " ONE_AN_HOUR);
    const pay_api_key_t *secret = key_of(PAY_KEY_SECRET, 1);
    const pay_api_key_t *public = key_of(PAY_KEY_PUBLIC, 1);

    request_set(s, "PaymentsRateLimit", "public 1/h burst=2");
    ck_assert(may_call(s, secret, "203.0.113.7"));
    ck_assert(!may_call(s, secret, "203.0.113.7"));
    ck_assert(!may_call(s, secret, "203.0.113.8"));
    ck_assert(may_call(s, key_of(PAY_KEY_SECRET, 2), "203.0.113.7"));
    ck_assert(may_call(s, public, "203.0.113.7"));
    ck_assert(may_call(s, public, "203.0.113.7"));
    ck_assert(!may_call(s, public, "203.0.113.7"));
    ck_assert(may_call(s, public, "203.0.113.8"));
    ck_assert(may_call(s, key_of(PAY_KEY_PUBLIC, 2), "203.0.113.7"));
    ck_assert_int_eq(stand_in.logged, 2);
}
END_TEST

START_TEST(test_total_of_a_public_key)
{
    server_rec *s = server_with("PaymentsRateLimit", "public 1/h burst=1");
    const pay_api_key_t *public = key_of(PAY_KEY_PUBLIC, 1);

    request_set(s, "PaymentsRateLimit", "public-total 1/h burst=2");
    ck_assert(may_call(s, public, "203.0.113.1"));
    ck_assert(!may_call(s, public, "203.0.113.1")); /* which takes nothing of the others' tokens */
    ck_assert(may_call(s, public, "203.0.113.2"));
    ck_assert(!may_call(s, public, "203.0.113.3"));
    ck_assert_ptr_nonnull(strstr(stand_in.log, "public-total"));
    ck_assert(may_call(s, key_of(PAY_KEY_PUBLIC, 2), "203.0.113.3"));
    ck_assert(may_call(s, key_of(PAY_KEY_SECRET, 1), "203.0.113.3"));
    request_set(s, "PaymentsRateLimit", "public-total off");
    ck_assert(may_call(s, public, "203.0.113.4"));
}
END_TEST

/* ---- of people */

START_TEST(test_people)
{
    server_rec *s = server_with(NULL, NULL);
    request_rec *r = request_of(s, REQUEST_CLIENT);
    const unsigned char ada[PAY_SHA256_LEN] = {1}, bob[PAY_SHA256_LEN] = {2};
    int i;

    for (i = 0; i < 5; i++) {
        ck_assert_ptr_null(pay_rates_judge_confirmation(r, ada));
        ck_assert_ptr_null(pay_rates_judge_code(r, ada));
    }
    ck_assert_int_eq(stand_in.logged, 0);
    ck_assert_int_eq(pay_rates_judge_confirmation(r, ada)->retry_after, 300);
    ck_assert_ptr_nonnull(strstr(stand_in.log, "wrong passwords"));
    ck_assert_int_eq(pay_rates_judge_code(r, ada)->retry_after, 60);
    ck_assert_ptr_nonnull(strstr(stand_in.log, "codes to confirm"));
    ck_assert_int_eq(stand_in.logged, 2);
    ck_assert_ptr_null(pay_rates_judge_confirmation(r, bob));
    ck_assert_ptr_null(pay_rates_judge_code(r, bob));
    pay_rates_confirmed(ada);
    ck_assert_ptr_null(pay_rates_judge_confirmation(r, ada));
    ck_assert_ptr_nonnull(pay_rates_judge_confirmation(r, ada));
    for (i = 0; i < 30; i++) {
        ck_assert_ptr_null(pay_rates_judge_export(r, ada));
    }
    ck_assert_int_eq(stand_in.logged, 2);
    ck_assert_int_eq(pay_rates_judge_export(r, ada)->retry_after, 180);
    ck_assert_ptr_nonnull(strstr(stand_in.log, "exports from the dashboard"));
    ck_assert_int_eq(stand_in.logged, 3);
    ck_assert_ptr_null(pay_rates_judge_export(r, bob));
}
END_TEST

START_TEST(test_entries_of_the_audit)
{
    server_rec *s = server_with(NULL, NULL);
    request_rec *r = request_of(s, REQUEST_CLIENT);
    int i;

    for (i = 0; i < 10; i++) {
        ck_assert_int_eq(pay_rates_judge_refusal_entry(r, 1), 1);
    }
    ck_assert_int_eq(pay_rates_judge_refusal_entry(r, 1), 0);
    ck_assert_int_eq(pay_rates_judge_refusal_entry(r, 2), 1);
    ck_assert_int_eq(stand_in.logged, 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_addresses, 0, UNIT_ROWS(address_rows));
    tcase_add_test(tcase, test_the_asker_counts);
    tcase_add_loop_test(tcase, test_kinds, 0, UNIT_ROWS(kind_rows));
    tcase_add_test(tcase, test_who_signs_in_is_given_back);
    tcase_add_test(tcase, test_keys);
    tcase_add_test(tcase, test_total_of_a_public_key);
    tcase_add_test(tcase, test_people);
    tcase_add_test(tcase, test_entries_of_the_audit);
}

UNIT_PROGRAM(add)
