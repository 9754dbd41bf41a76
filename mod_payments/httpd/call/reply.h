/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_REPLY_H
#define PAY_HTTPD_CALL_REPLY_H

/*
 * Answers. All functions that return int return what a handler returns; what is left of the body
 * has been read away by then.
 */

#include "base/text/writer.h"
#include "httpd/call/call.h"

/* Reads away the body, then sets status and the headers that every answer has. OK: send it. */
int pay_reply_begin(request_rec *r, int status);

/* The headers alone, with the media type of the answer. */
void pay_reply_headers(request_rec *r);

int pay_reply_json(request_rec *r, int status, const pay_writer_t *body);
int pay_reply_text(request_rec *r, int status, const char *json);
int pay_reply_empty(request_rec *r, int status);

/* Says that the answer to come is an earlier one, given again. */
void pay_reply_mark_replayed(request_rec *r);

/* The error envelope. A status returned to httpd would bring the site's ErrorDocument instead. */
int pay_reply_problem(request_rec *r, const pay_problem_t *problem);

/* The envelope's text, and the headers that belong to the problem. */
const pay_writer_t *pay_reply_problem_text(request_rec *r, const pay_problem_t *problem);

#endif
