/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/anonymous.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_request.h>

/*
 * Addresses of a root name server, which is not a client of web servers. They are in no private,
 * reserved or documentation range: rules that exclude such ranges take them for any client.
 */
static const struct {
    const char *text;
    int family;
} addresses[] = {
    {"198.41.0.4", APR_INET},
#if APR_HAVE_IPV6
    {"2001:503:ba3e::2:30", APR_INET6},
#endif
};

/* A denial that no client received must not be logged as one. */
static const struct ap_logconf silent = {NULL, APLOG_EMERG};

static int is_let_in(request_rec *r, const char *address, int family)
{
    request_rec *probe = apr_pmemdup(r->pool, r, sizeof(*r));
    apr_status_t rv;

    rv = apr_sockaddr_info_get(&probe->useragent_addr, address, family, 0, 0, r->pool);
    if (rv != APR_SUCCESS) {
        return 1;
    }
    probe->useragent_ip = apr_pstrdup(r->pool, address);
    probe->useragent_host = apr_pstrdup(r->pool, ""); /* looked up, without a name */
    probe->double_reverse = -1;
    probe->user = NULL;
    probe->ap_auth_type = NULL;
    probe->log = &silent;
    probe->headers_in = apr_table_make(r->pool, 1);
    probe->headers_out = apr_table_make(r->pool, 1);
    probe->err_headers_out = apr_table_make(r->pool, 1);
    probe->subprocess_env = apr_table_make(r->pool, 1);
    probe->notes = apr_table_make(r->pool, 1);
    return ap_run_access_checker_ex(probe) == OK;
}

int pay_anonymous_is_let_in(request_rec *r)
{
    apr_size_t i;

    if (ap_satisfies(r) == SATISFY_ANY) {
        return 1; /* Order and Allow may let in clients that Require does not: they are not
                   * evaluated here */
    }
    for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        if (is_let_in(r, addresses[i].text, addresses[i].family)) {
            return 1;
        }
    }
    return 0;
}
