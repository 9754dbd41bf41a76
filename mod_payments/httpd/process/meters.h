/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_METERS_H
#define PAY_HTTPD_PROCESS_METERS_H

/*
 * The server's meter: memory that lives as long as the parent process, so that its counts outlive
 * graceful restarts; and the present state of the stores.
 */

#include "base/shared/meter.h"
#include "httpd/process/acquirers.h"
#include "store/store.h"

#include <apr_tables.h>

/* NULL if no virtual host's engine is on, or if there is no shared memory. */
const pay_meter_t *pay_meters(void);

/* One store as this process sees it now. */
typedef struct pay_meters_store_t {
    apr_uint32_t number; /* from 0, in the order of the configuration */
    int up;              /* it can be used; 0: the following may be zero */
    int damaged;         /* a process died in it, and no check has passed since */
    int counted;         /* `stat` and `events` were read */
    pay_store_stat_t stat;
    pay_event_stat_t events;
    const apr_array_header_t *acquirers; /* of pay_acquirers_state_t; known without the store */
} pay_meters_store_t;

/* Returns an array of pay_meters_store_t; empty in the parent, and without an engine. */
apr_array_header_t *pay_meters_stores(apr_pool_t *p);

void pay_meters_register_hooks(apr_pool_t *p);

#endif
