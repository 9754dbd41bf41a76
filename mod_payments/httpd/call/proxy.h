/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_PROXY_H
#define PAY_HTTPD_CALL_PROXY_H

/*
 * mod_proxy takes the paths of a ProxyPass with mapping=encoded or mapping=servlet before any URL
 * is decoded, ahead of all that claims one. It must not take ours: it would pass keys on.
 */

#include <httpd.h>

/*
 * Returns a sentence about such a ProxyPass of this host, whose engine is on, or NULL. For
 * check_config.
 */
const char *pay_conf_proxy_fault(server_rec *s, apr_pool_t *p);

/* Keeps our URLs from such a ProxyPass while the server runs, wherever it is configured. */
void pay_conf_proxy_register_hooks(apr_pool_t *p);

#endif
