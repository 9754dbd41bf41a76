/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/crypto.h"
#include "model/idempotency.h"
#include "store/payment/charge.h"
#include "store/payment/hint.h"
#include "store/payment/idempotency.h"
#include "store/payment/refund.h"
#include "store/record/audit.h"
#include "store/record/epoch.h"
#include "store/record/rows.h"
#include "store/record/scope.h"
#include "store/record/text.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

#define DIGEST_LEN                                                                                 \
    16 /* of the SHA-256: enough to prevent accidental collisions of two requests                  \
        */
#define PREFIX_LEN (PAY_STORE_SCOPE_LEN + sizeof(apr_uint64_t) + DIGEST_LEN)
#define KEY_LEN (PREFIX_LEN + sizeof(apr_uint64_t))
#define AMOUNT_TEXT_MAX 24

/* The digest that all equal refunds of a charge share. */
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

/* Returns 0 if it is not DIGEST_LEN bytes in lower-case hex. */
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

/* Like digest_of, also for a refund whose notes were erased: then its row has the digest. */
static int digest_asked(unsigned char digest[DIGEST_LEN], const pay_refund_t *refund)
{
    if (!refund->asked_digest || *refund->asked_digest == '\0') {
        return digest_of(digest, refund);
    }
    return read_hex(digest, refund->asked_digest) ? 0 : EINVAL;
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

/* ---- erasing a payer */

/* The end of the longest window, which the server's own never exceeds; uses the boot clock if that
 * can judge, as for recent refunds. */
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
        return pay_store_idempotency_add_repeat(txn, refund, end, p);
    }
    return 0; /* erased before and not over, or over */
}

int pay_store_refund_repeat_forget(pay_rows_txn_t *txn, pay_store_refund_t *row, apr_pool_t *p)
{
    if (*row->refund.asked_digest == '\0') {
        return 0;
    }
    row->refund.asked_digest = "";
    return pay_store_refund_put(txn, row, p);
}

/* ---- lookup */

/* The newest of the charge's refunds with the amount and notes of `like`; NULL if none exists. */
static int refund_repeat_newest(pay_store_refund_t **out, pay_rows_txn_t *txn,
                                const pay_charge_t *charge, const pay_refund_t *like, apr_pool_t *p)
{
    pay_bytes_t key, refund_key;
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
    pay_store_key_u64(&beyond, ~(apr_uint64_t)0); /* a number that is never assigned */
    rc = pay_rows_first(&key, &refund_key, txn, PAY_TABLE_REFUND_REPEAT, &prefix, &beyond,
                        PAY_ROWS_BEFORE);
    if (rc || key.len != KEY_LEN) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    rc = pay_store_refund_get(out, txn, &refund_key, p);
    return rc == PAY_ROWS_NOTFOUND ? pay_rows_bad(PAY_TABLE_REFUND_REPEAT, &key) : rc;
}

static int is_fetched_like(const pay_refund_t *refund, apr_int64_t amount_minor)
{
    return refund->import_number != 0 && refund->state != PAY_REFUND_FAILED
           && refund->money.amount_minor == amount_minor;
}

/* The newest fetched or imported refund of the charge with that amount which did not fail; NULL if
 * none exists. For a charge with more than PAY_STORE_ROWS_MAX, only the last ones. */
static int refund_fetched_like(pay_store_refund_t **out, pay_rows_txn_t *txn,
                               const pay_charge_t *charge, apr_int64_t amount_minor, apr_pool_t *p)
{
    pay_store_key_t prefix, beyond;
    pay_rows_scan_t scan =
        pay_rows_scan(txn, PAY_TABLE_REFUND_BY_CHARGE, &prefix, &beyond, PAY_ROWS_BEFORE);
    pay_bytes_t key, refund_key;
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

/* ---- opening */

typedef struct open_t {
    const pay_refund_t *proposal;
    const pay_idempotency_t *use; /* may be NULL */
    apr_interval_time_t repeat_window;
    apr_pool_t *p;
    pay_idempotency_record_t *record; /* the record of the key: then nothing else is set */
    pay_refund_t *out;
    pay_charge_t *charge; /* NULL if it does not exist */
    pay_refund_verdict_t verdict;
    int lasting;          /* 1: refused for a reason that no pending outcome can change */
    apr_status_t refused; /* a proposal that no charge could accept */
    apr_interval_time_t stepped_back;
} open_t;

apr_status_t pay_store_refund_find(pay_refund_t **out, pay_store_t *store, const pay_scope_t *scope,
                                   const char *refund_reference, apr_pool_t *p)
{
    pay_store_refund_t *row;
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc, visible = 0;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_refund_get_name(&row, &txn, PAY_TABLE_REFUND_REF, scope, refund_reference, p);
    if (!rc) {
        rc = pay_store_refund_visible(&visible, &txn, &row->refund);
    }
    pay_rows_end(&txn);
    if (rc) {
        return pay_rows_status(rc);
    }
    if (!visible) {
        return APR_NOTFOUND;
    }
    *out = &row->refund;
    return APR_SUCCESS;
}

/* Returns 1 if it was made within the last `window`. If the boot clock cannot judge, the wall
 * clock does; if that was set back, nothing counts as long ago. */
static int is_recent(const pay_refund_t *refund, apr_interval_time_t window)
{
    apr_interval_time_t age;

    if (pay_moment_age(&age, &refund->opened)) {
        return age <= window;
    }
    return refund->created_at >= pay_store_time_now() - window;
}

/* Looks for the same refund just made (R5). A pending one still stands for its request. */
static int find_repeat(open_t *open, pay_rows_txn_t *txn)
{
    pay_store_refund_t *row;
    int rc;

    if (open->repeat_window == 0 || open->proposal->money.amount_minor == 0) {
        return 0;
    }
    rc = refund_repeat_newest(&row, txn, open->charge, open->proposal, open->p);
    if (rc || !row) {
        return rc;
    }
    if (row->refund.state == PAY_REFUND_PENDING
        || (row->refund.state == PAY_REFUND_PROCESSED
            && is_recent(&row->refund, open->repeat_window))) {
        open->verdict = PAY_REFUND_REFUSED_REPEATED;
        open->out = &row->refund;
    }
    return 0;
}

static void refuse(open_t *open, pay_refund_verdict_t verdict, int lasting)
{
    open->verdict = verdict;
    open->lasting = lasting;
}

/*
 * A refund that is sent now may have been sent before the store was restored: its Idempotency-Key
 * is lost with the row. Once the refunds were fetched again, one of the same amount is evidence of
 * that, whenever it was made: a wrong clock may have dated it, or the copy.
 */
static int judge_epoch(open_t *open, pay_rows_txn_t *txn)
{
    const apr_time_t now = pay_store_time_now();
    const pay_refund_t *proposal = open->proposal;
    pay_store_refund_t *row;
    pay_epoch_t epoch;
    int rc;

    if (proposal->scope.mode != PAY_LIVE || proposal->waiting) {
        return 0;
    }
    rc = pay_store_epoch_get(&epoch, txn);
    if (!rc && epoch.held) {
        refuse(open, PAY_REFUND_REFUSED_HELD, 0);
    }
    if (rc || epoch.held || proposal->money.amount_minor == 0
        || !pay_epoch_is_recent(&epoch, now)) {
        return rc;
    }
    rc = refund_fetched_like(&row, txn, open->charge, proposal->money.amount_minor, open->p);
    if (!rc && row) {
        refuse(open, PAY_REFUND_REFUSED_FETCHED, 0);
        open->out = &row->refund;
    }
    return rc;
}

/*
 * Sets the verdict, and the amount if it is PAY_REFUND_OPENED. A repetition is checked first, so
 * that the retry of the refund that completed the charge returns it. Reasons that no pending refund
 * can change come before R4; pending amounts come after it (of imported history, which no worker
 * processes).
 */
static int judge(apr_int64_t *amount_minor, open_t *open, pay_rows_txn_t *txn)
{
    const pay_charge_t *charge = open->charge;
    apr_int64_t wanted = open->proposal->money.amount_minor;
    apr_int64_t unrefunded = charge->money.amount_minor - pay_charge_refunded_minor(charge);
    apr_int64_t left = unrefunded > 0 ? unrefunded - charge->refunds_pending_minor : 0;
    int rc;

    *amount_minor = 0;
    refuse(open, PAY_REFUND_OPENED, 0);
    if (charge->state != PAY_CHARGE_SUCCESSFUL && charge->state != PAY_CHARGE_REVERSED) {
        refuse(open, PAY_REFUND_REFUSED_STATE, charge->decided_state != PAY_CHARGE_PENDING);
        return 0;
    }
    rc = find_repeat(open, txn);
    if (!rc && open->verdict == PAY_REFUND_OPENED) {
        rc = judge_epoch(open, txn);
    }
    if (rc || open->verdict != PAY_REFUND_OPENED) {
        return rc;
    }
    if (charge->spent) { /* refunded at the acquirer, whether or not it is listed here */
        refuse(open, PAY_REFUND_REFUSED_FULL, 0);
    } else if (charge->state == PAY_CHARGE_REVERSED || unrefunded <= 0) {
        refuse(open, PAY_REFUND_REFUSED_FULL, 1);
    } else if (wanted > unrefunded) {
        refuse(open, PAY_REFUND_REFUSED_ABOVE, 1);
    } else if (charge->refund_at_acquirer != 0) {
        refuse(open, PAY_REFUND_REFUSED_BUSY, 0);
    } else if (left <= 0) {
        refuse(open, PAY_REFUND_REFUSED_FULL, 0);
    } else if (wanted > left) {
        refuse(open, PAY_REFUND_REFUSED_ABOVE, 0);
    } else {
        *amount_minor = wanted > 0 ? wanted : left;
    }
    return 0;
}

/*
 * Sets open->refused if id or reference is in use: both are random, so it is an error of the
 * caller.
 */
static int check_names(open_t *open, pay_rows_txn_t *txn)
{
    const pay_refund_t *refund = open->proposal;
    const struct {
        pay_table_t table;
        const char *name;
    } names[] = {{PAY_TABLE_REFUND_REF, refund->refund_reference},
                 {PAY_TABLE_REFUND_ID, refund->id}};
    pay_store_key_t key;
    pay_bytes_t at, val;
    size_t i;
    int rc;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!pay_store_refund_name_key(&key, &refund->scope, names[i].name)) {
            open->refused = APR_EINVAL;
            return 0;
        }
        at = pay_store_key_val(&key);
        rc = pay_rows_get(&val, txn, names[i].table, &at);
        if (rc != PAY_ROWS_NOTFOUND) {
            open->refused = APR_EEXIST;
            return rc;
        }
    }
    return 0;
}

static pay_store_refund_t *opened(const open_t *open, apr_int64_t amount_minor, apr_uint64_t seq,
                                  apr_time_t now)
{
    const pay_refund_t *proposal = open->proposal;
    pay_store_refund_t *row = apr_palloc(open->p, sizeof(*row));
    pay_refund_t *refund = &row->refund;

    pay_refund_init(refund);
    refund->id = proposal->id;
    refund->refund_reference = proposal->refund_reference;
    refund->money = open->charge->money;
    refund->money.amount_minor = amount_minor;
    refund->scope = proposal->scope;
    refund->channel = proposal->channel;
    refund->merchant_note = proposal->merchant_note;
    refund->customer_note = proposal->customer_note;
    refund->transaction_reference = open->charge->reference;
    refund->created_at = now;
    refund->updated_at = now;
    refund->seq = seq;
    refund->charge_seq = open->charge->seq;
    refund->acquirer = pay_store_text_cut(proposal->acquirer, PAY_STORE_NAME_MAX, open->p);
    refund->key_id = pay_store_text_cut(proposal->key_id, PAY_STORE_NAME_MAX, open->p);
    refund->worker = proposal->worker;
    refund->send_before_ms = proposal->send_before_ms;
    refund->wait_until_ms = proposal->wait_until_ms;
    refund->wait_until_at =
        proposal->worker.pid ? pay_worker_until(proposal->wait_until_ms, now) : 0;
    refund->due_at = proposal->due_at;
    refund->waiting = proposal->waiting;
    refund->tag = pay_store_text_cut(proposal->tag, PAY_TAG_LEN, open->p);
    refund->opened = pay_moment_now();
    row->contradiction = "";
    return row;
}

/* The refund was allowed: row, indexes, charge and scope change together. */
static int insert(open_t *open, pay_rows_txn_t *txn, apr_int64_t amount_minor)
{
    const pay_scope_t *scope = &open->proposal->scope;
    pay_store_scope_t last;
    pay_store_refund_t *row;
    pay_refund_t *refund;
    int rc, reached;

    rc = pay_store_scope_get(&last, txn, scope);
    if (rc) {
        return rc;
    }
    rc = pay_store_rows_quota(&reached, txn, scope);
    if (rc) {
        return rc;
    }
    if (reached) {
        open->refused = PAY_STORE_EFULL;
        return PAY_ROWS_SILENT;
    }
    last.refund_seq++;
    row = opened(open, amount_minor, last.refund_seq,
                 pay_store_scope_stamp(&open->stepped_back, &last));
    refund = &row->refund;
    rc = pay_store_charge_refund_moved(open->charge, PAY_REFUND_FAILED, PAY_REFUND_PENDING,
                                       amount_minor);
    if (rc) {
        return rc;
    }
    open->charge->refund_at_acquirer = refund->seq;
    open->charge->updated_at = pay_store_time_not_before(open->charge->updated_at);
    rc = pay_store_refund_insert(txn, row, pay_store_refund_text(refund, open->p), open->p);
    if (!rc) {
        rc = pay_store_charge_put(txn, open->charge, open->p);
    }
    if (rc) {
        return rc;
    }
    if (open->use) {
        rc = pay_store_idempotency_add_refund(txn, open->use, refund, open->p);
        if (rc) {
            return rc;
        }
    }
    open->out = refund;
    return pay_store_scope_put(txn, scope, &last, open->p);
}

/*
 * Only final refusals are recorded: the charge failed, or processed refunds leave too little. An
 * undecided charge, a refund at the acquirer (R4) and pending history may each end so that a later
 * try of the same request succeeds. A record stays even if the acquirer takes a processed refund
 * back: the request was answered, and a new try uses a new key.
 */
static int keep_refusal(const open_t *open, pay_rows_txn_t *txn)
{
    int rc, reached;

    if (!open->use || !open->lasting) {
        return 0;
    }
    rc = pay_store_rows_quota(&reached, txn, &open->proposal->scope);
    if (rc || reached) { /* the next try is judged again, and refused likewise */
        return rc;
    }
    return pay_store_idempotency_add_refusal(txn, &open->proposal->scope, open->use, open->verdict,
                                             pay_store_time_now(), open->p);
}

static void tell(const open_t *open, pay_store_t *db)
{
    const pay_refund_t *refund = open->out;
    char amount[PAY_MONEY_TEXT_MAX];

    pay_store_audit_tell(
        db, refund->scope.account, refund->refund_reference,
        apr_psprintf(open->p, "%s: %s %s of %s", pay_mode_name(refund->scope.mode),
                     pay_money_format(amount, refund->money.amount_minor, refund->money.currency),
                     refund->money.currency, refund->transaction_reference));
}

static int open_work(pay_rows_txn_t *txn, void *baton)
{
    open_t *open = baton;
    const pay_refund_t *proposal = open->proposal;
    apr_int64_t amount_minor;
    int rc;

    open->record = NULL;
    open->out = NULL;
    open->charge = NULL;
    open->verdict = PAY_REFUND_OPENED;
    open->refused = APR_SUCCESS;
    open->stepped_back = 0;
    if (open->use) {
        rc = pay_store_idempotency_get(&open->record, txn, &proposal->scope, open->use, open->p);
        if (rc != PAY_ROWS_NOTFOUND) {
            return rc ? rc : PAY_ROWS_SILENT;
        }
    }
    rc = pay_store_charge_get_ref(&open->charge, txn, &proposal->scope,
                                  proposal->transaction_reference, open->p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? PAY_ROWS_SILENT : rc;
    }
    if (proposal->money.amount_minor > 0
        && strcmp(proposal->money.currency, open->charge->money.currency) != 0) {
        open->refused = APR_EINVAL;
        return PAY_ROWS_SILENT;
    }
    rc = judge(&amount_minor, open, txn);
    if (rc) {
        return rc;
    }
    if (open->verdict != PAY_REFUND_OPENED) {
        rc = keep_refusal(open, txn);
        return rc ? rc : PAY_ROWS_SILENT;
    }
    rc = check_names(open, txn);
    if (rc || open->refused != APR_SUCCESS) {
        return rc ? rc : PAY_ROWS_SILENT;
    }
    rc = insert(open, txn, amount_minor);
    if (!rc) {
        tell(open, txn->store);
    }
    return rc;
}

static int is_text(const pay_bytes_t *stored, const char *text)
{
    return stored->len == strlen(text) && memcmp(stored->data, text, stored->len) == 0;
}

int pay_store_refund_is_known(const pay_bytes_t *stored, const pay_refund_t *refund,
                              const char *text, apr_pool_t *p)
{
    pay_refund_t erased = *refund;

    erased.customer_note = NULL;
    erased.merchant_note = NULL;
    return is_text(stored, text) || is_text(stored, pay_store_refund_text(&erased, p));
}

static void open_hints(pay_rows_txn_t *txn, const void *baton)
{
    const open_t *open = baton;
    const pay_refund_t *proposal = open->proposal;

    pay_store_hint_idempotency(txn, &proposal->scope, open->use);
    pay_store_hint_reference(txn, &proposal->scope, proposal->transaction_reference);
    pay_store_hint_refund(txn, PAY_TABLE_REFUND_REF, &proposal->scope, proposal->refund_reference);
    pay_store_hint_refund(txn, PAY_TABLE_REFUND_ID, &proposal->scope, proposal->id);
}

apr_status_t pay_store_refund_open(pay_refund_t **out, pay_charge_t **charge,
                                   pay_refund_verdict_t *verdict, pay_idempotency_record_t **record,
                                   pay_store_t *store, const pay_refund_t *proposal,
                                   const pay_idempotency_t *use, apr_interval_time_t repeat_window,
                                   apr_pool_t *p)
{
    /* With a key, the key alone decides whether a request is a repetition. */
    open_t open = {
        .proposal = proposal, .use = use, .repeat_window = use ? 0 : repeat_window, .p = p};
    apr_status_t rv;

    *out = NULL;
    *charge = NULL;
    *verdict = PAY_REFUND_REFUSED_STATE;
    *record = NULL;
    assert(proposal->transaction_reference);
    assert(proposal->money.amount_minor >= 0);
    assert(proposal->due_at > 0);
    assert(repeat_window >= 0);
    rv = pay_rows_commit(store, pay_turn_hinted(pay_turn_scope(&proposal->scope), open_hints), 1,
                         open_work, &open);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (open.record) {
        *record = open.record;
        return APR_SUCCESS;
    }
    if (!open.charge) {
        return APR_NOTFOUND;
    }
    if (open.refused != APR_SUCCESS) {
        return open.refused;
    }
    pay_store_scope_log_step(&proposal->scope, open.stepped_back);
    *out = open.out;
    *charge = open.charge;
    *verdict = open.verdict;
    return APR_SUCCESS;
}
