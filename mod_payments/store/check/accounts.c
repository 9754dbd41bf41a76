/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/account.h"
#include "store/account/api_key.h"
#include "store/account/encryption_key.h"
#include "store/account/grant.h"
#include "store/check/check.h"
#include "store/keys.h"
#include "store/record/audit.h"
#include "store/record/epoch.h"

#include <apr_strings.h>
#include <string.h>

int pay_store_check_account_known(int *found, const pay_store_check_t *check, const void *number)
{
    pay_store_key_t key;
    pay_bytes_t at;

    pay_store_key_start(&key);
    pay_store_key_u32(&key, pay_store_read_u32(number));
    at = pay_store_key_val(&key);
    return pay_store_check_has(found, NULL, check, PAY_TABLE_ACCOUNT, &at);
}

int pay_store_check_account(pay_store_check_t *check, const pay_bytes_t *key,
                            const pay_bytes_t *row)
{
    pay_account_t *account;
    int rc = PAY_ROWS_BAD;

    (void)row;
    if (key->len == sizeof(apr_uint32_t)) {
        rc = pay_store_account_by_number(&account, check->txn, pay_store_read_u32(key->data),
                                         check->ptemp);
    }
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_ACCOUNT, key, "the row does not decode");
        return 0;
    }
    if (rc) {
        return rc;
    }
    return pay_store_check_entries(check, &pay_store_account_record, key, account);
}

int pay_store_check_api_key(pay_store_check_t *check, const pay_bytes_t *key,
                            const pay_bytes_t *row)
{
    pay_api_key_t *record;
    int rc;

    if (key->len != PAY_SHA256_LEN) {
        pay_store_check_fault(check, PAY_TABLE_API_KEY, key, "the key has a wrong length");
        return 0;
    }
    rc = pay_store_api_key_of_row(&record, check->txn, key, row, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_API_KEY, key,
                              "the row does not decode, or is of no account");
        return 0;
    }
    return rc ? rc : pay_store_check_entries(check, &pay_store_api_key_record, key, record);
}

/* A token that is looked up by its text is not found under any other key. */
static void check_token_text(pay_store_check_t *check, const pay_bytes_t *key)
{
    const char *text = (const char *)key->data + PAY_STORE_SCOPE_LEN;
    size_t len = key->len - PAY_STORE_SCOPE_LEN;
    pay_scope_t scope;

    if (len > PAY_TOKEN_TEXT_MAX || memchr(text, 0, len)) {
        pay_store_read_scope(&scope, key->data);
        pay_store_check_fault(check, PAY_TABLE_TOKEN, NULL, "a key of account %u, %s is no token's",
                              scope.account, pay_mode_name(scope.mode));
    }
}

/* The table's keys contain the tokens themselves: they are not reported. */
int pay_store_check_token(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    int rc, found = 0;

    (void)row;
    if (key->len > PAY_STORE_SCOPE_LEN) {
        check_token_text(check, key);
        rc = pay_store_check_account_known(&found, check, key->data);
        if (rc) {
            return rc;
        }
    }
    if (!found) {
        pay_store_check_fault(check, PAY_TABLE_TOKEN, NULL, "a token belongs to no account");
    }
    return 0;
}

apr_status_t pay_store_check_token_after(pay_store_check_t *check, const pay_bytes_t *key)
{
    pay_store_t *store = check->store;
    const char *text;
    pay_token_t *token;
    pay_scope_t scope;
    apr_status_t rv;

    if (key->len <= PAY_STORE_SCOPE_LEN) { /* reported before */
        return APR_SUCCESS;
    }
    pay_store_read_scope(&scope, key->data);
    text = apr_pstrmemdup(check->ptemp, (const char *)key->data + PAY_STORE_SCOPE_LEN,
                          key->len - PAY_STORE_SCOPE_LEN);
    rv = pay_store_token_get(&token, store, &scope, text, check->ptemp);
    if (rv == PAY_STORE_ECORRUPT) {
        pay_store_check_fault(check, PAY_TABLE_TOKEN, NULL,
                              "a row of account %u, %s does not decode", scope.account,
                              pay_mode_name(scope.mode));
        return APR_SUCCESS;
    }
    return rv == APR_NOTFOUND ? APR_SUCCESS : rv;
}

/* The server reports at its start whether the private half can be opened: the check has no master
 * key. */
int pay_store_check_encryption_key(pay_store_check_t *check, const pay_bytes_t *key,
                                   const pay_bytes_t *row)
{
    pay_encryption_key_t *record;
    int rc, found;

    rc = pay_store_encryption_key_decode(&record, key, row, check->ptemp);
    if (rc) {
        pay_store_check_fault(check, PAY_TABLE_ENCRYPTION_KEY, key, "the row does not decode");
        return 0;
    }
    rc = pay_store_check_account_known(&found, check, key->data);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_ENCRYPTION_KEY, key, "there is no such account");
    }
    return rc;
}

/* ---- grants */

int pay_store_check_grant(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_grant_t *grant;
    int rc, found;

    rc = pay_store_grant_decode(&grant, key, row, check->ptemp);
    if (rc) {
        pay_store_check_fault(check, PAY_TABLE_GRANT, key, "the row does not decode");
        return 0;
    }
    rc = pay_store_check_account_known(&found, check, key->data);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_GRANT, key, "there is no such account");
    }
    if (rc) {
        return rc;
    }
    return pay_store_check_entries(check, &pay_store_grant_record, key, grant);
}

/* ---- the audit */

/* Entries of an account are numbered from 1: a deleted one leaves a gap. */
int pay_store_check_audit(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_store_key_t before;
    pay_audit_t *entry;
    int rc, found;
    pay_bytes_t at;

    rc = pay_store_audit_decode(&entry, key, row, check->ptemp);
    if (rc) {
        pay_store_check_fault(check, PAY_TABLE_AUDIT, key, "the row does not decode");
        return 0;
    }
    if (entry->account) {
        rc = pay_store_check_account_known(&found, check, key->data);
        if (!rc && !found) {
            pay_store_check_fault(check, PAY_TABLE_AUDIT, key, "there is no such account");
        }
    }
    if (rc || entry->seq == 1) {
        return rc;
    }
    pay_store_audit_key(&before, entry->account, entry->seq - 1);
    at = pay_store_key_val(&before);
    rc = pay_store_check_has(&found, NULL, check, PAY_TABLE_AUDIT, &at);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_AUDIT, key, "the entry before it is gone");
    }
    return rc;
}

/* ---- the row of the epoch */

int pay_store_check_meta(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    const pay_bytes_t epoch = pay_store_epoch_key();
    pay_epoch_t read;
    int rc;

    (void)row;
    if (key->len != epoch.len || memcmp(key->data, epoch.data, epoch.len) != 0) {
        return 0;
    }
    rc = pay_store_epoch_read(&read, check->txn);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_META, key, "the row of its epoch does not decode");
        return 0;
    }
    return rc;
}
