/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROPERTY_H
#define PROPERTY_H

/*
 * The common part of test_property.c: the running sequence, its model, and a store under real
 * services. The property is checked after every step: the store agrees with the model.
 */

#include "unit.h"

#include "base/text/json.h"
#include "base/text/time.h"
#include "base/text/writer.h"
#include "property_model.h"
#include "service/charge/charges.h"
#include "service/charge/transactions.h"
#include "service/refund/refunds.h"

#include <apr_hash.h>
#include <inttypes.h>

#define PROPERTY_START apr_time_from_sec(1800000000)
#define PROPERTY_HOUR apr_time_from_sec(3600)
#define PROPERTY_WINDOW apr_time_from_sec(600)

typedef struct property_t {
    const char *url;
    apr_pool_t *store_pool; /* of the store's handle: none may be open across a fork */
    apr_pool_t *pool;       /* of the sequence */
    apr_pool_t *step;       /* of the step */
    pay_service_t service;
    pay_caller_t caller;
    model_t model;
    apr_uint64_t random;
    apr_uint64_t seed;
    apr_time_t now;
    apr_interval_time_t wrong_by; /* of the wall clock; 0: it is right */
    apr_hash_t *sent;             /* tags of refunds */
    const char *doing;
    int names;
    int steps, crashes, refunds, refusals, replays, delivered, found_late, erased, emptied;
    int restores, copies, clocks;
} property_t;

extern property_t property;

#define HOLD(condition, what)                                                                      \
    ck_assert_msg(condition, "PAYMENTS_SEED=%" PRIu64 ", %s: %s", property.seed, property.doing,   \
                  what)

apr_time_t property_clock(void);
pay_moment_t property_moment(void);

apr_uint64_t property_draw(void);
int property_below(int limit);
const char *property_name(const char *prefix);
pay_outcome_kind_t property_outcome(void);

/* Whether the acquirer is one that is called before a charge is written. */
void property_set_pure(int is_pure);
/* The acquirer's answer from here on; `status` other than APR_SUCCESS: it fails with this. */
const pay_outcome_t *property_say(pay_outcome_kind_t kind, apr_status_t status);
/* The same of a query. */
void property_say_verdict(payments_verdict_t verdict);
/* How often it was called for a charge or refund since. */
int property_calls(void);

/* A store of its own for the next sequences. */
void property_open(void);
void property_close(void);

/* One of the model's, at random; NULL: none exists. */
model_charge_t *property_charge(void);
model_refund_t *property_refund(model_charge_t **charge);

/* The first answer of a decision; later ones must have the same bytes. */
void property_hold_answer(const char **known, const char *text);

/* Compares the model with the store, and with `whole_store` the store with itself. */
void property_compare(int whole_store);
/* The same except for events. */
void property_compare_money(int whole_store);

/* Does `work` in a process that dies when it calls the acquirer. */
void property_crash(void (*work)(const void *), const void *baton);

/* Queries everything that is pending, or failed for absence, with one answer for all. */
void property_reconcile(payments_verdict_t says);
void property_end_late(void);

/* The operations; each does nothing if the model has nothing to do it with. */
void property_do_charge(void);
void property_do_charge_again(void);
void property_do_charge_under_a_used_key(void);
void property_do_checkout(void);
void property_do_pay_checkout(void);
void property_do_void(void);
void property_do_refund(void);
void property_do_refund_again(void);
void property_do_refusal_again(void);
void property_do_refund_fail(void);
void property_do_reconcile(void);
void property_do_absence(void);
void property_do_verify(void);
void property_do_expire(void);
void property_do_endpoint(void);
void property_do_deliver(void);
void property_do_backup(void);
void property_do_put_back(void);
void property_do_beside(void);
void property_do_clock(void);

/* Forgets the copies of the previous sequence. */
void property_restore_begin(void);

/* Events: some endpoints, the events that the model's changes since the last step must have
 * written, and finally the delivery of all written events. */
void property_events_begin(void);
void property_events_compare(void);
void property_events_end(void);
/* The known events are kept with a copy, restored with it, and their numbers go on in the epoch of
 * that number. */
void property_events_keep(void);
void property_events_put_back(void);
void property_events_epoch(apr_uint32_t number);
/* In place of the end: waiting events are not for the next sequence. */
void property_events_leave(void);

/* Erases the payer of all charges, which are decided, or all of Test Mode, and compares with the
 * model. The end of a sequence. */
void property_erase(void);
void property_reset(void);

#endif
