/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/store.h"

#include "httpd/conf/conf.h"
#include "httpd/conf/parse.h"

#include <apr_general.h>
#include <apr_strings.h>

const char *pay_conf_set_store(cmd_parms *cmd, void *dir, const char *arg)
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
    /* One spelling for each directory, as far as can be told without touching it. */
    while (arg[len - 1] == '/') { /* there is a colon before them */
        len--;
    }
    conf->store = apr_pstrmemdup(cmd->pool, arg, len);
    conf->store_set = 1;
    return NULL;
}

const char *pay_conf_set_store_size(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_size(&conf->options.map_bytes, arg, PAY_CONF_STORE_MIN, PAY_CONF_STORE_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "1M to 16T", arg);
    }
    conf->map_bytes_set = 1;
    return NULL;
}

const char *pay_conf_set_store_reserve(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_size(&conf->options.reserve_bytes, arg, 0, PAY_CONF_STORE_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "0 to 16T", arg);
    }
    conf->reserve_bytes_set = 1;
    return NULL;
}

const char *pay_conf_set_commit_wait(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_wait(&conf->options.commit_wait, arg, PAY_CONF_COMMIT_WAIT_MIN,
                            PAY_CONF_COMMIT_WAIT_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "10ms to 60s", arg);
    }
    conf->commit_wait_set = 1;
    return NULL;
}

const char *pay_conf_set_commit_batch(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    (void)dir;
    if (pay_conf_parse_count(&conf->options.commit_batch, arg, 1, PAY_STORE_COMMIT_BATCH_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "1 to " APR_STRINGIFY(PAY_STORE_COMMIT_BATCH_MAX), arg);
    }
    conf->commit_batch_set = 1;
    return NULL;
}

const char *pay_conf_set_account_quota(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (pay_conf_parse_count(&conf->options.account_rows_max, arg, 0, PAY_CONF_QUOTA_MAX)
        != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "0 (any number) to " APR_STRINGIFY(PAY_CONF_QUOTA_MAX), arg);
    }
    conf->account_rows_max_set = 1;
    return NULL;
}

const char *pay_conf_set_checkout_keep(cmd_parms *cmd, void *dir, const char *arg)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (!strcasecmp(arg, "off")) {
        conf->options.checkout_keep = 0;
    } else if (pay_conf_parse_wait(&conf->options.checkout_keep, arg, PAY_CONF_CHECKOUT_KEEP_MIN,
                                   PAY_CONF_CHECKOUT_KEEP_MAX)
               != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "1s to 87600h, or off", arg);
    }
    conf->checkout_keep_set = 1;
    return NULL;
}
