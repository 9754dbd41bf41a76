/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_PAGE_ROOT_H
#define PAY_HTTPD_CALL_PAGE_ROOT_H

#include <httpd.h>

/* Returns the absolute URL in front of a page's id, for the payer's browser: from
 * PaymentsCheckoutURL, else from the host that `r` was sent to. */
const char *pay_page_root(request_rec *r);

#endif
