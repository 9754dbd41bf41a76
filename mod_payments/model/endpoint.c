/* SPDX-License-Identifier: Apache-2.0 */
#include "model/endpoint.h"

#include <apr_strings.h>
#include <string.h>

#define MINUTE apr_time_from_sec(60)
#define HOUR (60 * MINUTE)

static const char *const kind_names[] = {
    [PAY_ENDPOINT_WEBHOOK] = "webhook",
    [PAY_ENDPOINT_RECEIPT] = "receipt",
    [PAY_ENDPOINT_NOTICE] = "notice",
};
_Static_assert(sizeof(kind_names) / sizeof(kind_names[0]) == PAY_ENDPOINT_KIND_LAST + 1,
               "a name each");

/* Between attempts; the last one applies to all later ones. */
static const apr_interval_time_t waits[] = {
    apr_time_from_sec(5),
    apr_time_from_sec(5),
    apr_time_from_sec(5),
    MINUTE,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    6 * HOUR,
    12 * HOUR,
};
#define WAITS (sizeof(waits) / sizeof(waits[0]))

const char *pay_endpoint_kind_name(pay_endpoint_kind_t kind)
{
    if (kind < PAY_ENDPOINT_WEBHOOK || kind > PAY_ENDPOINT_KIND_LAST) {
        return "unknown";
    }
    return kind_names[kind];
}

apr_status_t pay_endpoint_kind_parse(pay_endpoint_kind_t *out, const char *text)
{
    int kind;

    *out = PAY_ENDPOINT_WEBHOOK;
    for (kind = PAY_ENDPOINT_WEBHOOK; kind <= PAY_ENDPOINT_KIND_LAST; kind++) {
        if (strcmp(kind_names[kind], text) == 0) {
            *out = (pay_endpoint_kind_t)kind;
            return APR_SUCCESS;
        }
    }
    return APR_EINVAL;
}

int pay_endpoint_is_failing(const pay_endpoint_t *endpoint)
{
    return endpoint->failures >= PAY_ENDPOINT_FAILURES_MAX;
}

apr_interval_time_t pay_endpoint_wait(apr_uint32_t probes)
{
    return waits[probes < WAITS ? probes : WAITS - 1];
}

const char *pay_endpoint_secret_context(const pay_scope_t *scope, apr_pool_t *p)
{
    return apr_psprintf(p, "webhook account %u %s", scope->account, pay_mode_name(scope->mode));
}
