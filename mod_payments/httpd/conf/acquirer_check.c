/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/acquirer.h"

#include "acquirer/acquirer.h"
#include "httpd/conf/conf.h"
#include "httpd/conf/root.h"

#include <ap_provider.h>
#include <apr_strings.h>
#include <stdlib.h>

#define DIRECTIVE "PaymentsAcquirer"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "relay, other": the connectors available for Live Mode. */
static const char *connectors(apr_pool_t *p)
{
    const apr_array_header_t *found =
        ap_list_provider_names(p, PAYMENTS_ACQUIRER_GROUP, PAYMENTS_ACQUIRER_VERSION);
    apr_array_header_t *names = apr_array_make(p, 4, sizeof(const char *));
    const payments_acquirer_t *connector;
    const char *name, *list = "";
    int i;

    for (i = 0; i < found->nelts; i++) {
        name = APR_ARRAY_IDX(found, i, ap_list_provider_names_t).provider_name;
        connector = pay_conf_connector(name);
        if (connector && !(connector->flags & PAYMENTS_PURE)) {
            APR_ARRAY_PUSH(names, const char *) = name;
        }
    }
    if (names->nelts > 0) {
        qsort(names->elts, (size_t)names->nelts, sizeof(const char *), by_name);
    }
    for (i = 0; i < names->nelts; i++) {
        list = apr_pstrcat(p, list, i ? ", " : "", APR_ARRAY_IDX(names, i, const char *), NULL);
    }
    return list;
}

/* Files that a site serves could be downloaded. */
static const char *place_fault(const server_rec *main_server, const payments_acquirer_t *connector,
                               const pay_conf_acquirer_t *acquirer, apr_pool_t *p)
{
    const char *const *secret = connector->secrets;
    const char *value, *path, *root;

    for (; secret && *secret; secret++) {
        value = apr_table_get(acquirer->given, *secret);
        path = value ? strchr(value, ':') + 1 : NULL;
        root = path ? pay_conf_served_by(main_server, path) : NULL;
        if (root) {
            return apr_psprintf(p,
                                "%s=: want a file outside every DocumentRoot, got '%s', which "
                                "DocumentRoot %s serves",
                                *secret, path, root);
        }
    }
    return NULL;
}

static const char *acquirer_fault(const server_rec *main_server, const pay_conf_t *conf,
                                  const pay_conf_acquirer_t *acquirer, apr_pool_t *p)
{
    const payments_acquirer_t *connector = pay_conf_connector(acquirer->connector);
    const payments_settings_t settings = {
        .struct_size = sizeof(settings),
        .url = acquirer->url,
        .given = acquirer->given,
        .account = conf->account,
        .live = 1,
        .timeout = pay_conf_acquirer_timeout(conf, acquirer),
    };
    const char *fault;

    if (!connector) {
        return apr_psprintf(p,
                            DIRECTIVE ": want a connector that a loaded module has (%s), got '%s'",
                            connectors(p), acquirer->connector);
    }
    fault = pay_acquirer_fault(connector, p);
    if (!fault && (connector->flags & PAYMENTS_PURE)) {
        fault = "it decides by itself and moves no money; Test Mode needs no " DIRECTIVE;
    }
    if (fault) {
        return apr_psprintf(p, DIRECTIVE ": the connector '%s' cannot be used in Live Mode: %s",
                            acquirer->connector, fault);
    }
    fault = pay_conf_acquirer_secret_fault(connector, acquirer, p);
    if (!fault) {
        fault = place_fault(main_server, connector, acquirer, p);
    }
    if (!fault) {
        fault = connector->check(&settings, p);
    }
    return fault ? apr_psprintf(p, DIRECTIVE " live %s: %s", acquirer->connector, fault) : NULL;
}

/* ---- one acquirer that two hosts name */

static int is_given_too(void *data, const char *name, const char *value)
{
    const char *other = apr_table_get(data, name);

    return other && !strcmp(other, value);
}

static int is_same_table(apr_table_t *one, apr_table_t *two)
{
    return apr_table_elts(one)->nelts == apr_table_elts(two)->nelts
           && apr_table_do(is_given_too, two, one, NULL);
}

static int is_same(const pay_conf_t *conf, const pay_conf_acquirer_t *one, const pay_conf_t *other,
                   const pay_conf_acquirer_t *two)
{
    return !strcmp(one->connector, two->connector) && !one->url == !two->url
           && (!one->url || !strcmp(one->url, two->url)) && is_same_table(one->given, two->given)
           && pay_conf_acquirer_timeout(conf, one) == pay_conf_acquirer_timeout(other, two)
           && conf->in_flight_max == other->in_flight_max;
}

/* The acquirer that the other host configures differently under the same name, or NULL. */
static const pay_conf_acquirer_t *different(const pay_conf_t *conf, const pay_conf_t *other)
{
    const pay_conf_acquirer_t *one, *two;
    int i, k;

    for (i = 0; i < conf->acquirers->nelts; i++) {
        one = APR_ARRAY_IDX(conf->acquirers, i, const pay_conf_acquirer_t *);
        for (k = 0; other->acquirers && k < other->acquirers->nelts; k++) {
            two = APR_ARRAY_IDX(other->acquirers, k, const pay_conf_acquirer_t *);
            if (!strcmp(one->name, two->name) && !is_same(conf, one, other, two)) {
                return one;
            }
        }
    }
    return NULL;
}

static const char *conflict(const server_rec *first, const server_rec *s, apr_pool_t *p)
{
    const pay_conf_t *conf = pay_conf_get(s);
    const pay_conf_acquirer_t *acquirer;
    const pay_conf_t *other;

    for (; first != s; first = first->next) {
        other = pay_conf_get(first);
        if (!other->engine || !other->account || strcmp(other->store, conf->store) != 0
            || strcmp(other->account, conf->account) != 0) {
            continue;
        }
        acquirer = different(conf, other);
        if (acquirer) {
            return apr_psprintf(p,
                                DIRECTIVE
                                ": want one URL, one set of parameters, one time-out and one "
                                "PaymentsAcquirerMaxInFlight for '%s' in all virtual hosts of "
                                "PaymentsAccount %s, or another name=",
                                acquirer->name, conf->account);
        }
    }
    return NULL;
}

const char *pay_conf_acquirers_fault(const server_rec *main_server, const server_rec *s,
                                     apr_pool_t *p)
{
    const pay_conf_t *conf = pay_conf_get(s);
    const char *fault = NULL;
    int i;

    if (!conf->acquirers) {
        return NULL;
    }
    if (!conf->account) {
        return DIRECTIVE " needs PaymentsAccount: the money that it moves belongs to one account";
    }
    for (i = 0; i < conf->acquirers->nelts && !fault; i++) {
        fault = acquirer_fault(main_server, conf,
                               APR_ARRAY_IDX(conf->acquirers, i, const pay_conf_acquirer_t *), p);
    }
    return fault ? fault : conflict(main_server, s, p);
}
