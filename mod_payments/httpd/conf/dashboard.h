/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_DASHBOARD_H
#define PAY_HTTPD_CONF_DASHBOARD_H

/* Checks of the dashboard after the whole configuration is read. */

#include "httpd/conf/conf.h"

/* Returns a sentence if the dashboard's path conflicts with another path of this host, or NULL. */
const char *pay_conf_dashboard_fault(const pay_conf_t *conf, apr_pool_t *p);

#endif
