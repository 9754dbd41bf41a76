/* SPDX-License-Identifier: Apache-2.0 */
#include "service/acquiring.h"
#include "service/history/parts.h"

#include "base/log.h"
#include "service/history/sync.h"

#include <apr_strings.h>
#include <string.h>

#define DAY apr_time_from_sec(24 * 3600)
#define WINDOW (PAY_HISTORY_DAYS * DAY)
#define TRY_AGAIN apr_time_from_sec(10) /* doubled with each attempt at a window */
#define FAR_AGAIN apr_time_from_sec(3600)
#define PENDING_DAYS_MAX 400            /* further back only a person looks */
#define BUSY_AGAIN apr_time_from_sec(5) /* another import is running */

/* --- the results of a window --- */

/* Faults of a round recur with the next one: they are logged if they differ from `before` (NULL: of
 * a request). */
static void tell_faults(pay_history_turn_t *turn, char *before)
{
    const pay_history_account_t *account = turn->account;
    const apr_array_header_t *faults = turn->news.faults;
    char complaint[PAY_HISTORY_COMPLAINT_MAX];
    int i;

    apr_cpystrn(complaint, apr_array_pstrcat(turn->p, faults, '\n'), sizeof(complaint));
    if (before && !strcmp(complaint, before)) {
        return;
    }
    for (i = 0; i < faults->nelts; i++) {
        pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                PAYLOGNO(00442) "account %s: a record of acquirer %s is not stored here: %s",
                account->service->account_name, account->acquirer->name,
                APR_ARRAY_IDX(faults, i, const char *));
    }
    if (before) {
        apr_cpystrn(before, complaint, PAY_HISTORY_COMPLAINT_MAX);
    }
}

/*
 * Returns 1 if the same window again would bring nothing: it is too full of records that cannot be
 * kept.
 */
static int stands_still(const pay_history_turn_t *turn)
{
    return turn->news.full && turn->news.added == 0 && turn->news.changed == 0;
}

static const char *failure_text(const pay_history_turn_t *turn, apr_status_t rv)
{
    const char *text = pay_store_status_text(rv);
    char buffer[120];

    if (stands_still(turn)) {
        return "Too many refunds of the acquirer cannot be stored.";
    }
    if (rv == APR_EBUSY) {
        return "Another import for this account and mode is running.";
    }
    if (text && !turn->news.silent) {
        return text;
    }
    return apr_psprintf(turn->p, "The acquirer did not list its refunds: %s.",
                        apr_strerror(rv, buffer, sizeof(buffer)));
}

static apr_status_t put(const pay_history_turn_t *turn)
{
    apr_status_t rv;

    rv = pay_store_history_put(turn->store, turn->history, turn->p);
    if (rv != APR_SUCCESS) {
        turn->account->not_before = turn->now + PAY_HISTORY_STORE_AGAIN;
    }
    return rv;
}

/* The part of a window that was stored is counted at once; the rest when all of it is stored. */
static void tell_news(const pay_history_turn_t *turn)
{
    const pay_history_news_t *news = &turn->news;

    if (news->added || news->changed) {
        pay_log(PAY_LOG_INFO, APR_SUCCESS,
                PAYLOGNO(00443) "account %s: %" APR_UINT64_T_FMT
                                " refunds that were made elsewhere were added, %" APR_UINT64_T_FMT
                                " are now decided",
                turn->account->service->account_name, news->added, news->changed);
    }
}

/* --- the requested range --- */

static void end_request(pay_history_turn_t *turn)
{
    pay_history_t *history = turn->history;

    history->answered = history->asked;
    turn->account->tries = 0;
    if (!turn->news.ahead) {
        history->synced_epoch = history->asked_epoch;
    }
    pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
            PAYLOGNO(00444) "account %s: the requested refunds were fetched from acquirer %s: "
                            "%" APR_UINT64_T_FMT " seen, %" APR_UINT64_T_FMT
                            " added, %" APR_UINT64_T_FMT " changed, %" APR_UINT64_T_FMT " refused",
            turn->account->service->account_name, turn->account->acquirer->name, history->seen,
            history->added, history->changed, history->refused);
}

static apr_status_t request_failed(pay_history_turn_t *turn, apr_status_t rv)
{
    pay_history_account_t *account = turn->account;
    pay_history_t *history = turn->history;

    if (APR_STATUS_IS_EINTR(rv)) {
        return APR_SUCCESS; /* this process ends: the next one fetches the same */
    }
    history->changed += turn->news.changed;
    history->error = failure_text(turn, rv);
    if (rv == APR_EBUSY) {
        account->not_before = turn->now + BUSY_AGAIN;
        return put(turn);
    }
    account->tries++;
    if (account->tries < PAY_HISTORY_TRIES_MAX) {
        account->not_before = turn->now + (TRY_AGAIN << (account->tries - 1));
        return put(turn);
    }
    account->tries = 0;
    history->answered = history->asked;
    pay_log(
        PAY_LOG_ERR, rv,
        PAYLOGNO(00445) "account %s: the requested refunds could not be fetched from acquirer %s",
        account->service->account_name, account->acquirer->name);
    return put(turn);
}

static apr_status_t request_fetched(pay_history_turn_t *turn)
{
    pay_history_t *history = turn->history;
    const pay_history_news_t *news = &turn->news;

    turn->account->tries = 0;
    history->added += news->added;
    history->changed += news->changed;
    if (!news->full) {
        history->seen += news->seen;
        history->refused += news->refused;
        history->done_until = turn->to;
        tell_faults(turn, NULL);
    }
    history->error = history->refused == 0 ? ""
                                           : apr_psprintf(turn->p,
                                                          "%" APR_UINT64_T_FMT
                                                          " refunds of the acquirer could not be "
                                                          "stored: the server's log gives the "
                                                          "reasons.",
                                                          history->refused);
    if (!news->full && turn->to >= history->to) {
        end_request(turn);
    }
    return put(turn);
}

/* --- the server's own round --- */

/* Returns 1 if nothing went wrong: this process ends, and the next one fetches the same; or another
 * import is running. */
static int is_put_off(const pay_history_turn_t *turn, apr_status_t rv)
{
    if (rv == APR_EBUSY) {
        turn->account->not_before = turn->now + BUSY_AGAIN;
        return 1;
    }
    return APR_STATUS_IS_EINTR(rv);
}

/*
 * Refunds created in the last days are fetched each time, because their status may have changed,
 * and so are those created while the server did not fetch, and some days before.
 */
static apr_time_t round_start(const pay_history_t *history, apr_time_t now)
{
    apr_time_t until = history->fetched_until;

    if (until <= 0 || now - until < DAY) { /* a clock that was set back is no reason to go back */
        return now - WINDOW;
    }
    return until - WINDOW;
}

static apr_status_t end_round(pay_history_turn_t *turn)
{
    turn->account->round_from = 0;
    turn->history->due_at = turn->now + turn->account->service->policy.refund_sync;
    return put(turn);
}

static apr_status_t round_failed(pay_history_turn_t *turn, apr_status_t rv)
{
    pay_history_account_t *account = turn->account;

    if (is_put_off(turn, rv)) {
        return APR_SUCCESS;
    }
    if (!account->round_failed) {
        account->round_failed = 1;
        pay_log(PAY_LOG_WARNING, rv,
                PAYLOGNO(00446) "account %s: the latest refunds could not be fetched from acquirer "
                                "%s; the server tries again and logs when it succeeds",
                account->service->account_name, account->acquirer->name);
    }
    return end_round(turn);
}

static apr_status_t round_fetched(pay_history_turn_t *turn)
{
    pay_history_account_t *account = turn->account;
    pay_history_t *history = turn->history;

    if (turn->news.full) {
        return APR_SUCCESS;
    }
    if (account->round_failed) {
        account->round_failed = 0;
        pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                PAYLOGNO(00447) "account %s: refunds are fetched from acquirer %s again",
                account->service->account_name, account->acquirer->name);
    }
    tell_faults(turn, account->complaint);
    if (turn->to >= turn->now) {
        history->fetched_until = turn->now;
        if (!turn->news.ahead) {
            history->synced_epoch = account->round_epoch;
        }
        return end_round(turn);
    }
    account->round_from = turn->to;
    if (turn->to <= history->fetched_until) {
        return APR_SUCCESS;
    }
    history->fetched_until = turn->to;
    return put(turn);
}

/* --- the time before it --- */

/* Returns the start of the look further back: far enough for the oldest pending refund. */
static apr_time_t far_start(const pay_history_t *history, apr_time_t now)
{
    const apr_time_t from = now - PAY_HISTORY_FAR_DAYS * DAY, oldest = now - PENDING_DAYS_MAX * DAY;

    if (history->pending_from <= 0 || history->pending_from > from) {
        return from;
    }
    return history->pending_from > oldest ? history->pending_from : oldest;
}

static apr_status_t end_far(pay_history_turn_t *turn, apr_interval_time_t wait)
{
    turn->account->far_from = 0;
    turn->history->far_at = turn->now + wait;
    return put(turn);
}

static apr_status_t far_failed(pay_history_turn_t *turn, apr_status_t rv)
{
    pay_history_account_t *account = turn->account;

    if (is_put_off(turn, rv)) {
        return APR_SUCCESS;
    }
    if (!account->far_failed) {
        account->far_failed = 1;
        pay_log(PAY_LOG_WARNING, rv,
                PAYLOGNO(00731) "account %s: the refunds of the last %d days could not be fetched "
                                "from acquirer %s; the server tries again every hour, and misses "
                                "late decisions of the acquirer until then",
                account->service->account_name, PAY_HISTORY_FAR_DAYS, account->acquirer->name);
    }
    return end_far(turn, FAR_AGAIN);
}

static apr_status_t far_fetched(pay_history_turn_t *turn)
{
    pay_history_account_t *account = turn->account;
    const apr_time_t oldest = turn->news.oldest_pending;

    if (turn->news.full) {
        return APR_SUCCESS;
    }
    tell_faults(turn, account->far_complaint);
    if (oldest > 0 && (account->pending_from == 0 || oldest < account->pending_from)) {
        account->pending_from = oldest;
    }
    account->far_from = turn->to;
    if (turn->to < turn->now - WINDOW) {
        return APR_SUCCESS;
    }
    if (account->far_failed) {
        account->far_failed = 0;
        pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                PAYLOGNO(00732) "account %s: the refunds of the last %d days are fetched from "
                                "acquirer %s again",
                account->service->account_name, PAY_HISTORY_FAR_DAYS, account->acquirer->name);
    }
    turn->history->pending_from = account->pending_from;
    return end_far(turn, PAY_HISTORY_FAR_EVERY);
}

/* --- the call --- */

static apr_status_t fetch(pay_history_turn_t *turn)
{
    const pay_acquirer_t *acquirer = turn->account->acquirer;
    const pay_service_t *service = turn->account->service;
    pay_history_window_t window = {.store = turn->store,
                                   .scope = turn->history->scope,
                                   .acquirer = acquirer,
                                   .timeout = acquirer->timeout,
                                   .from = turn->from,
                                   .to = turn->to};
    apr_status_t rv;

    if (window.timeout <= 0) {
        window.timeout = service->policy.acquirer_timeout;
    }
    rv = pay_history_window_fetch(&turn->news, &window, turn->p);
    /* An acquirer that lists refunds accepts our key: there may be no other query that shows
     * this. */
    if (!turn->news.silent) {
        pay_acquiring_is_known(acquirer);
    }
    tell_news(turn);
    if (rv == APR_SUCCESS && stands_still(turn)) {
        rv = APR_EGENERAL;
    }
    return rv;
}

apr_status_t pay_history_turn_request(pay_history_turn_t *turn)
{
    const pay_history_t *history = turn->history;
    apr_status_t rv;

    turn->account->was_request = 1;
    turn->from = history->done_until ? history->done_until : history->from;
    turn->to = history->to - turn->from > WINDOW ? turn->from + WINDOW : history->to;
    rv = fetch(turn);
    return rv == APR_SUCCESS ? request_fetched(turn) : request_failed(turn, rv);
}

/*
 * Of a restored store: returns the number of its epoch, if the range from turn->from on covers
 * everything that may have been made since the copy. Read before the first window, which is fetched
 * after it.
 */
static apr_uint32_t covered_epoch(const pay_history_turn_t *turn)
{
    apr_time_t copied_at;
    pay_epoch_t epoch;
    apr_status_t rv;

    rv = pay_store_epoch_find(&epoch, turn->store);
    if (rv != APR_SUCCESS) {
        return 0; /* the next round reports it */
    }
    copied_at = pay_epoch_copied_at(&epoch, turn->history->fetched_until);
    return copied_at && turn->from <= copied_at ? epoch.number : 0;
}

apr_status_t pay_history_turn_round(pay_history_turn_t *turn)
{
    pay_history_account_t *account = turn->account;
    apr_status_t rv;

    account->was_request = 0;
    turn->from = account->round_from;
    if (turn->from <= 0 || turn->from > turn->now) {
        turn->from = round_start(turn->history, turn->now);
        account->round_epoch = covered_epoch(turn);
    }
    turn->to = turn->now - turn->from > WINDOW ? turn->from + WINDOW : turn->now;
    rv = fetch(turn);
    return rv == APR_SUCCESS ? round_fetched(turn) : round_failed(turn, rv);
}

apr_status_t pay_history_turn_far(pay_history_turn_t *turn)
{
    pay_history_account_t *account = turn->account;
    const apr_time_t until = turn->now - WINDOW; /* the rounds cover the rest */
    apr_status_t rv;

    account->was_request = 0;
    turn->from = account->far_from;
    if (turn->from <= 0 || turn->from > until) {
        turn->from = far_start(turn->history, turn->now);
        account->pending_from = 0;
    }
    turn->to = until - turn->from > WINDOW ? turn->from + WINDOW : until;
    rv = fetch(turn);
    return rv == APR_SUCCESS ? far_fetched(turn) : far_failed(turn, rv);
}

apr_status_t pay_history_turn_refuse(pay_history_turn_t *turn)
{
    pay_history_t *history = turn->history;

    turn->account->was_request = 1;
    turn->account->tries = 0;
    history->answered = history->asked;
    history->error = "Other accounts use the acquirer's key too, and it would list their refunds "
                     "as well: give this account a key of its own.";
    return put(turn);
}
