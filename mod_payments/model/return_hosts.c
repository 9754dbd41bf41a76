/* SPDX-License-Identifier: Apache-2.0 */
#include "model/return_hosts.h"

#include <apr_strings.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMES "https http"
#define BELOW "*."

static int own_port(const pay_url_t *url)
{
    return strcmp(url->scheme, "https") == 0 ? 443 : 80;
}

/* The fully qualified name is the same one. */
static const char *without_dot(const char *host, apr_pool_t *p)
{
    const apr_size_t len = strlen(host);

    return len > 1 && host[len - 1] == '.' ? apr_pstrmemdup(p, host, len - 1) : host;
}

static int is_address(const char *host)
{
    return host[0] == '[' || strspn(host, "0123456789.") == strlen(host);
}

/* Returns the entry in listed form; NULL if it is not a host. */
static const char *entry_read(const char *word, apr_pool_t *p)
{
    const int below = strncmp(word, BELOW, strlen(BELOW)) == 0;
    const char *fault, *host, *colon;
    pay_url_t *url;

    word += below ? strlen(BELOW) : 0;
    if (strpbrk(word, "/?#*") || !*word || word[strlen(word) - 1] == ':'
        || pay_url_parse(&url, &fault, apr_pstrcat(p, "https://", word, "/", NULL), SCHEMES, p)
               != APR_SUCCESS) {
        return NULL;
    }
    host = without_dot(url->host, p);
    if (below && (is_address(host) || !strchr(host, '.'))) {
        return NULL;
    }
    colon = strrchr(word, ':');
    if (!colon || strchr(colon, ']')) {
        return apr_pstrcat(p, below ? BELOW : "", host, NULL);
    }
    return apr_psprintf(p, "%s%s:%d", below ? BELOW : "", host, url->port);
}

static int has_word(const char *list, const char *word)
{
    const apr_size_t len = strlen(word);
    const char *at;

    for (at = list; *at; at += strspn(at, " ")) {
        const apr_size_t one = strcspn(at, " ");

        if (one == len && memcmp(at, word, len) == 0) {
            return 1;
        }
        at += one;
    }
    return 0;
}

static int count_of(const char *list)
{
    int count = *list != '\0';

    for (; *list; list++) {
        count += *list == ' ';
    }
    return count;
}

int pay_return_hosts_add(const char **out, const char *list, const char *text, apr_pool_t *p)
{
    char *word, *last;
    const char *entry;

    *out = list;
    for (word = apr_strtok(apr_pstrdup(p, text), " ", &last); word;
         word = apr_strtok(NULL, " ", &last)) {
        entry = entry_read(word, p);
        if (!entry) {
            return 0;
        }
        if (has_word(*out, entry)) {
            continue;
        }
        *out = apr_pstrcat(p, *out, **out ? " " : "", entry, NULL);
        if (strlen(*out) > PAY_RETURN_HOSTS_LEN_MAX || count_of(*out) > PAY_RETURN_HOSTS_MAX) {
            return 0;
        }
    }
    return 1;
}

/* Returns 1 if `entry` is the host, or, for "*.", one above it. */
static int matches(const char *entry, const char *host, int port, int is_own_port)
{
    const char *colon = strrchr(entry, ':');
    const char *name = entry;
    apr_size_t len, host_len = strlen(host);

    if (colon && strchr(colon, ']')) { /* of an IPv6 address */
        colon = NULL;
    }
    if (colon ? atoi(colon + 1) != port : !is_own_port) {
        return 0;
    }
    len = colon ? (apr_size_t)(colon - entry) : strlen(entry);
    if (strncmp(entry, BELOW, strlen(BELOW)) != 0) {
        return len == host_len && memcmp(name, host, len) == 0;
    }
    name++; /* ".shop.example" */
    len--;
    return host_len > len && memcmp(host + host_len - len, name, len) == 0;
}

int pay_return_hosts_has(const char *list, const pay_url_t *url, apr_pool_t *p)
{
    const char *host = without_dot(url->host, p);
    const int is_own_port = url->port == own_port(url);
    char *word, *last;

    for (word = apr_strtok(apr_pstrdup(p, list), " ", &last); word;
         word = apr_strtok(NULL, " ", &last)) {
        if (matches(word, host, url->port, is_own_port)) {
            return 1;
        }
    }
    return 0;
}

const char *pay_return_host_shown(const pay_url_t *url, apr_pool_t *p)
{
    const char *host = without_dot(url->host, p);

    return url->port == own_port(url) ? host : apr_psprintf(p, "%s:%d", host, url->port);
}
