/* SPDX-License-Identifier: Apache-2.0 */
#include "property.h"
#include "scripted_acquirer.h"
#include "store_options.h"

#include <stdio.h>

/*
 * A copy of the store that is restored, one that is opened beside the original, and a clock that is
 * wrong for a while. The model forgets exactly what a restore takes back.
 */

#define HOURS(n) ((n)*PROPERTY_HOUR)
#define YEAR HOURS(365 * 24)

static struct {
    const char *dir; /* NULL: none exists */
    model_t model;
} taken;

void property_restore_begin(void)
{
    taken.dir = NULL;
}

static const char *copy_make(void)
{
    const char *dir = apr_pstrcat(property.pool, unit_dir(), "/copy", NULL);

    HOLD(pay_store_backup(property.service.store, dir, property.step) == APR_SUCCESS,
         "the store cannot be copied");
    return dir;
}

void property_do_backup(void)
{
    property_events_keep();
    taken.dir = copy_make();
    taken.model = property.model;
}

/* Nothing of Live Mode is refunded from a copy that nobody has confirmed. */
static void hold_held(void)
{
    const pay_refund_request_t request = {
        .reference = property.model.charges[0].reference, .amount = "0.01", .channel = "API"};
    const pay_problem_t *problem;
    pay_refund_t *out;
    pay_epoch_t epoch;
    int replayed;

    HOLD(pay_store_epoch_find(&epoch, property.service.store) == APR_SUCCESS && epoch.held,
         "a copy does not know that it is one");
    if (property.caller.scope.mode != PAY_LIVE || property.model.charge_count == 0) {
        return;
    }
    property_say(PAY_OUTCOME_APPROVED, APR_SUCCESS);
    problem = pay_refund_create(&out, &replayed, &property.service, &property.caller, &request,
                                property.step);
    HOLD(problem && property_calls() == 0, "a copy gave money back");
}

static void confirm(void)
{
    const pay_account_t *unsynced;
    pay_epoch_t epoch;
    int was_held;

    HOLD(pay_store_epoch_confirm(&was_held, &unsynced, property.service.store, 1, property.step)
                 == APR_SUCCESS
             && was_held,
         "the copy cannot be confirmed");
    HOLD(pay_store_epoch_find(&epoch, property.service.store) == APR_SUCCESS && !epoch.held,
         "it is held all the same");
    property_events_epoch(epoch.number);
}

void property_do_put_back(void)
{
    const char *store = strchr(property.url, ':') + 1;

    if (!taken.dir) {
        return;
    }
    property_close();
    HOLD(rename(apr_pstrcat(property.step, taken.dir, "/data.mdb", NULL),
                apr_pstrcat(property.step, store, "/data.mdb", NULL))
             == 0,
         "the copy cannot be put back");
    taken.dir = NULL;
    property_open();
    property.model = taken.model;
    property_events_put_back();
    hold_held();
    confirm();
    property.restores++;
}

void property_do_beside(void)
{
    const char *dir = copy_make();
    pay_store_options_t options = unit_store_options();
    pay_store_t *original = property.service.store;
    apr_pool_t *pool;

    options.map_bytes = 256 * 1024 * 1024;
    ck_assert_int_eq(apr_pool_create(&pool, NULL), APR_SUCCESS);
    ck_assert_int_eq(pay_store_open(&property.service.store, apr_pstrcat(pool, "lmdb:", dir, NULL),
                                    &options, pool),
                     APR_SUCCESS);
    hold_held();
    property_do_charge_again();
    property_do_refund_again();
    property_compare_money(0);
    apr_pool_destroy(pool);
    property.service.store = original;
    property.copies++;
}

/* Each is decided at once: a wait caused by a clock that was ahead lasts for hours. */
void property_do_clock(void)
{
    static const apr_interval_time_t steps[] = {HOURS(2),   -HOURS(2), HOURS(72),
                                                -HOURS(72), YEAR,      -YEAR};
    static void (*const works[])(void) = {property_do_charge,       property_do_charge_again,
                                          property_do_refund,       property_do_refund,
                                          property_do_refund_again, property_do_verify};
    int times;

    property.wrong_by = steps[property_below(UNIT_ROWS(steps))];
    for (times = 1 + property_below(4); times > 0; times--) {
        works[property_below(UNIT_ROWS(works))]();
        property_compare(0);
    }
    property.wrong_by = 0;
    property.clocks++;
}
