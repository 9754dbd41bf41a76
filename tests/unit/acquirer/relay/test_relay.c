/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"
#include "upstream_text.h"

#include <string.h>

#define TIMEOUT apr_time_from_sec(120)
#define HTML "<html><body>It works!</body></html>"
#define PAIRS(state, a, b)                                                                         \
    "{\"reference\":\"" a "\",\"transactionReference\":\"" b "\",\"paymentStatus\":\"" state       \
    "\",\"amount\":10.50,\"currency\":\"NGN\",\"domain\":\"test\",\"createdAt\":\"" WHEN "\"}"
#define WITHOUT(member)                                                                            \
    "{\"paymentStatus\":\"successful\",\"x\":1" member "}" /* and the rest of the four */
#define M_REF ",\"reference\":\"" REF "\""
#define M_AMOUNT ",\"amount\":10.50"
#define M_CURRENCY ",\"currency\":\"NGN\""
#define M_DOMAIN ",\"domain\":\"test\""
#define M_CREATED ",\"createdAt\":\"" WHEN "\""
#define YES(data) ENVELOPE("true", "m", data)
#define NO(data) ENVELOPE("false", "m", data)

typedef struct row_t {
    const char *name;
    int status;
    const char *body;
    const char *want; /* as upstream_said returns it */
} row_t;

static const row_t charge_rows[] = {
    {"approved", 200, APPROVED, "approved"},
    {"declined", 200, DECLINED, "declined"},
    {"reversed since", 200, YES(OURS("reversed")), "approved spent"},
    {"pending", 202, YES(OURS("pending")), "pending"},
    {"pending with 200", 200, YES(OURS("pending")), "pending"},
    {"an amount as a string", 200,
     YES(CHARGE("successful", REF, "\"10.5\"", "ngn", "test", WHEN, "")), "approved"},
    {"an amount without its zero", 200,
     YES(CHARGE("successful", REF, "1.05e1", "NGN", "test", WHEN, "")), "approved"},
    {"members of its own", 200,
     YES(CHARGE("successful", REF, "10.50", "NGN", "test", WHEN, ",\"x\":{\"amount\":1}")),
     "approved"},
    {"one name is ours", 200, YES(PAIRS("successful", "tx_1", REF)), "approved"},
    {"a cent more", 200, YES(CHARGE("successful", REF, "10.51", "NGN", "test", WHEN, "")),
     "different"},
    {"a hundred times", 200, YES(CHARGE("successful", REF, "1050", "NGN", "test", WHEN, "")),
     "different"},
    {"nothing", 200, YES(CHARGE("successful", REF, "0", "NGN", "test", WHEN, "")), "different"},
    {"a fraction of a cent", 200, YES(CHARGE("successful", REF, "10.501", "NGN", "test", WHEN, "")),
     "different"},
    {"less than nothing", 200, YES(CHARGE("successful", REF, "-10.5", "NGN", "test", WHEN, "")),
     "different"},
    {"another currency", 200, YES(CHARGE("successful", REF, "10.50", "USD", "test", WHEN, "")),
     "different"},
    {"another mode", 200, YES(CHARGE("successful", REF, "10.50", "NGN", "live", WHEN, "")),
     "different"},
    {"another reference", 200, YES(CHARGE("successful", "x", "10.50", "NGN", "test", WHEN, "")),
     "different"},
    {"another amount, declined", 200, NO(CHARGE("failed", REF, "1", "NGN", "test", WHEN, "")),
     "different"},
    {"another amount, pending", 202, YES(CHARGE("pending", REF, "1", "NGN", "test", WHEN, "")),
     "different"},
    {"approved, envelope says no", 200, NO(OURS("successful")), "unknown error"},
    {"declined, envelope says yes", 200, YES(OURS("failed")), "unknown error"},
    {"approved with 202", 202, APPROVED, "unknown error"},
    {"declined with 202", 202, DECLINED, "unknown error"},
    {"approved with 201", 201, APPROVED, "unknown error"},
    {"approved with 500", 500, APPROVED, "unknown error"},
    {"declined with 500", 500, DECLINED, "unknown error"},
    {"approved with 302", 302, APPROVED, "unknown error"},
    {"another status", 200, YES(OURS("success")), "unknown error"},
    {"no status", 200, YES(OURS("")), "unknown error"},
    {"an envelope with a word", 200, ENVELOPE("\"true\"", "m", OURS("successful")),
     "unknown error"},
    {"an envelope with 1", 200, ENVELOPE("1", "m", OURS("successful")), "unknown error"},
    {"bare data", 200, OURS("successful"), "unknown error"},
    {"null data", 200, YES("null"), "unknown error"},
    {"data in an array", 200, YES("[" OURS("successful") "]"), "unknown error"},
    {"data in a string", 200, YES("\"successful\""), "unknown error"},
    {"no amount", 200, YES(WITHOUT(M_REF M_CURRENCY M_DOMAIN)), "unknown error"},
    {"no currency", 200, YES(WITHOUT(M_REF M_AMOUNT M_DOMAIN)), "unknown error"},
    {"no mode", 200, YES(WITHOUT(M_REF M_AMOUNT M_CURRENCY)), "unknown error"},
    {"no reference", 200, YES(WITHOUT(M_AMOUNT M_CURRENCY M_DOMAIN)), "unknown error"},
    {"an amount of words", 200, YES(CHARGE("successful", REF, "\"ten\"", "NGN", "test", WHEN, "")),
     "unknown error"},
    {"an amount of null", 200, YES(CHARGE("successful", REF, "null", "NGN", "test", WHEN, "")),
     "unknown error"},
    {"no such currency", 200, YES(CHARGE("successful", REF, "10.50", "NAIRA", "test", WHEN, "")),
     "unknown error"},
    {"refused by form", 400, ERROR("T1", "Invalid request parameter."), "declined"},
    {"refused as it is", 422, ERROR("51", "No such token."), "declined"},
    {"refused by a proxy", 400, HTML, "unknown error"},
    {"refused without a code", 400, ENVELOPE("false", "no", "{}"), "unknown error"},
    {"refused without data", 400, ENVELOPE("false", "no", "null"), "unknown error"},
    {"refused, envelope says yes", 400, ENVELOPE("true", "no", "{\"responseCode\":\"T1\"}"),
     "unknown error"},
    {"a duplicate", 400, ERROR("T1", "Duplicate transaction reference."), "unknown"},
    {"a duplicate, of the field", 400, FAULT("/reference", "is a duplicate"), "unknown"},
    {"used already, of the field", 400, FAULT("/reference", "was already used"), "unknown"},
    {"used already", 400, ERROR("T1", "The reference was ALREADY used."), "unknown"},
    {"key refused", 401, ERROR("B01", "Invalid Merchant Authorization."), "unknown credentials"},
    {"key refused by a proxy", 401, HTML, "unknown credentials"},
    {"kind of key refused", 403, ERROR("B02", "no"), "unknown credentials"},
    {"used for another", 409, ERROR("D1", "used"), "unknown"},
    {"worked on", 409, ERROR("D2", "worked on"), "unknown"},
    {"no such path", 404, ERROR("N2", "none"), "unknown"},
    {"not known, of all", 404, UNKNOWN_OF(REF), "unknown"},
    {"too long", 413, ERROR("S1", "too long"), "unknown"},
    {"too many", 429, ERROR("L1", "too many"), "unknown busy"},
    {"too many, of a proxy", 429, HTML, "unknown busy"},
    {"too many failed", 429, ERROR("L2", "too many failed"), "declined"},
    {"too many failed, envelope says yes", 429, ENVELOPE("true", "no", "{\"responseCode\":\"L2\"}"),
     "unknown error"},
    {"out of service", 503, ERROR("E2", "down"), "unknown error"},
    {"a failure", 500, ERROR("E1", "failed"), "unknown error"},
    {"not there yet", 501, ERROR("I1", "not there"), "unknown error"},
    {"bad gateway", 502, HTML, "unknown error"},
    {"HTML", 200, HTML, "unknown error"},
    {"nothing at all", 200, "", "unknown error"},
    {"null", 200, "null", "unknown error"},
    {"an array", 200, "[]", "unknown error"},
    {"text behind", 200, APPROVED "x", "unknown error"},
    {"twice", 200, "{\"status\":true,\"status\":true,\"data\":" OURS("successful") "}",
     "unknown error"},
};

/* All of them through one connection, so that each is one request. */
START_TEST(test_charges)
{
    void *context = (upstream_start(), upstream_open());
    int i;

    for (i = 0; i < UNIT_ROWS(charge_rows); i++) {
        payments_answer_t answer = upstream_empty();
        apr_status_t rv;

        upstream_answer(charge_rows[i].status, charge_rows[i].body);
        rv = pay_acquirer_relay.charge(&answer, context, &upstream_charge, TIMEOUT, unit_pool);
        ck_assert_msg(strcmp(upstream_said(rv, &answer), charge_rows[i].want) == 0, "%s: %s",
                      charge_rows[i].name, upstream_said(rv, &answer));
        ck_assert_int_eq(upstream_requests(), i + 1);
    }
    ck_assert_int_eq(upstream_connections(), 1);
}
END_TEST

/* The exact bytes of a request, and the content of an approval. */
START_TEST(test_charge_told)
{
    static const char card[] =
        ",\"gatewayResponseCode\":\"00\",\"gatewayResponseMessage\":\"Approved\","
        "\"authorizationCode\":\"\",\"authCode\":\"A1B2C3\",\"card\":{\"first6Digits\":\"555555\","
        "\"last4Digits\":\"4444\",\"issuer\":\"Mastercard\",\"country\":\"NG\",\"type\":\"debit\"}";
    void *context = (upstream_start(), upstream_open());
    payments_answer_t answer = upstream_empty();
    const char *request;

    upstream_answer(200, apr_pstrcat(unit_pool, "{\"status\":true,\"message\":\"m\",\"data\":",
                                     apr_pstrmemdup(unit_pool, OURS("successful"),
                                                    strlen(OURS("successful")) - 1),
                                     card, "}}", NULL));
    ck_assert_int_eq(
        pay_acquirer_relay.charge(&answer, context, &upstream_charge, TIMEOUT, unit_pool),
        APR_SUCCESS);
    ck_assert_str_eq(upstream_said(APR_SUCCESS, &answer), "approved");
    ck_assert_str_eq(answer.code, "00");
    ck_assert_str_eq(answer.message, "Approved");
    ck_assert_str_eq(answer.authorization_code, "A1B2C3");
    ck_assert_str_eq(answer.card_first6, "555555");
    ck_assert_str_eq(answer.card_last4, "4444");
    ck_assert_str_eq(answer.card_issuer, "Mastercard");
    ck_assert_str_eq(answer.card_country, "NG");
    ck_assert_str_eq(answer.card_type, "debit");
    ck_assert_int_gt(answer.times.connect, 0);
    ck_assert_int_gt(answer.times.tls, 0);
    ck_assert_int_gt(answer.times.first_byte, 0);
    ck_assert_int_ge(answer.times.total, answer.times.first_byte);
    request = upstream_request(1);
    ck_assert_ptr_eq(strstr(request, "POST /base/api/v1/tokenized-card-charge HTTP/1.1\r\n"),
                     request);
    ck_assert_ptr_nonnull(strstr(request, "\r\nAuthorization: Bearer " UPSTREAM_KEY "\r\n"));
    ck_assert_ptr_nonnull(strstr(request, "\r\nAccept: application/json\r\n"));
    ck_assert_ptr_nonnull(strstr(request, "\r\nContent-Type: application/json\r\n"));
    ck_assert_str_eq(strstr(request, "\r\n\r\n") + 4,
                     "{\"token\":\"tok_of_the_upstream\",\"amount\":10.50,"
                     "\"email\":\"payer@shop.example\",\"reference\":\"" REF
                     "\",\"currency\":\"NGN\",\"firstName\":\"Ada\"}");
}
END_TEST

/* Names that the shop did not send are not passed on. */
static const struct {
    const char *first, *last;
    const char *want;
} name_rows[] = {
    {"Ada", "Obi", "\"currency\":\"NGN\",\"firstName\":\"Ada\",\"lastName\":\"Obi\"}"},
    {"", "Obi", "\"currency\":\"NGN\",\"lastName\":\"Obi\"}"},
    {"Ada", NULL, "\"currency\":\"NGN\",\"firstName\":\"Ada\"}"},
    {NULL, "", "\"currency\":\"NGN\"}"},
};

START_TEST(test_names_sent)
{
    void *context = (upstream_start(), upstream_open());
    payments_answer_t answer = upstream_empty();
    payments_charge_t charge = upstream_charge;

    charge.first_name = name_rows[_i].first;
    charge.last_name = name_rows[_i].last;
    upstream_answer(200, "{}");
    (void)pay_acquirer_relay.charge(&answer, context, &charge, TIMEOUT, unit_pool);
    ck_assert_str_eq(strstr(upstream_request(1), "\"currency\""), name_rows[_i].want);
}
END_TEST

static const struct {
    const char *name;
    const char *body;
    int status;
    const char *want;
} message_rows[] = {
    {"the acquirer's own",
     NO(CHARGE("failed", REF, "10.50", "NGN", "test", WHEN,
               ",\"gatewayResponseMessage\":\"Expired card\"")),
     200, "Expired card"},
    {"the envelope's", DECLINED, 200, "Do not honor"},
    {"a refusal's", ERROR("T1", "No such token."), 400, "No such token."},
    {"a refusal's, with the field", FAULT("/token", "is not known"), 400,
     "Invalid request parameter. /token is not known"},
    {"a refusal's, without a reason", FAULT("/token", ""), 400, "Invalid request parameter."},
};

START_TEST(test_decline_told)
{
    void *context = (upstream_start(), upstream_open());
    payments_answer_t answer = upstream_empty();

    upstream_answer(message_rows[_i].status, message_rows[_i].body);
    ck_assert_int_eq(
        pay_acquirer_relay.charge(&answer, context, &upstream_charge, TIMEOUT, unit_pool),
        APR_SUCCESS);
    ck_assert_str_eq(upstream_said(APR_SUCCESS, &answer), "declined");
    ck_assert_msg(strcmp(answer.message, message_rows[_i].want) == 0, "%s: %s",
                  message_rows[_i].name, answer.message);
}
END_TEST

/* An approval that is marked as an earlier one is followed by a query of the outcome. */
#define OLDER "2027-01-15T07:00:00.000Z" /* long before the charge was opened here */
#define THEN(state, more) YES(CHARGE(state, REF, "10.50", "NGN", "test", OLDER, more))

static const struct {
    const char *name;
    const char *header;
    const char *charged;
    int status; /* of the answer to the query; 0: no query */
    const char *asked;
    const char *want;
    apr_int64_t refunded;
} replay_rows[] = {
    {"not a replay", "", THEN("successful", ""), 0, "", "approved", 0},
    {"another word", "Idempotent-Replayed: false\r\n", THEN("successful", ""), 0, "", "approved",
     0},
    {"successful still", "Idempotent-Replayed: true\r\n", THEN("successful", ""), 200,
     THEN("successful", ",\"refundedAmount\":0"), "approved", 0},
    {"reversed", "idempotent-replayed:TRUE \r\n", THEN("successful", ""), 200,
     THEN("reversed", ",\"refundedAmount\":10.50"), "approved spent", 1050},
    {"in part", "Idempotent-Replayed: true\r\n", THEN("successful", ""), 200,
     THEN("successful", ",\"refundedAmount\":\"4.25\""), "approved", 425},
    {"declined then", "Idempotent-Replayed: true\r\n",
     NO(CHARGE("failed", REF, "10.50", "NGN", "test", OLDER, "")), 0, "", "declined", 0},
    {"another charge by now", "Idempotent-Replayed: true\r\n", THEN("successful", ""), 200,
     YES(CHARGE("successful", REF, "9.50", "NGN", "test", OLDER, "")), "different", 0},
    {"no answer that can be read", "Idempotent-Replayed: true\r\n", THEN("successful", ""), 500,
     HTML, "unknown error", 0},
    {"too many questions", "Idempotent-Replayed: true\r\n", THEN("successful", ""), 429, HTML,
     "unknown busy", 0},
    {"not known by now", "Idempotent-Replayed: true\r\n", THEN("successful", ""), 404,
     UNKNOWN_OF(REF), "absent", 0},
};

START_TEST(test_replays)
{
    void *context = (upstream_start(), upstream_open());
    payments_answer_t answer = upstream_empty();
    const char *body = replay_rows[_i].charged;
    apr_status_t rv;

    upstream_answer(replay_rows[_i].status ? replay_rows[_i].status : 500, replay_rows[_i].asked);
    upstream_say("/api/v1/tokenized-card-charge", "keep",
                 apr_psprintf(unit_pool,
                              "HTTP/1.1 200 X\r\n" UPSTREAM_DATE
                              "%sContent-Type: application/json\r\n"
                              "Content-Length: %d\r\n\r\n%s",
                              replay_rows[_i].header, (int)strlen(body), body));
    rv = pay_acquirer_relay.charge(&answer, context, &upstream_charge, TIMEOUT, unit_pool);
    ck_assert_msg(strcmp(upstream_said(rv, &answer), replay_rows[_i].want) == 0, "%s: %s",
                  replay_rows[_i].name, upstream_said(rv, &answer));
    ck_assert_int_eq(answer.refunded_minor, replay_rows[_i].refunded);
    ck_assert_int_eq(upstream_requests(), 1 + (replay_rows[_i].status != 0));
    ck_assert_uint_eq(answer.struct_size, sizeof(answer));
}
END_TEST

static const struct {
    const char *header;
    int seconds;
} busy_rows[] = {{"", 1},
                 {"Retry-After: 0\r\n", 1},
                 {"Retry-After: 7\r\n", 7},
                 {"Retry-After: 60\r\n", 60},
                 {"Retry-After: 61\r\n", 60},
                 {"Retry-After: 99999999999999999999\r\n", 60},
                 {"Retry-After: -5\r\n", 1},
                 {"Retry-After: soon\r\n", 1},
                 {"Retry-After: Fri, 15 Jan 2027 09:00:00 GMT\r\n", 1}};

START_TEST(test_busy)
{
    void *context = (upstream_start(), upstream_open());
    int i;

    for (i = 0; i < UNIT_ROWS(busy_rows); i++) {
        payments_answer_t answer = upstream_empty();

        upstream_say("/", "keep",
                     apr_psprintf(unit_pool, "HTTP/1.1 429 X\r\n%sContent-Length: 2\r\n\r\n{}",
                                  busy_rows[i].header));
        ck_assert_int_eq(
            pay_acquirer_relay.charge(&answer, context, &upstream_charge, TIMEOUT, unit_pool),
            APR_SUCCESS);
        ck_assert_str_eq(upstream_said(APR_SUCCESS, &answer), "unknown busy");
        ck_assert_msg(answer.retry_after == apr_time_from_sec(busy_rows[i].seconds), "%s: %d",
                      busy_rows[i].header, (int)apr_time_sec(answer.retry_after));
    }
}
END_TEST

/* ---- queries */

#define CREATED(when) CHARGE("successful", REF, "10.50", "NGN", "test", when, "")

static const row_t query_rows[] = {
    {"approved", 200, YES(OURS("successful")), "approved"},
    {"declined", 200, YES(OURS("failed")), "declined"},
    {"reversed", 200, YES(OURS("reversed")), "approved spent"},
    {"pending", 200, YES(OURS("pending")), "pending"},
    {"an abandoned checkout", 200, YES(OURS("abandoned")), "pending"},
    {"a void checkout", 200, YES(OURS("void")), "pending"},
    {"an abandoned checkout, told as failed", 200, YES(CLOSED("abandoned")), "pending"},
    {"a void checkout, told as failed", 200, YES(CLOSED("void")), "pending"},
    {"another amount", 200, YES(CHARGE("successful", REF, "1", "NGN", "test", WHEN, "")),
     "different"},
    {"another currency", 200, YES(CHARGE("successful", REF, "10.50", "GHS", "test", WHEN, "")),
     "different"},
    {"another mode", 200, YES(CHARGE("successful", REF, "10.50", "NGN", "live", WHEN, "")),
     "different"},
    {"another reference", 200, YES(CHARGE("successful", "x", "10.50", "NGN", "test", WHEN, "")),
     "different"},
    {"another amount, declined", 200, YES(CHARGE("failed", REF, "1", "NGN", "test", WHEN, "")),
     "different"},
    {"five minutes older", 200, YES(CREATED("2027-01-15T07:55:00.000Z")), "approved"},
    {"more than five minutes older", 200, YES(CREATED("2027-01-15T07:54:59.999Z")), "different"},
    {"a year older, declined", 200,
     YES(CHARGE("failed", REF, "10.50", "NGN", "test", "2026-01-15T08:00:00Z", "")), "different"},
    {"later", 200, YES(CREATED("2027-01-15T20:00:00Z")), "approved"},
    {"no time", 200, YES(WITHOUT(M_REF M_AMOUNT M_CURRENCY M_DOMAIN)), "unknown error"},
    {"all it takes", 200, YES(WITHOUT(M_REF M_AMOUNT M_CURRENCY M_DOMAIN M_CREATED)), "approved"},
    {"no such time", 200, YES(CREATED("yesterday")), "unknown error"},
    {"envelope says no", 200, NO(OURS("successful")), "unknown error"},
    {"bare data", 200, OURS("successful"), "unknown error"},
    {"null data", 200, YES("null"), "unknown error"},
    {"absent", 404, UNKNOWN_OF(REF), "absent"},
    {"absent, named in quotes", 404, ERROR("N1", "no record for '" REF "'."), "absent"},
    {"absent, named in the data", 404,
     ENVELOPE("false", "none", "{\"responseCode\":\"N1\",\"reference\":\"" REF "\"}"), "absent"},
    {"absent, another one", 404, UNKNOWN_OF("order-1001"), "unknown"},
    {"absent, a longer one", 404, UNKNOWN_OF(REF "0"), "unknown"},
    {"absent, a shorter one", 404, UNKNOWN_OF("0123456789abcdef"), "unknown"},
    {"absent, unnamed", 404, ERROR("N1", "no record found"), "unknown"},
    {"no such path", 404, ERROR("N2", "no operation at transaction/" REF "/verify"), "unknown"},
    {"a proxy's 404", 404, "<html>" REF " not found</html>", "unknown error"},
    {"a gateway's 404", 404, "{\"message\":\"no route " REF "\"}", "unknown error"},
    {"404, envelope says yes", 404, ENVELOPE("true", "no " REF, "{\"responseCode\":\"N1\"}"),
     "unknown error"},
    {"200 that says absent", 200, UNKNOWN_OF(REF), "unknown error"},
    {"410 that says absent", 410, UNKNOWN_OF(REF), "unknown"},
    {"400", 400, ERROR("T1", "Invalid request parameter."), "unknown"},
    {"401", 401, ERROR("B01", "no"), "unknown credentials"},
    {"403", 403, HTML, "unknown credentials"},
    {"429", 429, ERROR("L1", "too many"), "unknown busy"},
    {"500", 500, ERROR("E1", "failed"), "unknown error"},
    {"500 with a whole record", 500, YES(OURS("successful")), "unknown error"},
    {"503 that says absent", 503, UNKNOWN_OF(REF), "unknown error"},
    {"HTML", 200, HTML, "unknown error"},
};

START_TEST(test_queries)
{
    void *context = (upstream_start(), upstream_open());
    int i;

    for (i = 0; i < UNIT_ROWS(query_rows); i++) {
        payments_answer_t answer = upstream_empty();
        apr_status_t rv;

        upstream_answer(query_rows[i].status, query_rows[i].body);
        rv =
            pay_acquirer_relay.charge_query(&answer, context, &upstream_charge, TIMEOUT, unit_pool);
        ck_assert_msg(strcmp(upstream_said(rv, &answer), query_rows[i].want) == 0, "%s: %s",
                      query_rows[i].name, upstream_said(rv, &answer));
    }
    ck_assert_ptr_nonnull(
        strstr(upstream_request(1), "GET /base/api/v1/transaction/" REF "/verify HTTP/1.1\r\n"));
    ck_assert_ptr_null(strstr(upstream_request(1), "Content-Type"));
    ck_assert_ptr_nonnull(strstr(upstream_request(1), "Authorization: Bearer " UPSTREAM_KEY));
}
END_TEST

/* A shop's own reference stays one segment of the path. */
START_TEST(test_segment)
{
    void *context = (upstream_start(), upstream_open());
    payments_charge_t charge = upstream_charge;
    payments_answer_t answer = upstream_empty();

    charge.reference = "a%2f&=+:;,~'!-._Z9";
    upstream_answer(
        404, ERROR("N1", "no record found for transaction with reference a%2f&=+:;,~'!-._Z9"));
    ck_assert_int_eq(pay_acquirer_relay.charge_query(&answer, context, &charge, TIMEOUT, unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(upstream_said(APR_SUCCESS, &answer), "absent");
    ck_assert_ptr_nonnull(strstr(upstream_request(1),
                                 "/transaction/a%252f%26%3D%2B%3A%3B%2C~%27%21-._Z9/verify HTTP"));
}
END_TEST

/* ---- checkouts */

#define PAGE(reference, url)                                                                       \
    "{\"transactionReference\":\"" reference "\",\"paymentRedirectUrl\":" url "}"

static const struct {
    const char *name;
    int status;
    const char *body;
    const char *want; /* NULL: no page */
    int opens_none;   /* by its own report, which is not a failure of the call */
} page_rows[] = {
    {"a page", 200, YES(PAGE(REF, "\"https://pay.example/p/1?a=b#/c\"")),
     "https://pay.example/p/1?a=b#/c", 0},
    {"not encrypted", 200, YES(PAGE(REF, "\"http://pay.example/p/1\"")), NULL, 0},
    {"a script", 200, YES(PAGE(REF, "\"javascript:alert(1)\"")), NULL, 0},
    {"no URL", 200, YES(PAGE(REF, "\"\"")), NULL, 0},
    {"null", 200, YES(PAGE(REF, "null")), NULL, 0},
    {"a line's end", 200, YES(PAGE(REF, "\"https://pay.example/\\r\\nX: y\"")), NULL, 0},
    {"of another reference", 200, YES(PAGE("x", "\"https://pay.example/p/1\"")), NULL, 0},
    {"envelope says no", 200, NO(PAGE(REF, "\"https://pay.example/p/1\"")), NULL, 1},
    {"refused", 400, ERROR("T1", "no"), NULL, 1},
    {"refused as a duplicate", 400, ERROR("T1", "Duplicate reference"), NULL, 0},
    {"known", 409, ERROR("D1", "no"), NULL, 0},
    {"being worked on", 409, ERROR("D2", "no"), NULL, 0},
    {"no such path", 404, ERROR("N2", "no"), NULL, 1},
    {"no pages", 501, ERROR("I1", "no"), NULL, 1},
    {"out of order", 500, ERROR("E1", "no"), NULL, 0},
    {"out of service", 503, ERROR("E2", "no"), NULL, 0},
    {"a proxy's refusal", 400, HTML, NULL, 0},
    {"a proxy's no such path", 404, HTML, NULL, 0},
    {"a proxy's 501", 501, HTML, NULL, 0},
    {"a no that says nothing", 200, "{\"status\":false,\"data\":null}", NULL, 0},
    {"asks for patience", 429, ERROR("L1", "no"), NULL, 0},
    {"HTML", 200, HTML, NULL, 0},
    {"key refused", 401, HTML, NULL, 0},
};

START_TEST(test_checkouts)
{
    const payments_checkout_t checkout = {
        .struct_size = sizeof(checkout),
        .reference = REF,
        .amount_minor = 1050,
        .currency = "NGN",
        .amount = "10.50",
        .email = "payer@shop.example",
        .first_name = "Ada",
        .last_name = "Obi",
        .phone = "",
        .redirect_url = "https://shop.example/back",
        .description = "Shoes",
        .opened_at = UPSTREAM_NOW,
    };
    void *context = (upstream_start(), upstream_open());
    const char *request;
    int i;

    for (i = 0; i < UNIT_ROWS(page_rows); i++) {
        payments_page_t page = {.struct_size = sizeof(page)};
        apr_status_t rv;

        upstream_answer(page_rows[i].status, page_rows[i].body);
        rv = pay_acquirer_relay.checkout(&page, context, &checkout, TIMEOUT, unit_pool);
        ck_assert_msg((rv == APR_SUCCESS) == (page_rows[i].want || page_rows[i].opens_none),
                      "%s: %d", page_rows[i].name, rv);
        ck_assert_int_eq(page.trouble, page_rows[i].status == 401   ? PAYMENTS_CREDENTIALS
                                       : page_rows[i].status == 429 ? PAYMENTS_BUSY
                                                                    : PAYMENTS_NO_TROUBLE);
        ck_assert_pstr_eq(page.url, page_rows[i].want);
        ck_assert_msg((rv == APR_EEXIST) == (page_rows[i].status == 409), "%s", page_rows[i].name);
    }
    request = upstream_request(1);
    ck_assert_ptr_eq(strstr(request, "POST /base/api/v1/initiate HTTP/1.1\r\n"), request);
    ck_assert_str_eq(strstr(request, "\r\n\r\n") + 4,
                     "{\"transactionReference\":\"" REF "\",\"amount\":10.50,\"currency\":\"NGN\","
                     "\"checkoutCustomerData\":{\"email\":\"payer@shop.example\","
                     "\"firstName\":\"Ada\",\"lastName\":\"Obi\"},"
                     "\"redirectUrl\":\"https://shop.example/back\","
                     "\"checkoutCustomizationData\":{\"paymentDescription\":\"Shoes\"}}");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_charges);
    tcase_add_test(tcase, test_charge_told);
    tcase_add_loop_test(tcase, test_names_sent, 0, UNIT_ROWS(name_rows));
    tcase_add_loop_test(tcase, test_replays, 0, UNIT_ROWS(replay_rows));
    tcase_add_loop_test(tcase, test_decline_told, 0, UNIT_ROWS(message_rows));
    tcase_add_test(tcase, test_busy);
    tcase_add_test(tcase, test_queries);
    tcase_add_test(tcase, test_segment);
    tcase_add_test(tcase, test_checkouts);
}

UNIT_PROGRAM(add)
