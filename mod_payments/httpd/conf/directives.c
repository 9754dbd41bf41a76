/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/timezone.h"
#include "httpd/conf/acquirer.h"
#include "httpd/conf/checkout.h"
#include "httpd/conf/conf.h"
#include "httpd/conf/dashboard.h"
#include "httpd/conf/delivery.h"
#include "httpd/conf/parse.h"
#include "httpd/conf/rate.h"
#include "httpd/conf/store.h"

#include <apr_general.h>
#include <apr_network_io.h>
#include <apr_strings.h>

static const char *set_engine(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_on_off(&conf->engine, arg) != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "On or Off", arg);
    }
    return NULL;
}

static const char *set_account(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_account_name_check(arg) != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "1 to 64 of a-z 0-9 . _ -, first a letter or digit", arg);
    }
    conf->account = arg;
    conf->account_set = 1;
    return NULL;
}

static const char *set_base_path(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    apr_size_t len = strlen(arg);
    const char *path = arg;

    (void)dir;
    if (len > 0 && arg[len - 1] == '/') {
        path = apr_pstrmemdup(cmd->pool, arg, len - 1);
    }
    if (arg[0] != '/' || !pay_conf_is_path(path)) {
        return pay_conf_wrong(cmd, "a path such as /shop, segments of A-Z a-z 0-9 - . _ ~", arg);
    }
    conf->base_path = path;
    conf->base_path_set = 1;
    return NULL;
}

static const char *set_key_prefix(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_key_prefix_check(arg) != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "1 to 16 of a-z 0-9, first a letter", arg);
    }
    conf->key_prefix = arg;
    conf->key_prefix_set = 1;
    return NULL;
}

static const char *normal_currency(cmd_parms *cmd, const char *arg)
{
    char code[PAY_CURRENCY_LEN + 1];

    if (pay_currency_normalize(code, arg) != APR_SUCCESS) {
        return NULL;
    }
    return apr_pstrdup(cmd->pool, code);
}

static const char *set_default_currency(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *code = normal_currency(cmd, arg);

    (void)dir;
    if (!code) {
        return pay_conf_wrong(cmd, "an ISO 4217 currency such as NGN", arg);
    }
    conf->currency = code;
    conf->currency_set = 1;
    return NULL;
}

static const char *add_currency(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *code = normal_currency(cmd, arg);
    apr_array_header_t *list;

    (void)dir;
    if (!code) {
        return pay_conf_wrong(cmd, "ISO 4217 currencies such as NGN USD", arg);
    }
    list = conf->currencies_set ? apr_array_copy(cmd->pool, conf->policy.currencies)
                                : apr_array_make(cmd->pool, 4, sizeof(const char *));
    APR_ARRAY_PUSH(list, const char *) = code;
    conf->policy.currencies = list;
    conf->currencies_set = 1;
    return NULL;
}

static const char *set_timezone(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const pay_timezone_t *zone;
    apr_status_t rv;

    (void)dir;
    rv = pay_timezone_load(&zone, arg, cmd->temp_pool);
    if (rv != APR_SUCCESS) {
        return pay_conf_wrong(cmd,
                              "an IANA time zone that this system knows, such as "
                              "Africa/Lagos",
                              arg);
    }
    conf->timezone = arg;
    conf->timezone_set = 1;
    return NULL;
}

static const char *set_max_body(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_size(&conf->body_max, arg, PAY_CONF_BODY_MIN, PAY_CONF_BODY_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "1K to 16M", arg);
    }
    conf->body_max_set = 1;
    return NULL;
}

static const char *set_require_tls(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_on_off(&conf->require_tls, arg) != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "On or Off", arg);
    }
    conf->require_tls_set = 1;
    return NULL;
}

/* Whether `address` is a whole one: APR reads "10" and "10.1" as networks; here they are slips. */
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
    list = conf->tls_proxy_set ? apr_array_copy(cmd->pool, conf->tls_proxy)
                               : apr_array_make(cmd->pool, 2, sizeof(apr_ipsubnet_t *));
    APR_ARRAY_PUSH(list, apr_ipsubnet_t *) = subnet;
    conf->tls_proxy = list;
    conf->tls_proxy_set = 1;
    return NULL;
}

static const char *set_refund_max_days(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_count(&conf->policy.refund_days_max, arg, 0, PAY_CONF_DAYS_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "0 (any span) to 36600 days", arg);
    }
    conf->refund_days_max_set = 1;
    return NULL;
}

static const char *set_acquirer_timeout(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_wait(&conf->policy.acquirer_timeout, arg, PAY_CONF_ACQUIRER_TIMEOUT_MIN,
                            PAY_CONF_ACQUIRER_TIMEOUT_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "1s to 60s", arg);
    }
    conf->acquirer_timeout_set = 1;
    return NULL;
}

static const char *set_refund_repeat_window(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *text = !strcasecmp(arg, "off") ? "0" : arg;

    (void)dir;
    if (pay_conf_parse_wait(&conf->policy.refund_repeat_window, text, 0,
                            PAY_CONF_REFUND_REPEAT_WINDOW_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "0 or off, or a time up to 24h", arg);
    }
    conf->refund_repeat_window_set = 1;
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
    return NULL;
}

/* *out is a place in the server's configuration. */
const char *pay_conf_set_site_path(const char **out, cmd_parms *cmd, const char *arg)
{
    if (arg[0] != '/' || !pay_conf_is_path(arg) || strlen(arg) > PAY_CONF_SITE_PATH_LEN_MAX) {
        return pay_conf_wrong(cmd,
                              "a path such as /payments-health, segments of A-Z a-z 0-9 - . _ ~, "
                              "without a slash at its end",
                              arg);
    }
    *out = arg;
    return NULL;
}

static const char *set_health(cmd_parms *cmd, void *dir, const char *arg)
{
    (void)dir;
    return pay_conf_set_site_path(&pay_conf_get(cmd->server)->health_path, cmd, arg);
}

static const char *set_metrics(cmd_parms *cmd, void *dir, const char *arg)
{
    (void)dir;
    return pay_conf_set_site_path(&pay_conf_get(cmd->server)->metrics_path, cmd, arg);
}

const command_rec pay_conf_directives[] = {
    AP_INIT_TAKE1("PaymentsEngine", set_engine, NULL, RSRC_CONF,
                  "On or Off: whether this virtual host serves the payment API (default Off)"),
    AP_INIT_TAKE1("PaymentsStore", pay_conf_set_store, NULL, RSRC_CONF,
                  "Where payments are kept: lmdb:<absolute directory>"),
    AP_INIT_TAKE1("PaymentsStoreSize", pay_conf_set_store_size, NULL, RSRC_CONF,
                  "Largest size of the store, 1M to 16T (default 64G)"),
    AP_INIT_TAKE1("PaymentsStoreReserve", pay_conf_set_store_reserve, NULL, RSRC_CONF,
                  "Free room below which new charges are refused, 0 to 16T (default 256M)"),
    AP_INIT_TAKE1("PaymentsAccountQuota", pay_conf_set_account_quota, NULL, RSRC_CONF,
                  "Most rows of an account and mode (default 0: no limit)"),
    AP_INIT_TAKE1(
        "PaymentsCheckoutKeep", pay_conf_set_checkout_keep, NULL, RSRC_CONF,
        "How long unpaid checkouts of public keys stay, 1s to 87600h (default 720h), or off"),
    AP_INIT_TAKE1("PaymentsCommitBatch", pay_conf_set_commit_batch, NULL, RSRC_CONF,
                  "Most writes that one commit makes durable, 1 to 256 (default 256)"),
    AP_INIT_TAKE1("PaymentsCommitWait", pay_conf_set_commit_wait, NULL, RSRC_CONF,
                  "Longest wait for the writer lock of the store, 10ms to 60s (default 2s)"),
    AP_INIT_TAKE1("PaymentsAccount", set_account, NULL, RSRC_CONF,
                  "The one account whose keys exist here (default: the key selects it)"),
    AP_INIT_TAKE1("PaymentsBasePath", set_base_path, NULL, RSRC_CONF,
                  "Path below which the API lives (default /)"),
    AP_INIT_TAKE1("PaymentsKeyPrefix", set_key_prefix, NULL, RSRC_CONF,
                  "Prefix of new API keys of new accounts (default pay)"),
    AP_INIT_TAKE1("PaymentsDefaultCurrency", set_default_currency, NULL, RSRC_CONF,
                  "Currency of new accounts, for charges without one (default NGN)"),
    AP_INIT_ITERATE("PaymentsCurrencies", add_currency, NULL, RSRC_CONF,
                    "The only currencies that are charged (default: every one)"),
    AP_INIT_TAKE1("PaymentsTimezone", set_timezone, NULL, RSRC_CONF,
                  "IANA time zone of new accounts, for bare dates (default UTC)"),
    AP_INIT_TAKE1("PaymentsMaxBody", set_max_body, NULL, RSRC_CONF,
                  "Largest request body, 1K to 16M (default 64K)"),
    AP_INIT_TAKE1("PaymentsRequireTLS", set_require_tls, NULL, RSRC_CONF,
                  "On or Off: whether calls without TLS are refused, except loopback (default On)"),
    AP_INIT_ITERATE("PaymentsTrustedTLSProxy", add_tls_proxy, NULL, RSRC_CONF,
                    "Addresses or networks whose X-Forwarded-Proto is trusted (default: none)"),
    AP_INIT_TAKE1("PaymentsRefundMaxDays", set_refund_max_days, NULL, RSRC_CONF,
                  "Longest range of a refund list in days, 0 to 36600 (default 0: any)"),
    AP_INIT_TAKE1("PaymentsAcquirerTimeout", set_acquirer_timeout, NULL, RSRC_CONF,
                  "Longest wait for the acquirer to answer, 1s to 60s (default 20s)"),
    AP_INIT_TAKE_ARGV("PaymentsAcquirer", pay_conf_add_acquirer, NULL, RSRC_CONF,
                      "live, a connector, its URL and parameters as name=value (default: none)"),
    AP_INIT_TAKE1("PaymentsAcquirerMaxInFlight", pay_conf_set_in_flight, NULL, RSRC_CONF,
                  "Most calls to one acquirer at a time, 1 to 4096 (default 64)"),
    AP_INIT_TAKE1("PaymentsSlotWait", pay_conf_set_slot_wait, NULL, RSRC_CONF,
                  "Longest wait for a slot for a live call, 10ms to 60s (default 500ms)"),
    AP_INIT_TAKE1("PaymentsAcquirerLateAfter", pay_conf_set_late_after, NULL, RSRC_CONF,
                  "How long an acquirer must not know a payment before it fails (default 1h)"),
    AP_INIT_TAKE1("PaymentsLateApproval", pay_conf_set_late_approval, NULL, RSRC_CONF,
                  "refund or hold a charge that is approved after it failed (default hold)"),
    AP_INIT_TAKE1("PaymentsPendingAlert", pay_conf_set_pending_alert, NULL, RSRC_CONF,
                  "How long a payment may be pending before a person is alerted (default 1h)"),
    AP_INIT_TAKE1("PaymentsRefundSync", pay_conf_set_refund_sync, NULL, RSRC_CONF,
                  "How often refunds made elsewhere are fetched, or off (default 10min)"),
    AP_INIT_TAKE1("PaymentsRefundRepeatWindow", set_refund_repeat_window, NULL, RSRC_CONF,
                  "How long the same partial refund counts as a repeat, 0 to 24h (default 10min)"),
    AP_INIT_TAKE123("PaymentsRateLimit", pay_conf_set_rate_limit, NULL, RSRC_CONF,
                    "How often a key may call, such as 200/s burst=400, or off"),
    AP_INIT_TAKE12("PaymentsAuthFailureLimit", pay_conf_set_failure_limit, NULL, RSRC_CONF,
                   "How often an address may send refused keys (default 60/min burst=120)"),
    AP_INIT_RAW_ARGS("PaymentsFailureLimit", pay_conf_set_payment_failures, NULL, RSRC_CONF,
                     "How many payments may fail by card, link, address, account: card 5/10min"),
    AP_INIT_ITERATE("PaymentsCORSOrigin", add_cors_origin, NULL, RSRC_CONF,
                    "Origins whose pages may call with a public key (default: none)"),
    AP_INIT_TAKE1("PaymentsHealth", set_health, NULL, RSRC_CONF,
                  "Path that answers load balancers 200 or 503 without a key (default: none)"),
    AP_INIT_TAKE1("PaymentsMetrics", set_metrics, NULL, RSRC_CONF,
                  "Path of the metrics for Prometheus; needs a Require (default: none)"),
    AP_INIT_TAKE1("PaymentsDashboard", pay_conf_set_dashboard, NULL, RSRC_CONF,
                  "Path of the dashboard; needs the site's authentication (default: none)"),
    AP_INIT_TAKE1("PaymentsDashboardFiles", pay_conf_set_dashboard_files, NULL, RSRC_CONF,
                  "Directory of the dashboard's pages (default: the installed one)"),
    AP_INIT_TAKE1(
        "PaymentsCheckoutLifetime", pay_conf_set_checkout_lifetime, NULL, RSRC_CONF,
        "How long a checkout can be paid before it is abandoned, 1s to 168h (default 1h)"),
    AP_INIT_TAKE1("PaymentsCheckoutURL", pay_conf_set_checkout_url, NULL, RSRC_CONF,
                  "Scheme and host of hosted pages (default: those of the API call)"),
    AP_INIT_ITERATE("PaymentsReturnHosts", pay_conf_add_return_host, NULL, RSRC_CONF,
                    "Hosts that redirectUrl of public keys may name (default: any, after a click)"),
    AP_INIT_TAKE1("PaymentsMasterKey", pay_conf_set_master_key, NULL, RSRC_CONF,
                  "Key of stored secrets: file:<absolute path> (default: the store's path.key)"),
    AP_INIT_TAKE1("PaymentsWebhookInsecure", pay_conf_set_webhook_insecure, NULL, RSRC_CONF,
                  "On or Off: whether webhooks of Test Mode may be http (default Off)"),
    AP_INIT_ITERATE("PaymentsWebhookAllow", pay_conf_add_webhook_allow, NULL, RSRC_CONF,
                    "Networks that webhooks may reach besides public ones (default: none)"),
    AP_INIT_TAKE1("PaymentsTrustedCA", pay_conf_set_trusted_ca, NULL, RSRC_CONF,
                  "File of certificates that verify receivers (default: the system's)"),
    AP_INIT_TAKE12("PaymentsMailRelay", pay_conf_set_mail_relay, NULL, RSRC_CONF,
                   "smtp[s]://host[:port], optionally the file of its login (default: none)"),
    AP_INIT_TAKE1("PaymentsMailFrom", pay_conf_set_mail_from, NULL, RSRC_CONF,
                  "Sender's address of e-mails"),
    AP_INIT_TAKE1("PaymentsMailTemplates", pay_conf_set_mail_templates, NULL, RSRC_CONF,
                  "Directory of templates that replace the installed ones (default: none)"),
    {NULL, {NULL}, NULL, 0, RAW_ARGS, NULL},
};
