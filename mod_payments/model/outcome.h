/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_OUTCOME_H
#define PAY_MODEL_OUTCOME_H

/* The outcome of a charge or refund as reported by an acquirer or, finally, by a person. Pure. */

#include "base/shared/moment.h"
#include "model/card.h"

#include <apr_time.h>

#define PAY_OUTCOME_MESSAGE_MAX 200 /* bytes of an acquirer's message that are kept */
#define PAY_OUTCOME_CODE_MAX 8
#define PAY_AUTHORIZATION_MAX 32
#define PAY_TAG_LEN 24                /* characters of a refund's tag */
#define PAY_ACQUIRER_REFERENCE_LEN 32 /* hex digits of an acquirer's name for a charge */
#define PAY_RESOLUTION_MAX 100        /* bytes of a person's reason */

typedef enum pay_outcome_kind_t {
    PAY_OUTCOME_UNKNOWN, /* money may have moved: stay pending, query again */
    PAY_OUTCOME_APPROVED,
    PAY_OUTCOME_DECLINED
} pay_outcome_kind_t;

/* Why a person should look at a charge or refund (docs/live-mode.md, "When a person must decide").
 */
typedef enum pay_held_t {
    PAY_NOT_HELD,
    PAY_HELD_OVERDUE,     /* pending for longer than PaymentsPendingAlert */
    PAY_HELD_NO_ACQUIRER, /* the acquirer that it was sent through is not configured */
    PAY_HELD_DIFFERENT,   /* the acquirer has something else under its reference */
    PAY_HELD_LATE,        /* failed for absence, but approved at the acquirer later */
    PAY_HELD_COUNT
} pay_held_t;

/* The action after a charge failed here and was approved later at the acquirer. */
typedef enum pay_late_t {
    PAY_LATE_NONE,
    PAY_LATE_FOUND,     /* a person must decide */
    PAY_LATE_REFUNDING, /* a full refund was, or may have been, sent under late_tag */
    PAY_LATE_REFUNDED,
    PAY_LATE_COUNT
} pay_late_t;

/*
 * The outcome of a charge or refund as reported by an acquirer or, finally, by a person, and its
 * consequences. Strings may be NULL for "".
 */
typedef struct pay_outcome_t {
    pay_outcome_kind_t kind;
    const char *code;               /* ISO 8583 response code, "" if unknown */
    const char *message;            /* for people; cut to PAY_OUTCOME_MESSAGE_MAX when stored */
    const char *authorization_code; /* "" if not given */
    const pay_card_t *card;         /* of a token that is not in the store; NULL: not reported */
    const char *token; /* of a checkout that was paid by card: token for charging its payer again;
                        * NULL: none */
    const char *acquirer_reference; /* of a refund: the acquirer's name for it */
    int received; /* of a waiting refund: the acquirer has it, so that it no longer waits */
    int spent;    /* approved, and refunded since by somebody else */
    apr_int64_t refunded_minor; /* of it, the refunded amount that the acquirer reports; 0: not
                                 * reported */
    const char *resolution;     /* why a person decided so; NULL: no person did */
    /* Of PAY_OUTCOME_UNKNOWN: the state so far. */
    apr_time_t absent_since;  /* time of the first of the answers "absent"; 0: no such answer */
    pay_moment_t absent_from; /* the same by the boot clock, from which time is counted */
    pay_held_t held;
    /* Of PAY_OUTCOME_DECLINED for absence: when it is queried nevertheless; 0: never. */
    apr_time_t late_check_at;
} pay_outcome_t;

/* Returns "overdue", "no-acquirer", "different", "late"; "" for PAY_NOT_HELD. */
const char *pay_held_name(pay_held_t held);

#endif
