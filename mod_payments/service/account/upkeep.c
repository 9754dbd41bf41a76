/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/upkeep.h"

#include "base/crypto/keyring.h"
#include "base/pager.h"
#include "base/text/time.h"
#include "service/change.h"

#include <apr_strings.h>
#include <string.h>

static const pay_problem_t *problem_of(apr_status_t rv, apr_pool_t *p)
{
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, p);
}

/* ---- removing rows */

static apr_status_t erase(pay_purge_t *out, pay_store_t *store, const pay_scope_t *scope,
                          const char *email, apr_pool_t *p)
{
    apr_status_t rv = APR_SUCCESS;
    pay_erasure_t at;

    memset(&at, 0, sizeof(at));
    while (rv == APR_SUCCESS && !at.done) { /* ends with the payer's rows */
        rv = pay_store_payer_erase(&at, store, scope, email, p);
    }
    *out = (pay_purge_t){.is_done = rv == APR_SUCCESS,
                         .charges = at.charges,
                         .refunds = at.refunds,
                         .events = at.events,
                         .tokens = at.tokens,
                         .answers = at.answers,
                         .left = at.left};
    return rv;
}

const pay_problem_t *pay_payer_erase(pay_purge_t out[PAY_MODE_COUNT], const pay_service_t *service,
                                     const pay_account_t *account, const char *email,
                                     pay_mode_t first, pay_mode_t last, apr_pool_t *p)
{
    const char *said = first == last ? pay_mode_name(first) : "both modes";
    pay_scope_t scope = {.account = account->number};
    pay_store_t *store;
    apr_status_t rv;
    int mode;

    memset(out, 0, PAY_MODE_COUNT * sizeof(*out));
    rv = pay_change_begin(&store, service, PAY_CHANGE_PAYER_ERASE, account->number, "", said, p);
    for (mode = (int)first; rv == APR_SUCCESS && mode <= (int)last; mode++) {
        scope.mode = (pay_mode_t)mode;
        rv = erase(&out[mode], store, &scope, email, p);
    }
    return problem_of(rv, p);
}

const pay_problem_t *pay_account_reset(pay_purge_t *out, const pay_service_t *service,
                                       const pay_account_t *account, apr_pool_t *p)
{
    const pay_scope_t scope = {account->number, PAY_TEST};
    pay_store_t *store;
    pay_reset_t at;
    apr_status_t rv;

    memset(&at, 0, sizeof(at));
    rv = pay_change_begin_in(&store, service, PAY_CHANGE_ACCOUNT_RESET, &scope, "", "", p);
    while (rv == APR_SUCCESS && !at.done) { /* ends with the rows that were there at first */
        rv = pay_store_scope_reset(&at, store, &scope, p);
    }
    *out = (pay_purge_t){.is_done = rv == APR_SUCCESS,
                         .charges = at.charges,
                         .refunds = at.refunds,
                         .events = at.events,
                         .tokens = at.tokens,
                         .answers = at.answers,
                         .left = at.left};
    return problem_of(rv, p);
}

/* ---- a store that was restored from a copy */

const pay_problem_t *pay_restore_confirm(int *was_held, const pay_account_t **unsynced,
                                         const pay_service_t *service, int allow_unsynced,
                                         apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    *was_held = 0;
    *unsynced = NULL;
    rv = pay_change_begin(&store, service, PAY_CHANGE_STORE_CONFIRM, 0, "",
                          allow_unsynced ? "unsynced" : "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_epoch_confirm(was_held, unsynced, store, allow_unsynced, p);
    }
    return problem_of(rv, p);
}

/* ---- another master key */

/* *fresh is NULL if it failed, or if `sealed` is under the current key already, or empty. */
static apr_status_t seal_anew(const char **fresh, pay_reseal_t *pass, const pay_keyring_t *ring,
                              const char *context, const char *sealed, const char *what,
                              apr_pool_t *p)
{
    const char *text;
    apr_status_t rv;

    *fresh = NULL;
    if (!*sealed || pay_keyring_is_current(ring, sealed)) {
        return APR_SUCCESS;
    }
    rv = pay_keyring_open(&text, ring, context, sealed, p);
    if (rv != APR_SUCCESS) {
        pass->closed = what;
        return rv;
    }
    rv = pay_keyring_seal(fresh, ring, context, text, p);
    pass->behind += rv == APR_SUCCESS;
    return rv;
}

static apr_status_t secret_reseal(pay_reseal_t *pass, const pay_service_t *service,
                                  const pay_endpoint_t *endpoint, const char *sealed, apr_pool_t *p)
{
    const char *what = apr_psprintf(p, "the webhook secret of account %u in %s mode",
                                    endpoint->scope.account, pay_mode_name(endpoint->scope.mode));
    const char *fresh;
    apr_status_t rv;
    int changed;

    rv = seal_anew(&fresh, pass, service->keyring, pay_endpoint_secret_context(&endpoint->scope, p),
                   sealed, what, p);
    if (!fresh) {
        return rv;
    }
    rv = pay_store_endpoint_reseal(&changed, service->store, endpoint, sealed, fresh, p);
    pass->resealed += rv == APR_SUCCESS && changed;
    return rv;
}

typedef struct walk_t {
    pay_reseal_t *pass;
    const pay_service_t *service;
    apr_pool_t *pool;
} walk_t;

/* The text lives as long as the walk. */
static apr_status_t closed_keep(const walk_t *walk, apr_status_t rv)
{
    if (walk->pass->closed) {
        walk->pass->closed = apr_pstrdup(walk->pool, walk->pass->closed);
    }
    return rv;
}

static apr_status_t endpoints_list(apr_array_header_t **rows, void *baton, const void *after,
                                   apr_pool_t *p)
{
    const walk_t *walk = baton;

    return pay_store_endpoint_list(rows, walk->service->store, after, PAY_STORE_ROWS_MAX, p);
}

static apr_status_t endpoint_reseal(void *baton, const void *row, apr_pool_t *p)
{
    const walk_t *walk = baton;
    const pay_endpoint_t *endpoint = row;
    apr_status_t rv;

    rv = secret_reseal(walk->pass, walk->service, endpoint, endpoint->secret, p);
    if (rv == APR_SUCCESS && endpoint->old_secret_until > pay_time_now()) { /* it is read */
        rv = secret_reseal(walk->pass, walk->service, endpoint, endpoint->old_secret, p);
    }
    return closed_keep(walk, rv);
}

static apr_status_t encryption_keys_list(apr_array_header_t **rows, void *baton, const void *after,
                                         apr_pool_t *p)
{
    const walk_t *walk = baton;
    const pay_encryption_key_t *last = after;

    return pay_store_encryption_key_list(rows, walk->service->store, last ? &last->scope : NULL,
                                         PAY_STORE_ROWS_MAX, p);
}

static apr_status_t encryption_key_reseal(void *baton, const void *row, apr_pool_t *p)
{
    const walk_t *walk = baton;
    const pay_service_t *service = walk->service;
    const pay_encryption_key_t *key = row;
    const char *what = apr_psprintf(p, "the encryption key of account %u in %s mode",
                                    key->scope.account, pay_mode_name(key->scope.mode));
    const char *fresh;
    apr_status_t rv;
    int changed;

    rv = seal_anew(&fresh, walk->pass, service->keyring, pay_encryption_key_context(&key->scope, p),
                   key->sealed, what, p);
    if (!fresh) {
        return closed_keep(walk, rv);
    }
    rv = pay_store_encryption_key_reseal(&changed, service->store, &key->scope, key->sealed, fresh,
                                         p);
    walk->pass->resealed += rv == APR_SUCCESS && changed;
    return rv;
}

static apr_status_t login_reseal(pay_reseal_t *pass, const pay_service_t *service, apr_pool_t *p)
{
    pay_delivery_t *delivery;
    const char *fresh;
    apr_status_t rv;

    rv = pay_store_delivery_get(&delivery, service->store, p);
    if (rv != APR_SUCCESS) {
        return rv == APR_NOTFOUND ? APR_SUCCESS : rv;
    }
    rv = seal_anew(&fresh, pass, service->keyring, PAY_DELIVERY_LOGIN_CONTEXT, delivery->mail_login,
                   "the login of the mail relay", p);
    if (!fresh) {
        return rv;
    }
    delivery->mail_login = fresh;
    rv = pay_store_delivery_put(service->store, delivery, p);
    pass->resealed += rv == APR_SUCCESS;
    return rv;
}

const pay_problem_t *pay_secrets_reseal(pay_reseal_t *out, const pay_service_t *service,
                                        apr_pool_t *p)
{
    static const pay_pager_t endpoints = {.list = endpoints_list, .each = endpoint_reseal};
    static const pay_pager_t keys = {.list = encryption_keys_list, .each = encryption_key_reseal};
    walk_t walk = {out, service, p};
    apr_status_t rv;

    out->behind = 0;
    out->closed = NULL;
    rv = pay_pager_walk(&endpoints, &walk, p);
    if (rv == APR_SUCCESS) {
        rv = pay_pager_walk(&keys, &walk, p);
    }
    if (rv == APR_SUCCESS) {
        rv = login_reseal(out, service, p);
    }
    return out->closed ? pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p) : problem_of(rv, p);
}

apr_status_t pay_secrets_note(const pay_service_t *service, apr_uint64_t resealed, apr_pool_t *p)
{
    return pay_change_note(service, PAY_CHANGE_STORE_RESEAL, 0, "master key",
                           apr_psprintf(p, "%" APR_UINT64_T_FMT " sealed anew", resealed), p);
}

/* ---- done by the server itself */

apr_status_t pay_server_defaults_put(pay_store_t *store, const char *name,
                                     const pay_account_settings_t *settings, apr_pool_t *p)
{
    return pay_store_defaults_put(store, name, settings, p);
}

static int is_same(const pay_delivery_t *a, const pay_delivery_t *b)
{
    return a->webhook_insecure == b->webhook_insecure && !strcmp(a->trusted_ca, b->trusted_ca)
           && !strcmp(a->webhook_allow, b->webhook_allow) && !strcmp(a->mail_relay, b->mail_relay)
           && !strcmp(a->mail_login, b->mail_login) && !strcmp(a->mail_from, b->mail_from)
           && !strcmp(a->mail_templates, b->mail_templates);
}

apr_status_t pay_server_delivery_put(pay_store_t *store, const pay_delivery_t *was,
                                     const pay_delivery_t *delivery, apr_pool_t *p)
{
    return was && is_same(was, delivery) ? APR_SUCCESS : pay_store_delivery_put(store, delivery, p);
}

apr_status_t pay_server_expire_keys(int *count, pay_store_t *store, apr_time_t now, int limit,
                                    apr_pool_t *p)
{
    return pay_store_idempotency_expire(count, store, now, limit, p);
}

apr_status_t pay_server_sweep_checkouts(int *count, pay_store_t *store, apr_time_t now, int limit,
                                        apr_pool_t *p)
{
    return pay_store_checkout_sweep(count, store, now, limit, p);
}
