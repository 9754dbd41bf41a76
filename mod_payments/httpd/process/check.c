/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/check.h"

#include "base/log.h"
#include "httpd/call/proxy.h"
#include "httpd/conf/acquirer.h"
#include "httpd/conf/conf.h"
#include "httpd/conf/root.h"
#include "httpd/path/own_path.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>

APLOG_USE_MODULE(payments);

/* Returns the first difference between two hosts' settings of one store, or NULL. */
static const char *different(const pay_conf_t *one, const pay_conf_t *two, apr_pool_t *p)
{
    if (one->options.map_bytes != two->options.map_bytes) {
        return "PaymentsStoreSize";
    }
    if (one->options.reserve_bytes != two->options.reserve_bytes) {
        return "PaymentsStoreReserve";
    }
    if (one->options.commit_wait != two->options.commit_wait) {
        return "PaymentsCommitWait";
    }
    if (one->options.commit_batch != two->options.commit_batch) {
        return "PaymentsCommitBatch";
    }
    if (one->options.account_rows_max != two->options.account_rows_max) {
        return "PaymentsAccountQuota";
    }
    if (one->options.checkout_keep != two->options.checkout_keep) {
        return "PaymentsCheckoutKeep";
    }
    if (strcmp(pay_conf_master_key(one, p), pay_conf_master_key(two, p)) != 0) {
        return "PaymentsMasterKey";
    }
    return NULL;
}

static const char *store_conflict(const server_rec *first, const server_rec *s, apr_pool_t *p)
{
    const pay_conf_t *conf = pay_conf_get(s);
    const pay_conf_t *other;
    const char *name;

    for (; first != s; first = first->next) {
        other = pay_conf_get(first);
        if (!other->engine || strcmp(other->store, conf->store) != 0) { /* it was judged before */
            continue;
        }
        name = different(other, conf, p);
        if (name) {
            return apr_psprintf(p, "%s: want one value for all virtual hosts of PaymentsStore %s",
                                name, conf->store);
        }
    }
    return NULL;
}

static const char *site_path_fault(const pay_conf_t *conf, const char *directive, const char *path,
                                   apr_pool_t *p)
{
    if (!path || !pay_own_path(path, conf->base_path)) {
        return NULL;
    }
    return apr_psprintf(p,
                        "%s: want a path that is not one of the API's, got '%s': everything there "
                        "needs a key",
                        directive, path);
}

static const char *master_key_fault(const server_rec *main_server, const pay_conf_t *conf,
                                    apr_pool_t *p)
{
    const char *path = pay_conf_master_key(conf, p);
    const char *store = strchr(conf->store, ':') + 1;
    const char *root = pay_conf_served_by(main_server, path);

    if (root) {
        return apr_psprintf(p,
                            "PaymentsMasterKey: want a file outside every DocumentRoot, got "
                            "'%s', which DocumentRoot %s serves",
                            path, root);
    }
    if (pay_conf_is_inside(path, store, strlen(store))) {
        return apr_psprintf(p,
                            "PaymentsMasterKey: want a file outside the store, got '%s': it "
                            "would be in every backup of %s",
                            path, store);
    }
    return NULL;
}

/* Returns 1 if `path` is `root` or below it. */
static int is_below(const char *path, const char *root)
{
    return pay_conf_is_inside(path, root, strlen(root));
}

/* Returns a sentence if the dashboard's path conflicts with another path of this host, or NULL. */
static const char *dashboard_fault(const pay_conf_t *conf, apr_pool_t *p)
{
    const char *path = conf->dashboard_path;
    const struct {
        const char *directive;
        const char *path;
    } others[] = {
        {"PaymentsHealth", conf->health_path},
        {"PaymentsMetrics", conf->metrics_path},
    };
    apr_size_t i;

    if (!path) {
        return NULL;
    }
    if (pay_own_path(path, conf->base_path)
        || is_below(apr_pstrcat(p, conf->base_path, "/api/v1", NULL), path)
        || is_below(apr_pstrcat(p, conf->base_path, "/payment/page", NULL), path)) {
        return apr_psprintf(p,
                            "PaymentsDashboard: want a path that is neither one of the API's nor "
                            "above one, got '%s': everything there needs a key",
                            path);
    }
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (others[i].path && is_below(others[i].path, path)) {
            return apr_psprintf(p, "%s: want a path outside PaymentsDashboard %s, got '%s'",
                                others[i].directive, path, others[i].path);
        }
    }
    return NULL;
}

/* Returns the fault of one host whose engine is on: a sentence, or NULL. */
static const char *host_fault(const server_rec *main_server, const server_rec *s, apr_pool_t *p)
{
    const pay_conf_t *conf = pay_conf_get(s);
    const char *fault;
    const char *root;

    if (!conf->store) {
        return "PaymentsEngine On needs PaymentsStore lmdb:<directory>";
    }
    if (!ap_find_linked_module("mod_watchdog.c")) {
        return "PaymentsEngine On needs mod_watchdog: load it (LoadModule watchdog_module ...)";
    }
    if (conf->options.reserve_bytes >= conf->options.map_bytes) {
        return apr_psprintf(
            p,
            "PaymentsStoreReserve: want less than PaymentsStoreSize (%" APR_INT64_T_FMT
            " bytes), got %" APR_INT64_T_FMT " bytes: every charge would be refused",
            conf->options.map_bytes, conf->options.reserve_bytes);
    }
    if (*conf->delivery.mail_relay && !*conf->delivery.mail_from) {
        return "PaymentsMailRelay needs PaymentsMailFrom: the sender's address of e-mails";
    }
    root = pay_conf_served_by(main_server, strchr(conf->store, ':') + 1);
    if (root) {
        return apr_psprintf(p,
                            "PaymentsStore: want a directory outside every DocumentRoot, got "
                            "'%s', which DocumentRoot %s serves",
                            conf->store, root);
    }
    fault = master_key_fault(main_server, conf, p);
    if (!fault) {
        fault = site_path_fault(conf, "PaymentsHealth", conf->health_path, p);
    }
    if (!fault) {
        fault = site_path_fault(conf, "PaymentsMetrics", conf->metrics_path, p);
    }
    if (!fault) {
        fault = dashboard_fault(conf, p);
    }
    if (!fault) {
        fault = pay_conf_acquirers_fault(main_server, s, p);
    }
    if (fault) {
        return fault;
    }
    if (conf->health_path && conf->metrics_path && !strcmp(conf->health_path, conf->metrics_path)) {
        return apr_psprintf(p, "PaymentsMetrics: want another path than PaymentsHealth, got '%s'",
                            conf->metrics_path);
    }
    return store_conflict(main_server, s, p);
}

static int check_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                        server_rec *main_server)
{
    server_rec *s;
    const char *fault;

    (void)pconf;
    (void)plog;
    for (s = main_server; s; s = s->next) {
        if (!pay_conf_get(s)->engine) {
            continue;
        }
        fault = host_fault(main_server, s, ptemp);
        if (!fault) {
            fault = pay_conf_proxy_fault(s, ptemp);
        }
        if (fault) {
            ap_log_error(APLOG_MARK, APLOG_STARTUP | APLOG_EMERG, 0, s,
                         PAYLOGNO(00300) "%s (%s:%u)", fault,
                         s->defn_name ? s->defn_name : "main server", s->defn_line_number);
            return HTTP_INTERNAL_SERVER_ERROR;
        }
    }
    return OK;
}

void pay_check_register_hooks(apr_pool_t *p)
{
    static const char *const before[] = {"mod_info.c", NULL};

    (void)p;
    /* -DDUMP_CONFIG shows the arguments: a secret in the wrong place stops the server first. */
    ap_hook_check_config(check_config, NULL, before, APR_HOOK_FIRST);
}
