/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_DASHBOARD_H
#define PAY_HTTPD_CONF_DASHBOARD_H

/* What is judged about the dashboard once the whole configuration is read. */

#include "httpd/conf/conf.h"

/* Whether the dashboard and something else of this host lie at one path: a sentence, or NULL. */
const char *pay_conf_dashboard_fault(const pay_conf_t *conf, apr_pool_t *p);

#endif
