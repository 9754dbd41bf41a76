/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_ROOT_H
#define PAY_HTTPD_DASHBOARD_ROOT_H

/* Other content on a dashboard's host. */

#include <httpd.h>

/* At start: warns of each host that has a dashboard and a DocumentRoot that is not empty. Other
 * content, by Alias or ProxyPass, is not detected. */
void pay_dashboard_root_judge(const server_rec *main_server, apr_pool_t *ptemp);

#endif
