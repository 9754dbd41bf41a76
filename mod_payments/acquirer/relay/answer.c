/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/answer.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>

#define RETRY_AFTER_MIN 1 /* seconds, also if the upstream names none */
#define RETRY_AFTER_MAX 60
#define CODE_MAX 8
#define CODE_UNKNOWN "N1"  /* responseCode: there is no such record */
#define CODE_FAILURES "L2" /* too many payments of this card or payer failed */

const char *pay_relay_text(const pay_json_t *json, const char *name)
{
    const char *text = json ? pay_json_string(json, name) : NULL;

    return text ? text : "";
}

static int trouble_of(payments_trouble_t *trouble, apr_interval_time_t *retry_after,
                      const pay_relay_reply_t *reply)
{
    int seconds = reply->retry_after;

    switch (reply->status) {
    case 401:
    case 403:
        *trouble = PAYMENTS_CREDENTIALS;
        return 1;
    case 429:
        if (seconds < RETRY_AFTER_MIN) {
            seconds = RETRY_AFTER_MIN;
        } else if (seconds > RETRY_AFTER_MAX) {
            seconds = RETRY_AFTER_MAX;
        }
        *trouble = PAYMENTS_BUSY;
        *retry_after = apr_time_from_sec(seconds);
        return 1;
    default:
        return 0;
    }
}

/* Returns 1 if 429 concerns this payment, not the rate of our calls: other payments go on. */
static int is_about_payment(const pay_relay_reply_t *reply, const pay_json_t *data)
{
    return reply->status == 429 && !strcmp(pay_relay_text(data, "responseCode"), CODE_FAILURES);
}

/* "/token is not known": the message of most refusals alone does not say what is wrong. */
static const char *fault_of(const pay_json_t *data, apr_pool_t *p)
{
    const pay_json_t *error = data ? pay_json_first(data, "errors", p) : NULL;
    const char *reason = pay_relay_text(error, "reason");

    return *reason ? apr_pstrcat(p, pay_relay_text(error, "field"), " ", reason, NULL) : "";
}

void pay_relay_answer_read(pay_relay_answer_t *out, payments_trouble_t *trouble,
                           apr_interval_time_t *retry_after, const pay_relay_reply_t *reply,
                           apr_pool_t *p)
{
    const char *reason;

    memset(out, 0, sizeof(*out));
    out->good = -1;
    out->message = out->code = out->fault = "";
    out->status = reply->status;
    out->replayed = reply->replayed;
    /* Other text than a JSON object leaves `body` NULL, and so decides nothing. */
    (void)pay_json_parse(&out->body, &reason, reply->text, reply->len, p);
    out->data = out->body ? pay_json_object(out->body, "data", p) : NULL;
    if (!is_about_payment(reply, out->data) && trouble_of(trouble, retry_after, reply)) {
        out->body = out->data = NULL;
        return;
    }
    if (!out->body) {
        return;
    }
    out->good = pay_json_bool(out->body, "status");
    out->message = pay_relay_text(out->body, "message");
    out->code = pay_relay_text(out->data, "responseCode");
    out->fault = fault_of(out->data, p);
}

apr_status_t pay_relay_ask(pay_relay_answer_t *out, payments_trouble_t *trouble,
                           apr_interval_time_t *retry_after, pay_relay_call_t *call,
                           const char *path, const pay_writer_t *body, apr_pool_t *p)
{
    pay_relay_reply_t reply;
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    rv = pay_relay_exchange(&reply, call, path, body, PAY_RELAY_ANSWER_MAX, p);
    if (rv == APR_SUCCESS) {
        pay_relay_answer_read(out, trouble, retry_after, &reply, p);
    }
    return rv;
}

int pay_relay_is_error(const pay_relay_answer_t *answer)
{
    return answer->status >= 400 && answer->good == 0 && *answer->code;
}

/* Returns 1 if the text contains `word`, not as part of a longer one. */
static int holds_word(const char *text, const char *word)
{
    const apr_size_t len = strlen(word);
    const char *at = text;

    while (len > 0 && (at = strstr(at, word)) != NULL) {
        if ((at == text || !apr_isalnum(at[-1])) && !apr_isalnum(at[len])) {
            return 1;
        }
        at++;
    }
    return 0;
}

int pay_relay_is_absent(const pay_relay_answer_t *answer, const char *reference)
{
    static const char *const members[] = {"responseMessage", "responseDescription", "reference",
                                          "transactionReference", "refundReference"};
    apr_size_t i;

    if (answer->status != 404 || !pay_relay_is_error(answer)
        || strcmp(answer->code, CODE_UNKNOWN) != 0) {
        return 0;
    }
    if (holds_word(answer->message, reference)) {
        return 1;
    }
    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (holds_word(pay_relay_text(answer->data, members[i]), reference)) {
            return 1;
        }
    }
    return 0;
}

void pay_relay_absent(payments_answer_t *out, const pay_relay_call_t *call)
{
    const int agree = call->dates == PAY_RELAY_DATES_AGREE;

    out->verdict = agree ? PAYMENTS_ABSENT : PAYMENTS_UNKNOWN;
    out->doubted = !agree;
}

/* Returns 1 if the text contains the word in any case. */
static int mentions(const char *text, const char *word)
{
    const apr_size_t len = strlen(word);

    for (; *text; text++) {
        if (strncasecmp(text, word, len) == 0) {
            return 1;
        }
    }
    return 0;
}

/*
 * A request that was sent once may have arrived twice: an intermediary may repeat requests. An
 * upstream that reports a duplicate may have executed the first of them.
 */
int pay_relay_is_refusal(const pay_relay_answer_t *answer)
{
    if (answer->status == 429) { /* read further only if it concerns the payment */
        return pay_relay_is_error(answer);
    }
    return (answer->status == 400 || answer->status == 422) && pay_relay_is_error(answer)
           && !mentions(answer->message, "duplicate") && !mentions(answer->message, "already")
           && !mentions(answer->fault, "duplicate") && !mentions(answer->fault, "already");
}

const char *pay_relay_refusal(const pay_relay_answer_t *answer, apr_pool_t *p)
{
    return *answer->fault ? apr_pstrcat(p, answer->message, " ", answer->fault, NULL)
                          : answer->message;
}

/*
 * Returns " and code CODE" for a code that may be shown; "" for one that is longer, or has other
 * characters.
 */
static const char *code_of(const pay_relay_answer_t *answer, apr_pool_t *p)
{
    apr_size_t len = strspn(answer->code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

    return len > 0 && len <= CODE_MAX && !answer->code[len]
               ? apr_pstrcat(p, " and code ", answer->code, NULL)
               : "";
}

apr_status_t pay_relay_undecided(pay_relay_call_t *call, const pay_relay_answer_t *answer,
                                 apr_pool_t *p)
{
    if (pay_relay_is_error(answer)) {
        pay_relay_tell(call->relay, apr_psprintf(p, "It answers with status %d%s.", answer->status,
                                                 code_of(answer, p)));
        return answer->status < 500 ? APR_SUCCESS : APR_EGENERAL;
    }
    pay_relay_tell(call->relay,
                   apr_psprintf(p, "It answers with status %d and a body that is not of this API.",
                                answer->status));
    return APR_EGENERAL;
}

pay_relay_match_t pay_relay_match_both(pay_relay_match_t a, pay_relay_match_t b)
{
    return a > b ? a : b;
}

pay_relay_match_t pay_relay_match_text(const pay_json_t *json, const char *name, const char *want)
{
    const char *text = pay_relay_text(json, name);

    if (!*text) {
        return PAY_RELAY_UNCLEAR;
    }
    return strcmp(text, want) == 0 ? PAY_RELAY_SAME : PAY_RELAY_OTHER;
}

/* Returns a number, or a string with one: both are in use. */
static const char *number_of(const pay_json_t *json, const char *name)
{
    const char *text = pay_json_number(json, name);

    return text ? text : pay_relay_text(json, name);
}

apr_int64_t pay_relay_amount(const pay_json_t *json, const char *name, const char *currency)
{
    pay_money_t money;
    apr_status_t rv;

    rv = pay_money_parse(&money, number_of(json, name), currency);
    return rv == APR_SUCCESS ? money.amount_minor : 0;
}

static pay_relay_match_t match_amount(const pay_json_t *json, apr_int64_t amount_minor,
                                      const char *currency)
{
    const char *text = number_of(json, "amount");
    char normalised[PAY_DECIMAL_TEXT_MAX];
    pay_money_t money;
    apr_status_t rv;

    rv = pay_money_parse(&money, text, currency);
    if (rv == APR_SUCCESS) {
        return money.amount_minor == amount_minor ? PAY_RELAY_SAME : PAY_RELAY_OTHER;
    }
    /* More decimals than the currency has, or beyond every amount: still a number. */
    rv = pay_decimal_normalize(normalised, text);
    return rv == APR_SUCCESS ? PAY_RELAY_OTHER : PAY_RELAY_UNCLEAR;
}

pay_relay_match_t pay_relay_match_money(const pay_json_t *json, apr_int64_t amount_minor,
                                        const char *currency)
{
    char code[PAY_CURRENCY_LEN + 1];
    apr_status_t rv;

    rv = pay_currency_normalize(code, pay_relay_text(json, "currency"));
    if (rv != APR_SUCCESS) {
        return PAY_RELAY_UNCLEAR;
    }
    if (strcmp(code, currency) != 0) {
        return PAY_RELAY_OTHER;
    }
    return match_amount(json, amount_minor, currency);
}

const char *pay_relay_segment(const char *reference, apr_pool_t *p)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = apr_palloc(p, strlen(reference) * 3 + 1);
    char *end = out;

    for (; *reference; reference++) {
        unsigned char byte = (unsigned char)*reference;

        if (apr_isalnum(byte) || strchr("-._~", byte)) {
            *end++ = (char)byte;
        } else {
            *end++ = '%';
            *end++ = digits[byte >> 4];
            *end++ = digits[byte & 0x0f];
        }
    }
    *end = '\0';
    return out;
}
