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
static void tell_faults(pay_history_visit_t *visit, char *before)
{
    const pay_history_account_t *account = visit->account;
    const apr_array_header_t *faults = visit->news.faults;
    char complaint[PAY_HISTORY_COMPLAINT_MAX];
    int i;

    apr_cpystrn(complaint, apr_array_pstrcat(visit->p, faults, '\n'), sizeof(complaint));
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
static int stands_still(const pay_history_visit_t *visit)
{
    return visit->news.full && visit->news.added == 0 && visit->news.changed == 0;
}

static const char *failure_text(const pay_history_visit_t *visit, apr_status_t rv)
{
    const char *text = pay_store_status_text(rv);
    char buffer[120];

    if (stands_still(visit)) {
        return "Too many refunds of the acquirer cannot be stored.";
    }
    if (rv == APR_EBUSY) {
        return "Another import for this account and mode is running.";
    }
    if (text && !visit->news.silent) {
        return text;
    }
    return apr_psprintf(visit->p, "The acquirer did not list its refunds: %s.",
                        apr_strerror(rv, buffer, sizeof(buffer)));
}

static apr_status_t put(const pay_history_visit_t *visit)
{
    apr_status_t rv;

    rv = pay_store_history_put(visit->store, visit->history, visit->p);
    if (rv != APR_SUCCESS) {
        visit->account->not_before = visit->now + PAY_HISTORY_STORE_AGAIN;
    }
    return rv;
}

/* The part of a window that was stored is counted at once; the rest when all of it is stored. */
static void tell_news(const pay_history_visit_t *visit)
{
    const pay_history_news_t *news = &visit->news;

    if (news->added || news->changed) {
        pay_log(PAY_LOG_INFO, APR_SUCCESS,
                PAYLOGNO(00443) "account %s: %" APR_UINT64_T_FMT
                                " refunds that were made elsewhere were added, %" APR_UINT64_T_FMT
                                " are now decided",
                visit->account->service->account_name, news->added, news->changed);
    }
}

/* --- the requested range --- */

static void end_request(pay_history_visit_t *visit)
{
    pay_history_t *history = visit->history;

    history->answered = history->asked;
    visit->account->tries = 0;
    if (!visit->news.ahead) {
        history->synced_epoch = history->asked_epoch;
    }
    pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
            PAYLOGNO(00444) "account %s: the requested refunds were fetched from acquirer %s: "
                            "%" APR_UINT64_T_FMT " seen, %" APR_UINT64_T_FMT
                            " added, %" APR_UINT64_T_FMT " changed, %" APR_UINT64_T_FMT " refused",
            visit->account->service->account_name, visit->account->acquirer->name, history->seen,
            history->added, history->changed, history->refused);
}

static apr_status_t request_failed(pay_history_visit_t *visit, apr_status_t rv)
{
    pay_history_account_t *account = visit->account;
    pay_history_t *history = visit->history;

    if (APR_STATUS_IS_EINTR(rv)) {
        return APR_SUCCESS; /* this process ends: the next one fetches the same */
    }
    history->changed += visit->news.changed;
    history->error = failure_text(visit, rv);
    if (rv == APR_EBUSY) {
        account->not_before = visit->now + BUSY_AGAIN;
        return put(visit);
    }
    account->tries++;
    if (account->tries < PAY_HISTORY_TRIES_MAX) {
        account->not_before = visit->now + (TRY_AGAIN << (account->tries - 1));
        return put(visit);
    }
    account->tries = 0;
    history->answered = history->asked;
    pay_log(
        PAY_LOG_ERR, rv,
        PAYLOGNO(00445) "account %s: the requested refunds could not be fetched from acquirer %s",
        account->service->account_name, account->acquirer->name);
    return put(visit);
}

static apr_status_t request_fetched(pay_history_visit_t *visit)
{
    pay_history_t *history = visit->history;
    const pay_history_news_t *news = &visit->news;

    visit->account->tries = 0;
    history->added += news->added;
    history->changed += news->changed;
    if (!news->full) {
        history->seen += news->seen;
        history->refused += news->refused;
        history->done_until = visit->to;
        tell_faults(visit, NULL);
    }
    history->error = history->refused == 0 ? ""
                                           : apr_psprintf(visit->p,
                                                          "%" APR_UINT64_T_FMT
                                                          " refunds of the acquirer could not be "
                                                          "stored: the server's log gives the "
                                                          "reasons.",
                                                          history->refused);
    if (!news->full && visit->to >= history->to) {
        end_request(visit);
    }
    return put(visit);
}

/* --- the server's own round --- */

/* Returns 1 if nothing went wrong: this process ends, and the next one fetches the same; or another
 * import is running. */
static int is_put_off(const pay_history_visit_t *visit, apr_status_t rv)
{
    if (rv == APR_EBUSY) {
        visit->account->not_before = visit->now + BUSY_AGAIN;
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

static apr_status_t end_round(pay_history_visit_t *visit)
{
    visit->account->round_from = 0;
    visit->history->due_at = visit->now + visit->account->service->policy.refund_sync;
    return put(visit);
}

static apr_status_t round_failed(pay_history_visit_t *visit, apr_status_t rv)
{
    pay_history_account_t *account = visit->account;

    if (is_put_off(visit, rv)) {
        return APR_SUCCESS;
    }
    if (!account->round_failed) {
        account->round_failed = 1;
        pay_log(PAY_LOG_WARNING, rv,
                PAYLOGNO(00446) "account %s: the latest refunds could not be fetched from acquirer "
                                "%s; the server tries again and logs when it succeeds",
                account->service->account_name, account->acquirer->name);
    }
    return end_round(visit);
}

static apr_status_t round_fetched(pay_history_visit_t *visit)
{
    pay_history_account_t *account = visit->account;
    pay_history_t *history = visit->history;

    if (visit->news.full) {
        return APR_SUCCESS;
    }
    if (account->round_failed) {
        account->round_failed = 0;
        pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                PAYLOGNO(00447) "account %s: refunds are fetched from acquirer %s again",
                account->service->account_name, account->acquirer->name);
    }
    tell_faults(visit, account->complaint);
    if (visit->to >= visit->now) {
        history->fetched_until = visit->now;
        if (!visit->news.ahead) {
            history->synced_epoch = account->round_epoch;
        }
        return end_round(visit);
    }
    account->round_from = visit->to;
    if (visit->to <= history->fetched_until) {
        return APR_SUCCESS;
    }
    history->fetched_until = visit->to;
    return put(visit);
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

static apr_status_t end_far(pay_history_visit_t *visit, apr_interval_time_t wait)
{
    visit->account->far_from = 0;
    visit->history->far_at = visit->now + wait;
    return put(visit);
}

static apr_status_t far_failed(pay_history_visit_t *visit, apr_status_t rv)
{
    pay_history_account_t *account = visit->account;

    if (is_put_off(visit, rv)) {
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
    return end_far(visit, FAR_AGAIN);
}

static apr_status_t far_fetched(pay_history_visit_t *visit)
{
    pay_history_account_t *account = visit->account;
    const apr_time_t oldest = visit->news.oldest_pending;

    if (visit->news.full) {
        return APR_SUCCESS;
    }
    tell_faults(visit, account->far_complaint);
    if (oldest > 0 && (account->pending_from == 0 || oldest < account->pending_from)) {
        account->pending_from = oldest;
    }
    account->far_from = visit->to;
    if (visit->to < visit->now - WINDOW) {
        return APR_SUCCESS;
    }
    if (account->far_failed) {
        account->far_failed = 0;
        pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                PAYLOGNO(00732) "account %s: the refunds of the last %d days are fetched from "
                                "acquirer %s again",
                account->service->account_name, PAY_HISTORY_FAR_DAYS, account->acquirer->name);
    }
    visit->history->pending_from = account->pending_from;
    return end_far(visit, PAY_HISTORY_FAR_EVERY);
}

/* --- the call --- */

static apr_status_t fetch(pay_history_visit_t *visit)
{
    const pay_acquirer_t *acquirer = visit->account->acquirer;
    const pay_service_t *service = visit->account->service;
    pay_history_window_t window = {.store = visit->store,
                                   .scope = visit->history->scope,
                                   .acquirer = acquirer,
                                   .timeout = acquirer->timeout,
                                   .from = visit->from,
                                   .to = visit->to};
    apr_status_t rv;

    if (window.timeout <= 0) {
        window.timeout = service->policy.acquirer_timeout;
    }
    rv = pay_history_window_fetch(&visit->news, &window, visit->p);
    /* An acquirer that lists refunds accepts our key: there may be no other query that shows
     * this. */
    if (!visit->news.silent) {
        pay_acquiring_is_known(acquirer);
    }
    tell_news(visit);
    if (rv == APR_SUCCESS && stands_still(visit)) {
        rv = APR_EGENERAL;
    }
    return rv;
}

apr_status_t pay_history_visit_request(pay_history_visit_t *visit)
{
    const pay_history_t *history = visit->history;
    apr_status_t rv;

    visit->account->was_request = 1;
    visit->from = history->done_until ? history->done_until : history->from;
    visit->to = history->to - visit->from > WINDOW ? visit->from + WINDOW : history->to;
    rv = fetch(visit);
    return rv == APR_SUCCESS ? request_fetched(visit) : request_failed(visit, rv);
}

/*
 * Of a restored store: returns the number of its epoch, if the range from visit->from on covers
 * everything that may have been made since the copy. Read before the first window, which is fetched
 * after it.
 */
static apr_uint32_t covered_epoch(const pay_history_visit_t *visit)
{
    apr_time_t copied_at;
    pay_epoch_t epoch;
    apr_status_t rv;

    rv = pay_store_epoch_find(&epoch, visit->store);
    if (rv != APR_SUCCESS) {
        return 0; /* the next round reports it */
    }
    copied_at = pay_epoch_copied_at(&epoch, visit->history->fetched_until);
    return copied_at && visit->from <= copied_at ? epoch.number : 0;
}

apr_status_t pay_history_visit_round(pay_history_visit_t *visit)
{
    pay_history_account_t *account = visit->account;
    apr_status_t rv;

    account->was_request = 0;
    visit->from = account->round_from;
    if (visit->from <= 0 || visit->from > visit->now) {
        visit->from = round_start(visit->history, visit->now);
        account->round_epoch = covered_epoch(visit);
    }
    visit->to = visit->now - visit->from > WINDOW ? visit->from + WINDOW : visit->now;
    rv = fetch(visit);
    return rv == APR_SUCCESS ? round_fetched(visit) : round_failed(visit, rv);
}

apr_status_t pay_history_visit_far(pay_history_visit_t *visit)
{
    pay_history_account_t *account = visit->account;
    const apr_time_t until = visit->now - WINDOW; /* the rounds cover the rest */
    apr_status_t rv;

    account->was_request = 0;
    visit->from = account->far_from;
    if (visit->from <= 0 || visit->from > until) {
        visit->from = far_start(visit->history, visit->now);
        account->pending_from = 0;
    }
    visit->to = until - visit->from > WINDOW ? visit->from + WINDOW : until;
    rv = fetch(visit);
    return rv == APR_SUCCESS ? far_fetched(visit) : far_failed(visit, rv);
}

apr_status_t pay_history_visit_refuse(pay_history_visit_t *visit)
{
    pay_history_t *history = visit->history;

    visit->account->was_request = 1;
    visit->account->tries = 0;
    history->answered = history->asked;
    history->error = "Other accounts use the acquirer's key too, and it would list their refunds "
                     "as well: give this account a key of its own.";
    return put(visit);
}
