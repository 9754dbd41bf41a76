/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/rates.h"

#include "base/crypto/crypto.h"
#include "base/log.h"
#include "base/shared/rate.h"
#include "httpd/conf/conf.h"

#include <apr_network_io.h>
#include <apr_shm.h>
#include <http_log.h>
#include <stdatomic.h>

APLOG_USE_MODULE(payments);

#define SETS 16384 /* 131,072 buckets, 1 MiB; memory pages without buckets in use cost nothing */
#define TELL_EVERY apr_time_from_sec(60)
#define ADDRESS_LEN_MAX 8

/* Tables of their own: a flood of one kind cannot take over the buckets of another. */
enum {
    OF_SECRET_KEYS = PAY_KEY_SECRET,
    OF_PUBLIC_KEYS = PAY_KEY_PUBLIC,
    OF_PUBLIC_TOTALS,
    OF_FAILURES,
    OF_PAGES,
    OF_SIGN_INS,
    OF_CONFIRMATIONS,
    OF_CODES,
    OF_REFUSAL_ENTRIES,
    OF_EXPORTS,
    TABLES
};

/* A browser sends so many requests at a time, and each counts until it is let in. */
#define SIGN_INS_BURST_MIN 100

/* Of one user and host: so many wrong passwords in any five minutes. */
static const pay_rate_limit_t confirmations = {apr_time_from_sec(300), 5};

/* Of one user and host: mails with codes. */
static const pay_rate_limit_t codes = {apr_time_from_sec(60), 5};

/* Of one account: entries of the audit for refused changes. */
static const pay_rate_limit_t refusal_entries = {apr_time_from_sec(360), 10};

/* Of one account, user and host: exports, each of which is a permanent entry of the audit. */
static const pay_rate_limit_t exports = {apr_time_from_sec(180), 30};

/* The state of a log line. Shared by all children, zeroed. */
typedef struct told_t {
    _Atomic apr_time_t at; /* 0: not logged yet */
    _Atomic apr_uint64_t refused;
} told_t;

static pay_rate_table_t *table[TABLES];
static told_t *told;

void pay_rates_share(server_rec *main_server, apr_pool_t *pconf)
{
    const apr_size_t size = (pay_rate_size(SETS) + 63) & ~(apr_size_t)63;
    const apr_size_t whole = TABLES * (sizeof(told_t) + size);
    unsigned char secret[PAY_RATE_SECRET_LEN];
    apr_shm_t *shm;
    apr_status_t rv;
    char *memory;
    int i;

    rv = apr_shm_create(&shm, whole, NULL, pconf);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                     PAYLOGNO(00340) "No shared memory for limits: each child process counts "
                                     "PaymentsRateLimit and PaymentsAuthFailureLimit by itself");
        memory = apr_pcalloc(pconf, whole);
    } else {
        memory = apr_shm_baseaddr_get(shm);
    }
    rv = pay_random_bytes(secret, sizeof(secret));
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                     PAYLOGNO(00341) "No random numbers: clients can find out which of them share "
                                     "a place in the tables of limits");
    }
    told = (told_t *)memory;
    memory += TABLES * sizeof(told_t);
    for (i = 0; i < TABLES; i++) {
        table[i] = pay_rate_init(memory + i * size, SETS, secret, pay_rate_now());
    }
}

/*
 * Writes the client's address as mod_remoteip left it: all of IPv4, of IPv6 the /64, the smallest
 * network of a subscriber. Returns its length.
 */
static apr_size_t address_of(unsigned char out[ADDRESS_LEN_MAX], const request_rec *r)
{
    const apr_sockaddr_t *address = r->useragent_addr;
    const struct in6_addr *six = &address->sa.sin6.sin6_addr;

    if (address->family == AF_INET) {
        memcpy(out, &address->sa.sin.sin_addr, 4);
        return 4;
    }
    if (address->family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(six)) {
        memcpy(out, six->s6_addr + 12, 4);
        return 4;
    }
    if (address->family == AF_INET6) {
        memcpy(out, six->s6_addr, 8);
        return 8;
    }
    return 0;
}

/* Returns how many were refused since the last log line; 0: it was a short while ago. */
static apr_uint64_t to_tell(told_t *of, apr_time_t now)
{
    apr_time_t last = atomic_load(&of->at);

    atomic_fetch_add(&of->refused, 1);
    if ((last && now - last < TELL_EVERY) || !atomic_compare_exchange_strong(&of->at, &last, now)) {
        return 0;
    }
    return atomic_exchange(&of->refused, 0);
}

/* Returns NULL, or 429; *count is then the number to log, 0 for no line. */
static const pay_problem_t *take(apr_uint64_t *count, int which, const pay_rate_limit_t *limit,
                                 const unsigned char *key, apr_size_t len, apr_pool_t *p)
{
    apr_time_t now = pay_rate_now();
    apr_interval_time_t wait;
    pay_problem_t *problem;
    int taken;

    *count = 0;
    taken = pay_rate_take(&wait, table[which], limit, key, len, now);
    if (taken) {
        return NULL;
    }
    *count = to_tell(&told[which], now);
    problem = pay_problem_make(PAY_ERR_RATE, NULL, APR_SUCCESS, p);
    problem->retry_after = (int)apr_time_sec(wait + APR_USEC_PER_SEC - 1);
    return problem;
}

/* Takes one for the client's address; without a limit there is nothing to take. */
static const pay_problem_t *take_of_address(apr_uint64_t *count, int which,
                                            const pay_rate_limit_t *limit, request_rec *r)
{
    unsigned char address[ADDRESS_LEN_MAX];

    *count = 0;
    return limit->interval ? take(count, which, limit, address, address_of(address, r), r->pool)
                           : NULL;
}

/* Of a public key, from all its addresses: more addresses do not raise its limit. */
static const pay_problem_t *judge_total(request_rec *r, const pay_call_t *call)
{
    const pay_rate_limit_t *limit = &pay_conf_get(r->server)->rate_total;
    const pay_problem_t *problem;
    apr_uint64_t count;

    if (!limit->interval) {
        return NULL;
    }
    problem = take(&count, OF_PUBLIC_TOTALS, limit, call->key->digest, PAY_SHA256_LEN, r->pool);
    if (count) {
        ap_log_rerror(
            APLOG_MARK, APLOG_NOTICE, 0, r,
            PAYLOGNO(00743) "key %s exceeds PaymentsRateLimit public-total, over all addresses; "
                            "calls answered 429 since the last line like this: %" APR_UINT64_T_FMT,
            call->key->id, count);
    }
    return problem;
}

/* Of a secret key, or of a public one from one address. */
static const pay_problem_t *judge_key(request_rec *r, const pay_call_t *call)
{
    const pay_rate_limit_t *limit = &pay_conf_get(r->server)->rate_limit[call->key->kind];
    unsigned char key[PAY_SHA256_LEN + ADDRESS_LEN_MAX];
    apr_size_t len = PAY_SHA256_LEN;
    const pay_problem_t *problem;
    apr_uint64_t count;

    if (!limit->interval) {
        return NULL;
    }
    memcpy(key, call->key->digest, PAY_SHA256_LEN);
    if (call->key->kind == PAY_KEY_PUBLIC) {
        len += address_of(key + len, r); /* everybody has it: one caller must not stop the others */
    }
    problem = take(&count, (int)call->key->kind, limit, key, len, r->pool);
    if (count) {
        ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r,
                      PAYLOGNO(00342) "key %s exceeds PaymentsRateLimit %s; calls answered 429 "
                                      "since the last line like this: %" APR_UINT64_T_FMT,
                      call->key->id, pay_key_kind_name(call->key->kind), count);
    }
    return problem;
}

const pay_problem_t *pay_rates_judge_call(request_rec *r, const pay_call_t *call)
{
    const pay_problem_t *problem = judge_key(r, call);

    if (problem || call->key->kind != PAY_KEY_PUBLIC) {
        return problem; /* the excess of one address is not charged to the others */
    }
    return judge_total(r, call);
}

const pay_problem_t *pay_rates_judge_page(request_rec *r)
{
    const pay_rate_limit_t *limit = &pay_conf_get(r->server)->rate_limit[PAY_KEY_PUBLIC];
    const pay_problem_t *problem;
    apr_uint64_t count;

    problem = take_of_address(&count, OF_PAGES, limit, r);
    if (count) {
        ap_log_rerror(
            APLOG_MARK, APLOG_NOTICE, 0, r,
            PAYLOGNO(00594) "requests for payment pages exceed PaymentsRateLimit public; answered "
                            "429 since the last line like this: %" APR_UINT64_T_FMT,
            count);
    }
    return problem;
}

const pay_problem_t *pay_rates_judge_failure(request_rec *r)
{
    const pay_rate_limit_t *limit = &pay_conf_get(r->server)->failure_limit;
    const pay_problem_t *problem;
    apr_uint64_t count;

    problem = take_of_address(&count, OF_FAILURES, limit, r);
    if (count) {
        ap_log_rerror(
            APLOG_MARK, APLOG_NOTICE, 0, r,
            PAYLOGNO(00343) "calls with refused keys exceed PaymentsAuthFailureLimit; answered 429 "
                            "since the last line like this: %" APR_UINT64_T_FMT,
            count);
    }
    return problem;
}

/* A raised burst takes no longer than a table can count. */
static pay_rate_limit_t sign_in_limit(const request_rec *r)
{
    pay_rate_limit_t limit = pay_conf_get(r->server)->failure_limit;

    if (limit.interval && limit.burst < SIGN_INS_BURST_MIN) {
        limit.burst = SIGN_INS_BURST_MIN;
        if (limit.burst > PAY_RATE_REFILL_MAX / limit.interval) {
            limit.interval = PAY_RATE_REFILL_MAX / limit.burst;
        }
    }
    return limit;
}

const pay_problem_t *pay_rates_judge_sign_in(request_rec *r)
{
    const pay_rate_limit_t limit = sign_in_limit(r);
    const pay_problem_t *problem;
    apr_uint64_t count;

    problem = take_of_address(&count, OF_SIGN_INS, &limit, r);
    if (count) {
        ap_log_rerror(
            APLOG_MARK, APLOG_NOTICE, 0, r,
            PAYLOGNO(00681) "refused sign-ins at the dashboard exceed PaymentsAuthFailureLimit; "
                            "answered 429 since the last line like this: %" APR_UINT64_T_FMT,
            count);
    }
    return problem;
}

void pay_rates_signed_in(request_rec *r)
{
    const pay_rate_limit_t limit = sign_in_limit(r);
    unsigned char address[ADDRESS_LEN_MAX];

    if (limit.interval) {
        pay_rate_give(table[OF_SIGN_INS], &limit, address, address_of(address, r), pay_rate_now());
    }
}

const pay_problem_t *pay_rates_judge_confirmation(request_rec *r, const unsigned char *who)
{
    const pay_problem_t *problem;
    apr_uint64_t count;

    problem = take(&count, OF_CONFIRMATIONS, &confirmations, who, PAY_SHA256_LEN, r->pool);
    if (count) {
        ap_log_rerror(
            APLOG_MARK, APLOG_NOTICE, 0, r,
            PAYLOGNO(00682) "too many wrong passwords to confirm changes of the dashboard; "
                            "answered 429 since the last line like this: %" APR_UINT64_T_FMT,
            count);
    }
    return problem;
}

void pay_rates_confirmed(const unsigned char *who)
{
    pay_rate_give(table[OF_CONFIRMATIONS], &confirmations, who, PAY_SHA256_LEN, pay_rate_now());
}

const pay_problem_t *pay_rates_judge_code(request_rec *r, const unsigned char *who)
{
    const pay_problem_t *problem;
    apr_uint64_t count;

    problem = take(&count, OF_CODES, &codes, who, PAY_SHA256_LEN, r->pool);
    if (count) {
        ap_log_rerror(
            APLOG_MARK, APLOG_NOTICE, 0, r,
            PAYLOGNO(00686) "codes to confirm changes of the dashboard are requested too often; "
                            "answered 429 since the last line like this: %" APR_UINT64_T_FMT,
            count);
    }
    return problem;
}

int pay_rates_judge_refusal_entry(request_rec *r, apr_uint32_t account)
{
    apr_uint64_t count;
    int taken;

    taken = !take(&count, OF_REFUSAL_ENTRIES, &refusal_entries, (const unsigned char *)&account,
                  sizeof(account), r->pool);
    if (count) {
        ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r,
                      PAYLOGNO(00782) "so many changes of the dashboard are refused that the audit "
                                      "does not record all of them; left out since the last line "
                                      "like this: %" APR_UINT64_T_FMT,
                      count);
    }
    return taken;
}

const pay_problem_t *pay_rates_judge_export(request_rec *r, const unsigned char *who)
{
    const pay_problem_t *problem;
    apr_uint64_t count;

    problem = take(&count, OF_EXPORTS, &exports, who, PAY_SHA256_LEN, r->pool);
    if (count) {
        ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r,
                      PAYLOGNO(00791) "a user exports from the dashboard too often; answered 429 "
                                      "since the last line like this: %" APR_UINT64_T_FMT,
                      count);
    }
    return problem;
}
