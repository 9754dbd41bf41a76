/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROPERTY_QUESTION_H
#define PROPERTY_QUESTION_H

/*
 * The consequences of an acquirer's answers about a charge or refund with an unknown outcome
 * (docs/live-mode.md, "What pending means"): a part of the model.
 */

#include "acquirer/mod_payments.h"
#include "model/charge.h"

#include <string.h>

#define MODEL_HOUR apr_time_from_sec(3600)
#define MODEL_LATE_AFTER MODEL_HOUR
#define MODEL_CHECKOUT_LIFETIME (168 * MODEL_HOUR)
/* Not a sum of the pauses between steps, so that a millisecond decides nothing. */
#define MODEL_PENDING_ALERT (5 * MODEL_HOUR + apr_time_from_msec(250))
#define MODEL_LATE_CHECKS_END (7 * 24 * MODEL_HOUR)

typedef struct model_question_t {
    apr_time_t absent_since; /* of the first report of absence; 0: no report */
    apr_time_t failed_at;    /* for absence; 0: it did not */
    apr_time_t late_at;      /* when it is queried nevertheless; 0: no more */
    pay_held_t held;
    pay_late_t late;
} model_question_t;

static inline apr_time_t model_question_next_late(const model_question_t *question, apr_time_t now)
{
    static const int hours[] = {6, 24, 3 * 24, 7 * 24};
    int i;

    for (i = 0; i < 4; i++) {
        if (question->failed_at + hours[i] * MODEL_HOUR > now) {
            return question->failed_at + hours[i] * MODEL_HOUR;
        }
    }
    return 0;
}

static inline pay_held_t model_question_held(const model_question_t *question,
                                             payments_verdict_t says, int overdue)
{
    if (says == PAYMENTS_DIFFERENT
        || (says == PAYMENTS_UNKNOWN && question->held == PAY_HELD_DIFFERENT)) {
        return PAY_HELD_DIFFERENT;
    }
    return overdue ? PAY_HELD_OVERDUE : PAY_NOT_HELD;
}

/* An answer while it is pending; returns its new state. */
static inline pay_outcome_kind_t model_question_answer(model_question_t *question,
                                                       payments_verdict_t says,
                                                       apr_time_t created_at, apr_time_t now)
{
    if (says == PAYMENTS_APPROVED || says == PAYMENTS_DECLINED) {
        memset(question, 0, sizeof(*question));
        return says == PAYMENTS_APPROVED ? PAY_OUTCOME_APPROVED : PAY_OUTCOME_DECLINED;
    }
    if (says == PAYMENTS_ABSENT && question->absent_since
        && now - question->absent_since >= MODEL_LATE_AFTER) {
        *question = (model_question_t){.failed_at = now, .late_at = now + 6 * MODEL_HOUR};
        return PAY_OUTCOME_DECLINED;
    }
    if (says == PAYMENTS_ABSENT && !question->absent_since) {
        question->absent_since = now;
    } else if (says == PAYMENTS_PENDING || says == PAYMENTS_DIFFERENT) {
        question->absent_since = 0;
    }
    question->held = model_question_held(question, says, now - created_at >= MODEL_PENDING_ALERT);
    return PAY_OUTCOME_UNKNOWN;
}

/*
 * An answer after it failed for absence: whatever it is, it stays failed. Returns 1 if it was
 * queried.
 */
static inline int model_question_late(model_question_t *question, payments_verdict_t says,
                                      pay_late_t becomes, apr_time_t now)
{
    const int differs = says == PAYMENTS_DIFFERENT
                        || (says != PAYMENTS_ABSENT && question->held == PAY_HELD_DIFFERENT);

    if (!question->late_at || question->late_at > now) {
        return 0;
    }
    question->held = PAY_NOT_HELD;
    question->late_at = 0;
    if (says == PAYMENTS_APPROVED) {
        question->late = becomes;
        question->held = becomes == PAY_LATE_FOUND ? PAY_HELD_LATE : PAY_NOT_HELD;
    } else if (says != PAYMENTS_DECLINED) {
        question->held = differs ? PAY_HELD_DIFFERENT : PAY_NOT_HELD;
        question->late_at = says == PAYMENTS_ABSENT || says == PAYMENTS_DIFFERENT
                                ? model_question_next_late(question, now)
                                : now;
    }
    return 1;
}

#endif
