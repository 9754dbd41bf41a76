/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/failure_table.h"

#include "base/crypto/crypto.h"
#include "base/shared/clock.h"
#include "base/shared/shared_mutex.h"

#include <apr_strings.h>
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WAYS 8
#define SETS_MANY 8192   /* 65,536 keys: cards, addresses */
#define SETS_FEW 512     /* 4,096 keys: links, accounts */
#define LOCK_WAIT_MS 100 /* after it the process that holds it is stopped: nothing is counted */
#define ALIGNED(size) (((size) + 63) & ~(apr_size_t)63)

typedef struct entry_t {
    unsigned char key[PAY_FAILURE_KEY_LEN];
    pay_failure_owner_t owner;
    apr_time_t ends;  /* end of its counting window; in the past: the place is free */
    apr_time_t until; /* blocked until then; 0 or past: not blocked */
    int count;
    char hint[PAY_FAILURE_HINT_MAX + 1];
} entry_t;

typedef struct set_t {
    entry_t way[WAYS];
} set_t;

/* One kind. `used` has a byte for each set that ever held a key: a list visits no other one. */
typedef struct kind_table_t {
    pthread_mutex_t mutex;
    unsigned char used[SETS_MANY];
} kind_table_t;

struct pay_failure_table_t {
    unsigned char secret[PAY_FAILURE_SECRET_LEN];
    kind_table_t kind[PAY_FAILURE_TABLES];
};

static const apr_size_t sets_of[PAY_FAILURE_TABLES] = {
    [PAY_FAILURE_CARD] = SETS_MANY,    [PAY_FAILURE_LINK] = SETS_FEW,
    [PAY_FAILURE_ADDRESS] = SETS_MANY, [PAY_FAILURE_ACCOUNT] = SETS_FEW,
    [PAY_FAILURE_NOTICES] = SETS_FEW,
};

apr_size_t pay_failure_table_size(void)
{
    apr_size_t size = ALIGNED(sizeof(pay_failure_table_t));
    int kind;

    for (kind = 0; kind < PAY_FAILURE_TABLES; kind++) {
        size += sets_of[kind] * sizeof(set_t);
    }
    return size;
}

/* Returns the first set of a kind. */
static set_t *sets_at(pay_failure_table_t *table, pay_failure_kind_t kind)
{
    char *at = (char *)table + ALIGNED(sizeof(*table));
    int before;

    for (before = 0; before < (int)kind; before++) {
        at += sets_of[before] * sizeof(set_t);
    }
    return (set_t *)at;
}

pay_failure_table_t *pay_failure_table_at(void *memory)
{
    return memory;
}

apr_status_t pay_failure_table_init(pay_failure_table_t **out, void *memory,
                                    const unsigned char secret[PAY_FAILURE_SECRET_LEN])
{
    pay_failure_table_t *table = memory;
    int kind, rc = 0;

    *out = NULL;
    memcpy(table->secret, secret, PAY_FAILURE_SECRET_LEN);
    for (kind = 0; kind < PAY_FAILURE_TABLES && !rc; kind++) {
        rc = pay_shared_mutex_init(&table->kind[kind].mutex);
    }
    if (rc) {
        return rc;
    }
    *out = table;
    return APR_SUCCESS;
}

apr_time_t pay_failure_now(void)
{
    return pay_clock_us();
}

apr_status_t pay_failure_key(unsigned char out[PAY_FAILURE_KEY_LEN],
                             const pay_failure_table_t *table, const pay_failure_owner_t *owner,
                             pay_failure_kind_t kind, char label, const char *value)
{
    struct {
        pay_failure_owner_t owner;
        apr_uint32_t kind;
        apr_uint32_t label;
        unsigned char value[PAY_SHA256_LEN];
    } text;
    unsigned char digest[PAY_SHA256_LEN];
    apr_status_t rv;

    memset(&text, 0, sizeof(text));
    text.owner = *owner;
    text.kind = kind;
    text.label = (unsigned char)label;
    rv = pay_sha256(text.value, value, strlen(value));
    if (rv == APR_SUCCESS) {
        rv = pay_hmac_sha256(digest, table->secret, PAY_FAILURE_SECRET_LEN, &text, sizeof(text));
    }
    if (rv == APR_SUCCESS) {
        memcpy(out, digest, PAY_FAILURE_KEY_LEN);
    }
    return rv;
}

/*
 * Returns 0 if another process holds it, and is stopped. A process that died inside leaves at worst
 * one wrong count in its entry.
 */
static int lock(pay_failure_table_t *table, pay_failure_kind_t kind)
{
    return pay_shared_mutex_lock(&table->kind[kind].mutex, pay_clock_ms() + LOCK_WAIT_MS);
}

static void unlock(pay_failure_table_t *table, pay_failure_kind_t kind)
{
    pthread_mutex_unlock(&table->kind[kind].mutex);
}

static apr_size_t set_of(pay_failure_kind_t kind, const unsigned char *key)
{
    apr_uint32_t number;

    memcpy(&number, key, sizeof(number));
    return number & (sets_of[kind] - 1);
}

/* Returns 1 while any of its failures count. */
static int is_held(const entry_t *entry, apr_time_t now)
{
    return entry->ends > now || entry->until > now;
}

/* Under the lock; NULL: no failure of the key is on record. */
static entry_t *find(pay_failure_table_t *table, pay_failure_kind_t kind, const unsigned char *key,
                     apr_time_t now)
{
    set_t *set = &sets_at(table, kind)[set_of(kind, key)];
    int way;

    for (way = 0; way < WAYS; way++) {
        entry_t *entry = &set->way[way];

        if (is_held(entry, now) && !memcmp(entry->key, key, PAY_FAILURE_KEY_LEN)) {
            return entry;
        }
    }
    return NULL;
}

/* Returns 1 if `a` is the better one to take over. */
static int goes_before(const entry_t *a, const entry_t *b, apr_time_t now)
{
    const int a_blocked = a->until > now, b_blocked = b->until > now;

    if (a_blocked != b_blocked) {
        return b_blocked;
    }
    return a_blocked ? a->until < b->until : a->ends < b->ends;
}

/* Under the lock: clears a place for the key. */
static entry_t *take_place(pay_failure_table_t *table, pay_failure_kind_t kind,
                           const unsigned char *key, apr_time_t now)
{
    const apr_size_t number = set_of(kind, key);
    set_t *set = &sets_at(table, kind)[number];
    entry_t *place = &set->way[0];
    int way;

    for (way = 1; way < WAYS; way++) {
        if (goes_before(&set->way[way], place, now)) {
            place = &set->way[way];
        }
    }
    memset(place, 0, sizeof(*place));
    memcpy(place->key, key, PAY_FAILURE_KEY_LEN);
    table->kind[kind].used[number] = 1;
    return place;
}

int pay_failure_add(pay_failure_table_t *table, const pay_failure_owner_t *owner,
                    pay_failure_kind_t kind, const unsigned char key[PAY_FAILURE_KEY_LEN],
                    const char *hint, const pay_failure_limit_t *limit, apr_time_t now)
{
    entry_t *entry;
    int begins = 0;

    assert(limit->count >= 1);
    assert(limit->window >= 1);
    if (!lock(table, kind)) {
        return 0;
    }
    entry = find(table, kind, key, now);
    if (!entry) {
        entry = take_place(table, kind, key, now);
        entry->owner = *owner;
        apr_cpystrn(entry->hint, hint, sizeof(entry->hint));
    }
    if (entry->until <= now) {
        if (entry->ends <= now) {
            entry->ends = now + limit->window;
            entry->count = 0;
        }
        entry->count++;
        begins = entry->count >= limit->count;
    }
    if (begins) {
        entry->until = now + limit->window;
        entry->ends = 0; /* afterwards it is counted from the start */
    }
    unlock(table, kind);
    return begins;
}

apr_interval_time_t pay_failure_left(pay_failure_table_t *table, pay_failure_kind_t kind,
                                     const unsigned char key[PAY_FAILURE_KEY_LEN], apr_time_t now)
{
    apr_interval_time_t left = 0;
    const entry_t *entry;

    if (!lock(table, kind)) {
        return 0;
    }
    entry = find(table, kind, key, now);
    if (entry && entry->until > now) {
        left = entry->until - now;
    }
    unlock(table, kind);
    return left;
}

int pay_failure_is_known(pay_failure_table_t *table, pay_failure_kind_t kind,
                         const unsigned char key[PAY_FAILURE_KEY_LEN], apr_time_t now)
{
    int known;

    if (!lock(table, kind)) {
        return 0;
    }
    known = find(table, kind, key, now) != NULL;
    unlock(table, kind);
    return known;
}

static int is_of(const entry_t *entry, const pay_failure_owner_t *owner)
{
    return entry->owner.store == owner->store && entry->owner.account == owner->account
           && entry->owner.mode == owner->mode;
}

/* Under the lock. */
static entry_t *find_block(pay_failure_table_t *table, const pay_failure_owner_t *owner,
                           pay_failure_kind_t kind, const unsigned char *key, apr_time_t now)
{
    entry_t *entry = find(table, kind, key, now);

    return entry && entry->until > now && is_of(entry, owner) ? entry : NULL;
}

static void show(pay_failure_block_t *out, const entry_t *entry, pay_failure_kind_t kind,
                 apr_time_t now)
{
    out->kind = kind;
    memcpy(out->key, entry->key, PAY_FAILURE_KEY_LEN);
    memcpy(out->hint, entry->hint, sizeof(out->hint));
    out->hint[PAY_FAILURE_HINT_MAX] = '\0';
    out->left = entry->until - now;
}

apr_status_t pay_failure_find(pay_failure_block_t *out, pay_failure_table_t *table,
                              const pay_failure_owner_t *owner, pay_failure_kind_t kind,
                              const unsigned char key[PAY_FAILURE_KEY_LEN], apr_time_t now)
{
    const entry_t *entry;

    memset(out, 0, sizeof(*out));
    if (!lock(table, kind)) {
        return APR_TIMEUP;
    }
    entry = find_block(table, owner, kind, key, now);
    if (entry) {
        show(out, entry, kind, now);
    }
    unlock(table, kind);
    return entry ? APR_SUCCESS : APR_NOTFOUND;
}

apr_status_t pay_failure_lift(pay_failure_table_t *table, const pay_failure_owner_t *owner,
                              pay_failure_kind_t kind, const unsigned char key[PAY_FAILURE_KEY_LEN],
                              apr_time_t now)
{
    entry_t *entry;

    if (!lock(table, kind)) {
        return APR_TIMEUP;
    }
    entry = find_block(table, owner, kind, key, now);
    if (entry) {
        memset(entry, 0, sizeof(*entry));
    }
    unlock(table, kind);
    return entry ? APR_SUCCESS : APR_NOTFOUND;
}

/* ---- lists */

static int later_first(const void *a, const void *b)
{
    const apr_interval_time_t x = ((const pay_failure_block_t *)a)->left;
    const apr_interval_time_t y = ((const pay_failure_block_t *)b)->left;

    return x == y ? 0 : x < y ? 1 : -1;
}

/* If there is no room, replaces the block that ends first. */
static void keep(apr_array_header_t *out, const pay_failure_block_t *block)
{
    pay_failure_block_t *least;
    int i;

    if (out->nelts < PAY_FAILURE_LIST_MAX) {
        APR_ARRAY_PUSH(out, pay_failure_block_t) = *block;
        return;
    }
    least = &APR_ARRAY_IDX(out, 0, pay_failure_block_t);
    for (i = 1; i < out->nelts; i++) {
        if (APR_ARRAY_IDX(out, i, pay_failure_block_t).left < least->left) {
            least = &APR_ARRAY_IDX(out, i, pay_failure_block_t);
        }
    }
    if (least->left < block->left && least->kind != PAY_FAILURE_ACCOUNT) {
        *least = *block;
    }
}

static int list_kind(apr_array_header_t *out, pay_failure_table_t *table,
                     const pay_failure_owner_t *owner, pay_failure_kind_t kind, apr_time_t now)
{
    const set_t *sets = sets_at(table, kind);
    pay_failure_block_t block;
    int found = 0, way;
    apr_size_t i;

    if (!lock(table, kind)) {
        return 0;
    }
    for (i = 0; i < sets_of[kind]; i++) {
        for (way = 0; way < WAYS && table->kind[kind].used[i]; way++) {
            const entry_t *entry = &sets[i].way[way];

            if (entry->until > now && is_of(entry, owner)) {
                show(&block, entry, kind, now);
                keep(out, &block);
                found++;
            }
        }
    }
    unlock(table, kind);
    return found;
}

int pay_failure_list(apr_array_header_t *out, pay_failure_table_t *table,
                     const pay_failure_owner_t *owner, apr_time_t now)
{
    int kind, found, first;

    apr_array_clear(out);
    found = list_kind(out, table, owner, PAY_FAILURE_ACCOUNT, now);
    first = out->nelts;
    for (kind = 0; kind < PAY_FAILURE_ACCOUNT; kind++) {
        found += list_kind(out, table, owner, (pay_failure_kind_t)kind, now);
    }
    if (out->nelts > first + 1) {
        qsort(&APR_ARRAY_IDX(out, first, pay_failure_block_t), (size_t)(out->nelts - first),
              sizeof(pay_failure_block_t), later_first);
    }
    return found;
}
