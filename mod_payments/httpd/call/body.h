/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_BODY_H
#define PAY_HTTPD_CALL_BODY_H

/* The request's body: bounded, read to its end before anything is done. */

#include "base/text/fields.h"
#include "base/text/json.h"
#include "httpd/call/call.h"

/* The JSON body. NULL and *out, or a problem; see also pay_call_t.answered. Of the dashboard's no
 * text is left in our memory: pay_json_wipe clears what *out keeps. */
const pay_problem_t *pay_body_read_json(const pay_json_t **out, request_rec *r);

/*
 * The fields of an HTML form, UTF-8 without control characters, in memory that pay_fields_wipe
 * clears. NULL and *out, or a problem, and nothing of what came is left in our memory.
 */
const pay_problem_t *pay_body_read_fields(pay_fields_t *out, request_rec *r);

/*
 * Reads away what is left of the body, within bounds; beyond them the connection is closed after
 * the answer. Needed before any answer: clients of HTTP/2 lose one that comes with the body unread.
 * The problem is one of framing or time.
 */
const pay_problem_t *pay_body_discard(request_rec *r);

#endif
