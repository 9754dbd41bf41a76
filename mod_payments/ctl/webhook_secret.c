/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/keyring.h"
#include "ctl/message.h"
#include "ctl/options.h"

#include "base/text/time.h"
#include "service/account/endpoints.h"

#include <apr_strings.h>
#include <stdio.h>

/*
 * Prints only the secret on standard output, for scripts; in JSON together with the previous
 * secret that still signs.
 */
static ctl_exit_t secret_reveal(ctl_t *ctl, const pay_endpoint_t *endpoint)
{
    const int overlap = *endpoint->old_secret && endpoint->old_secret_until > pay_time_now();
    const char *secret, *old;
    ctl_exit_t failed;
    pay_writer_t *w;

    failed = ctl_secret_open(&secret, ctl, &endpoint->scope, endpoint->secret);
    if (failed) {
        return failed;
    }
    if (!ctl->json) {
        puts(secret);
        return CTL_OK;
    }
    failed = ctl_secret_open(&old, ctl, &endpoint->scope, overlap ? endpoint->old_secret : "");
    if (failed) {
        return failed;
    }
    w = ctl_object_open(ctl);
    pay_writer_string(w, "secret", secret);
    pay_writer_string(w, "oldSecret", *old ? old : NULL);
    pay_writer_time(w, "oldSecretUntil", overlap ? endpoint->old_secret_until : 0);
    ctl_object_print(w);
    return CTL_OK;
}

ctl_exit_t ctl_webhook_secret_show(ctl_t *ctl)
{
    pay_endpoint_t *endpoint;
    pay_account_t *account;
    ctl_exit_t failed;

    failed = ctl_webhook_find(&endpoint, &account, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_keyring_need(ctl, 0);
    if (failed) {
        return failed;
    }
    return secret_reveal(ctl, endpoint);
}

ctl_exit_t ctl_webhook_secret_rotate(ctl_t *ctl)
{
    const pay_problem_t *problem;
    apr_interval_time_t overlap;
    pay_endpoint_t *endpoint;
    pay_account_t *account;
    const char *text;
    ctl_exit_t failed;

    failed = ctl_option_overlap(&overlap, ctl, PAY_WEBHOOK_OVERLAP_DEFAULT);
    if (failed) {
        return failed;
    }
    failed = ctl_webhook_find(&endpoint, &account, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_keyring_need(ctl, 0);
    if (failed) {
        return failed;
    }
    failed = ctl_secret_open(&text, ctl, &endpoint->scope, overlap ? endpoint->secret : "");
    if (failed) { /* it cannot sign: without an overlap it may be dropped */
        return failed;
    }
    problem =
        pay_webhook_renew(&endpoint, &text, &ctl->service, &endpoint->scope, overlap, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot create and store the webhook's secret", ctl->pool);
    }
    return secret_reveal(ctl, endpoint);
}
