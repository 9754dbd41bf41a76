/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/meter_text.h"

#include <apr_strings.h>
#include <assert.h>
#include <stdarg.h>
#include <string.h>

/* In the order of pay_meter_counter_t. */
static const struct {
    const char *mode;
    const char *outcome;
} charges[] = {
    {"test", "successful"}, {"live", "successful"}, {"test", "failed"},
    {"live", "failed"},     {"test", "pending"},    {"live", "pending"},
};

static const struct {
    const char *channel;
    const char *result;
} deliveries[] = {
    {"webhook", "delivered"}, {"webhook", "failed"}, {"webhook", "parked"},
    {"mail", "delivered"},    {"mail", "failed"},    {"mail", "parked"},
};

static const char *const refusals[] = {"in_flight", "breaker", "credentials", "slots"};

static const char *const limited[] = {"card", "link", "address", "account"};

static const struct {
    const char *name;
    const char *help;
} calls[] = {
    {"payments_acquirer_unknown_total",
     "Calls to an acquirer that ended without the outcome of the payment."},
    {"payments_acquirer_not_sent_total", "Calls to an acquirer that did not reach it."},
    {"payments_acquirer_queries_total", "Queries to an acquirer for the outcome of a payment."},
};
#define CHARGES (sizeof(charges) / sizeof(charges[0]))
#define DELIVERIES (sizeof(deliveries) / sizeof(deliveries[0]))
#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))
#define CALLS (sizeof(calls) / sizeof(calls[0]))
#define LIMITED (sizeof(limited) / sizeof(limited[0]))
_Static_assert(CHARGES == PAY_METER_WEBHOOK_DELIVERED, "one row a counter of charges");
_Static_assert(CHARGES + DELIVERIES == PAY_METER_REFUSED_IN_FLIGHT, "one row a counter");
_Static_assert(CHARGES + DELIVERIES + REFUSALS == PAY_METER_ACQUIRER_UNKNOWN, "one row a reason");
_Static_assert(CHARGES + DELIVERIES + REFUSALS + CALLS == PAY_METER_FAILURE_LIMITED_CARD,
               "one row a counter");
_Static_assert(PAY_METER_FAILURE_LIMITED_CARD + LIMITED == PAY_METER_COUNTER_COUNT,
               "one row a kind");

static const struct {
    const char *name;
    const char *help;
} histograms[] = {
    [PAY_METER_COMMIT] = {"payments_commit_seconds", "Time of one commit of a store to disk."},
    [PAY_METER_ACQUIRER] = {"payments_acquirer_seconds",
                            "Time of one call to an acquirer outside this server."},
    [PAY_METER_DELIVERY] = {"payments_delivery_seconds",
                            "Time of one attempt to deliver a webhook or a mail."},
    [PAY_METER_ACQUIRER_CONNECT] = {"payments_acquirer_connect_seconds",
                                    "Time until the connection for a call to an acquirer was "
                                    "made; none for a connection that was kept alive."},
    [PAY_METER_ACQUIRER_TLS] =
        {"payments_acquirer_tls_seconds",
         "Time until TLS for a call to an acquirer was agreed on, including the connection; none "
         "for a connection that was kept alive."},
    [PAY_METER_ACQUIRER_FIRST_BYTE] = {"payments_acquirer_first_byte_seconds",
                                       "Time until the first byte of an acquirer's answer."},
};
_Static_assert(sizeof(histograms) / sizeof(histograms[0]) == PAY_METER_HISTOGRAM_COUNT,
               "one row a histogram");

void pay_meter_line(apr_array_header_t *lines, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    APR_ARRAY_PUSH(lines, const char *) = apr_pvsprintf(lines->pool, format, args);
    va_end(args);
}

void pay_meter_family(apr_array_header_t *lines, const char *name, const char *type,
                      const char *help)
{
    pay_meter_line(lines, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* In the notation of programs: 0.0001, 2.5, 30. */
static const char *seconds(apr_uint64_t time_us, apr_pool_t *p)
{
    char *text = apr_psprintf(p, "%" APR_UINT64_T_FMT ".%06" APR_UINT64_T_FMT,
                              time_us / APR_USEC_PER_SEC, time_us % APR_USEC_PER_SEC);
    char *end = text + strlen(text);

    while (end[-1] == '0') {
        *--end = '\0';
    }
    if (end[-1] == '.') {
        end[-1] = '\0';
    }
    return text;
}

static void requests(apr_array_header_t *lines, const pay_meter_t *meter,
                     const char *const *operations, int count)
{
    apr_uint64_t value;
    const char *status;
    int i, row;

    pay_meter_family(lines, "payments_requests_total", "counter",
                     "Answered requests by operation (none: refused before the operation was "
                     "known) and status.");
    for (i = 0; i < count; i++) {
        for (row = 0; row < PAY_METER_STATUSES; row++) {
            value = pay_meter_read_requests(meter, i, row);
            if (!value) {
                continue;
            }
            status = row == PAY_METER_STATUSES - 1 ? "other"
                                                   : apr_itoa(lines->pool, pay_meter_status(row));
            pay_meter_line(lines,
                           "payments_requests_total{operation=\"%s\",status=\"%s\"} "
                           "%" APR_UINT64_T_FMT "\n",
                           operations[i], status, value);
        }
    }
}

static void counters(apr_array_header_t *lines, const pay_meter_t *meter)
{
    apr_size_t i;

    pay_meter_family(lines, "payments_charges_total", "counter",
                     "Charges decided, by mode and outcome; pending: answered 202, and counted "
                     "again once decided.");
    for (i = 0; i < CHARGES; i++) {
        pay_meter_line(
            lines, "payments_charges_total{mode=\"%s\",outcome=\"%s\"} %" APR_UINT64_T_FMT "\n",
            charges[i].mode, charges[i].outcome, pay_meter_read(meter, (pay_meter_counter_t)i));
    }
    pay_meter_family(lines, "payments_deliveries_total", "counter",
                     "Delivery attempts by channel and result; parked: given up.");
    for (i = 0; i < DELIVERIES; i++) {
        pay_meter_line(lines,
                       "payments_deliveries_total{channel=\"%s\",result=\"%s\"} %" APR_UINT64_T_FMT
                       "\n",
                       deliveries[i].channel, deliveries[i].result,
                       pay_meter_read(meter, (pay_meter_counter_t)(CHARGES + i)));
    }
}

static void acquirer(apr_array_header_t *lines, const pay_meter_t *meter)
{
    apr_size_t i;

    pay_meter_family(
        lines, "payments_acquirer_refused_total", "counter",
        "Charges and refunds answered 503 because of the acquirer, before anything was written, "
        "by reason.");
    for (i = 0; i < REFUSALS; i++) {
        pay_meter_line(
            lines, "payments_acquirer_refused_total{reason=\"%s\"} %" APR_UINT64_T_FMT "\n",
            refusals[i],
            pay_meter_read(meter, (pay_meter_counter_t)(PAY_METER_REFUSED_IN_FLIGHT + i)));
    }
    for (i = 0; i < CALLS; i++) {
        pay_meter_family(lines, calls[i].name, "counter", calls[i].help);
        pay_meter_line(
            lines, "%s %" APR_UINT64_T_FMT "\n", calls[i].name,
            pay_meter_read(meter, (pay_meter_counter_t)(PAY_METER_ACQUIRER_UNKNOWN + i)));
    }
    pay_meter_family(lines, "payments_failure_limited_total", "counter",
                     "Payments answered 429 because too many had failed (PaymentsFailureLimit), "
                     "by kind of limit.");
    for (i = 0; i < LIMITED; i++) {
        pay_meter_line(
            lines, "payments_failure_limited_total{kind=\"%s\"} %" APR_UINT64_T_FMT "\n",
            limited[i],
            pay_meter_read(meter, (pay_meter_counter_t)(PAY_METER_FAILURE_LIMITED_CARD + i)));
    }
}

static void times(apr_array_header_t *lines, const pay_meter_t *meter, pay_meter_histogram_t which)
{
    const char *name = histograms[which].name;
    pay_meter_times_t read;
    apr_uint64_t below = 0;
    const char *bound;
    int i;

    pay_meter_read_times(&read, meter, which);
    pay_meter_family(lines, name, "histogram", histograms[which].help);
    for (i = 0; i <= PAY_METER_BUCKETS; i++) {
        below += read.bucket[i];
        bound =
            i < PAY_METER_BUCKETS ? seconds((apr_uint64_t)pay_meter_bound(i), lines->pool) : "+Inf";
        pay_meter_line(lines, "%s_bucket{le=\"%s\"} %" APR_UINT64_T_FMT "\n", name, bound, below);
    }
    pay_meter_line(lines, "%s_sum %s\n", name, seconds(read.sum_us, lines->pool));
    pay_meter_line(lines, "%s_count %" APR_UINT64_T_FMT "\n", name, read.count);
}

void pay_meter_text(apr_array_header_t *lines, const pay_meter_t *meter,
                    const char *const *operations, int count)
{
    int i;

    assert(count <= PAY_METER_OPERATIONS_MAX);
    requests(lines, meter, operations, count);
    counters(lines, meter);
    acquirer(lines, meter);
    for (i = 0; i < PAY_METER_HISTOGRAM_COUNT; i++) {
        times(lines, meter, (pay_meter_histogram_t)i);
    }
}
