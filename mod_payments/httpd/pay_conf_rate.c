/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/pay_conf_rate.h"

#include "httpd/pay_conf.h"
#include "httpd/pay_conf_parse.h"

#include <apr_general.h>
#include <apr_strings.h>

#define BURST "burst="
#define TOTAL "public-total"
#define FORM                                                                                       \
    "1 to " APR_STRINGIFY(                                                                         \
        PAY_CONF_RATE_MAX) "/s, /min or /h, then perhaps " BURST                                   \
                           "1 to " APR_STRINGIFY(                                                  \
                               PAY_CONF_BURST_MAX) " that is full again within 24h; or off"

/* "5/s": *per_unit of them in *unit. */
static apr_status_t parse_rate(int *per_unit, apr_interval_time_t *unit, const char *text,
                               apr_pool_t *p)
{
    static const struct {
        const char *name;
        apr_interval_time_t length;
    } units[] = {{"s", apr_time_from_sec(1)},
                 {"min", apr_time_from_sec(60)},
                 {"h", apr_time_from_sec(3600)}};
    const char *slash = strchr(text, '/');
    size_t i;

    if (!slash
        || pay_conf_parse_count(per_unit, apr_pstrmemdup(p, text, (apr_size_t)(slash - text)), 1,
                                PAY_CONF_RATE_MAX)
               != APR_SUCCESS) {
        return APR_EINVAL;
    }
    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!strcmp(slash + 1, units[i].name)) {
            *unit = units[i].length;
            return APR_SUCCESS;
        }
    }
    return APR_EINVAL;
}

/* `burst` may be NULL: twice what comes in the rate's own unit of time. */
static apr_status_t parse_limit(pay_rate_limit_t *out, const char *rate, const char *burst,
                                apr_pool_t *p)
{
    pay_rate_limit_t limit = {0, 0};
    apr_interval_time_t unit;
    int per_unit, count;

    if (!strcasecmp(rate, "off") && !burst) {
        *out = limit;
        return APR_SUCCESS;
    }
    if (parse_rate(&per_unit, &unit, rate, p) != APR_SUCCESS) {
        return APR_EINVAL;
    }
    count = 2 * per_unit;
    if (burst
        && (strncmp(burst, BURST, strlen(BURST)) != 0
            || pay_conf_parse_count(&count, burst + strlen(BURST), 1, PAY_CONF_BURST_MAX)
                   != APR_SUCCESS)) {
        return APR_EINVAL;
    }
    limit.interval = (unit + per_unit - 1) / per_unit; /* rounded so that it is never faster */
    limit.burst = count;
    if (limit.burst > PAY_RATE_REFILL_MAX / limit.interval) {
        return APR_EINVAL;
    }
    *out = limit;
    return APR_SUCCESS;
}

const char *pay_conf_set_rate_limit(cmd_parms *cmd, void *dir, const char *one, const char *two,
                                    const char *three)
{
    const char *got = apr_pstrcat(cmd->temp_pool, one, two ? " " : "", two ? two : "",
                                  three ? " " : "", three ? three : "", NULL);
    pay_conf_t *conf = pay_conf_get(cmd->server);
    const char *rate = one, *burst = two, *rest = three;
    const int total = !strcmp(one, TOTAL);
    pay_key_kind_t kind;
    pay_rate_limit_t *limit;

    (void)dir;
    if (pay_key_kind_parse(&kind, one) == APR_SUCCESS || total) {
        rate = two;
        burst = three;
        rest = NULL;
    } else {
        kind = PAY_KEY_SECRET;
    }
    limit = total ? &conf->rate_total : &conf->rate_limit[kind];
    if (!rate || rest || parse_limit(limit, rate, burst, cmd->temp_pool) != APR_SUCCESS) {
        return pay_conf_wrong(cmd, "perhaps secret, public or " TOTAL ", then " FORM, got);
    }
    if (total) {
        conf->rate_total_set = 1;
    } else if (kind == PAY_KEY_SECRET) {
        conf->rate_secret_set = 1;
    } else {
        conf->rate_public_set = 1;
    }
    return NULL;
}

const char *pay_conf_set_failure_limit(cmd_parms *cmd, void *dir, const char *rate,
                                       const char *burst)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    (void)dir;
    if (parse_limit(&conf->failure_limit, rate, burst, cmd->temp_pool) != APR_SUCCESS) {
        return pay_conf_wrong(
            cmd, FORM,
            apr_pstrcat(cmd->temp_pool, rate, burst ? " " : "", burst ? burst : "", NULL));
    }
    conf->failure_limit_set = 1;
    return NULL;
}
