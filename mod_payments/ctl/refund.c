/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/refund.h"

#include "acquirer/simulator.h"
#include "service/refund/refund_import.h"
#include "service/refund/refunds.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <stdio.h>
#include <unistd.h>

#define REPEAT_WINDOW_SECONDS 600

static void refund_json(pay_writer_t *w, const void *row)
{
    pay_refund_to_json(w, NULL, row);
}

static const ctl_view_t refund_view = {.columns = ctl_refund_columns, .json = refund_json};

/* Says what is yet to come of it. */
static ctl_exit_t outcome_tell(const pay_refund_t *refund)
{
    if (refund->state == PAY_REFUND_FAILED) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "the acquirer refused refund %s; its amount can be "
                        "refunded again",
                        refund->refund_reference);
    }
    if (refund->state == PAY_REFUND_PENDING && refund->waiting) {
        ctl_note("Refund %s waits for the server, which sends it to the acquirer; 'paymentsctl "
                 "refund show' prints the outcome.",
                 refund->refund_reference);
    } else if (refund->state == PAY_REFUND_PENDING) {
        ctl_note("Refund %s is pending: the server asks the acquirer again by itself.",
                 refund->refund_reference);
    }
    return CTL_OK;
}

ctl_exit_t ctl_refund_create(ctl_t *ctl)
{
    const pay_acquirer_t simulator = {.connector = &pay_acquirer_simulator,
                                      .name = pay_acquirer_simulator.name,
                                      .timeout = PAY_ACQUIRER_TIMEOUT_DEFAULT};
    /* The server alone holds the keys of live acquirers: it sends what is written here. */
    pay_service_t service = ctl->service;
    pay_refund_request_t request;
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_refund_t *refund;
    pay_caller_t caller = {.key_kind = PAY_KEY_SECRET, .key_id = ""};
    ctl_exit_t failed;
    int replayed;

    failed = ctl_scope_find(&caller.scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (caller.scope.mode == PAY_LIVE && account->mode == PAY_TEST) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "account %s is in Test Mode, where no live refund is made; 'paymentsctl "
                        "account mode %s live' switches it",
                        account->name, account->name);
    }
    caller.account = account;
    service.acquirer[PAY_TEST] = &simulator;
    service.deferred = 1;
    service.policy.acquirer_timeout = PAY_ACQUIRER_TIMEOUT_DEFAULT;
    service.policy.refund_repeat_window = apr_time_from_sec(REPEAT_WINDOW_SECONDS);
    request.reference = ctl->option[CTL_OPTION_REFERENCE];
    request.amount = ctl->option[CTL_OPTION_AMOUNT];
    request.customer_note = ctl->option[CTL_OPTION_CUSTOMER_NOTE];
    request.merchant_note = ctl->option[CTL_OPTION_MERCHANT_NOTE];
    request.channel = "cli";
    problem = pay_refund_create(&refund, &replayed, &service, &caller, &request, ctl->pool);
    if (problem) {
        return ctl_fail_problem(problem, ctl->pool);
    }
    ctl_row_print(ctl, &refund_view, refund);
    return outcome_tell(refund);
}

static void progress_print(void *baton, int pass, apr_uint64_t done, apr_uint64_t total)
{
    int *shown = baton;

    *shown = 1;
    if (total) {
        fprintf(stderr, "\r%s %" APR_UINT64_T_FMT " of %" APR_UINT64_T_FMT " records\033[K",
                pass == 1 ? "reading" : "writing", done, total);
    } else {
        fprintf(stderr, "\r%s %" APR_UINT64_T_FMT " records\033[K",
                pass == 1 ? "reading" : "writing", done);
    }
}

static void import_print(const ctl_t *ctl, const pay_import_result_t *result)
{
    pay_writer_t *w;

    if (!ctl->json) {
        printf("%" APR_UINT64_T_FMT " written, %" APR_UINT64_T_FMT " skipped\n", result->written,
               result->skipped);
        if (result->unlinked) {
            ctl_note("%" APR_UINT64_T_FMT " of them name no charge of this store by the "
                     "acquirer's name for it, and count on no charge; "
                     "'paymentsctl refund link' lists them.",
                     result->unlinked);
        }
        return;
    }
    w = ctl_object_open(ctl);
    pay_writer_integer(w, "written", (apr_int64_t)result->written);
    pay_writer_integer(w, "skipped", (apr_int64_t)result->skipped);
    pay_writer_integer(w, "unlinked", (apr_int64_t)result->unlinked);
    ctl_object_print(w);
}

ctl_exit_t ctl_refund_import(ctl_t *ctl)
{
    const char *path = ctl->arg[1];
    pay_import_result_t result = {.fault = NULL};
    pay_account_t *account;
    pay_scope_t scope;
    ctl_exit_t failed;
    apr_status_t rv;
    int shown = 0;

    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_caller_resume(); /* the file is the caller's, not the store's */
    if (failed) {
        return failed;
    }
    rv = pay_refund_import(&result, &ctl->service, &scope, path,
                           isatty(STDERR_FILENO) ? progress_print : NULL, &shown, ctl->pool);
    if (shown) {
        fputs("\r\033[K", stderr);
    }
    if (result.fault) {
        return ctl_fail(rv == APR_SUCCESS || rv == APR_EINVAL || rv == APR_EEXIST
                            ? CTL_EXIT_NOT_VALID
                            : ctl_exit_of_status(rv),
                        "%s: %s", path, result.fault);
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, apr_psprintf(ctl->pool, "cannot import %s", path));
    }
    import_print(ctl, &result);
    return CTL_OK;
}
