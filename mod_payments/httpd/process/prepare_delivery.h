/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_PREPARE_DELIVERY_H
#define PAY_HTTPD_PROCESS_PREPARE_DELIVERY_H

/*
 * What notifications need before there are child processes: the master keys, read while the parent
 * has the right to, and the directives about delivery, told to the stores. Nothing of it keeps the
 * server from starting.
 */

#include "httpd/process/store_host.h"

/* The parent's: the master key of each store_host, made when there is none, until `pconf` goes. */
void pay_prepare_keyrings(const apr_array_header_t *store_hosts, apr_pool_t *pconf);

/* What the file of PaymentsMailRelay's login holds. */
typedef struct pay_mail_login_t pay_mail_login_t;

/* Read as root; NULL: there is no such file to read. It is wiped with `p`. */
const pay_mail_login_t *pay_prepare_login(const pay_store_host_t *store_host, apr_pool_t *p);

/* As the server's user: stores how to deliver, and says what is wrong with templates of e-mails,
 * and which stored secrets the store_host's master key does not open. */
void pay_prepare_delivery(const pay_store_host_t *store_host, const pay_mail_login_t *login,
                          pay_store_t *store, apr_pool_t *p);

#endif
