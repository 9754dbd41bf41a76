/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/parts.h"
#include "base/log.h"
#include "base/net/transfer.h"

#include <apr_allocator.h>
#include <apr_atomic.h>
#include <apr_strings.h>
#include <string.h>

#define SLICE apr_time_from_msec(200) /* how often a call checks whether the process ends */
#define OVERTIME_MS 1000              /* after it a transfer without an end is given up */
#define ROUNDING_MS 10                /* by which libcurl's own time-out may come earlier */
#define TOLD_AGAIN_MS 60000
#define MEMORY_KEPT (64 * 1024)

/* A connection that may be kept alive, with its state. One call at a time has it. */
typedef struct pay_relay_line_t {
    struct pay_relay_line_t *next;
    apr_pool_t *pool;
    pay_transfers_t *set;
    apr_int64_t used_ms; /* boot clock */
} pay_relay_line_t;

static void lines_destroy(pay_relay_line_t *line)
{
    while (line) {
        pay_relay_line_t *next = line->next;

        apr_pool_destroy(line->pool);
        line = next;
    }
}

static apr_status_t lines_close(void *baton)
{
    pay_relay_t *relay = baton;

    lines_destroy(relay->kept);
    relay->kept = NULL;
    relay->kept_count = 0;
    return APR_SUCCESS;
}

apr_status_t pay_relay_lines_open(pay_relay_t *relay, apr_pool_t *p)
{
    apr_status_t rv;

    relay->idle_ms_max = PAY_RELAY_IDLE_MS_MAX;
    rv = apr_thread_mutex_create(&relay->mutex, APR_THREAD_MUTEX_DEFAULT, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    apr_pool_cleanup_register(p, relay, lines_close, apr_pool_cleanup_null);
    return pay_transfer_init();
}

/* In a pool without a parent: any thread may make and destroy it. */
static apr_status_t line_make(pay_relay_line_t **out)
{
    apr_allocator_t *allocator;
    apr_pool_t *pool;
    apr_status_t rv;

    *out = NULL;
    rv = apr_allocator_create(&allocator);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    apr_allocator_max_free_set(allocator, MEMORY_KEPT);
    rv = apr_pool_create_unmanaged_ex(&pool, NULL, allocator);
    if (rv != APR_SUCCESS) {
        apr_allocator_destroy(allocator);
        return rv;
    }
    apr_allocator_owner_set(allocator, pool);
    *out = apr_pcalloc(pool, sizeof(**out));
    (*out)->pool = pool;
    rv = pay_transfers_create(&(*out)->set, pool);
    if (rv != APR_SUCCESS) {
        apr_pool_destroy(pool);
        *out = NULL;
    }
    return rv;
}

/* Takes the one used last: the fewest connections stay in use, and the others grow old. */
static pay_relay_line_t *line_kept(pay_relay_t *relay)
{
    pay_relay_line_t *line;

    (void)apr_thread_mutex_lock(relay->mutex);
    line = relay->kept;
    if (line) {
        relay->kept = line->next;
        relay->kept_count--;
    }
    (void)apr_thread_mutex_unlock(relay->mutex);
    return line;
}

/*
 * A request on a connection that the upstream is closing would be lost, and its outcome unknown:
 * such connections are not used again, nor those that are about to be closed.
 */
static apr_status_t line_take(pay_relay_line_t **out, pay_relay_t *relay)
{
    while ((*out = line_kept(relay)) != NULL) {
        if (pay_time_boot_ms() - (*out)->used_ms < relay->idle_ms_max
            && pay_transfers_quiet((*out)->set)) {
            return APR_SUCCESS;
        }
        apr_pool_destroy((*out)->pool);
    }
    return line_make(out);
}

/*
 * Returns those that nobody will use again; the mutex is held: each was used later than the next.
 */
static pay_relay_line_t *lines_old(pay_relay_t *relay, apr_int64_t now_ms)
{
    pay_relay_line_t **at = &relay->kept;
    pay_relay_line_t *old;
    int count = 0;

    while (*at && now_ms - (*at)->used_ms < relay->idle_ms_max) {
        at = &(*at)->next;
        count++;
    }
    old = *at;
    *at = NULL;
    relay->kept_count = count;
    return old;
}

/* Closes one that is still at work, or one too many. */
static void line_give(pay_relay_t *relay, pay_relay_line_t *line)
{
    pay_relay_line_t *old = NULL;
    int keep = 0;

    if (pay_transfers_count(line->set) == 0 && !apr_atomic_read32(&relay->stopping)) {
        (void)apr_thread_mutex_lock(relay->mutex);
        line->used_ms = pay_time_boot_ms();
        old = lines_old(relay, line->used_ms);
        keep = relay->kept_count < PAY_RELAY_KEPT_MAX;
        if (keep) {
            line->next = relay->kept;
            relay->kept = line;
            relay->kept_count++;
        }
        (void)apr_thread_mutex_unlock(relay->mutex);
    }
    lines_destroy(old);
    if (!keep) {
        apr_pool_destroy(line->pool);
    }
}

pay_relay_call_t pay_relay_call_begin(pay_relay_t *relay, payments_times_t *times,
                                      apr_interval_time_t timeout)
{
    pay_relay_call_t call = {.relay = relay, .times = times, .began_ms = pay_time_boot_ms()};

    call.until_ms = call.began_ms + apr_time_as_msec(timeout);
    return call;
}

void pay_relay_tell(pay_relay_t *relay, const char *sentence)
{
    apr_int64_t now_ms = pay_time_boot_ms();
    int again;

    (void)apr_thread_mutex_lock(relay->mutex);
    again = strncmp(relay->told, sentence, sizeof(relay->told) - 1) == 0
            && now_ms - relay->told_ms < TOLD_AGAIN_MS;
    if (!again) {
        apr_cpystrn(relay->told, sentence, sizeof(relay->told));
        relay->told_ms = now_ms;
    }
    (void)apr_thread_mutex_unlock(relay->mutex);
    pay_log(again ? PAY_LOG_DEBUG : PAY_LOG_WARNING, APR_SUCCESS, PAYLOGNO(00400) "relay %s: %s",
            relay->host, sentence);
}

/* Logs once when its clock and ours diverge, and once when they agree again. */
static void dates_tell(pay_relay_t *relay, const pay_relay_call_t *call)
{
    const int apart = call->dates != PAY_RELAY_DATES_AGREE;
    int was;

    (void)apr_thread_mutex_lock(relay->mutex);
    was = relay->apart;
    relay->apart = apart;
    (void)apr_thread_mutex_unlock(relay->mutex);
    if (apart == was) {
        return;
    }
    if (!apart) {
        pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                PAYLOGNO(00711) "relay %s: its Date agrees with this server's clock again",
                relay->host);
    } else if (call->dates == PAY_RELAY_DATES_NONE) {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00712) "relay %s: its answers have no Date, or one that cannot be read: "
                                "the relay is not believed when it does not know a payment",
                relay->host);
    } else {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00710) "relay %s: its Date is %" APR_INT64_T_FMT
                                " seconds %s this server's clock: one of the two clocks is wrong. "
                                "Until they agree, the relay is not believed when it does not "
                                "know a payment",
                relay->host, apr_time_sec(call->apart < 0 ? -call->apart : call->apart),
                call->apart < 0 ? "behind" : "ahead of");
    }
}

/* Notes the Date of an answer that came just now. */
static void dates_note(pay_relay_call_t *call, apr_time_t date)
{
    pay_relay_dates_t dates = PAY_RELAY_DATES_NONE;

    if (date) {
        call->ahead = date - pay_time_now();
        dates = call->ahead < -PAY_RELAY_APART_MAX || call->ahead > PAY_RELAY_APART_MAX
                    ? PAY_RELAY_DATES_APART
                    : PAY_RELAY_DATES_AGREE;
    }
    if (dates == PAY_RELAY_DATES_APART) {
        call->apart = call->ahead;
    }
    if (dates > call->dates) {
        call->dates = dates;
    }
}

/* The times of the first request count as the call's. */
static void times_note(pay_relay_call_t *call, const pay_transfer_t *transfer)
{
    payments_times_t *times = call->times;

    if (!times) {
        return;
    }
    if (call->requests == 1) {
        times->connect = transfer->connect_time;
        times->tls = transfer->tls_time;
        times->first_byte = transfer->first_byte_time;
    }
    times->total += transfer->time;
}

/* APR_SUCCESS: it has ended, with or without an answer. */
static apr_status_t transfer_wait(pay_relay_call_t *call, pay_relay_line_t *line)
{
    while (!pay_transfers_next(line->set)) {
        if (apr_atomic_read32(&call->relay->stopping)) {
            return APR_EINTR;
        }
        if (pay_time_boot_ms() > call->until_ms + OVERTIME_MS) {
            return APR_TIMEUP;
        }
        pay_transfers_run(line->set, SLICE);
    }
    return APR_SUCCESS;
}

static apr_status_t status_of(const pay_relay_call_t *call, const pay_transfer_t *transfer)
{
    switch (transfer->end) {
    case PAY_TRANSFER_ANSWERED:
        return transfer->content ? APR_SUCCESS : APR_EGENERAL;
    case PAY_TRANSFER_NOT_SENT:
    case PAY_TRANSFER_FORBIDDEN:
        return PAYMENTS_NOT_SENT;
    default:
        break;
    }
    if (transfer->too_long) {
        return APR_ENOSPC;
    }
    return pay_time_boot_ms() >= call->until_ms - ROUNDING_MS ? APR_TIMEUP : APR_EGENERAL;
}

static apr_status_t line_use(pay_relay_call_t *call, pay_relay_line_t *line,
                             pay_transfer_t *transfer, int left_ms)
{
    apr_status_t rv;

    pay_transfers_limits(
        line->set, left_ms < PAY_TRANSFER_CONNECT_MS ? left_ms : PAY_TRANSFER_CONNECT_MS, left_ms);
    rv = pay_transfer_start(line->set, transfer);
    if (rv != APR_SUCCESS) {
        pay_relay_tell(call->relay, "A request could not be started.");
        return PAYMENTS_NOT_SENT;
    }
    call->requests++;
    rv = transfer_wait(call, line);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    times_note(call, transfer);
    rv = status_of(call, transfer);
    if (rv != APR_SUCCESS && *transfer->error) {
        pay_relay_tell(call->relay, transfer->error);
    }
    return rv;
}

apr_status_t pay_relay_exchange(pay_relay_reply_t *out, pay_relay_call_t *call, const char *path,
                                const pay_writer_t *body, apr_size_t len_max, apr_pool_t *p)
{
    pay_relay_t *relay = call->relay;
    apr_int64_t left_ms = call->until_ms - pay_time_boot_ms();
    pay_transfer_t *transfer;
    pay_relay_line_t *line;
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    out->text = "";
    out->retry_after = -1;
    if (!body && apr_atomic_read32(&relay->stopping)) {
        return APR_EINTR;
    }
    if (left_ms <= 0 || left_ms > APR_INT32_MAX || apr_atomic_read32(&relay->stopping)) {
        return PAYMENTS_NOT_SENT;
    }
    rv = line_take(&line, relay);
    if (rv != APR_SUCCESS) {
        return PAYMENTS_NOT_SENT;
    }
    transfer = apr_pcalloc(p, sizeof(*transfer));
    transfer->url = apr_pstrcat(p, relay->base, path, NULL);
    transfer->headers = body ? relay->post_headers : relay->get_headers;
    transfer->body = body ? body->text : NULL;
    transfer->body_len = body ? body->len : 0;
    transfer->ca_file = relay->ca_file;
    transfer->content_max = len_max;
    transfer->pool = p;
    rv = line_use(call, line, transfer, (int)left_ms);
    line_give(relay, line); /* a running transfer is ended here, while `transfer` exists */
    if (rv == APR_SUCCESS) {
        out->status = transfer->status;
        out->text = transfer->content;
        out->len = transfer->content_len;
        out->retry_after = transfer->retry_after;
        out->replayed = transfer->replayed;
        dates_note(call, transfer->date);
        if (!body) {
            dates_tell(relay, call);
        }
    }
    return rv;
}
