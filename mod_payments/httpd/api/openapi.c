/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/api/api.h"
#include "httpd/api/openapi_text.h"
#include "httpd/call/reply.h"

#include <http_protocol.h>

int pay_api_openapi_get(request_rec *r, const pay_call_t *call)
{
    int rc;

    (void)call;
    rc = pay_reply_begin(r, HTTP_OK);
    if (rc != OK) {
        return rc;
    }
    ap_set_content_length(r, (apr_off_t)pay_openapi_len);
    ap_rwrite(pay_openapi_text, (int)pay_openapi_len, r);
    return OK;
}
