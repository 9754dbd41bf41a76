/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_ORIGIN_H
#define PAY_HTTPD_PAGE_ORIGIN_H

/* Whether a form was sent from our own page (Fetch, "Sec-Fetch-Site"; RFC 6454, "Origin"). */

#include <httpd.h>

/* "shop.example:8443" as the client wrote it, the server's own name when it wrote none. */
const char *pay_page_authority(const request_rec *r);

/* 0: a browser says that another origin's page sent it. */
int pay_page_origin_is_own(request_rec *r);

#endif
