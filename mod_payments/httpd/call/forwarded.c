/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/forwarded.h"

#include <apr_strings.h>
#include <apr_tables.h>

int pay_forwarded_is_loopback(const apr_sockaddr_t *address)
{
    const struct in6_addr *six = &address->sa.sin6.sin6_addr;

    if (address->family == AF_INET) {
        return ntohl(address->sa.sin.sin_addr.s_addr) >> 24 == 127;
    }
    return address->family == AF_INET6
           && (IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127));
}

/* apr_table_do: stops at a header of proxies. */
static int is_not_of_proxy(void *found, const char *name, const char *value)
{
    static const char *const names[] = {"Forwarded", "Via", "X-Real-IP"};
    apr_size_t i;

    (void)value;
    *(int *)found = !strncasecmp(name, "X-Forwarded-", strlen("X-Forwarded-"));
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        *(int *)found |= !strcasecmp(name, names[i]);
    }
    return !*(int *)found;
}

int pay_forwarded_is(const request_rec *r)
{
    int found = 0;

    if (r->useragent_addr != r->connection->client_addr) {
        return 1; /* mod_remoteip removes the header that it believes */
    }
    apr_table_do(is_not_of_proxy, &found, r->headers_in, NULL);
    return found;
}

int pay_forwarded_is_by_us(const request_rec *r)
{
    static const char *const names[] = {"X-Forwarded-Server", "X-Forwarded-Host", "X-Forwarded-For",
                                        "Via", "Forwarded"};
    const conn_rec *c = r->connection;
    apr_size_t i;

    if (!pay_forwarded_is_loopback(c->client_addr)
        && (!c->local_addr || !apr_sockaddr_equal(c->client_addr, c->local_addr))) {
        return 0;
    }
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (apr_table_get(r->headers_in, names[i])) {
            return 1;
        }
    }
    return 0;
}
