/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_REPLY_H
#define PAY_HTTPD_CALL_REPLY_H

/*
 * Answers. All functions that return int return what a handler returns; the rest of the body has
 * been read and discarded by then.
 */

#include "base/text/writer.h"
#include "httpd/call/call.h"

/*
 * Reads and discards the body, then sets status and the headers that every answer has. OK: send it.
 */
int pay_reply_begin(request_rec *r, int status);

/* Sets only the headers, with the media type of the answer. */
void pay_reply_headers(request_rec *r);

int pay_reply_json(request_rec *r, int status, const pay_writer_t *body);
int pay_reply_text(request_rec *r, int status, const char *json);
int pay_reply_empty(request_rec *r, int status);

/* Marks the answer as the repetition of an earlier one. */
void pay_reply_mark_replayed(request_rec *r);

/*
 * Sends the error envelope. A status returned to httpd would send the site's ErrorDocument instead.
 */
int pay_reply_problem(request_rec *r, const pay_problem_t *problem);

/* Returns the envelope's text, and sets the headers that belong to the problem. */
const pay_writer_t *pay_reply_problem_text(request_rec *r, const pay_problem_t *problem);

#endif
