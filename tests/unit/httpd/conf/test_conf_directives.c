/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/relay.h"
#include "httpd/conf/acquirer.h"
#include "httpd/conf/parse.h"

#include "request.h"

#include <stddef.h>

#define SECOND APR_USEC_PER_SEC
#define HOUR (3600 * SECOND)

/* ---- numbers */

#define MEMBER(place) offsetof(pay_conf_t, place), sizeof(((pay_conf_t *)0)->place)
#define REFUSED (-1)

static const struct {
    const char *directive, *value;
    apr_size_t at, len;
    apr_int64_t want;
} number_rows[] = {
    {"PaymentsEngine", "on", MEMBER(engine), 1},
    {"PaymentsEngine", "OFF", MEMBER(engine), 0},
    {"PaymentsEngine", "yes", MEMBER(engine), REFUSED},
    {"PaymentsEngine", "", MEMBER(engine), REFUSED},
    {"PaymentsRequireTLS", "Off", MEMBER(require_tls), 0},
    {"PaymentsRequireTLS", "On", MEMBER(require_tls), 1},
    {"PaymentsRequireTLS", "0", MEMBER(require_tls), REFUSED},
    {"PaymentsStoreSize", "1M", MEMBER(options.map_bytes), 1 << 20},
    {"PaymentsStoreSize", "1048576", MEMBER(options.map_bytes), 1 << 20},
    {"PaymentsStoreSize", "1048575", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreSize", "1023K", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreSize", "1024k", MEMBER(options.map_bytes), 1 << 20},
    {"PaymentsStoreSize", "3g", MEMBER(options.map_bytes), APR_INT64_C(3) << 30},
    {"PaymentsStoreSize", "16T", MEMBER(options.map_bytes), APR_INT64_C(16) << 40},
    {"PaymentsStoreSize", "17T", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreSize", "17592186044416", MEMBER(options.map_bytes), APR_INT64_C(16) << 40},
    {"PaymentsStoreSize", "17592186044417", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreSize", "99999999999999999999M", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreSize", "1MB", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreSize", "1P", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreSize", "M", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreSize", "-1M", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreSize", " 1M", MEMBER(options.map_bytes), REFUSED},
    {"PaymentsStoreReserve", "0", MEMBER(options.reserve_bytes), 0},
    {"PaymentsStoreReserve", "16T", MEMBER(options.reserve_bytes), APR_INT64_C(16) << 40},
    {"PaymentsStoreReserve", "16385G", MEMBER(options.reserve_bytes), REFUSED},
    {"PaymentsMaxBody", "1K", MEMBER(body_max), 1024},
    {"PaymentsMaxBody", "1023", MEMBER(body_max), REFUSED},
    {"PaymentsMaxBody", "16M", MEMBER(body_max), 16 << 20},
    {"PaymentsMaxBody", "16777217", MEMBER(body_max), REFUSED},
    {"PaymentsAccountQuota", "0", MEMBER(options.account_rows_max), 0},
    {"PaymentsAccountQuota", "999999999", MEMBER(options.account_rows_max), 999999999},
    {"PaymentsAccountQuota", "1000000000", MEMBER(options.account_rows_max), REFUSED},
    {"PaymentsAccountQuota", "1x", MEMBER(options.account_rows_max), REFUSED},
    {"PaymentsAccountQuota", "", MEMBER(options.account_rows_max), REFUSED},
    {"PaymentsCommitBatch", "1", MEMBER(options.commit_batch), 1},
    {"PaymentsCommitBatch", "0", MEMBER(options.commit_batch), REFUSED},
    {"PaymentsCommitBatch", "256", MEMBER(options.commit_batch), 256},
    {"PaymentsCommitBatch", "257", MEMBER(options.commit_batch), REFUSED},
    {"PaymentsCommitWait", "10ms", MEMBER(options.commit_wait), 10000},
    {"PaymentsCommitWait", "9ms", MEMBER(options.commit_wait), REFUSED},
    {"PaymentsCommitWait", "60", MEMBER(options.commit_wait), 60 * SECOND},
    {"PaymentsCommitWait", "1min", MEMBER(options.commit_wait), 60 * SECOND},
    {"PaymentsCommitWait", "61s", MEMBER(options.commit_wait), REFUSED},
    {"PaymentsCommitWait", "+1s", MEMBER(options.commit_wait), REFUSED},
    {"PaymentsCommitWait", "00000000001s", MEMBER(options.commit_wait), SECOND},
    {"PaymentsCommitWait", "000000000001s", MEMBER(options.commit_wait), REFUSED},
    {"PaymentsCommitWait", "0000000000001s", MEMBER(options.commit_wait), REFUSED},
    {"PaymentsCommitWait", "1d", MEMBER(options.commit_wait), REFUSED},
    {"PaymentsSlotWait", "10ms", MEMBER(policy.slot_wait), 10000},
    {"PaymentsSlotWait", "9ms", MEMBER(policy.slot_wait), REFUSED},
    {"PaymentsSlotWait", "60s", MEMBER(policy.slot_wait), 60 * SECOND},
    {"PaymentsSlotWait", "60001ms", MEMBER(policy.slot_wait), REFUSED},
    {"PaymentsCheckoutKeep", "off", MEMBER(options.checkout_keep), 0},
    {"PaymentsCheckoutKeep", "1s", MEMBER(options.checkout_keep), SECOND},
    {"PaymentsCheckoutKeep", "999ms", MEMBER(options.checkout_keep), REFUSED},
    {"PaymentsCheckoutKeep", "0", MEMBER(options.checkout_keep), REFUSED},
    {"PaymentsCheckoutKeep", "87600h", MEMBER(options.checkout_keep), 87600 * HOUR},
    {"PaymentsCheckoutKeep", "87601h", MEMBER(options.checkout_keep), REFUSED},
    {"PaymentsRefundMaxDays", "0", MEMBER(policy.refund_days_max), 0},
    {"PaymentsRefundMaxDays", "36600", MEMBER(policy.refund_days_max), 36600},
    {"PaymentsRefundMaxDays", "36601", MEMBER(policy.refund_days_max), REFUSED},
    {"PaymentsRefundMaxDays", "-1", MEMBER(policy.refund_days_max), REFUSED},
    {"PaymentsAcquirerTimeout", "1s", MEMBER(policy.acquirer_timeout), SECOND},
    {"PaymentsAcquirerTimeout", "999ms", MEMBER(policy.acquirer_timeout), REFUSED},
    {"PaymentsAcquirerTimeout", "60s", MEMBER(policy.acquirer_timeout), 60 * SECOND},
    {"PaymentsAcquirerTimeout", "61s", MEMBER(policy.acquirer_timeout), REFUSED},
    {"PaymentsAcquirerMaxInFlight", "1", MEMBER(in_flight_max), 1},
    {"PaymentsAcquirerMaxInFlight", "0", MEMBER(in_flight_max), REFUSED},
    {"PaymentsAcquirerMaxInFlight", "4096", MEMBER(in_flight_max), 4096},
    {"PaymentsAcquirerMaxInFlight", "4097", MEMBER(in_flight_max), REFUSED},
    {"PaymentsAcquirerLateAfter", "1s", MEMBER(policy.late_after), SECOND},
    {"PaymentsAcquirerLateAfter", "999ms", MEMBER(policy.late_after), REFUSED},
    {"PaymentsAcquirerLateAfter", "168h", MEMBER(policy.late_after), 168 * HOUR},
    {"PaymentsAcquirerLateAfter", "169h", MEMBER(policy.late_after), REFUSED},
    {"PaymentsLateApproval", "Refund", MEMBER(policy.late_refund), 1},
    {"PaymentsLateApproval", "HOLD", MEMBER(policy.late_refund), 0},
    {"PaymentsLateApproval", "keep", MEMBER(policy.late_refund), REFUSED},
    {"PaymentsPendingAlert", "1s", MEMBER(policy.pending_alert), SECOND},
    {"PaymentsPendingAlert", "168h", MEMBER(policy.pending_alert), 168 * HOUR},
    {"PaymentsPendingAlert", "off", MEMBER(policy.pending_alert), REFUSED},
    {"PaymentsRefundSync", "Off", MEMBER(policy.refund_sync), 0},
    {"PaymentsRefundSync", "0", MEMBER(policy.refund_sync), REFUSED},
    {"PaymentsRefundSync", "24h", MEMBER(policy.refund_sync), 24 * HOUR},
    {"PaymentsRefundSync", "25h", MEMBER(policy.refund_sync), REFUSED},
    {"PaymentsRefundRepeatWindow", "0", MEMBER(policy.refund_repeat_window), 0},
    {"PaymentsRefundRepeatWindow", "off", MEMBER(policy.refund_repeat_window), 0},
    {"PaymentsRefundRepeatWindow", "24h", MEMBER(policy.refund_repeat_window), 24 * HOUR},
    {"PaymentsRefundRepeatWindow", "1441min", MEMBER(policy.refund_repeat_window), REFUSED},
    {"PaymentsCheckoutLifetime", "1s", MEMBER(policy.checkout_lifetime), SECOND},
    {"PaymentsCheckoutLifetime", "0s", MEMBER(policy.checkout_lifetime), REFUSED},
    {"PaymentsCheckoutLifetime", "168h", MEMBER(policy.checkout_lifetime), 168 * HOUR},
    {"PaymentsCheckoutLifetime", "169h", MEMBER(policy.checkout_lifetime), REFUSED},
    {"PaymentsWebhookInsecure", "On", MEMBER(delivery.webhook_insecure), 1},
    {"PaymentsWebhookInsecure", "2", MEMBER(delivery.webhook_insecure), REFUSED},
};

START_TEST(test_numbers)
{
    const char *directive = number_rows[_i].directive, *value = number_rows[_i].value;
    server_rec *s = request_server();
    const char *place = (const char *)pay_conf_get(s) + number_rows[_i].at;
    const char *fault = request_directive(s, directive, value);
    apr_int64_t got =
        number_rows[_i].len == sizeof(int) ? *(const int *)place : *(const apr_int64_t *)place;

    if (number_rows[_i].want == REFUSED) {
        ck_assert_msg(fault != NULL, "%s %s: taken as %lld", directive, value, (long long)got);
        ck_assert_msg(!strncmp(fault, directive, strlen(directive)) && strstr(fault, ": want "),
                      "%s", fault);
        return;
    }
    ck_assert_msg(!fault, "%s", fault);
    ck_assert_msg(got == number_rows[_i].want, "%s %s: %lld", directive, value, (long long)got);
}
END_TEST

/* ---- rates */

static const struct {
    const char *value;
    int which; /* 0 secret, 1 public, 2 of all addresses */
    apr_int64_t interval, burst;
} rate_rows[] = {
    {"200/s", 0, 5000, 400},
    {"secret 200/s burst=1000", 0, 5000, 1000},
    {"public 60/min", 1, SECOND, 120},
    {"public-total 36/h burst=7", 2, 100 * SECOND, 7},
    {"3/s", 0, 333334, 6}, /* never faster */
    {"off", 0, 0, 0},
    {"public Off", 1, 0, 0},
    {"100000/s burst=1000000", 0, 10, 1000000},
    {"1/h burst=24", 0, HOUR, 24}, /* full within a day, just so */
    {"1/h burst=25", 0, REFUSED, 0},
    {"100001/s", 0, REFUSED, 0},
    {"1/s burst=1000001", 0, REFUSED, 0},
    {"0/s", 0, REFUSED, 0},
    {"1/s burst=0", 0, REFUSED, 0},
    {"1/s 5", 0, REFUSED, 0},
    {"1/d", 0, REFUSED, 0},
    {"1", 0, REFUSED, 0},
    {"/s", 0, REFUSED, 0},
    {"off burst=5", 0, REFUSED, 0},
    {"secret", 0, REFUSED, 0},
    {"other 1/s", 0, REFUSED, 0},
    {"1/s burst=1 burst=2", 0, REFUSED, 0},
};

START_TEST(test_rates)
{
    const char *value = rate_rows[_i].value;
    server_rec *s = request_server();
    const pay_conf_t *conf = pay_conf_get(s);
    const pay_rate_limit_t before[] = {conf->rate_limit[PAY_KEY_SECRET],
                                       conf->rate_limit[PAY_KEY_PUBLIC], conf->rate_total};
    const char *fault = request_directive(s, "PaymentsRateLimit", value);
    const pay_rate_limit_t after[] = {conf->rate_limit[PAY_KEY_SECRET],
                                      conf->rate_limit[PAY_KEY_PUBLIC], conf->rate_total};
    int i;

    if (rate_rows[_i].interval == REFUSED) {
        ck_assert_msg(fault && strstr(fault, value), "%s", value);
        return;
    }
    ck_assert_msg(!fault, "%s", fault);
    for (i = 0; i < 3; i++) {
        ck_assert_msg(
            after[i].interval
                == (i == rate_rows[_i].which ? rate_rows[_i].interval : before[i].interval),
            "%s: %d: %lld", value, i, (long long)after[i].interval);
        ck_assert_msg(after[i].burst
                          == (i == rate_rows[_i].which ? rate_rows[_i].burst : before[i].burst),
                      "%s: %d", value, i);
    }
}
END_TEST

static const struct {
    const char *value;
    pay_failure_kind_t kind;
    int count; /* REFUSED */
    apr_interval_time_t window;
} failure_rows[] = {
    {"card 5/10min", PAY_FAILURE_CARD, 5, 600 * SECOND},
    {"link 1/s, address 2/2s", PAY_FAILURE_ADDRESS, 2, 2 * SECOND},
    {"account 100000/24h", PAY_FAILURE_ACCOUNT, 100000, 24 * HOUR},
    {"account off", PAY_FAILURE_ACCOUNT, 0, 0},
    {"OFF", PAY_FAILURE_LINK, 0, 0},
    {"card 5/h", PAY_FAILURE_CARD, 5, HOUR},
    {"card 5/25h", PAY_FAILURE_CARD, REFUSED, 0},
    {"card 5/86401s", PAY_FAILURE_CARD, REFUSED, 0},
    {"card 5/86400s", PAY_FAILURE_CARD, 5, 24 * HOUR},
    {"card 0/h", PAY_FAILURE_CARD, REFUSED, 0},
    {"card 5/0h", PAY_FAILURE_CARD, REFUSED, 0},
    {"card 100001/h", PAY_FAILURE_CARD, REFUSED, 0},
    {"card 5", PAY_FAILURE_CARD, REFUSED, 0},
    {"card 5/d", PAY_FAILURE_CARD, REFUSED, 0},
    {"card", PAY_FAILURE_CARD, REFUSED, 0},
    {"purse 5/h", PAY_FAILURE_CARD, REFUSED, 0},
    {"card 5/h card 6/h", PAY_FAILURE_CARD, REFUSED, 0},
    {"off card 5/h", PAY_FAILURE_CARD, REFUSED, 0},
    {"", PAY_FAILURE_CARD, REFUSED, 0},
};

START_TEST(test_failures)
{
    const char *value = failure_rows[_i].value;
    server_rec *s = request_server();
    const char *fault = request_directive(s, "PaymentsFailureLimit", value);
    const pay_failure_limit_t *limit;
    int mode;

    ck_assert_msg(!fault == (failure_rows[_i].count != REFUSED), "%s: %s", value, fault);
    for (mode = 0; !fault && mode < PAY_MODE_COUNT; mode++) {
        limit = &pay_conf_get(s)->policy.failure_limit[mode][failure_rows[_i].kind];
        ck_assert_msg(limit->count == failure_rows[_i].count
                          && limit->window == failure_rows[_i].window,
                      "%s: %d in %lld", value, limit->count, (long long)limit->window);
    }
}
END_TEST

/* ---- texts */

#define NO_TEXT NULL

static const struct {
    const char *directive, *value;
    apr_size_t at;
    const char *want; /* NULL: refused */
} text_rows[] = {
    {"PaymentsStore", "lmdb:/srv/pay", offsetof(pay_conf_t, store), "lmdb:/srv/pay"},
    {"PaymentsStore", "lmdb:/srv/pay//", offsetof(pay_conf_t, store), "lmdb:/srv/pay"},
    {"PaymentsStore", "lmdb:srv", offsetof(pay_conf_t, store), NO_TEXT},
    {"PaymentsStore", "/srv/pay", offsetof(pay_conf_t, store), NO_TEXT},
    {"PaymentsAccount", "shop.one-2_3", offsetof(pay_conf_t, account), "shop.one-2_3"},
    {"PaymentsAccount", "Shop", offsetof(pay_conf_t, account), NO_TEXT},
    {"PaymentsBasePath", "/", offsetof(pay_conf_t, base_path), ""},
    {"PaymentsBasePath", "/shop/", offsetof(pay_conf_t, base_path), "/shop"},
    {"PaymentsBasePath", "/a-Z.0_~/b", offsetof(pay_conf_t, base_path), "/a-Z.0_~/b"},
    {"PaymentsBasePath", "shop", offsetof(pay_conf_t, base_path), NO_TEXT},
    {"PaymentsBasePath", "", offsetof(pay_conf_t, base_path), NO_TEXT},
    {"PaymentsBasePath", "/shop//", offsetof(pay_conf_t, base_path), NO_TEXT},
    {"PaymentsBasePath", "//shop", offsetof(pay_conf_t, base_path), NO_TEXT},
    {"PaymentsBasePath", "/a/../b", offsetof(pay_conf_t, base_path), NO_TEXT},
    {"PaymentsBasePath", "/.", offsetof(pay_conf_t, base_path), NO_TEXT},
    {"PaymentsBasePath", "/..", offsetof(pay_conf_t, base_path), NO_TEXT},
    {"PaymentsBasePath", "/...", offsetof(pay_conf_t, base_path), "/..."},
    {"PaymentsBasePath", "/.a", offsetof(pay_conf_t, base_path), "/.a"},
    {"PaymentsBasePath", "/a%20b", offsetof(pay_conf_t, base_path), NO_TEXT},
    {"PaymentsHealth", "/up", offsetof(pay_conf_t, health_path), "/up"},
    {"PaymentsHealth", "/", offsetof(pay_conf_t, health_path), NO_TEXT},
    {"PaymentsHealth", "/up/", offsetof(pay_conf_t, health_path), NO_TEXT},
    {"PaymentsMetrics", "/m", offsetof(pay_conf_t, metrics_path), "/m"},
    {"PaymentsMetrics", "m", offsetof(pay_conf_t, metrics_path), NO_TEXT},
    {"PaymentsMetrics", "", offsetof(pay_conf_t, metrics_path), NO_TEXT},
    {"PaymentsDashboard", "/desk", offsetof(pay_conf_t, dashboard_path), "/desk"},
    {"PaymentsDashboard", "/desk?", offsetof(pay_conf_t, dashboard_path), NO_TEXT},
    {"PaymentsDashboardFiles", "/srv", offsetof(pay_conf_t, dashboard_files), "/srv"},
    {"PaymentsDashboardFiles", "/", offsetof(pay_conf_t, dashboard_files), NO_TEXT},
    {"PaymentsDashboardFiles", "srv", offsetof(pay_conf_t, dashboard_files), NO_TEXT},
    {"PaymentsKeyPrefix", "shop", offsetof(pay_conf_t, key_prefix), "shop"},
    {"PaymentsKeyPrefix", "Shop", offsetof(pay_conf_t, key_prefix), NO_TEXT},
    {"PaymentsDefaultCurrency", "usd", offsetof(pay_conf_t, currency), "USD"},
    {"PaymentsDefaultCurrency", "XXY", offsetof(pay_conf_t, currency), NO_TEXT},
    {"PaymentsTimezone", "Africa/Lagos", offsetof(pay_conf_t, timezone), "Africa/Lagos"},
    {"PaymentsTimezone", "Lagos", offsetof(pay_conf_t, timezone), NO_TEXT},
    {"PaymentsMasterKey", "file:/etc/key", offsetof(pay_conf_t, master_key), "/etc/key"},
    {"PaymentsMasterKey", "/etc/key", offsetof(pay_conf_t, master_key), NO_TEXT},
    {"PaymentsMasterKey", "file:etc/key", offsetof(pay_conf_t, master_key), NO_TEXT},
    {"PaymentsMasterKey", "file:/etc/", offsetof(pay_conf_t, master_key), NO_TEXT},
    {"PaymentsMasterKey", "file:/", offsetof(pay_conf_t, master_key), NO_TEXT},
    {"PaymentsCheckoutURL", "https://a.example/", offsetof(pay_conf_t, checkout_url),
     "https://a.example"},
    {"PaymentsCheckoutURL", "http://a.example:81", offsetof(pay_conf_t, checkout_url),
     "http://a.example:81"},
    {"PaymentsCheckoutURL", "https://a.example/shop", offsetof(pay_conf_t, checkout_url), NO_TEXT},
    {"PaymentsCheckoutURL", "https://a.example?a", offsetof(pay_conf_t, checkout_url), NO_TEXT},
    {"PaymentsCheckoutURL", "ftp://a.example", offsetof(pay_conf_t, checkout_url), NO_TEXT},
    {"PaymentsReturnHosts", "a.example", offsetof(pay_conf_t, policy.return_hosts), "a.example"},
    {"PaymentsReturnHosts", "https://a.example", offsetof(pay_conf_t, policy.return_hosts),
     NO_TEXT},
    {"PaymentsWebhookAllow", "10.0.0.0/8 ::1", offsetof(pay_conf_t, delivery.webhook_allow),
     "10.0.0.0/8 ::1"},
    {"PaymentsWebhookAllow", "10.0.0.0/33", offsetof(pay_conf_t, delivery.webhook_allow), NO_TEXT},
    {"PaymentsTrustedCA", "/ca.pem", offsetof(pay_conf_t, delivery.trusted_ca), "/ca.pem"},
    {"PaymentsTrustedCA", "ca.pem", offsetof(pay_conf_t, delivery.trusted_ca), NO_TEXT},
    {"PaymentsMailTemplates", "t", offsetof(pay_conf_t, delivery.mail_templates), NO_TEXT},
    {"PaymentsMailRelay", "smtp://m.example", offsetof(pay_conf_t, delivery.mail_relay),
     "smtp://m.example:25"},
    {"PaymentsMailRelay", "smtps://m.example:5/", offsetof(pay_conf_t, delivery.mail_relay),
     "smtps://m.example:5"},
    {"PaymentsMailRelay", "smtp://m.example /login", offsetof(pay_conf_t, mail_login_file),
     "/login"},
    {"PaymentsMailRelay", "smtp://m.example login", offsetof(pay_conf_t, mail_login_file), NO_TEXT},
    {"PaymentsMailRelay", "smtp://m.example/x", offsetof(pay_conf_t, delivery.mail_relay), NO_TEXT},
    {"PaymentsMailRelay", "http://m.example", offsetof(pay_conf_t, delivery.mail_relay), NO_TEXT},
    {"PaymentsMailFrom", "a@b.example", offsetof(pay_conf_t, delivery.mail_from), "a@b.example"},
    {"PaymentsMailFrom", "b.example", offsetof(pay_conf_t, delivery.mail_from), NO_TEXT},
};

START_TEST(test_texts)
{
    const char *directive = text_rows[_i].directive, *value = text_rows[_i].value;
    server_rec *s = request_server();
    const char *const *place =
        (const char *const *)(const void *)((const char *)pay_conf_get(s) + text_rows[_i].at);
    const char *fault = request_directive(s, directive, value);

    if (!text_rows[_i].want) {
        ck_assert_msg(fault && !strncmp(fault, directive, strlen(directive)), "%s %s", directive,
                      value);
        return;
    }
    ck_assert_msg(!fault, "%s", fault);
    ck_assert_msg(!strcmp(*place, text_rows[_i].want), "%s %s: %s", directive, value, *place);
}
END_TEST

START_TEST(test_longest_texts)
{
    server_rec *s = request_server();
    char path[PAY_CONF_PATH_LEN_MAX + 2];

    memset(path, 'a', sizeof(path));
    path[0] = '/';
    path[PAY_CONF_SITE_PATH_LEN_MAX] = '\0';
    request_set(s, "PaymentsHealth", path);
    path[PAY_CONF_SITE_PATH_LEN_MAX] = 'a';
    path[PAY_CONF_SITE_PATH_LEN_MAX + 1] = '\0';
    ck_assert_ptr_nonnull(request_directive(s, "PaymentsHealth", path));
    path[PAY_CONF_SITE_PATH_LEN_MAX + 1] = 'a';
    path[PAY_CONF_PATH_LEN_MAX] = '\0';
    request_set(s, "PaymentsDashboardFiles", path);
    path[PAY_CONF_PATH_LEN_MAX] = 'a';
    path[PAY_CONF_PATH_LEN_MAX + 1] = '\0';
    ck_assert_ptr_nonnull(request_directive(s, "PaymentsDashboardFiles", path));
}
END_TEST

/* The master key itself is not repeated where others can read it. */
START_TEST(test_secrets_are_not_repeated)
{
    server_rec *s = request_server();
    const char *const faults[] = {
        request_directive(s, "PaymentsMasterKey", "S3CR3T"),
        request_directive(s, "PaymentsMailRelay", "smtp://user:S3CR3T@m.example"),
        request_directive(s, "PaymentsMailRelay", "smtp://m.example/S3CR3T"),
        request_directive(s, "PaymentsAcquirer", "live relay https://user:S3CR3T@a.example"),
        request_directive(s, "PaymentsAcquirer", "live relay https://a.example Key=S3CR3T"),
        request_directive(s, "PaymentsAcquirer", "S3CR3T"),
    };
    int i;

    for (i = 0; i < UNIT_ROWS(faults); i++) {
        ck_assert_msg(faults[i] && !strstr(faults[i], "S3CR3T"), "%d: %s", i, faults[i]);
    }
}
END_TEST

/* ---- origins */

static const struct {
    const char *text;
    const char *want; /* NULL: none */
} origin_rows[] = {
    {"https://shop.example", "https://shop.example"},
    {"HTTPS://Shop.Example", "https://shop.example"},
    {"http://localhost:3000", "http://localhost:3000"},
    {"http://127.0.0.1:80", NULL},
    {"https://shop.example:80", "https://shop.example:80"},
    {"http://shop.example:443", "http://shop.example:443"},
    {"https://shop.example:443", NULL},
    {"https://shop.example:65535", "https://shop.example:65535"},
    {"https://shop.example:65536", NULL},
    {"https://shop.example:08080", NULL},
    {"https://shop.example:0", NULL},
    {"https://shop.example:", NULL},
    {"https://shop.example:1x", NULL},
    {"https://shop.example:100000", NULL},
    {"https://shop.example/", NULL},
    {"https://", NULL},
    {"https:/xshop.example", NULL},
    {"http://[::1]:8443", "http://[::1]:8443"},
    {"http://-shop.example", NULL},
    {"http:/xshop.example", NULL},
    {"https://-shop.example", NULL},
    {"https://shop..example", NULL},
    {"https://.shop.example", NULL},
    {"https://xn--bcher-kva.example", "https://xn--bcher-kva.example"},
    {"https://b\xc3\xbc"
     "cher.example",
     NULL},
    {"https://user@shop.example", NULL},
    {"https://*.shop.example", NULL},
    {"*", NULL},
    {"null", NULL},
    {"shop.example", NULL},
    {"ftp://shop.example", NULL},
    {"https://[::1]:8443", "https://[::1]:8443"},
    {"https://[0:0:0:0:0:0:0:1]", NULL},
    {"https://[2001:DB8::1]", "https://[2001:db8::1]"},
    {"https://[::1", NULL},
    {"https://[]", NULL},
    {"https://[::1]x", NULL},
};

START_TEST(test_origins)
{
    const char *text = origin_rows[_i].text, *want = origin_rows[_i].want;
    const char *origin;
    apr_status_t rv = pay_conf_parse_origin(&origin, text, unit_pool);

    ck_assert_msg(rv == (want ? APR_SUCCESS : APR_EINVAL), "%s: %s", text, origin);
    ck_assert_msg(want ? !strcmp(origin, want) : !origin, "%s: %s", text, origin);
}
END_TEST

START_TEST(test_host_of_an_origin_is_as_long_as_a_name)
{
    char text[300] = "https://";
    const char *origin;

    memset(text + 8, 'a', PAY_CONF_HOST_LEN_MAX);
    ck_assert_int_eq(pay_conf_parse_origin(&origin, text, unit_pool), APR_SUCCESS);
    text[8 + PAY_CONF_HOST_LEN_MAX] = 'a';
    ck_assert_int_eq(pay_conf_parse_origin(&origin, text, unit_pool), APR_EINVAL);
}
END_TEST

static const struct {
    const char *directive;
    const char *format; /* of one value of many */
    int max;
} many_rows[] = {
    {"PaymentsCORSOrigin", "https://h%d.example", PAY_CONF_CORS_ORIGINS_MAX},
    {"PaymentsAcquirer", "live relay https://h%d.example", PAY_CONF_ACQUIRERS_MAX},
    {"PaymentsWebhookAllow", "10.0.0.%d", 64},
};

START_TEST(test_no_more_than)
{
    server_rec *s = request_server();
    int i;

    for (i = 0; i < many_rows[_i].max; i++) {
        request_set(s, many_rows[_i].directive, apr_psprintf(unit_pool, many_rows[_i].format, i));
    }
    ck_assert_ptr_nonnull(request_directive(s, many_rows[_i].directive,
                                            apr_psprintf(unit_pool, many_rows[_i].format, i)));
}
END_TEST

/* ---- proxies that may say https */

static const struct {
    const char *value, *client;
    int want; /* REFUSED */
} proxy_rows[] = {
    {"192.0.2.1", "192.0.2.1", 1},
    {"192.0.2.1", "192.0.2.2", 0},
    {"10.0.0.0/8", "10.255.0.1", 1},
    {"10.0.0.0/8", "11.0.0.1", 0},
    {"10.0.0.0/255.255.0.0", "10.0.9.9", 1},
    {"192.0.2.1 10.0.0.0/8", "10.1.1.1", 1},
    {"2001:db8::/32", "2001:db8::7", 1},
    {"2001:db8::/32", "2001:db9::7", 0},
    {"10", "10.0.0.1", REFUSED},
    {"10.1.2", "10.1.2.3", REFUSED},
    {"10.0.0.0/33", "10.0.0.1", REFUSED},
    {"proxy.example", "10.0.0.1", REFUSED},
    {"", "10.0.0.1", REFUSED},
};

START_TEST(test_tls_proxies)
{
    const char *value = proxy_rows[_i].value;
    server_rec *s = request_server();
    apr_sockaddr_t *client = request_address(proxy_rows[_i].client);
    const apr_array_header_t *list;
    int i, found = 0;

    if (proxy_rows[_i].want == REFUSED) {
        const command_rec *command = pay_conf_directives;
        cmd_parms cmd = {.pool = unit_pool, .temp_pool = unit_pool, .server = s};

        while (strcmp(command->name, "PaymentsTrustedTLSProxy") != 0) {
            command++;
        }
        cmd.cmd = command;
        ck_assert_msg(command->func.take1(&cmd, NULL, value) != NULL, "%s", value);
        ck_assert_ptr_null(pay_conf_get(s)->tls_proxy);
        return;
    }
    request_set(s, "PaymentsTrustedTLSProxy", value);
    list = pay_conf_get(s)->tls_proxy;
    for (i = 0; i < list->nelts; i++) {
        found |= apr_ipsubnet_test(APR_ARRAY_IDX(list, i, apr_ipsubnet_t *), client) != 0;
    }
    ck_assert_msg(found == proxy_rows[_i].want, "%s: %s", value, proxy_rows[_i].client);
}
END_TEST

/* ---- acquirers */

static const struct {
    const char *value;
    const char *name; /* of the instance; NULL: refused */
    apr_interval_time_t timeout;
} acquirer_rows[] = {
    {"live relay", "relay", 0},
    {"live relay https://a.example", "relay@a.example", 0},
    {"live relay https://a.example:443", "relay@a.example", 0},
    {"live relay http://a.example", "relay@a.example", 0},
    {"live relay http://a.example:443", "relay@a.example:443", 0},
    {"live relay https://a.example/path name=first", "first", 0},
    {"live relay https://a.example timeout=60s", "relay@a.example", 60 * SECOND},
    {"live relay timeout=1s", "relay", SECOND},
    {"live relay word", "relay@word", 0},
    {"live relay key=file:/k a-b_9=c", "relay", 0},
    {"test relay", NULL, 0},
    {"live", NULL, 0},
    {"live Relay", NULL, 0},
    {"live relay https://a.example timeout=61s", NULL, 0},
    {"live relay timeout=1s timeout=2s", NULL, 0},
    {"live relay name=a name=b", NULL, 0},
    {"live relay key=a key=b", NULL, 0},
    {"live relay name=-a", NULL, 0},
    {"live relay name=a/b", NULL, 0},
    {"live relay key=", NULL, 0},
    {"live relay https://a.example again", NULL, 0},
    {"live relay https://a.example timeout=61s key=file:/k", NULL, 0},
    {"live relay https://a.example 1key=a key=file:/k", NULL, 0},
    {"live relay https://user:secret@a.example key=file:/k", NULL, 0},
    {"live relay https://a.example 1key=a", NULL, 0},
    {"live relay us@er", NULL, 0},
    {"live relay https://user:secret@a.example", NULL, 0},
    {"live relay a/b", NULL, 0},
};

START_TEST(test_acquirers)
{
    const char *value = acquirer_rows[_i].value;
    server_rec *s = request_server();
    const char *fault = request_directive(s, "PaymentsAcquirer", value);
    const pay_conf_acquirer_t *acquirer;

    if (!acquirer_rows[_i].name) {
        ck_assert_msg(fault && !strncmp(fault, "PaymentsAcquirer: ", 18), "%s: %s", value, fault);
        ck_assert_msg(!pay_conf_get(s)->acquirers, "%s", value);
        return;
    }
    ck_assert_msg(!fault, "%s", fault);
    acquirer = APR_ARRAY_IDX(pay_conf_get(s)->acquirers, 0, pay_conf_acquirer_t *);
    ck_assert_str_eq(acquirer->name, acquirer_rows[_i].name);
    ck_assert_int_eq(acquirer->timeout, acquirer_rows[_i].timeout);
    ck_assert_int_eq(pay_conf_acquirer_timeout(pay_conf_get(s), acquirer),
                     acquirer->timeout ? acquirer->timeout : 20 * SECOND);
}
END_TEST

/*
 * The connector's name, the instance's, a parameter's and its value: each of the greatest length.
 */
static const struct {
    const char *format; /* %s: letters */
    int max;
} long_rows[] = {
    {"live %s", PAY_CONF_CONNECTOR_NAME_MAX},
    {"live relay name=%s", PAY_ACQUIRER_NAME_MAX},
    {"live relay %s=a", PAY_CONF_PARAMETER_NAME_MAX},
    {"live relay a=%s", PAY_CONF_PARAMETER_LEN_MAX},
    {"live relay %s name=a", PAY_CONF_PARAMETER_LEN_MAX},
};

START_TEST(test_longest_words_of_acquirers)
{
    const apr_size_t max = (apr_size_t)long_rows[_i].max;
    char *word = apr_pcalloc(unit_pool, max + 2);

    memset(word, 'a', max);
    request_set(request_server(), "PaymentsAcquirer",
                apr_psprintf(unit_pool, long_rows[_i].format, word));
    word[max] = 'a';
    ck_assert_ptr_nonnull(request_directive(request_server(), "PaymentsAcquirer",
                                            apr_psprintf(unit_pool, long_rows[_i].format, word)));
}
END_TEST

/* The greatest number of parameters; one more is refused. */
START_TEST(test_parameters_of_an_acquirer)
{
    char *words[PAY_CONF_PARAMETERS_MAX + 5];
    const command_rec *command = pay_conf_directives;
    cmd_parms cmd = {.pool = unit_pool, .temp_pool = unit_pool};
    int count = 0, i;

    while (strcmp(command->name, "PaymentsAcquirer") != 0) {
        command++;
    }
    cmd.cmd = command;
    words[count++] = apr_pstrdup(unit_pool, "live");
    words[count++] = apr_pstrdup(unit_pool, "relay");
    words[count++] = apr_pstrdup(unit_pool, "https://a.example");
    for (i = 0; i <= PAY_CONF_PARAMETERS_MAX; i++) {
        words[count++] = apr_psprintf(unit_pool, "p%d=a", i);
    }
    cmd.server = request_server();
    ck_assert_ptr_null(command->func.take_argv(&cmd, NULL, count - 1, words));
    cmd.server = request_server();
    ck_assert_ptr_nonnull(command->func.take_argv(&cmd, NULL, count, words));
}
END_TEST

/* If the connector is known already, an unprotected secret is refused on its own line. */
START_TEST(test_secrets_of_a_connector_that_is_known)
{
    const char *fault;

    stand_in.connector = &pay_acquirer_relay;
    fault = request_directive(request_server(), "PaymentsAcquirer",
                              "live relay https://a.example key=S3CR3T");
    ck_assert_ptr_nonnull(fault);
    ck_assert_ptr_nonnull(strstr(fault, "PaymentsAcquirer: key= is a secret"));
    request_set(request_server(), "PaymentsAcquirer", "live relay https://a.example key=file:/k");
}
END_TEST

START_TEST(test_currencies)
{
    server_rec *s = request_server();
    const char *fault = request_directive(s, "PaymentsCurrencies", "ngn XXY");

    ck_assert_ptr_nonnull(fault);
    ck_assert_ptr_nonnull(strstr(fault, "'XXY'"));
    request_set(s, "PaymentsCurrencies", "usd");
    ck_assert_int_eq(pay_conf_get(s)->policy.currencies->nelts, 2);
    ck_assert_str_eq(APR_ARRAY_IDX(pay_conf_get(s)->policy.currencies, 0, const char *), "NGN");
    ck_assert_str_eq(APR_ARRAY_IDX(pay_conf_get(s)->policy.currencies, 1, const char *), "USD");
}
END_TEST

/* An empty path is not valid, whatever precedes it in memory. */
START_TEST(test_no_path)
{
    static const char slash[] = "/";
    const command_rec *command = pay_conf_directives;
    cmd_parms cmd = {.pool = unit_pool, .temp_pool = unit_pool, .server = request_server()};

    while (strcmp(command->name, "PaymentsBasePath") != 0) {
        command++;
    }
    cmd.cmd = command;
    ck_assert_ptr_nonnull(command->func.take1(&cmd, NULL, slash + 1));
}
END_TEST

START_TEST(test_names_of_acquirers_differ)
{
    server_rec *s = request_server();

    request_set(s, "PaymentsAcquirer", "live relay https://a.example");
    ck_assert_ptr_nonnull(request_directive(s, "PaymentsAcquirer", "live relay https://a.example"));
    ck_assert_ptr_nonnull(
        request_directive(s, "PaymentsAcquirer", "live other name=relay@a.example"));
    request_set(s, "PaymentsAcquirer", "live relay https://a.example name=second");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_numbers, 0, UNIT_ROWS(number_rows));
    tcase_add_loop_test(tcase, test_rates, 0, UNIT_ROWS(rate_rows));
    tcase_add_loop_test(tcase, test_failures, 0, UNIT_ROWS(failure_rows));
    tcase_add_loop_test(tcase, test_texts, 0, UNIT_ROWS(text_rows));
    tcase_add_test(tcase, test_longest_texts);
    tcase_add_test(tcase, test_secrets_are_not_repeated);
    tcase_add_loop_test(tcase, test_origins, 0, UNIT_ROWS(origin_rows));
    tcase_add_test(tcase, test_host_of_an_origin_is_as_long_as_a_name);
    tcase_add_loop_test(tcase, test_no_more_than, 0, UNIT_ROWS(many_rows));
    tcase_add_loop_test(tcase, test_tls_proxies, 0, UNIT_ROWS(proxy_rows));
    tcase_add_loop_test(tcase, test_acquirers, 0, UNIT_ROWS(acquirer_rows));
    tcase_add_loop_test(tcase, test_longest_words_of_acquirers, 0, UNIT_ROWS(long_rows));
    tcase_add_test(tcase, test_parameters_of_an_acquirer);
    tcase_add_test(tcase, test_secrets_of_a_connector_that_is_known);
    tcase_add_test(tcase, test_currencies);
    tcase_add_test(tcase, test_no_path);
    tcase_add_test(tcase, test_names_of_acquirers_differ);
}

UNIT_PROGRAM(add)
