/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl_decision.h"

#include "base/pay_time.h"
#include "ctl/ctl_message.h"
#include "model/pay_text.h"

#include <apr_strings.h>
#include <string.h>

#define LATE_CHECK_AFTER apr_time_from_sec(6 * 3600) /* as after a failure for absence */

static const char *const held_texts[] = {
    [PAY_NOT_HELD] = NULL,
    [PAY_HELD_OVERDUE] = "pending for longer than PaymentsPendingAlert",
    [PAY_HELD_NO_ACQUIRER] = "the acquirer that it was sent through is not configured",
    [PAY_HELD_DIFFERENT] = "the acquirer has something else under its reference",
    [PAY_HELD_LATE] = "it failed here, and the acquirer did it all the same",
};
_Static_assert(sizeof(held_texts) / sizeof(held_texts[0]) == PAY_HELD_COUNT, "a text each");

static const char *const late_texts[] = {
    [PAY_LATE_NONE] = NULL,
    [PAY_LATE_FOUND] = "found",
    [PAY_LATE_REFUNDING] = "refunding",
    [PAY_LATE_REFUNDED] = "refunded",
};
_Static_assert(sizeof(late_texts) / sizeof(late_texts[0]) == PAY_LATE_COUNT, "a text each");

/* Blanks alone are no reason. The option's own limit was judged before. */
static ctl_exit_t reason_check(const char *reason)
{
    if (!reason[strspn(reason, " ")] || !pay_text_is_plain(reason, "")) {
        return ctl_fail(CTL_EXIT_ILLEGAL,
                        "--reason: want 1 to %d bytes of text without control characters",
                        PAY_RESOLUTION_MAX);
    }
    if (pay_card_number_within(reason)) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--reason: must not contain a card number");
    }
    return CTL_OK;
}

ctl_exit_t ctl_decision_read(pay_outcome_t *out, const ctl_t *ctl, const char *approved)
{
    const pay_outcome_t decided = {.message = "Decided by the merchant.",
                                   .resolution = ctl->option[CTL_OPTION_REASON]};
    const char *word = ctl->option[CTL_OPTION_OUTCOME];

    *out = decided;
    if (strcmp(word, approved) == 0) {
        out->kind = PAY_OUTCOME_APPROVED;
    } else if (strcmp(word, "failed") == 0) {
        out->kind = PAY_OUTCOME_DECLINED;
    } else {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--outcome: want %s or failed", approved);
    }
    return reason_check(out->resolution);
}

void ctl_decision_late_check(pay_outcome_t *outcome)
{
    if (outcome->kind == PAY_OUTCOME_DECLINED) {
        outcome->late_check_at = pay_time_now() + LATE_CHECK_AFTER;
    }
}

ctl_exit_t ctl_decision_busy(const char *what, const char *reference, apr_int64_t until_ms)
{
    const apr_int64_t left_ms = until_ms - pay_time_boot_ms();

    return ctl_fail(CTL_EXIT_REFUSED,
                    "%s %s is with its acquirer just now, whose answer decides it; look again in "
                    "%d seconds",
                    what, reference, left_ms > 0 ? (int)(left_ms / 1000) + 1 : 1);
}

const char *ctl_held_text(pay_held_t held, apr_pool_t *p)
{
    if (held == PAY_NOT_HELD) {
        return NULL;
    }
    return apr_pstrcat(p, pay_held_name(held), ": ",
                       (unsigned int)held < PAY_HELD_COUNT ? held_texts[held] : "", NULL);
}

const char *ctl_late_text(pay_late_t late)
{
    return (unsigned int)late < PAY_LATE_COUNT ? late_texts[late] : "unknown";
}
