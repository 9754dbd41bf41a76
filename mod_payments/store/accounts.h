/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ACCOUNTS_H
#define PAY_STORE_ACCOUNTS_H

/* Units of work of the store for accounts, keys, tokens, grants, encryption keys and the audit.
 * Include store/store.h instead. */

#include "store/types.h"

/* --- accounts: APR_EEXIST if the name is taken --- */
apr_status_t pay_store_account_create(pay_account_t **out, pay_store_t *store, const char *name,
                                      const pay_account_settings_t *settings, apr_pool_t *p);
apr_status_t pay_store_account_get(pay_account_t **out, pay_store_t *store, const char *name,
                                   apr_pool_t *p);
/* NULL members of `settings`, and a NULL `mode`, leave the stored value unchanged. */
apr_status_t pay_store_account_set(pay_account_t **out, pay_store_t *store, const char *name,
                                   const pay_account_settings_t *settings, const pay_mode_t *mode,
                                   apr_pool_t *p);
/* Array of pay_account_t *, ordered by name. */
apr_status_t pay_store_account_list(apr_array_header_t **out, pay_store_t *store, apr_pool_t *p);

/* The rows of an account: all that count for its quota, by mode. */
typedef struct pay_account_rows_t {
    apr_uint64_t rows[2];      /* by pay_mode_t */
    apr_uint64_t anonymous[2]; /* unpaid checkouts of public keys and links among them */
    apr_uint64_t entries;      /* of its audit, which are counted separately */
    int rows_max; /* of each mode and the audit; 0: no limit, or no server prepared the store */
} pay_account_rows_t;

apr_status_t pay_store_account_rows(pay_account_rows_t *out, pay_store_t *store,
                                    apr_uint32_t account, apr_pool_t *p);

/* The initial settings of `account create NAME`; `name` "" for any account. */
apr_status_t pay_store_defaults_put(pay_store_t *store, const char *name,
                                    const pay_account_settings_t *settings, apr_pool_t *p);
/* Returns those of the name, else of "", else the built-in ones. Never APR_NOTFOUND. */
apr_status_t pay_store_defaults_get(pay_account_settings_t **out, pay_store_t *store,
                                    const char *name, apr_pool_t *p);

/* --- keys: stores digest, id, scope and kind of `key`; APR_EEXIST if the digest exists --- */
apr_status_t pay_store_key_create(pay_api_key_t **out, pay_store_t *store, const pay_api_key_t *key,
                                  apr_pool_t *p);
/* Finds a key by digest, including revoked ones; account filled in. */
apr_status_t pay_store_key_find(pay_api_key_t **out, pay_store_t *store,
                                const unsigned char digest[PAY_SHA256_LEN], apr_pool_t *p);
apr_status_t pay_store_key_get(pay_api_key_t **out, pay_store_t *store, const char *id,
                               apr_pool_t *p);
/* Array of pay_api_key_t *, oldest first; of all accounts if `name` is NULL. */
apr_status_t pay_store_key_list(apr_array_header_t **out, pay_store_t *store, const char *name,
                                apr_pool_t *p);
/* Makes it valid until `when`; 0 or not in the future: revoked for good. An earlier end stays. */
apr_status_t pay_store_key_revoke(pay_api_key_t **out, pay_store_t *store, const char *id,
                                  apr_time_t when, apr_pool_t *p);
/* In one transaction: ends `id` like key_revoke (*old) and creates `successor` (*out). APR_EINVAL:
 * it already has an end. */
apr_status_t pay_store_key_rotate(pay_api_key_t **out, pay_api_key_t **old, pay_store_t *store,
                                  const char *id, apr_time_t until, const pay_api_key_t *successor,
                                  apr_pool_t *p);
/*
 * Takes an array of pay_api_key_t (digest and last_used_at set); only moves last_used_at forward.
 */
apr_status_t pay_store_key_touch(pay_store_t *store, const apr_array_header_t *used, apr_pool_t *p);

/* --- tokens: APR_EEXIST if the scope has it --- */
apr_status_t pay_store_token_create(pay_token_t **out, pay_store_t *store, const pay_token_t *token,
                                    apr_pool_t *p);
apr_status_t pay_store_token_get(pay_token_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 const char *token, apr_pool_t *p);
apr_status_t pay_store_token_list(apr_array_header_t **out, pay_store_t *store,
                                  const pay_scope_t *scope, apr_pool_t *p);
apr_status_t pay_store_token_revoke(pay_token_t **out, pay_store_t *store, const pay_scope_t *scope,
                                    const char *token, apr_pool_t *p);

/*
 * --- grants: host and user in any form that model/grant.h accepts --- If `keep_owner` is set, the
 * account's only owner, on any host, keeps that role: the verdict says so, and nothing was done.
 */
/* Gives the user the role, in place of any other. APR_NOTFOUND: no such account; APR_EINVAL: user
 * or host is not a valid name. *out is the present grant; NULL with PAY_GRANT_REFUSED_FULL. */
apr_status_t pay_store_grant_put(pay_grant_t **out, pay_grant_verdict_t *verdict,
                                 pay_store_t *store, const char *name, const char *host,
                                 const char *user, pay_role_t role, int keep_owner, apr_pool_t *p);
/* APR_NOTFOUND if the grant does not exist (any more). */
apr_status_t pay_store_grant_delete(pay_grant_verdict_t *verdict, pay_store_t *store,
                                    const char *name, const char *host, const char *user,
                                    int keep_owner, apr_pool_t *p);
/* APR_NOTFOUND if the account does not exist or the user has no grant for it. */
apr_status_t pay_store_grant_get(pay_grant_t **out, pay_store_t *store, const char *name,
                                 const char *host, const char *user, apr_pool_t *p);
/* Arrays of pay_grant_t *, at most PAY_GRANTS_MAX: of an account, by host and user; of a user of a
 * host, by account (empty for an unknown user). */
apr_status_t pay_store_grant_list(apr_array_header_t **out, pay_store_t *store, const char *name,
                                  apr_pool_t *p);
apr_status_t pay_store_grant_list_user(apr_array_header_t **out, pay_store_t *store,
                                       const char *host, const char *user, apr_pool_t *p);
/* --- encryption keys --- */
/*
 * Stores scope, public_pem and sealed of `key` unless the scope has a key, or in its place with
 * `replace` 1; *out is the scope's present key. APR_NOTFOUND: no such account.
 */
apr_status_t pay_store_encryption_key_put(pay_encryption_key_t **out, pay_store_t *store,
                                          const pay_encryption_key_t *key, int replace,
                                          apr_pool_t *p);
apr_status_t pay_store_encryption_key_get(pay_encryption_key_t **out, pay_store_t *store,
                                          const pay_scope_t *scope, apr_pool_t *p);
/* Array of pay_encryption_key_t *, at most `limit`, by scope, after `after` (NULL: all). */
apr_status_t pay_store_encryption_key_list(apr_array_header_t **out, pay_store_t *store,
                                           const pay_scope_t *after, int limit, apr_pool_t *p);
/* Replaces `was` by `sealed` (compare and set): *changed 0 if the scope has another. */
apr_status_t pay_store_encryption_key_reseal(int *changed, pay_store_t *store,
                                             const pay_scope_t *scope, const char *was,
                                             const char *sealed, apr_pool_t *p);

/* --- audit: entries are never changed or deleted --- */
/* Appends the entry of a handle of pay_store_audited through which no change was made: for a change
 * of many transactions, at its end. APR_EINVAL: the handle has no entry. */
apr_status_t pay_store_audit_note(pay_store_t *store);
/* Array of const pay_audit_t *, newest first, at most `limit`, of an account's number (0: of the
 * whole store); those before the entry with the seq `before` (0: from the newest). */
apr_status_t pay_store_audit_list(apr_array_header_t **out, pay_store_t *store,
                                  apr_uint32_t account, apr_uint64_t before, int limit,
                                  apr_pool_t *p);

#endif
