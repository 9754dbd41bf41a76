/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/body.h"

#include "request.h"

#include <apr_buckets.h>
#include <httpd.h>
#include <sys/socket.h>

/*
 * Bodies as httpd's filters pass them, part by part: the part that is read, its length, and the
 * rest.
 */

#define BODY_MAX 65536
#define DISCARD_MAX (1 << 20)
#define JSON_TYPE "Content-Type: application/json"

/* The input: a text in parts of a size, then its end; then the result of the filters. */
static struct {
    char *text;
    apr_size_t len, part;
    apr_size_t at;
    apr_status_t rv; /* at the end of the text; 0: the body ends there */
    int metadata;    /* before each part */
    int calls;
    apr_off_t asked;             /* of the last call */
    apr_interval_time_t timeout; /* of the socket then */
} body;

/* The bytes are the test's, which examines them afterwards. */
static void keep(void *data)
{
    (void)data;
}

static int is_wiped(void)
{
    apr_size_t i;

    for (i = 0; i < body.len; i++) {
        if (body.text[i]) {
            return 0;
        }
    }
    return 1;
}

static apr_status_t read_part(apr_bucket_brigade *bb, apr_off_t size)
{
    apr_size_t len = body.len - body.at < body.part ? body.len - body.at : body.part;

    body.calls++;
    body.asked = size;
    if (stand_in.socket) {
        (void)apr_socket_timeout_get(stand_in.socket, &body.timeout);
    }
    len = (apr_off_t)len < size ? len : (apr_size_t)size;
    if (len == 0 && body.rv) {
        return body.rv;
    }
    if (body.metadata) {
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_flush_create(bb->bucket_alloc));
    }
    if (len > 0) {
        APR_BRIGADE_INSERT_TAIL(
            bb, apr_bucket_heap_create(body.text + body.at, len, keep, bb->bucket_alloc));
        body.at += len;
    }
    if (body.at == body.len && !body.rv) {
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(bb->bucket_alloc));
    }
    return APR_SUCCESS;
}

static request_rec *request_with(const char *headers, const char *text, apr_size_t part)
{
    request_rec *r = request_make(request_server());

    stand_in = (stand_in_t){.read_body = read_part};
    memset(&body, 0, sizeof(body));
    body.text = apr_pstrdup(unit_pool, text);
    body.len = strlen(text);
    body.part = part;
    r->connection->bucket_alloc = apr_bucket_alloc_create(unit_pool);
    request_headers(r, headers);
    return r;
}

/* {"a":"xxx"} of so many bytes. */
static char *json_of(apr_size_t len)
{
    char *text = apr_pcalloc(unit_pool, len + 1);

    memset(text, 'x', len);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + len - 2, "\"}", 2);
    return text;
}

static const char *length_of(apr_off_t len)
{
    return apr_psprintf(unit_pool, JSON_TYPE "\nContent-Length: %" APR_OFF_T_FMT, len);
}

/* ---- JSON */

static const struct {
    const char *name;
    apr_size_t len, part;
    int has_length;
    apr_off_t limit; /* LimitRequestBody */
    int want;        /* status; 0: it is read */
    apr_size_t read; /* bytes */
} size_rows[] = {
    {"at once", 100, 100, 1, 0, 0, 100},
    {"byte by byte", 100, 1, 1, 0, 0, 100},
    {"of unknown length", 100, 7, 0, 0, 0, 100},
    {"as large as the first buffer", 8191, 1000, 0, 0, 0, 8191},
    {"a byte more", 8192, 1000, 0, 0, 0, 8192},
    {"twice as large", 16384, 5000, 0, 0, 0, 16384},
    {"in one part that is far larger", 40000, 40000, 0, 0, 0, 40000},
    {"the largest", BODY_MAX, 5000, 1, 0, 0, BODY_MAX},
    {"the largest, of unknown length", BODY_MAX, 5000, 0, 0, 0, BODY_MAX},
    {"a byte too large", BODY_MAX + 1, 5000, 1, 0, 413, 0},
    {"a byte too large, as it turns out", BODY_MAX + 1, 5000, 0, 0, 413, BODY_MAX + 1},
    {"far too large", 100000, 5000, 0, 0, 413, BODY_MAX + 1},
    {"at the site's own limit", 100, 100, 1, 100, 0, 100},
    {"above it", 101, 100, 1, 100, 413, 0},
    {"above it, as it turns out", 500, 100, 0, 100, 413, 101},
    {"a limit above ours", BODY_MAX + 1, 5000, 0, BODY_MAX + 100, 413, BODY_MAX + 1},
};

START_TEST(test_sizes)
{
    request_rec *r =
        request_with(size_rows[_i].has_length ? length_of((apr_off_t)size_rows[_i].len) : JSON_TYPE,
                     json_of(size_rows[_i].len), size_rows[_i].part);
    const pay_problem_t *problem;
    const pay_json_t *json;
    const char *value;

    stand_in.body_limit = size_rows[_i].limit;
    problem = pay_body_read_json(&json, r);
    ck_assert_msg((problem ? problem->status : 0) == size_rows[_i].want, "%s: %d",
                  size_rows[_i].name, problem ? problem->status : 0);
    ck_assert_msg(body.at == size_rows[_i].read, "%s: %d", size_rows[_i].name, (int)body.at);
    ck_assert_int_le(body.asked, HUGE_STRING_LEN);
    if (problem) {
        ck_assert_ptr_null(json);
        return;
    }
    value = pay_json_string(json, "a");
    ck_assert_uint_eq(strlen(value), size_rows[_i].len - 8);
    ck_assert_uint_eq(strspn(value, "x"), size_rows[_i].len - 8);
    ck_assert_int_eq(pay_call_get(r)->body_done, 1);
    ck_assert_int_eq(r->connection->keepalive, AP_CONN_UNKNOWN);
}
END_TEST

static const struct {
    const char *headers, *text;
    int want; /* status; 0: it is read */
} type_rows[] = {
    {JSON_TYPE, "{}", 0},
    {JSON_TYPE, "", 400},
    {JSON_TYPE, "x", 400},
    {JSON_TYPE "\nContent-Encoding: gzip", "{}", 415},
    {JSON_TYPE "\nContent-Encoding: Identity", "{}", 0},
    {NULL, "{}", 415},
    {NULL, "", 400},
    {"Content-Type: text/plain", "{}", 415},
    {JSON_TYPE "\nContent-Length: x", "{}", 0},
    {JSON_TYPE "\nContent-Length: -1", "{}", 0},
    {JSON_TYPE "\nContent-Length: 99999999999999999999", "{}", 0},
};

START_TEST(test_types)
{
    request_rec *r = request_with(type_rows[_i].headers, type_rows[_i].text, 10);
    const pay_problem_t *problem;
    const pay_json_t *json;

    body.metadata = 1;
    problem = pay_body_read_json(&json, r);
    ck_assert_msg((problem ? problem->status : 0) == type_rows[_i].want, "%s %s: %d",
                  type_rows[_i].headers, type_rows[_i].text, problem ? problem->status : 0);
    ck_assert_msg(!json == (type_rows[_i].want != 0), "%s", type_rows[_i].headers);
}
END_TEST

static const struct {
    apr_status_t rv;
    int want, answered;
} failure_rows[] = {
    {APR_EGENERAL, 400, 0},
    {APR_TIMEUP, 408, 0},
    {APR_ENOSPC, 413, 0},
    {AP_FILTER_ERROR, 400, 1},
};

/* The failures below are no bodies, and the connection is useless afterwards. */
START_TEST(test_failures)
{
    request_rec *r = request_with(JSON_TYPE, "{\"a\":", 10);
    const pay_problem_t *problem;
    const pay_json_t *json;

    body.rv = failure_rows[_i].rv;
    problem = pay_body_read_json(&json, r);
    ck_assert_ptr_nonnull(problem);
    ck_assert_int_eq(problem->status, failure_rows[_i].want);
    ck_assert_int_eq(pay_call_get(r)->answered, failure_rows[_i].answered);
    ck_assert_int_eq(pay_call_get(r)->body_done, 1);
    ck_assert_int_eq(r->connection->keepalive, AP_CONN_CLOSE);
    ck_assert_int_eq(body.calls, 2);
}
END_TEST

/* A change in the dashboard may contain a password: no part of it remains in httpd's memory. */
START_TEST(test_what_may_be_secret_is_wiped)
{
    request_rec *r = request_with(JSON_TYPE, json_of(20000), 1000);
    struct pay_dashboard_t *dashboard = apr_pcalloc(unit_pool, 1000);
    const pay_json_t *json;

    ck_assert_ptr_null(pay_body_read_json(&json, r));
    ck_assert(!is_wiped());
    r = request_with(JSON_TYPE, json_of(20000), 1000);
    pay_call_make(r)->dashboard = dashboard;
    ck_assert_ptr_null(pay_body_read_json(&json, r));
    ck_assert(is_wiped());
    ck_assert_uint_eq(strlen(pay_json_string(json, "a")), 20000 - 8);
}
END_TEST

/* ---- forms */

#define FORM_TYPE "Content-Type: application/x-www-form-urlencoded"

static const struct {
    const char *headers, *text;
    int want, count;
} form_rows[] = {
    {FORM_TYPE, "a=1&b=2", 0, 2},
    {FORM_TYPE "; charset=utf-8", "a=%C3%BC", 0, 1},
    {"Content-Type: Application/X-WWW-Form-URLEncoded", "a=1", 0, 1},
    {FORM_TYPE, "", 0, 0},
    {FORM_TYPE, "a=%0a", 400, 0},
    {FORM_TYPE, "%01=a", 400, 0},
    {FORM_TYPE, "a=%ff", 400, 0},
    {FORM_TYPE "x", "a=1", 415, 0},
    {"Content-Type: application/x-www-form-urlencodex", "a=1", 415, 0},
    {NULL, "a=1", 415, 0},
    {JSON_TYPE, "a=1", 415, 0},
    {FORM_TYPE "\nContent-Encoding: br", "a=1", 415, 0},
};

START_TEST(test_forms)
{
    request_rec *r = request_with(form_rows[_i].headers, form_rows[_i].text, 3);
    const pay_problem_t *problem;
    pay_fields_t fields;

    memset(&fields, 1, sizeof(fields));
    problem = pay_body_read_fields(&fields, r);
    ck_assert_msg((problem ? problem->status : 0) == form_rows[_i].want, "%s %s",
                  form_rows[_i].headers, form_rows[_i].text);
    ck_assert_int_eq(fields.count, form_rows[_i].count);
    ck_assert_msg(is_wiped() == (form_rows[_i].want != 415 || body.at > 0), "%s",
                  form_rows[_i].headers);
}
END_TEST

START_TEST(test_largest_form)
{
    char *text = apr_pcalloc(unit_pool, PAY_FIELDS_LEN_MAX + 2);
    pay_fields_t fields;

    memset(text, 'a', PAY_FIELDS_LEN_MAX);
    text[1] = '=';
    ck_assert_ptr_null(pay_body_read_fields(&fields, request_with(FORM_TYPE, text, 5000)));
    ck_assert_int_eq(fields.count, 1);
    text[PAY_FIELDS_LEN_MAX] = 'a';
    ck_assert_int_eq(pay_body_read_fields(&fields, request_with(FORM_TYPE, text, 5000))->status,
                     413);
    ck_assert_int_eq(fields.count, 0);
}
END_TEST

/* ---- what is left of a body */

static const struct {
    const char *name;
    apr_off_t length; /* -1: not known */
    apr_off_t limit;
    apr_size_t len; /* what comes */
    apr_size_t read;
    int closes;
} rest_rows[] = {
    {"none", 0, 0, 0, 0, 0},
    {"a short one", 100, 0, 100, 100, 0},
    {"of unknown length", -1, 0, 100, 100, 0},
    {"the longest", DISCARD_MAX, 0, DISCARD_MAX, DISCARD_MAX, 0},
    {"a byte more, which is read as well", DISCARD_MAX + 1, 0, DISCARD_MAX + 1, DISCARD_MAX + 1, 0},
    {"two bytes more", DISCARD_MAX + 2, 0, DISCARD_MAX + 2, 0, 1},
    {"without an end", -1, 0, 2 * DISCARD_MAX, DISCARD_MAX + 1, 1},
    {"at the site's own limit", 100, 100, 100, 100, 0},
    {"above it", 101, 100, 101, 0, 1},
    {"above it, as it turns out", -1, 100, 200, 100, 1},
    {"a limit as high as ours", -1, DISCARD_MAX, 2 * DISCARD_MAX, DISCARD_MAX, 1},
    {"a limit above ours", -1, DISCARD_MAX + 1, 2 * DISCARD_MAX, DISCARD_MAX + 1, 1},
};

START_TEST(test_rest)
{
    request_rec *r = request_with(NULL, "", 1 << 16);

    body.text = apr_pcalloc(unit_pool, rest_rows[_i].len + 1);
    body.len = rest_rows[_i].len;
    stand_in.body_limit = rest_rows[_i].limit;
    if (rest_rows[_i].length >= 0) {
        apr_table_setn(r->headers_in, "Content-Length",
                       apr_psprintf(unit_pool, "%" APR_OFF_T_FMT, rest_rows[_i].length));
    }
    ck_assert_ptr_null(pay_body_discard(r));
    ck_assert_msg(body.at == rest_rows[_i].read, "%s: %d", rest_rows[_i].name, (int)body.at);
    ck_assert_msg((r->connection->keepalive == AP_CONN_CLOSE) == rest_rows[_i].closes, "%s",
                  rest_rows[_i].name);
}
END_TEST

START_TEST(test_nothing_is_left)
{
    request_rec *r = request_with(NULL, "abc", 10);

    pay_call_make(r)->body_done = 1;
    ck_assert_ptr_null(pay_body_discard(r));
    ck_assert_int_eq(body.calls, 0);
    ck_assert_int_eq(r->connection->keepalive, AP_CONN_UNKNOWN);
}
END_TEST

static const struct {
    apr_interval_time_t before, meanwhile;
    int is_stream; /* of HTTP/2 */
} wait_rows[] = {
    {apr_time_from_sec(60), apr_time_from_sec(2), 0},
    {apr_time_from_sec(2), apr_time_from_sec(2), 0},
    {apr_time_from_sec(1), apr_time_from_sec(1), 0},
    {-1, apr_time_from_sec(2), 0},
    {apr_time_from_sec(60), apr_time_from_sec(60), 1},
};

/* Does not wait long for data that nobody needs, and restores the site's own time-out. */
START_TEST(test_waits)
{
    request_rec *r = request_with(NULL, "abc", 10);
    apr_interval_time_t after;
    conn_rec master;

    ck_assert_int_eq(
        apr_socket_create(&stand_in.socket, APR_INET, SOCK_STREAM, APR_PROTO_TCP, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(apr_socket_timeout_set(stand_in.socket, wait_rows[_i].before), APR_SUCCESS);
    r->connection->master = wait_rows[_i].is_stream ? &master : NULL;
    ck_assert_ptr_null(pay_body_discard(r));
    ck_assert_int_eq(body.timeout, wait_rows[_i].meanwhile);
    ck_assert_int_eq(apr_socket_timeout_get(stand_in.socket, &after), APR_SUCCESS);
    ck_assert_int_eq(after, wait_rows[_i].before);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_sizes, 0, UNIT_ROWS(size_rows));
    tcase_add_loop_test(tcase, test_types, 0, UNIT_ROWS(type_rows));
    tcase_add_loop_test(tcase, test_failures, 0, UNIT_ROWS(failure_rows));
    tcase_add_test(tcase, test_what_may_be_secret_is_wiped);
    tcase_add_loop_test(tcase, test_forms, 0, UNIT_ROWS(form_rows));
    tcase_add_test(tcase, test_largest_form);
    tcase_add_loop_test(tcase, test_rest, 0, UNIT_ROWS(rest_rows));
    tcase_add_test(tcase, test_nothing_is_left);
    tcase_add_loop_test(tcase, test_waits, 0, UNIT_ROWS(wait_rows));
}

UNIT_PROGRAM(add)
