/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/conf.h"

#include "base/crypto/keyring.h"
#include "httpd/conf/row.h"

#include <apr_strings.h>
#include <http_log.h>

APLOG_USE_MODULE(payments);

pay_conf_t *pay_conf_get(const server_rec *s)
{
    return ap_get_module_config(s->module_config, &payments_module);
}

void *pay_conf_create(apr_pool_t *p, server_rec *s)
{
    pay_conf_t *conf = apr_pcalloc(p, sizeof(*conf));

    (void)s;
    conf->options = pay_store_options_default;
    conf->delivery.mail_login = "";
    pay_conf_defaults(conf);
    return conf;
}

/* The main server's acquirers move the money of the account that it names, if it names one. */
static int is_other_account(const pay_conf_t *base, const pay_conf_t *add)
{
    return base->account && add->account && strcmp(base->account, add->account) != 0;
}

void *pay_conf_merge(apr_pool_t *p, void *base_conf, void *add_conf)
{
    const pay_conf_t *base = base_conf;
    const pay_conf_t *add = add_conf;
    pay_conf_t *conf = apr_pmemdup(p, add, sizeof(*add));

    pay_conf_inherit(conf, base, add);
    if (conf->acquirers == base->acquirers && is_other_account(base, add)) {
        conf->acquirers = NULL;
    }
    return conf;
}

const char *pay_conf_master_key(const pay_conf_t *conf, apr_pool_t *p)
{
    return conf->master_key ? conf->master_key : pay_keyring_path(conf->store, p);
}
