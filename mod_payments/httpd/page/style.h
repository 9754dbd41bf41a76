/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_STYLE_H
#define PAY_HTTPD_PAGE_STYLE_H

/*
 * The style sheet of hosted pages, built in: share/dashboard/assets/tokens.css, then
 * share/checkout/checkout.css.
 */

#include <apr.h>

extern const char *const pay_page_style_text; /* without a NUL */
extern const apr_size_t pay_page_style_len;

#endif
