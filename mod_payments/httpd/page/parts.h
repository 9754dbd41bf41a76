/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_PARTS_H
#define PAY_HTTPD_PAGE_PARTS_H

/* Declarations that the files of the view share: the frame of a page and its forms. */

#include "httpd/page/view.h"
#include "model/text.h"

/* Characters of a title or description that are shown; the rest becomes an ellipsis. */
#define PAY_PAGE_TEXT_MAX 200

/* Writes everything up to the page's own part: `title` is also the window's title. */
pay_html_t *pay_page_open(const pay_page_view_t *view, const char *title, apr_pool_t *p);
/* `logo` NULL: no logo. */
pay_html_t *pay_page_open_of_shop(const char *title, const char *shop, const char *logo,
                                  int test_mode, apr_pool_t *p);
pay_html_t *pay_page_open_bare(const char *title, int test_mode, apr_pool_t *p);
void pay_page_close(pay_html_t *html);

/* Returns the amount for people. */
const char *pay_page_amount(const pay_charge_t *charge, apr_pool_t *p);

/* Write the forms of the stages PAY and CODE, with their faults above them. */
void pay_page_write_form_faults(pay_html_t *html, const pay_page_view_t *view);
void pay_page_write_pay_forms(pay_html_t *html, const pay_page_view_t *view, apr_pool_t *p);
void pay_page_write_code_form(pay_html_t *html, const pay_page_view_t *view, apr_pool_t *p);

/* Writes `<name attribute="value"` and the like: markup, text, markup. */
void pay_page_write(pay_html_t *html, const char *before, const char *text, const char *after);

#endif
