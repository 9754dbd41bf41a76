/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_PREPARE_DELIVERY_H
#define PAY_HTTPD_PROCESS_PREPARE_DELIVERY_H

/*
 * Prepares notifications before there are child processes: the master keys, read while the parent
 * has the right to, and the directives about delivery, written to the stores. No failure keeps the
 * server from starting.
 */

#include "httpd/process/store_host.h"

/*
 * In the parent: loads the master key of each store_host, made if it does not exist, until `pconf`
 * is destroyed.
 */
void pay_prepare_keyrings(const apr_array_header_t *store_hosts, apr_pool_t *pconf);

/* The content of the file with PaymentsMailRelay's login. */
typedef struct pay_mail_login_t pay_mail_login_t;

/* Reads it as root; NULL: there is no such file to read. Wiped with `p`. */
const pay_mail_login_t *pay_prepare_login(const pay_store_host_t *store_host, apr_pool_t *p);

/* As the server's user: stores the delivery settings, and logs faults of the templates of e-mails
 * and stored secrets that the store_host's master key does not open. */
void pay_prepare_delivery(const pay_store_host_t *store_host, const pay_mail_login_t *login,
                          pay_store_t *store, apr_pool_t *p);

#endif
