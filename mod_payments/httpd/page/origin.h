/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_ORIGIN_H
#define PAY_HTTPD_PAGE_ORIGIN_H

/* Whether a form was sent from our own page (Fetch, "Sec-Fetch-Site"; RFC 6454, "Origin"). */

#include <httpd.h>

/* Returns "shop.example:8443" as the client wrote it; the server's own name if it wrote none. */
const char *pay_page_authority(const request_rec *r);

/* Returns 0 if a browser reports that another origin's page sent the form. */
int pay_page_origin_is_own(request_rec *r);

#endif
