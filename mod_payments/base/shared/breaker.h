/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_BREAKER_H
#define PAY_BASE_SHARED_BREAKER_H

/*
 * A circuit breaker in memory that all processes of the server share: after failures in a row a
 * peer is left alone for a while, then tried by one call (docs/operations.md, "Limits"). Lock-free,
 * any thread. Times are of the boot clock (pay_time_boot_ms).
 */

#include <apr.h>

#define PAY_BREAKER_FAILURES 10  /* in a row, that open it */
#define PAY_BREAKER_OPEN_MS 1000 /* the first time; doubled each time the probe fails */
#define PAY_BREAKER_OPEN_MS_MAX 30000
/* A probe that gave no result by then has died, as has one whose process has. */
#define PAY_BREAKER_PROBE_MS_MAX 120000
#define PAY_BREAKER_TRIAL_MS 60000 /* how often a call tries credentials that were refused */

typedef struct pay_breaker_t pay_breaker_t;

typedef enum pay_breaker_state_t {
    PAY_BREAKER_CLOSED, /* calls pass */
    PAY_BREAKER_OPEN,   /* none does */
    PAY_BREAKER_PROBING /* one is under way, the others do not pass */
} pay_breaker_state_t;

apr_size_t pay_breaker_size(void);
/* `memory`: pay_breaker_size() bytes, shared, aligned as malloc's. Closed, not faulty. */
pay_breaker_t *pay_breaker_init(void *memory);

/*
 * Whether a call may be made now; one that may gets a ticket (above 0), and owes it to
 * pay_breaker_success, _failure or _skip. 0: not before *retry_after_ms (at least 1) have passed.
 */
int pay_breaker_enter(pay_breaker_t *breaker, apr_int64_t *retry_after_ms);

/*
 * The peer answered just now: closed, also for one that entered before it opened; a hold goes on.
 * Ticket 0, of a call that did not need to enter (a query): it is no longer faulty, and that is
 * all. A peer that can be read from may yet take no payments, so only payments open and close.
 */
void pay_breaker_success(pay_breaker_t *breaker, int ticket);
/*
 * It did not: one failure more in a row; a probe's opens it again for twice as long. Nothing when
 * it opened or closed since the ticket was given. Ticket 0: nothing.
 */
void pay_breaker_failure(pay_breaker_t *breaker, int ticket);
/* The call was not made after all: nothing is learnt, a probe's place is free again. Ticket 0:
 * nothing. */
void pay_breaker_skip(pay_breaker_t *breaker, int ticket);

/*
 * The peer asked for patience: opened for `ms` (cut to PAY_BREAKER_OPEN_MS_MAX; less than 1: for
 * PAY_BREAKER_OPEN_MS), or longer if it is open already. The ticket is still owed, before or after.
 */
void pay_breaker_hold(pay_breaker_t *breaker, apr_int64_t ms);

/*
 * Returns for how many milliseconds more the peer has asked for patience, 0 if it has not. Nothing
 * at all is sent to it meanwhile, also no call that need not enter.
 */
apr_int64_t pay_breaker_held_ms(const pay_breaker_t *breaker);

/*
 * The peer refuses our credentials: no call passes but for one each PAY_BREAKER_TRIAL_MS, until
 * that one, or one that did not need to enter (a query), ends in pay_breaker_success. The ticket is
 * still owed, before or after.
 */
void pay_breaker_fault(pay_breaker_t *breaker);

/* There are no credentials: it is faulty, and no call passes at all; pay_breaker_enter tells to
 * retry after PAY_BREAKER_OPEN_MS_MAX. */
void pay_breaker_shut(pay_breaker_t *breaker);

/* For metrics: a snapshot. It is open until the probe begins, also when its time is over. */
pay_breaker_state_t pay_breaker_state(const pay_breaker_t *breaker);
int pay_breaker_is_faulty(const pay_breaker_t *breaker);

#endif
