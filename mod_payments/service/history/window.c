/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/window.h"

#include "base/log.h"
#include "base/text/time.h"
#include "service/history/parts.h"

#include <apr_hash.h>
#include <apr_strings.h>
#include <string.h>

#define ASK_AFTER apr_time_from_sec(1)

static const char found_message[] = "found in the acquirer's list of refunds";

/* The change to a known refund. */
typedef enum step_t {
    STEP_NONE,
    STEP_PROCESSED, /* as refund_resolve */
    STEP_FAILED,
    STEP_TAKE_BACK, /* as refund_fail */
    STEP_LATE,      /* as refund_late */
    STEP_ASK,       /* its acquirer is queried from now on */
    STEP_DIFFERENT  /* a person must look */
} step_t;

/* By the state here, then the acquirer's. */
static const step_t steps[][PAY_REFUND_STATE_COUNT] = {
    [PAY_REFUND_PENDING] = {STEP_NONE, STEP_PROCESSED, STEP_FAILED},
    [PAY_REFUND_PROCESSED] = {STEP_NONE, STEP_NONE, STEP_TAKE_BACK},
    [PAY_REFUND_FAILED] = {STEP_NONE, STEP_LATE, STEP_NONE},
};
_Static_assert(sizeof(steps) / sizeof(steps[0]) == PAY_REFUND_STATE_COUNT, "one row a state");

typedef struct change_t {
    step_t step;
    const char *refund_reference;
    const char *acquirer_reference; /* NULL: the row already has one */
    apr_time_t due_at;
    apr_time_t absent_since;
    pay_moment_t absent_from;
    pay_refund_state_t state; /* here */
    int processed;            /* there */
} change_t;

typedef struct fetch_t {
    const pay_history_window_t *window;
    pay_history_news_t *news;
    apr_array_header_t *changes; /* of change_t */
    apr_array_header_t *fresh;   /* of pay_refund_t *: not known here */
    apr_hash_t *tagged;          /* by reference here, those that a record refers to by its tag */
    apr_status_t failed;         /* the store's status that ended the list */
    apr_pool_t *pool;
    apr_pool_t *ptemp; /* cleared with each record */
} fetch_t;

/*
 * Finds the refund of the record. A record with the tag of a refund that has another name at the
 * acquirer contains a copy of its note. APR_NOTFOUND: none exists.
 */
static apr_status_t find_refund(pay_refund_t **out, const fetch_t *fetch,
                                const payments_record_t *record)
{
    const pay_history_window_t *window = fetch->window;
    apr_status_t rv;

    rv = pay_store_refund_find_acquirer(out, window->store, &window->scope, record->reference,
                                        record->tag ? record->tag : "", fetch->ptemp);
    if (rv == APR_SUCCESS && (*out)->acquirer_reference[0] != '\0'
        && strcmp((*out)->acquirer_reference, record->reference) != 0) {
        rv = APR_NOTFOUND;
    }
    if (rv != APR_NOTFOUND) {
        return rv;
    }
    return pay_store_refund_find(out, window->store, &window->scope, record->reference,
                                 fetch->ptemp);
}

/* A refund made elsewhere that was pending when it was added, however it was added. */
static int is_not_asked(const pay_refund_t *refund)
{
    return refund->import_number != 0 && refund->state == PAY_REFUND_PENDING && refund->due_at == 0
           && refund->money.amount_minor > 0 && refund->money.currency[0] != '\0';
}

/* A difference of a refund that is in flight here is judged after its end. */
static step_t judge(const pay_refund_t *refund, pay_refund_state_t there, int same)
{
    if (same && is_not_asked(refund) && there == PAY_REFUND_PENDING) {
        return STEP_ASK;
    }
    if (same) {
        return steps[refund->state][there];
    }
    return refund->held == PAY_HELD_DIFFERENT || refund->resolution[0] != '\0'
                   || pay_refund_in_flight(refund)
               ? STEP_NONE
               : STEP_DIFFERENT;
}

static void note_change(fetch_t *fetch, step_t step, const pay_refund_t *refund,
                        const payments_record_t *record, pay_refund_state_t there)
{
    change_t *change = &APR_ARRAY_PUSH(fetch->changes, change_t);

    change->step = step;
    change->refund_reference = apr_pstrdup(fetch->pool, refund->refund_reference);
    change->acquirer_reference =
        refund->import_number ? NULL : apr_pstrdup(fetch->pool, record->reference);
    change->due_at = refund->due_at;
    change->absent_since = refund->absent_since;
    change->absent_from = refund->absent_from;
    change->state = refund->state;
    change->processed = there == PAY_REFUND_PROCESSED;
}

/*
 * Returns 1 if the refund may be held where everybody can see it. Others are logged with the
 * records that could not be kept: one that was processed here, and history without queries.
 */
static int may_be_held(const pay_refund_t *refund)
{
    return (refund->import_number == 0 || refund->due_at != 0)
           && refund->state != PAY_REFUND_PROCESSED;
}

/*
 * Returns 1 if another record had its tag, too: it is impossible to know which one is the refund.
 */
static int is_there_twice(fetch_t *fetch, const pay_refund_t *refund,
                          const payments_record_t *record)
{
    const char *first;

    if (refund->import_number != 0 || refund->acquirer_reference[0] != '\0') {
        return 0; /* found by its name */
    }
    first = apr_hash_get(fetch->tagged, refund->refund_reference, APR_HASH_KEY_STRING);
    if (!first) {
        apr_hash_set(fetch->tagged, apr_pstrdup(fetch->pool, refund->refund_reference),
                     APR_HASH_KEY_STRING, apr_pstrdup(fetch->pool, record->reference));
        return 0;
    }
    return strcmp(first, record->reference) != 0;
}

/* Drops the change of the first record. */
static void hold_twice(fetch_t *fetch, const pay_refund_t *refund, const payments_record_t *record,
                       pay_refund_state_t there)
{
    const step_t step = may_be_held(refund) ? judge(refund, there, 0) : STEP_NONE;
    change_t *change;
    int i;

    for (i = 0; i < fetch->changes->nelts; i++) {
        change = &APR_ARRAY_IDX(fetch->changes, i, change_t);
        if (!strcmp(change->refund_reference, refund->refund_reference)) {
            change->step = step;
            change->processed |= there == PAY_REFUND_PROCESSED;
            return;
        }
    }
    if (step != STEP_NONE) {
        note_change(fetch, step, refund, record, there);
    }
}

static void follow(fetch_t *fetch, const pay_refund_t *refund, const payments_record_t *record)
{
    pay_refund_state_t there;
    step_t step;
    int same;

    if (!pay_history_record_state(&there, record)) {
        pay_history_refuse(fetch->news, record->reference,
                           "its status is not a status of a refund");
        return;
    }
    if (is_there_twice(fetch, refund, record)) {
        hold_twice(fetch, refund, record, there);
        return;
    }
    same = pay_history_record_agrees(record, &refund->money);
    step = judge(refund, there, same);
    if (step == STEP_DIFFERENT && !may_be_held(refund)) {
        pay_history_refuse(fetch->news, record->reference,
                           "its amount or currency differs from the one here");
        return;
    }
    if (step != STEP_NONE) {
        note_change(fetch, step, refund, record, there);
    }
}

/*
 * For a charge that failed here: an amount that the acquirer approved anyway was refunded, by us or
 * by a person there. The charge's record contains the approval; no total includes it, so none may
 * include the refund. Without an approval that is known, or still queried, a person must look.
 */
static apr_status_t add_nothing(fetch_t *fetch, const pay_charge_t *charge,
                                const payments_record_t *record)
{
    if (charge->late == PAY_LATE_NONE && charge->due_at == 0) {
        pay_history_refuse(fetch->news, record->reference,
                           "it belongs to a charge that failed here");
    }
    return APR_SUCCESS;
}

/*
 * Adds a refund made elsewhere, of a charge of ours or of none; not of another account's, whose
 * acquirer lists them together.
 */
static apr_status_t add_fresh(fetch_t *fetch, const payments_record_t *record)
{
    const pay_history_window_t *window = fetch->window;
    const char *reason = NULL;
    pay_charge_t *charge;
    pay_refund_t *refund;
    apr_status_t rv = APR_NOTFOUND;
    int elsewhere;

    charge = NULL;
    if (record->transaction_reference && record->transaction_reference[0] != '\0') {
        rv = pay_store_charge_find_acquirer(&charge, window->store, &window->scope,
                                            record->transaction_reference, fetch->ptemp);
    }
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return rv;
    }
    if (charge && charge->state == PAY_CHARGE_FAILED) {
        return add_nothing(fetch, charge, record);
    }
    if (!charge) {
        rv = pay_store_acquirer_elsewhere(
            &elsewhere, window->store, &window->scope,
            record->transaction_reference ? record->transaction_reference : "",
            record->tag ? record->tag : "");
        if (rv != APR_SUCCESS || elsewhere) {
            return rv;
        }
    }
    rv = pay_history_record_read(&refund, &reason, record, &window->scope, charge, fetch->pool);
    if (rv != APR_SUCCESS) {
        fetch->news->ahead |= record->created_at > pay_time_now();
        pay_history_refuse(fetch->news, record->reference, reason);
        return APR_SUCCESS;
    }
    APR_ARRAY_PUSH(fetch->fresh, pay_refund_t *) = refund;
    return APR_SUCCESS;
}

static void note_pending(pay_history_news_t *news, const payments_record_t *record)
{
    pay_refund_state_t there;

    if (pay_history_record_state(&there, record) && there == PAY_REFUND_PENDING
        && record->created_at > 0
        && (news->oldest_pending == 0 || record->created_at < news->oldest_pending)) {
        news->oldest_pending = record->created_at;
    }
}

/* Takes one record as it comes; its consequences follow when all have come. */
static apr_status_t take_record(void *baton, const payments_record_t *record)
{
    fetch_t *fetch = baton;
    pay_refund_t *refund;
    apr_status_t rv;

    if (fetch->changes->nelts + fetch->fresh->nelts >= PAY_HISTORY_CHANGES_MAX) {
        fetch->news->full = 1;
        return APR_INCOMPLETE;
    }
    apr_pool_clear(fetch->ptemp);
    fetch->news->seen++;
    note_pending(fetch->news, record);
    if (!record->reference || record->reference[0] == '\0') {
        pay_history_refuse(fetch->news, NULL, "it has no reference");
        return APR_SUCCESS;
    }
    rv = find_refund(&refund, fetch, record);
    if (rv == APR_NOTFOUND) {
        rv = add_fresh(fetch, record);
    } else if (rv == APR_SUCCESS && refund->import_number == 0
               && strcmp(refund->refund_reference, record->reference) == 0
               && strcmp(refund->acquirer_reference, record->reference) != 0
               && (!record->tag || strcmp(refund->tag, record->tag) != 0)) {
        pay_history_refuse(fetch->news, record->reference,
                           "a refund that was made here has its reference");
    } else if (rv == APR_SUCCESS) {
        follow(fetch, refund, record);
    }
    if (rv == PAY_STORE_ECORRUPT) { /* logged by the store, and the others are not concerned */
        pay_history_refuse(fetch->news, record->reference, "its row in the store is damaged");
        return APR_SUCCESS;
    }
    fetch->failed = rv;
    return rv;
}

static apr_status_t differ(int *changed, const change_t *change, const pay_history_window_t *window,
                           apr_pool_t *p)
{
    pay_outcome_t outcome = {.kind = PAY_OUTCOME_UNKNOWN,
                             .absent_since = change->absent_since,
                             .absent_from = change->absent_from,
                             .held = PAY_HELD_DIFFERENT};
    pay_refund_t *refund;
    apr_status_t rv;

    if (change->state == PAY_REFUND_PENDING) {
        rv = pay_store_refund_resolve(&refund, changed, window->store, &window->scope,
                                      change->refund_reference, &outcome,
                                      change->due_at ? change->due_at : pay_time_now(), p);
    } else {
        outcome.kind = PAY_OUTCOME_APPROVED;
        outcome.message = found_message;
        rv = pay_store_refund_late(&refund, changed, window->store, &window->scope,
                                   change->refund_reference, change->processed ? &outcome : NULL,
                                   change->due_at, PAY_HELD_DIFFERENT, NULL, p);
    }
    if (rv == APR_SUCCESS && *changed) {
        pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                PAYLOGNO(00440) "refund %s: acquirer %s has it twice, or with another amount or "
                                "currency than requested: someone must look into it",
                change->refund_reference, window->acquirer->name);
    }
    return rv;
}

static apr_status_t ask(const char *refund_reference, const pay_history_window_t *window,
                        apr_pool_t *p)
{
    pay_refund_t *refund;
    int changed;

    return pay_store_refund_ask(&refund, &changed, window->store, &window->scope, refund_reference,
                                window->acquirer->name, pay_time_now() + ASK_AFTER, p);
}

static apr_status_t make_change(int *changed, const change_t *change,
                                const pay_history_window_t *window, apr_pool_t *p)
{
    pay_outcome_t outcome = {.kind = PAY_OUTCOME_APPROVED,
                             .message = found_message,
                             .acquirer_reference = change->acquirer_reference};
    pay_refund_t *refund;

    *changed = 0;
    switch (change->step) {
    case STEP_FAILED:
        outcome.kind = PAY_OUTCOME_DECLINED;
        /* fall through */
    case STEP_PROCESSED:
        return pay_store_refund_resolve(&refund, changed, window->store, &window->scope,
                                        change->refund_reference, &outcome, 0, p);
    case STEP_TAKE_BACK:
        return pay_store_refund_fail(&refund, changed, window->store, &window->scope,
                                     change->refund_reference, p);
    case STEP_LATE:
        return pay_store_refund_late(&refund, changed, window->store, &window->scope,
                                     change->refund_reference, &outcome, change->due_at,
                                     PAY_HELD_LATE, NULL, p);
    case STEP_DIFFERENT:
        return differ(changed, change, window, p);
    case STEP_ASK:
        return ask(change->refund_reference, window, p);
    default:
        return APR_SUCCESS;
    }
}

static apr_status_t make_changes(fetch_t *fetch)
{
    const change_t *change;
    apr_status_t rv;
    int i, changed;

    for (i = 0; i < fetch->changes->nelts; i++) {
        change = &APR_ARRAY_IDX(fetch->changes, i, change_t);
        apr_pool_clear(fetch->ptemp);
        rv = make_change(&changed, change, fetch->window, fetch->ptemp);
        if (rv == PAY_STORE_ECORRUPT) {
            pay_history_refuse(fetch->news, change->refund_reference,
                               "its row in the store is damaged");
        } else if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
            return rv;
        }
        fetch->news->changed += changed != 0;
    }
    return APR_SUCCESS;
}

/* If this process ends before, the same window reports it again. */
static apr_status_t ask_fresh(const fetch_t *fetch)
{
    const pay_refund_t *refund;
    apr_status_t rv = APR_SUCCESS;
    int i;

    for (i = 0; rv == APR_SUCCESS && i < fetch->fresh->nelts; i++) {
        refund = APR_ARRAY_IDX(fetch->fresh, i, const pay_refund_t *);
        if (refund->state == PAY_REFUND_PENDING) {
            apr_pool_clear(fetch->ptemp);
            rv = ask(refund->refund_reference, fetch->window, fetch->ptemp);
            rv = rv == APR_NOTFOUND || rv == PAY_STORE_ECORRUPT ? APR_SUCCESS : rv;
        }
    }
    return rv;
}

apr_status_t pay_history_window_fetch(pay_history_news_t *news, const pay_history_window_t *window,
                                      apr_pool_t *p)
{
    const pay_acquirer_t *acquirer = window->acquirer;
    fetch_t fetch = {.window = window, .news = news, .pool = p};
    apr_status_t rv;

    memset(news, 0, sizeof(*news));
    news->faults = apr_array_make(p, 1, sizeof(const char *));
    fetch.changes = apr_array_make(p, 16, sizeof(change_t));
    fetch.fresh = apr_array_make(p, 16, sizeof(pay_refund_t *));
    fetch.tagged = apr_hash_make(p);
    apr_pool_create(&fetch.ptemp, p);
    rv = acquirer->connector->refund_list(acquirer->context, window->from, window->to, take_record,
                                          &fetch, window->timeout, p);
    if (news->full) {
        rv = APR_SUCCESS;
    } else if (fetch.failed != APR_SUCCESS) {
        rv = fetch.failed;
    } else if (rv != APR_SUCCESS) {
        news->silent = 1;
    }
    if (rv == APR_SUCCESS) {
        rv = make_changes(&fetch);
    }
    if (rv == APR_SUCCESS) {
        rv = pay_history_add(news, window, fetch.fresh, p);
    }
    if (rv == APR_SUCCESS) {
        rv = ask_fresh(&fetch);
    }
    apr_pool_destroy(fetch.ptemp);
    return rv;
}
