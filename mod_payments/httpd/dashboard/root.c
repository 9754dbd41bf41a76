/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/root.h"

#include "base/log.h"
#include "httpd/conf/conf.h"

#include <apr_file_info.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>

APLOG_USE_MODULE(payments);

/* Returns 1 if the directory exists and contains anything. */
static int has_content(const char *directory, apr_pool_t *ptemp)
{
    apr_finfo_t info;
    apr_status_t rv;
    apr_dir_t *dir;
    int found = 0;

    rv = apr_dir_open(&dir, directory, ptemp);
    if (rv != APR_SUCCESS) {
        return 0; /* usually httpd's own default */
    }
    while (!found && apr_dir_read(&info, APR_FINFO_NAME, dir) == APR_SUCCESS) {
        found = strcmp(info.name, ".") != 0 && strcmp(info.name, "..") != 0;
    }
    apr_dir_close(dir);
    return found;
}

void pay_dashboard_root_judge(const server_rec *main_server, apr_pool_t *ptemp)
{
    const core_server_config *core;
    const pay_conf_t *conf;
    const server_rec *s;

    for (s = main_server; s; s = s->next) {
        conf = pay_conf_get(s);
        core = ap_get_core_module_config(s->module_config);
        if (!conf->engine || !conf->dashboard_path || !core || !core->ap_document_root
            || !has_content(core->ap_document_root, ptemp)) {
            continue;
        }
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s,
                     PAYLOGNO(00680) "PaymentsDashboard %s: the host %s also serves DocumentRoot "
                                     "%s: any script that a browser runs from there acts as the "
                                     "user who is signed in to the dashboard. Give the dashboard "
                                     "a virtual host and a host name of its own, with an empty "
                                     "directory as DocumentRoot (docs/dashboard.md)",
                     conf->dashboard_path, s->server_hostname ? s->server_hostname : "",
                     core->ap_document_root);
    }
}
