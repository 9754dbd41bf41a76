/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge.h"

#include "store/account/token.h"
#include "store/event/event.h"
#include "store/payment/checkout.h"
#include "store/payment/hint.h"
#include "store/payment/idempotency.h"
#include "store/payment/link.h"
#include "store/payment/refund_link.h"
#include "store/payment/total.h"
#include "store/record/rows.h"
#include "store/record/scope.h"
#include "store/record/text.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

typedef struct open_t {
    const pay_charge_t *proposal;
    const pay_outcome_t *outcome; /* NULL: not known yet */
    const pay_idempotency_t *use; /* may be NULL */
    apr_pool_t *p;
    pay_charge_t *out;
    pay_link_t *link; /* may be NULL */
    pay_claim_t claim;
    apr_interval_time_t stepped_back;
    apr_status_t refused; /* APR_SUCCESS: not refused */
} open_t;

typedef struct withdraw_t {
    const pay_scope_t *scope;
    apr_uint64_t seq;
    apr_pool_t *p;
    apr_status_t verdict;
} withdraw_t;

apr_status_t pay_store_charge_find(pay_charge_t **out, pay_store_t *store, const pay_scope_t *scope,
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
    rc = pay_store_charge_get_ref(out, &txn, scope, reference, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

apr_status_t pay_store_charge_look(pay_charge_look_t *out, pay_store_t *store,
                                   const pay_scope_t *scope, const char *reference,
                                   const char *token, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = (pay_charge_look_t){.token_status = APR_NOTFOUND};
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_charge_get_ref(&out->known, &txn, scope, reference, p);
    if (rc == PAY_ROWS_NOTFOUND) {
        rc = 0;
        if (token) {
            out->token_status =
                pay_rows_status(pay_store_token_load(&out->token, &txn, scope, token, p));
        }
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/* The row as it is inserted: the proposal's data, nothing decided yet. */
static pay_charge_t *opened(const pay_charge_t *proposal, apr_uint64_t seq, apr_time_t now,
                            apr_pool_t *p)
{
    pay_charge_t *charge = apr_palloc(p, sizeof(*charge));

    pay_charge_init(charge);
    charge->scope = proposal->scope;
    charge->seq = seq;
    charge->kind = proposal->kind;
    memcpy(charge->request_digest, proposal->request_digest, PAY_SHA256_LEN);
    charge->reference = apr_pstrdup(p, proposal->reference);
    charge->token = apr_pstrdup(p, proposal->token);
    charge->email = apr_pstrdup(p, proposal->email);
    charge->first_name = pay_store_text_cut(proposal->first_name, PAY_NAMES_BYTES_MAX, p);
    charge->last_name = pay_store_text_cut(proposal->last_name, PAY_NAMES_BYTES_MAX, p);
    charge->request_ip = pay_store_text_cut(proposal->request_ip, PAY_STORE_NAME_MAX, p);
    charge->acquirer = pay_store_text_cut(proposal->acquirer, PAY_STORE_NAME_MAX, p);
    charge->key_id = pay_store_text_cut(proposal->key_id, PAY_STORE_NAME_MAX, p);
    charge->card = proposal->card;
    charge->card.issuer = pay_store_text_cut(proposal->card.issuer, PAY_STORE_CARD_TEXT_MAX, p);
    charge->card.country = pay_store_text_cut(proposal->card.country, PAY_STORE_CARD_TEXT_MAX, p);
    charge->card.type = pay_store_text_cut(proposal->card.type, PAY_STORE_CARD_TEXT_MAX, p);
    charge->money = proposal->money;
    charge->created_at = now;
    charge->updated_at = now;
    charge->answer_version = proposal->answer_version;
    charge->worker = proposal->worker;
    charge->send_before_ms = proposal->send_before_ms;
    charge->wait_until_ms = proposal->wait_until_ms;
    charge->wait_until_at =
        proposal->worker.pid ? pay_worker_until(proposal->wait_until_ms, now) : 0;
    charge->due_at = proposal->due_at;
    charge->acquirer_reference =
        pay_store_text_cut(proposal->acquirer_reference, PAY_ACQUIRER_REFERENCE_LEN, p);
    if (*charge->acquirer_reference) {
        charge->opened = pay_moment_now();
    }
    charge->checkout = proposal->checkout;
    return charge;
}

/* The reference is taken by row number `val`. */
static int open_known(open_t *open, pay_rows_txn_t *txn, const pay_bytes_t *ref_key,
                      const pay_bytes_t *val)
{
    const pay_charge_t *proposal = open->proposal;
    int rc;

    if (val->len != sizeof(apr_uint64_t)) {
        return pay_rows_bad(PAY_TABLE_CHARGE_REF, ref_key);
    }
    rc = pay_store_charge_get(&open->out, txn, &proposal->scope, pay_store_read_u64(val->data),
                              open->p);
    if (rc == PAY_ROWS_NOTFOUND) {
        return pay_rows_bad(PAY_TABLE_CHARGE_REF, ref_key);
    }
    if (rc) {
        return rc;
    }
    if (memcmp(open->out->request_digest, proposal->request_digest, PAY_SHA256_LEN) == 0) {
        open->claim = PAY_CLAIM_KNOWN;
    } else {
        open->claim = PAY_CLAIM_CONFLICT;
    }
    return 0;
}

/* Sets the claim if the reference is taken, whatever else applies to the request. */
static int check_reference(open_t *open, pay_rows_txn_t *txn)
{
    const pay_charge_t *proposal = open->proposal;
    pay_store_key_t ref_key;
    pay_bytes_t key, val;
    int rc;

    if (!pay_store_charge_ref_key(&ref_key, &proposal->scope, proposal->reference)) {
        return ENAMETOOLONG;
    }
    key = pay_store_key_val(&ref_key);
    rc = pay_rows_get(&val, txn, PAY_TABLE_CHARGE_REF, &key);
    if (!rc) {
        return open_known(open, txn, &key, &val);
    }
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

/* Sets the claim if the Idempotency-Key belongs to another request. */
static int check_use(open_t *open, pay_rows_txn_t *txn)
{
    int rc, known = 0;

    rc =
        open->use ? pay_store_idempotency_known(&known, txn, &open->proposal->scope, open->use) : 0;
    if (!rc && known) {
        open->claim = PAY_CLAIM_KEY_USED;
    }
    return rc;
}

/* Anonymous clients have a share of the account's quota, so that they never block the shop. */
static int check_quota(int *reached, const open_t *open, pay_rows_txn_t *txn)
{
    const pay_charge_t *proposal = open->proposal;
    int rc, is_anonymous = 0;

    rc = pay_store_rows_quota(reached, txn, &proposal->scope);
    if (!rc && !*reached && proposal->checkout && pay_store_rows_has_quota(txn->store)) {
        rc = pay_store_checkout_is_anonymous(&is_anonymous, txn, proposal, open->p);
    }
    if (!rc && is_anonymous) {
        rc = pay_store_rows_quota_anonymous(reached, txn, &proposal->scope);
    }
    return rc;
}

/* The charge's own row and the rows that belong to it. */
static int put_rows(open_t *open, pay_rows_txn_t *txn)
{
    int rc = 0;

    if (open->outcome) {
        rc = pay_store_event_of_charge(txn, open->out, 1, open->p);
    }
    if (!rc) {
        rc = pay_store_charge_insert(txn, open->out, open->p);
    }
    if (!rc) {
        rc = pay_store_checkout_add(txn, open->out, open->p);
    }
    if (!rc) {
        rc = pay_store_link_opened(txn, open->link, open->out, open->p);
    }
    if (rc || !open->outcome) {
        return rc;
    }
    rc = pay_store_checkout_ended(txn, open->out, open->p);
    return rc ? rc : pay_store_total_charge(txn, open->out, 1, open->p);
}

/* The reference is claimed by this charge. */
static int open_new(open_t *open, pay_rows_txn_t *txn, pay_store_scope_t *last)
{
    const pay_scope_t *scope = &open->proposal->scope;
    pay_store_key_t key;
    pay_bytes_t val;
    int rc;

    open->out = opened(open->proposal, last->charge_seq,
                       pay_store_scope_stamp(&open->stepped_back, last), open->p);
    rc = pay_store_refund_link_opened(txn, open->out, open->p);
    if (rc) {
        return rc;
    }
    if (open->outcome) {
        if (!pay_store_charge_decide(open->out, open->outcome, open->p)) {
            return EINVAL;
        }
        pay_store_charge_fee(open->out, txn, open->p);
    }
    if (open->use) {
        rc = pay_store_idempotency_add_charge(txn, open->use, open->out, open->p);
        if (rc) {
            return rc;
        }
    }
    rc = put_rows(open, txn);
    if (rc == PAY_ROWS_EXISTS) { /* the scope row lags behind its charges */
        pay_store_charge_key(&key, scope, last->charge_seq);
        val = pay_store_key_val(&key);
        return pay_rows_bad(PAY_TABLE_SCOPE, &val);
    }
    if (rc) {
        return rc;
    }
    return pay_store_scope_put(txn, scope, last, open->p);
}

static int open_work(pay_rows_txn_t *txn, void *baton)
{
    open_t *open = baton;
    const pay_scope_t *scope = &open->proposal->scope;
    pay_store_scope_t last;
    int rc, reached;

    open->out = NULL;
    open->claim = PAY_CLAIM_NEW;
    open->stepped_back = 0;
    open->refused = APR_SUCCESS;
    rc = pay_store_scope_get(&last, txn, scope);
    if (!rc) {
        rc = check_reference(open, txn);
    }
    if (!rc && open->claim == PAY_CLAIM_NEW) {
        rc = check_use(open, txn);
    }
    if (rc || open->claim != PAY_CLAIM_NEW) {
        return rc;
    }
    rc = check_quota(&reached, open, txn);
    if (rc || reached) {
        open->refused = reached ? PAY_STORE_EFULL : APR_SUCCESS;
        return rc;
    }
    rc = pay_store_link_judge(&open->claim, &open->link, &open->out, txn, open->proposal, open->p);
    if (rc || open->claim != PAY_CLAIM_NEW) {
        return rc;
    }
    last.charge_seq++;
    return open_new(open, txn, &last);
}

static void open_hints(pay_rows_txn_t *txn, const void *baton)
{
    const open_t *open = baton;
    const pay_charge_t *proposal = open->proposal;
    const pay_scope_t *scope = &proposal->scope;

    pay_store_hint_reference(txn, scope, proposal->reference);
    pay_store_hint_idempotency(txn, scope, open->use);
    if (proposal->checkout && *proposal->checkout->link) {
        pay_store_hint_link(txn, scope, proposal->checkout->link);
    }
    if (open->outcome) {
        pay_store_hint_fee(txn, scope);
        pay_store_hint_events(txn, scope);
        pay_store_hint_total(txn, scope, proposal->money.currency);
    }
}

apr_status_t pay_store_charge_open(pay_charge_t **out, pay_claim_t *claim, pay_store_t *store,
                                   const pay_charge_t *proposal, const pay_outcome_t *outcome,
                                   const pay_idempotency_t *use, apr_pool_t *p)
{
    open_t open = {.proposal = proposal, .outcome = outcome, .use = use, .p = p};
    const pay_charge_t *new;
    pay_bytes_t row;
    apr_status_t rv;
    int rc;

    *out = NULL;
    *claim = PAY_CLAIM_NEW;
    assert(proposal->reference[0] != '\0');
    assert(strlen(proposal->reference) <= PAY_REFERENCE_MAX);
    assert(proposal->money.amount_minor > 0);
    assert(outcome || proposal->due_at > 0);
    assert(!outcome || outcome->kind != PAY_OUTCOME_UNKNOWN);
    /* A row that is too long is reported before anything waits for the writer lock. */
    new = opened(proposal, 0, 0, p);
    rc = pay_store_charge_encode(&row, new, p);
    if (!rc && row.len + pay_store_charge_growth_max(new) > PAY_STORE_CHARGE_ROW_MAX) {
        rc = ENAMETOOLONG;
    }
    if (rc) {
        return APR_EINVAL;
    }
    rv = pay_rows_commit(store, pay_turn_hinted(pay_turn_scope(&proposal->scope), open_hints), 1,
                         open_work, &open);
    if (rv == APR_SUCCESS) {
        rv = open.refused;
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    pay_store_scope_log_step(&proposal->scope, open.stepped_back);
    *out = open.out;
    *claim = open.claim;
    return APR_SUCCESS;
}

static int withdraw_work(pay_rows_txn_t *txn, void *baton)
{
    withdraw_t *withdraw = baton;
    pay_charge_t *charge;
    int rc;

    withdraw->verdict = APR_SUCCESS;
    rc = pay_store_charge_get(&charge, txn, withdraw->scope, withdraw->seq, withdraw->p);
    if (rc == PAY_ROWS_NOTFOUND) {
        withdraw->verdict = APR_NOTFOUND;
        return 0;
    }
    if (rc) {
        return rc;
    }
    if (charge->state == PAY_CHARGE_PENDING) {
        rc = pay_store_refund_link_withdrawn(txn, charge, withdraw->p);
        if (rc) {
            return rc;
        }
    }
    if (charge->state != PAY_CHARGE_PENDING || charge->refunded_minor != 0
        || charge->refunds_pending_minor != 0) {
        withdraw->verdict = APR_EINVAL;
        return 0;
    }
    rc = pay_store_link_removed(txn, charge, withdraw->p);
    if (!rc) {
        rc = pay_store_idempotency_remove_charge(txn, charge);
    }
    if (!rc) {
        rc = pay_store_checkout_del(txn, charge);
    }
    if (!rc) {
        rc = pay_store_charge_remove(txn, charge);
    }
    return rc ? rc : pay_store_scope_take_back(txn, &charge->scope, 1, withdraw->p);
}

apr_status_t pay_store_charge_withdraw(pay_store_t *store, const pay_scope_t *scope,
                                       apr_uint64_t seq, apr_pool_t *p)
{
    withdraw_t withdraw = {.scope = scope, .seq = seq, .p = p};
    apr_status_t rv;

    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, withdraw_work, &withdraw);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return withdraw.verdict;
}
