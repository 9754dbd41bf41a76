/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"
#include "upstream_text.h"
#include "watched.h"

#include "base/log.h"
#include "model/text.h"

#include <string.h>

#define TIMEOUT apr_time_from_sec(120)
#define HTML "<html><body>It works!</body></html>"
#define OTHER_NOTE "\"late [payments:other0other1other2other3]\""
#define LISTED(state) "[" REFUNDED(state) "]"
#define UNTAGGED REFUND("re_3", "processed", "2.50", "NGN", "null", REF, WHEN)
/* Its charge, with this refunded amount. */
#define CHARGE_WITH(refunded, pending, updated)                                                    \
    ENVELOPE("true", "m",                                                                          \
             CHARGE("successful", REF, "10.50", "NGN", "test", WHEN,                               \
                    ",\"refundedAmount\":" refunded ",\"refundsPendingAmount\":" pending           \
                    ",\"updatedAt\":\"" updated "\""))
#define VERIFY "/api/v1/transaction/"
#define BESIDE REFUND("re_0", "processed", "2.50", "NGN", OTHER_NOTE, REF, WHEN)

typedef struct row_t {
    const char *name;
    int status;
    const char *body;
    const char *want;      /* as upstream_said returns it */
    const char *reference; /* the upstream's; NULL: not reported */
} row_t;

static const row_t refund_rows[] = {
    {"processed", 200, REFUNDED("processed"), "approved", "re_1"},
    {"failed", 200, REFUNDED("failed"), "declined", "re_1"},
    {"pending", 200, REFUNDED("pending"), "pending", "re_1"},
    {"pending with 202", 202, REFUNDED("pending"), "pending", "re_1"},
    {"a note that was cut", 200, REFUND("re_1", "processed", "2.50", "NGN", "\"la\"", REF, WHEN),
     "approved", "re_1"},
    {"no note", 200, REFUND("re_1", "processed", "2.5", "ngn", "null", REF, WHEN), "approved",
     "re_1"},
    {"a cent more", 200, REFUND("re_1", "processed", "2.51", "NGN", NOTE, REF, WHEN), "different",
     NULL},
    {"all of it", 200, REFUND("re_1", "processed", "10.50", "NGN", NOTE, REF, WHEN), "different",
     NULL},
    {"another currency", 200, REFUND("re_1", "processed", "2.50", "USD", NOTE, REF, WHEN),
     "different", NULL},
    {"of another charge", 200, REFUND("re_1", "processed", "2.50", "NGN", NOTE, "x", WHEN),
     "different", NULL},
    {"another refund", 200, REFUND("re_1", "processed", "2.50", "NGN", OTHER_NOTE, REF, WHEN),
     "different", NULL},
    {"another amount, failed", 200, REFUND("re_1", "failed", "2.51", "NGN", NOTE, REF, WHEN),
     "different", NULL},
    {"no charge", 200, REFUND("re_1", "processed", "2.50", "NGN", NOTE, "", WHEN), "unknown error",
     NULL},
    {"no reference", 200, REFUND("", "processed", "2.50", "NGN", NOTE, REF, WHEN), "unknown error",
     NULL},
    {"another status", 200, REFUNDED("done"), "unknown error", NULL},
    {"no amount", 200, REFUND("re_1", "processed", "", "NGN", NOTE, REF, WHEN), "unknown error",
     NULL},
    {"no currency", 200, REFUND("re_1", "processed", "2.50", "", NOTE, REF, WHEN), "unknown error",
     NULL},
    {"no time", 200, REFUND("re_1", "processed", "2.50", "NGN", NOTE, REF, "now"), "unknown error",
     NULL},
    {"a note of another type", 200, REFUND("re_1", "processed", "2.50", "NGN", "7", REF, WHEN),
     "unknown error", NULL},
    {"in an envelope", 200, ENVELOPE("true", "m", REFUNDED("processed")), "unknown error", NULL},
    {"in an array", 200, LISTED("processed"), "unknown error", NULL},
    {"null", 200, "null", "unknown error", NULL},
    {"HTML", 200, HTML, "unknown error", NULL},
    {"nothing", 200, "", "unknown error", NULL},
    {"processed with 500", 500, REFUNDED("processed"), "unknown error", NULL},
    {"refused by form", 400, ERROR("T1", "Invalid request parameter."), "declined", NULL},
    {"refused by a proxy", 400, HTML, "unknown error", NULL},
    {"refunded already", 400, ERROR("T1", "It was already refunded."), "unknown", NULL},
    {"no such charge", 404, UNKNOWN_OF(REF), "declined", NULL},
    {"another charge", 404, UNKNOWN_OF("x"), "unknown", NULL},
    {"no such path", 404, ERROR("N2", "none " REF), "unknown", NULL},
    {"not successful", 409, ERROR("R1", "no"), "declined", NULL},
    {"just made", 409, ERROR("R5", "it is re_0"), "unknown", NULL},
    {"worked on", 409, ERROR("D2", "no"), "unknown", NULL},
    {"409 of a proxy", 409, HTML, "unknown error", NULL},
    {"R2 with 200", 200, ERROR("R2", "no"), "unknown error", NULL},
    {"R2 with 500", 500, ERROR("R2", "no"), "unknown error", NULL},
    {"R2, envelope says yes", 409, ENVELOPE("true", "m", "{\"responseCode\":\"R2\"}"),
     "unknown error", NULL},
    {"key refused", 401, HTML, "unknown credentials", NULL},
    {"kind of key refused", 403, ERROR("B02", "no"), "unknown credentials", NULL},
    {"too many", 429, ERROR("L1", "no"), "unknown busy", NULL},
    {"out of service", 503, ERROR("E2", "no"), "unknown error", NULL},
};

static void check(const row_t *row, apr_status_t rv, const payments_answer_t *answer)
{
    ck_assert_msg(strcmp(upstream_said(rv, answer), row->want) == 0, "%s: %s", row->name,
                  upstream_said(rv, answer));
    if (row->reference) {
        ck_assert_pstr_eq(answer->acquirer_reference, row->reference);
    } else {
        ck_assert_msg(!answer->acquirer_reference || !*answer->acquirer_reference, "%s: %s",
                      row->name, answer->acquirer_reference);
    }
}

START_TEST(test_refunds)
{
    void *context = (upstream_start(), upstream_open());
    int i;

    for (i = 0; i < UNIT_ROWS(refund_rows); i++) {
        payments_answer_t answer = upstream_empty();
        apr_status_t rv;

        upstream_answer(refund_rows[i].status, refund_rows[i].body);
        rv = pay_acquirer_relay.refund(&answer, context, &upstream_refund, &upstream_charge,
                                       TIMEOUT, unit_pool);
        check(&refund_rows[i], rv, &answer);
        ck_assert_int_eq(upstream_requests(), i + 1);
    }
    ck_assert_ptr_nonnull(
        strstr(upstream_request(1), "POST /base/api/v1/partial-refund HTTP/1.1\r\n"));
    ck_assert_str_eq(strstr(upstream_request(1), "\r\n\r\n") + 4,
                     "{\"reference\":\"" REF "\",\"amount\":2.50,\"customer_note\":\"sorry\","
                     "\"merchant_note\":\"late [payments:" TAG "]\"}");
}
END_TEST

/* The content of its list of refunds after "too little is left". */
static const row_t forestalled_rows[] = {
    {"an empty list", 200, "[]", "declined", NULL},
    {"others", 200, "[" BESIDE "]", "declined", NULL},
    {"one like it without a tag", 200, "[" UNTAGGED "]", "unknown", NULL},
    {"itself, processed", 200, "[" BESIDE "," REFUNDED("processed") "]", "approved", "re_1"},
    {"itself, failed", 200, LISTED("failed"), "declined", "re_1"},
    {"itself, pending", 200, LISTED("pending"), "pending", "re_1"},
    {"itself, twice", 200,
     "[" REFUNDED("processed") "," REFUND("re_2", "processed", "2.50", "NGN", NOTE, REF, WHEN) "]",
     "different", "re_2"},
    {"no list", 200, HTML, "unknown error", NULL},
    {"a failure", 503, ERROR("E2", "later"), "unknown error", NULL},
    {"a list that is cut", 200, "[" REFUNDED("processed"), "unknown error", NULL},
};

/* A refund that arrived twice is in its own way: it is not reported as refused. */
START_TEST(test_forestalled)
{
    static const char *const codes[] = {"R2", "R3", "R4"};
    const char *refusal = apr_psprintf(unit_pool, ERROR("%s", "no"), codes[_i]);
    void *context = (upstream_start(), upstream_open());
    int i;

    for (i = 0; i < UNIT_ROWS(forestalled_rows); i++) {
        payments_answer_t answer = upstream_empty();
        apr_status_t rv;

        upstream_clear();
        upstream_answer(forestalled_rows[i].status, forestalled_rows[i].body);
        upstream_answer_at("/api/v1/partial-refund", 409, refusal);
        rv = pay_acquirer_relay.refund(&answer, context, &upstream_refund, &upstream_charge,
                                       TIMEOUT, unit_pool);
        check(&forestalled_rows[i], rv, &answer);
        ck_assert_int_ge(upstream_requests(), 2);
        ck_assert_ptr_null(strstr(upstream_request(2), "POST"));
    }
}
END_TEST

/* A refund that could not be found again is not sent. */
START_TEST(test_refund_without)
{
    void *context = (upstream_start(), upstream_open());
    payments_refund_t refund = upstream_refund;
    payments_charge_t charge = upstream_charge;
    payments_answer_t answer = upstream_empty();

    upstream_answer(200, REFUNDED("processed"));
    refund.tag = "";
    ck_assert_int_eq(
        pay_acquirer_relay.refund(&answer, context, &refund, &charge, TIMEOUT, unit_pool),
        PAYMENTS_NOT_SENT);
    refund.tag = TAG;
    charge.reference = "";
    ck_assert_int_eq(
        pay_acquirer_relay.refund(&answer, context, &refund, &charge, TIMEOUT, unit_pool),
        PAYMENTS_NOT_SENT);
    ck_assert_int_eq(pay_acquirer_relay.refund(&answer, context, &refund, NULL, TIMEOUT, unit_pool),
                     PAYMENTS_NOT_SENT);
    ck_assert_int_eq(upstream_requests(), 0);
}
END_TEST

static const struct {
    const char *name;
    const char *letter;
    int count, kept; /* characters of the note, and how many of them are sent */
} note_rows[] = {
    {"none", "a", 0, 0},
    {"one", "a", 1, 1},
    {"as long as fits", "a", 464, 464},
    {"one more", "a", 465, 464},
    {"the longest", "a", 500, 464},
    {"of two bytes", "\xc3\xa9", 465, 464},
    {"of four bytes", "\xf0\x9f\x98\x80", 500, 464},
};

/* With its tag the note has at most 500 characters, and none of them is cut in two. */
START_TEST(test_note)
{
    void *context = (upstream_start(), upstream_open());
    payments_refund_t refund = upstream_refund;
    payments_answer_t answer = upstream_empty();
    const char *want = "";
    const char *note = "";
    const char *sent;
    int i;

    for (i = 0; i < note_rows[_i].count; i++) {
        note = apr_pstrcat(unit_pool, note, note_rows[_i].letter, NULL);
        want = i < note_rows[_i].kept ? note : want;
    }
    want = apr_pstrcat(unit_pool, want, *want ? " " : "", "[payments:" TAG "]", NULL);
    ck_assert_uint_le(pay_text_length(want), 500);
    refund.merchant_note = note;
    refund.customer_note = "";
    upstream_answer(200, REFUNDED("processed"));
    ck_assert_int_eq(
        pay_acquirer_relay.refund(&answer, context, &refund, &upstream_charge, TIMEOUT, unit_pool),
        APR_SUCCESS);
    sent = strstr(upstream_request(1), "\r\n\r\n") + 4;
    ck_assert_str_eq(sent,
                     apr_pstrcat(unit_pool,
                                 "{\"reference\":\"" REF "\",\"amount\":2.50,\"merchant_note\":\"",
                                 want, "\"}", NULL));
}
END_TEST

/* ---- queries */

static const row_t known_rows[] = {
    {"processed", 200, REFUNDED("processed"), "approved", "re_1"},
    {"failed", 200, REFUNDED("failed"), "declined", "re_1"},
    {"pending", 200, REFUNDED("pending"), "pending", "re_1"},
    {"another amount", 200, REFUND("re_1", "processed", "2", "NGN", NOTE, REF, WHEN), "different",
     NULL},
    {"of another charge", 200, REFUND("re_1", "processed", "2.50", "NGN", NOTE, "x", WHEN),
     "different", NULL},
    {"another refund", 200, REFUND("re_2", "processed", "2.50", "NGN", NOTE, REF, WHEN),
     "different", "re_2"},
    {"absent", 404, UNKNOWN_OF("re_1"), "absent", NULL},
    {"absent, another one", 404, UNKNOWN_OF("re_10"), "unknown", NULL},
    {"no such path", 404, ERROR("N2", "none re_1"), "unknown", NULL},
    {"a proxy's 404", 404, "re_1", "unknown error", NULL},
    {"a list", 200, LISTED("processed"), "unknown error", NULL},
    {"401", 401, HTML, "unknown credentials", NULL},
    {"429", 429, HTML, "unknown busy", NULL},
    {"503", 503, HTML, "unknown error", NULL},
};

START_TEST(test_known)
{
    void *context = (upstream_start(), upstream_open());
    payments_refund_t refund = upstream_refund;
    int i;

    refund.acquirer_reference = "re_1";
    for (i = 0; i < UNIT_ROWS(known_rows); i++) {
        payments_answer_t answer = upstream_empty();
        apr_status_t rv;

        upstream_answer(known_rows[i].status, known_rows[i].body);
        rv = pay_acquirer_relay.refund_query(&answer, context, &refund, &upstream_charge, TIMEOUT,
                                             unit_pool);
        check(&known_rows[i], rv, &answer);
        ck_assert_int_eq(upstream_requests(), i + 1);
    }
    ck_assert_ptr_nonnull(strstr(upstream_request(1), "GET /base/api/v1/refund/re_1 HTTP/1.1\r\n"));
}
END_TEST

static const row_t tag_rows[] = {
    {"processed", 200, LISTED("processed"), "approved", "re_1"},
    {"failed", 200, LISTED("failed"), "declined", "re_1"},
    {"pending", 200, "[" BESIDE "," REFUNDED("pending") "]", "pending", "re_1"},
    {"the tag alone", 200,
     "[" REFUND("re_1", "processed", "2.50", "NGN", "\"[payments:" TAG "]\"", REF, WHEN) "]",
     "approved", "re_1"},
    {"another amount", 200, "[" REFUND("re_1", "processed", "2", "NGN", NOTE, REF, WHEN) "]",
     "different", NULL},
    {"of another charge", 200, "[" REFUND("re_1", "processed", "2.50", "NGN", NOTE, "x", WHEN) "]",
     "different", NULL},
    {"of no charge", 200, "[" REFUND("re_1", "processed", "2.50", "NGN", NOTE, "", WHEN) "]",
     "different", NULL},
    {"twice", 200,
     "[" REFUNDED("processed") "," REFUND("re_2", "processed", "2.50", "NGN", NOTE, REF, WHEN) "]",
     "different", "re_2"},
    {"none", 200, "[]", "absent", NULL},
    {"another's", 200, "[" BESIDE "]", "absent", NULL},
    {"the tag in the middle", 200,
     "[" REFUND("re_1", "processed", "2.50", "NGN", "\"[payments:" TAG "] x\"", REF, WHEN) "]",
     "absent", NULL},
    {"the tag as part of a word", 200,
     "[" REFUND("re_1", "processed", "2.50", "NGN", "\"x[payments:" TAG "]\"", REF, WHEN) "]",
     "absent", NULL},
    {"the tag in capitals", 200,
     "[" REFUND("re_1", "processed", "2.50", "NGN", "\"[PAYMENTS:" TAG "]\"", REF, WHEN) "]",
     "absent", NULL},
    {"a shorter tag", 200,
     "[" REFUND("re_1", "processed", "2.50", "NGN", "\"a longer note [payments:tag0]\"", REF,
                WHEN) "]",
     "absent", NULL},
    {"one that lacks what it needs", 200, "[" BESIDE ",{}]", "unknown error", NULL},
    {"ours and one that lacks what it needs", 200, "[" REFUNDED("processed") ",{}]",
     "unknown error", NULL},
    {"not closed", 200, "[" BESIDE, "unknown error", NULL},
    {"ours, not closed", 200, "[" REFUNDED("processed"), "unknown error", NULL},
    {"an object", 200, "{}", "unknown error", NULL},
    {"null", 200, "null", "unknown error", NULL},
    {"nothing", 200, "", "unknown error", NULL},
    {"HTML", 200, HTML, "unknown error", NULL},
    {"204", 204, "", "unknown error", NULL},
    {"404", 404, UNKNOWN_OF(TAG), "unknown error", NULL},
    {"400", 400, ERROR("T1", "no"), "unknown error", NULL},
    {"401", 401, HTML, "unknown credentials error", NULL},
    {"429", 429, HTML, "unknown busy error", NULL},
    {"500 with a list", 500, "[]", "unknown error", NULL},
};

START_TEST(test_tags)
{
    void *context = (upstream_start(), upstream_open());
    int i;

    for (i = 0; i < UNIT_ROWS(tag_rows); i++) {
        payments_answer_t answer = upstream_empty();
        apr_status_t rv;

        upstream_clear();
        upstream_answer(tag_rows[i].status, tag_rows[i].body);
        upstream_answer_at(VERIFY, 200, CHARGE_WITH("0", "0", WHEN));
        rv = pay_acquirer_relay.refund_query(&answer, context, &upstream_refund, &upstream_charge,
                                             TIMEOUT, unit_pool);
        check(&tag_rows[i], rv, &answer);
        ck_assert_int_eq(upstream_requests(), 1 + (answer.verdict == PAYMENTS_ABSENT));
    }
    /* From the day before it was opened to the day after today. */
    ck_assert_ptr_nonnull(
        strstr(upstream_request(1), "GET /base/api/v1/refund/2027-01-14/2027-01-16 HTTP/1.1\r\n"));
}
END_TEST

/* Opened three weeks ago: one window that is not read leaves it unknown, at any position. */
START_TEST(test_tag_windows)
{
    static const char *const windows[] = {"2026-12-24/2026-12-30", "2026-12-30/2027-01-05",
                                          "2027-01-05/2027-01-11", "2027-01-11/2027-01-16"};
    void *context = (upstream_start(), upstream_open());
    payments_refund_t refund = upstream_refund;
    payments_answer_t answer = upstream_empty();
    apr_status_t rv;
    int i;

    refund.opened_at = UPSTREAM_NOW - apr_time_from_sec(21 * 24 * 60 * 60);
    upstream_answer(200, "[" BESIDE "]");
    upstream_answer_at(VERIFY, 404, UNKNOWN_OF(REF));
    rv = pay_acquirer_relay.refund_query(&answer, context, &refund, &upstream_charge, TIMEOUT,
                                         unit_pool);
    ck_assert_str_eq(upstream_said(rv, &answer), "absent");
    ck_assert_int_eq(upstream_requests(), 5);
    for (i = 0; i < 4; i++) {
        ck_assert_msg(strstr(upstream_request(i + 1), windows[i]) != NULL, "%s", windows[i]);
    }
    for (i = 0; i < 4; i++) {
        upstream_clear();
        upstream_answer(200, "[" REFUNDED("processed") "]");
        upstream_say(apr_pstrcat(unit_pool, "/api/v1/refund/", windows[i], NULL), "keep",
                     "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n");
        answer = upstream_empty();
        rv = pay_acquirer_relay.refund_query(&answer, context, &refund, &upstream_charge, TIMEOUT,
                                             unit_pool);
        ck_assert_msg(strcmp(upstream_said(rv, &answer), "unknown error") == 0, "%s: %s",
                      windows[i], upstream_said(rv, &answer));
    }
}
END_TEST

static const struct {
    const char *name, *date; /* the header */
    apr_interval_time_t opened_ahead;
    const char *want;
    const char *list; /* the last one requested; NULL: its charge is queried then */
    int doubted;
} date_rows[] = {
    {"the same time", UPSTREAM_DATE, 0, "absent", NULL, 0},
    {"five minutes behind", "Date: Fri, 15 Jan 2027 07:55:00 GMT\r\n", 0, "absent", NULL, 0},
    {"five minutes ahead", "Date: Fri, 15 Jan 2027 08:05:00 GMT\r\n", 0, "absent", NULL, 0},
    {"a second more behind", "Date: Fri, 15 Jan 2027 07:54:59 GMT\r\n", 0, "unknown",
     "2027-01-14/2027-01-16", 1},
    {"a second more ahead", "Date: Fri, 15 Jan 2027 08:05:01 GMT\r\n", 0, "unknown",
     "2027-01-14/2027-01-16", 1},
    {"a day behind", "Date: Thu, 14 Jan 2027 08:00:00 GMT\r\n", 0, "unknown",
     "2027-01-13/2027-01-15", 1},
    {"a year ahead", "date:Sat, 15 Jan 2028 08:00:00 GMT\r\n", 0, "unknown",
     "2028-01-14/2028-01-16", 1},
    {"a year behind", "Date: Thu, 15 Jan 2026 08:00:00 GMT\r\n", 0, "unknown",
     "2026-01-14/2026-01-16", 1},
    {"no date", "", 0, "unknown", "2027-01-14/2027-01-16", 1},
    {"no date that can be read", "Date: tomorrow\r\n", 0, "unknown", "2027-01-14/2027-01-16", 1},
    {"two dates", UPSTREAM_DATE UPSTREAM_DATE, 0, "unknown", "2027-01-14/2027-01-16", 1},
    {"opened within five minutes from now", UPSTREAM_DATE, 300, "absent", NULL, 0},
    {"opened tomorrow", UPSTREAM_DATE, 86400, "unknown", "2027-01-14/2027-01-16", 1},
};

static int is_no_date(const char *header)
{
    return !*header || strstr(header, "tomorrow") || strstr(header + 1, "Date: ");
}

/* Absence is believed only if two clocks agree, and the search covers the days of its own. */
START_TEST(test_dates)
{
    void *context = (upstream_start(), upstream_open());
    payments_refund_t refund = upstream_refund;
    payments_answer_t answer = upstream_empty();
    apr_status_t rv;

    watch();
    refund.opened_at = UPSTREAM_NOW + apr_time_from_sec(date_rows[_i].opened_ahead);
    upstream_date = date_rows[_i].date;
    upstream_answer(200, "[]");
    upstream_answer_at(VERIFY, 200, CHARGE_WITH("0", "0", WHEN));
    rv = pay_acquirer_relay.refund_query(&answer, context, &refund, &upstream_charge, TIMEOUT,
                                         unit_pool);
    ck_assert_msg(strcmp(upstream_said(rv, &answer), date_rows[_i].want) == 0, "%s: %s",
                  date_rows[_i].name, upstream_said(rv, &answer));
    ck_assert_int_eq(answer.doubted, date_rows[_i].doubted);
    ck_assert_int_eq(logged("PAY00712: "), is_no_date(date_rows[_i].date));
    ck_assert_msg(strstr(upstream_request(upstream_requests()),
                         date_rows[_i].list ? date_rows[_i].list : VERIFY)
                      != NULL,
                  "%s: %s", date_rows[_i].name, upstream_request(upstream_requests()));
    /* By its own name as well. */
    answer = upstream_empty();
    refund.acquirer_reference = "re_1";
    upstream_answer(404, UNKNOWN_OF("re_1"));
    rv = pay_acquirer_relay.refund_query(&answer, context, &refund, &upstream_charge, TIMEOUT,
                                         unit_pool);
    ck_assert_int_eq(answer.verdict == PAYMENTS_ABSENT,
                     !date_rows[_i].doubted || date_rows[_i].opened_ahead > 0);
    ck_assert_int_eq(rv, APR_SUCCESS);
}
END_TEST

/* A list of its day also finds it while the clocks differ. */
START_TEST(test_found_by_its_dates)
{
    void *context = (upstream_start(), upstream_open());
    payments_answer_t answer = upstream_empty();
    apr_status_t rv;

    upstream_date = "Date: Sat, 15 Jan 2028 08:00:00 GMT\r\n";
    upstream_answer(200, "[]");
    upstream_answer_at("/api/v1/refund/2028-01-14/", 200, LISTED("processed"));
    rv = pay_acquirer_relay.refund_query(&answer, context, &upstream_refund, &upstream_charge,
                                         TIMEOUT, unit_pool);
    ck_assert_str_eq(upstream_said(rv, &answer), "approved");
    ck_assert_int_eq(upstream_requests(), 2);
}
END_TEST

static const struct {
    const char *name;
    int status;
    const char *body; /* of its charge */
    apr_int64_t refunded_minor, pending_minor;
    const char *want;
} charge_rows[] = {
    {"nothing was given back", 200, CHARGE_WITH("0", "0", WHEN), 0, 0, "absent"},
    {"as much as is known", 200, CHARGE_WITH("2.50", "0", WHEN), 250, 0, "absent"},
    {"less than is known", 200, CHARGE_WITH("2", "0", WHEN), 250, 0, "absent"},
    {"more than is known", 200, CHARGE_WITH("2.51", "0", WHEN), 250, 0, "different"},
    {"more is pending than is known", 200, CHARGE_WITH("2.50", "0.01", WHEN), 250, 0, "different"},
    {"as much is pending", 200, CHARGE_WITH("2.50", "1", WHEN), 250, 100, "absent"},
    {"it was processed since", 200, CHARGE_WITH("3.50", "0", WHEN), 250, 100, "absent"},
    {"all of it", 200, CHARGE_WITH("10.50", "0", WHEN), 0, 0, "different"},
    {"it changed on no day", 200, CHARGE_WITH("10.50", "0", "never"), 0, 0, "different"},
    {"found on another day", 200, CHARGE_WITH("2.50", "0", "2026-03-04T05:06:07.000Z"), 0, 0,
     "approved"},
    {"it does not say", 200, ENVELOPE("true", "m", OURS("successful")), 0, 0, "unknown error"},
    {"no number", 200, CHARGE_WITH("\"much\"", "0", WHEN), 0, 0, "unknown error"},
    {"no number pending", 200, CHARGE_WITH("0", "null", WHEN), 0, 0, "unknown error"},
    {"as a string", 200, CHARGE_WITH("\"2.50\"", "\"0.00\"", WHEN), 250, 0, "absent"},
    {"not known there", 404, UNKNOWN_OF(REF), 0, 0, "absent"},
    {"another is not known there", 404, UNKNOWN_OF("x"), 0, 0, "unknown"},
    {"another one", 200,
     ENVELOPE("true", "m",
              CHARGE("successful", "x", "10.50", "NGN", "test", WHEN, ",\"refundedAmount\":0")),
     0, 0, "unknown error"},
    {"503", 503, HTML, 0, 0, "unknown error"},
    {"401", 401, HTML, 0, 0, "unknown credentials"},
};

/*
 * A refund that its list lacks may show in its charge: one that was made while its clock was wrong.
 */
START_TEST(test_charge_compared)
{
    void *context = (upstream_start(), upstream_open());
    payments_charge_t charge = upstream_charge;
    payments_answer_t answer = upstream_empty();
    apr_status_t rv;

    charge.refunded_minor = charge_rows[_i].refunded_minor;
    charge.refunds_pending_minor = charge_rows[_i].pending_minor;
    upstream_answer(200, "[]");
    upstream_answer_at("/api/v1/refund/2026-03-03/2026-03-05", 200, LISTED("processed"));
    upstream_answer_at(VERIFY, charge_rows[_i].status, charge_rows[_i].body);
    rv = pay_acquirer_relay.refund_query(&answer, context, &upstream_refund, &charge, TIMEOUT,
                                         unit_pool);
    ck_assert_msg(strcmp(upstream_said(rv, &answer), charge_rows[_i].want) == 0, "%s: %s",
                  charge_rows[_i].name, upstream_said(rv, &answer));
}
END_TEST

static int silent;

static void hear(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    (void)baton, (void)status;
    silent += level == PAY_LOG_WARNING && strstr(text, "PAY00792") != NULL;
}

/* Why no waiting refund is sent is logged once, and only if the sum is missing altogether. */
START_TEST(test_no_sums)
{
    void *context = (upstream_start(), upstream_open());
    payments_answer_t answer;
    int n;

    silent = 0;
    pay_log_set_sink(hear, NULL);
    upstream_answer(200, "[]");
    upstream_answer_at(VERIFY, 200, CHARGE_WITH("\"much\"", "0", WHEN));
    answer = upstream_empty();
    (void)pay_acquirer_relay.refund_query(&answer, context, &upstream_refund, &upstream_charge,
                                          TIMEOUT, unit_pool);
    ck_assert_int_eq(silent, 0);
    upstream_answer_at(VERIFY, 200, ENVELOPE("true", "m", OURS("successful")));
    for (n = 0; n < 3; n++) {
        answer = upstream_empty();
        (void)pay_acquirer_relay.refund_query(&answer, context, &upstream_refund, &upstream_charge,
                                              TIMEOUT, unit_pool);
    }
    ck_assert_int_eq(silent, 1);
}
END_TEST

static const struct {
    const char *name, *list, *similar;
} similar_rows[] = {
    {"none", "[" BESIDE "]", ""},
    {"no note", "[" BESIDE "," UNTAGGED "]", "re_3"},
    {"a note that was cut",
     "[" REFUND("re_3", "pending", "2.50", "NGN", "\"late [payments:tag0\"", REF, WHEN) "]",
     "re_3"},
    {"failed", "[" REFUND("re_3", "failed", "2.50", "NGN", "null", REF, WHEN) "]", ""},
    {"another amount", "[" REFUND("re_3", "processed", "2.51", "NGN", "null", REF, WHEN) "]", ""},
    {"another currency", "[" REFUND("re_3", "processed", "2.50", "USD", "null", REF, WHEN) "]", ""},
    {"another charge", "[" REFUND("re_3", "processed", "2.50", "NGN", "null", "x", WHEN) "]", ""},
};

/* One that may be it, without its note. */
START_TEST(test_similar)
{
    void *context = (upstream_start(), upstream_open());
    payments_answer_t answer = upstream_empty();
    apr_status_t rv;

    upstream_answer(200, similar_rows[_i].list);
    upstream_answer_at(VERIFY, 404, UNKNOWN_OF(REF));
    rv = pay_acquirer_relay.refund_query(&answer, context, &upstream_refund, &upstream_charge,
                                         TIMEOUT, unit_pool);
    ck_assert_str_eq(upstream_said(rv, &answer), "absent");
    ck_assert_str_eq(apr_array_pstrcat(unit_pool, answer.similar, ','), similar_rows[_i].similar);
}
END_TEST

/* A refund of a charge that is not known here; and one of which nothing is known. */
START_TEST(test_unknown)
{
    void *context = (upstream_start(), upstream_open());
    payments_refund_t refund = upstream_refund;
    payments_answer_t answer = upstream_empty();
    apr_status_t rv;

    upstream_answer(200, REFUNDED("processed"));
    refund.acquirer_reference = "re_1";
    rv = pay_acquirer_relay.refund_query(&answer, context, &refund, NULL, TIMEOUT, unit_pool);
    ck_assert_str_eq(upstream_said(rv, &answer), "approved");
    refund.acquirer_reference = "";
    refund.tag = "";
    answer = upstream_empty();
    rv = pay_acquirer_relay.refund_query(&answer, context, &refund, NULL, TIMEOUT, unit_pool);
    ck_assert_str_eq(upstream_said(rv, &answer), "unknown error");
    ck_assert_int_eq(upstream_requests(), 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_refunds);
    tcase_add_loop_test(tcase, test_forestalled, 0, 3);
    tcase_add_test(tcase, test_refund_without);
    tcase_add_loop_test(tcase, test_note, 0, UNIT_ROWS(note_rows));
    tcase_add_test(tcase, test_known);
    tcase_add_test(tcase, test_tags);
    tcase_add_test(tcase, test_tag_windows);
    tcase_add_loop_test(tcase, test_dates, 0, UNIT_ROWS(date_rows));
    tcase_add_test(tcase, test_found_by_its_dates);
    tcase_add_loop_test(tcase, test_charge_compared, 0, UNIT_ROWS(charge_rows));
    tcase_add_test(tcase, test_no_sums);
    tcase_add_loop_test(tcase, test_similar, 0, UNIT_ROWS(similar_rows));
    tcase_add_test(tcase, test_unknown);
}

UNIT_PROGRAM(add)
