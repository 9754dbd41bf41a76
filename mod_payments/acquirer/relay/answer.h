/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_RELAY_ANSWER_H
#define PAY_ACQUIRER_RELAY_ANSWER_H

/* Reading the envelopes of the relay's upstream (docs/api.md). */

#include "acquirer/relay/parts.h"
#include "base/text/json.h"
#include "base/text/money.h"

/* An answer as far as it has the form of this API's. */
typedef struct pay_relay_answer_t {
    int status;
    const pay_json_t *body; /* NULL: no JSON object */
    const pay_json_t *data; /* NULL: the body has no such object */
    int good;               /* the envelope's status: 1, 0, or -1 when there is none */
    const char *message;    /* of the envelope, "" when there is none */
    const char *code;       /* responseCode of an error, "" as well */
    const char *fault;      /* the first field at fault and why, "" as well */
    int replayed;           /* as in pay_relay_reply_t */
} pay_relay_answer_t;

/* Whether something is what was asked for. */
typedef enum pay_relay_match_t {
    PAY_RELAY_SAME,
    PAY_RELAY_UNCLEAR, /* it does not say, or in no form that can be read */
    PAY_RELAY_OTHER
} pay_relay_match_t;

/* Reads what is about a call. With *trouble set nothing else of it counts. */
void pay_relay_answer_read(pay_relay_answer_t *out, payments_trouble_t *trouble,
                           apr_interval_time_t *retry_after, const pay_relay_reply_t *reply,
                           apr_pool_t *p);
/* Sends the request and reads the answer, as above. Statuses as of pay_relay_exchange. */
apr_status_t pay_relay_ask(pay_relay_answer_t *out, payments_trouble_t *trouble,
                           apr_interval_time_t *retry_after, pay_relay_call_t *call,
                           const char *path, const pay_writer_t *body, apr_pool_t *p);
/* 1: an error in the API's own envelope. */
int pay_relay_is_error(const pay_relay_answer_t *answer);
/* 1: one that says that there is nothing of this reference, which it names. */
int pay_relay_is_absent(const pay_relay_answer_t *answer, const char *reference);
/* It says that it has none: the verdict, which is unknown unless by all answers of the call it is
 * the same time for both. */
void pay_relay_absent(payments_answer_t *out, const pay_relay_call_t *call);
/* 1: one that refuses the request itself for good (400, 422). */
int pay_relay_is_refusal(const pay_relay_answer_t *answer);
/* What a refusal says. */
const char *pay_relay_refusal(const pay_relay_answer_t *answer, apr_pool_t *p);
/* The status of a call whose answer decides nothing: APR_SUCCESS where it is one of the API's. */
apr_status_t pay_relay_undecided(pay_relay_call_t *call, const pay_relay_answer_t *answer,
                                 apr_pool_t *p);
/* A string member, "" when it is absent or none. */
const char *pay_relay_text(const pay_json_t *json, const char *name);
pay_relay_match_t pay_relay_match_text(const pay_json_t *json, const char *name, const char *want);
/* The members "amount" and "currency". */
pay_relay_match_t pay_relay_match_money(const pay_json_t *json, apr_int64_t amount_minor,
                                        const char *currency);
/* An amount member, a number or a string of one; 0 where there is none above 0. */
apr_int64_t pay_relay_amount(const pay_json_t *json, const char *name, const char *currency);
/* The worse of the two. */
pay_relay_match_t pay_relay_match_both(pay_relay_match_t a, pay_relay_match_t b);
/* `reference` as a segment of a path. */
const char *pay_relay_segment(const char *reference, apr_pool_t *p);

#endif
