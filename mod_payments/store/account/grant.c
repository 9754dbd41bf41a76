/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/grant.h"

#include "store/account/account.h"
#include "store/record/audit.h"
#include "store/record/record.h"
#include "store/record/time.h"
#include "store/record/walk.h"

#include <apr_strings.h>
#include <string.h>

typedef struct grant_work_t {
    const char *name;
    const char *host, *user;
    pay_role_t role;
    int keep_owner;
    unsigned char digest[PAY_SHA256_LEN];
    pay_grant_t *grant;
    pay_grant_verdict_t verdict;
    apr_pool_t *pool;
} grant_work_t;

/* `before` NULL: a new one; else no more than its role changes. */
static int grant_write(pay_rows_txn_t *txn, const pay_grant_t *before, const pay_grant_t *grant,
                       const unsigned char *digest, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val row;
    int rc;

    rc = pay_store_grant_encode(&row, grant, p);
    if (rc) {
        return rc;
    }
    pay_store_grant_key(&key, grant->account->number, digest);
    return pay_store_record_put(txn, &pay_store_grant_record, &key, &row, before, grant);
}

/* 1 in *out when the account, or the user, has as many grants as it may have. */
static int is_full(int *out, pay_rows_txn_t *txn, const pay_account_t *account,
                   const unsigned char *digest)
{
    int of_account, of_user, rc;
    pay_store_key_t prefix;

    *out = 0;
    pay_store_key_start(&prefix);
    pay_store_key_u32(&prefix, account->number);
    rc = pay_store_walk_count(&of_account, txn, PAY_TABLE_GRANT, &prefix, PAY_GRANTS_MAX);
    if (rc) {
        return rc;
    }
    pay_store_key_start(&prefix);
    (void)pay_store_key_bytes(&prefix, digest, PAY_SHA256_LEN);
    rc = pay_store_walk_count(&of_user, txn, PAY_TABLE_GRANT_USER, &prefix, PAY_GRANTS_MAX);
    *out = of_account >= PAY_GRANTS_MAX || of_user >= PAY_GRANTS_MAX;
    return rc;
}

/* 1 in *out when no other grant makes an owner of the account. */
static int is_last_owner(int *out, pay_rows_txn_t *txn, const pay_grant_t *grant, apr_pool_t *p)
{
    apr_array_header_t *grants;
    int rc, i, owners = 0;

    *out = 0;
    if (grant->role != PAY_ROLE_OWNER) {
        return MDB_SUCCESS;
    }
    rc = pay_store_grant_of_account(&grants, txn, grant->account, p);
    for (i = 0; !rc && i < grants->nelts; i++) {
        owners += APR_ARRAY_IDX(grants, i, const pay_grant_t *)->role == PAY_ROLE_OWNER;
    }
    *out = owners == 1;
    return rc;
}

/* What is there may not get another role, or a new one may not be added: work->verdict says why. */
static int put_judge(grant_work_t *work, pay_rows_txn_t *txn, const pay_account_t *account,
                     const pay_grant_t *before)
{
    int rc, refused = 0;

    if (!before) {
        rc = is_full(&refused, txn, account, work->digest);
        work->verdict = refused ? PAY_GRANT_REFUSED_FULL : PAY_GRANT_DONE;
        return rc;
    }
    if (before->role == work->role) {
        work->verdict = PAY_GRANT_UNCHANGED;
        return MDB_SUCCESS;
    }
    rc = work->keep_owner ? is_last_owner(&refused, txn, before, work->pool) : MDB_SUCCESS;
    work->verdict = refused ? PAY_GRANT_REFUSED_OWNER : PAY_GRANT_DONE;
    return rc;
}

static void put_tell(const grant_work_t *work, pay_store_t *db, const pay_account_t *account,
                     const pay_grant_t *before)
{
    pay_store_audit_tell(db, account->number, work->user,
                         apr_psprintf(work->pool, "%s: %s -> %s", work->host,
                                      before ? pay_role_name(before->role) : "none",
                                      pay_role_name(work->role)));
}

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    grant_work_t *work = baton;
    pay_grant_t *grant, *before;
    pay_account_t *account;
    int rc;

    work->grant = NULL;
    work->verdict = PAY_GRANT_DONE;
    rc = pay_store_account_by_name(&account, txn, work->name, work->pool);
    if (rc) {
        return rc;
    }
    rc = pay_store_grant_load(&grant, txn, account, work->digest, work->pool);
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    rc = put_judge(work, txn, account, grant);
    if (rc || work->verdict != PAY_GRANT_DONE) {
        work->grant = grant;
        return rc ? rc : PAY_ROWS_SILENT;
    }
    put_tell(work, txn->store, account, grant);
    before = grant;
    if (!grant) {
        grant = apr_pcalloc(work->pool, sizeof(*grant));
        grant->host = work->host;
        grant->user = work->user;
        grant->account = account;
        grant->created_at = pay_store_time_now();
    }
    grant->role = work->role;
    grant->updated_at = pay_store_time_now();
    work->grant = grant;
    return grant_write(txn, before, grant, work->digest, work->pool);
}

apr_status_t pay_store_grant_put(pay_grant_t **out, pay_grant_verdict_t *verdict,
                                 pay_store_t *store, const char *name, const char *host,
                                 const char *user, pay_role_t role, int keep_owner, apr_pool_t *p)
{
    grant_work_t work = {.name = name, .role = role, .keep_owner = keep_owner, .pool = p};
    apr_status_t rv;

    *out = NULL;
    *verdict = PAY_GRANT_DONE;
    if (role < PAY_ROLE_VIEWER || role > PAY_ROLE_LAST) {
        return APR_EINVAL;
    }
    rv = pay_store_grant_name_read(&work.host, &work.user, work.digest, host, user, p);
    if (rv == APR_SUCCESS) {
        rv = pay_rows_commit(store, pay_turn_store(), 1, put_work, &work);
    }
    if (rv == APR_SUCCESS) {
        *out = work.grant;
        *verdict = work.verdict;
    }
    return rv;
}

static int delete_work(pay_rows_txn_t *txn, void *baton)
{
    grant_work_t *work = baton;
    pay_account_t *account;
    pay_store_key_t key;
    pay_grant_t *grant;
    int rc, last = 0;

    work->verdict = PAY_GRANT_DONE;
    rc = pay_store_account_by_name(&account, txn, work->name, work->pool);
    if (!rc) {
        rc = pay_store_grant_load(&grant, txn, account, work->digest, work->pool);
    }
    if (!rc && work->keep_owner) {
        rc = is_last_owner(&last, txn, grant, work->pool);
    }
    if (rc) {
        return rc;
    }
    if (last) {
        work->verdict = PAY_GRANT_REFUSED_OWNER;
        return PAY_ROWS_SILENT;
    }
    pay_store_audit_tell(
        txn->store, account->number, work->user,
        apr_psprintf(work->pool, "%s: %s -> none", work->host, pay_role_name(grant->role)));
    pay_store_grant_key(&key, account->number, work->digest);
    return pay_store_record_del(txn, &pay_store_grant_record, &key, grant);
}

apr_status_t pay_store_grant_delete(pay_grant_verdict_t *verdict, pay_store_t *store,
                                    const char *name, const char *host, const char *user,
                                    int keep_owner, apr_pool_t *p)
{
    grant_work_t work = {.name = name, .keep_owner = keep_owner, .pool = p};
    apr_status_t rv;

    *verdict = PAY_GRANT_DONE;
    rv = pay_store_grant_name_read(&work.host, &work.user, work.digest, host, user, p);
    if (rv != APR_SUCCESS) {
        return rv == APR_EINVAL ? APR_NOTFOUND : rv;
    }
    rv = pay_rows_commit(store, pay_turn_store(), 0, delete_work, &work);
    if (rv == APR_SUCCESS) {
        *verdict = work.verdict;
    }
    return rv;
}
