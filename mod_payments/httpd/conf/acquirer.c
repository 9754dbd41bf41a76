/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/acquirer.h"

#include "acquirer/acquirer.h"
#include "base/net/url.h"
#include "httpd/conf/conf.h"
#include "httpd/conf/parse.h"
#include "httpd/conf/row.h"

#include <ap_provider.h>
#include <apr_general.h>
#include <apr_lib.h>
#include <apr_strings.h>

#define FILE_PREFIX "file:"
#define EXEC_PREFIX "exec:"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define INSTANCE_CHARS LOWER UPPER DIGITS "._:@[]-"
#define WANT_NAME                                                                                  \
    "1 to " APR_STRINGIFY(PAY_ACQUIRER_NAME_MAX) " of A-Z a-z 0-9 . _ : @ [ ] -, first a letter "  \
                                                 "or digit"

_Static_assert(PAY_CONF_ACQUIRER_TIMEOUT_MAX + apr_time_from_msec(PAY_SEND_BEFORE_MS)
                   <= PAY_WORKER_TERM_MAX,
               "else work that is under way would count as over");

/* The value is not repeated: somebody may have written a secret into it. */
static const char *wrong(const cmd_parms *cmd, const char *want)
{
    return apr_psprintf(cmd->pool, "%s: want %s", cmd->cmd->name, want);
}

static int is_word(const char *text, const char *chars, apr_size_t len_max)
{
    apr_size_t len = strlen(text);

    return len >= 1 && len <= len_max && apr_isalnum(text[0]) && strspn(text, chars) == len;
}

/* The length of NAME in NAME=VALUE; 0 if the word is not of this form. */
static apr_size_t parameter_name_len(const char *word)
{
    apr_size_t len = strspn(word, LOWER DIGITS "_-");

    return word[len] == '=' && apr_islower(word[0]) ? len : 0;
}

/* ---- one parameter */

static const char *set_own_timeout(pay_conf_acquirer_t *out, const cmd_parms *cmd,
                                   const char *value)
{
    if (pay_conf_parse_wait(&out->timeout, value, PAY_CONF_ACQUIRER_TIMEOUT_MIN,
                            PAY_CONF_ACQUIRER_TIMEOUT_MAX)
        != APR_SUCCESS) {
        return wrong(cmd, "timeout= of 1s to 60s");
    }
    return NULL;
}

static const char *set_own_name(pay_conf_acquirer_t *out, const cmd_parms *cmd, const char *value)
{
    if (!is_word(value, INSTANCE_CHARS, PAY_ACQUIRER_NAME_MAX)) {
        return wrong(cmd, "name= of " WANT_NAME);
    }
    out->name = value;
    return NULL;
}

static const char *add_parameter(pay_conf_acquirer_t *out, const cmd_parms *cmd, const char *word)
{
    apr_size_t len = parameter_name_len(word);
    apr_size_t value_len;
    const char *name, *value;

    if (len == 0 || len > PAY_CONF_PARAMETER_NAME_MAX) {
        return wrong(
            cmd, "parameters as name=value after connector and URL, names of 1 to " APR_STRINGIFY(
                     PAY_CONF_PARAMETER_NAME_MAX) " of a-z 0-9 _ -, first a letter");
    }
    name = apr_pstrmemdup(cmd->pool, word, len);
    value = word + len + 1;
    value_len = strlen(value);
    if (value_len < 1 || value_len > PAY_CONF_PARAMETER_LEN_MAX) {
        return wrong(
            cmd, apr_psprintf(cmd->pool, "%s= of 1 to %d bytes", name, PAY_CONF_PARAMETER_LEN_MAX));
    }
    if (apr_table_get(out->given, name) || (!strcmp(name, "timeout") && out->timeout)
        || (!strcmp(name, "name") && out->name)) {
        return wrong(cmd, apr_psprintf(cmd->pool, "%s= once", name));
    }
    if (!strcmp(name, "timeout")) {
        return set_own_timeout(out, cmd, value);
    }
    if (!strcmp(name, "name")) {
        return set_own_name(out, cmd, value);
    }
    apr_table_setn(out->given, name, value);
    return NULL;
}

/* ---- URL and name */

static int is_http(const char *word)
{
    return !strncasecmp(word, "https://", 8) || !strncasecmp(word, "http://", 7);
}

/*
 * Sets *place to the instance's name: host and port as a client that connects to them reads them,
 * or the whole word if it is not a web address.
 */
static const char *read_url(const char **place, const cmd_parms *cmd, const char *word)
{
    const char *fault;
    pay_url_t *url;
    int usual;

    *place = word;
    if (!is_http(word)) {
        if (strchr(word, '@') || strlen(word) > PAY_CONF_PARAMETER_LEN_MAX) {
            return wrong(
                cmd, "a URL without user and password behind the connector, or a word "
                     "without @ of at most " APR_STRINGIFY(PAY_CONF_PARAMETER_LEN_MAX) " bytes");
        }
        return NULL;
    }
    if (pay_url_parse(&url, &fault, word, "https http", cmd->pool) != APR_SUCCESS) {
        return apr_psprintf(cmd->pool, "%s: URL: %s", cmd->cmd->name, fault);
    }
    usual = !strcmp(url->scheme, "https") ? 443 : 80;
    *place =
        url->port == usual ? url->host : apr_psprintf(cmd->pool, "%s:%d", url->host, url->port);
    return NULL;
}

/* Rows keep the name for ever, so it has a form that every log and page can show. */
static const char *give_name(pay_conf_acquirer_t *out, const cmd_parms *cmd, const char *place)
{
    const pay_conf_t *conf = pay_conf_get(cmd->server);
    int i;

    if (!out->name) {
        out->name =
            place ? apr_pstrcat(cmd->pool, out->connector, "@", place, NULL) : out->connector;
        if (!is_word(out->name, INSTANCE_CHARS, PAY_ACQUIRER_NAME_MAX)) {
            return wrong(cmd, "name= too, of " WANT_NAME ": connector and host make none");
        }
    }
    for (i = 0; conf->acquirers && i < conf->acquirers->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(conf->acquirers, i, pay_conf_acquirer_t *)->name, out->name)) {
            return apr_psprintf(cmd->pool,
                                "%s: want another name than '%s' for this one: payments keep the "
                                "name of the acquirer that they went through (name=)",
                                cmd->cmd->name, out->name);
        }
    }
    return NULL;
}

/* ---- secrets */

const payments_acquirer_t *pay_conf_connector(const char *name)
{
    return ap_lookup_provider(PAYMENTS_ACQUIRER_GROUP, name, PAYMENTS_ACQUIRER_VERSION);
}

int pay_conf_is_secret(const payments_acquirer_t *connector, const char *parameter)
{
    const char *const *secret = connector->secrets;

    for (; secret && *secret; secret++) {
        if (!strcmp(*secret, parameter)) {
            return 1;
        }
    }
    return 0;
}

static int is_kept_elsewhere(const char *value)
{
    const char *path = value + strlen(FILE_PREFIX); /* both prefixes have the same length */

    return (!strncmp(value, FILE_PREFIX, strlen(FILE_PREFIX))
            || !strncmp(value, EXEC_PREFIX, strlen(EXEC_PREFIX)))
           && pay_conf_is_absolute(path) && path[strlen(path) - 1] != '/';
}

const char *pay_conf_acquirer_secret_fault(const payments_acquirer_t *connector,
                                           const pay_conf_acquirer_t *acquirer, apr_pool_t *p)
{
    const char *const *secret = connector->secrets;
    const char *value;

    for (; secret && *secret; secret++) {
        value = apr_table_get(acquirer->given, *secret);
        if (value && !is_kept_elsewhere(value)) {
            return apr_psprintf(p,
                                "%s= is a secret: want %s=" FILE_PREFIX
                                "<absolute path of a file> or %s=" EXEC_PREFIX
                                "<absolute path of a program>",
                                *secret, *secret, *secret);
        }
    }
    return NULL;
}

apr_interval_time_t pay_conf_acquirer_timeout(const pay_conf_t *conf,
                                              const pay_conf_acquirer_t *acquirer)
{
    return acquirer->timeout ? acquirer->timeout : conf->policy.acquirer_timeout;
}

/* ---- the directives */

static const char *read_words(pay_conf_acquirer_t *out, const cmd_parms *cmd, int count,
                              char *const words[])
{
    const char *place = NULL;
    const char *fault = NULL;
    int i = 2;

    if (count < 2 || strcmp(words[0], "live") != 0
        || !is_word(words[1], LOWER DIGITS "_-", PAY_CONF_CONNECTOR_NAME_MAX)) {
        return wrong(cmd,
                     "live, a connector's name, its URL if it has one, and parameters as "
                     "name=value; for example: live relay https://api.example.com key=" FILE_PREFIX
                     "/etc/apache2/payments/relay.key");
    }
    out->connector = words[1];
    out->given = apr_table_make(cmd->pool, 4);
    if (count > 2 && parameter_name_len(words[2]) == 0) {
        out->url = words[2];
        fault = read_url(&place, cmd, out->url);
        i++;
    }
    if (!fault && count - i > PAY_CONF_PARAMETERS_MAX) {
        fault = wrong(cmd, "at most " APR_STRINGIFY(PAY_CONF_PARAMETERS_MAX) " parameters");
    }
    for (; i < count && !fault; i++) {
        fault = add_parameter(out, cmd, words[i]);
    }
    return fault ? fault : give_name(out, cmd, place);
}

const char *pay_conf_add_acquirer(cmd_parms *cmd, void *dir, int count, char *const words[])
{
    pay_conf_t *conf = pay_conf_get(cmd->server);
    pay_conf_acquirer_t *acquirer = apr_pcalloc(cmd->pool, sizeof(*acquirer));
    const payments_acquirer_t *connector;
    const char *fault;

    (void)dir;
    if (conf->acquirers && conf->acquirers->nelts == PAY_CONF_ACQUIRERS_MAX) {
        return wrong(cmd, "at most " APR_STRINGIFY(PAY_CONF_ACQUIRERS_MAX) " in one place");
    }
    fault = read_words(acquirer, cmd, count, words);
    if (fault) {
        return fault;
    }
    /* A connector of a module that is loaded later is checked after all modules are loaded. */
    connector = pay_conf_connector(acquirer->connector);
    fault = connector ? pay_conf_acquirer_secret_fault(connector, acquirer, cmd->pool) : NULL;
    if (fault) {
        return apr_psprintf(cmd->pool, "%s: %s", cmd->cmd->name, fault);
    }
    if (!conf->acquirers) {
        conf->acquirers = apr_array_make(cmd->pool, 1, sizeof(pay_conf_acquirer_t *));
    }
    APR_ARRAY_PUSH(conf->acquirers, pay_conf_acquirer_t *) = acquirer;
    pay_conf_said(cmd, 0);
    return NULL;
}
