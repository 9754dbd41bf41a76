/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_SLOTS_PARTS_H
#define PAY_BASE_SHARED_SLOTS_PARTS_H

/* The insides of slots, and the rule by which they are granted. For base/shared/slots.c and _rule.c
 * only. */

#include "base/shared/slots.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

typedef enum pay_slot_state_t {
    PAY_SLOT_IN_LINE, /* waits for a slot */
    PAY_SLOT_ASIDE,   /* in the queue, but the resource of its lane was not available */
    PAY_SLOT_GIVEN,   /* it has a slot, but has not noticed yet */
    PAY_SLOT_TAKEN
} pay_slot_state_t;

/*
 * One piece of work that has a slot or waits for one. `owner` is the start time and pid of its
 * process in one word, 0 if the place is free. It may be cleared without the mutex, but is set only
 * with it.
 */
typedef struct pay_slot_t {
    _Atomic apr_uint64_t owner;
    _Atomic int state;
    apr_uint64_t account; /* perhaps with PAY_SLOTS_VISITOR */
    apr_uint64_t lane;
    apr_uint64_t ticket;  /* order of arrival */
    apr_int64_t given_ms; /* when it got the slot */
    sem_t told;           /* posted when it gets the slot; may be once too often */
} pay_slot_t;

struct pay_slots_t {
    int count;
    int process_max;
    int places;      /* of work that has a slot or waits; the sheet follows them */
    int reserve;     /* of the places, for accounts with less than their share */
    _Atomic int end; /* no place from here on is in use: bounds a scan of all */
    pthread_mutex_t mutex;
    apr_uint64_t tickets;          /* drawn so far */
    _Atomic apr_int64_t looked_ms; /* last search for dead processes */
    pay_slot_t place[];
};

/* Where the rule counts accounts. */
#define PAY_SLOTS_SHEET(slots) ((apr_uint64_t *)&(slots)->place[(slots)->places])

/* Returns the length of the sheet for so many places: a power of two, at least twice as many. */
static inline apr_uint64_t pay_slots_sheet_len(int places)
{
    apr_uint64_t len = 2;

    while (len < 2 * ((apr_uint64_t)places + 1)) {
        len *= 2;
    }
    return len;
}

/* Returns 1 if the slot counts as this one's. */
static inline int pay_slot_has(const pay_slot_t *one)
{
    return atomic_load(&one->state) >= PAY_SLOT_GIVEN;
}

static inline int pay_slot_is_visitor(const pay_slot_t *one)
{
    return (one->account & PAY_SLOTS_VISITOR) != 0;
}

/* The caller of these holds the mutex. */

/* Grants slots to the next in the queue, as many as the rule allows, and wakes them. */
void pay_slots_grant(pay_slots_t *slots);

/* Returns 1 if this one may keep its place: all together hold no more threads than there are. */
int pay_slots_may_stay(pay_slots_t *slots, const pay_slot_t *one);

/* Returns the first of the lane that stands aside, a visitor's or not, or NULL: what is too much
 * for visitors is not too much for others. */
pay_slot_t *pay_slots_first_aside(pay_slots_t *slots, apr_uint64_t lane, int visitor);

#endif
