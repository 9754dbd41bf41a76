/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/server_slots.h"

#include "base/log.h"

#include <ap_mpm.h>
#include <apr_shm.h>
#include <http_log.h>

APLOG_USE_MODULE(payments);

static pay_slots_t *slots;

static int at_least(int value, int least)
{
    return value < least ? least : value;
}

pay_slots_limits_t pay_server_slots_limits(int daemons, int threads)
{
    int workers;

    threads = at_least(threads, 1);
    workers = at_least(daemons, 1) * threads;
    return (pay_slots_limits_t){.count = at_least(workers / 2, 1),
                                .process_max = at_least(threads / 2, 1),
                                .line = workers / 4,
                                .reserve = (workers / 4 + 3) / 4};
}

static pay_slots_limits_t limits_of_workers(void)
{
    int daemons = 0, threads = 0;

    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &daemons);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    return pay_server_slots_limits(daemons, threads);
}

void pay_server_slots_share(server_rec *main_server, apr_pool_t *pconf)
{
    const pay_slots_limits_t limits = limits_of_workers();
    apr_shm_t *shm;
    apr_status_t rv;
    void *memory;

    rv = apr_shm_create(&shm, pay_slots_size(&limits), NULL, pconf);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                     PAYLOGNO(00304) "No shared memory for %d slots: each child process limits its "
                                     "Live Mode calls by itself",
                     limits.count);
        memory = apr_palloc(pconf, pay_slots_size(&limits));
    } else {
        memory = apr_shm_baseaddr_get(shm);
    }
    slots = pay_slots_init(memory, &limits);
}

pay_slots_t *pay_server_slots(void)
{
    return slots;
}
