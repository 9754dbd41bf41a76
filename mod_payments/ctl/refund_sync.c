/* SPDX-License-Identifier: Apache-2.0 */

/* refund sync: the server, which alone holds the acquirer's key, fetches; this asks and waits. */

#include "base/text/time.h"
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/range.h"
#include "service/refund/refund_import.h"

#include <apr_strings.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WAIT_STEP apr_time_from_msec(100)
#define STILL_MS_MAX (15 * 1000) /* without anything done for so long, nobody seems to do it */
#define RANGE_DAYS_MAX 3660

typedef struct sync_t {
    const ctl_t *ctl;
    pay_scope_t scope;
    apr_uint64_t number;  /* of the request */
    pay_history_t last;   /* as it was seen last; its error is `error` */
    const char *error;    /* lives as long as the command */
    apr_int64_t since_ms; /* when it changed last, by the boot clock */
    int still_told;
    int terminal; /* progress is shown */
    int shown;
} sync_t;

static void note_clear(sync_t *sync)
{
    if (sync->shown) {
        fputs("\r\033[K", stderr);
        sync->shown = 0;
    }
}

static void progress_print(sync_t *sync)
{
    char until[PAY_TIME_TEXT_LEN + 1];

    if (!sync->terminal || !sync->last.done_until) {
        return;
    }
    fprintf(stderr, "\rfetched until %s: %" APR_UINT64_T_FMT " refunds\033[K",
            pay_time_format(until, sync->last.done_until), sync->last.seen);
    sync->shown = 1;
}

/* Takes over what is stored now; 1: something was done since it was looked at last. */
static int sync_follow(sync_t *sync, const pay_history_t *now)
{
    const pay_history_t *last = &sync->last;
    int same_error = strcmp(sync->error, now->error) == 0;

    if (last->answered == now->answered && last->done_until == now->done_until
        && last->seen == now->seen && last->added == now->added && last->changed == now->changed
        && last->refused == now->refused && same_error) {
        return 0;
    }
    sync->last = *now;
    if (!same_error) {
        sync->error = apr_pstrdup(sync->ctl->pool, now->error);
    }
    sync->since_ms = pay_time_boot_ms();
    sync->still_told = 0;
    return 1;
}

/* What keeps it waiting, once. */
static void stillness_tell(sync_t *sync)
{
    if (*sync->error || sync->still_told || pay_time_boot_ms() - sync->since_ms < STILL_MS_MAX) {
        return;
    }
    note_clear(sync);
    ctl_note("No server seems to work on it: one with a PaymentsAcquirer for this account must "
             "run. The request stays, and this command keeps waiting.");
    sync->still_told = 1;
}

/* Until the request has ended, however long that takes: who waits can end that. */
static apr_status_t sync_wait(sync_t *sync)
{
    pay_store_t *store = sync->ctl->service.store;
    pay_history_t *now;
    apr_pool_t *step;
    apr_status_t rv;

    apr_pool_create(&step, sync->ctl->pool);
    for (;;) {
        apr_pool_clear(step);
        rv = pay_store_history_get(&now, store, &sync->scope, step);
        if (rv != APR_SUCCESS || now->asked != sync->number) {
            break;
        }
        if (sync_follow(sync, now)) {
            if (now->answered == sync->number) {
                break;
            }
            if (*sync->error) {
                note_clear(sync);
                ctl_note("The server says: %s", sync->error);
            }
            progress_print(sync);
        }
        stillness_tell(sync);
        apr_sleep(WAIT_STEP);
    }
    note_clear(sync);
    return rv;
}

static void sync_print(const sync_t *sync, int done)
{
    const pay_history_t *history = &sync->last;
    pay_writer_t *w;

    if (!sync->ctl->json) {
        if (done) {
            printf("%" APR_UINT64_T_FMT " seen, %" APR_UINT64_T_FMT " new, %" APR_UINT64_T_FMT
                   " changed",
                   history->seen, history->added, history->changed);
            if (history->refused) {
                printf(", %" APR_UINT64_T_FMT " refused", history->refused);
            }
            puts("");
        } else {
            puts("asked for");
        }
        return;
    }
    w = ctl_object_open(sync->ctl);
    pay_writer_time(w, "from", history->from);
    pay_writer_time(w, "to", history->to);
    pay_writer_bool(w, "done", done);
    pay_writer_integer(w, "seen", (apr_int64_t)history->seen);
    pay_writer_integer(w, "new", (apr_int64_t)history->added);
    pay_writer_integer(w, "changed", (apr_int64_t)history->changed);
    pay_writer_integer(w, "refused", (apr_int64_t)history->refused);
    ctl_object_print(w);
}

static ctl_exit_t sync_await(sync_t *sync)
{
    apr_status_t rv;

    sync->since_ms = pay_time_boot_ms();
    sync->terminal = isatty(STDERR_FILENO);
    rv = sync_wait(sync);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read its progress");
    }
    if (sync->last.answered != sync->number) {
        return ctl_fail(CTL_EXIT_UNKNOWN, "it has ended, and another range was requested before "
                                          "its result was read");
    }
    if (sync->last.done_until < sync->last.to) {
        return ctl_fail(CTL_EXIT_ACCESS,
                        "the server gave up after %" APR_UINT64_T_FMT " refunds: %s",
                        sync->last.seen, sync->error);
    }
    sync_print(sync, 1);
    if (sync->last.refused) {
        return ctl_fail(CTL_EXIT_ACCESS, "%s", sync->error);
    }
    return CTL_OK;
}

static ctl_exit_t busy_fail(const pay_history_t *history)
{
    char from[PAY_TIME_TEXT_LEN + 1], to[PAY_TIME_TEXT_LEN + 1];

    return ctl_fail(CTL_EXIT_REFUSED,
                    "the server already fetches another range, from %s to %s; try again when "
                    "that has ended",
                    pay_time_format(from, history->from), pay_time_format(to, history->to));
}

/* The scope and the range that are asked for. An end ahead is left to the store, which knows by it
 * that all until now is asked for. */
static ctl_exit_t sync_read(sync_t *sync, pay_time_range_t *range, ctl_t *ctl)
{
    const apr_time_t now = pay_time_now();
    apr_time_t to;
    pay_account_t *account;
    ctl_exit_t failed;

    failed = ctl_scope_find(&sync->scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (sync->scope.mode != PAY_LIVE) {
        return ctl_fail(CTL_EXIT_ILLEGAL,
                        "--mode: want live; refunds of Test Mode are made nowhere "
                        "else");
    }
    failed = ctl_range_read(range, ctl, account);
    if (failed) {
        return failed;
    }
    if (range->from <= 0) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--from: want a date after 1970-01-01");
    }
    if (range->from > now) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--from: want a time in the past");
    }
    to = range->to < now ? range->to : now;
    if (to - range->from > apr_time_from_sec(RANGE_DAYS_MAX * (apr_int64_t)86400)) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--from, --to: want at most %d days at once",
                        RANGE_DAYS_MAX);
    }
    return CTL_OK;
}

ctl_exit_t ctl_refund_sync(ctl_t *ctl)
{
    sync_t sync = {.ctl = ctl, .error = ""};
    const pay_problem_t *problem;
    pay_history_t *history;
    pay_time_range_t range;
    const char *said;
    ctl_exit_t failed;

    failed = sync_read(&sync, &range, ctl);
    if (failed) {
        return failed;
    }
    said = apr_pstrcat(ctl->pool, ctl->option[CTL_OPTION_FROM], " to ", ctl->option[CTL_OPTION_TO],
                       NULL);
    problem = pay_refunds_ask(&history, &ctl->service, &sync.scope, &range, said, ctl->pool);
    if (problem && problem->error == PAY_ERR_IN_PROGRESS) {
        return busy_fail(history);
    }
    if (problem) {
        return ctl_fail_service(problem, "cannot send the request to the server", ctl->pool);
    }
    sync.number = history->asked;
    sync.last = *history;
    sync.error = history->error;
    if (ctl->option[CTL_OPTION_NO_WAIT]) {
        sync_print(&sync, 0);
        return CTL_OK;
    }
    return sync_await(&sync);
}
