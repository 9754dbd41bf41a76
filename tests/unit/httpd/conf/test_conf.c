/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/acquirer.h"

#include "request.h"

#include <stddef.h>

/* ---- what virtual hosts inherit from the main server */

#define MEMBER(place) offsetof(pay_conf_t, place), sizeof(((pay_conf_t *)0)->place)

/* Two values of each directive, neither of them what holds without it. */
static const struct {
    const char *directive;
    const char *main_server;
    const char *host;
    apr_size_t at, len;
} inherited[] = {
    {"PaymentsStore", "lmdb:/a", "lmdb:/b", MEMBER(store)},
    {"PaymentsStoreSize", "2G", "3G", MEMBER(options.map_bytes)},
    {"PaymentsStoreReserve", "2M", "3M", MEMBER(options.reserve_bytes)},
    {"PaymentsAccountQuota", "1000", "2000", MEMBER(options.account_rows_max)},
    {"PaymentsCheckoutKeep", "2h", "3h", MEMBER(options.checkout_keep)},
    {"PaymentsCommitBatch", "8", "9", MEMBER(options.commit_batch)},
    {"PaymentsCommitWait", "3s", "4s", MEMBER(options.commit_wait)},
    {"PaymentsAccount", "shop", "other", MEMBER(account)},
    {"PaymentsBasePath", "/a", "/b", MEMBER(base_path)},
    {"PaymentsKeyPrefix", "one", "two", MEMBER(key_prefix)},
    {"PaymentsDefaultCurrency", "USD", "EUR", MEMBER(currency)},
    {"PaymentsCurrencies", "USD NGN", "EUR", MEMBER(policy.currencies)},
    {"PaymentsTimezone", "Africa/Lagos", "Africa/Accra", MEMBER(timezone)},
    {"PaymentsMaxBody", "32K", "16K", MEMBER(body_max)},
    {"PaymentsRequireTLS", "Off", "On", MEMBER(require_tls)},
    {"PaymentsTrustedTLSProxy", "10.0.0.0/8", "192.0.2.1", MEMBER(tls_proxy)},
    {"PaymentsRefundMaxDays", "30", "31", MEMBER(policy.refund_days_max)},
    {"PaymentsAcquirerTimeout", "10s", "11s", MEMBER(policy.acquirer_timeout)},
    {"PaymentsAcquirer", "live relay https://a.example", "live relay https://b.example",
     MEMBER(acquirers)},
    {"PaymentsAcquirerMaxInFlight", "2", "3", MEMBER(in_flight_max)},
    {"PaymentsSlotWait", "1s", "2s", MEMBER(policy.slot_wait)},
    {"PaymentsAcquirerLateAfter", "2h", "3h", MEMBER(policy.late_after)},
    {"PaymentsLateApproval", "refund", "hold", MEMBER(policy.late_refund)},
    {"PaymentsPendingAlert", "2h", "3h", MEMBER(policy.pending_alert)},
    {"PaymentsRefundSync", "1h", "off", MEMBER(policy.refund_sync)},
    {"PaymentsRefundRepeatWindow", "1h", "off", MEMBER(policy.refund_repeat_window)},
    {"PaymentsRateLimit", "10/s", "secret 20/s", MEMBER(rate_limit[PAY_KEY_SECRET])},
    {"PaymentsRateLimit", "public 10/s", "public off", MEMBER(rate_limit[PAY_KEY_PUBLIC])},
    {"PaymentsRateLimit", "public-total 10/s", "public-total off", MEMBER(rate_total)},
    {"PaymentsAuthFailureLimit", "10/s", "off", MEMBER(failure_limit)},
    {"PaymentsFailureLimit", "card 7/h", "card 8/h",
     MEMBER(policy.failure_limit[PAY_TEST][PAY_FAILURE_CARD])},
    {"PaymentsFailureLimit", "card 7/h", "card 8/h",
     MEMBER(policy.failure_limit[PAY_LIVE][PAY_FAILURE_CARD])},
    {"PaymentsFailureLimit", "account 7/h", "account 8/h",
     MEMBER(policy.failure_limit[PAY_LIVE][PAY_FAILURE_ACCOUNT])},
    {"PaymentsDashboardFiles", "/a", "/b", MEMBER(dashboard_files)},
    {"PaymentsCheckoutLifetime", "2h", "3h", MEMBER(policy.checkout_lifetime)},
    {"PaymentsCheckoutURL", "https://a.example", "https://b.example", MEMBER(checkout_url)},
    {"PaymentsReturnHosts", "a.example", "b.example", MEMBER(policy.return_hosts)},
    {"PaymentsMasterKey", "file:/a.key", "file:/b.key", MEMBER(master_key)},
};

static pay_conf_t *merged(const server_rec *main_server, const server_rec *host)
{
    return pay_conf_merge(unit_pool, pay_conf_get(main_server), pay_conf_get(host));
}

static int is_same(const void *one, const void *two, int row)
{
    return !memcmp((const char *)one + inherited[row].at, (const char *)two + inherited[row].at,
                   inherited[row].len);
}

START_TEST(test_inherited)
{
    const char *directive = inherited[_i].directive;
    server_rec *main_server = request_server();
    server_rec *host = request_server();
    server_rec *further = request_server();

    request_set(main_server, directive, inherited[_i].main_server);
    ck_assert_msg(!is_same(pay_conf_get(main_server), pay_conf_get(host), _i), "%s: no change",
                  directive);
    ck_assert_msg(is_same(merged(main_server, host), pay_conf_get(main_server), _i),
                  "%s is not inherited", directive);
    ((void **)further->module_config)[1] = merged(main_server, host);
    ck_assert_msg(is_same(merged(further, host), pay_conf_get(main_server), _i), "%s is forgotten",
                  directive);
    ck_assert_msg(is_same(merged(host, further), pay_conf_get(main_server), _i),
                  "%s counts as not given", directive);
}
END_TEST

START_TEST(test_own_value_wins)
{
    const char *directive = inherited[_i].directive;
    server_rec *main_server = request_server();
    server_rec *host = request_server();

    request_set(main_server, directive, inherited[_i].main_server);
    request_set(host, directive, inherited[_i].host);
    ck_assert_msg(!is_same(pay_conf_get(main_server), pay_conf_get(host), _i), "%s: no change",
                  directive);
    ck_assert_msg(is_same(merged(main_server, host), pay_conf_get(host), _i),
                  "%s of the host is lost", directive);
    ck_assert_msg(is_same(merged(request_server(), host), pay_conf_get(host), _i),
                  "%s of the host alone is lost", directive);
}
END_TEST

START_TEST(test_defaults_where_nobody_says)
{
    server_rec *host = request_server();

    ck_assert_msg(is_same(merged(request_server(), host), pay_conf_get(host), _i), "%s",
                  inherited[_i].directive);
}
END_TEST

/* ---- what they do not inherit */

static const struct {
    const char *directive;
    const char *value;
    apr_size_t at, len;
} own[] = {
    {"PaymentsEngine", "On", MEMBER(engine)},
    {"PaymentsCORSOrigin", "https://a.example", MEMBER(cors_origins)},
    {"PaymentsHealth", "/health", MEMBER(health_path)},
    {"PaymentsMetrics", "/metrics", MEMBER(metrics_path)},
    {"PaymentsDashboard", "/desk", MEMBER(dashboard_path)},
};

START_TEST(test_own)
{
    server_rec *given = request_server();
    server_rec *other = request_server();
    const apr_size_t at = own[_i].at;
    const char *conf;

    request_set(given, own[_i].directive, own[_i].value);
    conf = (const char *)pay_conf_get(given);
    ck_assert(memcmp(conf + at, (const char *)pay_conf_get(other) + at, own[_i].len) != 0);
    ck_assert_msg(!memcmp((const char *)merged(given, other) + at,
                          (const char *)pay_conf_get(other) + at, own[_i].len),
                  "%s is inherited", own[_i].directive);
    ck_assert_msg(!memcmp((const char *)merged(other, given) + at, conf + at, own[_i].len),
                  "%s is lost", own[_i].directive);
}
END_TEST

/* ---- of the whole server: no virtual host says it, and each has it */

static const struct {
    const char *directive;
    const char *value;
    apr_size_t at, len;
} global[] = {
    {"PaymentsWebhookInsecure", "On", MEMBER(delivery.webhook_insecure)},
    {"PaymentsWebhookAllow", "10.0.0.0/8 fd00::/8", MEMBER(delivery.webhook_allow)},
    {"PaymentsTrustedCA", "/ca.pem", MEMBER(delivery.trusted_ca)},
    {"PaymentsMailRelay", "smtp://mail.example:25 /login", MEMBER(delivery.mail_relay)},
    {"PaymentsMailRelay", "smtp://mail.example:25 /login", MEMBER(mail_login_file)},
    {"PaymentsMailFrom", "shop@shop.example", MEMBER(delivery.mail_from)},
    {"PaymentsMailTemplates", "/templates", MEMBER(delivery.mail_templates)},
};

START_TEST(test_global)
{
    server_rec *main_server = request_server();
    server_rec *host = request_host(main_server);
    const apr_size_t at = global[_i].at;
    const char *fault;

    fault = request_directive(host, global[_i].directive, global[_i].value);
    ck_assert_msg(fault && strstr(fault, "VirtualHost"), "%s", global[_i].directive);
    request_set(main_server, global[_i].directive, global[_i].value);
    ck_assert(memcmp((const char *)pay_conf_get(main_server) + at,
                     (const char *)pay_conf_get(host) + at, global[_i].len)
              != 0);
    ck_assert_msg(!memcmp((const char *)merged(main_server, host) + at,
                          (const char *)pay_conf_get(main_server) + at, global[_i].len),
                  "%s", global[_i].directive);
}
END_TEST

START_TEST(test_each_directive_is_in_one_table)
{
    const command_rec *command;
    int i, found;

    for (command = pay_conf_directives; command->name; command++) {
        found = 0;
        for (i = 0; i < UNIT_ROWS(inherited); i++) {
            found |= strcmp(command->name, inherited[i].directive) ? 0 : 1;
        }
        for (i = 0; i < UNIT_ROWS(own); i++) {
            found |= strcmp(command->name, own[i].directive) ? 0 : 2;
        }
        for (i = 0; i < UNIT_ROWS(global); i++) {
            found |= strcmp(command->name, global[i].directive) ? 0 : 4;
        }
        ck_assert_msg(found == 1 || found == 2 || found == 4, "%s: %d", command->name, found);
    }
}
END_TEST

/* ---- what is not a value for another */

/* A limit of failures of one kind leaves the others as the main server has them. */
START_TEST(test_failure_kinds_are_inherited_one_by_one)
{
    server_rec *main_server = request_server();
    server_rec *host = request_server();
    const pay_conf_t *conf;
    int mode;

    request_set(main_server, "PaymentsFailureLimit", "card 7/h, address 9/h");
    request_set(host, "PaymentsFailureLimit", "link 8/min");
    conf = merged(main_server, host);
    for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
        ck_assert_int_eq(conf->policy.failure_limit[mode][PAY_FAILURE_CARD].count, 7);
        ck_assert_int_eq(conf->policy.failure_limit[mode][PAY_FAILURE_ADDRESS].count, 9);
        ck_assert_int_eq(conf->policy.failure_limit[mode][PAY_FAILURE_LINK].count, 8);
        ck_assert_int_eq(conf->policy.failure_limit[mode][PAY_FAILURE_ACCOUNT].count,
                         mode == PAY_LIVE ? 200 : 0);
    }
    request_set(host, "PaymentsFailureLimit", "off");
    conf = merged(main_server, host);
    ck_assert_int_eq(conf->policy.failure_limit[PAY_LIVE][PAY_FAILURE_CARD].count, 0);
    ck_assert_int_eq(conf->policy.failure_limit[PAY_TEST][PAY_FAILURE_ACCOUNT].count, 0);
}
END_TEST

/* What moves one account's money moves no other's. */
static const struct {
    const char *name;
    const char *main_account, *host_account;
    const char *host_acquirer;
    const char *want; /* the acquirer's name; NULL: there is none */
} account_rows[] = {
    {"nobody names an account", NULL, NULL, NULL, "relay@a.example"},
    {"the host names one", NULL, "shop", NULL, "relay@a.example"},
    {"the main server names one", "shop", NULL, NULL, "relay@a.example"},
    {"both name one", "shop", "shop", NULL, "relay@a.example"},
    {"each its own", "shop", "other", NULL, NULL},
    {"and the host has an acquirer", "shop", "other", "live relay https://b.example",
     "relay@b.example"},
};

START_TEST(test_acquirers_of_another_account)
{
    server_rec *main_server = request_server();
    server_rec *host = request_server();
    const pay_conf_t *conf;

    request_set(main_server, "PaymentsAcquirer", "live relay https://a.example");
    if (account_rows[_i].main_account) {
        request_set(main_server, "PaymentsAccount", account_rows[_i].main_account);
    }
    if (account_rows[_i].host_account) {
        request_set(host, "PaymentsAccount", account_rows[_i].host_account);
    }
    if (account_rows[_i].host_acquirer) {
        request_set(host, "PaymentsAcquirer", account_rows[_i].host_acquirer);
    }
    conf = merged(main_server, host);
    if (!account_rows[_i].want) {
        ck_assert_msg(!conf->acquirers, "%s", account_rows[_i].name);
        ck_assert_uint_eq(conf->acquirers_set, 0);
        return;
    }
    ck_assert_msg(conf->acquirers && conf->acquirers->nelts == 1, "%s", account_rows[_i].name);
    ck_assert_str_eq(APR_ARRAY_IDX(conf->acquirers, 0, pay_conf_acquirer_t *)->name,
                     account_rows[_i].want);
}
END_TEST

/* What is refused by default, and how much. */
START_TEST(test_defaults)
{
    const pay_conf_t *conf = pay_conf_get(request_server());
    int kind;

    ck_assert_int_eq(conf->engine, 0);
    ck_assert_int_eq(conf->require_tls, 1);
    ck_assert_int_eq(conf->body_max, 65536);
    ck_assert_int_eq(conf->policy.late_refund, 0);
    ck_assert_int_eq(conf->rate_limit[PAY_KEY_SECRET].interval, 0);
    ck_assert_int_eq(conf->rate_limit[PAY_KEY_PUBLIC].interval, 200000);
    ck_assert_int_eq(conf->rate_limit[PAY_KEY_PUBLIC].burst, 50);
    ck_assert_int_eq(conf->rate_total.interval, 20000);
    ck_assert_int_eq(conf->rate_total.burst, 500);
    ck_assert_int_eq(conf->failure_limit.interval, 1000000);
    ck_assert_int_eq(conf->failure_limit.burst, 120);
    ck_assert_int_eq(conf->policy.refund_repeat_window, apr_time_from_sec(600));
    ck_assert_int_eq(conf->policy.acquirer_timeout, apr_time_from_sec(20));
    ck_assert_int_eq(conf->policy.slot_wait, apr_time_from_msec(500));
    ck_assert_int_eq(conf->policy.late_after, apr_time_from_sec(3600));
    ck_assert_int_eq(conf->policy.pending_alert, apr_time_from_sec(3600));
    ck_assert_int_eq(conf->policy.refund_sync, apr_time_from_sec(600));
    ck_assert_int_eq(conf->policy.checkout_lifetime, apr_time_from_sec(3600));
    ck_assert_int_eq(conf->policy.refund_days_max, 0);
    ck_assert_int_eq(conf->in_flight_max, 64);
    ck_assert_int_eq(conf->options.map_bytes, APR_INT64_C(64) << 30);
    ck_assert_int_eq(conf->options.reserve_bytes, APR_INT64_C(256) << 20);
    ck_assert_int_eq(conf->options.commit_wait, apr_time_from_sec(2));
    ck_assert_int_eq(conf->options.commit_batch, 256);
    ck_assert_int_eq(conf->options.checkout_keep, apr_time_from_sec(720 * 3600));
    ck_assert_int_eq(conf->options.account_rows_max, 0);
    ck_assert_str_eq(conf->base_path, "");
    ck_assert_str_eq(conf->key_prefix, "pay");
    ck_assert_str_eq(conf->currency, "NGN");
    ck_assert_str_eq(conf->timezone, "UTC");
    ck_assert_int_eq(conf->delivery.webhook_insecure, 0);
    ck_assert_str_eq(conf->delivery.trusted_ca, "");
    ck_assert_str_eq(conf->delivery.mail_relay, "");
    for (kind = 0; kind < PAY_FAILURE_KINDS; kind++) {
        ck_assert_int_eq(conf->policy.failure_limit[PAY_TEST][kind].count, 0);
        ck_assert_int_gt(conf->policy.failure_limit[PAY_LIVE][kind].count, 0);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_inherited, 0, UNIT_ROWS(inherited));
    tcase_add_loop_test(tcase, test_own_value_wins, 0, UNIT_ROWS(inherited));
    tcase_add_loop_test(tcase, test_defaults_where_nobody_says, 0, UNIT_ROWS(inherited));
    tcase_add_loop_test(tcase, test_own, 0, UNIT_ROWS(own));
    tcase_add_loop_test(tcase, test_global, 0, UNIT_ROWS(global));
    tcase_add_test(tcase, test_each_directive_is_in_one_table);
    tcase_add_test(tcase, test_failure_kinds_are_inherited_one_by_one);
    tcase_add_loop_test(tcase, test_acquirers_of_another_account, 0, UNIT_ROWS(account_rows));
    tcase_add_test(tcase, test_defaults);
}

UNIT_PROGRAM(add)
