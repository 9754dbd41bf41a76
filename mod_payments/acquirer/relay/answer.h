/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_RELAY_ANSWER_H
#define PAY_ACQUIRER_RELAY_ANSWER_H

/* Reads the envelopes of the relay's upstream (docs/api.md). */

#include "acquirer/relay/parts.h"
#include "base/text/json.h"
#include "base/text/money.h"

/* An answer, as far as it has the form of this API. */
typedef struct pay_relay_answer_t {
    int status;
    const pay_json_t *body; /* NULL: not a JSON object */
    const pay_json_t *data; /* NULL: the body has no such object */
    int good;               /* the envelope's status: 1, 0, or -1 if absent */
    const char *message;    /* of the envelope, "" if absent */
    const char *code;       /* responseCode of an error, "" if absent */
    const char *fault;      /* the first field at fault and the reason, "" if absent */
    int replayed;           /* as in pay_relay_reply_t */
} pay_relay_answer_t;

/* Whether a value is the expected one. */
typedef enum pay_relay_match_t {
    PAY_RELAY_SAME,
    PAY_RELAY_UNCLEAR, /* absent, or in a form that cannot be read */
    PAY_RELAY_OTHER
} pay_relay_match_t;

/* Reads the answer to a call. If *trouble is set, nothing else of it counts. */
void pay_relay_answer_read(pay_relay_answer_t *out, payments_trouble_t *trouble,
                           apr_interval_time_t *retry_after, const pay_relay_reply_t *reply,
                           apr_pool_t *p);
/* Sends the request and reads the answer, as above. Statuses as of pay_relay_exchange. */
apr_status_t pay_relay_ask(pay_relay_answer_t *out, payments_trouble_t *trouble,
                           apr_interval_time_t *retry_after, pay_relay_call_t *call,
                           const char *path, const pay_writer_t *body, apr_pool_t *p);
/* Returns 1 for an error in the API's own envelope. */
int pay_relay_is_error(const pay_relay_answer_t *answer);
/* Returns 1 for an error that reports the absence of this reference, which it names. */
int pay_relay_is_absent(const pay_relay_answer_t *answer, const char *reference);
/* The upstream reports absence: sets the verdict, which is unknown unless all answers of the call
 * show the same time as our clock. */
void pay_relay_absent(payments_answer_t *out, const pay_relay_call_t *call);
/* Returns 1 for an error that refuses the request itself for good (400, 422). */
int pay_relay_is_refusal(const pay_relay_answer_t *answer);
/* Returns the text of a refusal. */
const char *pay_relay_refusal(const pay_relay_answer_t *answer, apr_pool_t *p);
/*
 * Returns the status of a call whose answer decides nothing: APR_SUCCESS if it is an answer of the
 * API.
 */
apr_status_t pay_relay_undecided(pay_relay_call_t *call, const pay_relay_answer_t *answer,
                                 apr_pool_t *p);
/* Returns a string member, "" if it is absent or not a string. */
const char *pay_relay_text(const pay_json_t *json, const char *name);
pay_relay_match_t pay_relay_match_text(const pay_json_t *json, const char *name, const char *want);
/* Compares the members "amount" and "currency". */
pay_relay_match_t pay_relay_match_money(const pay_json_t *json, apr_int64_t amount_minor,
                                        const char *currency);
/* Returns an amount member, a number or a string with one; 0 if it is not above 0. */
apr_int64_t pay_relay_amount(const pay_json_t *json, const char *name, const char *currency);
/* Returns the worse of the two. */
pay_relay_match_t pay_relay_match_both(pay_relay_match_t a, pay_relay_match_t b);
/* Returns `reference` as a segment of a path. */
const char *pay_relay_segment(const char *reference, apr_pool_t *p);

#endif
