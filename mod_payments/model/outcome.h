/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_OUTCOME_H
#define PAY_MODEL_OUTCOME_H

/* What an acquirer, or in the end a person, said of a charge or refund. Pure. */

#include "base/shared/moment.h"
#include "model/card.h"

#include <apr_time.h>

#define PAY_OUTCOME_MESSAGE_MAX 200 /* bytes of an acquirer's message that are kept */
#define PAY_OUTCOME_CODE_MAX 8
#define PAY_AUTHORIZATION_MAX 32
#define PAY_TAG_LEN 24                /* characters of a refund's tag */
#define PAY_ACQUIRER_REFERENCE_LEN 32 /* hex digits by which an acquirer knows a charge */
#define PAY_RESOLUTION_MAX 100        /* bytes of a person's reason */

typedef enum pay_outcome_kind_t {
    PAY_OUTCOME_UNKNOWN, /* money may have moved: stay pending, ask again */
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
    PAY_HELD_LATE,        /* failed for absence, and approved at the acquirer all the same */
    PAY_HELD_COUNT
} pay_held_t;

/* What was done about a charge that failed here and was approved later at the acquirer. */
typedef enum pay_late_t {
    PAY_LATE_NONE,
    PAY_LATE_FOUND,     /* a person must decide */
    PAY_LATE_REFUNDING, /* a refund of all of it was, or may have been, sent under late_tag */
    PAY_LATE_REFUNDED,
    PAY_LATE_COUNT
} pay_late_t;

/*
 * What an acquirer, or in the end a person, said of a charge or refund, and what follows from it.
 * Strings may be NULL for "".
 */
typedef struct pay_outcome_t {
    pay_outcome_kind_t kind;
    const char *code;               /* ISO 8583 response code, "" when unknown */
    const char *message;            /* for people; cut to PAY_OUTCOME_MESSAGE_MAX when stored */
    const char *authorization_code; /* "" when there is none */
    const pay_card_t *card;         /* of a token that the store does not hold; NULL: not told */
    const char *token; /* of a checkout that was paid by card: by which its payer is charged again;
                          NULL: none */
    const char *acquirer_reference; /* of a refund: what the acquirer calls it */
    int received; /* of a refund that waits: the acquirer has it, so that it waits no more */
    int spent;    /* approved, and given back since by somebody else */
    apr_int64_t refunded_minor; /* of it, what the acquirer says was given back; 0: not told */
    const char *resolution;     /* why a person decided it so; NULL: no person did */
    /* Of PAY_OUTCOME_UNKNOWN: how things stand. */
    apr_time_t absent_since;  /* of the first of the answers that there is none such; 0: no such */
    pay_moment_t absent_from; /* the same by the boot clock, from which is counted */
    pay_held_t held;
    /* Of PAY_OUTCOME_DECLINED for absence: when it is asked about all the same; 0: never. */
    apr_time_t late_check_at;
} pay_outcome_t;

/* "overdue", "no-acquirer", "different", "late"; "" for PAY_NOT_HELD. */
const char *pay_held_name(pay_held_t held);

#endif
