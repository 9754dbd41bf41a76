/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/refund.h"

#include "base/crypto/crypto.h"
#include "model/idempotency.h"
#include "store/payment/charge.h"
#include "store/payment/kept.h"
#include "store/payment/refund_record.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <errno.h>
#include <string.h>

#define DIGEST_LEN 16 /* of the SHA-256: enough that no two requests meet by chance */
#define PREFIX_LEN (PAY_STORE_SCOPE_LEN + sizeof(apr_uint64_t) + DIGEST_LEN)
#define KEY_LEN (PREFIX_LEN + sizeof(apr_uint64_t))
#define AMOUNT_TEXT_MAX 24

/* What all equal refunds of a charge have in common. */
static int digest_of(unsigned char digest[DIGEST_LEN], const pay_refund_t *like)
{
    char amount[AMOUNT_TEXT_MAX];
    const char *values[] = {amount, like->customer_note, like->merchant_note};
    unsigned char whole[PAY_SHA256_LEN];
    apr_status_t rv;

    apr_snprintf(amount, sizeof(amount), "%" APR_INT64_T_FMT, like->money.amount_minor);
    rv = pay_idempotency_digest(whole, values, sizeof(values) / sizeof(values[0]));
    if (rv == APR_SUCCESS) {
        memcpy(digest, whole, DIGEST_LEN);
    }
    return rv;
}

/* 0: it is not DIGEST_LEN bytes in lower-case hex. */
static int read_hex(unsigned char digest[DIGEST_LEN], const char *text)
{
    static const char digits[] = "0123456789abcdef";
    const char *high, *low;
    int i;

    if (strlen(text) != 2 * DIGEST_LEN || strspn(text, digits) != 2 * DIGEST_LEN) {
        return 0;
    }
    for (i = 0; i < DIGEST_LEN; i++) {
        high = strchr(digits, text[2 * i]);
        low = strchr(digits, text[2 * i + 1]);
        digest[i] = (unsigned char)((high - digits) << 4 | (low - digits));
    }
    return 1;
}

/* As above, also for one whose notes were erased: then its row tells. */
static int digest_asked(unsigned char digest[DIGEST_LEN], const pay_refund_t *refund)
{
    if (!refund->asked_digest || *refund->asked_digest == '\0') {
        return digest_of(digest, refund);
    }
    return read_hex(digest, refund->asked_digest) ? MDB_SUCCESS : EINVAL;
}

static void start_key(pay_store_key_t *key, const pay_scope_t *scope, apr_uint64_t charge_seq,
                      const unsigned char digest[DIGEST_LEN])
{
    pay_store_key_of_scope(key, scope);
    pay_store_key_u64(key, charge_seq);
    (void)pay_store_key_bytes(key, digest, DIGEST_LEN);
}

int pay_store_refund_repeat_key(pay_store_key_t *key, const pay_refund_t *refund)
{
    unsigned char digest[DIGEST_LEN];
    int rc;

    rc = digest_asked(digest, refund);
    if (!rc) {
        start_key(key, &refund->scope, refund->charge_seq, digest);
        pay_store_key_u64(key, refund->seq);
    }
    return rc;
}

/* ---- a payer who is erased */

/* The end of the longest window there is, which the server's own is never longer than; as is judged
 * what is recent, by the boot clock where that can tell. */
static apr_time_t end_of(const pay_refund_t *refund, apr_time_t now)
{
    apr_interval_time_t age;

    if (pay_moment_age(&age, &refund->opened)) {
        return now + PAY_REFUND_REPEAT_MAX - age;
    }
    return refund->created_at + PAY_REFUND_REPEAT_MAX;
}

int pay_store_refund_repeat_erase(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p)
{
    const apr_time_t now = pay_store_time_now();
    unsigned char digest[DIGEST_LEN];
    apr_time_t end = end_of(refund, now);
    int rc;

    if (refund->state == PAY_REFUND_PENDING || refund->created_at > now) {
        end = now + PAY_REFUND_REPEAT_MAX;
    }
    if (*refund->asked_digest == '\0' && end > now) {
        rc = digest_of(digest, refund);
        if (rc) {
            return rc;
        }
        refund->asked_digest = pay_hex(digest, DIGEST_LEN, p);
        return pay_store_kept_add_repeat(txn, refund, end, p);
    }
    return MDB_SUCCESS; /* erased before and not over, or over */
}

int pay_store_refund_repeat_forget(pay_rows_txn_t *txn, pay_store_refund_t *row, apr_pool_t *p)
{
    if (*row->refund.asked_digest == '\0') {
        return MDB_SUCCESS;
    }
    row->refund.asked_digest = "";
    return pay_store_refund_put(txn, row, p);
}

/* ---- looking up */

int pay_store_refund_repeat_newest(pay_store_refund_t **out, pay_rows_txn_t *txn,
                                   const pay_charge_t *charge, const pay_refund_t *like,
                                   apr_pool_t *p)
{
    MDB_val key, refund_key;
    unsigned char digest[DIGEST_LEN];
    pay_store_key_t prefix, beyond;
    int rc;

    *out = NULL;
    rc = digest_of(digest, like);
    if (rc) {
        return rc;
    }
    start_key(&prefix, &charge->scope, charge->seq, digest);
    beyond = prefix;
    pay_store_key_u64(&beyond, ~(apr_uint64_t)0); /* a number that is never given */
    rc = pay_rows_first(&key, &refund_key, txn, PAY_TABLE_REFUND_REPEAT, &prefix, &beyond,
                        PAY_ROWS_BEFORE);
    if (rc || key.mv_size != KEY_LEN) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    rc = pay_store_refund_get(out, txn, &refund_key, p);
    return rc == MDB_NOTFOUND ? pay_rows_bad(PAY_TABLE_REFUND_REPEAT, &key) : rc;
}

static int is_fetched_like(const pay_refund_t *refund, apr_int64_t amount_minor)
{
    return refund->import_number != 0 && refund->state != PAY_REFUND_FAILED
           && refund->money.amount_minor == amount_minor;
}

int pay_store_refund_fetched_like(pay_store_refund_t **out, pay_rows_txn_t *txn,
                                  const pay_charge_t *charge, apr_int64_t amount_minor,
                                  apr_pool_t *p)
{
    pay_store_key_t prefix, beyond;
    pay_rows_scan_t scan =
        pay_rows_scan(txn, PAY_TABLE_REFUND_BY_CHARGE, &prefix, &beyond, PAY_ROWS_BEFORE);
    MDB_val key, refund_key;
    pay_store_refund_t *row;
    int rc, looks;

    *out = NULL;
    pay_store_charge_key(&prefix, &charge->scope, charge->seq);
    pay_store_refund_by_charge_key(&beyond, &charge->scope, charge->seq, ~(apr_uint64_t)0);
    rc = pay_rows_next(&key, &refund_key, &scan);
    for (looks = 0; !rc && looks < PAY_STORE_ROWS_MAX; looks++) {
        rc = pay_store_refund_get(&row, txn, &refund_key, p);
        if (!rc && is_fetched_like(&row->refund, amount_minor)) {
            *out = row;
            break;
        }
        if (!rc) {
            rc = pay_rows_next(&key, &refund_key, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}
