/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/audit.h"

#include "base/log.h"
#include "store/lmdb/env.h"
#include "store/lmdb/open.h"
#include "store/record/time.h"
#include "store/row.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <string.h>

#define NOTICES_PART 2 /* notices fill at most half of the quota */

/* Account and seq are in the row's key. */
static const pay_row_field_t audit_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, pay_audit_t, at),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_audit_t, who),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_audit_t, from),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_audit_t, what),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_audit_t, subject),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_audit_t, detail),
};
#define AUDIT_FIELDS (sizeof(audit_fields) / sizeof(audit_fields[0]))

/* Belongs to one handle, which one thread uses; the leader of its commit works for that thread. */
typedef struct pay_store_audit_t {
    const pay_audit_t *entry; /* owned by the caller */
    pay_audit_t now;          /* the entry that the running work will append */
    int appended;             /* in the transaction that is not yet committed */
    int done;
    apr_pool_t *pool;
} pay_store_audit_t;

void pay_store_audit_key(pay_store_key_t *key, apr_uint32_t account, apr_uint64_t seq)
{
    pay_store_key_start(key);
    pay_store_key_u32(key, account);
    pay_store_key_u64(key, seq);
}

int pay_store_audit_decode(pay_audit_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                           apr_pool_t *p)
{
    const unsigned char *at = key->data;
    pay_audit_t *entry = apr_pcalloc(p, sizeof(*entry));
    int rc;

    *out = NULL;
    if (key->len != PAY_STORE_AUDIT_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_AUDIT, key);
    }
    rc = pay_row_decode(entry, audit_fields, AUDIT_FIELDS, row, NULL, p);
    if (rc) {
        return pay_rows_bad(PAY_TABLE_AUDIT, key);
    }
    entry->account = pay_store_read_u32(at);
    entry->seq = pay_store_read_u64(at + 4);
    if (entry->seq == 0) {
        return pay_rows_bad(PAY_TABLE_AUDIT, key);
    }
    *out = entry;
    return 0;
}

int pay_store_audit_encode(pay_bytes_t *row, const pay_audit_t *entry, apr_pool_t *p)
{
    return pay_row_encode(row, audit_fields, AUDIT_FIELDS, entry, p);
}

static void account_key(pay_store_key_t *key, apr_uint32_t account)
{
    pay_store_key_start(key);
    pay_store_key_u32(key, account);
}

int pay_store_audit_last(apr_uint64_t *out, pay_rows_txn_t *txn, apr_uint32_t account)
{
    pay_store_key_t prefix, end;
    pay_bytes_t key, row;
    int rc;

    *out = 0;
    account_key(&prefix, account);
    pay_store_audit_key(&end, account, UINT64_MAX);
    rc = pay_rows_first(&key, &row, txn, PAY_TABLE_AUDIT, &prefix, &end, PAY_ROWS_BEFORE);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    if (key.len != PAY_STORE_AUDIT_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_AUDIT, &key);
    }
    *out = pay_store_read_u64((const unsigned char *)key.data + 4);
    return 0;
}

/* PAY_ROWS_NOOVERWRITE: existing entries are never changed. */
static int append(pay_rows_txn_t *txn, pay_store_audit_t *audit)
{
    pay_audit_t *entry = &audit->now;
    pay_rows_txn_t own = *txn;
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    rc = pay_store_audit_last(&entry->seq, txn, entry->account);
    if (rc) {
        return rc;
    }
    entry->seq++;
    entry->at = pay_store_time_now();
    entry->who = pay_audit_text(entry->who, audit->pool);
    entry->from = pay_audit_text(entry->from, audit->pool);
    entry->what = pay_audit_text(entry->what, audit->pool);
    entry->subject = pay_audit_text(entry->subject, audit->pool);
    entry->detail = pay_audit_text(entry->detail, audit->pool);
    rc = pay_store_audit_encode(&row, entry, audit->pool);
    if (rc) {
        return rc;
    }
    pay_store_audit_key(&key, entry->account, entry->seq);
    at = pay_store_key_val(&key);
    own.turn = pay_turn_account(entry->account); /* in addition to that of the change */
    rc = pay_rows_put(&own, PAY_TABLE_AUDIT, &at, &row, PAY_ROWS_NOOVERWRITE);
    return rc == PAY_ROWS_EXISTS ? PAY_ROWS_CORRUPTED : rc;
}

/*
 * Sets *reached to 1 if the entry is bounded and its account has as many as the quota allows, which
 * is logged now and then: the change is refused.
 */
static int judge(int *reached, pay_rows_txn_t *txn, const pay_store_audit_t *audit)
{
    apr_uint64_t entries, max = (apr_uint64_t)txn->store->options.account_rows_max;
    pay_lmdb_env_t *env = pay_lmdb_env_of(txn);
    int rc;

    *reached = 0;
    if (audit->done || audit->entry->bound == PAY_AUDIT_UNBOUNDED || audit->entry->account == 0
        || max == 0) {
        return 0;
    }
    rc = pay_store_audit_last(&entries, txn, audit->entry->account);
    if (audit->entry->bound == PAY_AUDIT_OF_NOTICE) {
        max /= NOTICES_PART;
    }
    if (rc || entries < max) {
        return rc;
    }
    *reached = 1;
    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_QUOTA)) {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00790) "store %s: the audit of account number %u has %" APR_UINT64_T_FMT
                                " entries, of which PaymentsAccountQuota allows %" APR_UINT64_T_FMT
                                " before \"%s\" is refused; paymentsctl still makes changes",
                txn->store->path, audit->entry->account, entries, max, audit->entry->what);
    }
    return 0;
}

/* Runs `work` and appends the entry if it is due. */
static int audit_run(int *refused, pay_rows_txn_t *txn, pay_rows_work_t work, void *baton)
{
    pay_store_audit_t *audit = txn->store->hook_data;
    int rc;

    rc = judge(refused, txn, audit);
    if (rc || *refused) {
        return rc;
    }
    audit->appended = 0;
    audit->now = *audit->entry;
    rc = work(txn, baton);
    if (rc || audit->done) {
        return rc;
    }
    rc = append(txn, audit);
    audit->appended = !rc;
    return rc;
}

static void audit_committed(pay_store_t *db, apr_status_t rv)
{
    pay_store_audit_t *audit = db->hook_data;

    if (rv == APR_SUCCESS && audit->appended) {
        audit->done = 1;
    }
}

static const pay_lmdb_hook_t audit_hook = {audit_run, audit_committed};

/* Returns NULL if changes through the handle leave no entry. */
static pay_store_audit_t *audit_of(const pay_store_t *db)
{
    return db->hook == &audit_hook ? db->hook_data : NULL;
}

void pay_store_audit_tell(pay_store_t *db, apr_uint32_t account, const char *subject,
                          const char *detail)
{
    pay_store_audit_t *audit = audit_of(db);

    if (!audit) {
        return;
    }
    if (account) {
        audit->now.account = account;
    }
    if (subject) {
        audit->now.subject = subject;
    }
    if (detail) {
        audit->now.detail = detail;
    }
}

apr_status_t pay_store_audited(pay_store_t **out, pay_store_t *store, const pay_audit_t *entry,
                               apr_pool_t *p)
{
    pay_store_t *base = pay_rows_base(store);
    pay_store_audit_t *audit = apr_pcalloc(p, sizeof(*audit));
    pay_store_t *db = apr_pcalloc(p, sizeof(*db));

    audit->entry = entry;
    audit->pool = p;
    db->path = base->path;
    db->options = base->options;
    db->base = base;
    db->hook = &audit_hook;
    db->hook_data = audit;
    *out = db;
    return APR_SUCCESS;
}

/* ---- the table's own operations */

static int note_work(pay_rows_txn_t *txn, void *baton)
{
    (void)txn;
    (void)baton;
    return 0; /* there is only the entry to write */
}

apr_status_t pay_store_audit_note(pay_store_t *store)
{
    const pay_store_audit_t *audit = audit_of(store);

    if (!audit) {
        return APR_EINVAL;
    }
    return audit->done ? APR_SUCCESS : pay_rows_commit(store, pay_turn_store(), 0, note_work, NULL);
}

static int list_work(apr_array_header_t *out, pay_rows_txn_t *txn, apr_uint32_t account,
                     apr_uint64_t before, int limit)
{
    pay_store_key_t prefix, end;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_AUDIT, &prefix, &end, PAY_ROWS_BEFORE);
    pay_audit_t *entry;
    pay_bytes_t key, row;
    int rc;

    account_key(&prefix, account);
    pay_store_audit_key(&end, account, before ? before : UINT64_MAX);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && out->nelts < limit) {
        rc = pay_store_audit_decode(&entry, &key, &row, out->pool);
        if (!rc) {
            APR_ARRAY_PUSH(out, const pay_audit_t *) = entry;
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

apr_status_t pay_store_audit_list(apr_array_header_t **out, pay_store_t *store,
                                  apr_uint32_t account, apr_uint64_t before, int limit,
                                  apr_pool_t *p)
{
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    *out = apr_array_make(p, 16, sizeof(const pay_audit_t *));
    if (limit < 1 || limit > PAY_STORE_ROWS_MAX) {
        return APR_EINVAL;
    }
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = list_work(*out, &txn, account, before, limit);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
