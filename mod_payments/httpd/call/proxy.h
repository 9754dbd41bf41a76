/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_PROXY_H
#define PAY_HTTPD_CALL_PROXY_H

/*
 * mod_proxy takes what a ProxyPass with mapping=encoded or mapping=servlet covers before any URL is
 * decoded, ahead of all that claims one. It must not cover ours: it would pass keys on.
 */

#include <httpd.h>

/* A sentence on such a ProxyPass of this host, whose engine is on, or NULL. For check_config. */
const char *pay_conf_proxy_fault(server_rec *s, apr_pool_t *p);

/* Keeps our URLs from such a ProxyPass while the server runs, wherever it is said. */
void pay_conf_proxy_register_hooks(apr_pool_t *p);

#endif
