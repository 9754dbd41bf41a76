/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recipients.h"

#include "model/email.h"
#include "model/endpoint.h"

#include <apr_strings.h>
#include <string.h>

#define ANYBODY "x" /* makes an address from a domain */

/* Returns 1 if `word` is an entry of the list. */
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

/* Returns an address, or a domain with "@" before it, in stored form; NULL if it is neither. */
static const char *entry_read(const char *word, apr_pool_t *p)
{
    const int is_domain = *word == '@';
    const char *address;

    if (is_domain) {
        word = apr_pstrcat(p, ANYBODY, word, NULL);
    }
    if (pay_email_normalize(&address, word, p) != APR_SUCCESS) {
        return NULL;
    }
    return is_domain ? address + strlen(ANYBODY) : address;
}

int pay_recipients_read(const char **out, const char *text, apr_pool_t *p)
{
    const char *list = "", *entry;
    char *rest = apr_pstrdup(p, text);
    char *word, *last;
    int count = 0;

    *out = "";
    for (word = apr_strtok(rest, " ", &last); word; word = apr_strtok(NULL, " ", &last)) {
        entry = entry_read(word, p);
        if (!entry) {
            return 0;
        }
        if (has_word(list, entry)) {
            continue;
        }
        list = apr_pstrcat(p, list, *list ? " " : "", entry, NULL);
        if (++count > PAY_RECIPIENTS_MAX || strlen(list) > PAY_ENDPOINT_ADDRESS_MAX) {
            return 0;
        }
    }
    *out = list;
    return 1;
}

int pay_recipients_has(const char *list, const char *address)
{
    const char *domain = strrchr(address, '@');

    return domain && (has_word(list, address) || has_word(list, domain));
}

const char *pay_recipients_mailbox(const char *address, apr_pool_t *p)
{
    const char *domain = strrchr(address, '@');
    const char *plus = strchr(address, '+');

    if (!domain || !plus || plus > domain || plus == address) {
        return address;
    }
    return apr_pstrcat(p, apr_pstrmemdup(p, address, (apr_size_t)(plus - address)), domain, NULL);
}
