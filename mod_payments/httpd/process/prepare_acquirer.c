/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/process/prepare_acquirer.h"

#include "acquirer/relay/relay.h"
#include "base/crypto/secret_file.h"
#include "base/crypto/secret_memory.h"
#include "base/log.h"
#include "httpd/conf/conf.h"
#include "httpd/process/acquirers.h"
#include "httpd/process/exec_line.h"

#include <apr_strings.h>
#include <http_log.h>
#include <unixd.h>

APLOG_USE_MODULE(payments);

#define FILE_PREFIX "file:"
#define SECRET_WHAT "secret of PaymentsAcquirer"
#define SECRET_LEN_MAX 4096
#define SECRET_SIZE (SECRET_LEN_MAX + 2) /* with the end of a line, and a NUL */

static const char *run(apr_size_t *len, char *text, const char *program, apr_pool_t *p)
{
    const char *fault = pay_exec_fault("the program for the " SECRET_WHAT, program, p);

    if (fault) {
        return fault;
    }
    switch (pay_exec_line(len, text, SECRET_SIZE, program, p)) {
    case APR_SUCCESS:
        return NULL;
    case APR_TIMEUP:
        return apr_psprintf(p, "the program %s for its " SECRET_WHAT " wrote no line within %d s",
                            program, PAY_EXEC_TIME_MAX_S);
    case APR_ENOSPC:
        return apr_psprintf(p, "the program %s for its " SECRET_WHAT " wrote more than %d bytes",
                            program, SECRET_LEN_MAX);
    default:
        return apr_psprintf(p,
                            "the program %s for its " SECRET_WHAT " wrote no line: is it there, "
                            "and may root run it?",
                            program);
    }
}

/*
 * Cuts the end of its line. Returns 1 if it is 1 to SECRET_LEN_MAX bytes without control
 * characters.
 */
static int trim(char *text, apr_size_t len)
{
    apr_size_t i;

    if (len > 0 && text[len - 1] == '\n') {
        text[--len] = '\0';
    }
    for (i = 0; i < len; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            return 0;
        }
    }
    return len >= 1 && len <= SECRET_LEN_MAX;
}

/* Sets *out, or sets it to NULL and returns a sentence that says what is wrong. */
static const char *read_secret(const char **out, const char *where, apr_pool_t *pconf)
{
    const char *path = strchr(where, ':') + 1;
    const char *fault = NULL;
    apr_size_t len;
    void *memory;
    char *text;

    *out = NULL;
    if (pay_secret_memory_make(&memory, SECRET_SIZE, pconf) != APR_SUCCESS) {
        return "there is no memory for it that is kept out of core files";
    }
    text = memory;
    if (strncmp(where, FILE_PREFIX, strlen(FILE_PREFIX)) != 0) {
        fault = run(&len, text, path, pconf);
    } else if (pay_secret_file_read(&len, &fault, text, SECRET_SIZE, SECRET_WHAT, path,
                                    ap_unixd_config.user_id, pconf)
               == APR_SUCCESS) {
        fault = NULL;
    } else if (!fault) {
        fault = apr_psprintf(pconf, "the " SECRET_WHAT " %s cannot be read", path);
    }
    if (!fault && !trim(text, len)) {
        fault = apr_psprintf(pconf,
                             "the " SECRET_WHAT " from %s is not of 1 to %d bytes in one line, "
                             "without control characters",
                             path, SECRET_LEN_MAX);
    }
    if (!fault) {
        *out = text;
    }
    return fault;
}

/* A key of the upstream's Test Mode: Live Mode would seem to work with it. */
static void warn_of_test_key(const pay_acquirers_one_t *one, const char *parameter,
                             const char *secret)
{
    if (one->connector == &pay_acquirer_relay && !strcmp(parameter, PAY_ACQUIRER_RELAY_KEY)
        && pay_acquirer_relay_is_test_key(secret)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, one->host,
                     PAYLOGNO(00381) "PaymentsAcquirer %s of account %s: %s= is a key of Test "
                                     "Mode: NO MONEY MOVES, but live charges are approved. Put a "
                                     "live key there before the account sells anything",
                     one->acquirer.name, one->account, parameter);
    }
}

/* Replaces `given` in its settings by the values that its connector opens with. */
static void prepare(pay_acquirers_one_t *one, apr_pool_t *pconf)
{
    const apr_array_header_t *words = apr_table_elts(one->said->given);
    const apr_table_entry_t *word = (const apr_table_entry_t *)words->elts;
    apr_table_t *given = apr_table_make(pconf, words->nelts);
    const char *value, *fault;
    int i;

    for (i = 0; i < words->nelts; i++) {
        value = word[i].val;
        fault = pay_conf_is_secret(one->connector, word[i].key)
                    ? read_secret(&value, word[i].val, pconf)
                    : NULL;
        if (fault) {
            ap_log_error(
                APLOG_MARK, APLOG_ERR, 0, one->host,
                PAYLOGNO(00380) "PaymentsAcquirer %s of account %s is out of service until this is "
                                "fixed and the server restarted: charges and refunds are answered "
                                "503, and pending ones stay pending: %s=: %s",
                one->acquirer.name, one->account, word[i].key, fault);
            one->is_out = 1;
            pay_breaker_shut(one->acquirer.breaker); /* refused before anything is written */
            return;
        }
        if (value != word[i].val) {
            warn_of_test_key(one, word[i].key, value);
        }
        apr_table_setn(given, word[i].key, value);
    }
    one->settings.given = given;
}

/* Returns 1 if both have the same secrets, and have some. */
static int same_secrets(const pay_acquirers_one_t *a, const pay_acquirers_one_t *b)
{
    const char *const *name = a->connector->secrets;
    const char *one, *other;
    int same = 0;

    for (; name && *name; name++) {
        one = apr_table_get(a->settings.given, *name);
        other = apr_table_get(b->settings.given, *name);
        if (!one || !other || strcmp(one, other) != 0) {
            return 0;
        }
        same = 1;
    }
    return same;
}

/*
 * Returns 1 if both have the same key, but different accounts: an upstream lists the refunds of a
 * key.
 */
static int shares_key(const pay_acquirers_one_t *one, const pay_acquirers_one_t *other,
                      int same_store)
{
    return !one->is_out && !other->is_out && one->connector == other->connector
           && !(same_store && strcmp(one->account, other->account) == 0)
           && same_secrets(one, other);
}

static int fetches(const pay_acquirers_one_t *one)
{
    return pay_conf_get(one->host)->policy.refund_sync != 0;
}

static void warn_of_shared_key(const pay_acquirers_one_t *one, const pay_acquirers_one_t *other)
{
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, one->host,
                 PAYLOGNO(00385) "PaymentsAcquirer %s: accounts %s and %s use the same key, so "
                                 "each would list the other's refunds as well: refunds made "
                                 "elsewhere are fetched for neither. Give each account a key of "
                                 "its own, or set PaymentsRefundSync off",
                 one->acquirer.name, other->account, one->account);
}

/* Neither account fetches refunds that may be the other's. `all`: those before it, of its store
 * from `store_from` on. */
static void judge_shared_key(pay_acquirers_one_t *one, const apr_array_header_t *all,
                             int store_from)
{
    pay_acquirers_one_t *other;
    int i;

    for (i = 0; i < all->nelts; i++) {
        other = APR_ARRAY_IDX(all, i, pay_acquirers_one_t *);
        if (shares_key(one, other, i >= store_from)) {
            one->acquirer.key_is_shared = other->acquirer.key_is_shared = 1;
            if (fetches(one) || fetches(other)) {
                warn_of_shared_key(one, other);
            }
            return; /* any more of that key were found with the first */
        }
    }
}

void pay_prepare_acquirers(const apr_array_header_t *store_hosts, apr_pool_t *pconf)
{
    apr_array_header_t *all = apr_array_make(pconf, 8, sizeof(pay_acquirers_one_t *));
    pay_acquirers_one_t *one;
    const pay_store_host_t *store_host;
    int i, k, store_from;

    for (i = 0; i < store_hosts->nelts; i++) {
        store_host = APR_ARRAY_IDX(store_hosts, i, const pay_store_host_t *);
        store_from = all->nelts;
        for (k = 0; k < store_host->acquirers->nelts; k++) {
            one = APR_ARRAY_IDX(store_host->acquirers, k, pay_acquirers_one_t *);
            prepare(one, pconf);
            judge_shared_key(one, all, store_from);
            APR_ARRAY_PUSH(all, pay_acquirers_one_t *) = one;
        }
    }
}
