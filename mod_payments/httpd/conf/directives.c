/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/url.h"
#include "base/text/timezone.h"
#include "httpd/conf/acquirer.h"
#include "httpd/conf/conf.h"
#include "httpd/conf/delivery.h"
#include "httpd/conf/parse.h"
#include "httpd/conf/rate.h"
#include "httpd/conf/row.h"
#include "model/email.h"
#include "model/return_hosts.h"
#include "service/checkout/checkout_create.h"

#include <apr_general.h>
#include <apr_network_io.h>
#include <apr_strings.h>
#include <stddef.h>

/* ---- texts: the value stored for `arg`, NULL if it is invalid */

static const char *account(const char *arg, apr_pool_t *p)
{
    (void)p;
    return pay_account_name_check(arg) == APR_SUCCESS ? arg : NULL;
}

static const char *key_prefix(const char *arg, apr_pool_t *p)
{
    (void)p;
    return pay_key_prefix_check(arg) == APR_SUCCESS ? arg : NULL;
}

static const char *absolute(const char *arg, apr_pool_t *p)
{
    (void)p;
    return pay_conf_is_absolute(arg) ? arg : NULL;
}

static const char *site_path(const char *arg, apr_pool_t *p)
{
    (void)p;
    return arg[0] == '/' && pay_conf_is_path(arg) && strlen(arg) <= PAY_CONF_SITE_PATH_LEN_MAX
               ? arg
               : NULL;
}

static const char *base_path(const char *arg, apr_pool_t *p)
{
    const apr_size_t len = strlen(arg);
    const char *path = len > 0 && arg[len - 1] == '/' ? apr_pstrmemdup(p, arg, len - 1) : arg;

    return arg[0] == '/' && pay_conf_is_path(path) ? path : NULL;
}

static const char *currency(const char *arg, apr_pool_t *p)
{
    char code[PAY_CURRENCY_LEN + 1];

    return pay_currency_normalize(code, arg) == APR_SUCCESS ? apr_pstrdup(p, code) : NULL;
}

static const char *timezone_name(const char *arg, apr_pool_t *p)
{
    const pay_timezone_t *zone;

    return pay_timezone_load(&zone, arg, p) == APR_SUCCESS ? arg : NULL;
}

/* Only a slash may follow the host; it is removed. */
static const char *origin(const char *arg, apr_pool_t *p)
{
    const char *fault, *host, *path;
    pay_url_t *url;

    if (pay_url_parse(&url, &fault, arg, "https http", p) != APR_SUCCESS) {
        return NULL;
    }
    host = strstr(arg, "://") + 3;
    path = strpbrk(host, "/?#");
    if (path && strcmp(path, "/") != 0) {
        return NULL;
    }
    return path ? apr_pstrmemdup(p, arg, (apr_size_t)(path - arg)) : arg;
}

static const char *email(const char *arg, apr_pool_t *p)
{
    const char *address;

    return pay_email_normalize(&address, arg, p) == APR_SUCCESS ? address : NULL;
}

/* ---- directives with their own setter */

static const char *set_store(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    apr_size_t len = strlen(arg);
    const char *fault;

    (void)dir;
    fault = pay_store_url_fault(arg);
    if (fault) {
        return pay_conf_wrong(cmd, apr_pstrcat(cmd->pool, "lmdb:<directory> (", fault, ")", NULL),
                              arg);
    }
    /* One spelling for each directory, as far as possible without accessing it. */
    while (arg[len - 1] == '/') { /* a colon precedes them */
        len--;
    }
    conf->store = apr_pstrmemdup(cmd->pool, arg, len);
    pay_conf_said(cmd, 0);
    return NULL;
}

static const char *add_currency(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *code = currency(arg, cmd->pool);
    apr_array_header_t *list;

    (void)dir;
    if (!code) {
        return pay_conf_wrong(cmd, "ISO 4217 currencies such as NGN USD", arg);
    }
    list = conf->policy.currencies ? apr_array_copy(cmd->pool, conf->policy.currencies)
                                   : apr_array_make(cmd->pool, 4, sizeof(const char *));
    APR_ARRAY_PUSH(list, const char *) = code;
    conf->policy.currencies = list;
    pay_conf_said(cmd, 0);
    return NULL;
}

/* Returns 1 if `address` is complete. APR reads "10" and "10.1" as networks; here they are
 * mistakes. */
static int is_whole_address(const char *address)
{
    int dots = 0;

    if (strchr(address, ':')) {
        return 1;
    }
    for (; *address; address++) {
        dots += *address == '.';
    }
    return dots == 3;
}

static const char *add_tls_proxy(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    char *address = apr_pstrdup(cmd->temp_pool, arg);
    char *mask = strchr(address, '/');
    apr_ipsubnet_t *subnet = NULL;
    apr_array_header_t *list;
    apr_status_t rv;

    (void)dir;
    if (mask) {
        *mask++ = '\0';
    }
    rv = apr_ipsubnet_create(&subnet, address, mask, cmd->pool);
    if (rv != APR_SUCCESS || !is_whole_address(address)) {
        return pay_conf_wrong(cmd, "addresses or networks such as 192.0.2.1 or 10.0.0.0/8", arg);
    }
    list = conf->tls_proxy ? apr_array_copy(cmd->pool, conf->tls_proxy)
                           : apr_array_make(cmd->pool, 2, sizeof(apr_ipsubnet_t *));
    APR_ARRAY_PUSH(list, apr_ipsubnet_t *) = subnet;
    conf->tls_proxy = list;
    pay_conf_said(cmd, 0);
    return NULL;
}

static const char *add_cors_origin(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *origin;

    (void)dir;
    if (pay_conf_parse_origin(&origin, arg, cmd->pool) != APR_SUCCESS) {
        return pay_conf_wrong(cmd,
                              "origins as browsers send them, such as https://shop.example or "
                              "http://localhost:3000: http or https, a host (xn--... if it has "
                              "non-ASCII letters), a port unless it is the scheme's default, and "
                              "no path, not even a slash; neither * nor null",
                              arg);
    }
    if (!conf->cors_origins) {
        conf->cors_origins = apr_array_make(cmd->pool, 2, sizeof(const char *));
    }
    if (conf->cors_origins->nelts == PAY_CONF_CORS_ORIGINS_MAX) {
        return pay_conf_wrong(cmd, "at most " APR_STRINGIFY(PAY_CONF_CORS_ORIGINS_MAX) " origins",
                              arg);
    }
    APR_ARRAY_PUSH(conf->cors_origins, const char *) = origin;
    pay_conf_said(cmd, 0);
    return NULL;
}

static const char *add_return_host(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *list = conf->policy.return_hosts ? conf->policy.return_hosts : "";

    (void)dir;
    if (!pay_return_hosts_add(&conf->policy.return_hosts, list, arg, cmd->pool)
        || !*conf->policy.return_hosts) {
        return pay_conf_wrong(cmd, &PAY_RETURN_HOSTS_FAULT[strlen("want ")], arg);
    }
    pay_conf_said(cmd, 0);
    return NULL;
}

/* ---- the table */

#define ROW(...)                                                                                   \
    (void *)&(const pay_conf_row_t)                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* A member of pay_conf_t, which must be of this type. */
#define PART(type, place, value, number)                                                           \
    {                                                                                              \
        .at = offsetof(pay_conf_t, place),                                                         \
        .size = _Generic(((pay_conf_t *)NULL)->place, type                                         \
                         : sizeof(type)),                                                          \
        .standard = (value), .part = (number)                                                      \
    }
#define PARTS(...)                                                                                 \
    .members = (const pay_conf_member_t[])                                                         \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define MEMBER(type, place, value) PARTS(PART(type, place, value, 0))

/* Defaults. */
#define INT(value) (&(const int){value})
#define BYTES_OF(value) (&(const apr_int64_t){value})
#define TIME(value) (&(const apr_interval_time_t){value})
#define STRING(value) (&(const char *const){value})

/* Bounds. */
#define MS(value) apr_time_from_msec(APR_INT64_C(value))
#define S(value) apr_time_from_sec(APR_INT64_C(value))
#define H(value) S(3600 * value)
#define K(value) (APR_INT64_C(value) << 10)
#define M(value) (APR_INT64_C(value) << 20)
#define T(value) (APR_INT64_C(value) << 40)

/* One value of a simple kind: name, scope, member, default, bounds and expected form, help. */
#define VALUE(name, help, ...)                                                                     \
    AP_INIT_TAKE1(name, pay_conf_set_value, ROW(__VA_ARGS__), RSRC_CONF, help)
#define FLAG(name, in, place, yes, no, value, help)                                                \
    VALUE(name, help, .kind = PAY_CONF_FLAG, .scope = (in), MEMBER(int, place, value),             \
          .words = {yes, no}, .want = yes " or " no)
#define COUNT(name, place, value, least, most, wanted, help)                                       \
    VALUE(name, help, .kind = PAY_CONF_COUNT, MEMBER(int, place, value), .min = (least),           \
          .max = (most), .want = wanted)
#define BYTES(name, place, value, least, most, wanted, help)                                       \
    VALUE(name, help, .kind = PAY_CONF_BYTES, MEMBER(apr_int64_t, place, value), .min = (least),   \
          .max = (most), .want = wanted)
#define WAIT(name, place, value, least, most, wanted, help)                                        \
    VALUE(name, help, .kind = PAY_CONF_WAIT, MEMBER(apr_interval_time_t, place, value),            \
          .min = (least), .max = (most), .want = wanted)
#define WAIT_OR_OFF(name, place, value, least, most, wanted, help)                                 \
    VALUE(name, help, .kind = PAY_CONF_WAIT_OR_OFF, MEMBER(apr_interval_time_t, place, value),     \
          .min = (least), .max = (most), .want = wanted)
#define TEXT(name, in, place, value, read, wanted, help)                                           \
    VALUE(name, help, .kind = PAY_CONF_TEXT, .scope = (in), MEMBER(const char *, place, value),    \
          .text = (read), .want = wanted)
#define SITE_PATH(name, place, help)                                                               \
    TEXT(name, PAY_CONF_HOST, place, NULL, site_path,                                              \
         "a path such as /payments-health, segments of A-Z a-z 0-9 - . _ ~, without a slash at "   \
         "its end",                                                                                \
         help)

/* Its own setter: name, AP_INIT_ kind, setter, scope, members, help. */
#define OWN(name, takes, setter, in, members, help)                                                \
    AP_INIT_##takes(name, setter, ROW(.scope = (in), members), RSRC_CONF, help)

#define FAILURES(kind)                                                                             \
    PART(pay_failure_limit_t, policy.failure_limit[PAY_TEST][kind], NULL, kind),                   \
        PART(pay_failure_limit_t, policy.failure_limit[PAY_LIVE][kind], &live_failures[kind],      \
             kind)

static const pay_rate_limit_t public_default = {APR_USEC_PER_SEC / 5, 50};
static const pay_rate_limit_t total_default = {APR_USEC_PER_SEC / 50, 500};
static const pay_rate_limit_t failure_default = {APR_USEC_PER_SEC, 120};

/* For Live Mode; Test Mode has no limits: its cards exist to be declined. */
static const pay_failure_limit_t live_failures[PAY_FAILURE_KINDS] = {
    [PAY_FAILURE_CARD] = {5, apr_time_from_sec(600)},
    [PAY_FAILURE_LINK] = {100, apr_time_from_sec(3600)},
    [PAY_FAILURE_ADDRESS] = {20, apr_time_from_sec(600)},
    [PAY_FAILURE_ACCOUNT] = {200, apr_time_from_sec(3600)},
};

const command_rec pay_conf_directives[] = {
    FLAG("PaymentsEngine", PAY_CONF_HOST, engine, "On", "Off", NULL,
         "On or Off: whether this virtual host serves the payment API (default Off)"),
    OWN("PaymentsStore", TAKE1, set_store, PAY_CONF_INHERITED, MEMBER(const char *, store, NULL),
        "Where payments are kept: lmdb:<absolute directory>"),
    BYTES("PaymentsStoreSize", options.map_bytes, &pay_store_options_default.map_bytes, M(1), T(16),
          "1M to 16T", "Largest size of the store, 1M to 16T (default 64G)"),
    BYTES("PaymentsStoreReserve", options.reserve_bytes, &pay_store_options_default.reserve_bytes,
          0, T(16), "0 to 16T",
          "Free room below which new charges are refused, 0 to 16T (default 256M)"),
    COUNT("PaymentsAccountQuota", options.account_rows_max, NULL, 0, 999999999,
          "0 (any number) to 999999999", "Most rows of an account and mode (default 0: no limit)"),
    WAIT_OR_OFF(
        "PaymentsCheckoutKeep", options.checkout_keep, &pay_store_options_default.checkout_keep,
        S(1), H(87600), "1s to 87600h, or off",
        "How long unpaid checkouts of public keys stay, 1s to 87600h (default 720h), or off"),
    COUNT("PaymentsCommitBatch", options.commit_batch, &pay_store_options_default.commit_batch, 1,
          PAY_STORE_COMMIT_BATCH_MAX, "1 to " APR_STRINGIFY(PAY_STORE_COMMIT_BATCH_MAX),
          "Most writes that one commit makes durable, 1 to 256 (default 256)"),
    WAIT("PaymentsCommitWait", options.commit_wait, &pay_store_options_default.commit_wait, MS(10),
         S(60), "10ms to 60s",
         "Longest wait for the writer lock of the store, 10ms to 60s (default 2s)"),
    TEXT("PaymentsAccount", PAY_CONF_INHERITED, account, NULL, account,
         "1 to 64 of a-z 0-9 . _ -, first a letter or digit",
         "The one account whose keys exist here (default: the key selects it)"),
    TEXT("PaymentsBasePath", PAY_CONF_INHERITED, base_path, STRING(""), base_path,
         "a path such as /shop, segments of A-Z a-z 0-9 - . _ ~",
         "Path below which the API lives (default /)"),
    TEXT("PaymentsKeyPrefix", PAY_CONF_INHERITED, key_prefix,
         &pay_account_settings_builtin.key_prefix, key_prefix, "1 to 16 of a-z 0-9, first a letter",
         "Prefix of new API keys of new accounts (default pay)"),
    TEXT("PaymentsDefaultCurrency", PAY_CONF_INHERITED, currency,
         &pay_account_settings_builtin.currency, currency, "an ISO 4217 currency such as NGN",
         "Currency of new accounts, for charges without one (default NGN)"),
    OWN("PaymentsCurrencies", ITERATE, add_currency, PAY_CONF_INHERITED,
        MEMBER(const apr_array_header_t *, policy.currencies, NULL),
        "The only currencies that are charged (default: every one)"),
    TEXT("PaymentsTimezone", PAY_CONF_INHERITED, timezone, &pay_account_settings_builtin.timezone,
         timezone_name, "an IANA time zone that this system knows, such as Africa/Lagos",
         "IANA time zone of new accounts, for bare dates (default UTC)"),
    BYTES("PaymentsMaxBody", body_max, BYTES_OF(K(64)), K(1), M(16), "1K to 16M",
          "Largest request body, 1K to 16M (default 64K)"),
    FLAG("PaymentsRequireTLS", PAY_CONF_INHERITED, require_tls, "On", "Off", INT(1),
         "On or Off: whether calls without TLS are refused, except loopback (default On)"),
    OWN("PaymentsTrustedTLSProxy", ITERATE, add_tls_proxy, PAY_CONF_INHERITED,
        MEMBER(const apr_array_header_t *, tls_proxy, NULL),
        "Addresses or networks whose X-Forwarded-Proto is trusted (default: none)"),
    COUNT("PaymentsRefundMaxDays", policy.refund_days_max, NULL, 0, 36600,
          "0 (any span) to 36600 days",
          "Longest range of a refund list in days, 0 to 36600 (default 0: any)"),
    WAIT("PaymentsAcquirerTimeout", policy.acquirer_timeout, TIME(PAY_ACQUIRER_TIMEOUT_DEFAULT),
         PAY_CONF_ACQUIRER_TIMEOUT_MIN, PAY_CONF_ACQUIRER_TIMEOUT_MAX, "1s to 60s",
         "Longest wait for the acquirer to answer, 1s to 60s (default 20s)"),
    OWN("PaymentsAcquirer", TAKE_ARGV, pay_conf_add_acquirer, PAY_CONF_INHERITED,
        MEMBER(apr_array_header_t *, acquirers, NULL),
        "live, a connector, its URL and parameters as name=value (default: none)"),
    COUNT("PaymentsAcquirerMaxInFlight", in_flight_max, INT(64), 1, 4096, "1 to 4096",
          "Most calls to one acquirer at a time, 1 to 4096 (default 64)"),
    WAIT("PaymentsSlotWait", policy.slot_wait, TIME(PAY_SLOT_WAIT_DEFAULT), MS(10), S(60),
         "10ms to 60s", "Longest wait for a slot for a live call, 10ms to 60s (default 500ms)"),
    WAIT("PaymentsAcquirerLateAfter", policy.late_after, TIME(PAY_LATE_AFTER_DEFAULT), S(1), H(168),
         "1s to 168h", "How long an acquirer must not know a payment before it fails (default 1h)"),
    FLAG("PaymentsLateApproval", PAY_CONF_INHERITED, policy.late_refund, "refund", "hold", NULL,
         "refund or hold a charge that is approved after it failed (default hold)"),
    WAIT("PaymentsPendingAlert", policy.pending_alert, TIME(PAY_PENDING_ALERT_DEFAULT), S(1),
         H(168), "1s to 168h",
         "How long a payment may be pending before a person is alerted (default 1h)"),
    WAIT_OR_OFF("PaymentsRefundSync", policy.refund_sync, TIME(S(600)), S(1), H(24),
                "1s to 24h, or off",
                "How often refunds made elsewhere are fetched, or off (default 10min)"),
    WAIT_OR_OFF("PaymentsRefundRepeatWindow", policy.refund_repeat_window, TIME(S(600)), 0, H(24),
                "0 or off, or a time up to 24h",
                "How long the same partial refund counts as a repeat, 0 to 24h (default 10min)"),
    OWN("PaymentsRateLimit", TAKE123, pay_conf_set_rate_limit, PAY_CONF_INHERITED,
        PARTS(PART(pay_rate_limit_t, rate_limit[PAY_KEY_SECRET], NULL, PAY_KEY_SECRET),
              PART(pay_rate_limit_t, rate_limit[PAY_KEY_PUBLIC], &public_default, PAY_KEY_PUBLIC),
              PART(pay_rate_limit_t, rate_total, &total_default, PAY_CONF_RATE_TOTAL)),
        "How often a key may call, such as 200/s burst=400, or off"),
    OWN("PaymentsAuthFailureLimit", TAKE12, pay_conf_set_failure_limit, PAY_CONF_INHERITED,
        MEMBER(pay_rate_limit_t, failure_limit, &failure_default),
        "How often an address may send refused keys (default 60/min burst=120)"),
    OWN("PaymentsFailureLimit", RAW_ARGS, pay_conf_set_payment_failures, PAY_CONF_INHERITED,
        PARTS(FAILURES(PAY_FAILURE_CARD), FAILURES(PAY_FAILURE_LINK), FAILURES(PAY_FAILURE_ADDRESS),
              FAILURES(PAY_FAILURE_ACCOUNT)),
        "How many payments may fail by card, link, address, account: card 5/10min"),
    OWN("PaymentsCORSOrigin", ITERATE, add_cors_origin, PAY_CONF_HOST,
        MEMBER(apr_array_header_t *, cors_origins, NULL),
        "Origins whose pages may call with a public key (default: none)"),
    SITE_PATH("PaymentsHealth", health_path,
              "Path that answers load balancers 200 or 503 without a key (default: none)"),
    SITE_PATH("PaymentsMetrics", metrics_path,
              "Path of the metrics for Prometheus; needs a Require (default: none)"),
    SITE_PATH("PaymentsDashboard", dashboard_path,
              "Path of the dashboard; needs the site's authentication (default: none)"),
    TEXT("PaymentsDashboardFiles", PAY_CONF_INHERITED, dashboard_files, NULL, absolute,
         "an absolute path to a directory",
         "Directory of the dashboard's pages (default: the installed one)"),
    WAIT("PaymentsCheckoutLifetime", policy.checkout_lifetime, TIME(PAY_CHECKOUT_LIFETIME_DEFAULT),
         S(1), PAY_CHECKOUT_LIFETIME_MAX, "1s to 168h",
         "How long a checkout can be paid before it is abandoned, 1s to 168h (default 1h)"),
    TEXT("PaymentsCheckoutURL", PAY_CONF_INHERITED, checkout_url, NULL, origin,
         "scheme and host, such as https://shop.example",
         "Scheme and host of hosted pages (default: those of the API call)"),
    OWN("PaymentsReturnHosts", ITERATE, add_return_host, PAY_CONF_INHERITED,
        MEMBER(const char *, policy.return_hosts, NULL),
        "Hosts that redirectUrl of public keys may name (default: any, after a click)"),
    OWN("PaymentsMasterKey", TAKE1, pay_conf_set_master_key, PAY_CONF_INHERITED,
        MEMBER(const char *, master_key, NULL),
        "Key of stored secrets: file:<absolute path> (default: the store's path.key)"),
    FLAG("PaymentsWebhookInsecure", PAY_CONF_GLOBAL, delivery.webhook_insecure, "On", "Off", NULL,
         "On or Off: whether webhooks of Test Mode may be http (default Off)"),
    OWN("PaymentsWebhookAllow", ITERATE, pay_conf_add_webhook_allow, PAY_CONF_GLOBAL,
        MEMBER(const char *, delivery.webhook_allow, STRING("")),
        "Networks that webhooks may reach besides public ones (default: none)"),
    TEXT("PaymentsTrustedCA", PAY_CONF_GLOBAL, delivery.trusted_ca, STRING(""), absolute,
         "the absolute path of a file of PEM certificates",
         "File of certificates that verify receivers (default: the system's)"),
    OWN("PaymentsMailRelay", TAKE12, pay_conf_set_mail_relay, PAY_CONF_GLOBAL,
        PARTS(PART(const char *, delivery.mail_relay, STRING(""), 0),
              PART(const char *, mail_login_file, NULL, 0)),
        "smtp[s]://host[:port], optionally the file of its login (default: none)"),
    TEXT("PaymentsMailFrom", PAY_CONF_GLOBAL, delivery.mail_from, STRING(""), email,
         "one e-mail address such as shop@shop.example", "Sender's address of e-mails"),
    TEXT("PaymentsMailTemplates", PAY_CONF_GLOBAL, delivery.mail_templates, STRING(""), absolute,
         "the absolute path of a directory",
         "Directory of templates that replace the installed ones (default: none)"),
    {NULL, {NULL}, NULL, 0, RAW_ARGS, NULL},
};

_Static_assert(sizeof(pay_conf_directives) / sizeof(pay_conf_directives[0])
                   <= PAY_CONF_DIRECTIVES_MAX,
               "a row without a place in pay_conf_t.said");
