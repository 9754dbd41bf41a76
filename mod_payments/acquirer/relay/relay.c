/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/relay.h"

#include "acquirer/relay/parts.h"
#include "base/crypto/secret_memory.h"
#include "base/net/url.h"
#include "model/api_key.h"

#include <apr_atomic.h>
#include <apr_strings.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define AUTHORIZATION "Authorization: Bearer "
#define KEY_WANTED "key: want a secret key of the upstream, as key=file:PATH or key=exec:PROGRAM"

/* ---- settings */

/* Returns NULL if it is valid, and sets *out to the URL without slashes at its end. */
static const char *url_fault(pay_url_t **out, const char **base, const char *text, apr_pool_t *p)
{
    const char *fault;
    apr_size_t len;
    apr_status_t rv;

    *out = NULL;
    *base = NULL;
    if (!text || !*text) {
        return "want the upstream's URL, https://HOST or https://HOST/PATH";
    }
    rv = pay_url_parse(out, &fault, text, "https", p);
    if (rv != APR_SUCCESS) {
        return apr_pstrcat(p, "the upstream's URL: ", fault, NULL);
    }
    if (strpbrk(text, "?#")) {
        return "the upstream's URL: want neither a query nor a fragment in it";
    }
    len = strlen((*out)->text);
    while ((*out)->text[len - 1] == '/') {
        len--;
    }
    *base = apr_pstrmemdup(p, (*out)->text, len);
    return NULL;
}

static int parameter_known(void *baton, const char *name, const char *value)
{
    const char **unknown = baton;

    (void)value;
    if (strcmp(name, PAY_ACQUIRER_RELAY_KEY) != 0 && strcmp(name, PAY_ACQUIRER_RELAY_CA) != 0) {
        *unknown = name;
        return 0;
    }
    return 1;
}

static const char *given(const payments_settings_t *settings, const char *name)
{
    return settings->given ? apr_table_get(settings->given, name) : NULL;
}

static const char *relay_check(const payments_settings_t *settings, apr_pool_t *p)
{
    const char *unknown = NULL;
    const char *ca_file = given(settings, PAY_ACQUIRER_RELAY_CA);
    const char *base;
    const char *fault;
    pay_url_t *url;

    fault = url_fault(&url, &base, settings->url, p);
    if (fault) {
        return fault;
    }
    if (settings->given) {
        apr_table_do(parameter_known, &unknown, settings->given, NULL);
    }
    if (unknown) {
        return apr_psprintf(p, "%s is not a parameter of the relay: there are key and ca", unknown);
    }
    if (ca_file && *ca_file != '/') {
        return "ca: want the absolute path of a file of certificates";
    }
    if (!given(settings, PAY_ACQUIRER_RELAY_KEY)) {
        return KEY_WANTED;
    }
    return NULL;
}

/* ---- the key */

/* Returns `text` without blanks and line ends around it; NULL if it is not a secret key. */
static const char *key_parse(pay_mode_t *mode, apr_size_t *len, const char *text)
{
    char key[PAY_KEY_TEXT_MAX + 1];
    pay_key_kind_t kind;
    apr_status_t rv;

    text += strspn(text, " \t\r\n");
    *len = strcspn(text, " \t\r\n");
    if (*len > PAY_KEY_TEXT_MAX || text[*len + strspn(text + *len, " \t\r\n")] != '\0') {
        return NULL;
    }
    memcpy(key, text, *len);
    key[*len] = '\0';
    rv = pay_api_key_parse(mode, &kind, key);
    pay_wipe(key, sizeof(key));
    return rv == APR_SUCCESS && kind == PAY_KEY_SECRET ? text : NULL;
}

int pay_acquirer_relay_is_test_key(const char *key)
{
    pay_mode_t mode;
    apr_size_t len;

    return key_parse(&mode, &len, key) != NULL && mode == PAY_TEST;
}

static const apr_array_header_t *headers_make(const char *authorization, int with_body,
                                              apr_pool_t *p)
{
    apr_array_header_t *headers = apr_array_make(p, 3, sizeof(const char *));

    APR_ARRAY_PUSH(headers, const char *) = authorization;
    APR_ARRAY_PUSH(headers, const char *) = "Accept: application/json";
    if (with_body) {
        APR_ARRAY_PUSH(headers, const char *) = "Content-Type: application/json";
    }
    return headers;
}

static apr_status_t key_take(pay_relay_t *relay, const char **fault,
                             const payments_settings_t *settings, apr_pool_t *p)
{
    const char *text = given(settings, PAY_ACQUIRER_RELAY_KEY);
    apr_size_t len;
    apr_status_t rv;
    void *memory;
    char *line;

    if (!text || !*text) {
        *fault = KEY_WANTED;
        return APR_EINVAL;
    }
    text = key_parse(&relay->mode, &len, text);
    if (!text) {
        *fault = "key: want a secret key, PREFIX_livesk_... or PREFIX_testsk_..., in the file or "
                 "from the program";
        return APR_EINVAL;
    }
    rv = pay_secret_memory_make(&memory, sizeof(AUTHORIZATION) + len, p);
    if (rv != APR_SUCCESS) {
        *fault = "key: there is no memory for it that is kept out of core files";
        return rv;
    }
    line = memory;
    memcpy(line, AUTHORIZATION, sizeof(AUTHORIZATION) - 1);
    memcpy(line + sizeof(AUTHORIZATION) - 1, text, len);
    rv = pay_secret_memory_seal(memory);
    if (rv != APR_SUCCESS) {
        *fault = "key: its memory cannot be protected";
        return rv;
    }
    relay->get_headers = headers_make(line, 0, p);
    relay->post_headers = headers_make(line, 1, p);
    return APR_SUCCESS;
}

/* ---- the connector */

static apr_status_t relay_open(void **context, const char **fault,
                               const payments_settings_t *settings, apr_pool_t *p)
{
    pay_relay_t *relay = apr_pcalloc(p, sizeof(*relay));
    const char *ca_file = given(settings, PAY_ACQUIRER_RELAY_CA);
    pay_url_t *url;
    apr_status_t rv;

    *context = NULL;
    *fault = relay_check(settings, p);
    if (*fault) {
        return APR_EINVAL;
    }
    *fault = url_fault(&url, &relay->base, settings->url, p);
    relay->host = apr_psprintf(p, "%s:%d of account %s", url->host, url->port,
                               settings->account ? settings->account : "-");
    relay->ca_file = ca_file ? apr_pstrdup(p, ca_file) : NULL;
    if (ca_file && access(ca_file, R_OK) != 0) {
        rv = errno;
        *fault = apr_psprintf(p, "ca: %s cannot be read by the server's user", ca_file);
        return rv;
    }
    rv = key_take(relay, fault, settings, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_relay_lines_open(relay, p);
    if (rv != APR_SUCCESS) {
        *fault = "its connections cannot be prepared";
        return rv;
    }
    *context = relay;
    return APR_SUCCESS;
}

static void relay_stop(void *context)
{
    pay_relay_t *relay = context;

    apr_atomic_set32(&relay->stopping, 1);
}

static const char *const secrets[] = {PAY_ACQUIRER_RELAY_KEY, NULL};

const payments_acquirer_t pay_acquirer_relay = {
    .struct_size = sizeof(payments_acquirer_t),
    .abi = PAYMENTS_ACQUIRER_ABI,
    .name = PAY_ACQUIRER_RELAY_NAME,
    .flags = PAYMENTS_OWN_TOKENS,
    .secrets = secrets,
    .check = relay_check,
    .open = relay_open,
    .stop = relay_stop,
    .charge = pay_relay_charge,
    .charge_query = pay_relay_charge_query,
    .refund = pay_relay_refund,
    .refund_query = pay_relay_refund_query,
    .refund_list = pay_relay_refund_list,
    .checkout = pay_relay_checkout,
};
