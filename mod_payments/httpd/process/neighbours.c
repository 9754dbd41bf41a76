/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/neighbours.h"

#include "base/log.h"
#include "httpd/process/store_host.h"

#include <ap_mpm.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <mpm_common.h>

APLOG_USE_MODULE(payments);

/* Modules whose scripts run as the server's user, by the file that names them to httpd. */
static const struct {
    const char *file;
    const char *name;
    const char *remedy;
} modules[] = {
    {"mod_php.c", "mod_php", "run PHP in PHP-FPM, with a pool and a user for each tenant"},
    {"mod_php7.c", "mod_php", "run PHP in PHP-FPM, with a pool and a user for each tenant"},
    {"mod_lua.c", "mod_lua", "let no tenant write Lua scripts"},
    {"mod_perl.c", "mod_perl", "let no tenant write Perl handlers"},
    {"mod_cgi.c", "mod_cgi", "run CGI by suexec, with SuexecUserGroup in every virtual host"},
    {"mod_cgid.c", "mod_cgid", "run CGI by suexec, with SuexecUserGroup in every virtual host"},
};

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                       server_rec *main_server)
{
    const apr_array_header_t *store_hosts = pay_store_hosts();
    apr_size_t i;

    (void)pconf;
    (void)plog;
    (void)ptemp;
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG || !store_hosts
        || store_hosts->nelts == 0) {
        return OK;
    }
    for (i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        if (ap_find_linked_module(modules[i].file)) {
            ap_log_error(
                APLOG_MARK, APLOG_NOTICE, 0, main_server,
                PAYLOGNO(00661) "%s is loaded in a server with a payments store: its scripts run "
                                "as the server's user and can read and write the store. If anyone "
                                "but you writes such scripts, %s, or give payments a server of "
                                "their own (docs/operations.md, \"Shared hosting\")",
                modules[i].name, modules[i].remedy);
        }
    }
    if (ap_coredumpdir_configured) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, main_server,
            PAYLOGNO(00662) "CoreDumpDirectory is set: it opens the memory of child processes, "
                            "with the secrets in it, to every script of the server's user, and "
                            "writes them into core files. Remove it where real money is taken");
    }
    return OK;
}

void pay_neighbours_register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_LAST); /* the stores are known by then */
}
