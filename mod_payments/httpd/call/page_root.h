/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_PAGE_ROOT_H
#define PAY_HTTPD_CALL_PAGE_ROOT_H

#include <httpd.h>

/* The absolute URL in front of a page's id, as the payer's browser is to call it: of
 * PaymentsCheckoutURL, else of the host that `r` was sent to. */
const char *pay_page_root(request_rec *r);

#endif
