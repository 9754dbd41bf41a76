/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/clock.h"
#include "base/shared/slots_parts.h"

#include <string.h>

#define ANY 0           /* process */
#define TAKE_MS_MAX 200 /* from being granted a slot to taking it */
#define PASSED_MAX 16   /* remembered of one scan of the queue */
#define SPREAD APR_UINT64_C(0x9E3779B97F4A7C15)

/* The content of the places, of all processes or of one. */
typedef struct tally_t {
    int held;       /* places */
    int taken;      /* slots */
    int of_account; /* the account's places */
    int its_slots;
    int accounts; /* with a place; the account is one of them */

    /* Of these, visitors'. */
    int visitors_held;
    int visitors_taken;
    int its_visitors_held;
    int its_visitors;
} tally_t;

static apr_uint64_t account_of(const pay_slot_t *one)
{
    return one->account & ~PAY_SLOTS_VISITOR;
}

/* Returns 1 if the account was not on the sheet yet. */
static int is_new(pay_slots_t *slots, apr_uint64_t account, apr_uint64_t sheet_len)
{
    const apr_uint64_t mark = account + 1;
    const apr_uint64_t mask = sheet_len - 1;
    apr_uint64_t *sheet = PAY_SLOTS_SHEET(slots);
    apr_uint64_t at = (mark * SPREAD) >> 32 & mask;

    while (sheet[at] && sheet[at] != mark) {
        at = (at + 1) & mask;
    }
    if (sheet[at]) {
        return 0;
    }
    sheet[at] = mark;
    return 1;
}

static tally_t count(pay_slots_t *slots, apr_uint64_t process, apr_uint64_t account)
{
    const int end = atomic_load(&slots->end);
    const apr_uint64_t sheet_len = pay_slots_sheet_len(end);
    tally_t tally = {.held = 0};
    int i;

    memset(PAY_SLOTS_SHEET(slots), 0, sheet_len * sizeof(apr_uint64_t));
    tally.accounts = is_new(slots, account, sheet_len);
    for (i = 0; i < end; i++) {
        const pay_slot_t *one = &slots->place[i];
        const apr_uint64_t owner = atomic_load(&one->owner);
        const int taken = pay_slot_has(one);
        const int mine = account_of(one) == account;
        const int visitor = pay_slot_is_visitor(one);

        if (!owner || (process != ANY && owner != process)) {
            continue;
        }
        tally.held++;
        tally.taken += taken;
        tally.of_account += mine;
        tally.its_slots += mine && taken;
        tally.visitors_held += visitor;
        tally.visitors_taken += visitor && taken;
        tally.its_visitors_held += mine && visitor;
        tally.its_visitors += mine && visitor && taken;
        tally.accounts += is_new(slots, account_of(one), sheet_len);
    }
    return tally;
}

static int quarter(int limit)
{
    return limit / 4 + (limit % 4 != 0);
}

/* At least one, so that visitors are served at all. */
static int half(int limit)
{
    return limit / 2 + limit % 2;
}

/* Returns 1 while so many of `limit` are less than an equal share for each account. */
static int is_below_share(int its, int accounts, int limit)
{
    return (apr_int64_t)its * accounts < limit;
}

/*
 * Whether the account may have one more slot: while a quarter stays free, or up to an equal share.
 * Visitors get half of all, and half of the share if less than half of all would stay free; the
 * other half of its share is the account's own, whatever its visitors have.
 */
static int is_fair(const tally_t *tally, int limit, int visitor)
{
    const int left = limit - tally->taken - 1;

    if (left < 0) {
        return 0;
    }
    if (!visitor
        && is_below_share(2 * (tally->its_slots - tally->its_visitors), tally->accounts, limit)) {
        return 1;
    }
    if (left < quarter(limit) && !is_below_share(tally->its_slots, tally->accounts, limit)) {
        return 0;
    }
    return !visitor
           || (tally->visitors_taken < half(limit)
               && (left >= half(limit)
                   || is_below_share(2 * tally->its_visitors, tally->accounts, limit)));
}

/*
 * The last places are for accounts with less than an equal share, and one that has nothing yet
 * counts too: the reserve is kept from others' work, twice the reserve from others' waiting.
 * Visitors get half of the places, and nothing of the account's own half of its share.
 */
int pay_slots_may_stay(pay_slots_t *slots, const pay_slot_t *one)
{
    const tally_t tally = count(slots, ANY, account_of(one));
    const int left = pay_slot_has(one) ? slots->reserve : 2 * slots->reserve;
    const int own = tally.of_account - tally.its_visitors_held;
    const int visitor = pay_slot_is_visitor(one);

    if (visitor && tally.visitors_held > half(slots->places)) {
        return 0;
    }
    return tally.of_account == 1 || slots->places - tally.held >= left
           || (apr_int64_t)tally.of_account * (tally.accounts + 1) <= slots->places
           || (!visitor && (apr_int64_t)2 * own * (tally.accounts + 1) <= slots->places);
}

/* ---- the queue */

/* Those that one scan of the queue has passed over: similar ones need not be judged again. */
typedef struct passed_t {
    struct {
        apr_uint64_t process;
        apr_uint64_t account;
    } who[PASSED_MAX];
    int count;
} passed_t;

static int was_passed(const passed_t *passed, apr_uint64_t process, apr_uint64_t account)
{
    int i;

    for (i = 0; i < passed->count; i++) {
        if (passed->who[i].account == account
            && (passed->who[i].process == ANY || passed->who[i].process == process)) {
            return 1;
        }
    }
    return 0;
}

static void pass(passed_t *passed, apr_uint64_t process, apr_uint64_t account)
{
    if (passed->count < PASSED_MAX) {
        passed->who[passed->count].process = process;
        passed->who[passed->count].account = account;
        passed->count++;
    }
}

/* Returns the first in the queue whose ticket is `ticket` or later. */
static pay_slot_t *next_in_line(pay_slots_t *slots, apr_uint64_t ticket)
{
    pay_slot_t *next = NULL;
    int i;

    for (i = 0; i < atomic_load(&slots->end); i++) {
        pay_slot_t *one = &slots->place[i];

        if (atomic_load(&one->owner) && atomic_load(&one->state) == PAY_SLOT_IN_LINE
            && one->ticket >= ticket && (!next || one->ticket < next->ticket)) {
            next = one;
        }
    }
    return next;
}

/* One that was granted a slot and does not take it, because its process is stopped, goes to the end
 * of the queue. */
static void take_back(pay_slots_t *slots)
{
    const apr_int64_t now_ms = pay_clock_ms();
    int i;

    for (i = 0; i < atomic_load(&slots->end); i++) {
        pay_slot_t *one = &slots->place[i];
        int given = PAY_SLOT_GIVEN;

        if (atomic_load(&one->state) == PAY_SLOT_GIVEN && now_ms - one->given_ms > TAKE_MS_MAX
            && atomic_compare_exchange_strong(&one->state, &given, PAY_SLOT_IN_LINE)) {
            one->ticket = slots->tickets++;
        }
    }
}

void pay_slots_grant(pay_slots_t *slots)
{
    passed_t passed = {.count = 0};
    apr_uint64_t ticket = 0;
    pay_slot_t *one;

    take_back(slots);
    while ((one = next_in_line(slots, ticket)) != NULL) {
        const apr_uint64_t process = atomic_load(&one->owner);
        tally_t all, its;

        ticket = one->ticket + 1;
        if (!process || was_passed(&passed, process, one->account)) {
            continue;
        }
        all = count(slots, ANY, account_of(one));
        if (all.taken >= slots->count) {
            return;
        }
        its = count(slots, process, account_of(one));
        if (!is_fair(&all, slots->count, pay_slot_is_visitor(one))) {
            pass(&passed, ANY, one->account);
        } else if (!is_fair(&its, slots->process_max, pay_slot_is_visitor(one))) {
            pass(&passed, process, one->account);
        } else {
            one->given_ms = pay_clock_ms();
            atomic_store(&one->state, PAY_SLOT_GIVEN);
            sem_post(&one->told);
        }
    }
}

pay_slot_t *pay_slots_first_aside(pay_slots_t *slots, apr_uint64_t lane, int visitor)
{
    pay_slot_t *first = NULL;
    int i;

    for (i = 0; i < atomic_load(&slots->end); i++) {
        pay_slot_t *one = &slots->place[i];

        if (atomic_load(&one->owner) && atomic_load(&one->state) == PAY_SLOT_ASIDE
            && one->lane == lane && pay_slot_is_visitor(one) == visitor
            && (!first || one->ticket < first->ticket)) {
            first = one;
        }
    }
    return first;
}
