/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/mailed.h"

#include "base/crypto/crypto.h"
#include "model/recipients.h"
#include "store/rows_scan.h"

#include <errno.h>
#include <string.h>

#define TIME_LEN 8
#define SWEEP_VISITS 8 /* rows that one count examines: more than it adds */

static const char mailed_prefix[] = "mailed/";
#define PREFIX_LEN (sizeof(mailed_prefix) - 1)
#define MAILED_KEY_LEN (PREFIX_LEN + PAY_STORE_SCOPE_LEN + PAY_SHA256_LEN)

/* The content of a row: when receipts were sent, oldest first; only those that still count. */
typedef struct times_t {
    apr_time_t at[PAY_STORE_MAILED_MAX];
    int count;
} times_t;

static int key_make(pay_store_key_t *key, const pay_scope_t *scope, const char *address,
                    apr_pool_t *p)
{
    const char *mailbox = pay_recipients_mailbox(address, p);
    unsigned char digest[PAY_SHA256_LEN];

    pay_store_key_start(key);
    (void)pay_store_key_bytes(key, mailed_prefix, PREFIX_LEN);
    pay_store_key_scope(key, scope);
    if (pay_sha256(digest, mailbox, strlen(mailbox)) != APR_SUCCESS) {
        return EINVAL;
    }
    (void)pay_store_key_bytes(key, digest, sizeof(digest));
    return 0;
}

static void times_read(times_t *out, const pay_bytes_t *row, apr_time_t now)
{
    const unsigned char *bytes = row->data;
    apr_time_t at;
    size_t i;

    out->count = 0;
    for (i = 0; i + TIME_LEN <= row->len && out->count < PAY_STORE_MAILED_MAX; i += TIME_LEN) {
        at = pay_store_read_time(bytes + i);
        if (at <= now && now - at < PAY_STORE_MAILED_TIME) {
            out->at[out->count++] = at;
        }
    }
}

static int times_write(pay_rows_txn_t *txn, const pay_store_key_t *key, const times_t *times)
{
    pay_store_key_t bytes;
    pay_bytes_t at = pay_store_key_val(key), row;
    int i;

    pay_store_key_start(&bytes);
    for (i = 0; i < times->count; i++) {
        pay_store_key_time(&bytes, times->at[i]);
    }
    row = pay_store_key_val(&bytes);
    return pay_rows_put(txn, PAY_TABLE_META, &at, &row, 0);
}

static int is_mailed(const pay_bytes_t *key)
{
    return key->len == MAILED_KEY_LEN && memcmp(key->data, mailed_prefix, PREFIX_LEN) == 0;
}

/* Copies the keys of old rows among the first few after `key` and, after the last row, those from
 * the first one on: digests are spread evenly, so that each row is examined in time. */
static int old_rows(unsigned char out[SWEEP_VISITS][MAILED_KEY_LEN], int *count,
                    pay_rows_txn_t *txn, const pay_store_key_t *key, apr_time_t now)
{
    pay_store_key_t prefix = {.len = 0};
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_META, &prefix, key, PAY_ROWS_FROM);
    pay_bytes_t at, row;
    times_t times;
    int rc, visits, wrapped = 0;

    *count = 0;
    (void)pay_store_key_of(&prefix, key->bytes, PREFIX_LEN);
    rc = pay_rows_next(&at, &row, &scan);
    for (visits = 0; visits < SWEEP_VISITS && (!rc || rc == PAY_ROWS_NOTFOUND) && wrapped < 2;
         visits++) {
        if (rc == PAY_ROWS_NOTFOUND || !is_mailed(&at)) {
            wrapped++;
            pay_rows_scan_move(&scan, NULL);
            rc = pay_rows_next(&at, &row, &scan);
            continue;
        }
        times_read(&times, &row, now);
        if (times.count == 0) {
            memcpy(out[(*count)++], at.data, MAILED_KEY_LEN);
        }
        rc = pay_rows_next(&at, &row, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

static int sweep(pay_rows_txn_t *txn, const pay_store_key_t *key, apr_time_t now)
{
    unsigned char old[SWEEP_VISITS][MAILED_KEY_LEN];
    pay_bytes_t at;
    int i, count, rc;

    rc = old_rows(old, &count, txn, key, now);
    for (i = 0; !rc && i < count; i++) {
        at.len = MAILED_KEY_LEN;
        at.data = old[i];
        rc = pay_rows_del(txn, PAY_TABLE_META, &at);
        rc = rc == PAY_ROWS_NOTFOUND ? 0 : rc; /* visited twice */
    }
    return rc;
}

int pay_store_mailed_count(apr_time_t *until, pay_rows_txn_t *txn, const pay_scope_t *scope,
                           const char *address, apr_time_t now, apr_pool_t *p)
{
    times_t times = {.count = 0};
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *until = 0;
    rc = key_make(&key, scope, address, p);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_META, &at);
    if (rc && rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    if (!rc) {
        times_read(&times, &row, now);
    }
    if (times.count == PAY_STORE_MAILED_MAX) {
        *until = times.at[0] + PAY_STORE_MAILED_TIME;
        return 0;
    }
    times.at[times.count++] = now;
    rc = times_write(txn, &key, &times);
    return rc ? rc : sweep(txn, &key, now);
}

int pay_store_mailed_remove(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *address,
                            apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at;
    int rc;

    rc = key_make(&key, scope, address, p);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_del(txn, PAY_TABLE_META, &at);
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}
