/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/keys.h"

#include "base/log.h"
#include "base/text/id.h"
#include "base/text/time.h"
#include "service/account/key_usage.h"
#include "service/change.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

#define KEY_ID_PREFIX "key_"
#define OVERLAP_DAYS_MAX 366
#define OVERLAP_DIGITS_MAX 9

static const pay_problem_t *problem_of(apr_status_t rv, apr_pool_t *p)
{
    if (rv == APR_SUCCESS) {
        return NULL;
    }
    return rv == APR_NOTFOUND
               ? pay_problem_makef(PAY_ERR_REFERENCE_UNKNOWN, p, "There is no such key.")
               : pay_problem_of_store(rv, p);
}

static const pay_problem_t *unauthorized(apr_pool_t *p)
{
    return pay_problem_make(PAY_ERR_UNAUTHORIZED, NULL, APR_SUCCESS, p);
}

static int is_served(const pay_service_t *service, const pay_api_key_t *key)
{
    return !service->account_name || !strcmp(service->account_name, key->account->name);
}

const pay_problem_t *pay_key_authenticate(const pay_api_key_t **out, int *given,
                                          pay_service_t *service, const char *authorization,
                                          apr_pool_t *p)
{
    unsigned char digest[PAY_SHA256_LEN];
    apr_time_t now = pay_time_now();
    pay_api_key_t *key = NULL;
    const char *text;
    apr_status_t rv;

    *out = NULL;
    *given = authorization && authorization[strspn(authorization, " \t")] != '\0';
    text = *given ? pay_api_key_from_header(authorization, p) : NULL;
    if (!text) {
        return unauthorized(p);
    }
    rv = pay_sha256(digest, text, strlen(text));
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    rv = pay_store_key_find(&key, service->store, digest, p);
    if (rv == APR_NOTFOUND) {
        return unauthorized(p);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    if (!pay_bytes_equal(key->digest, digest, PAY_SHA256_LEN) || !pay_api_key_is_valid(key, now)
        || !is_served(service, key)) {
        return unauthorized(p);
    }
    if (service->usage) {
        pay_key_usage_note(service->usage, digest, now);
    }
    *out = key;
    return NULL;
}

/* Makes a key with an id of its own for `text`; does not store it. */
static apr_status_t key_make(pay_api_key_t **out, const pay_scope_t *scope, pay_key_kind_t kind,
                             const char *text, apr_pool_t *p)
{
    pay_api_key_t *key = apr_pcalloc(p, sizeof(*key));
    apr_status_t rv;

    *out = NULL;
    key->scope = *scope;
    key->kind = kind;
    rv = pay_sha256(key->digest, text, strlen(text));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_id_make(&key->id, KEY_ID_PREFIX, PAY_ID_BITS, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = key;
    return APR_SUCCESS;
}

/* Stores a new key. */
static apr_status_t key_store(pay_api_key_t **out, const pay_service_t *service,
                              pay_change_t change, const pay_api_key_t *proposal, apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    rv = pay_change_begin(&store, service, change, proposal->scope.account, proposal->id, "", p);
    return rv == APR_SUCCESS ? pay_store_key_create(out, store, proposal, p) : rv;
}

const pay_problem_t *pay_key_issue(pay_api_key_t **out, const char **text,
                                   const pay_service_t *service, const pay_account_t *account,
                                   pay_mode_t mode, pay_key_kind_t kind, apr_pool_t *p)
{
    const pay_scope_t scope = {account->number, mode};
    pay_api_key_t *proposal;
    const char *secret;
    apr_status_t rv;

    *out = NULL;
    *text = NULL;
    rv = pay_api_key_text_make(&secret, account->settings.key_prefix, mode, kind, p);
    if (rv == APR_SUCCESS) {
        rv = key_make(&proposal, &scope, kind, secret, p);
    }
    if (rv == APR_SUCCESS) {
        rv = key_store(out, service, PAY_CHANGE_KEY_CREATE, proposal, p);
    }
    if (rv != APR_SUCCESS) {
        return problem_of(rv, p);
    }
    *text = secret;
    pay_log(PAY_LOG_INFO, APR_SUCCESS, PAYLOGNO(00220) "key %s was issued for account %s",
            (*out)->id, account->name);
    return NULL;
}

const pay_problem_t *pay_key_import(pay_api_key_t **out, const pay_service_t *service,
                                    const pay_account_t *account, pay_mode_t mode,
                                    pay_key_kind_t kind, const char *text, apr_pool_t *p)
{
    const pay_scope_t scope = {account->number, mode};
    pay_problem_t *problem = NULL;
    pay_key_kind_t named_kind;
    pay_api_key_t *proposal;
    pay_mode_t named_mode;
    apr_status_t rv;

    *out = NULL;
    rv = pay_api_key_parse(&named_mode, &named_kind, text);
    if (rv != APR_SUCCESS || named_mode != mode || named_kind != kind) {
        pay_problem_add(
            &problem, "/key",
            apr_psprintf(p, "must be a %s %s key: PREFIX_%s%s_BODY of %d to %d characters",
                         pay_mode_name(mode), pay_key_kind_name(kind), pay_mode_name(mode),
                         kind == PAY_KEY_SECRET ? "sk" : "pk", PAY_KEY_TEXT_MIN, PAY_KEY_TEXT_MAX),
            p);
        return problem;
    }
    rv = key_make(&proposal, &scope, kind, text, p);
    if (rv == APR_SUCCESS) {
        rv = key_store(out, service, PAY_CHANGE_KEY_IMPORT, proposal, p);
    }
    if (rv == APR_EEXIST) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p, "The store has this key already.");
    }
    return problem_of(rv, p);
}

const pay_problem_t *pay_key_find(pay_api_key_t **out, const pay_service_t *service,
                                  const pay_account_t *account, const char *id, apr_pool_t *p)
{
    apr_status_t rv;

    rv = pay_store_key_get(out, service->store, id, p);
    if (rv == APR_SUCCESS && account && (*out)->scope.account != account->number) {
        rv = APR_NOTFOUND;
    }
    if (rv != APR_SUCCESS) {
        *out = NULL;
    }
    return problem_of(rv, p);
}

const pay_problem_t *pay_key_revoke(pay_api_key_t **out, const pay_service_t *service,
                                    const pay_account_t *account, const char *id, apr_pool_t *p)
{
    const pay_problem_t *problem;
    pay_store_t *store;
    apr_status_t rv;

    problem = pay_key_find(out, service, account, id, p);
    if (problem) {
        return problem;
    }
    rv = pay_change_begin(&store, service, PAY_CHANGE_KEY_REVOKE, (*out)->scope.account, id, "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_key_revoke(out, store, id, 0, p);
    }
    return problem_of(rv, p);
}

static apr_status_t successor_store(pay_api_key_t **out, pay_api_key_t **old, const char **text,
                                    const pay_service_t *service, const pay_api_key_t *key,
                                    apr_time_t until, apr_pool_t *p)
{
    pay_api_key_t *successor;
    pay_store_t *store;
    apr_status_t rv;

    rv = pay_api_key_text_make(text, key->account->settings.key_prefix, key->scope.mode, key->kind,
                               p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = key_make(&successor, &key->scope, key->kind, *text, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_change_begin(&store, service, PAY_CHANGE_KEY_ROTATE, key->scope.account, key->id, "",
                          p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return pay_store_key_rotate(out, old, store, key->id, until, successor, p);
}

const pay_problem_t *pay_key_rotate(pay_api_key_t **out, pay_api_key_t **old, const char **text,
                                    const pay_service_t *service, const pay_account_t *account,
                                    const char *id, apr_interval_time_t overlap, apr_pool_t *p)
{
    const pay_problem_t *problem;
    const char *secret = NULL;
    pay_api_key_t *key;
    apr_status_t rv;

    assert(overlap >= 0);
    *out = *old = NULL;
    *text = NULL;
    problem = pay_key_find(&key, service, account, id, p);
    if (problem) {
        return problem;
    }
    rv =
        successor_store(out, old, &secret, service, key, overlap ? pay_time_now() + overlap : 0, p);
    if (rv == APR_EINVAL) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "The key was rotated or revoked already: it can have no "
                                 "successor. Create a new key.");
    }
    if (rv == APR_SUCCESS) {
        *text = secret;
    }
    return problem_of(rv, p);
}

apr_status_t pay_overlap_parse(apr_interval_time_t *out, const char *text)
{
    static const struct {
        char unit;
        apr_int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    const apr_int64_t max = OVERLAP_DAYS_MAX * (apr_int64_t)86400;
    const apr_size_t digits = strspn(text, "0123456789");
    const apr_int64_t number = digits <= OVERLAP_DIGITS_MAX ? apr_atoi64(text) : max + 1;
    apr_size_t i;

    *out = 0;
    for (i = 0; digits > 0 && i < sizeof(units) / sizeof(units[0]); i++) {
        if (text[digits] == units[i].unit && !text[digits + 1]
            && number <= max / units[i].seconds) {
            *out = apr_time_from_sec(number * units[i].seconds);
            return APR_SUCCESS;
        }
    }
    return APR_EINVAL;
}
