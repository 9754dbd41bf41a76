/* SPDX-License-Identifier: Apache-2.0 */
#include "model/event.h"

#include <apr_strings.h>
#include <string.h>

#define ID_PREFIX "evt_"
#define ID_PREFIX_LEN 4
#define PLACE_LEN (1 + 8 + 4) /* endpoint, charge_seq, sequence */
#define CHECK_LEN 8           /* bytes of the digest */
_Static_assert(PAY_EVENT_ID_LEN == ID_PREFIX_LEN + 2 * (PLACE_LEN + CHECK_LEN), "what an id is");

#define BIT(state) (1u << (state))

/* The states that go to each kind of endpoint: of a transaction, of a refund. */
static const struct {
    unsigned int transaction, refund;
} interests[] = {
    [PAY_ENDPOINT_WEBHOOK] = {BIT(PAY_CHARGE_SUCCESSFUL) | BIT(PAY_CHARGE_FAILED)
                                  | BIT(PAY_CHARGE_REVERSED) | BIT(PAY_CHARGE_ABANDONED),
                              BIT(PAY_REFUND_PROCESSED) | BIT(PAY_REFUND_FAILED)},
    [PAY_ENDPOINT_RECEIPT] = {BIT(PAY_CHARGE_SUCCESSFUL), BIT(PAY_REFUND_PROCESSED)},
    [PAY_ENDPOINT_NOTICE] = {BIT(PAY_CHARGE_SUCCESSFUL) | BIT(PAY_CHARGE_FAILED),
                             BIT(PAY_REFUND_PROCESSED)},
};
_Static_assert(sizeof(interests) / sizeof(interests[0]) == PAY_ENDPOINT_KIND_LAST + 1,
               "a row an endpoint");

static void put_number(unsigned char *out, apr_uint64_t value, int len)
{
    int i;

    for (i = len - 1; i >= 0; i--) {
        out[i] = (unsigned char)(value & 0xff);
        value >>= 8;
    }
}

static apr_uint64_t get_number(const unsigned char *at, int len)
{
    apr_uint64_t value = 0;
    int i;

    for (i = 0; i < len; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

static void put_place(unsigned char out[PLACE_LEN], const pay_event_t *event)
{
    out[0] = (unsigned char)event->endpoint;
    put_number(out + 1, event->charge_seq, 8);
    put_number(out + 9, event->sequence, 4);
}

/*
 * Time distinguishes it from the event at the same place of another store, or of this one after a
 * new start.
 */
const char *pay_event_id(const pay_event_t *event, apr_pool_t *p)
{
    unsigned char bytes[PLACE_LEN + CHECK_LEN], digest[PAY_SHA256_LEN];
    const char *source;

    put_place(bytes, event);
    source = apr_psprintf(p, "%u %d %s %" APR_TIME_T_FMT, event->scope.account, event->scope.mode,
                          pay_hex(bytes, PLACE_LEN, p), event->created_at);
    memset(digest, 0, sizeof(digest));
    (void)pay_sha256(digest, source,
                     strlen(source)); /* without it only the place distinguishes them */
    memcpy(bytes + PLACE_LEN, digest, CHECK_LEN);
    return apr_pstrcat(p, ID_PREFIX, pay_hex(bytes, sizeof(bytes), p), NULL);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

apr_status_t pay_event_id_parse(pay_event_t *out, const char *id)
{
    unsigned char bytes[PLACE_LEN + CHECK_LEN];
    int i, high, low;

    memset(out, 0, sizeof(*out));
    if (strlen(id) != PAY_EVENT_ID_LEN || strncmp(id, ID_PREFIX, ID_PREFIX_LEN) != 0) {
        return APR_EINVAL;
    }
    for (i = 0; i < (int)sizeof(bytes); i++) {
        high = hex_digit(id[ID_PREFIX_LEN + 2 * i]);
        low = hex_digit(id[ID_PREFIX_LEN + 2 * i + 1]);
        if (high < 0 || low < 0) {
            return APR_EINVAL;
        }
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    if (bytes[0] < PAY_ENDPOINT_WEBHOOK || bytes[0] > PAY_ENDPOINT_KIND_LAST) {
        return APR_EINVAL;
    }
    out->endpoint = (pay_endpoint_kind_t)bytes[0];
    out->charge_seq = get_number(bytes + 1, 8);
    out->sequence = (apr_uint32_t)get_number(bytes + 9, 4);
    return APR_SUCCESS;
}

apr_uint64_t pay_event_charge_seq(const pay_event_t *event)
{
    return event->charge_seq & ~PAY_EVENT_PARKED_BIT;
}

const char *pay_event_notify(const pay_event_t *event)
{
    switch (event->kind) {
    case PAY_EVENT_TRANSACTION:
        return "transaction";
    case PAY_EVENT_REFUND:
        return "refund";
    case PAY_EVENT_TEST:
        return "test_assess";
    case PAY_EVENT_PARKED:
        return "event";
    }
    return "unknown";
}

const char *pay_event_notify_type(const pay_event_t *event)
{
    switch (event->kind) {
    case PAY_EVENT_TRANSACTION:
        return pay_charge_state_name((pay_charge_state_t)event->state);
    case PAY_EVENT_REFUND:
        return pay_refund_state_name((pay_refund_state_t)event->state);
    case PAY_EVENT_TEST:
        return "test";
    case PAY_EVENT_PARKED:
        return "parked";
    }
    return "unknown";
}

int pay_event_is_for(pay_endpoint_kind_t endpoint, pay_event_kind_t kind, int state, int first)
{
    if (!first && endpoint != PAY_ENDPOINT_WEBHOOK) {
        return 0;
    }
    switch (kind) {
    case PAY_EVENT_TRANSACTION:
        return (interests[endpoint].transaction & BIT(state)) != 0;
    case PAY_EVENT_REFUND:
        return (interests[endpoint].refund & BIT(state)) != 0;
    case PAY_EVENT_TEST:
        return endpoint != PAY_ENDPOINT_RECEIPT; /* there is no payer */
    case PAY_EVENT_PARKED:
        return endpoint == PAY_ENDPOINT_NOTICE;
    }
    return 0;
}

apr_interval_time_t pay_event_wait(apr_uint32_t failures)
{
    return pay_endpoint_wait(failures ? failures - 1 : 0); /* one schedule for both */
}

const char *pay_event_standing(const pay_event_t *event)
{
    if (event->parked_at) {
        return "parked";
    }
    return event->due_at ? "waiting" : "behind";
}
