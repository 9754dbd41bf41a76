/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/rate.h"

#include "httpd/conf/parse.h"
#include "httpd/conf/row.h"
#include "service/failures.h"

#include <apr_general.h>
#include <apr_strings.h>

#define BURST "burst="
#define TOTAL "public-total"
#define FORM                                                                                       \
    "1 to " APR_STRINGIFY(                                                                         \
        PAY_CONF_RATE_MAX) "/s, /min or /h, optionally " BURST                                     \
                           "1 to " APR_STRINGIFY(                                                  \
                               PAY_CONF_BURST_MAX) " that is full again within 24h; or off"

/* "5/s": *per_unit tokens in each *unit. */
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

/* `burst` may be NULL: twice the rate in its own unit of time. */
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
    limit.interval = (unit + per_unit - 1) / per_unit; /* rounded up so that it is never faster */
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
        return pay_conf_wrong(cmd, "optionally secret, public or " TOTAL ", then " FORM, got);
    }
    pay_conf_said(cmd, total ? PAY_CONF_RATE_TOTAL : (int)kind);
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
    pay_conf_said(cmd, 0);
    return NULL;
}

/* ---- failed payments */

#define FAILURE_TIME_MAX apr_time_from_sec(86400)

/* "10min", "h", "30s": at most 24h. */
static apr_status_t parse_time(apr_interval_time_t *out, const char *text, apr_pool_t *p)
{
    static const struct {
        const char *name;
        int seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
    const apr_size_t digits = strspn(text, "0123456789");
    int number = 1;
    size_t i;

    if (digits
        && pay_conf_parse_count(&number, apr_pstrmemdup(p, text, digits), 1,
                                (int)apr_time_sec(FAILURE_TIME_MAX))
               != APR_SUCCESS) {
        return APR_EINVAL;
    }
    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!strcmp(text + digits, units[i].name)) {
            *out = apr_time_from_sec((apr_interval_time_t)number * units[i].seconds);
            return *out <= FAILURE_TIME_MAX ? APR_SUCCESS : APR_EINVAL;
        }
    }
    return APR_EINVAL;
}

/* "5/10min", "off". */
static apr_status_t parse_failures(pay_failure_limit_t *out, const char *text, apr_pool_t *p)
{
    const char *slash = strchr(text, '/');
    apr_status_t rv;

    *out = (pay_failure_limit_t){0, 0};
    if (!strcasecmp(text, "off")) {
        return APR_SUCCESS;
    }
    if (!slash) {
        return APR_EINVAL;
    }
    rv = pay_conf_parse_count(&out->count, apr_pstrmemdup(p, text, (apr_size_t)(slash - text)), 1,
                              PAY_CONF_RATE_MAX);
    return rv == APR_SUCCESS ? parse_time(&out->window, slash + 1, p) : rv;
}

/* The setting of a kind applies to both modes. */
static void set_failures(const cmd_parms *cmd, int kind, const pay_failure_limit_t *limit)
{
    pay_conf_t *conf = pay_conf_get(cmd->server);

    conf->policy.failure_limit[PAY_TEST][kind] = *limit;
    conf->policy.failure_limit[PAY_LIVE][kind] = *limit;
    pay_conf_said(cmd, kind);
}

static int find_failure_kind(const char *name)
{
    int kind = 0;

    while (kind < PAY_FAILURE_KINDS
           && strcmp(name, pay_failure_kind_name((pay_failure_kind_t)kind)) != 0) {
        kind++;
    }
    return kind;
}

const char *pay_conf_set_payment_failures(cmd_parms *cmd, void *dir, const char *args)
{
    pay_failure_limit_t limit = {0, 0};
    char *rest = apr_pstrdup(cmd->temp_pool, args);
    const char *name, *value;
    int kind, said = 0;

    (void)dir;
    name = apr_strtok(rest, ", \t", &rest);
    if (name && !strcasecmp(name, "off") && !apr_strtok(NULL, ", \t", &rest)) {
        for (kind = 0; kind < PAY_FAILURE_KINDS; kind++) {
            set_failures(cmd, kind, &limit);
        }
        return NULL;
    }
    for (; name; name = apr_strtok(NULL, ", \t", &rest)) {
        kind = find_failure_kind(name);
        value = apr_strtok(NULL, ", \t", &rest);
        if (kind == PAY_FAILURE_KINDS || !value || said & 1 << kind
            || parse_failures(&limit, value, cmd->temp_pool) != APR_SUCCESS) {
            said = 0;
            break;
        }
        set_failures(cmd, kind, &limit);
        said |= 1 << kind;
    }
    return said ? NULL
                : pay_conf_wrong(
                    cmd,
                    "off, or card, link, address, account, each once with 1 to " APR_STRINGIFY(
                        PAY_CONF_RATE_MAX) " failures within at most 24h, such as card 5/10min, or "
                                           "off",
                    args);
}
