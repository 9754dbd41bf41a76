/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/token.h"

#include "base/crypto/crypto.h"
#include "store/account/account.h"
#include "store/keys.h"
#include "store/record/audit.h"
#include "store/record/rows.h"
#include "store/record/time.h"
#include "store/record/walk.h"
#include "store/row.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

/* Scope and token are in the row's key. */
static const pay_row_field_t token_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_TEXT, pay_token_t, card.first6),
    PAY_ROW_FIELD(PAY_ROW_TEXT, pay_token_t, card.last4),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_token_t, card.issuer),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_token_t, card.country),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_token_t, card.type),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_token_t, email),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_token_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_token_t, revoked_at),
};
#define ERASED "\x01"
#define TOKEN_FIELDS (sizeof(token_fields) / sizeof(token_fields[0]))

typedef struct token_work_t {
    const pay_token_t *proposal;
    const pay_scope_t *scope;
    const char *text;
    pay_token_t *token;
    apr_pool_t *pool;
} token_work_t;

/* Returns 0 if no token can have that text. */
static int token_key(pay_store_key_t *key, const pay_scope_t *scope, const char *text)
{
    size_t len = strlen(text);

    pay_store_key_of_scope(key, scope);
    return len > 0 && len <= PAY_TOKEN_TEXT_MAX && pay_store_key_bytes(key, text, len);
}

int pay_store_token_decode(pay_token_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                           apr_pool_t *p)
{
    pay_token_t *token = apr_pcalloc(p, sizeof(*token));
    int rc;

    *out = NULL;
    if (key->len <= PAY_STORE_SCOPE_LEN) {
        return pay_rows_bad(PAY_TABLE_TOKEN, key);
    }
    rc = pay_row_decode(token, token_fields, TOKEN_FIELDS, row, NULL, p);
    if (rc) {
        return pay_rows_bad(PAY_TABLE_TOKEN, key);
    }
    pay_store_read_scope(&token->scope, key->data);
    token->token = apr_pstrmemdup(p, (const char *)key->data + PAY_STORE_SCOPE_LEN,
                                  key->len - PAY_STORE_SCOPE_LEN);
    *out = token;
    return 0;
}

/* The text that identifies an erased token: no token in a request has that form. */
static apr_status_t erased_text(const char **out, const char *text, apr_pool_t *p)
{
    unsigned char digest[PAY_SHA256_LEN];
    apr_status_t rv;

    rv = pay_sha256(digest, text, strlen(text));
    *out =
        rv == APR_SUCCESS ? apr_pstrcat(p, ERASED, pay_hex(digest, sizeof(digest), p), NULL) : "";
    return rv;
}

static int row_read(pay_token_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                    const char *text, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *out = NULL;
    if (!token_key(&key, scope, text)) {
        return PAY_ROWS_NOTFOUND;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_TOKEN, &at);
    return rc ? rc : pay_store_token_decode(out, &at, &row, p);
}

int pay_store_token_load(pay_token_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                         const char *text, apr_pool_t *p)
{
    const char *erased;
    int rc;

    rc = row_read(out, txn, scope, text, p);
    if (rc != PAY_ROWS_NOTFOUND || scope->mode == PAY_TEST) {
        return rc;
    }
    rc = erased_text(&erased, text, p);
    if (!rc) {
        rc = row_read(out, txn, scope, erased, p);
    }
    if (!rc) {
        (*out)->token = text;
    }
    return rc;
}

static int token_write(pay_rows_txn_t *txn, const pay_token_t *token, unsigned int flags,
                       apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    if (!token_key(&key, &token->scope, token->token)) {
        return EINVAL;
    }
    rc = pay_row_encode(&row, token_fields, TOKEN_FIELDS, token, p);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    return pay_store_rows_put(txn, PAY_TABLE_TOKEN, &at, &row, flags);
}

/* The audit names the card, never the token. */
static void tell(pay_store_t *db, const pay_token_t *token, apr_pool_t *p)
{
    pay_store_audit_tell(db, token->scope.account, apr_psprintf(p, "card ...%s", token->card.last4),
                         pay_mode_name(token->scope.mode));
}

int pay_store_token_issue(pay_rows_txn_t *txn, const pay_token_t *token, apr_pool_t *p)
{
    int rc;

    rc = token_write(txn, token, PAY_ROWS_NOOVERWRITE, p);
    return rc == PAY_ROWS_EXISTS ? 0 : rc;
}

int pay_store_token_erase(pay_rows_txn_t *txn, const pay_bytes_t *key, const pay_bytes_t *row,
                          apr_pool_t *p)
{
    const pay_card_t no_card = {.issuer = "", .country = "", .type = ""};
    pay_token_t *token;
    pay_bytes_t at = *key;
    int rc;

    rc = pay_store_token_decode(&token, key, row, p);
    if (!rc) {
        rc = pay_store_rows_del(txn, PAY_TABLE_TOKEN, &at);
    }
    if (rc || token->scope.mode == PAY_TEST) {
        return rc;
    }
    rc = erased_text(&token->token, token->token, p);
    if (rc) {
        return rc;
    }
    token->email = "";
    token->card = no_card;
    token->revoked_at = token->revoked_at ? token->revoked_at : pay_store_time_now();
    return token_write(txn, token, 0, p);
}

static int create_work(pay_rows_txn_t *txn, void *baton)
{
    token_work_t *work = baton;
    pay_token_t token = *work->proposal;
    pay_account_t *account;
    int rc;

    work->token = NULL;
    rc = pay_store_account_by_number(&account, txn, token.scope.account, work->pool);
    if (rc) {
        return rc;
    }
    tell(txn->store, &token, work->pool);
    token.created_at = pay_store_time_now();
    token.revoked_at = 0;
    rc = token_write(txn, &token, PAY_ROWS_NOOVERWRITE, work->pool);
    if (rc) {
        return rc;
    }
    return pay_store_token_load(&work->token, txn, &token.scope, token.token, work->pool);
}

apr_status_t pay_store_token_create(pay_token_t **out, pay_store_t *store, const pay_token_t *token,
                                    apr_pool_t *p)
{
    token_work_t work = {.proposal = token, .pool = p};
    apr_status_t rv;

    *out = NULL;
    if (!token->email || !token->card.issuer || !token->card.country || !token->card.type) {
        return APR_EINVAL;
    }
    rv = pay_rows_commit(store, pay_turn_scope(&token->scope), 1, create_work, &work);
    if (rv == APR_SUCCESS) {
        *out = work.token;
    }
    return rv;
}

apr_status_t pay_store_token_get(pay_token_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 const char *token, apr_pool_t *p)
{
    apr_status_t rv;
    pay_rows_txn_t txn;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_rows_status(pay_store_token_load(out, &txn, scope, token, p));
    pay_rows_end(&txn);
    return rv;
}

static int list_visit(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                      const pay_bytes_t *val)
{
    apr_array_header_t *tokens = baton;
    pay_token_t *token;
    int rc;

    (void)txn;
    rc = pay_store_token_decode(&token, key, val, tokens->pool);
    if (!rc && strncmp(token->token, ERASED, sizeof(ERASED) - 1) != 0) {
        APR_ARRAY_PUSH(tokens, pay_token_t *) = token;
    }
    return rc;
}

apr_status_t pay_store_token_list(apr_array_header_t **out, pay_store_t *store,
                                  const pay_scope_t *scope, apr_pool_t *p)
{
    apr_array_header_t *tokens = apr_array_make(p, 8, sizeof(pay_token_t *));
    pay_store_key_t prefix;
    apr_status_t rv;

    *out = NULL;
    pay_store_key_of_scope(&prefix, scope);
    rv = pay_store_walk(store, PAY_TABLE_TOKEN, &prefix, list_visit, tokens);
    if (rv == APR_SUCCESS) {
        *out = tokens;
    }
    return rv;
}

static int revoke_work(pay_rows_txn_t *txn, void *baton)
{
    token_work_t *work = baton;
    pay_token_t *token;
    int rc;

    work->token = NULL;
    rc = pay_store_token_load(&token, txn, work->scope, work->text, work->pool);
    if (rc) {
        return rc;
    }
    work->token = token;
    if (token->revoked_at) {
        return PAY_ROWS_SILENT;
    }
    tell(txn->store, token, work->pool);
    token->revoked_at = pay_store_time_now();
    return token_write(txn, token, 0, work->pool);
}

apr_status_t pay_store_token_revoke(pay_token_t **out, pay_store_t *store, const pay_scope_t *scope,
                                    const char *token, apr_pool_t *p)
{
    token_work_t work = {.scope = scope, .text = token, .pool = p};
    apr_status_t rv;

    *out = NULL;
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, revoke_work, &work);
    if (rv == APR_SUCCESS) {
        *out = work.token;
    }
    return rv;
}
