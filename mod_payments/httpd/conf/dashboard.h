/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_DASHBOARD_H
#define PAY_HTTPD_CONF_DASHBOARD_H

/* The directives of the dashboard. */

#include "httpd/conf/conf.h"

const char *pay_conf_set_dashboard(cmd_parms *cmd, void *dir, const char *arg);
const char *pay_conf_set_dashboard_files(cmd_parms *cmd, void *dir, const char *arg);

/* Whether the dashboard and something else of this host lie at one path: a sentence, or NULL. */
const char *pay_conf_dashboard_fault(const pay_conf_t *conf, apr_pool_t *p);

/* A path of the site's that a directive opens; *out is a place in the server's configuration. */
const char *pay_conf_set_site_path(const char **out, cmd_parms *cmd, const char *arg);

#endif
