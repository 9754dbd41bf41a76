/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"
#include "store/lmdb/open.h"
#include "store/lmdb/place.h"
#include "store/record/rows.h"
#include "store/store.h"

#include <apr_strings.h>
#include <string.h>

static const char lmdb_scheme[] = "lmdb:";

const pay_store_options_t pay_store_options_default = {
    .map_bytes = APR_INT64_C(64) << 30,
    .checkout_keep = PAY_STORE_CHECKOUT_KEEP,
    .reserve_bytes = APR_INT64_C(256) << 20,
    .commit_wait = apr_time_from_sec(2),
    .commit_batch = PAY_STORE_COMMIT_BATCH_MAX,
    .readers_max = 1024,
};

/* In the order of the statuses. */
static const char *const status_texts[] = {
    "the store is out of service; the log gives the reason",
    "the store is of another schema version; see paymentsctl store upgrade",
    "the store, its disk or its reserve is full; see PaymentsStoreSize and PaymentsStoreReserve",
    "the store is busy: the writer lock was not free within PaymentsCommitWait; nothing was done",
    "the commit failed and its outcome is unknown; check the store before you try again",
    "a stored row does not decode; see paymentsctl store check",
};
_Static_assert(sizeof(status_texts) / sizeof(status_texts[0])
                   == PAY_STORE_ELAST - PAY_STORE_EDOWN + 1,
               "a text for each status");

const char *pay_store_status_text(apr_status_t status)
{
    if (status < PAY_STORE_EDOWN || status > PAY_STORE_ELAST) {
        return NULL;
    }
    return status_texts[status - PAY_STORE_EDOWN];
}

/* Returns the part after the scheme, or NULL if the scheme is another one. */
static const char *path_of(const char *url)
{
    const size_t len = sizeof(lmdb_scheme) - 1;

    return strncmp(url, lmdb_scheme, len) == 0 ? url + len : NULL;
}

const char *pay_store_url_fault(const char *url)
{
    const char *path = path_of(url);

    if (!path) {
        return "a store's URL begins with \"lmdb:\", as in lmdb:/var/lib/payments";
    }
    return pay_lmdb_path_fault(path);
}

apr_array_header_t *pay_store_paths(const char *url, apr_pool_t *p)
{
    static const char *const files[] = {"/" PAY_LMDB_DATA_FILE, "/" PAY_LMDB_LOCK_FILE};
    apr_array_header_t *paths = apr_array_make(p, 3, sizeof(const char *));
    size_t i;

    if (pay_store_url_fault(url)) {
        return paths;
    }
    APR_ARRAY_PUSH(paths, const char *) = path_of(url);
    for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        APR_ARRAY_PUSH(paths, const char *) = apr_pstrcat(p, path_of(url), files[i], NULL);
    }
    return paths;
}

void pay_store_mark_log(pay_store_mark_t *mark, const char *url)
{
    pay_lmdb_mark_log(mark, path_of(url));
}

apr_status_t pay_store_open(pay_store_t **out, const char *url, const pay_store_options_t *options,
                            apr_pool_t *p)
{
    *out = NULL;
    if (pay_store_url_fault(url)) {
        return APR_EINVAL;
    }
    return pay_lmdb_open(out, path_of(url), options, p);
}

apr_status_t pay_store_hand_over(const char **reason, const char *url, apr_uid_t uid, apr_gid_t gid,
                                 apr_pool_t *p)
{
    *reason = pay_store_url_fault(url);
    if (*reason) {
        return APR_EINVAL;
    }
    return pay_lmdb_hand_over(reason, path_of(url), uid, gid, p);
}

apr_status_t pay_store_prepare(const char **reason, const char *url,
                               const pay_store_options_t *options, apr_pool_t *p)
{
    *reason = pay_store_url_fault(url);
    if (*reason) {
        return APR_EINVAL;
    }
    return pay_lmdb_prepare(reason, path_of(url), options, p);
}

apr_status_t pay_store_verify(const char **reason, const char *url,
                              const pay_store_options_t *options, apr_pool_t *p)
{
    *reason = pay_store_url_fault(url);
    if (*reason) {
        return APR_EINVAL;
    }
    return pay_lmdb_verify(reason, path_of(url), options, p);
}

apr_status_t pay_store_upgrade(const char **text, const char *url,
                               const pay_store_options_t *options, int dry_run, apr_pool_t *p)
{
    *text = pay_store_url_fault(url);
    if (*text) {
        return APR_EINVAL;
    }
    return pay_lmdb_upgrade(text, path_of(url), options, dry_run, p);
}

/* ---- prepare */

apr_status_t pay_lmdb_prepare(const char **reason, const char *path,
                              const pay_store_options_t *options, apr_pool_t *p)
{
    pay_store_options_t creating = *options;
    apr_status_t rv;
    pay_store_t db;

    *reason = pay_lmdb_path_fault(path);
    if (*reason) {
        return APR_EINVAL;
    }
    creating.create = 1;
    creating.read_only = 0;
    pay_lmdb_handle_init(&db, apr_pstrdup(p, path), &creating);
    rv = pay_store_ready(reason, &db, p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_limits_put(&db, &creating, p);
        if (rv == APR_SUCCESS) {
            rv = pay_store_rows_prepare(&db, p);
        }
        if (rv != APR_SUCCESS) {
            *reason = pay_store_status_text(rv);
        }
    }
    (void)pay_lmdb_handle_close(&db); /* its users open it without `create` */
    pthread_mutex_destroy(&db.mutex);
    return rv;
}

/* ---- verify */

static void fault_ignore(void *baton, const char *text)
{
    (void)baton;
    (void)text;
}

/* Sets `reason` to the fault of an open store; APR_SUCCESS if it has none. */
static apr_status_t verify_open(const char **reason, pay_store_t *db, apr_pool_t *p)
{
    apr_size_t faults = 0;
    apr_status_t rv;
    int agree;

    rv = pay_lmdb_pages_agree(&agree, db);
    if (rv == APR_SUCCESS && !agree) {
        *reason = "another process still has the previous content of data.mdb open";
        return PAY_STORE_EDOWN;
    }
    if (rv == APR_SUCCESS) {
        rv = pay_lmdb_pages_touch(db);
    }
    if (rv == APR_SUCCESS) {
        rv = pay_store_check(&faults, db, fault_ignore, NULL, p);
    }
    if (rv == APR_SUCCESS && faults > 0) {
        *reason = apr_psprintf(p, "the check found %" APR_SIZE_T_FMT " faults", faults);
        return PAY_STORE_ECORRUPT;
    }
    if (rv != APR_SUCCESS) {
        *reason = pay_store_status_text(rv);
    }
    return rv;
}

apr_status_t pay_lmdb_verify(const char **reason, const char *path,
                             const pay_store_options_t *options, apr_pool_t *p)
{
    pay_store_options_t looking = *options;
    apr_status_t rv;
    pay_store_t db;

    *reason = pay_lmdb_path_fault(path);
    if (*reason) {
        return APR_EINVAL;
    }
    looking.create = 0;
    looking.read_only = 1;
    looking.shared = NULL;
    looking.mark = NULL; /* it is set, and refuses all other uses */
    pay_lmdb_handle_init(&db, apr_pstrdup(p, path), &looking);
    rv = pay_store_ready(reason, &db, p);
    if (rv == APR_SUCCESS) {
        rv = verify_open(reason, &db, p);
    }
    (void)pay_lmdb_handle_close(&db);
    pthread_mutex_destroy(&db.mutex);
    return rv;
}

/* ---- upgrade */

/*
 * Schema version 1 is the first, so there is nothing older to upgrade: this only distinguishes a
 * store of this version from one that a newer program wrote, and leaves both unchanged.
 */
apr_status_t pay_lmdb_upgrade(const char **text, const char *path,
                              const pay_store_options_t *options, int dry_run, apr_pool_t *p)
{
    pay_store_options_t looking = *options;
    apr_status_t rv;
    pay_store_t db;

    (void)dry_run; /* nothing is written in either case */
    *text = pay_lmdb_path_fault(path);
    if (*text) {
        return APR_EINVAL;
    }
    looking.create = 0;
    pay_lmdb_handle_init(&db, apr_pstrdup(p, path), &looking);
    rv = pay_store_ready(text, &db, p);
    (void)pay_lmdb_handle_close(&db);
    pthread_mutex_destroy(&db.mutex);
    if (rv == APR_SUCCESS) {
        *text = apr_psprintf(p,
                             "store %s has schema version %u, which this program uses: nothing "
                             "to do",
                             db.path, (unsigned int)PAY_STORE_SCHEMA_VERSION);
    }
    return rv;
}
