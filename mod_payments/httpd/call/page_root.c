/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/page_root.h"

#include "httpd/call/gate.h"
#include "httpd/conf/conf.h"
#include "httpd/path/own_path.h"

#include <apr_strings.h>
#include <http_core.h>

/* Behind a proxy that ends TLS the browser's scheme is the proxy's. */
static const char *origin_of(request_rec *r)
{
    const char *url;

    if (!pay_gate_is_behind_tls(r)) {
        url = ap_construct_url(r->pool, "/", r);
        return apr_pstrmemdup(r->pool, url, strlen(url) - 1);
    }
    return apr_pstrcat(r->pool, "https://", r->hostname ? r->hostname : ap_get_server_name(r),
                       NULL);
}

const char *pay_page_root(request_rec *r)
{
    const pay_conf_t *conf = pay_conf_get(r->server);

    return apr_pstrcat(r->pool, conf->checkout_url ? conf->checkout_url : origin_of(r),
                       conf->base_path, PAY_OWN_PATH_PAGES, NULL);
}
