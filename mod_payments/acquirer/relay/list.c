/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/answer.h"
#include "acquirer/relay/record.h"
#include "base/text/json_list.h"

#include <apr_hash.h>
#include <apr_strings.h>
#include <string.h>

#define MICROSECONDS_PER_DAY (APR_TIME_C(24) * 60 * 60 * APR_USEC_PER_SEC)
#define DATE_SIZE 16
#define DATE_STEP apr_time_from_sec(2) /* precision with which a Date shows the clock */

/* Consecutive windows share a day: whether an upstream takes its end date as a whole day or as the
 * start of the day, there is no gap between them. */
#define STEP_DAYS (PAY_RELAY_WINDOW_DAYS - 1)

typedef struct list_t {
    pay_relay_call_t *call;
    payments_trouble_t *trouble;
    apr_interval_time_t *retry_after;
    payments_record_fn *found;
    void *baton;
    apr_hash_t *seen; /* references of refunds */
    apr_pool_t *pool;
} list_t;

static apr_int64_t day_of(apr_time_t when)
{
    apr_int64_t day = when / MICROSECONDS_PER_DAY;

    return when % MICROSECONDS_PER_DAY < 0 ? day - 1 : day;
}

static const char *date_of(char out[DATE_SIZE], apr_int64_t day)
{
    pay_date_t date = pay_date_of_days(day);

    apr_snprintf(out, DATE_SIZE, "%04d-%02d-%02d", date.year, date.month, date.day);
    return out;
}

static apr_status_t record_pass(list_t *list, const pay_json_t *json, apr_pool_t *p)
{
    payments_record_t record;
    apr_status_t rv;

    rv = pay_relay_record_read(&record, list->call->relay->mode, json, p);
    if (rv != APR_SUCCESS) {
        pay_relay_tell(list->call->relay,
                       "A refund in its list lacks a required member, or has one in another form.");
        return APR_EGENERAL;
    }
    if (apr_hash_get(list->seen, record.reference, APR_HASH_KEY_STRING)) {
        return APR_SUCCESS;
    }
    apr_hash_set(list->seen, apr_pstrdup(list->pool, record.reference), APR_HASH_KEY_STRING, "");
    return list->found(list->baton, &record);
}

static apr_status_t text_read(list_t *list, const pay_relay_reply_t *reply, apr_pool_t *p)
{
    pay_json_list_t array;
    const pay_json_t *json;
    apr_pool_t *step;
    apr_status_t rv;

    rv = apr_pool_create(&step, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    pay_json_list_begin(&array, reply->text, reply->len);
    for (;;) {
        apr_pool_clear(step);
        rv = pay_json_list_next(&json, &array, step);
        if (rv != APR_SUCCESS) {
            break;
        }
        rv = record_pass(list, json, step);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    if (rv != APR_EOF) {
        pay_relay_tell(list->call->relay, "Its list of refunds is not a list of objects.");
        return APR_EGENERAL;
    }
    return APR_SUCCESS;
}

/* APR_ENOSPC: it is too long. */
static apr_status_t window_try(list_t *list, apr_int64_t first, apr_int64_t last, apr_pool_t *p)
{
    char start[DATE_SIZE];
    char end[DATE_SIZE];
    pay_relay_reply_t reply;
    pay_relay_answer_t answer;
    const char *path =
        apr_pstrcat(p, "/api/v1/refund/", date_of(start, first), "/", date_of(end, last), NULL);
    apr_status_t rv;

    rv = pay_relay_exchange(&reply, list->call, path, NULL, PAY_RELAY_LIST_MAX, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (reply.status == 200) {
        return text_read(list, &reply, p);
    }
    pay_relay_answer_read(&answer, list->trouble, list->retry_after, &reply, p);
    if (*list->trouble == PAYMENTS_NO_TROUBLE) {
        pay_relay_tell(
            list->call->relay,
            apr_psprintf(p, "It answers with status %d instead of its list.", answer.status));
    }
    return APR_EGENERAL;
}

static apr_status_t window_read(list_t *list, apr_int64_t first, apr_int64_t last)
{
    apr_int64_t middle = first + (last - first) / 2;
    apr_pool_t *p;
    apr_status_t rv;

    rv = apr_pool_create(&p, list->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = window_try(list, first, last, p);
    apr_pool_destroy(p);
    if (rv != APR_ENOSPC || middle == first) {
        return rv;
    }
    rv = window_read(list, first, middle);
    return rv == APR_SUCCESS ? window_read(list, middle, last) : rv;
}

apr_status_t pay_relay_records(pay_relay_call_t *call, payments_trouble_t *trouble,
                               apr_interval_time_t *retry_after, apr_int64_t first_day,
                               apr_int64_t last_day, payments_record_fn *found, void *baton,
                               apr_pool_t *p)
{
    list_t list = {call, trouble, retry_after, found, baton, apr_hash_make(p), p};
    apr_int64_t day = first_day;
    apr_status_t rv;

    do {
        apr_int64_t end = day + STEP_DAYS < last_day ? day + STEP_DAYS : last_day;

        rv = window_read(&list, day, end);
        day = end;
    } while (rv == APR_SUCCESS && day < last_day);
    return rv;
}

/* ---- the connector's list */

typedef struct range_t {
    const pay_relay_call_t *call;
    apr_time_t from, to;
    payments_record_fn *found;
    void *baton;
} range_t;

/*
 * The days extend beyond the range, which is by our clock, while the upstream dates its records by
 * its own: every record that may lie in the range is passed, so that a range until now lacks
 * nothing if its clock is ahead.
 */
static apr_status_t range_pass(void *baton, const payments_record_t *record)
{
    const range_t *range = baton;
    const int no_date = range->call->dates == PAY_RELAY_DATES_NONE;
    apr_interval_time_t ahead = range->call->ahead;

    if (ahead > -DATE_STEP && ahead < DATE_STEP) {
        ahead = 0;
    }
    if (record->created_at
            < range->from + (no_date ? -PAY_RELAY_APART_MAX : 0) + (ahead < 0 ? ahead : 0)
        || record->created_at > range->to + (no_date ? PAY_RELAY_APART_MAX : DATE_STEP)
                                    + (ahead > 0 ? ahead : 0)) {
        return APR_SUCCESS;
    }
    return range->found(range->baton, record);
}

apr_int64_t pay_relay_first_day(apr_time_t from)
{
    return day_of(from) - 1;
}

apr_int64_t pay_relay_last_day(apr_time_t to)
{
    return day_of(to) + 1;
}

/* Lists the days of the same range by the upstream's clock, if that differs. */
static apr_status_t list_apart(pay_relay_call_t *call, const range_t *range, apr_int64_t first_day,
                               apr_int64_t last_day, apr_pool_t *p)
{
    const apr_int64_t first = pay_relay_first_day(range->from + call->ahead);
    const apr_int64_t last = pay_relay_last_day(range->to + call->ahead);
    payments_trouble_t trouble = PAYMENTS_NO_TROUBLE;
    apr_interval_time_t retry_after = 0;

    if (last > last_day) {
        return pay_relay_records(call, &trouble, &retry_after, first > last_day ? first : last_day,
                                 last, range_pass, (void *)range, p);
    }
    if (first < first_day) {
        return pay_relay_records(call, &trouble, &retry_after, first,
                                 last < first_day ? last : first_day, range_pass, (void *)range, p);
    }
    return APR_SUCCESS;
}

apr_status_t pay_relay_refund_list(void *context, apr_time_t from, apr_time_t to,
                                   payments_record_fn *found, void *baton,
                                   apr_interval_time_t timeout, apr_pool_t *p)
{
    pay_relay_call_t call = pay_relay_call_begin(context, NULL, timeout);
    payments_trouble_t trouble = PAYMENTS_NO_TROUBLE;
    apr_interval_time_t retry_after = 0;
    const apr_time_t now = pay_time_now();
    range_t range = {&call, from, to < now ? to : now, found, baton};
    apr_int64_t first, last;
    apr_status_t rv;

    if (from > to) {
        return APR_EINVAL;
    }
    first = pay_relay_first_day(from);
    last = pay_relay_last_day(range.to);
    last = last < first ? first : last;
    rv = pay_relay_records(&call, &trouble, &retry_after, first, last, range_pass, &range, p);
    return rv == APR_SUCCESS ? list_apart(&call, &range, first, last, p) : rv;
}
