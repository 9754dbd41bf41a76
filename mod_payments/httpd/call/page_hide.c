/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/page_hide.h"

#include "httpd/conf/conf.h"
#include "httpd/path/own_path.h"

#include <apr_strings.h>
#include <scoreboard.h>
#include <string.h>

#define HIDDEN "-" /* in place of the id; no id has this form */

char *pay_page_hidden_path(const request_rec *r)
{
    return apr_pstrcat(r->pool, pay_conf_get(r->server)->base_path, PAY_OWN_PATH_PAGES HIDDEN,
                       NULL);
}

void pay_page_hide(request_rec *r)
{
    char *line = apr_pstrcat(r->pool, r->method ? r->method : "-", " ", pay_page_hidden_path(r),
                             " ", r->protocol, NULL);

    if (r->the_request && !strcmp(r->the_request, line)) {
        return;
    }
    r->the_request = line;
    /* Forms and links of a page send its whole URL in this header, and httpd's error log shows
     * it. */
    apr_table_unset(r->headers_in, "Referer");
    /* mod_status already has the line if the request was too malformed to be read. */
    ap_update_child_status(r->connection->sbh, SERVER_BUSY_LOG, r);
}
