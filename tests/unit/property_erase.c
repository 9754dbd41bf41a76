/* SPDX-License-Identifier: Apache-2.0 */
#include "property.h"

/* Erasing, at the end of a sequence: in any state of the store. */

#define STEPS_MAX 100

static const char email[] = "payer@shop.example";
static const pay_time_range_t always = {APR_INT64_MIN, APR_INT64_MAX};

static apr_array_header_t *charges_of(const char *payer)
{
    const pay_charge_filter_t filter = {.email = payer, .range = always};
    pay_charge_cursor_t cursor = {.seq = 0};
    apr_array_header_t *charges;

    HOLD(pay_store_charge_search(&charges, &cursor, property.service.store, &property.caller.scope,
                                 &filter, PAY_STORE_ROWS_MAX, property.step)
                 == APR_SUCCESS
             && cursor.done,
         "the charges cannot be searched");
    return charges;
}

static apr_array_header_t *events(void)
{
    apr_array_header_t *list;

    HOLD(pay_store_event_list(&list, property.service.store, &property.caller.scope, 0, NULL,
                              PAY_STORE_ROWS_MAX, property.step)
             == APR_SUCCESS,
         "the events cannot be read");
    return list;
}

void property_erase(void)
{
    apr_array_header_t *list;
    pay_erasure_t at;
    apr_uint64_t pending = 0, decided = 0;
    int i, steps;

    list = charges_of(email);
    for (i = 0; i < list->nelts; i++) {
        pending += APR_ARRAY_IDX(list, i, pay_charge_t *)->state == PAY_CHARGE_PENDING;
    }
    decided = (apr_uint64_t)list->nelts - pending;

    memset(&at, 0, sizeof(at));
    for (steps = 0; !at.done && steps < STEPS_MAX; steps++) {
        HOLD(pay_store_payer_erase(&at, property.service.store, &property.caller.scope, email,
                                   property.step)
                 == APR_SUCCESS,
             "the payer cannot be erased");
    }
    HOLD(at.done && at.left == pending, "more than what is pending was left");
    HOLD(at.charges == decided, "not each charge was erased");
    HOLD((apr_uint64_t)charges_of(email)->nelts == pending, "an erased charge is found");
    property_compare_money(1);
    list = charges_of(NULL);
    for (i = 0; i < list->nelts; i++) {
        const pay_charge_t *charge = APR_ARRAY_IDX(list, i, const pay_charge_t *);

        HOLD(strcmp(charge->email, email) != 0 || charge->state == PAY_CHARGE_PENDING,
             "a charge still holds its payer");
    }
    list = events();
    for (i = 0; i < list->nelts; i++) {
        HOLD(APR_ARRAY_IDX(list, i, const pay_event_t *)->endpoint != PAY_ENDPOINT_RECEIPT,
             "a receipt still waits");
    }
    property_events_leave();
    property.erased++;
}

void property_reset(void)
{
    pay_reset_t at;
    int steps;

    memset(&at, 0, sizeof(at));
    for (steps = 0; !at.done && steps < STEPS_MAX; steps++) {
        HOLD(pay_store_scope_reset(&at, property.service.store, &property.caller.scope,
                                   property.step)
                 == APR_SUCCESS,
             "Test Mode cannot be emptied");
    }
    HOLD(at.done && at.left == 0, "something was left of Test Mode");
    HOLD(at.charges == (apr_uint64_t)property.model.charge_count, "not each charge was taken out");
    memset(&property.model, 0, sizeof(property.model));
    HOLD(charges_of(NULL)->nelts == 0, "a charge is still there");
    HOLD(events()->nelts == 0, "an event is still there");
    property_compare_money(1);
    property_events_leave();
    property.emptied++;
}
