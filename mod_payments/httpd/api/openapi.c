/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/api/api.h"
#include "httpd/call/reply.h"

#include <http_protocol.h>

/* The description of the API for programs: docs/openapi.json, byte for byte, from which the
 * Makefile generates this. */
static const unsigned char text[] = {
#include "httpd/api/openapi_text.inc"
};
_Static_assert(sizeof(text) > 1, "the document was not there to be built in");

int pay_api_openapi_get(request_rec *r, const pay_call_t *call)
{
    int rc;

    (void)call;
    rc = pay_reply_begin(r, HTTP_OK);
    if (rc != OK) {
        return rc;
    }
    ap_set_content_length(r, (apr_off_t)sizeof(text));
    ap_rwrite(text, (int)sizeof(text), r);
    return OK;
}
