/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/parse.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <arpa/inet.h>

const char *pay_conf_wrong(const cmd_parms *cmd, const char *want, const char *got)
{
    return apr_psprintf(cmd->pool, "%s: want %s, got '%s'", cmd->cmd->name, want, got);
}

apr_status_t pay_conf_parse_flag(int *out, const char *text, const char *const words[2])
{
    *out = !strcasecmp(text, words[0]);
    return *out || !strcasecmp(text, words[1]) ? APR_SUCCESS : APR_EINVAL;
}

apr_status_t pay_conf_parse_size(apr_int64_t *out, const char *text, apr_int64_t min,
                                 apr_int64_t max)
{
    static const char units[] = "KMGT";
    const char *unit;
    apr_int64_t value = 0;
    int shift = 0;

    *out = 0;
    if (!apr_isdigit(*text)) {
        return APR_EINVAL;
    }
    for (; apr_isdigit(*text); text++) {
        value = value * 10 + (*text - '0');
        if (value > max) {
            return APR_EINVAL;
        }
    }
    if (*text) {
        unit = strchr(units, apr_toupper(*text));
        if (!unit || text[1]) {
            return APR_EINVAL;
        }
        shift = 10 * (int)(unit - units + 1);
    }
    if (value > (max >> shift) || (value << shift) < min) {
        return APR_EINVAL;
    }
    *out = value << shift;
    return APR_SUCCESS;
}

apr_status_t pay_conf_parse_count(int *out, const char *text, int min, int max)
{
    apr_size_t digits = strspn(text, "0123456789");
    int value;

    if (digits == 0 || digits > 9 || text[digits] != '\0') {
        return APR_EINVAL;
    }
    value = atoi(text);
    if (value < min || value > max) {
        return APR_EINVAL;
    }
    *out = value;
    return APR_SUCCESS;
}

apr_status_t pay_conf_parse_wait(apr_interval_time_t *out, const char *text,
                                 apr_interval_time_t min, apr_interval_time_t max)
{
    apr_interval_time_t wait;

    /* httpd's own parser misreads a sign and an overlong number. */
    if (!apr_isdigit(*text) || strlen(text) > 12
        || ap_timeout_parameter_parse(text, &wait, "s") != APR_SUCCESS || wait < min
        || wait > max) {
        return APR_EINVAL;
    }
    *out = wait;
    return APR_SUCCESS;
}

int pay_conf_is_path(const char *path)
{
    const char *at = path;
    apr_size_t len;

    while (*at == '/') {
        at++;
        len = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");
        if (len == 0 || (len == 1 && at[0] == '.') || (len == 2 && at[0] == '.' && at[1] == '.')) {
            return 0;
        }
        at += len;
    }
    return *at == '\0';
}

int pay_conf_is_absolute(const char *path)
{
    return path[0] == '/' && path[1] != '\0' && strlen(path) <= PAY_CONF_PATH_LEN_MAX;
}

/* Names as browsers spell them, or an IPv4 address: non-empty labels. */
static apr_size_t host_len(const char *host)
{
    apr_size_t len = strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-._");
    apr_size_t i;

    for (i = 0; i < len; i++) {
        if (host[i] == '.' && (i == 0 || host[i - 1] == '.')) {
            return 0;
        }
    }
    return len > PAY_CONF_HOST_LEN_MAX || host[0] == '-' ? 0 : len;
}

/* An IPv6 address in brackets, in the only form that browsers send (RFC 5952). */
static apr_size_t literal_len(const char *host)
{
    char address[INET6_ADDRSTRLEN], canonical[INET6_ADDRSTRLEN];
    apr_size_t len = strspn(host + 1, "0123456789abcdef:");
    struct in6_addr binary;

    if (host[len + 1] != ']' || len >= sizeof(address)) {
        return 0;
    }
    apr_cpystrn(address, host + 1, len + 1);
    if (inet_pton(AF_INET6, address, &binary) != 1
        || !inet_ntop(AF_INET6, &binary, canonical, sizeof(canonical))
        || strcmp(address, canonical) != 0) {
        return 0;
    }
    return len + 2;
}

/* Nothing, or a port as browsers send it: never the scheme's default, no leading zeros. */
static int is_port(const char *text, int scheme_port)
{
    apr_size_t digits;

    if (!*text) {
        return 1;
    }
    digits = strspn(text + 1, "0123456789");
    return *text == ':' && digits >= 1 && digits <= 5 && !text[1 + digits] && text[1] != '0'
           && atoi(text + 1) <= 65535 && atoi(text + 1) != scheme_port;
}

apr_status_t pay_conf_parse_origin(const char **out, const char *text, apr_pool_t *p)
{
    char *origin = apr_pstrdup(p, text);
    apr_size_t len;
    char *host;
    int port;

    *out = NULL;
    ap_str_tolower(origin);
    if (!strncmp(origin, "https://", 8)) {
        host = origin + 8;
        port = 443;
    } else if (!strncmp(origin, "http://", 7)) {
        host = origin + 7;
        port = 80;
    } else {
        return APR_EINVAL;
    }
    len = *host == '[' ? literal_len(host) : host_len(host);
    if (len == 0 || !is_port(host + len, port)) {
        return APR_EINVAL;
    }
    *out = origin;
    return APR_SUCCESS;
}
