/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_FENCE_H
#define PAY_HTTPD_PROCESS_FENCE_H

/*
 * Keeps files of stores, keys and secrets from being served, on every virtual host of the server: a
 * link in a document root may lead to them, and the children may read them. A request whose file is
 * one of them (device and inode) is answered 403, which is logged.
 *
 * The file is checked when httpd has looked it up (all requests, sub-requests and internal
 * redirects pass there), and again when a handler sends a file that it has opened: the link may
 * have been another one when it was looked up, and some handlers open files that httpd never looked
 * up. Files that a handler or program opens and reads by itself are not seen.
 */

#include <apr_pools.h>

void pay_fence_register_hooks(apr_pool_t *p);

#endif
