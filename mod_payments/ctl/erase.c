/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/audit.h"
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "model/email.h"

#include <string.h>

/* What was done in one mode. */
typedef struct done_t {
    pay_mode_t mode;
    apr_uint64_t charges, refunds, events, tokens, answers, left;
} done_t;

static const char *const titles[] = {"MODE",   "CHARGES", "REFUNDS", "EVENTS",
                                     "TOKENS", "ANSWERS", "LEFT",    NULL};

static void done_cells(ctl_table_t *table, const void *row)
{
    const done_t *done = row;

    ctl_table_cell(table, pay_mode_name(done->mode));
    ctl_table_number(table, done->charges);
    ctl_table_number(table, done->refunds);
    ctl_table_number(table, done->events);
    ctl_table_number(table, done->tokens);
    ctl_table_number(table, done->answers);
    ctl_table_number(table, done->left);
}

static void done_json(pay_writer_t *w, const void *row)
{
    const done_t *done = row;

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "mode", pay_mode_name(done->mode));
    pay_writer_integer(w, "charges", (apr_int64_t)done->charges);
    pay_writer_integer(w, "refunds", (apr_int64_t)done->refunds);
    pay_writer_integer(w, "events", (apr_int64_t)done->events);
    pay_writer_integer(w, "tokens", (apr_int64_t)done->tokens);
    pay_writer_integer(w, "answers", (apr_int64_t)done->answers);
    pay_writer_integer(w, "left", (apr_int64_t)done->left);
    pay_writer_object_close(w);
}

static const ctl_view_t done_view = {.titles = titles, .cells = done_cells, .json = done_json};

/* ---- a payer */

static apr_status_t payer_erase(done_t *out, const ctl_t *ctl, const pay_scope_t *scope,
                                const char *email)
{
    apr_status_t rv = APR_SUCCESS;
    pay_erasure_t at;

    memset(&at, 0, sizeof(at));
    while (rv == APR_SUCCESS && !at.done) { /* ends with the payer's rows */
        rv = pay_store_payer_erase(&at, ctl->store, scope, email, ctl->pool);
    }
    out->mode = scope->mode;
    out->charges = at.charges;
    out->refunds = at.refunds;
    out->events = at.events;
    out->tokens = at.tokens;
    out->answers = at.answers;
    out->left = at.left;
    return rv;
}

/* *first to *last are what --mode says; without it both. */
static ctl_exit_t modes_read(int *first, int *last, const ctl_t *ctl)
{
    const char *text = ctl->option[CTL_OPTION_MODE];
    pay_mode_t mode;
    apr_status_t rv;

    *first = 0;
    *last = PAY_MODE_COUNT - 1;
    if (!text || strcmp(text, "both") == 0) {
        return CTL_OK;
    }
    rv = pay_mode_parse(&mode, text);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--mode: want test, live or both");
    }
    *first = *last = (int)mode;
    return CTL_OK;
}

static ctl_exit_t left_tell(apr_uint64_t left)
{
    if (left == 0) {
        return CTL_OK;
    }
    return ctl_fail(CTL_EXIT_REFUSED,
                    "%" APR_UINT64_T_FMT " charges of this payer are pending and were left as they "
                    "are; run the same command again once they are decided",
                    left);
}

ctl_exit_t ctl_payer_erase(ctl_t *ctl)
{
    apr_uint64_t left = 0;
    pay_account_t *account;
    ctl_exit_t failed;
    const char *email;
    ctl_list_t *list;
    pay_scope_t scope;
    apr_status_t rv;
    done_t done;
    int mode, last;

    failed = modes_read(&mode, &last, ctl);
    if (failed) {
        return failed;
    }
    rv = pay_email_normalize(&email, ctl->option[CTL_OPTION_EMAIL], ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--email: want one e-mail address");
    }
    failed = ctl_account_find(&account, ctl, ctl->arg[0]);
    if (failed) {
        return failed;
    }
    ctl_audit_say(ctl, NULL, mode == last ? pay_mode_name((pay_mode_t)mode) : "both modes");
    scope.account = account->number;
    list = ctl_list_open(ctl, &done_view, 0);
    for (; mode <= last; mode++) {
        scope.mode = (pay_mode_t)mode;
        rv = payer_erase(&done, ctl, &scope, email);
        if (rv != APR_SUCCESS) {
            return ctl_fail_status(rv, "cannot erase all of the payer: run the same command again");
        }
        left += done.left;
        ctl_list_row(list, &done);
    }
    ctl_list_close(list);
    return left_tell(left);
}

/* ---- Test Mode */

ctl_exit_t ctl_account_reset(ctl_t *ctl)
{
    pay_account_t *account;
    ctl_exit_t failed;
    pay_scope_t scope;
    pay_reset_t at;
    done_t done;
    apr_status_t rv = APR_SUCCESS;

    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (scope.mode != PAY_TEST) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "Live Mode is never emptied: its charges and refunds are the account's "
                        "books; 'paymentsctl payer erase' blanks one payer");
    }
    memset(&at, 0, sizeof(at));
    while (rv == APR_SUCCESS && !at.done) { /* ends with what was there at first */
        rv = pay_store_scope_reset(&at, ctl->store, &scope, ctl->pool);
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot empty all of Test Mode: run the same command again");
    }
    done = (done_t){.mode = scope.mode,
                    .charges = at.charges,
                    .refunds = at.refunds,
                    .events = at.events,
                    .tokens = at.tokens,
                    .answers = at.answers,
                    .left = at.left};
    ctl_row_print(ctl, &done_view, &done);
    if (at.left > 0) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "%" APR_UINT64_T_FMT " charges were in use and are left; run the same "
                        "command again",
                        at.left);
    }
    return CTL_OK;
}
