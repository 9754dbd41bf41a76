/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/key_usage.h"

#include <apr_thread_mutex.h>
#include <string.h>

#define MINUTE apr_time_from_sec(60)

typedef struct use_t {
    unsigned char digest[PAY_SHA256_LEN];
    apr_time_t used_at;   /* a whole minute */
    apr_time_t stored_at; /* the last value in the store; once they are equal the entry may be
                           * reused */
} use_t;

/* Few keys are in use at a time, so they are searched one by one: 256 take less than 1 us. */
struct pay_key_usage_t {
    apr_thread_mutex_t *mutex;
    int count;
    use_t uses[PAY_KEY_USAGE_MAX];
};

apr_status_t pay_key_usage_create(pay_key_usage_t **out, apr_pool_t *p)
{
    pay_key_usage_t *usage = apr_pcalloc(p, sizeof(*usage));
    apr_status_t rv;

    *out = NULL;
    rv = apr_thread_mutex_create(&usage->mutex, APR_THREAD_MUTEX_UNNESTED, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = usage;
    return APR_SUCCESS;
}

static use_t *find(pay_key_usage_t *usage, const unsigned char digest[PAY_SHA256_LEN])
{
    int i;

    for (i = 0; i < usage->count; i++) {
        if (!memcmp(usage->uses[i].digest, digest, PAY_SHA256_LEN)) {
            return &usage->uses[i];
        }
    }
    return NULL;
}

/*
 * Returns a new entry for the key; in a full table the entry of a key whose use is stored, NULL if
 * none exists.
 */
static use_t *add(pay_key_usage_t *usage, const unsigned char digest[PAY_SHA256_LEN])
{
    use_t *use = NULL;
    int i;

    if (usage->count < PAY_KEY_USAGE_MAX) {
        use = &usage->uses[usage->count++];
    }
    for (i = 0; i < usage->count && !use; i++) {
        if (usage->uses[i].used_at <= usage->uses[i].stored_at) {
            use = &usage->uses[i];
        }
    }
    if (use) {
        memset(use, 0, sizeof(*use));
        memcpy(use->digest, digest, PAY_SHA256_LEN);
    }
    return use;
}

void pay_key_usage_note(pay_key_usage_t *usage, const unsigned char digest[PAY_SHA256_LEN],
                        apr_time_t now)
{
    apr_time_t minute = now - now % MINUTE;
    use_t *use;

    apr_thread_mutex_lock(usage->mutex);
    use = find(usage, digest);
    if (!use) {
        use = add(usage, digest);
    }
    if (use && use->used_at < minute) {
        use->used_at = minute;
    }
    apr_thread_mutex_unlock(usage->mutex);
}

static apr_array_header_t *collect(pay_key_usage_t *usage, apr_pool_t *p)
{
    apr_array_header_t *used = apr_array_make(p, PAY_KEY_USAGE_MAX, sizeof(pay_api_key_t));
    pay_api_key_t *key;
    int i;

    apr_thread_mutex_lock(usage->mutex);
    for (i = 0; i < usage->count; i++) {
        if (usage->uses[i].used_at > usage->uses[i].stored_at) {
            key = apr_array_push(used);
            memset(key, 0, sizeof(*key));
            memcpy(key->digest, usage->uses[i].digest, PAY_SHA256_LEN);
            key->last_used_at = usage->uses[i].used_at;
        }
    }
    apr_thread_mutex_unlock(usage->mutex);
    return used;
}

static void mark_stored(pay_key_usage_t *usage, const apr_array_header_t *used)
{
    const pay_api_key_t *key;
    use_t *use;
    int i;

    apr_thread_mutex_lock(usage->mutex);
    for (i = 0; i < used->nelts; i++) {
        key = &APR_ARRAY_IDX(used, i, pay_api_key_t);
        use = find(usage, key->digest);
        if (use) {
            use->stored_at = key->last_used_at;
        }
    }
    apr_thread_mutex_unlock(usage->mutex);
}

apr_status_t pay_key_usage_flush(pay_key_usage_t *usage, pay_store_t *store, apr_pool_t *p)
{
    apr_array_header_t *used = collect(usage, p);
    apr_status_t rv;

    if (!used->nelts) {
        return APR_SUCCESS;
    }
    rv = pay_store_key_touch(store, used, p);
    if (rv == APR_SUCCESS) {
        mark_stored(usage, used);
    }
    return rv;
}
