/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_NETWORK_H
#define PAY_BASE_NET_NETWORK_H

/*
 * The addresses that a webhook may connect to: public unicast ones (IANA special-purpose address
 * registries, RFC 6890 and successors), and networks that the administrator names. Pure.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_tables.h>

struct sockaddr;

/* Parses "10.0.0.0/8 2001:db8::1 ..." into an array for pay_network_permits; APR_EINVAL: *word is
 * the wrong one. */
apr_status_t pay_network_list(apr_array_header_t **out, const char **word, const char *text,
                              apr_pool_t *p);

/*
 * Returns 1 for a public address or one in `allowed` (NULL: empty). IPv4 inside IPv6 (mapped,
 * 64:ff9b::/96, 6to4, Teredo) is judged as the embedded address, or refused. Other families: 0.
 */
int pay_network_permits(const struct sockaddr *address, const apr_array_header_t *allowed);

#endif
