/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "model/email.h"
#include "service/account/upkeep.h"

#include <string.h>

/* The result in one mode. */
typedef struct done_t {
    pay_mode_t mode;
    pay_purge_t purge;
} done_t;

#define AT(member) CTL_FIELD(done_t, member)
#define SHOWN (CTL_TABLE | CTL_JSON)

static const ctl_column_t columns[] = {
    {SHOWN, "mode", "mode", CTL_ENUM, AT(mode), .word = pay_mode_name},
    {SHOWN, "charges", "charges", CTL_NUMBER, AT(purge.charges)},
    {SHOWN, "refunds", "refunds", CTL_NUMBER, AT(purge.refunds)},
    {SHOWN, "events", "events", CTL_NUMBER, AT(purge.events)},
    {SHOWN, "tokens", "tokens", CTL_NUMBER, AT(purge.tokens)},
    {SHOWN, "answers", "answers", CTL_NUMBER, AT(purge.answers)},
    {SHOWN, "left", "left", CTL_NUMBER, AT(purge.left)},
    {0},
};

static const ctl_view_t done_view = {.columns = columns};

/* ---- a payer */

/* Sets *first and *last to the mode of --mode; without it they span both modes. */
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
    pay_purge_t purged[PAY_MODE_COUNT];
    const pay_problem_t *problem;
    apr_uint64_t left = 0;
    pay_account_t *account;
    ctl_exit_t failed;
    const char *email;
    ctl_list_t *list;
    apr_status_t rv;
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
    problem = pay_payer_erase(purged, &ctl->service, account, email, (pay_mode_t)mode,
                              (pay_mode_t)last, ctl->pool);
    list = ctl_list_open(ctl, &done_view, 0);
    for (; mode <= last && purged[mode].is_done; mode++) {
        const done_t done = {(pay_mode_t)mode, purged[mode]};

        left += purged[mode].left;
        ctl_list_row(list, &done);
    }
    if (problem) {
        return ctl_fail_service(
            problem, "cannot erase all of the payer: run the same command again", ctl->pool);
    }
    ctl_list_close(list);
    return left_tell(left);
}

/* ---- Test Mode */

ctl_exit_t ctl_account_reset(ctl_t *ctl)
{
    const pay_problem_t *problem;
    pay_account_t *account;
    ctl_exit_t failed;
    pay_scope_t scope;
    pay_purge_t purge;
    done_t done;

    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (scope.mode != PAY_TEST) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "Live Mode is never emptied: its charges and refunds are the account's "
                        "books; 'paymentsctl payer erase' blanks one payer");
    }
    problem = pay_account_reset(&purge, &ctl->service, account, ctl->pool);
    if (problem) {
        return ctl_fail_service(
            problem, "cannot empty all of Test Mode: run the same command again", ctl->pool);
    }
    done = (done_t){PAY_TEST, purge};
    ctl_row_print(ctl, &done_view, &done);
    if (purge.left > 0) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "%" APR_UINT64_T_FMT " charges were in use and are left; run the same "
                        "command again",
                        purge.left);
    }
    return CTL_OK;
}
