/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/meter.h"

#include "base/shared/clock.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define LINE 64 /* bytes of a cache line */
#define SHARD_BITS 3
#define SHARDS (1 << SHARD_BITS)
#define GOLDEN APR_UINT64_C(0x9e3779b97f4a7c15)

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "meters are shared by processes: no hidden locks");

typedef _Atomic apr_uint64_t cell_t;

/* Threads count in one of several copies, so that they do not contend for the same cache lines. */
typedef struct shard_t {
    _Alignas(LINE) cell_t counter[PAY_METER_COUNTER_COUNT];
    cell_t bucket[PAY_METER_HISTOGRAM_COUNT][PAY_METER_BUCKETS + 1];
    cell_t sum_us[PAY_METER_HISTOGRAM_COUNT];
    cell_t request[PAY_METER_OPERATIONS_MAX][PAY_METER_STATUSES];
} shard_t;

struct pay_meter_t {
    _Alignas(LINE) apr_uint64_t mark;
    shard_t shard[SHARDS];
};

/* Memory of another build is not read as this one's. */
#define MARK ((APR_UINT64_C(0x7061796d) << 32) | (PAY_METER_LAYOUT << 24) | sizeof(pay_meter_t))
_Static_assert(sizeof(pay_meter_t) < (1 << 24), "the size has 24 bits of the mark");

static const apr_interval_time_t bounds_us[] = {
    100,    250,    500,    1000,    2500,    5000,    10000,    25000,    50000,
    100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000, 30000000,
};
_Static_assert(sizeof(bounds_us) / sizeof(bounds_us[0]) == PAY_METER_BUCKETS, "one row a bucket");

/* The first of them is the most frequent answer. */
static const short statuses[] = {
    200, 202, 204, 400, 401, 403, 404, 405, 406, 408, 409, 411, 413, 414,
    415, 417, 421, 426, 429, 431, 500, 501, 502, 503, 504, 505, 0,
};
_Static_assert(sizeof(statuses) / sizeof(statuses[0]) == PAY_METER_STATUSES, "one row a status");

static pay_meter_t *used;
static apr_uint64_t salt;

apr_size_t pay_meter_size(void)
{
    return sizeof(pay_meter_t) + LINE - 1;
}

pay_meter_t *pay_meter_init(void *memory)
{
    uintptr_t aligned = ((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1);
    pay_meter_t *meter = (pay_meter_t *)aligned;

    if (meter->mark != MARK) {
        memset(meter, 0, sizeof(*meter));
        meter->mark = MARK;
    }
    return meter;
}

void pay_meter_use(pay_meter_t *meter)
{
    used = meter;
    salt = (apr_uint64_t)getpid(); /* forked processes have their threads at the same addresses */
}

/* By the thread: it keeps its cache lines. */
static shard_t *own_shard(pay_meter_t *meter)
{
    apr_uint64_t self = (apr_uint64_t)(uintptr_t)pthread_self();

    return &meter->shard[((self ^ (salt << 32)) * GOLDEN) >> (64 - SHARD_BITS)];
}

static void add(cell_t *cell, apr_uint64_t count)
{
    atomic_fetch_add_explicit(cell, count, memory_order_relaxed);
}

void pay_meter_add(pay_meter_counter_t counter, apr_uint64_t count)
{
    assert(counter < PAY_METER_COUNTER_COUNT);
    if (used) {
        add(&own_shard(used)->counter[counter], count);
    }
}

void pay_meter_observe(pay_meter_histogram_t histogram, apr_interval_time_t time)
{
    shard_t *shard;
    int i = 0;

    assert(histogram < PAY_METER_HISTOGRAM_COUNT);
    if (!used) {
        return;
    }
    if (time < 0) {
        time = 0;
    }
    while (i < PAY_METER_BUCKETS && time > bounds_us[i]) {
        i++;
    }
    shard = own_shard(used);
    add(&shard->bucket[histogram][i], 1);
    add(&shard->sum_us[histogram], (apr_uint64_t)time);
}

void pay_meter_request(int operation, int status)
{
    int row = 0;

    assert(operation >= 0);
    assert(operation < PAY_METER_OPERATIONS_MAX);
    if (!used) {
        return;
    }
    while (row < PAY_METER_STATUSES - 1 && statuses[row] != status) {
        row++;
    }
    add(&own_shard(used)->request[operation][row], 1);
}

apr_time_t pay_meter_now(void)
{
    return pay_clock_us();
}

/* Sums the same cell of all shards: `first` is its place in one. */
static apr_uint64_t sum(const pay_meter_t *meter, const cell_t *first)
{
    apr_size_t offset = (apr_size_t)((const char *)first - (const char *)&meter->shard[0]);
    apr_uint64_t total = 0;
    int i;

    for (i = 0; i < SHARDS; i++) {
        const char *shard = (const char *)&meter->shard[i];

        total += atomic_load_explicit((const cell_t *)(shard + offset), memory_order_relaxed);
    }
    return total;
}

apr_uint64_t pay_meter_read(const pay_meter_t *meter, pay_meter_counter_t counter)
{
    assert(counter < PAY_METER_COUNTER_COUNT);
    return sum(meter, &meter->shard[0].counter[counter]);
}

void pay_meter_read_times(pay_meter_times_t *out, const pay_meter_t *meter,
                          pay_meter_histogram_t histogram)
{
    int i;

    memset(out, 0, sizeof(*out));
    assert(histogram < PAY_METER_HISTOGRAM_COUNT);
    for (i = 0; i <= PAY_METER_BUCKETS; i++) {
        out->bucket[i] = sum(meter, &meter->shard[0].bucket[histogram][i]);
        out->count += out->bucket[i];
    }
    out->sum_us = sum(meter, &meter->shard[0].sum_us[histogram]);
}

apr_uint64_t pay_meter_read_requests(const pay_meter_t *meter, int operation, int row)
{
    assert(operation >= 0);
    assert(operation < PAY_METER_OPERATIONS_MAX);
    assert(row >= 0);
    assert(row < PAY_METER_STATUSES);
    return sum(meter, &meter->shard[0].request[operation][row]);
}

apr_interval_time_t pay_meter_bound(int bucket)
{
    assert(bucket >= 0);
    assert(bucket < PAY_METER_BUCKETS);
    return bounds_us[bucket];
}

int pay_meter_status(int row)
{
    assert(row >= 0);
    assert(row < PAY_METER_STATUSES);
    return statuses[row];
}
