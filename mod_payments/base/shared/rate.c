/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/rate.h"

#include "base/shared/clock.h"

#include <apr_siphash.h>
#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define LINE 64 /* bytes of a cache line */
#define TAG_BITS 16
#define TIME_BITS (64 - TAG_BITS)
#define TIME_END (APR_INT64_C(1) << TIME_BITS)
#define TIME_MASK ((apr_uint64_t)TIME_END - 1)
#define AHEAD_MAX (2 * PAY_RATE_REFILL_MAX) /* a full refill, and callers whose clock is late */
#define TRIES_MAX 1000

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "tables are shared by processes: no hidden locks");
_Static_assert(APR_SIPHASH_KSIZE == PAY_RATE_SECRET_LEN, "the hash's own key");

/*
 * A bucket is one word, so that one compare-and-set changes its key and its content together: a tag
 * of the key in the upper bits, and below it the time at which it is full again (the theoretical
 * arrival time of the algorithm GCRA, ITU-T I.371), in microseconds since the table was made, plus
 * 1. Two keys with the same tag in a set share a bucket: rare, and together they never get more
 * than one key's tokens.
 *
 * Times are compared modulo 2^48, which is 8.9 years. No time is ever further ahead than AHEAD_MAX:
 * one that seems to be is long past, like that of an unused bucket.
 *
 * The time in a word only ever grows, except for returned tokens. Together with the rule that the
 * smallest one is taken over, with its time, this is why the table forgets nothing: a key whose
 * bucket was taken over finds, in every bucket of its set, a time no earlier than its own was. It
 * is also why one key never has two buckets: of two callers that find none and choose different
 * words, one has seen a word that has changed since, and its compare-and-set fails. A returned
 * token is one microsecond short, so that no word occurs twice.
 */
typedef struct set_t {
    _Atomic apr_uint64_t bucket[PAY_RATE_WAYS];
} set_t;

_Static_assert(sizeof(set_t) == LINE, "a set is one cache line");

struct pay_rate_table_t {
    _Alignas(LINE) unsigned char secret[PAY_RATE_SECRET_LEN];
    apr_time_t start;
    apr_uint64_t set_mask;
    set_t set[];
};

apr_size_t pay_rate_size(apr_size_t sets)
{
    assert(sets >= 1);
    assert((sets & (sets - 1)) == 0);
    return sizeof(pay_rate_table_t) + sets * sizeof(set_t) + LINE - 1;
}

pay_rate_table_t *pay_rate_init(void *memory, apr_size_t sets,
                                const unsigned char secret[PAY_RATE_SECRET_LEN], apr_time_t now)
{
    uintptr_t aligned = ((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1);
    pay_rate_table_t *table = (pay_rate_table_t *)aligned;

    assert(sets >= 1);
    assert((sets & (sets - 1)) == 0);
    memcpy(table->secret, secret, PAY_RATE_SECRET_LEN);
    table->start = now;
    table->set_mask = sets - 1;
    return table;
}

apr_time_t pay_rate_now(void)
{
    return pay_clock_us();
}

static apr_uint64_t hash_of(const pay_rate_table_t *table, const pay_rate_limit_t *limit,
                            const void *key, apr_size_t len)
{
    unsigned char text[sizeof(*limit) + PAY_RATE_KEY_MAX];

    assert(len <= PAY_RATE_KEY_MAX);
    memcpy(text, limit, sizeof(*limit));
    memcpy(text + sizeof(*limit), key, len);
    return apr_siphash24(text, sizeof(*limit) + len, table->secret);
}

/* Returns how long after `now` the bucket is full; not above 0: it is full. */
static apr_interval_time_t ahead_of(apr_uint64_t word, apr_uint64_t now)
{
    apr_int64_t ahead = (apr_int64_t)((word - now) & TIME_MASK);

    return ahead <= AHEAD_MAX ? ahead : ahead - TIME_END;
}

/* Finds the way of the key with this tag, else the one to take over; *word is its content. */
static int find(apr_uint64_t *word, set_t *set, apr_uint64_t tag, apr_uint64_t now)
{
    apr_interval_time_t least = 0;
    int found = -1;
    int way;

    for (way = 0; way < PAY_RATE_WAYS; way++) {
        apr_uint64_t seen = atomic_load(&set->bucket[way]);
        apr_interval_time_t ahead = ahead_of(seen, now);

        if (seen >> TIME_BITS == tag) {
            *word = seen;
            return way;
        }
        if (found < 0 || ahead < least) {
            *word = seen;
            least = ahead;
            found = way;
        }
    }
    return found;
}

int pay_rate_take(apr_interval_time_t *wait, pay_rate_table_t *table, const pay_rate_limit_t *limit,
                  const void *key, apr_size_t len, apr_time_t now)
{
    apr_uint64_t hash = hash_of(table, limit, key, len);
    apr_uint64_t time = (apr_uint64_t)(now - table->start) + 1;
    set_t *set = &table->set[hash & table->set_mask];
    apr_uint64_t tag = hash >> TIME_BITS;
    int tries;

    assert(limit->interval >= 1);
    assert(limit->burst >= 1);
    assert(limit->burst <= PAY_RATE_REFILL_MAX / limit->interval);
    for (tries = 0; tries < TRIES_MAX; tries++) {
        apr_uint64_t word = 0;
        int way = find(&word, set, tag, time);
        apr_interval_time_t ahead = ahead_of(word, time);
        apr_uint64_t next;

        if (ahead < 0) {
            ahead = 0;
        }
        *wait = ahead - (limit->burst - 1) * limit->interval;
        if (*wait > 0) {
            return 0;
        }
        next = tag << TIME_BITS | ((time + (apr_uint64_t)(ahead + limit->interval)) & TIME_MASK);
        if (atomic_compare_exchange_strong(&set->bucket[way], &word, next)) {
            *wait = 0;
            return 1;
        }
    }
    *wait = limit->interval;
    return 0;
}

void pay_rate_give(pay_rate_table_t *table, const pay_rate_limit_t *limit, const void *key,
                   apr_size_t len, apr_time_t now)
{
    apr_uint64_t hash = hash_of(table, limit, key, len);
    apr_uint64_t time = (apr_uint64_t)(now - table->start) + 1;
    set_t *set = &table->set[hash & table->set_mask];
    apr_uint64_t tag = hash >> TIME_BITS;
    int tries;

    for (tries = 0; tries < TRIES_MAX; tries++) {
        apr_uint64_t word = 0;
        int way = find(&word, set, tag, time);
        apr_uint64_t next =
            tag << TIME_BITS | ((word - (apr_uint64_t)limit->interval + 1) & TIME_MASK);

        if (word >> TIME_BITS != tag || ahead_of(word, time) <= 0) {
            return; /* another key has taken the bucket over, or it is full */
        }
        if (atomic_compare_exchange_strong(&set->bucket[way], &word, next)) {
            return;
        }
    }
}
