/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_SLOTS_PARTS_H
#define PAY_BASE_SHARED_SLOTS_PARTS_H

/* The insides of slots, and the rule by which they are given. For base/shared/slots.c and _rule.c
 * only. */

#include "base/shared/slots.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

typedef enum pay_slot_state_t {
    PAY_SLOT_IN_LINE, /* for a slot */
    PAY_SLOT_ASIDE,   /* in line, but what its lane stands for could not be had */
    PAY_SLOT_GIVEN,   /* a slot is its own, but it has not heard of that yet */
    PAY_SLOT_TAKEN
} pay_slot_state_t;

/*
 * One piece of work that has a slot or waits for one. `owner` is start time and pid of its process
 * in one word, 0: nobody's. It may be emptied without the mutex, and is filled with it alone.
 */
typedef struct pay_slot_t {
    _Atomic apr_uint64_t owner;
    _Atomic int state;
    apr_uint64_t account; /* perhaps with PAY_SLOTS_VISITOR */
    apr_uint64_t lane;
    apr_uint64_t ticket;  /* who came first */
    apr_int64_t given_ms; /* when it was given the slot */
    sem_t told;           /* posted when the slot is its own; may be once too often */
} pay_slot_t;

struct pay_slots_t {
    int count;
    int process_max;
    int places;      /* of work that has a slot or waits; behind them: the sheet */
    int reserve;     /* of the places, for accounts with less than their share */
    _Atomic int end; /* no place from here on is anybody's: what a look at all costs */
    pthread_mutex_t mutex;
    apr_uint64_t tickets;          /* drawn so far */
    _Atomic apr_int64_t looked_ms; /* when somebody last looked for dead processes */
    pay_slot_t place[];
};

/* Where the rule counts accounts. */
#define PAY_SLOTS_SHEET(slots) ((apr_uint64_t *)&(slots)->place[(slots)->places])

/* How long it is for so many places: a power of two, twice as many at least. */
static inline apr_uint64_t pay_slots_sheet_len(int places)
{
    apr_uint64_t len = 2;

    while (len < 2 * ((apr_uint64_t)places + 1)) {
        len *= 2;
    }
    return len;
}

/* 1 when the slot is counted as this one's. */
static inline int pay_slot_has(const pay_slot_t *one)
{
    return atomic_load(&one->state) >= PAY_SLOT_GIVEN;
}

static inline int pay_slot_is_visitor(const pay_slot_t *one)
{
    return (one->account & PAY_SLOTS_VISITOR) != 0;
}

/* All with the mutex held. */

/* Gives slots to those next in line, as many as the rule allows, and wakes them. */
void pay_slots_grant(pay_slots_t *slots);

/* 1 when this one may keep its place: all together they hold no more threads than there are. */
int pay_slots_may_stay(pay_slots_t *slots, const pay_slot_t *one);

/* The first of the lane that stands aside, visitors' or not, or NULL: what is too much for visitors
 * is not for others. */
pay_slot_t *pay_slots_first_aside(pay_slots_t *slots, apr_uint64_t lane, int visitor);

#endif
