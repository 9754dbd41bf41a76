/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/failure_share.h"

#include "base/crypto/crypto.h"
#include "base/log.h"

#include <apr_shm.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>

APLOG_USE_MODULE(payments);

#define KEY_SIZE 64

/* Kept over restarts, outside of this module's own memory, because the module is loaded again. */
typedef struct kept_t {
    void *memory;
} kept_t;

static pay_failure_table_t *table;

static apr_status_t make(void **memory, server_rec *main_server)
{
    apr_pool_t *pool = main_server->process->pool;
    unsigned char secret[PAY_FAILURE_SECRET_LEN];
    pay_failure_table_t *made;
    apr_shm_t *shm;
    apr_status_t rv;

    *memory = NULL;
    rv = pay_random_bytes(secret, sizeof(secret));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = apr_shm_create(&shm, pay_failure_table_size(), NULL, pool);
    if (rv == APR_SUCCESS) {
        rv = pay_failure_table_init(&made, apr_shm_baseaddr_get(shm), secret);
        *memory = apr_shm_baseaddr_get(shm);
    }
    pay_wipe(secret, sizeof(secret));
    return rv;
}

void pay_failure_share(server_rec *main_server)
{
    char key[KEY_SIZE];
    kept_t *kept;
    apr_status_t rv;
    void *memory;

    table = NULL;
    (void)apr_snprintf(key, sizeof(key), "mod_payments-failures-%d-%" APR_SIZE_T_FMT,
                       PAY_FAILURE_TABLE_LAYOUT, pay_failure_table_size());
    kept = ap_retained_data_get(key);
    if (!kept) {
        rv = make(&memory, main_server);
        if (rv != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                         PAYLOGNO(00754) "No shared memory for failed payments: "
                                         "PaymentsFailureLimit limits nothing");
            return;
        }
        kept = ap_retained_data_create(key, sizeof(*kept));
        kept->memory = memory;
    }
    table = pay_failure_table_at(kept->memory);
}

void pay_failure_serve(pay_service_t *service, const char *url)
{
    unsigned char digest[PAY_SHA256_LEN];

    service->failures = table;
    if (pay_sha256(digest, url, strlen(url)) != APR_SUCCESS) {
        service->failures = NULL;
        return;
    }
    memcpy(&service->failures_store, digest, sizeof(service->failures_store));
}
