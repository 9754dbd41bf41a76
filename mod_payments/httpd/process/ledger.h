/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_LEDGER_H
#define PAY_HTTPD_PROCESS_LEDGER_H

/*
 * One store of the configuration with all the virtual hosts that name it, and what a child process
 * runs over it. Collected anew by each generation's parent; the child's part is filled once in
 * child_init, before threads start.
 */

#include "base/crypto/keyring.h"
#include "httpd/process/deliver.h"
#include "httpd/process/fetcher.h"
#include "httpd/process/reconciler.h"
#include "service/account/key_usage.h"
#include "service/service.h"

#include <httpd.h>

typedef struct pay_ledger_t {
    const char *url;
    apr_uint32_t number; /* from 0 */
    pay_store_options_t options;
    apr_array_header_t *hosts;     /* of server_rec * */
    int reported;                  /* the parent has said why the store cannot be used */
    const char *key_path;          /* of the master key */
    const pay_keyring_t *keyring;  /* NULL: it could not be loaded, and the log says why */
    apr_array_header_t *acquirers; /* of pay_acquirers_one_t * */

    /* Of this child process. */
    pay_store_t *store; /* NULL: it could not be opened at all */
    pay_key_usage_t *usage;
    apr_array_header_t *services; /* of pay_service_t *, one for each host */
    pay_deliver_t deliver;
    pay_reconciler_t reconciler;
    pay_fetcher_t fetcher;
} pay_ledger_t;

/* Collects the hosts whose engine is on; the result is what pay_ledgers() gives from now on. */
const apr_array_header_t *pay_ledgers_collect(server_rec *main_server, apr_pool_t *pconf);

/* Array of pay_ledger_t *. NULL before the first collection. */
const apr_array_header_t *pay_ledgers(void);

#endif
