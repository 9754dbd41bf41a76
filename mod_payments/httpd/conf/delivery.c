/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/delivery.h"

#include "base/net/network.h"
#include "base/net/url.h"
#include "httpd/conf/parse.h"
#include "httpd/conf/row.h"

#include <apr_general.h>
#include <apr_strings.h>

#define FILE_PREFIX "file:"

const char *pay_conf_set_master_key(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *path = arg + strlen(FILE_PREFIX);

    (void)dir;
    /* The value is not repeated: it may be the key itself. */
    if (strncmp(arg, FILE_PREFIX, strlen(FILE_PREFIX)) != 0 || !pay_conf_is_absolute(path)
        || path[strlen(path) - 1] == '/') {
        return apr_psprintf(cmd->pool,
                            "%s: want " FILE_PREFIX
                            "<absolute path of a file>, such as " FILE_PREFIX
                            "/etc/apache2/payments/master.key",
                            cmd->cmd->name);
    }
    conf->master_key = path;
    pay_conf_said(cmd, 0);
    return NULL;
}

const char *pay_conf_add_webhook_allow(cmd_parms *cmd, void *dir, const char *arg)
{
    const char *fault = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    pay_delivery_t *delivery = &pay_conf_get(cmd->server)->delivery;
    apr_array_header_t *list;
    const char *text, *word;

    (void)dir;
    if (fault) {
        return fault;
    }
    text = apr_pstrcat(cmd->pool, delivery->webhook_allow, *delivery->webhook_allow ? " " : "", arg,
                       NULL);
    if (strpbrk(arg, " \t") || pay_network_list(&list, &word, text, cmd->temp_pool)) {
        return pay_conf_wrong(
            cmd, "addresses or networks such as 192.0.2.1, 10.0.0.0/8 or fd00::/8", arg);
    }
    if (list->nelts > PAY_CONF_NETWORKS_MAX) {
        return pay_conf_wrong(cmd, "at most " APR_STRINGIFY(PAY_CONF_NETWORKS_MAX) " networks",
                              arg);
    }
    delivery->webhook_allow = text;
    pay_conf_said(cmd, 0);
    return NULL;
}

/* Returns 1 if the URL ends after host and port; a single slash after them does not count. */
static int is_bare(const char *url)
{
    const char *host = strstr(url, "://") + 3;
    apr_size_t len = strcspn(host, "/?#");

    return host[len] == '\0' || !strcmp(host + len, "/");
}

const char *pay_conf_set_mail_relay(cmd_parms *cmd, void *dir, const char *arg, const char *login)
{
    const char *fault = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    pay_conf_t *conf = pay_conf_get(cmd->server);
    pay_url_t *url;

    (void)dir;
    if (fault) {
        return fault;
    }
    /* The value is not repeated: somebody may have written a password into it. */
    if (pay_url_parse(&url, &fault, arg, "smtp smtps", cmd->pool) != APR_SUCCESS) {
        return apr_psprintf(cmd->pool, "%s: %s; such as smtp://mail.example:587", cmd->cmd->name,
                            fault);
    }
    if (!is_bare(arg)) {
        return apr_psprintf(cmd->pool,
                            "%s: want nothing after host and port; such as "
                            "smtp://mail.example:587",
                            cmd->cmd->name);
    }
    if (login && !pay_conf_is_absolute(login)) {
        return pay_conf_wrong(cmd, "the absolute path of the login's file after the URL", login);
    }
    conf->delivery.mail_relay =
        apr_psprintf(cmd->pool, "%s://%s:%d", url->scheme, url->host, url->port);
    conf->mail_login_file = login;
    pay_conf_said(cmd, 0);
    return NULL;
}
