/* SPDX-License-Identifier: Apache-2.0 */
#include "model/charge.h"

#include "model/api_key.h"

#include <string.h>

#define TO(state) (1u << (state))

static const struct {
    const char *name;
    const char *status; /* one of the four words that every client knows */
    unsigned int next;  /* set of TO() */
} states[] = {
    [PAY_CHARGE_PENDING] = {"pending", "pending",
                            TO(PAY_CHARGE_SUCCESSFUL) | TO(PAY_CHARGE_FAILED) | TO(PAY_CHARGE_VOID)
                                | TO(PAY_CHARGE_ABANDONED)},
    [PAY_CHARGE_SUCCESSFUL] = {"successful", "successful", TO(PAY_CHARGE_REVERSED)},
    [PAY_CHARGE_FAILED] = {"failed", "failed", 0},
    /* If the acquirer reverses a processed refund, the charge is successful again. */
    [PAY_CHARGE_REVERSED] = {"reversed", "reversed", TO(PAY_CHARGE_SUCCESSFUL)},
    /* The payer may have paid just before a checkout was closed: the acquirer decides. */
    [PAY_CHARGE_VOID] = {"void", "failed", TO(PAY_CHARGE_SUCCESSFUL)},
    [PAY_CHARGE_ABANDONED] = {"abandoned", "failed", TO(PAY_CHARGE_SUCCESSFUL)},
};
_Static_assert(sizeof(states) / sizeof(states[0]) == PAY_CHARGE_STATE_COUNT, "one row a state");

void pay_charge_init(pay_charge_t *charge)
{
    *charge = (pay_charge_t){.reference = "",
                             .token = "",
                             .card = {.issuer = "", .country = "", .type = ""},
                             .email = "",
                             .first_name = "",
                             .last_name = "",
                             .request_ip = "",
                             .acquirer = "",
                             .key_id = "",
                             .state = PAY_CHARGE_PENDING,
                             .decided_state = PAY_CHARGE_PENDING,
                             .answer_version = PAY_CHARGE_ANSWER_VERSION,
                             .code = "",
                             .message = "",
                             .authorization_code = "",
                             .contradiction = "",
                             .acquirer_reference = "",
                             .late_tag = "",
                             .resolution = ""};
}

apr_status_t pay_reference_check(const char *reference)
{
    pay_key_kind_t kind;
    pay_mode_t mode;
    apr_size_t len;

    for (len = 0; reference[len]; len++) {
        if (len == PAY_REFERENCE_MAX || reference[len] < '!' || reference[len] > '~'
            || strchr("/\\?#", reference[len])) {
            return APR_EINVAL;
        }
    }
    if (len == 0 || !strcmp(reference, ".") || !strcmp(reference, "..")) {
        return APR_EINVAL;
    }
    /* References are logged, stored and shown: a key in place of one must not be. */
    return pay_api_key_parse(&mode, &kind, reference) == APR_SUCCESS ? APR_EINVAL : APR_SUCCESS;
}

/* States come from stored rows too, so they may not be in the table. */
static int is_state(pay_charge_state_t state)
{
    return (unsigned int)state < PAY_CHARGE_STATE_COUNT;
}

const char *pay_charge_names_fault(const char *first, const char *last)
{
    return strlen(first) + strlen(last) <= PAY_NAMES_BYTES_MAX
               ? NULL
               : "must be shorter: both names have at most " APR_STRINGIFY(
                   PAY_NAMES_BYTES_MAX) " bytes of UTF-8 together";
}

int pay_charge_may_become(pay_charge_state_t from, pay_charge_state_t to)
{
    return is_state(from) && is_state(to) && (states[from].next & TO(to)) != 0;
}

const char *pay_charge_state_name(pay_charge_state_t state)
{
    return is_state(state) ? states[state].name : "unknown";
}

const char *pay_charge_status_name(pay_charge_state_t state)
{
    return is_state(state) ? states[state].status : "pending"; /* never a word for "paid" */
}

const char *pay_channel_name(pay_channel_t channel)
{
    return channel == PAY_CHANNEL_BANK_TRANSFER ? "bank_transfer" : "card";
}

const char *pay_charge_acquirer_reference(const pay_charge_t *charge)
{
    const char *given = charge->acquirer_reference;

    return given && *given ? given : charge->reference;
}

apr_interval_time_t pay_charge_busy_for(const pay_charge_t *charge)
{
    if (charge->state != PAY_CHARGE_PENDING) {
        return 0;
    }
    return pay_worker_left(&charge->worker, charge->wait_until_ms, charge->wait_until_at,
                           charge->read_at);
}

int pay_charge_in_flight(const pay_charge_t *charge)
{
    return pay_charge_busy_for(charge) > 0;
}

apr_int64_t pay_charge_refunded_minor(const pay_charge_t *charge)
{
    const apr_int64_t there =
        charge->spent ? charge->money.amount_minor : charge->refunded_there_minor;

    return charge->refunded_minor > there ? charge->refunded_minor : there;
}

int pay_charge_has_refunds(const pay_charge_t *charge)
{
    return charge->refunded_minor > 0 || charge->refunds_pending_minor > 0;
}

int pay_charge_was_approved(const pay_charge_t *charge)
{
    return charge->decided_state == PAY_CHARGE_SUCCESSFUL
           || charge->decided_state == PAY_CHARGE_REVERSED;
}
