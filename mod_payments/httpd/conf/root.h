/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_ROOT_H
#define PAY_HTTPD_CONF_ROOT_H

/* Files below a DocumentRoot could be downloaded: they belong to the server's own user. */

#include <httpd.h>

/* Returns 1 if `path` is `dir`, whose name has `len` bytes, or is inside it. */
int pay_conf_is_inside(const char *path, const char *dir, apr_size_t len);

/* Returns the DocumentRoot, of any host, that would serve this file, or NULL. */
const char *pay_conf_served_by(const server_rec *main_server, const char *path);

#endif
