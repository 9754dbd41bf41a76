/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_NETWORK_H
#define PAY_BASE_NET_NETWORK_H

/*
 * Which addresses a webhook may dial: public unicast ones (IANA special-purpose address registries,
 * RFC 6890 and successors), and networks that the administrator names. Pure.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_tables.h>

struct sockaddr;

/* Array for pay_network_permits of "10.0.0.0/8 2001:db8::1 ..."; APR_EINVAL: *word is the wrong
 * one. */
apr_status_t pay_network_list(apr_array_header_t **out, const char **word, const char *text,
                              apr_pool_t *p);

/*
 * 1 for a public address or one of `allowed` (NULL: none). IPv4 inside IPv6 (mapped, 64:ff9b::/96,
 * 6to4, Teredo) is judged as what it stands for, or refused. Other families: 0.
 */
int pay_network_permits(const struct sockaddr *address, const apr_array_header_t *allowed);

#endif
