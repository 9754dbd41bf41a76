/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/conf.h"

#include "base/crypto/keyring.h"
#include "httpd/conf/acquirer.h"
#include "service/checkout/checkout_create.h"

#include <apr_strings.h>
#include <http_log.h>

APLOG_USE_MODULE(payments);

#define BODY_DEFAULT (APR_INT64_C(64) << 10)

static const pay_rate_limit_t public_default = {APR_USEC_PER_SEC / 5, 50};
static const pay_rate_limit_t total_default = {APR_USEC_PER_SEC / 50, 500};
static const pay_delivery_t delivery_default = {0, "", "", "", "", "", ""};
static const pay_rate_limit_t failure_default = {APR_USEC_PER_SEC, 120};

/* Of Live Mode; Test Mode has none: its cards are there to be declined. */
static const pay_failure_limit_t live_failures[PAY_FAILURE_KINDS] = {
    [PAY_FAILURE_CARD] = {5, apr_time_from_sec(600)},
    [PAY_FAILURE_LINK] = {100, apr_time_from_sec(3600)},
    [PAY_FAILURE_ADDRESS] = {20, apr_time_from_sec(600)},
    [PAY_FAILURE_ACCOUNT] = {200, apr_time_from_sec(3600)},
};

pay_conf_t *pay_conf_get(const server_rec *s)
{
    return ap_get_module_config(s->module_config, &payments_module);
}

void *pay_conf_create(apr_pool_t *p, server_rec *s)
{
    pay_conf_t *conf = apr_pcalloc(p, sizeof(*conf));

    (void)s;
    conf->base_path = "";
    conf->key_prefix = pay_account_settings_builtin.key_prefix;
    conf->currency = pay_account_settings_builtin.currency;
    conf->timezone = pay_account_settings_builtin.timezone;
    conf->require_tls = 1;
    conf->body_max = BODY_DEFAULT;
    conf->options = pay_store_options_default;
    conf->policy.acquirer_timeout = PAY_ACQUIRER_TIMEOUT_DEFAULT;
    conf->policy.slot_wait = PAY_SLOT_WAIT_DEFAULT;
    conf->policy.refund_repeat_window = PAY_CONF_REFUND_REPEAT_WINDOW;
    conf->policy.late_after = PAY_LATE_AFTER_DEFAULT;
    conf->policy.pending_alert = PAY_PENDING_ALERT_DEFAULT;
    conf->in_flight_max = PAY_CONF_IN_FLIGHT_DEFAULT;
    conf->policy.refund_sync = PAY_CONF_REFUND_SYNC_DEFAULT;
    conf->rate_limit[PAY_KEY_PUBLIC] = public_default;
    conf->rate_total = total_default;
    conf->failure_limit = failure_default;
    memcpy(conf->policy.failure_limit[PAY_LIVE], live_failures, sizeof(live_failures));
    conf->delivery = delivery_default;
    conf->policy.checkout_lifetime = PAY_CHECKOUT_LIFETIME_DEFAULT;
    return conf;
}

/* `place` is the member's own place in the structure, `name` that of its _set bit. */
#define INHERIT(place, name)                                                                       \
    do {                                                                                           \
        conf->place = add->name##_set ? add->place : base->place;                                  \
        conf->name##_set = add->name##_set || base->name##_set;                                    \
    } while (0)

/* The main server's acquirers move the money of the account that it names, if it names one. */
static int is_other_account(const pay_conf_t *base, const pay_conf_t *add)
{
    return base->account_set && add->account_set && strcmp(base->account, add->account) != 0;
}

static void inherit_failures(pay_conf_t *conf, const pay_conf_t *base, const pay_conf_t *add)
{
    int kind, mode;

    for (kind = 0; kind < PAY_FAILURE_KINDS; kind++) {
        for (mode = 0; mode < PAY_MODE_COUNT && !(add->failure_kinds_set & 1u << kind); mode++) {
            conf->policy.failure_limit[mode][kind] = base->policy.failure_limit[mode][kind];
        }
    }
    conf->failure_kinds_set = base->failure_kinds_set | add->failure_kinds_set;
}

void *pay_conf_merge(apr_pool_t *p, void *base_conf, void *add_conf)
{
    const pay_conf_t *base = base_conf;
    const pay_conf_t *add = add_conf;
    pay_conf_t *conf = apr_pmemdup(p, add, sizeof(*add));

    INHERIT(store, store);
    INHERIT(account, account);
    INHERIT(base_path, base_path);
    INHERIT(key_prefix, key_prefix);
    INHERIT(currency, currency);
    INHERIT(timezone, timezone);
    INHERIT(tls_proxy, tls_proxy);
    INHERIT(require_tls, require_tls);
    INHERIT(body_max, body_max);
    INHERIT(options.map_bytes, map_bytes);
    INHERIT(options.reserve_bytes, reserve_bytes);
    INHERIT(options.commit_wait, commit_wait);
    INHERIT(options.commit_batch, commit_batch);
    INHERIT(options.account_rows_max, account_rows_max);
    INHERIT(options.checkout_keep, checkout_keep);
    INHERIT(policy.currencies, currencies);
    INHERIT(policy.refund_days_max, refund_days_max);
    INHERIT(policy.acquirer_timeout, acquirer_timeout);
    INHERIT(policy.slot_wait, slot_wait);
    INHERIT(policy.refund_repeat_window, refund_repeat_window);
    INHERIT(policy.late_after, late_after);
    INHERIT(policy.late_refund, late_refund);
    INHERIT(policy.pending_alert, pending_alert);
    INHERIT(acquirers, acquirers);
    if (conf->acquirers == base->acquirers && is_other_account(base, add)) {
        conf->acquirers = NULL;
        conf->acquirers_set = 0;
    }
    INHERIT(in_flight_max, in_flight_max);
    INHERIT(policy.refund_sync, refund_sync);
    INHERIT(rate_limit[PAY_KEY_SECRET], rate_secret);
    INHERIT(rate_limit[PAY_KEY_PUBLIC], rate_public);
    INHERIT(rate_total, rate_total);
    INHERIT(failure_limit, failure_limit);
    inherit_failures(conf, base, add);
    INHERIT(master_key, master_key);
    INHERIT(dashboard_files, dashboard_files);
    INHERIT(checkout_url, checkout_url);
    INHERIT(policy.checkout_lifetime, checkout_lifetime);
    INHERIT(policy.return_hosts, return_hosts);
    conf->delivery = base->delivery; /* no virtual host says it */
    conf->mail_login_file = base->mail_login_file;
    return conf;
}

const char *pay_conf_master_key(const pay_conf_t *conf, apr_pool_t *p)
{
    return conf->master_key ? conf->master_key : pay_keyring_path(conf->store, p);
}
