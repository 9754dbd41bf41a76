/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/zones.h"

#include "base/log.h"

#include <apr_strings.h>
#include <apr_thread_mutex.h>
#include <string.h>

typedef struct entry_t {
    const char *name;
    const pay_timezone_t *zone;
} entry_t;

static entry_t entries[PAY_ZONES_MAX];
static int entry_count;
static apr_pool_t *own_pool; /* used under `mutex` only */
static apr_thread_mutex_t *mutex;

void pay_zones_init(apr_pool_t *pchild)
{
    entry_count = 0;
    mutex = NULL;
    if (apr_pool_create_ex(&own_pool, pchild, NULL, NULL) != APR_SUCCESS
        || apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, pchild) != APR_SUCCESS) {
        mutex = NULL; /* nothing is cached then */
    }
}

static const pay_timezone_t *find(const char *name)
{
    int i;

    for (i = 0; i < entry_count; i++) {
        if (!strcmp(entries[i].name, name)) {
            return entries[i].zone;
        }
    }
    return NULL;
}

apr_status_t pay_zones_get(const pay_timezone_t **out, const char *name, apr_pool_t *p)
{
    apr_status_t rv = APR_SUCCESS;

    *out = NULL;
    if (!mutex) {
        return pay_timezone_load(out, name, p);
    }
    apr_thread_mutex_lock(mutex);
    *out = find(name);
    if (!*out && entry_count < PAY_ZONES_MAX) {
        rv = pay_timezone_load(out, name, own_pool);
        if (rv == APR_SUCCESS) {
            entries[entry_count].name = apr_pstrdup(own_pool, name);
            entries[entry_count++].zone = *out;
        }
    }
    apr_thread_mutex_unlock(mutex);
    if (!*out && rv == APR_SUCCESS) {
        rv = pay_timezone_load(out, name, p);
    }
    return rv;
}

const pay_problem_t *pay_zones_of_account(const pay_timezone_t **out, const pay_account_t *account,
                                          apr_pool_t *p)
{
    apr_status_t rv;

    rv = pay_zones_get(out, account->settings.timezone, p);
    if (rv == APR_SUCCESS) {
        return NULL;
    }
    pay_log(PAY_LOG_ERR, rv,
            PAYLOGNO(00331) "time zone %s of account %s cannot be read: install the system's time "
                            "zone data (tzdata)",
            account->settings.timezone, account->name);
    return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
}
