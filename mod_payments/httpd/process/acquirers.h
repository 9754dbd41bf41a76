/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_ACQUIRERS_H
#define PAY_HTTPD_PROCESS_ACQUIRERS_H

/*
 * The acquirers of Live Mode: one for each store, account and name, shared by all virtual hosts
 * that name it. The parent makes the state that all children share, each child opens its connector.
 */

#include "httpd/conf/acquirer.h"
#include "httpd/process/store_host.h"

#include <stdatomic.h>

/* Part of pay_store_host_t. */
typedef struct pay_acquirers_one_t {
    const pay_conf_acquirer_t *said;
    const char *account;
    server_rec *host; /* the first that names it */
    const payments_acquirer_t *connector;
    payments_settings_t settings; /* `given` contains secrets once they were read */
    int in_flight_max;
    int is_out;       /* a secret could not be read, which is logged */
    atomic_int *told; /* shared: a child has logged why it cannot be opened */

    /* Its slots and breaker are shared; the rest is this child's. */
    pay_acquirer_t acquirer;
    atomic_int is_open; /* the connector must be stopped */
} pay_acquirers_one_t;

/* In the parent: fills store_host->acquirers, with the state that the children share. */
void pay_acquirers_share(const apr_array_header_t *store_hosts, server_rec *main_server,
                         apr_pool_t *pconf);

/* In child_init, before threads start: opens them. An acquirer that cannot be opened refuses every
 * call. `forever`: lives as long as the process. */
void pay_acquirers_open(pay_store_host_t *store_host, apr_pool_t *forever);

/* This process ends: calls under way of all store_hosts return. May be repeated. */
void pay_acquirers_stop(void);

/* Sets the acquirers of one host; those of Live Mode must be open. */
void pay_acquirers_serve(pay_service_t *service, const pay_store_host_t *store_host, server_rec *s,
                         apr_pool_t *forever);

/* Number of acquirers */
typedef struct pay_acquirers_standing_t {
    int closed;  /* that can be called, as far as is known, */
    int open;    /* that are left alone after failures, */
    int probing; /* that one call probes, */
    int faulty;  /* that refuse our credentials, or lack them */
} pay_acquirers_standing_t;

/*
 * Acquirers of one name; their accounts must not be revealed, so pages about the server show them
 * together.
 */
typedef struct pay_acquirers_state_t {
    const char *name;
    int calls;     /* under way in all processes */
    int calls_max; /* PaymentsAcquirerMaxInFlight of all together */
    pay_acquirers_standing_t all;
    pay_acquirers_standing_t visitors; /* for calls of visitors */
} pay_acquirers_state_t;

/* Array of pay_acquirers_state_t; if there are more than PAY_ACQUIRERS_NAMES_MAX names, the last
 * ones are combined as one more, "other". */
#define PAY_ACQUIRERS_NAMES_MAX 32
apr_array_header_t *pay_acquirers_states(const pay_store_host_t *store_host, apr_pool_t *p);

void pay_acquirers_register_hooks(apr_pool_t *p);

#endif
