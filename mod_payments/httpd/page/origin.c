/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/origin.h"

#include "base/net/url.h"
#include "httpd/call/page_root.h"

#include <http_core.h>
#include <string.h>

const char *pay_page_authority(const request_rec *r)
{
    const char *host = apr_table_get(r->headers_in, "Host");

    return host ? host : ap_get_server_name((request_rec *)r);
}

/* Compares with the address that payers were given, for proxies that send another Host. */
static int is_told_origin(request_rec *r, const pay_url_t *origin)
{
    const char *fault;
    pay_url_t *root;

    return pay_url_parse(&root, &fault, pay_page_root(r), "https http", r->pool) == APR_SUCCESS
           && !strcmp(root->host, origin->host) && root->port == origin->port;
}

int pay_page_origin_is_own(request_rec *r)
{
    const char *site = apr_table_get(r->headers_in, "Sec-Fetch-Site");
    const char *origin = apr_table_get(r->headers_in, "Origin");
    const char *fault;
    pay_url_t *url;

    if (site && strcmp(site, "same-origin") != 0) {
        return 0;
    }
    if (!origin) {
        return 1;
    }
    if (pay_url_parse(&url, &fault, origin, "https http", r->pool) != APR_SUCCESS) {
        return 0; /* "null": a sandbox, a redirect from elsewhere */
    }
    return pay_url_is_at(url, pay_page_authority(r)) || is_told_origin(r, url);
}
