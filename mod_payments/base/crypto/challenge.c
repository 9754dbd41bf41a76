/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/challenge.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define TRIES_BITS 3
#define RANDOM_BITS 29
#define TRIES_MASK ((apr_uint64_t)(1 << TRIES_BITS) - 1)
#define RANDOM_MASK ((apr_uint64_t)(1 << RANDOM_BITS) - 1)
#define SECONDS_SHIFT (TRIES_BITS + RANDOM_BITS)
#define SECONDS_MASK APR_UINT64_C(0xffffffff)
#define LIFETIME (PAY_CHALLENGE_MINUTES * 60)
#define RACES_MAX 1000

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "tables are shared by processes: no hidden locks");
_Static_assert(PAY_CHALLENGE_TRIES_MAX <= (int)TRIES_MASK, "a word can count them");

/* Without 0 and O, 1 and I. */
static const char letters[] = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
_Static_assert(sizeof(letters) - 1 == 32, "five bits each");

/*
 * A place is one word: the second of the boot clock at which the challenge began, random bits, and
 * the number of tries. 0: no challenge. One compare-and-set takes a try, or uses it up.
 */
struct pay_challenge_table_t {
    unsigned char secret[PAY_CHALLENGE_SECRET_LEN];
    apr_size_t places;
    _Atomic apr_uint64_t word[];
};

apr_size_t pay_challenge_size(apr_size_t places)
{
    assert(places >= 1);
    return sizeof(pay_challenge_table_t) + places * sizeof(apr_uint64_t);
}

pay_challenge_table_t *pay_challenge_init(void *memory, apr_size_t places,
                                          const unsigned char secret[PAY_CHALLENGE_SECRET_LEN])
{
    pay_challenge_table_t *table = memory;

    assert(places >= 1);
    memcpy(table->secret, secret, PAY_CHALLENGE_SECRET_LEN);
    table->places = places;
    return table;
}

static _Atomic apr_uint64_t *place_of(pay_challenge_table_t *table,
                                      const unsigned char digest[PAY_SHA256_LEN])
{
    apr_uint64_t number;

    memcpy(&number, digest, sizeof(number));
    return &table->word[number % table->places];
}

static apr_uint64_t seconds_of(apr_int64_t now_ms)
{
    return (apr_uint64_t)(now_ms / 1000) & SECONDS_MASK;
}

static int is_open(apr_uint64_t word, apr_int64_t now_ms, apr_uint64_t lifetime)
{
    const apr_uint64_t age = (seconds_of(now_ms) - (word >> SECONDS_SHIFT)) & SECONDS_MASK;

    return word != 0 && age < lifetime && (word & TRIES_MASK) < PAY_CHALLENGE_TRIES_MAX;
}

/* The code of one challenge, the same at every try. */
static apr_status_t code_of(char out[PAY_CHALLENGE_CODE_LEN + 1],
                            const pay_challenge_table_t *table,
                            const unsigned char digest[PAY_SHA256_LEN], apr_uint64_t word)
{
    const apr_uint64_t challenge = word & ~TRIES_MASK;
    unsigned char text[PAY_SHA256_LEN + sizeof(challenge)], mac[PAY_SHA256_LEN];
    apr_status_t rv;
    int i;

    memcpy(text, digest, PAY_SHA256_LEN);
    memcpy(text + PAY_SHA256_LEN, &challenge, sizeof(challenge));
    rv = pay_hmac_sha256(mac, table->secret, sizeof(table->secret), text, sizeof(text));
    for (i = 0; i < PAY_CHALLENGE_CODE_LEN; i++) {
        out[i] = rv == APR_SUCCESS ? letters[mac[i] % 32] : '\0';
    }
    out[PAY_CHALLENGE_CODE_LEN] = '\0';
    pay_wipe(mac, sizeof(mac));
    return rv;
}

apr_status_t pay_challenge_code(char out[PAY_CHALLENGE_CODE_LEN + 1], pay_challenge_table_t *table,
                                const unsigned char digest[PAY_SHA256_LEN], apr_int64_t now_ms)
{
    _Atomic apr_uint64_t *place = place_of(table, digest);
    apr_uint64_t word = atomic_load(place);
    apr_uint32_t random = 0;
    apr_uint64_t fresh;
    apr_status_t rv;

    out[0] = '\0';
    if (!is_open(word, now_ms, LIFETIME / 2)) {
        rv = pay_random_bytes(&random, sizeof(random));
        if (rv != APR_SUCCESS) {
            return rv;
        }
        fresh = seconds_of(now_ms) << SECONDS_SHIFT
                | ((((apr_uint64_t)random & RANDOM_MASK) | 1) << TRIES_BITS);
        if (atomic_compare_exchange_strong(place, &word, fresh)) {
            word = fresh;
        } /* else another thread has begun one: its code serves both, if both are for the same
           * change */
    }
    return code_of(out, table, digest, word);
}

/* Converts typed text to the form of a code; returns 0 if it cannot be one. */
static int read_typed(char out[PAY_CHALLENGE_CODE_LEN], const char *typed)
{
    int count = 0;
    char letter;

    for (; *typed; typed++) {
        if (*typed == ' ' || *typed == '-') {
            continue;
        }
        letter = *typed >= 'a' && *typed <= 'z' ? (char)(*typed - 'a' + 'A') : *typed;
        if (count == PAY_CHALLENGE_CODE_LEN || !strchr(letters, letter)) {
            return 0;
        }
        out[count++] = letter;
    }
    return count == PAY_CHALLENGE_CODE_LEN;
}

/* Returns 1 if this caller changed the challenge's word; else *word is its present value. */
static int use_up(_Atomic apr_uint64_t *place, apr_uint64_t word)
{
    const apr_uint64_t challenge = word & ~TRIES_MASK;
    int races;

    for (races = 0; races < RACES_MAX && (word & ~TRIES_MASK) == challenge; races++) {
        if (atomic_compare_exchange_strong(place, &word, 0)) {
            return 1;
        }
    }
    return 0;
}

pay_challenge_verdict_t pay_challenge_try(pay_challenge_table_t *table,
                                          const unsigned char digest[PAY_SHA256_LEN],
                                          const char *typed, apr_int64_t now_ms)
{
    _Atomic apr_uint64_t *place = place_of(table, digest);
    apr_uint64_t word = atomic_load(place);
    char want[PAY_CHALLENGE_CODE_LEN + 1], given[PAY_CHALLENGE_CODE_LEN] = "";
    int is_code = read_typed(given, typed);
    int is_right, races;

    for (races = 0; is_open(word, now_ms, LIFETIME); races++) {
        if (races == RACES_MAX) {
            return PAY_CHALLENGE_GONE;
        }
        if (atomic_compare_exchange_strong(place, &word, word + 1)) {
            break;
        }
    }
    if (!is_open(word, now_ms, LIFETIME) || code_of(want, table, digest, word) != APR_SUCCESS) {
        return PAY_CHALLENGE_GONE;
    }
    is_right = pay_bytes_equal(want, given, PAY_CHALLENGE_CODE_LEN) && is_code;
    pay_wipe(want, sizeof(want));
    if (!is_right) {
        return PAY_CHALLENGE_WRONG;
    }
    return use_up(place, word + 1) ? PAY_CHALLENGE_RIGHT : PAY_CHALLENGE_GONE;
}
