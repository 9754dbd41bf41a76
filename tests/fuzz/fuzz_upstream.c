/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "acquirer/acquirer.h"
#include "acquirer/relay/parts.h"
#include "acquirer/relay/relay.h"
#include "base/text/json.h"
#include "model/text.h"
#include "service/history/parts.h"
#include "store/payment/charge.h"

/*
 * An answer of the relay's upstream: a letter for the call, the status in three digits, Retry-After
 * up to the end of the line, then the body. This file replaces acquirer/relay/exchange.c: there is
 * no network, and each request is answered so.
 */

#define HEAD_LEN 4 /* letter and status */
#define FUZZ_NOW APR_TIME_C(1800000000000000)
#define OPENED_AT (FUZZ_NOW - apr_time_from_sec(86400))
#define REFERENCE "0123456789abcdef0123456789abcdef"
#define TAG "abcdefghijklmnopqrstuvwx"
#define REFUND_REFERENCE "rfd_up"
#define AMOUNT_MINOR 1050
#define CURRENCY "NGN"
#define RECORDS_MAX 100000

static pay_relay_t relay = {.base = "https://up.example", .host = "up.example", .mode = PAY_LIVE};
static const pay_acquirer_t acquirer = {.connector = &pay_acquirer_relay,
                                        .context = &relay,
                                        .name = "relay@up.example",
                                        .timeout = APR_USEC_PER_SEC};
static pay_relay_reply_t reply; /* of the current input */

/* ---- in place of acquirer/relay/exchange.c */

apr_status_t pay_relay_lines_open(pay_relay_t *opened, apr_pool_t *p)
{
    (void)opened;
    (void)p;
    return APR_SUCCESS;
}

pay_relay_call_t pay_relay_call_begin(pay_relay_t *called, payments_times_t *times,
                                      apr_interval_time_t timeout)
{
    pay_relay_call_t call = {.relay = called, .times = times};

    CHECK(timeout > 0);
    return call;
}

/* It goes into the log, so it may contain nothing of the answer except one line. */
void pay_relay_tell(pay_relay_t *telling, const char *sentence)
{
    CHECK(telling == &relay);
    CHECK(*sentence && strlen(sentence) < sizeof(relay.told) && pay_text_is_plain(sentence, ""));
}

apr_status_t pay_relay_exchange(pay_relay_reply_t *out, pay_relay_call_t *call, const char *path,
                                const pay_writer_t *body, apr_size_t len_max, apr_pool_t *p)
{
    const pay_json_t *json;
    const char *reason;

    CHECK(*path == '/' && call->relay == &relay);
    CHECK(!body || pay_json_parse(&json, &reason, body->text, body->len, p) == APR_SUCCESS);
    call->requests++;
    *out = reply;
    return reply.len > len_max ? APR_ENOSPC : APR_SUCCESS;
}

/* ---- requests */

static pay_charge_t charge_asked(void)
{
    pay_charge_t charge;

    pay_charge_init(&charge);
    charge.scope = (pay_scope_t){1, PAY_LIVE};
    charge.seq = 1;
    charge.reference = "order-1";
    charge.acquirer_reference = REFERENCE;
    charge.token = "card_1";
    charge.money = (pay_money_t){AMOUNT_MINOR, CURRENCY};
    charge.email = "ada@example.com";
    charge.request_ip = "192.0.2.1";
    charge.acquirer = acquirer.name;
    charge.key_id = "key_1";
    charge.created_at = OPENED_AT;
    charge.updated_at = OPENED_AT;
    return charge;
}

static pay_refund_t refund_asked(const char *acquirer_reference)
{
    pay_refund_t refund = {.id = "rfd_1",
                           .refund_reference = "rfd_1",
                           .scope = {1, PAY_LIVE},
                           .money = {AMOUNT_MINOR, CURRENCY},
                           .tag = TAG,
                           .acquirer_reference = acquirer_reference,
                           .created_at = OPENED_AT};

    return refund;
}

static payments_charge_t charge_told(void)
{
    payments_charge_t charge = {.struct_size = sizeof(charge),
                                .reference = REFERENCE,
                                .token = "card_1",
                                .amount_minor = AMOUNT_MINOR,
                                .currency = CURRENCY,
                                .amount = "10.50",
                                .email = "ada@example.com",
                                .opened_at = OPENED_AT,
                                .live = 1};

    return charge;
}

static payments_refund_t refund_told(const char *acquirer_reference)
{
    payments_refund_t refund = {.struct_size = sizeof(refund),
                                .reference = "rfd_1",
                                .tag = TAG,
                                .acquirer_reference = acquirer_reference,
                                .amount_minor = AMOUNT_MINOR,
                                .currency = CURRENCY,
                                .amount = "10.50",
                                .opened_at = OPENED_AT};

    return refund;
}

/* ---- what the body says, looked at by itself */

static const pay_json_t *body_of(apr_pool_t *p)
{
    const pay_json_t *json;
    const char *reason;

    (void)pay_json_parse(&json, &reason, reply.text, reply.len, p);
    return json;
}

static int is_text(const pay_json_t *json, const char *name, const char *want)
{
    const char *text = pay_json_string(json, name);

    return text && !strcmp(text, want);
}

/* Returns 1 if the raw text may contain the word: as it is, or written with escapes. */
static int may_hold(const char *word)
{
    return memchr(reply.text, '\\', reply.len) || strstr(reply.text, word);
}

static int is_our_money(const pay_json_t *json)
{
    const char *currency = pay_json_string(json, "currency");
    const char *amount = pay_json_number(json, "amount");
    pay_money_t money;

    if (!amount) {
        amount = pay_json_string(json, "amount");
    }
    return currency && amount && !strcasecmp(currency, CURRENCY)
           && pay_money_parse(&money, amount, CURRENCY) == APR_SUCCESS
           && money.amount_minor == AMOUNT_MINOR;
}

/* Returns 1 for an envelope with our charge in this state. */
static int is_our_charge(const char *state, apr_pool_t *p)
{
    const pay_json_t *body = body_of(p);
    const pay_json_t *data = body ? pay_json_object(body, "data", p) : NULL;
    const char *told;

    if (!data || reply.status != 200 || !is_text(data, "domain", "live") || !is_our_money(data)
        || (!is_text(data, "reference", REFERENCE)
            && !is_text(data, "transactionReference", REFERENCE))) {
        return 0;
    }
    told = pay_json_string(data, "paymentStatus");
    if (!told || !*told) {
        told = pay_json_string(data, "status");
    }
    return told && !strcmp(told, state);
}

/* Returns 1 for the record of our refund in this state. */
static int is_our_refund(const pay_json_t *json, const char *state)
{
    return json && is_our_money(json) && is_text(json, "status", state)
           && is_text(json, "transactionReference", REFERENCE) && !is_text(json, "domain", "test");
}

/* Returns 1 for an error in the API's own envelope. */
static int is_refusal(apr_pool_t *p)
{
    const pay_json_t *body = body_of(p);
    const pay_json_t *data = body ? pay_json_object(body, "data", p) : NULL;
    const char *code = data ? pay_json_string(data, "responseCode") : NULL;

    return reply.status >= 400 && reply.status < 500 && code && *code
           && pay_json_bool(body, "status") == 0;
}

/* ---- what must hold of every answer */

static void check_trouble(payments_trouble_t trouble, apr_interval_time_t retry_after)
{
    CHECK((trouble == PAYMENTS_CREDENTIALS) == (reply.status == 401 || reply.status == 403));
    CHECK((trouble == PAYMENTS_BUSY) == (reply.status == 429));
    CHECK(trouble != PAYMENTS_BUSY
          || (retry_after >= apr_time_from_sec(1) && retry_after <= apr_time_from_sec(60)));
}

static void check_answer(const payments_answer_t *answer, apr_status_t rv)
{
    check_trouble(answer->trouble, answer->retry_after);
    CHECK(rv != PAYMENTS_NOT_SENT); /* it was sent, and answered */
    if (rv != APR_SUCCESS || answer->trouble != PAYMENTS_NO_TROUBLE) {
        CHECK(answer->verdict == PAYMENTS_UNKNOWN);
    }
    CHECK(answer->verdict == PAYMENTS_APPROVED || !answer->spent);
    CHECK(answer->verdict != PAYMENTS_DIFFERENT || reply.status == 200 || reply.status == 202);
}

/* The text from here on is plain, and contains no more than the connector reported. */
static void check_outcome(const pay_outcome_t *outcome, const pay_acquirer_news_t *news,
                          const payments_answer_t *answer)
{
    const pay_card_t *card = outcome->card;

    CHECK((outcome->kind == PAY_OUTCOME_APPROVED) == (answer->verdict == PAYMENTS_APPROVED));
    CHECK((outcome->kind == PAY_OUTCOME_DECLINED) == (answer->verdict == PAYMENTS_DECLINED));
    CHECK(!news->absent || answer->verdict == PAYMENTS_ABSENT);
    CHECK(news->different == (answer->verdict == PAYMENTS_DIFFERENT));
    CHECK(news->trouble == answer->trouble);
    CHECK(pay_text_is_plain(outcome->code, "") && pay_text_is_plain(outcome->message, ""));
    CHECK(pay_text_is_plain(outcome->authorization_code, ""));
    CHECK(!pay_card_number_within(outcome->message));
    CHECK(pay_text_is_plain(outcome->acquirer_reference, ""));
    if (card) {
        CHECK(strspn(card->first6, "0123456789") == strlen(card->first6));
        CHECK(strspn(card->last4, "0123456789") == strlen(card->last4));
        CHECK(pay_text_is_plain(card->issuer, "") && pay_text_is_plain(card->country, ""));
        CHECK(pay_text_is_plain(card->type, ""));
    }
}

/* ---- charges */

/* A decided charge fits in the room reserved for it, and is written as JSON that can be read. */
static void check_stored(const pay_outcome_t *outcome, apr_pool_t *p)
{
    pay_charge_t charge = charge_asked();
    pay_writer_t *w = pay_writer_make(0, p);
    apr_size_t len_max;
    const pay_json_t *json;
    const char *reason;
    pay_bytes_t row;

    CHECK(pay_store_charge_encode(&row, &charge, p) == 0);
    len_max = row.len + pay_store_charge_growth_max(&charge);
    CHECK(pay_store_charge_decide(&charge, outcome, p));
    CHECK(pay_store_charge_encode(&row, &charge, p) == 0);
    CHECK(row.len <= len_max);
    CHECK(pay_text_is_plain(charge.message, "") && pay_text_is_plain(charge.code, ""));
    pay_charge_answer_to_json(w, &charge);
    CHECK(pay_json_parse(&json, &reason, w->text, w->len, p) == APR_SUCCESS);
    CHECK(pay_text_is_plain(pay_store_contradiction(outcome, p), ""));
}

static void check_charge(int query, apr_pool_t *p)
{
    const payments_charge_t told = charge_told();
    const pay_charge_t charge = charge_asked();
    payments_answer_t answer = {.struct_size = sizeof(answer)};
    pay_acquirer_news_t news;
    pay_outcome_t outcome;
    apr_status_t rv;

    rv = (query ? pay_relay_charge_query : pay_relay_charge)(&answer, &relay, &told,
                                                             acquirer.timeout, p);
    check_answer(&answer, rv);
    if (answer.verdict == PAYMENTS_APPROVED) {
        CHECK(pay_json_bool(body_of(p), "status") == 1);
        CHECK(is_our_charge(answer.spent ? "reversed" : "successful", p));
    }
    if (answer.verdict == PAYMENTS_DECLINED) {
        CHECK(is_our_charge("failed", p) || (!query && is_refusal(p)));
    }
    if (answer.verdict == PAYMENTS_ABSENT) {
        CHECK(query && reply.status == 404 && is_refusal(p) && may_hold(REFERENCE));
    }
    rv = (query ? pay_acquirer_charge_query : pay_acquirer_charge)(&outcome, &news, &acquirer,
                                                                   &charge, p);
    CHECK(rv == APR_SUCCESS || outcome.kind == PAY_OUTCOME_UNKNOWN);
    check_outcome(&outcome, &news, &answer);
    if (outcome.kind != PAY_OUTCOME_UNKNOWN) {
        check_stored(&outcome, p);
    }
}

/* ---- refunds */

/* By a list, of which it is only read whether it contains our tag. */
static void check_listed(const payments_answer_t *answer)
{
    if (answer->verdict == PAYMENTS_ABSENT) {
        CHECK(reply.status == 200 && memchr(reply.text, '[', reply.len));
    } else if (answer->verdict != PAYMENTS_UNKNOWN) {
        CHECK(reply.status == 200 && may_hold(TAG));
    }
    if (answer->verdict == PAYMENTS_APPROVED || answer->verdict == PAYMENTS_DECLINED) {
        CHECK(may_hold(REFERENCE) && (may_hold("processed") || may_hold("failed")));
        CHECK(answer->acquirer_reference && *answer->acquirer_reference);
    }
}

static void check_record(const payments_answer_t *answer, const char *reference, int query,
                         apr_pool_t *p)
{
    const pay_json_t *body = body_of(p);

    if (answer->verdict == PAYMENTS_APPROVED) {
        CHECK(is_our_refund(body, "processed"));
    }
    if (answer->verdict == PAYMENTS_DECLINED) {
        CHECK(is_our_refund(body, "failed") || (!query && is_refusal(p)));
    }
    if (answer->verdict == PAYMENTS_ABSENT) {
        CHECK(query && reply.status == 404 && is_refusal(p) && may_hold(reference));
    }
    if (query && answer->verdict == PAYMENTS_APPROVED) {
        CHECK(is_text(body, "refundReference", reference));
    }
}

static void check_refund(int query, const char *reference, apr_pool_t *p)
{
    const payments_charge_t told_charge = charge_told();
    const payments_refund_t told = refund_told(reference);
    const pay_charge_t charge = charge_asked();
    const pay_refund_t refund = refund_asked(reference);
    payments_answer_t answer = {.struct_size = sizeof(answer)};
    pay_acquirer_news_t news;
    pay_outcome_t outcome;
    apr_status_t rv;

    rv = (query ? pay_relay_refund_query : pay_relay_refund)(&answer, &relay, &told, &told_charge,
                                                             acquirer.timeout, p);
    check_answer(&answer, rv);
    if (query && !*reference) {
        check_listed(&answer);
    } else {
        check_record(&answer, reference, query, p);
    }
    rv = (query ? pay_acquirer_refund_query : pay_acquirer_refund)(&outcome, &news, &acquirer,
                                                                   &refund, &charge, p);
    CHECK(rv == APR_SUCCESS || outcome.kind == PAY_OUTCOME_UNKNOWN);
    check_outcome(&outcome, &news, &answer);
    CHECK(pay_text_is_plain(pay_store_contradiction(&outcome, p), ""));
}

/* ---- the list */

typedef struct seen_t {
    int count;
    apr_pool_t *pool;
} seen_t;

/* A record, and the part of it that the history keeps. */
static apr_status_t hear(void *baton, const payments_record_t *record)
{
    const pay_scope_t scope = {1, PAY_LIVE};
    seen_t *seen = baton;
    pay_refund_state_t state;
    pay_refund_t *refund;
    const char *reason;
    pay_money_t money;

    CHECK(++seen->count < RECORDS_MAX);
    CHECK(record->created_at >= OPENED_AT && record->created_at <= FUZZ_NOW);
    CHECK(*record->id && *record->reference && pay_history_record_state(&state, record));
    CHECK(pay_money_parse(&money, record->amount, record->currency) == APR_SUCCESS);
    CHECK(!*record->tag || strlen(record->tag) == PAY_TAG_LEN);
    if (pay_history_record_read(&refund, &reason, record, &scope, NULL, seen->pool)
        != APR_SUCCESS) {
        CHECK(reason && !refund);
        return APR_SUCCESS;
    }
    CHECK(refund->state == state && refund->money.amount_minor == money.amount_minor);
    CHECK(!strcmp(refund->refund_reference, record->reference));
    CHECK(pay_text_is_plain(refund->refund_reference, "") && pay_text_is_plain(refund->id, ""));
    CHECK(pay_text_is_plain(refund->channel ? refund->channel : "", ""));
    CHECK(pay_text_is_plain(refund->merchant_note ? refund->merchant_note : "", "\n\t"));
    CHECK(pay_text_is_plain(refund->customer_note ? refund->customer_note : "", "\n\t"));
    return APR_SUCCESS;
}

static void check_list(apr_pool_t *p)
{
    seen_t seen = {0, p};
    apr_status_t rv;

    rv = pay_relay_refund_list(&relay, OPENED_AT, FUZZ_NOW, hear, &seen, acquirer.timeout, p);
    CHECK(rv != APR_SUCCESS || reply.status == 200);
    CHECK(rv != PAYMENTS_NOT_SENT);
    CHECK(reply.status == 200 || seen.count == 0);
}

/* ---- the page */

/* A browser is sent there: the text goes into a header. */
static void check_checkout(apr_pool_t *p)
{
    const payments_checkout_t checkout = {.struct_size = sizeof(checkout),
                                          .reference = REFERENCE,
                                          .amount_minor = AMOUNT_MINOR,
                                          .currency = CURRENCY,
                                          .amount = "10.50",
                                          .email = "ada@example.com",
                                          .redirect_url = "https://shop.example/back",
                                          .opened_at = OPENED_AT,
                                          .live = 1};
    payments_page_t page = {.struct_size = sizeof(page)};
    const char *at;
    apr_status_t rv;

    rv = pay_relay_checkout(&page, &relay, &checkout, acquirer.timeout, p);
    check_trouble(page.trouble, page.retry_after);
    CHECK(rv != PAYMENTS_NOT_SENT);
    CHECK((rv == APR_SUCCESS) == (page.url != NULL));
    if (page.url) {
        CHECK(reply.status == 200 && !strncasecmp(page.url, "https://", 8) && page.url[8]);
        for (at = page.url; *at; at++) {
            CHECK(*at > ' ' && *at <= '~');
        }
    }
}

/* ---- the input */

static apr_time_t fuzz_clock(void)
{
    return FUZZ_NOW;
}

/* 0: it has another form. */
static int reply_read(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t i;

    if (!end || end < data + HEAD_LEN) {
        return 0;
    }
    reply.status = 0;
    for (i = 1; i < HEAD_LEN; i++) {
        if (data[i] < '0' || data[i] > '9') {
            return 0;
        }
        reply.status = reply.status * 10 + data[i] - '0';
    }
    reply.retry_after = end == data + HEAD_LEN
                            ? -1
                            : atoi(fuzz_copy(data + HEAD_LEN, (size_t)(end - data) - HEAD_LEN));
    reply.len = size - (size_t)(end + 1 - data);
    reply.text = fuzz_copy(end + 1, reply.len);
    return 1;
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    pay_time_set_source(fuzz_clock);
    if (!reply_read(data, size)) {
        return;
    }
    switch (data[0]) {
    case 'c':
        check_charge(0, p);
        break;
    case 'q':
        check_charge(1, p);
        break;
    case 'r':
        check_refund(0, "", p);
        break;
    case 't':
        check_refund(1, "", p);
        break;
    case 'f':
        check_refund(1, REFUND_REFERENCE, p);
        break;
    case 'l':
        check_list(p);
        break;
    case 'o':
        check_checkout(p);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
