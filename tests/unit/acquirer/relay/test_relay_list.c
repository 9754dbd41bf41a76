/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"
#include "upstream_text.h"

#include "acquirer/relay/parts.h"
#include "base/log.h"

#include <string.h>

#define TIMEOUT apr_time_from_sec(120)
#define DAY apr_time_from_sec(24 * 60 * 60)
#define PLAIN(reference, created)                                                                  \
    REFUND(reference, "processed", "2.50", "NGN", "null", REF, created)

/* The passed records, one after the other. */
typedef struct told_t {
    const char *text;
    int count;
    apr_status_t answer; /* to each */
} told_t;

static apr_status_t tell(void *baton, const payments_record_t *record)
{
    told_t *told = baton;
    char created[PAY_TIME_TEXT_LEN + 1];

    told->count++;
    told->text = apr_pstrcat(
        unit_pool, told->text, record->id, "|", record->reference, "|", record->tag, "|",
        record->amount, "|", record->currency, "|", record->channel, "|", record->merchant_note,
        "|", record->customer_note, "|", record->status, "|", record->transaction_reference, "|",
        pay_time_format(created, record->created_at), "|",
        record->updated_at ? pay_time_format(created, record->updated_at) : "", "\n", NULL);
    return told->answer;
}

static apr_status_t list(told_t *told, void *context, apr_time_t from, apr_time_t to)
{
    *told = (told_t){"", 0, told->answer};
    return pay_acquirer_relay.refund_list(context, from, to, tell, told, TIMEOUT, unit_pool);
}

/* The lines that lack nothing of `reference`. */
static int times_told(const told_t *told, const char *reference)
{
    const char *word = apr_psprintf(unit_pool, "|%s|", reference);
    const char *at = told->text;
    int count = 0;

    while ((at = strstr(at, word)) != NULL) {
        count++;
        at++;
    }
    return count;
}

START_TEST(test_told)
{
    void *context = (upstream_start(), upstream_open());
    told_t told = {"", 0, APR_SUCCESS};

    upstream_answer(
        200,
        "[" REFUNDED("pending") "," PLAIN(
            "re_2", "2027-01-15T09:00:00+01:00") ","
                                                 "{\"id\":\"3\",\"refundReference\":\"re_3\","
                                                 "\"amount\":7,\"currency\":\"JPY\",\"status\":"
                                                 "\"failed\",\"createdAt\":\"" WHEN
                                                 "\",\"merchantNote\":\"[payments:" TAG "]\"}]");
    ck_assert_int_eq(list(&told, context, UPSTREAM_NOW, UPSTREAM_NOW), APR_SUCCESS);
    ck_assert_str_eq(told.text,
                     "id_re_1|re_1|" TAG "|2.50|NGN|API|late||pending|" REF "|" WHEN "|" WHEN "\n"
                     "id_re_2|re_2||2.50|NGN|API|||processed|" REF "|" WHEN "|" WHEN "\n"
                     "3|re_3|" TAG "|7|JPY||||failed||" WHEN "|\n");
    ck_assert_int_eq(upstream_requests(), 1);
    ck_assert_ptr_nonnull(
        strstr(upstream_request(1), "GET /base/api/v1/refund/2027-01-14/2027-01-16 HTTP/1.1\r\n"));
}
END_TEST

static const struct {
    const char *name, *date;
    const char *before, *first, *last, *behind; /* createdAt */
    int requests;
} ranges[] = {
    {"no date", "", "2027-01-14T07:54:59.999Z", "2027-01-14T07:55:00.000Z",
     "2027-01-15T08:05:00.000Z", "2027-01-15T08:05:00.001Z", 1},
    {"clocks agree", UPSTREAM_DATE, "2027-01-14T07:59:59.999Z", "2027-01-14T08:00:00.000Z",
     "2027-01-15T08:00:02.000Z", "2027-01-15T08:00:02.001Z", 1},
    {"an hour ahead", "Date: Fri, 15 Jan 2027 09:00:00 GMT\r\n", "2027-01-14T07:59:59.999Z",
     "2027-01-14T08:00:00.000Z", "2027-01-15T09:00:02.000Z", "2027-01-15T09:00:02.001Z", 1},
    {"an hour behind", "Date: Fri, 15 Jan 2027 07:00:00 GMT\r\n", "2027-01-14T06:59:59.999Z",
     "2027-01-14T07:00:00.000Z", "2027-01-15T08:00:02.000Z", "2027-01-15T08:00:02.001Z", 1},
    {"a year ahead", "Date: Sat, 15 Jan 2028 08:00:00 GMT\r\n", "2027-01-14T07:59:59.999Z",
     "2027-01-14T08:00:00.000Z", "2028-01-15T08:00:02.000Z", "2028-01-15T08:00:02.001Z", 2},
    {"a year behind", "Date: Thu, 15 Jan 2026 08:00:00 GMT\r\n", "2026-01-14T07:59:59.999Z",
     "2026-01-14T08:00:00.000Z", "2027-01-15T08:00:02.000Z", "2027-01-15T08:00:02.001Z", 2},
    {"three days ahead", "Date: Mon, 18 Jan 2027 08:00:00 GMT\r\n", "2027-01-14T07:59:59.999Z",
     "2027-01-14T08:00:00.000Z", "2027-01-18T08:00:02.000Z", "2027-01-18T08:00:02.001Z", 2},
};

static const char *plain(const char *reference, const char *created)
{
    return apr_pstrcat(unit_pool, "{\"id\":\"id_", reference, "\",\"refundReference\":\"",
                       reference,
                       "\",\"amount\":\"2.50\",\"currency\":\"NGN\",\"status\":\"processed\","
                       "\"createdAt\":\"",
                       created, "\"}", NULL);
}

/* Both ends are in the range, by any clock of the upstream; records outside are not passed. */
START_TEST(test_range)
{
    void *context = (upstream_start(), upstream_open());
    told_t told = {"", 0, APR_SUCCESS};

    upstream_date = ranges[_i].date;
    upstream_answer(200, apr_pstrcat(unit_pool, "[", plain("before", ranges[_i].before), ",",
                                     plain("first", ranges[_i].first), ",",
                                     plain("last", ranges[_i].last), ",",
                                     plain("behind", ranges[_i].behind), "]", NULL));
    ck_assert_int_eq(list(&told, context, UPSTREAM_NOW - DAY, UPSTREAM_NOW), APR_SUCCESS);
    ck_assert_int_eq(upstream_requests(), ranges[_i].requests);
    ck_assert_int_eq(times_told(&told, "first"), ranges[_i].requests);
    ck_assert_int_eq(times_told(&told, "last"), ranges[_i].requests);
    ck_assert_int_eq(told.count, 2 * ranges[_i].requests);
    ck_assert_int_eq(list(&told, context, UPSTREAM_NOW, UPSTREAM_NOW - 1), APR_EINVAL);
}
END_TEST

/* Two windows share a day; a refund of that day is passed once. */
START_TEST(test_windows)
{
    void *context = (upstream_start(), upstream_open());
    told_t told = {"", 0, APR_SUCCESS};

    upstream_say("/api/v1/refund/2027-01-07/2027-01-13", "keep",
                 apr_psprintf(unit_pool, "HTTP/1.1 200 X\r\nContent-Length: %d\r\n\r\n%s",
                              (int)strlen("[" PLAIN("both", "2027-01-13T12:00:00Z") "]"),
                              "[" PLAIN("both", "2027-01-13T12:00:00Z") "]"));
    upstream_answer(200, "[" PLAIN("both", "2027-01-13T12:00:00Z") "," PLAIN("one", WHEN) "]");
    ck_assert_int_eq(list(&told, context, UPSTREAM_NOW - 7 * DAY, UPSTREAM_NOW), APR_SUCCESS);
    ck_assert_int_eq(upstream_requests(), 2);
    ck_assert_ptr_nonnull(strstr(upstream_request(2), "/2027-01-13/2027-01-16 "));
    ck_assert_int_eq(told.count, 2);
    ck_assert_int_eq(times_told(&told, "both"), 1);
    ck_assert_int_eq(times_told(&told, "one"), 1);
}
END_TEST

static const char *padded(apr_size_t len)
{
    char *text = apr_palloc(unit_pool, len + 1);

    memset(text, ' ', len);
    text[0] = '[';
    text[len - 1] = ']';
    text[len] = '\0';
    return text;
}

/* A window that is too long is halved, down to a day and the next; longer ones than that fail. */
START_TEST(test_too_long)
{
    void *context = (upstream_start(), upstream_open());
    told_t told = {"", 0, APR_SUCCESS};
    const char *head = "HTTP/1.1 200 X\r\n\r\n";

    upstream_answer(200, "[" PLAIN("re_1", WHEN) "]");
    upstream_say("/api/v1/refund/2027-01-09/2027-01-15", "close",
                 apr_pstrcat(unit_pool, head, padded(PAY_RELAY_LIST_MAX + 1), NULL));
    upstream_say("/api/v1/refund/2027-01-09/2027-01-12", "close",
                 apr_pstrcat(unit_pool, head, padded(PAY_RELAY_LIST_MAX), NULL));
    ck_assert_int_eq(list(&told, context, UPSTREAM_NOW - 5 * DAY, UPSTREAM_NOW), APR_SUCCESS);
    ck_assert_int_eq(told.count, 1);
    ck_assert_int_eq(upstream_requests(), 4);
    ck_assert_ptr_nonnull(strstr(upstream_request(1), "/2027-01-09/2027-01-15 "));
    ck_assert_ptr_nonnull(strstr(upstream_request(2), "/2027-01-09/2027-01-12 "));
    ck_assert_ptr_nonnull(strstr(upstream_request(3), "/2027-01-12/2027-01-15 "));
    ck_assert_ptr_nonnull(strstr(upstream_request(4), "/2027-01-15/2027-01-16 "));

    upstream_clear();
    upstream_say("/", "close", apr_pstrcat(unit_pool, head, padded(PAY_RELAY_LIST_MAX + 1), NULL));
    ck_assert_int_ne(list(&told, context, UPSTREAM_NOW, UPSTREAM_NOW), APR_SUCCESS);
    ck_assert_int_eq(upstream_requests(), 2);
    ck_assert_ptr_nonnull(strstr(upstream_request(2), "/2027-01-14/2027-01-15 "));
}
END_TEST

#define RECORD(id, reference, amount, currency, status, created, more)                             \
    "{\"id\":" id ",\"refundReference\":" reference ",\"amount\":" amount                          \
    ",\"currency\":" currency ",\"status\":" status ",\"createdAt\":" created more "}"
#define GOOD_WITH(more)                                                                            \
    RECORD("\"1\"", "\"re\"", "\"1.00\"", "\"NGN\"", "\"processed\"", "\"" WHEN "\"", more)

static const struct {
    const char *name;
    const char *record;
    int good;
} record_rows[] = {
    {"what it takes", GOOD_WITH(""), 1},
    {"nulls", GOOD_WITH(",\"domain\":null,\"merchantNote\":null,\"transactionReference\":null"), 1},
    {"others", GOOD_WITH(",\"more\":{\"status\":\"failed\"}"), 1},
    {"a note with lines", GOOD_WITH(",\"merchantNote\":\"a\\nb\""), 1},
    {"no id", RECORD("null", "\"re\"", "\"1\"", "\"NGN\"", "\"failed\"", "\"" WHEN "\"", ""), 0},
    {"an id of digits", RECORD("1", "\"re\"", "\"1\"", "\"NGN\"", "\"failed\"", "\"" WHEN "\"", ""),
     0},
    {"no reference", RECORD("\"1\"", "\"\"", "\"1\"", "\"NGN\"", "\"failed\"", "\"" WHEN "\"", ""),
     0},
    {"no amount", RECORD("\"1\"", "\"re\"", "null", "\"NGN\"", "\"failed\"", "\"" WHEN "\"", ""),
     0},
    {"an amount of nothing",
     RECORD("\"1\"", "\"re\"", "\"0.00\"", "\"NGN\"", "\"failed\"", "\"" WHEN "\"", ""), 0},
    {"too many decimals",
     RECORD("\"1\"", "\"re\"", "\"1.001\"", "\"NGN\"", "\"failed\"", "\"" WHEN "\"", ""), 0},
    {"no currency", RECORD("\"1\"", "\"re\"", "\"1\"", "null", "\"failed\"", "\"" WHEN "\"", ""),
     0},
    {"no status", RECORD("\"1\"", "\"re\"", "\"1\"", "\"NGN\"", "null", "\"" WHEN "\"", ""), 0},
    {"another status", RECORD("\"1\"", "\"re\"", "\"1\"", "\"NGN\"", "\"ok\"", "\"" WHEN "\"", ""),
     0},
    {"no time", RECORD("\"1\"", "\"re\"", "\"1\"", "\"NGN\"", "\"failed\"", "null", ""), 0},
    {"no such time", RECORD("\"1\"", "\"re\"", "\"1\"", "\"NGN\"", "\"failed\"", "\"now\"", ""), 0},
    {"no such time of change", GOOD_WITH(",\"updatedAt\":\"now\""), 0},
    {"the other mode", GOOD_WITH(",\"domain\":\"live\""), 0},
    {"a note of another type", GOOD_WITH(",\"merchantNote\":7"), 0},
    {"a charge of another type", GOOD_WITH(",\"transactionReference\":{}"), 0},
};

/* One record that lacks something essential fails the whole list, at any position. */
START_TEST(test_records)
{
    void *context = (upstream_start(), upstream_open());
    told_t told = {"", 0, APR_SUCCESS};
    int i;

    for (i = 0; i < UNIT_ROWS(record_rows); i++) {
        apr_status_t rv;

        upstream_answer(
            200, apr_psprintf(unit_pool, "[%s,%s]", PLAIN("re_1", WHEN), record_rows[i].record));
        rv = list(&told, context, UPSTREAM_NOW, UPSTREAM_NOW);
        ck_assert_msg(rv == (record_rows[i].good ? APR_SUCCESS : APR_EGENERAL), "%s: %d",
                      record_rows[i].name, rv);
        ck_assert_msg(told.count == 1 + record_rows[i].good, "%s", record_rows[i].name);
    }
}
END_TEST

#define NO_LIST "Its list of refunds is not a list of objects."

static const struct {
    const char *name;
    int status;
    const char *body;
    const char *said; /* in the log; NULL: nothing, because the payer learns the reason */
} fault_rows[] = {
    {"cut", 200, "[" PLAIN("re_1", WHEN), NO_LIST},
    {"HTML", 200, "<html></html>", NO_LIST},
    {"nothing", 200, "", NO_LIST},
    {"an object", 200, "{}", NO_LIST},
    {"204", 204, "", "It answers with status 204 instead of its list."},
    {"401", 401, "[]", NULL},
    {"404", 404, "[]", "It answers with status 404 instead of its list."},
    {"429", 429, "[]", NULL},
    {"500", 500, "[]", "It answers with status 500 instead of its list."},
};

static char logged[400]; /* the last warning; empty: none existed */

static void log_sink(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    (void)baton, (void)status;
    if (level <= PAY_LOG_WARNING) {
        apr_cpystrn(logged, text, sizeof(logged));
    }
}

START_TEST(test_faults)
{
    const char *said = fault_rows[_i].said;
    void *context = (upstream_start(), upstream_open());
    told_t told = {"", 0, APR_SUCCESS};

    pay_log_set_sink(log_sink, NULL);
    upstream_answer(fault_rows[_i].status, fault_rows[_i].body);
    ck_assert_msg(list(&told, context, UPSTREAM_NOW, UPSTREAM_NOW) == APR_EGENERAL, "%s",
                  fault_rows[_i].name);
    ck_assert_msg(said ? strstr(logged, said) != NULL : !*logged, "%s: %s", fault_rows[_i].name,
                  logged);
    pay_log_set_sink(NULL, NULL);
    logged[0] = '\0';
}
END_TEST

/* The receiver may end it. */
START_TEST(test_ended)
{
    void *context = (upstream_start(), upstream_open());
    told_t told = {"", 0, APR_ENOMEM};

    upstream_answer(200, "[" PLAIN("re_1", WHEN) "," PLAIN("re_2", WHEN) "]");
    ck_assert_int_eq(list(&told, context, UPSTREAM_NOW, UPSTREAM_NOW), APR_ENOMEM);
    ck_assert_int_eq(told.count, 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_told);
    tcase_add_loop_test(tcase, test_range, 0, sizeof(ranges) / sizeof(ranges[0]));
    tcase_add_test(tcase, test_windows);
    tcase_add_test(tcase, test_too_long);
    tcase_add_test(tcase, test_records);
    tcase_add_loop_test(tcase, test_faults, 0, UNIT_ROWS(fault_rows));
    tcase_add_test(tcase, test_ended);
}

UNIT_PROGRAM(add)
