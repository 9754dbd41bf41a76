/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_REPLY_H
#define PAY_HTTPD_PAGE_REPLY_H

/* Answers of hosted pages. Functions that return int return what a handler returns. */

#include "base/text/html.h"
#include "httpd/call/call.h"

/* Sets the headers of every page, and its media type. */
void pay_page_headers(request_rec *r);

int pay_page_send(request_rec *r, int status, const pay_html_t *html);

/* Sends the style sheet of the pages. */
int pay_page_send_style(request_rec *r);

/* Sends 303 to `location`. */
int pay_page_redirect(request_rec *r, const char *location);

/* Sends a page that says what went wrong and what the payer can do, in the words for the status. */
int pay_page_problem(request_rec *r, const pay_problem_t *problem);
const pay_html_t *pay_page_problem_html(request_rec *r, const pay_problem_t *problem);

/* Does the same in words of the caller. */
int pay_page_refuse(request_rec *r, int status, const char *title, const char *advice);

#endif
