/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_BREAKER_H
#define PAY_BASE_SHARED_BREAKER_H

/*
 * A circuit breaker in memory that all processes of the server share: after several failures in a
 * row a peer is left alone for a while, then one call probes it (docs/operations.md, "Limits").
 * Lock-free, any thread. Times are of the boot clock (pay_time_boot_ms).
 */

#include <apr.h>

#define PAY_BREAKER_FAILURES 10  /* in a row that open the breaker */
#define PAY_BREAKER_OPEN_MS 1000 /* the first time; doubled each time the probe fails */
#define PAY_BREAKER_OPEN_MS_MAX 30000
/* A probe without a result after this time counts as dead, as does one whose process died. */
#define PAY_BREAKER_PROBE_MS_MAX 120000
#define PAY_BREAKER_TRIAL_MS 60000 /* how often one call tries refused credentials */

typedef struct pay_breaker_t pay_breaker_t;

typedef enum pay_breaker_state_t {
    PAY_BREAKER_CLOSED, /* calls pass */
    PAY_BREAKER_OPEN,   /* no call passes */
    PAY_BREAKER_PROBING /* one call is under way, no other passes */
} pay_breaker_state_t;

apr_size_t pay_breaker_size(void);
/* `memory`: pay_breaker_size() bytes, shared, aligned as malloc's. Starts closed and not faulty. */
pay_breaker_t *pay_breaker_init(void *memory);

/*
 * Asks whether a call may be made now. Returns a ticket (above 0) if so; the caller must pass it to
 * pay_breaker_success, _failure or _skip. Returns 0 if not, at least not before *retry_after_ms (at
 * least 1) have passed.
 */
int pay_breaker_enter(pay_breaker_t *breaker, apr_int64_t *retry_after_ms);

/*
 * The peer has answered: closes the breaker, also for a call that entered before it opened; a hold
 * goes on. With ticket 0, of a call that did not need to enter (a query), it only clears the fault:
 * a peer that can be read from may yet take no payments, so only payments open and close.
 */
void pay_breaker_success(pay_breaker_t *breaker, int ticket);
/*
 * The peer did not answer: counts one more failure in a row; a failed probe opens the breaker again
 * for twice as long. Does nothing if it opened or closed since the ticket was issued, or for ticket
 * 0.
 */
void pay_breaker_failure(pay_breaker_t *breaker, int ticket);
/* The call was not made after all: nothing is counted, and a probe's place is free again. Does
 * nothing for ticket 0. */
void pay_breaker_skip(pay_breaker_t *breaker, int ticket);

/*
 * The peer asked us to wait: opens for `ms` (at most PAY_BREAKER_OPEN_MS_MAX; PAY_BREAKER_OPEN_MS
 * if less than 1), or extends the time if it is open. The ticket must still be returned, before or
 * after.
 */
void pay_breaker_hold(pay_breaker_t *breaker, apr_int64_t ms);

/*
 * Returns for how many more milliseconds the peer has asked us to wait, 0 if it has not. Nothing at
 * all is sent to it meanwhile, not even calls that need not enter.
 */
apr_int64_t pay_breaker_held_ms(const pay_breaker_t *breaker);

/*
 * The peer refuses our credentials: only one call passes every PAY_BREAKER_TRIAL_MS, until it, or
 * one that did not need to enter (a query), ends in pay_breaker_success. The ticket must still be
 * returned, before or after.
 */
void pay_breaker_fault(pay_breaker_t *breaker);

/* There are no credentials: the breaker is faulty, and no call passes at all; pay_breaker_enter
 * sets *retry_after_ms to PAY_BREAKER_OPEN_MS_MAX. */
void pay_breaker_shut(pay_breaker_t *breaker);

/* For metrics: a snapshot. It is open until the probe begins, even after its time is over. */
pay_breaker_state_t pay_breaker_state(const pay_breaker_t *breaker);
int pay_breaker_is_faulty(const pay_breaker_t *breaker);

#endif
