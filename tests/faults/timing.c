/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timing DIRECTORY ROUNDS CONTROL
 *
 * How long the refusal of encrypted orders takes: in each round one of each kind, in random order,
 * every block a new one, opened with a real store and key in DIRECTORY as the server opens them. A
 * line each: the kind's number, nanoseconds of this thread's processor. The first kind removes the
 * padding CONTROL times more, as if noise were made only for those that need it: a judge of the
 * times must see that. Ends with 1 if an answer differs from the others.
 */
#include "base/crypto/keyring.h"
#include "base/crypto/rsa.h"
#include "service/account/encryption.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 100000
#define CONTROL_MAX 100
#define WARM_UP 20 /* rounds that are not printed */
#define TEXT_LEN 300

typedef enum kind_t {
    KIND_TYPE,    /* not of type 2 */
    KIND_SHORT,   /* the padding ends too early */
    KIND_NO_END,  /* it does not end at all */
    KIND_NUMBER,  /* not below the modulus */
    KIND_NO_JSON, /* valid padding, invalid content */
    KIND_LENGTH,  /* a digit less than a block has */
    KIND_COUNT
} kind_t;

typedef struct timing_t {
    pay_service_t service;
    pay_scope_t scope;
    EVP_PKEY *key;
    int control;
    const char *first; /* answer: all must be the same */
    apr_pool_t *pool;
} timing_t;

static void need(int is, const char *what)
{
    if (!is) {
        (void)fprintf(stderr, "timing: %s\n", what);
        exit(1);
    }
}

static void prepare(timing_t *timing, const char *directory)
{
    const char *url = apr_pstrcat(timing->pool, "lmdb:", directory, "/store", NULL);
    pay_store_options_t options = pay_store_options_default;
    pay_encryption_key_t *key;
    pay_account_t *account;
    pay_keyring_t *ring;
    const char *reason;
    apr_status_t rv;
    BIO *bio;
    int made;

    options.create = 1;
    options.map_bytes = (apr_int64_t)1 << 28;
    options.reserve_bytes = 0;
    options.commit_wait = apr_time_from_sec(30); /* a slow machine is no reason to fail */
    need(pay_store_open(&timing->service.store, url, &options, timing->pool) == APR_SUCCESS,
         "no store");
    rv = pay_store_account_create(&account, timing->service.store, "shop",
                                  &pay_account_settings_builtin, timing->pool);
    need(rv == APR_SUCCESS, "no account");
    rv = pay_keyring_load(&ring, &made, &reason, pay_keyring_path(url, timing->pool), 1, geteuid(),
                          timing->pool);
    need(rv == APR_SUCCESS, "no master key");
    timing->service.keyring = ring;
    timing->scope = (pay_scope_t){account->number, PAY_TEST};
    need(!pay_encryption_need(&key, &timing->service, &timing->scope, 0, timing->pool), "no key");
    bio = BIO_new_mem_buf(key->public_pem, -1);
    timing->key = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
    BIO_free(bio);
    need(timing->key != NULL, "no public key");
}

/* Makes a block of the kind, with random padding and text. */
static const char *data_make(const timing_t *timing, kind_t kind, apr_pool_t *p)
{
    unsigned char encoded[PAY_RSA_LEN], block[PAY_RSA_LEN];
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(timing->key, NULL);
    size_t len = PAY_RSA_LEN;
    int i, ok;

    need(pay_random_bytes(encoded, sizeof(encoded)) == APR_SUCCESS, "no random bytes");
    if (kind == KIND_NUMBER) {
        memset(encoded, 0xff, 8);
        EVP_PKEY_CTX_free(ctx);
        return pay_base64(encoded, sizeof(encoded), p);
    }
    for (i = 2; i < PAY_RSA_LEN; i++) {
        encoded[i] = encoded[i] ? encoded[i] : 0x55;
    }
    encoded[0] = 0;
    encoded[1] = kind == KIND_TYPE ? 1 : 2;
    encoded[kind == KIND_SHORT ? 6 : PAY_RSA_LEN - TEXT_LEN - 1] = kind == KIND_NO_END ? 0x55 : 0;
    ok = ctx && EVP_PKEY_encrypt_init(ctx) > 0
         && EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_NO_PADDING) > 0
         && EVP_PKEY_encrypt(ctx, block, &len, encoded, sizeof(encoded)) > 0;
    EVP_PKEY_CTX_free(ctx);
    need(ok, "a block could not be encrypted");
    return pay_base64(block, sizeof(block), p) + (kind == KIND_LENGTH);
}

static long long clock_ns(void)
{
    struct timespec now;

    need(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0, "no clock");
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pad_again(void)
{
    static const unsigned char nothing[PAY_RSA_LEN];
    unsigned char text[PAY_RSA_LEN];
    apr_size_t len;

    need(pay_rsa_unpad(text, &len, nothing, 0, nothing, nothing) == APR_SUCCESS, "no noise");
}

static void check_answer(timing_t *timing, const pay_problem_t *problem, const char *out)
{
    const pay_field_error_t *fault;
    const char *answer;

    need(problem && !out && problem->fields && problem->fields->nelts == 1, "it was not refused");
    fault = &APR_ARRAY_IDX(problem->fields, 0, pay_field_error_t);
    answer = apr_psprintf(problem->pool, "%d %s %s %s %s", problem->status, problem->code,
                          problem->message, fault->field, fault->reason);
    if (!timing->first) {
        timing->first = apr_pstrdup(timing->pool, answer);
    }
    need(!strcmp(timing->first, answer), "another answer");
}

static void round_run(timing_t *timing, int told, apr_pool_t *p)
{
    const char *data[KIND_COUNT], *out;
    const pay_problem_t *problem;
    int order[KIND_COUNT] = {0}, i, k;
    unsigned char random;
    long long begin, end;

    for (i = 0; i < KIND_COUNT; i++) {
        data[i] = data_make(timing, (kind_t)i, p);
        need(pay_random_bytes(&random, 1) == APR_SUCCESS, "no random bytes");
        k = random % (i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (i = 0; i < KIND_COUNT; i++) {
        begin = clock_ns();
        problem = pay_encryption_open(&out, &timing->service, &timing->scope, data[order[i]], p);
        for (k = 0; order[i] == 0 && k < timing->control; k++) {
            pad_again();
        }
        end = clock_ns();
        check_answer(timing, problem, out);
        if (told) {
            printf("%d %lld\n", order[i], end - begin);
        }
    }
}

int main(int argc, char **argv)
{
    timing_t timing = {.control = argc == 4 ? atoi(argv[3]) : 0};
    apr_pool_t *p;
    int rounds, i;

    rounds = argc == 4 ? atoi(argv[2]) : 0;
    if (rounds < 1 || rounds > ROUNDS_MAX || timing.control < 0 || timing.control > CONTROL_MAX) {
        (void)fprintf(stderr, "timing DIRECTORY ROUNDS CONTROL\n");
        return 2;
    }
    apr_initialize();
    apr_pool_create(&timing.pool, NULL);
    prepare(&timing, argv[1]);
    apr_pool_create(&p, timing.pool);
    for (i = 0; i < WARM_UP + rounds; i++) {
        apr_pool_clear(p);
        round_run(&timing, i >= WARM_UP, p);
    }
    EVP_PKEY_free(timing.key);
    apr_pool_destroy(timing.pool);
    apr_terminate();
    return 0;
}
