/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_DECISION_H
#define PAY_CTL_DECISION_H

/* Decisions by a person, and what that person is shown (docs/live-mode.md). */

#include "ctl/output.h"

/* Makes the outcome of a charge or refund from --outcome, `approved` or "failed", and --reason. */
ctl_exit_t ctl_decision_read(pay_outcome_t *out, const ctl_t *ctl, const char *approved);

/*
 * Reports why a decision was refused; `what` is the sentence for a failure of the store. While the
 * case is still open (`is_open` 1), a refused outcome is followed by the option that would be
 * accepted. Returns the exit code.
 */
ctl_exit_t ctl_decision_fail(const pay_problem_t *problem, const char *what, int is_open,
                             const pay_outcome_t *given, const char *approved, apr_pool_t *p);

/* Why it waits for a person, a word; NULL: it does not. */
const char *ctl_held_name(pay_held_t held);

/* The same, with a few words on it; NULL: it does not. */
const char *ctl_held_text(pay_held_t held, apr_pool_t *p);

/* "found", "refunding" or "refunded" for a late approval; NULL without one. */
const char *ctl_late_text(pay_late_t late);

#endif
