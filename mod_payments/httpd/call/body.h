/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_BODY_H
#define PAY_HTTPD_CALL_BODY_H

/* The request's body: bounded, read to its end before any work is done. */

#include "base/text/fields.h"
#include "base/text/json.h"
#include "httpd/call/call.h"

/* Reads the JSON body. Returns NULL and sets *out, or returns a problem; see also
 * pay_call_t.answered. No text of the dashboard's bodies remains in our memory: pay_json_wipe
 * clears the copies in *out. */
const pay_problem_t *pay_body_read_json(const pay_json_t **out, request_rec *r);

/*
 * Reads the fields of an HTML form, UTF-8 without control characters, into memory that
 * pay_fields_wipe clears. Returns NULL and sets *out, or returns a problem, and no part of the body
 * remains in our memory.
 */
const pay_problem_t *pay_body_read_fields(pay_fields_t *out, request_rec *r);

/*
 * Reads and discards the rest of the body, within bounds; beyond them the connection is closed
 * after the answer. Needed before any answer: clients of HTTP/2 lose an answer that comes while the
 * body is unread. The problem is one of framing or time.
 */
const pay_problem_t *pay_body_discard(request_rec *r);

#endif
