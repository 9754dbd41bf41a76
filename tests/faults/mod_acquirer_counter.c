/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The simulator as an acquirer that leaves a trace: each call is one line of CounterFile before it
 * is decided, written at once, so that it outlives its process. It is not pure: every charge is
 * opened, sent and resolved, and CounterDelay milliseconds lie between the last two. Load it after
 * mod_payments.
 */

#include <httpd.h>
#include <ap_provider.h>
#include <apr_file_io.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>

#include "acquirer/mod_payments.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIMULATOR "simulator"
#define LINE_MAX_LEN 256
#define DELAY_MS_MAX 60000
#define FILE_MODE 0644

module AP_MODULE_DECLARE_DATA acquirer_counter_module;

static const payments_acquirer_t *simulator;
static payments_acquirer_t counter;
static const char *file_name;
static int file = -1;
static apr_interval_time_t delay;

/* Whole lines of many processes: each is one write after all others. */
static apr_status_t count(const char *verb, const char *reference)
{
    char line[LINE_MAX_LEN];
    ssize_t written;
    int len;

    len = apr_snprintf(line, sizeof(line), "%s %s\n", verb, reference);
    written = write(file, line, (size_t)len);
    return written == len ? APR_SUCCESS : APR_EGENERAL;
}

static apr_status_t counter_charge(payments_answer_t *out, void *context,
                                   const payments_charge_t *charge, apr_interval_time_t timeout,
                                   apr_pool_t *p)
{
    apr_status_t rv = count("charge", charge->reference);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (delay > 0) {
        apr_sleep(delay);
    }
    return simulator->charge(out, context, charge, timeout, p);
}

static apr_status_t counter_charge_query(payments_answer_t *out, void *context,
                                         const payments_charge_t *charge,
                                         apr_interval_time_t timeout, apr_pool_t *p)
{
    apr_status_t rv = count("charge-query", charge->reference);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    return simulator->charge_query(out, context, charge, timeout, p);
}

static apr_status_t counter_refund(payments_answer_t *out, void *context,
                                   const payments_refund_t *refund, const payments_charge_t *charge,
                                   apr_interval_time_t timeout, apr_pool_t *p)
{
    apr_status_t rv = count("refund", refund->reference);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (delay > 0) {
        apr_sleep(delay);
    }
    return simulator->refund(out, context, refund, charge, timeout, p);
}

static apr_status_t counter_refund_query(payments_answer_t *out, void *context,
                                         const payments_refund_t *refund,
                                         const payments_charge_t *charge,
                                         apr_interval_time_t timeout, apr_pool_t *p)
{
    apr_status_t rv = count("refund-query", refund->reference);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    return simulator->refund_query(out, context, refund, charge, timeout, p);
}

static const char *set_file(cmd_parms *cmd, void *dir_conf, const char *path)
{
    (void)dir_conf;
    file_name = ap_server_root_relative(cmd->pool, path);
    return file_name ? NULL : apr_psprintf(cmd->pool, "%s: no path: %s", cmd->cmd->name, path);
}

static const char *set_delay(cmd_parms *cmd, void *dir_conf, const char *value)
{
    apr_int64_t delay_ms = apr_atoi64(value);

    (void)dir_conf;
    if (delay_ms < 0 || delay_ms > DELAY_MS_MAX) {
        return apr_psprintf(cmd->pool, "%s: want 0 to %d, got '%s'", cmd->cmd->name, DELAY_MS_MAX,
                            value);
    }
    delay = apr_time_from_msec(delay_ms);
    return NULL;
}

static apr_status_t close_file(void *unused)
{
    (void)unused;
    close(file);
    file = -1;
    return APR_SUCCESS;
}

/* Opened by the parent, which may write anywhere; the children inherit it. */
static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    (void)plog;
    (void)ptemp;
    if (!simulator || !file_name) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, s,
                     "acquirer_counter: wants mod_payments before it, and CounterFile");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    file = open(file_name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, FILE_MODE);
    if (file < 0) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, errno, s, "acquirer_counter: %s", file_name);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    apr_pool_cleanup_register(pconf, NULL, close_file, apr_pool_cleanup_null);
    return OK;
}

static const command_rec directives[] = {
    AP_INIT_TAKE1("CounterFile", set_file, NULL, RSRC_CONF, "File that gets a line a call"),
    AP_INIT_TAKE1("CounterDelay", set_delay, NULL, RSRC_CONF, "How long a call takes, in ms"),
    {NULL, {NULL}, NULL, 0, RAW_ARGS, NULL},
};

static void register_hooks(apr_pool_t *p)
{
    simulator = ap_lookup_provider(PAYMENTS_ACQUIRER_GROUP, SIMULATOR, PAYMENTS_ACQUIRER_VERSION);
    if (simulator) {
        counter = *simulator; /* size, ABI and name, and everything that is not counted */
        counter.flags &= ~(apr_uint32_t)PAYMENTS_PURE;
        counter.charge = counter_charge;
        counter.charge_query = counter_charge_query;
        counter.refund = counter_refund;
        counter.refund_query = counter_refund_query;
        ap_register_provider(p, PAYMENTS_ACQUIRER_GROUP, SIMULATOR, PAYMENTS_ACQUIRER_VERSION,
                             &counter);
    }
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA __attribute__((visibility("default"))) acquirer_counter_module = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, directives, register_hooks, 0,
};
