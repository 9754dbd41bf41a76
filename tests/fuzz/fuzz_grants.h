/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_GRANTS_H
#define FUZZ_GRANTS_H

/* The grant and the entries of the audit in the store of fuzz_store.h, and operations on them. */

#include "fuzz_store.h"

#include "base/text/writer.h"
#include "store/account/grant.h"
#include "store/record/audit.h"

#define FUZZ_HOST "pay.example.com"
#define FUZZ_USER "ada"
#define FUZZ_ENTRIES_MAX 1000

/* Returns a handle whose change leaves an entry. */
static inline pay_store_t *fuzz_audit_store(apr_pool_t *p)
{
    static const pay_audit_t entry = {
        .account = 1, .who = FUZZ_USER, .from = "dashboard", .what = "account grant"};
    pay_store_t *store;

    CHECK(pay_store_audited(&store, fuzz_store.store, &entry, p) == APR_SUCCESS);
    return store;
}

static inline void fuzz_grants_make(void)
{
    pay_grant_verdict_t verdict;
    pay_grant_t *grant;

    CHECK(pay_store_grant_put(&grant, &verdict, fuzz_audit_store(fuzz_store.pool), "shop",
                              FUZZ_HOST, FUZZ_USER, PAY_ROLE_OWNER, 0, fuzz_store.pool)
          == APR_SUCCESS);
    CHECK(verdict == PAY_GRANT_DONE);
    CHECK(pay_store_audit_note(fuzz_audit_store(fuzz_store.pool)) == APR_SUCCESS);
}

/* A grant that decodes is encoded as it was, and its host and user are valid for a grant. */
static inline void fuzz_grants_decode(const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p)
{
    pay_grant_t *grant, *again;
    const char *host;
    pay_bytes_t written;
    int rc;

    rc = pay_store_grant_decode(&grant, key, row, p);
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK((rc == 0) == (grant != NULL));
    if (rc) {
        return;
    }
    CHECK(grant->role >= PAY_ROLE_VIEWER && grant->role <= PAY_ROLE_LAST);
    CHECK(pay_grant_host(&host, grant->host, p) == APR_SUCCESS && !strcmp(host, grant->host));
    CHECK(pay_grant_user_check(grant->user) == APR_SUCCESS);
    CHECK(pay_store_grant_encode(&written, grant, p) == 0);
    CHECK(((const unsigned char *)row->data)[1] != ((const unsigned char *)written.data)[1]
          || (row->len == written.len && !memcmp(row->data, written.data, row->len)));
    CHECK(pay_store_grant_decode(&again, key, &written, p) == 0);
}

/* Reads are grants; ECORRUPT only if the check found a fault. */
static inline void fuzz_grants_read(apr_size_t faults, apr_pool_t *p)
{
    apr_array_header_t *grants;
    pay_grant_t *grant;
    apr_status_t rv;
    int i;

    rv = pay_store_grant_get(&grant, fuzz_store.store, "shop", FUZZ_HOST, FUZZ_USER, p);
    CHECK(rv == APR_SUCCESS || rv == APR_NOTFOUND || (rv == PAY_STORE_ECORRUPT && faults > 0));
    rv = pay_store_grant_list_user(&grants, fuzz_store.store, FUZZ_HOST, FUZZ_USER, p);
    CHECK(rv == APR_SUCCESS || (rv == PAY_STORE_ECORRUPT && faults > 0));
    rv = pay_store_grant_list(&grants, fuzz_store.store, "shop", p);
    CHECK(rv == APR_SUCCESS || rv == APR_NOTFOUND || (rv == PAY_STORE_ECORRUPT && faults > 0));
    for (i = 0; rv == APR_SUCCESS && i < grants->nelts; i++) {
        pay_grant_to_json(pay_writer_make(0, p), NULL, APR_ARRAY_IDX(grants, i, pay_grant_t *));
    }
}

/* Any result is allowed, but nothing may end the process. */
static inline void fuzz_grants_write(apr_pool_t *p)
{
    pay_grant_verdict_t verdict;
    pay_grant_t *grant;

    (void)pay_store_grant_put(&grant, &verdict, fuzz_store.store, "shop", FUZZ_HOST, FUZZ_USER,
                              PAY_ROLE_VIEWER, 1, p);
    (void)pay_store_grant_delete(&verdict, fuzz_store.store, "shop", FUZZ_HOST, FUZZ_USER, 1, p);
    (void)pay_store_grant_delete(&verdict, fuzz_store.store, "shop", FUZZ_HOST, FUZZ_USER, 0, p);
}

static inline void fuzz_audit_decode(const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p)
{
    pay_audit_t *entry;
    pay_bytes_t written;
    int rc;

    rc = pay_store_audit_decode(&entry, key, row, p);
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK((rc == 0) == (entry != NULL));
    if (rc) {
        return;
    }
    CHECK(entry->seq > 0);
    pay_audit_to_json(pay_writer_make(0, p), NULL, entry, NULL);
    CHECK(pay_store_audit_encode(&written, entry, p) == 0);
    CHECK(((const unsigned char *)row->data)[1] != ((const unsigned char *)written.data)[1]
          || (row->len == written.len && !memcmp(row->data, written.data, row->len)));
}

/* Adds an entry, and lists all, one by one; either fails only if there is a fault. */
static inline void fuzz_audit_write(apr_size_t faults, apr_pool_t *p)
{
    apr_uint64_t before = 0;
    apr_array_header_t *list;
    apr_status_t rv;
    int count;

    rv = pay_store_audit_note(fuzz_audit_store(p));
    CHECK(rv == APR_SUCCESS
          || ((rv == PAY_STORE_ECORRUPT || rv == PAY_STORE_ESCHEMA) && faults > 0));
    for (count = 0; count < FUZZ_ENTRIES_MAX; count++) {
        rv = pay_store_audit_list(&list, fuzz_store.store, 1, before, 1, p);
        CHECK(rv == APR_SUCCESS || (rv == PAY_STORE_ECORRUPT && faults > 0));
        if (rv != APR_SUCCESS || list->nelts == 0) {
            break;
        }
        CHECK(!before || APR_ARRAY_IDX(list, 0, const pay_audit_t *)->seq < before);
        before = APR_ARRAY_IDX(list, 0, const pay_audit_t *)->seq;
    }
    CHECK(count < FUZZ_ENTRIES_MAX);
}

#endif
