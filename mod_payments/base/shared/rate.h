/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_RATE_H
#define PAY_BASE_SHARED_RATE_H

/*
 * Limits on how often something is done (docs/operations.md, "Limits"): a token bucket for each key
 * (an API key, an address), in a table that processes share. Lock-free.
 *
 * The table has a fixed size: PAY_RATE_WAYS buckets in each set, and the hash of a key chooses the
 * set. A key that finds no bucket takes over the one of its set that will be full soonest, with its
 * remaining tokens. Hence, under any load:
 * - a key never gets more than burst + time / interval tokens, even if its bucket was taken over
 *   and the key comes back;
 * - a new key has a full bucket unless PAY_RATE_WAYS other keys of its set are in use; then it
 *   lacks as many tokens as the least used of these.
 */

#include <apr.h>
#include <apr_time.h>

#define PAY_RATE_WAYS 8
#define PAY_RATE_KEY_MAX 64    /* bytes of a key */
#define PAY_RATE_SECRET_LEN 16 /* of a table, so that nobody can aim at a set */
#define PAY_RATE_REFILL_MAX apr_time_from_sec(86400) /* burst * interval */

/* One token arrives every `interval`, up to `burst` of them; interval 0: no limit. */
typedef struct pay_rate_limit_t {
    apr_interval_time_t interval;
    apr_int64_t burst;
} pay_rate_limit_t;

typedef struct pay_rate_table_t pay_rate_table_t;

/* Returns the bytes that a table of `sets` sets needs; `sets` is a power of two. */
apr_size_t pay_rate_size(apr_size_t sets);

/*
 * Makes a table in `memory`: zeroed (the function does not touch it, so that unused pages cost
 * nothing), of any alignment, at least pay_rate_size(sets) bytes. `now` is pay_rate_now().
 */
pay_rate_table_t *pay_rate_init(void *memory, apr_size_t sets,
                                const unsigned char secret[PAY_RATE_SECRET_LEN], apr_time_t now);

/*
 * Returns 1 if a token of `key` was taken. Returns 0 if its bucket is empty, and sets *wait to the
 * time until there is one (at least 1). `limit` must have an interval, and the bucket must fill
 * within PAY_RATE_REFILL_MAX. The same key under another limit is another key. A caller that loses
 * a race a thousand times in a row gets no token.
 */
int pay_rate_take(apr_interval_time_t *wait, pay_rate_table_t *table, const pay_rate_limit_t *limit,
                  const void *key, apr_size_t len, apr_time_t now);

/*
 * Returns a token that turned out not to be needed. If buckets are short, one that was taken over
 * meanwhile may leave its key one token more than above for each token that was out.
 */
void pay_rate_give(pay_rate_table_t *table, const pay_rate_limit_t *limit, const void *key,
                   apr_size_t len, apr_time_t now);

/* The clock of the tables: microseconds since an arbitrary start, the same in all processes, never
 * set back. */
apr_time_t pay_rate_now(void);

#endif
