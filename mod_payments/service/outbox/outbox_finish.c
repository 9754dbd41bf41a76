/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/shared/meter.h"
#include "base/text/time.h"
#include "service/outbox/outbox_parts.h"

#include <apr_strings.h>
#include <string.h>

#define FINISH_MS 20        /* results wait for others to share a transaction */
#define FINISH_AGAIN_MS 100 /* after the store has refused */
#define WITHHELD_TOLD_MS (3600 * 1000)

void pay_outbox_ended(pay_outbox_t *outbox, pay_outbox_try_t *one)
{
    if (!outbox->ended) {
        outbox->ended_since_ms = pay_time_boot_ms();
        outbox->ended_tail = &outbox->ended;
    }
    *outbox->ended_tail = one;
    outbox->ended_tail = &one->next;
    outbox->ended_count++;
}

apr_int64_t pay_outbox_finish_due_ms(const pay_outbox_t *outbox)
{
    const apr_int64_t due_ms =
        outbox->ended_count < PAY_STORE_LEASES_MAX ? outbox->ended_since_ms + FINISH_MS : 0;

    return due_ms < outbox->finish_due_ms ? outbox->finish_due_ms : due_ms;
}

static void try_free(pay_outbox_try_t *one)
{
    pay_outbox_settings_drop(one->settings);
    apr_pool_destroy(one->pool);
}

/* Finishes the first `count` ended attempts. */
static void drop_first(pay_outbox_t *outbox, int count)
{
    pay_outbox_try_t *one;

    while (count-- > 0) {
        one = outbox->ended;
        outbox->ended = one->next;
        outbox->ended_count--;
        try_free(one);
    }
    outbox->ended_since_ms = pay_time_boot_ms();
}

static const char *whose(const pay_outbox_try_t *one, apr_pool_t *p)
{
    const pay_event_t *event = one->event;

    return apr_psprintf(p, "the %s of account %u in %s mode",
                        pay_endpoint_kind_name(event->endpoint), event->scope.account,
                        pay_mode_name(event->scope.mode));
}

/* Anyone who has a public key of Test Mode can cause this at will: it is logged only now and
 * then. */
static void log_withheld(pay_outbox_t *outbox, const pay_outbox_try_t *one, const char *name)
{
    const apr_int64_t now_ms = pay_time_boot_ms();

    if (outbox->withheld_told_ms && now_ms - outbox->withheld_told_ms < WITHHELD_TOLD_MS) {
        return;
    }
    outbox->withheld_told_ms = now_ms;
    pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
            PAYLOGNO(00770) "event %s for %s, and perhaps others: %s (logged once an hour at most)",
            one->id, name, one->error);
}

static void log_result(pay_outbox_t *outbox, const pay_outbox_try_t *one,
                       const pay_event_result_t *result)
{
    const char *name = whose(one, outbox->finish_pool);

    if (!result->stored) {
        pay_log(PAY_LOG_INFO, APR_SUCCESS,
                PAYLOGNO(00263) "event %s for %s: a late result is ignored; a newer attempt owns "
                                "this event",
                one->id, name);
    } else if (result->end == PAY_EVENT_WITHHELD) {
        log_withheld(outbox, one, name);
    } else if (result->parked) {
        pay_meter_add(one->event->endpoint == PAY_ENDPOINT_WEBHOOK ? PAY_METER_WEBHOOK_PARKED
                                                                   : PAY_METER_MAIL_PARKED,
                      1);
        /* The person who requested a test sees the result. */
        pay_log(one->event->kind == PAY_EVENT_TEST ? PAY_LOG_INFO : PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00264) "event %s for %s is parked: %s", one->id, name, one->error);
    } else if (result->end == PAY_EVENT_DELIVERED) {
        pay_log(PAY_LOG_DEBUG, APR_SUCCESS, PAYLOGNO(00265) "event %s for %s is delivered", one->id,
                name);
    } else if (result->end == PAY_EVENT_FAILED) {
        pay_log(PAY_LOG_INFO, APR_SUCCESS,
                PAYLOGNO(00266) "event %s for %s is sent again in %d s: %s", one->id, name,
                (int)apr_time_sec(result->due_at - pay_time_now()), one->error);
    }
}

/* Returns 1 for the first of the failed results of an endpoint. */
static int is_first_failure(const pay_outbox_try_t *one, const apr_array_header_t *results)
{
    const pay_event_result_t *result;
    int i;

    for (i = 0; i < results->nelts; i++) {
        result = &APR_ARRAY_IDX(results, i, pay_event_result_t);
        if (result->stored && result->end == PAY_EVENT_FAILED
            && result->event->endpoint == one->event->endpoint
            && result->event->scope.account == one->event->scope.account
            && result->event->scope.mode == one->event->scope.mode) {
            return result->event == one->event;
        }
    }
    return 0;
}

/* Logs it once, if these results, stored from `since` on, made the endpoint failing. */
static void log_failing(pay_outbox_t *outbox, const pay_outbox_try_t *one,
                        const apr_array_header_t *results, apr_time_t since)
{
    pay_endpoint_t *endpoint;
    apr_status_t rv;

    if (!is_first_failure(one, results)) {
        return;
    }
    rv = pay_store_endpoint_get(&endpoint, outbox->store, &one->event->scope, one->event->endpoint,
                                outbox->finish_pool);
    if (rv != APR_SUCCESS || !pay_endpoint_is_failing(endpoint)
        || endpoint->failing_since < since) {
        return;
    }
    pay_log(PAY_LOG_WARNING, APR_SUCCESS,
            PAYLOGNO(00267) "%s fails: one event at a time is tried until a delivery succeeds: %s",
            whose(one, outbox->finish_pool), one->error);
}

/* Results without a valid lease now belong to another process; ours would change nothing. */
static void drop_late(pay_outbox_t *outbox)
{
    const apr_int64_t now_ms = pay_time_boot_ms();
    int dropped = 0;

    while (outbox->ended && outbox->ended->event->lease_until_ms <= now_ms) {
        drop_first(outbox, 1);
        dropped++;
    }
    if (dropped > 0) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00268) "the results of %d deliveries could not be stored before their "
                                "leases ended: these deliveries are repeated",
                dropped);
    }
}

static apr_array_header_t *gather(const pay_outbox_t *outbox, int limit)
{
    apr_array_header_t *results =
        apr_array_make(outbox->finish_pool, limit, sizeof(pay_event_result_t));
    const pay_outbox_try_t *one;
    pay_event_result_t *result;

    for (one = outbox->ended; one && results->nelts < limit; one = one->next) {
        result = &APR_ARRAY_PUSH(results, pay_event_result_t);
        memset(result, 0, sizeof(*result));
        result->event = one->event;
        result->end = one->end;
        result->status = one->status;
        result->error = one->error;
        result->answer = one->answer;
    }
    return results;
}

/* Stores the first `limit` of them. */
static apr_status_t store_first(int *count, pay_outbox_t *outbox, int limit)
{
    const pay_outbox_try_t *one = outbox->ended;
    apr_array_header_t *results;
    apr_status_t rv;
    const apr_time_t since = pay_time_now();
    int i;

    apr_pool_clear(outbox->finish_pool);
    results = gather(outbox, limit);
    *count = results->nelts;
    rv = pay_store_event_finish(outbox->store, results, outbox->finish_pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < results->nelts; i++, one = one->next) {
        const pay_event_result_t *result = &APR_ARRAY_IDX(results, i, pay_event_result_t);

        outbox->delivered += result->stored && result->end == PAY_EVENT_DELIVERED;
        log_result(outbox, one, result);
        log_failing(outbox, one, results, since);
    }
    drop_first(outbox, results->nelts);
    outbox->take_again = 1; /* events that waited for these may be due */
    return APR_SUCCESS;
}

/* One that cannot be stored must not delay the others of its batch. */
static apr_status_t store_one_by_one(pay_outbox_t *outbox, int count)
{
    apr_status_t rv = APR_SUCCESS;
    int one;

    while (count-- > 0 && rv == APR_SUCCESS) {
        rv = store_first(&one, outbox, 1);
        if (rv == PAY_STORE_ECORRUPT) {
            pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00269) "the result of event %s could not be stored",
                    outbox->ended->id);
            drop_first(outbox, 1);
            rv = APR_SUCCESS;
        }
    }
    return rv;
}

apr_status_t pay_outbox_finish(pay_outbox_t *outbox, int now)
{
    apr_status_t rv = APR_SUCCESS;
    int count;

    while (outbox->ended && rv == APR_SUCCESS
           && (now || pay_time_boot_ms() >= pay_outbox_finish_due_ms(outbox))) {
        rv = store_first(&count, outbox, PAY_STORE_LEASES_MAX);
        if (rv == PAY_STORE_ECORRUPT) {
            rv = store_one_by_one(outbox, count);
        }
    }
    if (rv != APR_SUCCESS) {
        outbox->finish_due_ms = pay_time_boot_ms() + FINISH_AGAIN_MS;
        drop_late(outbox);
    }
    return rv;
}
