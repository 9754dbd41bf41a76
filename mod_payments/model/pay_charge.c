/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pay_charge.h"

#include "base/pay_time.h"

#include <string.h>

#define TO(state) (1u << (state))

static const struct {
    const char *name;
    unsigned int next; /* set of TO() */
} states[] = {
    [PAY_CHARGE_PENDING] = {"pending", TO(PAY_CHARGE_SUCCESSFUL) | TO(PAY_CHARGE_FAILED)
                                           | TO(PAY_CHARGE_VOID) | TO(PAY_CHARGE_ABANDONED)},
    [PAY_CHARGE_SUCCESSFUL] = {"successful", TO(PAY_CHARGE_REVERSED)},
    [PAY_CHARGE_FAILED] = {"failed", 0},
    /* A processed refund that the acquirer takes back leaves the charge successful again. */
    [PAY_CHARGE_REVERSED] = {"reversed", TO(PAY_CHARGE_SUCCESSFUL)},
    /* The payer may have paid just before a checkout was closed: the acquirer's word counts. */
    [PAY_CHARGE_VOID] = {"void", TO(PAY_CHARGE_SUCCESSFUL)},
    [PAY_CHARGE_ABANDONED] = {"abandoned", TO(PAY_CHARGE_SUCCESSFUL)},
};
_Static_assert(sizeof(states) / sizeof(states[0]) == PAY_CHARGE_STATE_COUNT, "one row a state");

/* States come from stored rows too, so they are not trusted to be in the table. */
static int is_state(pay_charge_state_t state)
{
    return (unsigned int)state < PAY_CHARGE_STATE_COUNT;
}

int pay_charge_may_become(pay_charge_state_t from, pay_charge_state_t to)
{
    return is_state(from) && is_state(to) && (states[from].next & TO(to)) != 0;
}

const char *pay_charge_state_name(pay_charge_state_t state)
{
    return is_state(state) ? states[state].name : "unknown";
}

apr_status_t pay_charge_state_parse(pay_charge_state_t *out, const char *text)
{
    int state;

    *out = PAY_CHARGE_PENDING;
    for (state = 0; state < PAY_CHARGE_STATE_COUNT; state++) {
        if (!strcmp(text, states[state].name)) {
            *out = (pay_charge_state_t)state;
            return APR_SUCCESS;
        }
    }
    return APR_EINVAL;
}

int pay_charge_in_flight(const pay_charge_t *charge)
{
    return charge->state == PAY_CHARGE_PENDING && charge->worker.pid != 0
           && pay_time_boot_ms() < charge->wait_until_ms && pay_worker_alive(&charge->worker);
}

apr_int64_t pay_charge_refundable_minor(const pay_charge_t *charge)
{
    apr_int64_t left_minor;

    if (charge->state != PAY_CHARGE_SUCCESSFUL) {
        return 0;
    }
    /* In two steps: imported history may have refunded so much that one would overflow. */
    left_minor = charge->money.amount_minor - charge->refunded_minor;
    if (left_minor <= charge->refunds_pending_minor) {
        return 0;
    }
    return left_minor - charge->refunds_pending_minor;
}
