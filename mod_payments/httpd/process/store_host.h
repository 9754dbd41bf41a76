/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_STORE_HOST_H
#define PAY_HTTPD_PROCESS_STORE_HOST_H

/*
 * One store of the configuration with all the virtual hosts that name it, and the work of a child
 * process with it. Collected again by each generation's parent; the child's part is filled in once
 * in child_init, before threads start.
 */

#include "base/crypto/keyring.h"
#include "service/account/key_usage.h"
#include "service/history/sync.h"
#include "service/outbox/outbox.h"
#include "service/reconcile/dispatcher.h"
#include "service/service.h"

#include <httpd.h>
#include <stdatomic.h>

/* The work of the watchdogs' threads of this child (deliver.c, fetcher.c, reconciler.c). It
 * outlives the child's pool, because a watchdog may come late. */

typedef struct pay_deliver_t {
    pay_outbox_t *outbox; /* made by the first call, in `pool`; NULL: not yet, or no longer */
    apr_pool_t *pool;
    apr_int64_t open_due_ms; /* boot clock: no attempt before, after it could not be made */
    atomic_int busy;         /* a thread is working */
    atomic_int owed;         /* deliveries are under way */
    atomic_int stop;         /* nothing more begins */
} pay_deliver_t;

typedef struct pay_fetcher_t {
    pay_history_sync_t *sync; /* NULL: no host of the store has an acquirer */
    atomic_int busy;          /* a watchdog's thread is working */
    atomic_int stop;          /* nothing more begins */
} pay_fetcher_t;

typedef struct pay_reconciler_t {
    pay_reconcile_dispatcher_t
        *dispatcher; /* made by the first call, in `pool`; NULL: not yet, or no longer */
    apr_pool_t *pool;
    apr_int64_t due_ms; /* of the next round; boot clock */
    atomic_int busy;    /* a watchdog's thread is working */
    atomic_int stop;    /* nothing more begins */
} pay_reconciler_t;

typedef struct pay_store_host_t {
    const char *url;
    apr_uint32_t number; /* from 0 */
    pay_store_options_t options;
    apr_array_header_t *hosts;     /* of server_rec * */
    int reported;                  /* the parent has logged why the store cannot be used */
    const char *key_path;          /* of the master key */
    const pay_keyring_t *keyring;  /* NULL: it could not be loaded, which is logged */
    apr_array_header_t *acquirers; /* of pay_acquirers_one_t * */

    /* Of this child process. */
    pay_store_t *store; /* NULL: it could not be opened at all */
    pay_key_usage_t *usage;
    apr_array_header_t *services; /* of pay_service_t *, one for each host */
    pay_deliver_t deliver;
    pay_reconciler_t reconciler;
    pay_fetcher_t fetcher;
} pay_store_host_t;

/* Collects the hosts whose engine is on; pay_store_hosts() returns the result from now on. */
const apr_array_header_t *pay_store_hosts_collect(server_rec *main_server, apr_pool_t *pconf);

/* Returns an array of pay_store_host_t *. NULL before the first collection. */
const apr_array_header_t *pay_store_hosts(void);

#endif
