/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/checkout.h"

#include "base/net/url.h"
#include "httpd/conf/conf.h"
#include "httpd/conf/parse.h"
#include "model/return_hosts.h"

#include <apr_strings.h>
#include <http_core.h>

const char *pay_conf_set_checkout_lifetime(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_wait(&conf->policy.checkout_lifetime, arg, PAY_CONF_CHECKOUT_LIFETIME_MIN,
                            PAY_CONF_CHECKOUT_LIFETIME_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "1s to 168h", arg);
    }
    conf->checkout_lifetime_set = 1;
    return NULL;
}

/* 1 when nothing follows the host but a slash. */
static int is_origin(const char *url)
{
    const char *host = strstr(url, "://");
    const char *path = host ? strpbrk(host + 3, "/?#") : NULL;

    return host && (!path || !strcmp(path, "/"));
}

const char *pay_conf_set_checkout_url(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *fault;
    pay_url_t *url;
    apr_status_t rv;

    (void)dir;
    rv = pay_url_parse(&url, &fault, arg, "https http", cmd->pool);
    if (rv != APR_SUCCESS || !is_origin(arg)) {
        return pay_conf_wrong(cmd, "scheme and host, such as https://shop.example", arg);
    }
    conf->checkout_url =
        apr_pstrmemdup(cmd->pool, arg, strlen(arg) - (arg[strlen(arg) - 1] == '/'));
    conf->checkout_url_set = 1;
    return NULL;
}

const char *pay_conf_add_return_host(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *list = conf->policy.return_hosts ? conf->policy.return_hosts : "";

    (void)dir;
    if (!pay_return_hosts_add(&conf->policy.return_hosts, list, arg, cmd->pool)
        || !*conf->policy.return_hosts) {
        return pay_conf_wrong(cmd, &PAY_RETURN_HOSTS_FAULT[strlen("want ")], arg);
    }
    conf->return_hosts_set = 1;
    return NULL;
}
