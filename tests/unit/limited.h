/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LIMITED_H
#define LIMITED_H

/* Slots of the test's process alone, and acquirers with so many places. */

#include "unit.h"

#include "acquirer/acquirer.h"

static inline pay_slots_t *slots_of(int count)
{
    const pay_slots_limits_t limits = {count, count, 0, 0};

    return pay_slots_init(apr_palloc(unit_pool, pay_slots_size(&limits)), &limits);
}

static inline pay_acquirer_t *limited(const pay_acquirer_t *original, int count)
{
    pay_acquirer_t *copy = apr_pmemdup(unit_pool, original, sizeof(*copy));

    copy->slots = slots_of(count);
    return copy;
}

#endif
