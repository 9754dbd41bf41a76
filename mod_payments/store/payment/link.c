/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/link.h"

#include "base/log.h"
#include "store/account/account.h"
#include "store/payment/charge.h"
#include "store/payment/checkout.h"
#include "store/record/index.h"
#include "store/record/rows.h"
#include "store/record/time.h"
#include "store/record/walk.h"
#include "store/row.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

#define LIST_SIZE_HINT 64

/* Scope and reference are in the key. New fields go to the end. */
static const pay_row_field_t link_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_link_t, page_id),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_link_t, title),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_link_t, description),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_link_t, redirect_url),
    PAY_ROW_MAX(pay_link_t, money.amount_minor, APR_INT64_MAX),
    PAY_ROW_FIELD(PAY_ROW_TEXT, pay_link_t, money.currency),
    PAY_ROW_MAX(pay_link_t, once, 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, expires_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, disabled_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, paid),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, last_seq),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_link_t, holding),
    PAY_ROW_MAX(pay_link_t, counted, 1),
};
#define LINK_FIELDS (sizeof(link_fields) / sizeof(link_fields[0]))

typedef struct link_work_t {
    const pay_link_t *proposal;
    const pay_scope_t *scope;
    const char *reference;
    pay_link_t *out;
    int changed;
    apr_status_t verdict;
    apr_pool_t *p;
} link_work_t;

int pay_store_link_key(pay_store_key_t *key, const pay_scope_t *scope, const char *reference)
{
    pay_store_key_of_scope(key, scope);
    return pay_link_reference_is(reference)
           && pay_store_key_bytes(key, reference, strlen(reference));
}

/* Checks what the rest of the program relies on without checking again. */
static int is_sound(const pay_link_t *link)
{
    return pay_page_id_is(link->page_id) && pay_currency_digits(link->money.currency) >= 0
           && pay_link_reference_is(link->reference);
}

int pay_store_link_decode(pay_link_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                          apr_pool_t *p)
{
    pay_link_t *link = apr_pcalloc(p, sizeof(*link));
    int rc = PAY_ROWS_BAD;

    *out = NULL;
    if (key->len > PAY_STORE_SCOPE_LEN && key->len <= PAY_STORE_LINK_KEY_MAX) {
        const char *reference = (const char *)key->data + PAY_STORE_SCOPE_LEN;

        pay_store_read_scope(&link->scope, key->data);
        if (!memchr(reference, '\0', key->len - PAY_STORE_SCOPE_LEN)) {
            link->reference = apr_pstrmemdup(p, reference, key->len - PAY_STORE_SCOPE_LEN);
            rc = pay_row_decode(link, link_fields, LINK_FIELDS, row, NULL, p);
        }
    }
    if (rc || !is_sound(link)) {
        return pay_rows_bad(PAY_TABLE_LINK, key);
    }
    *out = link;
    return 0;
}

int pay_store_link_encode(pay_bytes_t *out, const pay_link_t *link, apr_pool_t *p)
{
    return pay_row_encode(out, link_fields, LINK_FIELDS, link, p);
}

static int load(pay_link_t **out, pay_rows_txn_t *txn, pay_bytes_t *at, apr_pool_t *p)
{
    pay_bytes_t row;
    int rc;

    *out = NULL;
    rc = pay_rows_get(&row, txn, PAY_TABLE_LINK, at);
    return rc ? rc : pay_store_link_decode(out, at, &row, p);
}

int pay_store_link_load(pay_link_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                        const char *reference, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at;

    *out = NULL;
    if (!pay_store_link_key(&key, scope, reference)) {
        return PAY_ROWS_NOTFOUND;
    }
    at = pay_store_key_val(&key);
    return load(out, txn, &at, p);
}

/* The link of a page of that kind, from the bytes after it. */
static int link_of_page(pay_link_t **out, pay_rows_txn_t *txn, const pay_bytes_t *at, apr_pool_t *p)
{
    pay_bytes_t key = *at;

    *out = NULL;
    if (key.len <= PAY_STORE_SCOPE_LEN || key.len > PAY_STORE_LINK_KEY_MAX) {
        return PAY_ROWS_NOTFOUND;
    }
    return load(out, txn, &key, p);
}

/* ---- the record: indexed by its page, which never changes */

static int page_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_link_t *link = record;
    unsigned char place[1 + PAY_STORE_LINK_KEY_MAX];

    assert(at->len < sizeof(place));
    place[0] = PAY_PAGE_LINK;
    memcpy(place + 1, at->bytes, at->len);
    entry->table = PAY_TABLE_PAGE;
    pay_store_entry_value(entry, place, 1 + at->len);
    return pay_store_page_key(&entry->key, link->page_id) ? 0 : EINVAL;
}

static int row_of_page(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    const char *place = value->data;

    (void)key;
    return value->len > 1 + PAY_STORE_SCOPE_LEN && value->len <= 1 + PAY_STORE_LINK_KEY_MAX
           && place[0] == PAY_PAGE_LINK && pay_store_key_of(row_key, place + 1, value->len - 1);
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_PAGE},
     .entry_of = page_of,
     .row_of = row_of_page,
     .rule = PAY_INDEX_UNIQUE,
     .missing = "its page does not lead to it",
     .astray = "leads to no checkout or link of that page"},
};

static int load_record(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key,
                       apr_pool_t *p)
{
    pay_bytes_t at = *row_key;
    pay_link_t *link;
    int rc = load(&link, txn, &at, p);

    *record = link;
    return rc;
}

const pay_store_record_t pay_store_link_record = {
    .table = PAY_TABLE_LINK, .indexes = indexes, .index_count = 1, .load = load_record};

/* `before` NULL: a new link. */
static int put(pay_rows_txn_t *txn, const pay_link_t *before, const pay_link_t *link, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t row;
    int rc;

    if (!pay_store_link_key(&key, &link->scope, link->reference)) {
        return EINVAL;
    }
    rc = pay_store_link_encode(&row, link, p);
    return rc ? rc : pay_store_record_put(txn, &pay_store_link_record, &key, &row, before, link);
}

/* Writes the row again. */
static int link_put(pay_rows_txn_t *txn, const pay_link_t *link, apr_pool_t *p)
{
    return put(txn, link, link, p);
}

/* ---- creating a link */

static int create_work(pay_rows_txn_t *txn, void *baton)
{
    link_work_t *work = baton;
    const pay_link_t *proposal = work->proposal;
    pay_account_t *account;
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc, reached;

    work->verdict = APR_SUCCESS;
    work->out = NULL;
    if (!pay_store_link_key(&key, &proposal->scope, proposal->reference)) {
        return EINVAL;
    }
    rc = pay_store_account_by_number(&account, txn, proposal->scope.account, work->p);
    if (rc) {
        return rc;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_LINK, &at);
    if (rc != PAY_ROWS_NOTFOUND) {
        work->verdict = APR_EEXIST;
        return rc ? rc : PAY_ROWS_SILENT;
    }
    rc = pay_store_rows_quota(&reached, txn, &proposal->scope);
    if (rc) {
        return rc;
    }
    if (reached) {
        work->verdict = PAY_STORE_EFULL;
        return PAY_ROWS_SILENT;
    }
    work->out = apr_pmemdup(work->p, proposal, sizeof(*proposal));
    work->out->created_at = pay_store_time_now();
    work->out->disabled_at = 0;
    work->out->paid = 0;
    work->out->last_seq = 0;
    work->out->holding = 0;
    work->out->counted = 1;
    rc = put(txn, NULL, work->out, work->p);
    return rc == PAY_ROWS_EXISTS ? EINVAL : rc; /* its page must be unique */
}

apr_status_t pay_store_link_create(pay_link_t **out, pay_store_t *store, const pay_link_t *proposal,
                                   apr_pool_t *p)
{
    link_work_t work = {.proposal = proposal, .p = p};
    apr_status_t rv;

    *out = NULL;
    assert(proposal->money.amount_minor >= 0);
    assert(pay_currency_digits(proposal->money.currency) >= 0);
    rv = pay_rows_commit(store, pay_turn_scope(&proposal->scope), 1, create_work, &work);
    if (rv == APR_SUCCESS) {
        rv = work.verdict;
    }
    if (rv == APR_SUCCESS) {
        *out = work.out;
    }
    return rv;
}

/* ---- reading links */

apr_status_t pay_store_link_get(pay_link_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const char *reference, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_link_load(out, &txn, scope, reference, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

static int list_visit(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                      const pay_bytes_t *val)
{
    apr_array_header_t *links = baton;
    pay_link_t *link;
    int rc;

    (void)txn;
    rc = pay_store_link_decode(&link, key, val, links->pool);
    if (!rc) {
        APR_ARRAY_PUSH(links, pay_link_t *) = link;
    }
    return rc;
}

apr_status_t pay_store_link_list(apr_array_header_t **out, pay_store_t *store,
                                 const pay_scope_t *scope, const char *after, int limit,
                                 apr_pool_t *p)
{
    pay_store_key_t prefix, from;

    *out = apr_array_make(p, limit < LIST_SIZE_HINT ? limit : LIST_SIZE_HINT, sizeof(pay_link_t *));
    pay_store_key_of_scope(&prefix, scope);
    pay_store_key_start(&from);
    if (after && !pay_store_link_key(&from, scope, after)) {
        return APR_EINVAL;
    }
    return pay_store_walk_page(store, PAY_TABLE_LINK, &prefix, &from, limit, list_visit, *out);
}

/* ---- disabling */

static int disable_work(pay_rows_txn_t *txn, void *baton)
{
    link_work_t *work = baton;
    int rc;

    work->changed = 0;
    rc = pay_store_link_load(&work->out, txn, work->scope, work->reference, work->p);
    if (rc) {
        return rc;
    }
    if (work->out->disabled_at != 0) {
        return PAY_ROWS_SILENT;
    }
    work->changed = 1;
    work->out->disabled_at = pay_store_time_now();
    return link_put(txn, work->out, work->p);
}

apr_status_t pay_store_link_disable(pay_link_t **out, int *changed, pay_store_t *store,
                                    const pay_scope_t *scope, const char *reference, apr_pool_t *p)
{
    link_work_t work = {.scope = scope, .reference = reference, .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, disable_work, &work);
    if (rv == APR_SUCCESS) {
        *out = work.out;
        *changed = work.changed;
    }
    return rv;
}

/* ---- paying by link */

static pay_claim_t claim_of_state(const pay_link_t *link, apr_time_t now)
{
    static const pay_claim_t claims[] = {
        [PAY_LINK_ACTIVE] = PAY_CLAIM_NEW,
        [PAY_LINK_EXPIRED] = PAY_CLAIM_LINK_EXPIRED,
        [PAY_LINK_DISABLED] = PAY_CLAIM_LINK_DISABLED,
        [PAY_LINK_USED] = PAY_CLAIM_LINK_USED,
    };
    _Static_assert(sizeof(claims) / sizeof(claims[0]) == PAY_LINK_STATE_COUNT, "a claim each");

    return claims[pay_link_state(link, now)];
}

/* Returns 1 if `last` and `proposal` have the same payer and amount, and `last` may continue. */
static int goes_on(const pay_charge_t *last, const pay_charge_t *proposal, apr_time_t now)
{
    return last->checkout && pay_checkout_stage(last, now) != PAY_STAGE_EXPIRED
           && strcmp(last->email, proposal->email) == 0
           && last->money.amount_minor == proposal->money.amount_minor;
}

int pay_store_link_holds(const pay_charge_t *charge)
{
    switch (charge->state) {
    case PAY_CHARGE_PENDING:
        return 1;
    case PAY_CHARGE_FAILED:
    case PAY_CHARGE_ABANDONED:
    case PAY_CHARGE_VOID:
        return charge->due_at != 0 || charge->held != PAY_NOT_HELD
               || charge->late == PAY_LATE_REFUNDING;
    case PAY_CHARGE_SUCCESSFUL:
    case PAY_CHARGE_REVERSED:
    case PAY_CHARGE_STATE_COUNT:
        break;
    }
    return 0;
}

/* ---- counting the checkouts of a link */

/* One checkout of the table; sets *mine to 1 if it was made from the link and holds it. */
static int look(int *mine, pay_rows_txn_t *txn, const pay_link_t *link, const pay_bytes_t *key,
                const pay_bytes_t *row, apr_pool_t *ptemp)
{
    pay_checkout_t *checkout;
    pay_charge_t *charge;
    int rc;

    *mine = 0;
    rc = pay_store_checkout_decode(&checkout, key, row, ptemp);
    if (rc) {
        return rc == PAY_ROWS_BAD ? 0 : rc; /* its link is unknown */
    }
    if (strcmp(checkout->link, link->reference) != 0) {
        return 0;
    }
    rc = pay_store_charge_get(&charge, txn, &link->scope,
                              pay_store_read_u64((const char *)key->data + PAY_STORE_SCOPE_LEN),
                              ptemp);
    if (rc == PAY_ROWS_BAD) {
        *mine = 1; /* its outcome is unknown */
        return 0;
    }
    *mine = !rc && pay_store_link_holds(charge);
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

int pay_store_link_count(apr_uint64_t *holding, int *whole, pay_rows_txn_t *txn,
                         const pay_link_t *link, apr_pool_t *p)
{
    pay_store_key_t scope, beyond;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_CHECKOUT, &scope, &beyond, PAY_ROWS_BEFORE);
    apr_pool_t *ptemp;
    pay_bytes_t key, row;
    int rc, mine, looks = 0;

    *holding = 0;
    *whole = 1;
    if (link->last_seq == 0) {
        return 0;
    }
    apr_pool_create(&ptemp, p);
    pay_store_key_of_scope(&scope, &link->scope);
    pay_store_charge_key(&beyond, &link->scope, link->last_seq + 1);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && key.len == PAY_STORE_SCOPE_LEN + sizeof(apr_uint64_t)) {
        if (looks++ == PAY_STORE_LINK_LOOKS_MAX) {
            *whole = 0;
            break;
        }
        apr_pool_clear(ptemp);
        rc = look(&mine, txn, link, &key, &row, ptemp);
        if (!rc) {
            *holding += (apr_uint64_t)mine;
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    apr_pool_destroy(ptemp);
    return pay_rows_scan_end(&scan, rc);
}

/* For a row without counts: done once, when the next payer comes. */
static int count_older(int *whole, pay_rows_txn_t *txn, pay_link_t *link, apr_pool_t *p)
{
    int rc;

    *whole = 1;
    if (link->counted) {
        return 0;
    }
    rc = pay_store_link_count(&link->holding, whole, txn, link, p);
    if (rc || !*whole) {
        return rc;
    }
    link->counted = 1;
    return link_put(txn, link, p);
}

/* The link that a checkout holds or ceases to hold; *link is NULL if no link counts it. */
static int load_counting(pay_link_t **link, pay_rows_txn_t *txn, const pay_charge_t *charge,
                         apr_pool_t *p)
{
    int rc;

    *link = NULL;
    if (!charge->checkout || !*charge->checkout->link) {
        return 0;
    }
    rc = pay_store_link_load(link, txn, &charge->scope, charge->checkout->link, p);
    if (rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD) {
        return 0; /* the result of the payment does not depend on it */
    }
    if (!rc && (!(*link)->once || !(*link)->counted)) {
        *link = NULL;
    }
    return rc;
}

/* Whether it held the link `before`, and whether it does `now`. */
static int recount(pay_rows_txn_t *txn, const pay_charge_t *charge, int before, int now,
                   apr_pool_t *p)
{
    pay_link_t *link;
    int rc;

    if (before == now) {
        return 0;
    }
    rc = load_counting(&link, txn, charge, p);
    if (rc || !link || (!now && link->holding == 0)) {
        return rc;
    }
    link->holding = now ? link->holding + 1 : link->holding - 1;
    return link_put(txn, link, p);
}

int pay_store_link_follow(pay_rows_txn_t *txn, const pay_charge_t *before,
                          const pay_charge_t *charge, apr_pool_t *p)
{
    if (!charge->checkout || !*charge->checkout->link) {
        return 0;
    }
    return recount(txn, charge, before && pay_store_link_holds(before),
                   pay_store_link_holds(charge), p);
}

/* ---- judging the next payer */

/* Judges a single-use link by all its checkouts; *charge is the last one if its payer may
 * continue. */
static int judge_once(pay_claim_t *claim, pay_charge_t **charge, pay_rows_txn_t *txn,
                      pay_link_t *link, const pay_charge_t *proposal, apr_time_t now, apr_pool_t *p)
{
    pay_charge_t *last;
    int rc, whole;

    rc = count_older(&whole, txn, link, p);
    if (rc) {
        return rc;
    }
    if (!whole) {
        *claim = PAY_CLAIM_LINK_BUSY;
        pay_log(
            PAY_LOG_ERR, APR_SUCCESS,
            PAYLOGNO(00730) "payment link %s was created by an earlier version and has too many "
                            "checkouts to find out whether one may be paid: create another link",
            link->reference);
        return 0;
    }
    rc = pay_store_charge_get(&last, txn, &proposal->scope, link->last_seq, p);
    if (rc && rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    if (rc == PAY_ROWS_NOTFOUND) { /* it was withdrawn */
        last = NULL;
    }
    if (last && (last->state == PAY_CHARGE_SUCCESSFUL || last->state == PAY_CHARGE_REVERSED)) {
        *claim = PAY_CLAIM_LINK_USED;
    } else if (link->holding == 0 && !(last && pay_store_link_holds(last))) {
        *claim = PAY_CLAIM_NEW;
    } else if (link->holding == 1 && last && last->state == PAY_CHARGE_PENDING
               && goes_on(last, proposal, now)) {
        *claim = PAY_CLAIM_LINK_AGAIN;
        *charge = last;
    } else {
        *claim = PAY_CLAIM_LINK_BUSY;
    }
    return 0;
}

int pay_store_link_judge(pay_claim_t *claim, pay_link_t **link, pay_charge_t **charge,
                         pay_rows_txn_t *txn, const pay_charge_t *proposal, apr_pool_t *p)
{
    const apr_time_t now = pay_store_time_now();
    int rc;

    *claim = PAY_CLAIM_NEW;
    *link = NULL;
    *charge = NULL;
    if (!proposal->checkout || !*proposal->checkout->link) {
        return 0;
    }
    rc = pay_store_link_load(link, txn, &proposal->scope, proposal->checkout->link, p);
    if (rc == PAY_ROWS_NOTFOUND) {
        *claim = PAY_CLAIM_LINK_UNKNOWN;
        return 0;
    }
    if (rc) {
        return rc;
    }
    *claim = claim_of_state(*link, now);
    if (*claim != PAY_CLAIM_NEW || !(*link)->once || (*link)->last_seq == 0) {
        return 0;
    }
    return judge_once(claim, charge, txn, *link, proposal, now, p);
}

int pay_store_link_opened(pay_rows_txn_t *txn, pay_link_t *link, const pay_charge_t *charge,
                          apr_pool_t *p)
{
    if (!link) {
        return 0;
    }
    link->last_seq = charge->seq;
    if (link->once && pay_store_link_holds(charge)) {
        link->holding++;
    }
    return link_put(txn, link, p);
}

int pay_store_link_decided(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_link_t *link;
    int rc;

    if (!pay_charge_was_approved(charge) || !charge->checkout || !*charge->checkout->link) {
        return 0;
    }
    rc = pay_store_link_load(&link, txn, &charge->scope, charge->checkout->link, p);
    if (rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD) {
        return 0; /* the result of the payment does not depend on it */
    }
    if (rc) {
        return rc;
    }
    link->paid++;
    return link_put(txn, link, p);
}

int pay_store_link_removed(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_link_t *link;
    int rc;

    if (!charge->checkout || !*charge->checkout->link) {
        return 0;
    }
    rc = recount(txn, charge, pay_store_link_holds(charge), 0, p);
    if (rc || !pay_charge_was_approved(charge)) {
        return rc;
    }
    rc = pay_store_link_load(&link, txn, &charge->scope, charge->checkout->link, p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    if (link->paid > 0) {
        link->paid--;
    }
    return link_put(txn, link, p);
}

/* ---- pages */

static int page_of_link(pay_store_page_t *out, pay_rows_txn_t *txn, const pay_bytes_t *at,
                        const pay_bytes_t *place, apr_pool_t *p)
{
    const pay_bytes_t key = {place->len - 1, (const unsigned char *)place->data + 1};
    pay_link_t *link;
    int rc;

    rc = link_of_page(&link, txn, &key, p);
    if (!rc) {
        rc = pay_store_account_by_number(&out->account, txn, link->scope.account, p);
    }
    if (rc == PAY_ROWS_NOTFOUND) {
        return pay_rows_bad(PAY_TABLE_PAGE, at);
    }
    if (!rc) {
        out->link = link;
    }
    return rc;
}

/* The target of an id of table page. */
static int page_read(pay_store_page_t *out, pay_rows_txn_t *txn, const pay_bytes_t *at,
                     const pay_bytes_t *place, apr_pool_t *p)
{
    const unsigned char *bytes = place->data;
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    if (place->len > 0 && bytes[0] == PAY_PAGE_LINK) {
        return page_of_link(out, txn, at, place, p);
    }
    if (place->len != PAY_STORE_PAGE_LEN || bytes[0] != PAY_PAGE_CHECKOUT) {
        return pay_rows_bad(PAY_TABLE_PAGE, at);
    }
    pay_store_read_scope(&scope, bytes + 1);
    rc = pay_store_charge_get(&charge, txn, &scope,
                              pay_store_read_u64(bytes + 1 + PAY_STORE_SCOPE_LEN), p);
    if (!rc && !charge->checkout) {
        return PAY_ROWS_NOTFOUND;
    }
    if (!rc) {
        rc = pay_store_account_by_number(&out->account, txn, scope.account, p);
    }
    if (rc == PAY_ROWS_NOTFOUND) {
        return pay_rows_bad(PAY_TABLE_PAGE, at);
    }
    out->charge = charge;
    return rc;
}

apr_status_t pay_store_page_find(pay_store_page_t *out, pay_store_t *store, const char *page_id,
                                 apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, place;
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    memset(out, 0, sizeof(*out));
    if (!pay_store_page_key(&key, page_id)) {
        return APR_NOTFOUND;
    }
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&place, &txn, PAY_TABLE_PAGE, &at);
    if (!rc) {
        rc = page_read(out, &txn, &at, &place, p);
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
