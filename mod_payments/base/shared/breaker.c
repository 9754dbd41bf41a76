/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/breaker.h"

#include "base/text/time.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "breakers are shared by processes: no hidden locks");

#define PID_BITS 22 /* the kernel's PID_MAX_LIMIT */
#define PID_MASK ((APR_UINT64_C(1) << PID_BITS) - 1)

/* The fields of the word, from the top. */
#define KIND_BITS 2
#define FLAG_BITS 1
#define OPENINGS_BITS 3
#define FAILURES_BITS 4
#define GENERATION_BITS 11
#define TIME_BITS 41 /* milliseconds: 69 years */

_Static_assert(KIND_BITS + 3 * FLAG_BITS + OPENINGS_BITS + FAILURES_BITS + GENERATION_BITS
                       + TIME_BITS
                   == 64,
               "all is in one word");
_Static_assert(PAY_BREAKER_FAILURES < 1 << FAILURES_BITS, "the failures in a row fit");

#define OPENINGS_MAX ((1 << OPENINGS_BITS) - 1)
_Static_assert(PAY_BREAKER_OPEN_MS << OPENINGS_MAX >= PAY_BREAKER_OPEN_MS_MAX,
               "the longest time is reached before the count of openings ends");

/*
 * All state that decides is in one word, changed by compare-and-set: of many threads that find the
 * time over, the one whose set succeeds makes the probe. The generation is incremented whenever the
 * breaker opens, closes or is probed. A ticket is the generation in which its call entered, and
 * distinguishes a current result from a late one.
 *
 * `prober` is the generation of a probe and the process that makes it. It is written after the
 * word, and believed only while both generations are the same.
 *
 * `trial_ms` is when a call may test again whether our credentials are refused. That call is a
 * probe; its answer sets the next time. Results of queries do not, or they would postpone it for
 * ever.
 */
struct pay_breaker_t {
    _Atomic apr_uint64_t word;
    _Atomic apr_uint64_t prober;
    _Atomic apr_int64_t trial_ms;
};

typedef struct content_t {
    pay_breaker_state_t state;
    unsigned faulty;
    unsigned shut;     /* faulty for good */
    unsigned held;     /* open because the peer asked us to wait */
    unsigned openings; /* since it was last closed, without holds */
    unsigned failures; /* in a row; while closed */
    unsigned generation;
    apr_int64_t until_ms; /* open: when a probe may go; probing: when it is given up */
} content_t;

/* Handles an event; changes *content, or leaves it as it is. */
typedef void change_t(content_t *content, int ticket, apr_int64_t ms);

static unsigned take(apr_uint64_t *word, int bits)
{
    const unsigned field = (unsigned)(*word & ((APR_UINT64_C(1) << bits) - 1));

    *word >>= bits;
    return field;
}

static content_t unpack(apr_uint64_t word)
{
    content_t content;

    content.until_ms = (apr_int64_t)(word & ((APR_UINT64_C(1) << TIME_BITS) - 1));
    word >>= TIME_BITS;
    content.generation = take(&word, GENERATION_BITS);
    content.failures = take(&word, FAILURES_BITS);
    content.openings = take(&word, OPENINGS_BITS);
    content.held = take(&word, FLAG_BITS);
    content.faulty = take(&word, FLAG_BITS);
    content.shut = take(&word, FLAG_BITS);
    content.state = (pay_breaker_state_t)take(&word, KIND_BITS);
    return content;
}

static apr_uint64_t pack(const content_t *content)
{
    apr_uint64_t word = (apr_uint64_t)content->state;

    word = word << FLAG_BITS | content->shut;
    word = word << FLAG_BITS | content->faulty;
    word = word << FLAG_BITS | content->held;
    word = word << OPENINGS_BITS | content->openings;
    word = word << FAILURES_BITS | content->failures;
    word = word << GENERATION_BITS | content->generation;
    return word << TIME_BITS | (apr_uint64_t)content->until_ms;
}

static void become(content_t *content, pay_breaker_state_t state, apr_int64_t until_ms)
{
    content->state = state;
    content->until_ms = until_ms;
    content->held = 0;
    content->failures = 0;
    content->generation = (content->generation + 1) & ((1u << GENERATION_BITS) - 1);
    if (state == PAY_BREAKER_CLOSED) {
        content->openings = 0;
    }
}

/* Returns 1 if it was not opened, closed or probed since the ticket was issued. */
static int is_current(const content_t *content, int ticket)
{
    return ticket > 0 && (unsigned)ticket - 1 == content->generation;
}

static void change(pay_breaker_t *breaker, change_t *by, int ticket, apr_int64_t ms)
{
    apr_uint64_t word = atomic_load(&breaker->word);
    apr_uint64_t next;

    assert(ticket >= 0);
    assert(ticket <= 1 << GENERATION_BITS);
    do {
        content_t content = unpack(word);

        by(&content, ticket, ms);
        next = pack(&content);
    } while (next != word && !atomic_compare_exchange_weak(&breaker->word, &word, next));
}

apr_size_t pay_breaker_size(void)
{
    return sizeof(pay_breaker_t);
}

pay_breaker_t *pay_breaker_init(void *memory)
{
    pay_breaker_t *breaker = memory;

    assert((uintptr_t)memory % _Alignof(pay_breaker_t) == 0);
    atomic_init(&breaker->word, 0);
    atomic_init(&breaker->prober, 0);
    atomic_init(&breaker->trial_ms, 0);
    return breaker;
}

/* Returns 1 if the process that makes the probe of this generation has died. */
static int is_prober_dead(const pay_breaker_t *breaker, unsigned generation)
{
    const apr_uint64_t prober = atomic_load(&breaker->prober);

    if (prober >> PID_BITS != generation || !(prober & PID_MASK)) {
        return 0;
    }
    return kill((pid_t)(prober & PID_MASK), 0) != 0 && errno == ESRCH;
}

/* Returns how long the next caller must wait; not above 0: the caller is the probe. */
static apr_int64_t wait_of(const pay_breaker_t *breaker, const content_t *content,
                           apr_int64_t now_ms)
{
    const apr_int64_t wait_ms = content->until_ms - now_ms;

    if (content->state == PAY_BREAKER_OPEN) {
        return wait_ms;
    }
    if (content->state == PAY_BREAKER_CLOSED) {
        return 0;
    }
    if (wait_ms > 0 && is_prober_dead(breaker, content->generation)) {
        return 0;
    }
    /* The probe will have ended long before it would be given up. */
    return wait_ms < PAY_BREAKER_OPEN_MS ? wait_ms : PAY_BREAKER_OPEN_MS;
}

/* Returns the same while credentials are refused. */
static apr_int64_t faulty_wait_of(const pay_breaker_t *breaker, const content_t *content,
                                  apr_int64_t now_ms)
{
    const apr_int64_t wait_ms = wait_of(breaker, content, now_ms);
    const apr_int64_t trial_wait_ms = atomic_load(&breaker->trial_ms) - now_ms;

    if (content->shut) {
        return PAY_BREAKER_OPEN_MS_MAX;
    }
    return trial_wait_ms > wait_ms ? trial_wait_ms : wait_ms;
}

int pay_breaker_enter(pay_breaker_t *breaker, apr_int64_t *retry_after_ms)
{
    apr_uint64_t word = atomic_load(&breaker->word);
    apr_int64_t now_ms, wait_ms;
    content_t content;

    *retry_after_ms = 0;
    for (;;) {
        content = unpack(word);
        if (content.state == PAY_BREAKER_CLOSED && !content.faulty) {
            return (int)content.generation + 1;
        }
        now_ms = pay_time_boot_ms();
        wait_ms = content.faulty ? faulty_wait_of(breaker, &content, now_ms)
                                 : wait_of(breaker, &content, now_ms);
        if (wait_ms > 0) {
            *retry_after_ms = wait_ms;
            return 0;
        }
        become(&content, PAY_BREAKER_PROBING, now_ms + PAY_BREAKER_PROBE_MS_MAX);
        if (atomic_compare_exchange_weak(&breaker->word, &word, pack(&content))) {
            atomic_store(&breaker->prober,
                         (apr_uint64_t)content.generation << PID_BITS | (apr_uint64_t)getpid());
            return (int)content.generation + 1;
        }
    }
}

static void open_for_failures(content_t *content)
{
    apr_int64_t ms = (apr_int64_t)PAY_BREAKER_OPEN_MS << content->openings;

    if (ms > PAY_BREAKER_OPEN_MS_MAX) {
        ms = PAY_BREAKER_OPEN_MS_MAX;
    }
    become(content, PAY_BREAKER_OPEN, pay_time_boot_ms() + ms);
    if (content->openings < OPENINGS_MAX) {
        content->openings++;
    }
}

static void succeed(content_t *content, int ticket, apr_int64_t ms)
{
    (void)ms;
    if (ticket == 0 || (content->state == PAY_BREAKER_PROBING && is_current(content, ticket))) {
        content->faulty = content->shut;
    }
    if (ticket == 0) {
        return;
    }
    if (content->state == PAY_BREAKER_CLOSED) {
        content->failures = 0;
    } else if (!content->held) {
        become(content, PAY_BREAKER_CLOSED, 0);
    }
}

static void fail(content_t *content, int ticket, apr_int64_t ms)
{
    (void)ms;
    if (content->state == PAY_BREAKER_OPEN || !is_current(content, ticket)) {
        return;
    }
    if (content->state == PAY_BREAKER_CLOSED) {
        content->failures++;
        if (content->failures < PAY_BREAKER_FAILURES) {
            return;
        }
    }
    open_for_failures(content);
}

/* The place of a probe goes to the next caller. */
static void skip(content_t *content, int ticket, apr_int64_t ms)
{
    (void)ms;
    if (is_current(content, ticket) && content->state == PAY_BREAKER_PROBING) {
        become(content, PAY_BREAKER_OPEN, pay_time_boot_ms());
    }
}

static void hold(content_t *content, int ticket, apr_int64_t ms)
{
    apr_int64_t until_ms = pay_time_boot_ms() + ms;

    (void)ticket;
    if (content->state != PAY_BREAKER_OPEN) {
        become(content, PAY_BREAKER_OPEN, until_ms);
    } else if (content->until_ms < until_ms) {
        content->until_ms = until_ms;
    }
    content->held = 1;
}

static void note_fault(content_t *content, int ticket, apr_int64_t ms)
{
    (void)ticket;
    (void)ms;
    content->faulty = 1;
}

static void note_shut(content_t *content, int ticket, apr_int64_t ms)
{
    (void)ticket;
    (void)ms;
    content->faulty = 1;
    content->shut = 1;
}

static void put_off_trial(pay_breaker_t *breaker)
{
    atomic_store(&breaker->trial_ms, pay_time_boot_ms() + PAY_BREAKER_TRIAL_MS);
}

void pay_breaker_success(pay_breaker_t *breaker, int ticket)
{
    change(breaker, succeed, ticket, 0);
}

void pay_breaker_failure(pay_breaker_t *breaker, int ticket)
{
    if (ticket && pay_breaker_is_faulty(breaker)) {
        put_off_trial(breaker);
    }
    change(breaker, fail, ticket, 0);
}

void pay_breaker_skip(pay_breaker_t *breaker, int ticket)
{
    change(breaker, skip, ticket, 0);
}

void pay_breaker_hold(pay_breaker_t *breaker, apr_int64_t ms)
{
    if (ms < 1) {
        ms = PAY_BREAKER_OPEN_MS;
    }
    if (ms > PAY_BREAKER_OPEN_MS_MAX) {
        ms = PAY_BREAKER_OPEN_MS_MAX;
    }
    change(breaker, hold, 0, ms);
}

apr_int64_t pay_breaker_held_ms(const pay_breaker_t *breaker)
{
    const content_t content = unpack(atomic_load(&breaker->word));
    const apr_int64_t left_ms = content.until_ms - pay_time_boot_ms();

    return content.state == PAY_BREAKER_OPEN && content.held && left_ms > 0 ? left_ms : 0;
}

void pay_breaker_fault(pay_breaker_t *breaker)
{
    const content_t content = unpack(atomic_load(&breaker->word));

    if (!content.faulty || content.state == PAY_BREAKER_PROBING) {
        put_off_trial(breaker); /* first: nobody sees the fault without its time */
    }
    change(breaker, note_fault, 0, 0);
}

void pay_breaker_shut(pay_breaker_t *breaker)
{
    change(breaker, note_shut, 0, 0);
}

pay_breaker_state_t pay_breaker_state(const pay_breaker_t *breaker)
{
    return unpack(atomic_load(&breaker->word)).state;
}

int pay_breaker_is_faulty(const pay_breaker_t *breaker)
{
    return (int)unpack(atomic_load(&breaker->word)).faulty;
}
