/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/url.h"

#include <curl/curl.h>

#include <apr_lib.h>
#include <apr_strings.h>
#include <stdlib.h>
#include <string.h>

#define URL_LEN_MAX 1000
#define PORT_MAX 65535

/* The characters that RFC 3986 allows in a URL. libcurl would pass other bytes on as they are. */
static const char url_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~:/?#[]@!$&'()*+,;=%";

/* Returns 1 if `scheme` is one of the words of `schemes`. */
static int scheme_listed(const char *scheme, const char *schemes)
{
    apr_size_t len = strlen(scheme);
    const char *word = schemes;

    while (*word) {
        apr_size_t word_len = strcspn(word, " ");

        if (word_len == len && memcmp(word, scheme, len) == 0) {
            return 1;
        }
        word += word_len;
        word += strspn(word, " ");
    }
    return 0;
}

/* Makes "https or http" of "https http". */
static const char *schemes_sentence(const char *schemes, apr_pool_t *p)
{
    const char *blank = strrchr(schemes, ' ');

    if (!blank) {
        return schemes;
    }
    return apr_psprintf(p, "%.*s or %s", (int)(blank - schemes), schemes, blank + 1);
}

/*
 * Checks the original text for faults that libcurl tolerates: a URL that two programs could read in
 * two ways is refused. NULL if there is no fault.
 */
static const char *text_fault(const char *text, const char *schemes, apr_pool_t *p)
{
    apr_size_t len = strlen(text);
    const char *authority;
    apr_size_t authority_len;

    if (len > URL_LEN_MAX) {
        return apr_psprintf(p, "want at most %d bytes", URL_LEN_MAX);
    }
    if (strspn(text, url_chars) != len) {
        return "want the characters of RFC 3986 only: others percent-encoded, in a host's name as "
               "xn--";
    }
    authority = strstr(text, "://");
    if (!authority || authority != text + strcspn(text, ":/?#[]@")) {
        return apr_psprintf(p, "want a complete URL that begins with %s://",
                            schemes_sentence(schemes, p));
    }
    authority += 3;
    authority_len = strcspn(authority, "/?#");
    if (authority_len == 0 || *authority == ':') {
        return "want a host";
    }
    if (memchr(authority, '@', authority_len)) {
        return "want no user and no password in the URL";
    }
    if (memchr(authority, '%', authority_len)) {
        return "want a host without percent signs";
    }
    return NULL;
}

/* Copies a part from libcurl's memory into the pool; NULL: the URL has no such part. */
static char *part_get(CURLU *handle, CURLUPart part, unsigned int flags, apr_pool_t *p)
{
    char *text = NULL;
    char *copy;

    if (curl_url_get(handle, part, &text, flags) != CURLUE_OK) {
        return NULL;
    }
    copy = apr_pstrdup(p, text);
    curl_free(text);
    return copy;
}

static const char *fault_of(CURLUcode code, const char *schemes, apr_pool_t *p)
{
    switch (code) {
    case CURLUE_UNSUPPORTED_SCHEME:
        return apr_psprintf(p, "want %s as the scheme", schemes_sentence(schemes, p));
    case CURLUE_BAD_PORT_NUMBER:
        return "want a port from 1 to 65535";
    case CURLUE_NO_HOST:
        return "want a host";
    case CURLUE_USER_NOT_ALLOWED:
        return "want no user and no password in the URL";
    default:
        return "want a URL according to RFC 3986";
    }
}

static void lower(char *text)
{
    for (; *text; text++) {
        *text = (char)apr_tolower(*text);
    }
}

/* Names of letters, digits, hyphens, underscores and dots; addresses. */
static int host_well_formed(const char *host)
{
    apr_size_t len = strlen(host);

    if (host[0] == '[') {
        return len > 2 && host[len - 1] == ']' && strspn(host + 1, "0123456789abcdef:.") == len - 2;
    }
    return len > 0 && len <= 253 && host[0] != '.' && !strstr(host, "..")
           && strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-._") == len;
}

static apr_status_t handle_read(pay_url_t *url, const char **fault, CURLU *handle, const char *text,
                                const char *schemes, apr_pool_t *p)
{
    CURLUcode code = curl_url_set(handle, CURLUPART_URL, text, CURLU_DISALLOW_USER);
    const char *port;
    char *host;

    if (code != CURLUE_OK) {
        *fault = fault_of(code, schemes, p);
        return APR_EINVAL;
    }
    url->scheme = part_get(handle, CURLUPART_SCHEME, 0, p);
    if (!url->scheme || !scheme_listed(url->scheme, schemes)) {
        *fault = fault_of(CURLUE_UNSUPPORTED_SCHEME, schemes, p);
        return APR_EINVAL;
    }
    port = part_get(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT, p);
    url->port = port ? atoi(port) : 0;
    if (url->port < 1 || url->port > PORT_MAX) {
        *fault = fault_of(CURLUE_BAD_PORT_NUMBER, schemes, p);
        return APR_EINVAL;
    }
    host = part_get(handle, CURLUPART_HOST, 0, p);
    if (host) {
        lower(host);
    }
    if (!host || !host_well_formed(host)) {
        *fault = "want a host's name or address";
        return APR_EINVAL;
    }
    url->host = host;
    (void)curl_url_set(handle, CURLUPART_FRAGMENT, NULL, 0);
    code = curl_url_set(handle, CURLUPART_HOST, host, 0);
    url->text = part_get(handle, CURLUPART_URL, 0, p);
    if (code != CURLUE_OK || !url->text) {
        *fault = fault_of(CURLUE_MALFORMED_INPUT, schemes, p);
        return APR_EINVAL;
    }
    return APR_SUCCESS;
}

apr_status_t pay_url_parse(pay_url_t **out, const char **fault, const char *text,
                           const char *schemes, apr_pool_t *p)
{
    pay_url_t *url = apr_pcalloc(p, sizeof(*url));
    CURLU *handle;
    apr_status_t rv;

    *out = NULL;
    *fault = text_fault(text, schemes, p);
    if (*fault) {
        return APR_EINVAL;
    }
    handle = curl_url();
    if (!handle) {
        *fault = "there is no memory left";
        return APR_ENOMEM;
    }
    rv = handle_read(url, fault, handle, text, schemes, p);
    curl_url_cleanup(handle);
    if (rv == APR_SUCCESS) {
        *out = url;
    }
    return rv;
}

int pay_url_is_at(const pay_url_t *url, const char *authority)
{
    const apr_size_t len = strlen(url->host);
    char *end;
    long port;

    if (strncasecmp(authority, url->host, len) != 0) {
        return 0;
    }
    if (authority[len] == '\0') {
        return url->port == (strcmp(url->scheme, "https") == 0 ? 443 : 80);
    }
    if (authority[len] != ':' || !apr_isdigit(authority[len + 1])) {
        return 0;
    }
    port = strtol(authority + len + 1, &end, 10);
    return *end == '\0' && port == url->port;
}
