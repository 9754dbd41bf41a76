/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_OUTBOX_PARTS_H
#define PAY_SERVICE_OUTBOX_OUTBOX_PARTS_H

/* What the pay_outbox*.c files share; nobody else includes it. All of it belongs to one thread. */

#include "base/crypto/crypto.h"
#include "base/net/transfer.h"
#include "base/net/url.h"
#include "service/outbox/mail_relay.h"
#include "service/outbox/outbox.h"

#include <apr_hash.h>

/* Tries at a time that may go to endpoints whose last one failed: the rest is for the others. */
#define PAY_OUTBOX_SUSPECTS_MAX (PAY_OUTBOX_IN_FLIGHT_MAX / 2)
#define PAY_OUTBOX_HOST_KEY_LEN 16

/* How to deliver, as the store said at one time. */
typedef struct pay_outbox_settings_t {
    apr_pool_t *pool; /* of its own: gone when the last user is */
    int users;
    const pay_delivery_t *delivery;
    const apr_array_header_t *allowed;
    const char *ca_file; /* NULL: the system's certificates */
    pay_mail_relay_t mail;
    apr_pool_t *accounts_pool;
    apr_hash_t *accounts; /* number -> pay_account_t *; NULL: not read yet */
} pay_outbox_settings_t;

/* A host and port that tries go to; free when both counts are 0. */
typedef struct pay_outbox_host_t {
    unsigned char key[PAY_OUTBOX_HOST_KEY_LEN];
    int in_flight;
    int granted; /* by the take under way, for events not seen yet */
} pay_outbox_host_t;

/* How an endpoint is reached at this moment. */
typedef struct pay_outbox_desk_t {
    const pay_endpoint_t *endpoint;
    const char *waits; /* why its events wait; NULL: they do not */
    const char *fault; /* why a try fails before it begins; NULL: it does not */
    const pay_url_t *url;
    const char *secret, *old_secret; /* opened; old NULL: none signs beside */
    unsigned char host_key[PAY_OUTBOX_HOST_KEY_LEN];
    pay_outbox_host_t *host; /* that has granted places; NULL: none */
    int is_suspect;
    int grant;
} pay_outbox_desk_t;

/* One try of one event. */
typedef struct pay_outbox_try_t {
    apr_pool_t *pool; /* of its own, it goes with the try */
    const pay_event_t *event;
    const char *id;
    pay_outbox_settings_t *settings;
    pay_outbox_host_t *host; /* NULL: it is not on its way */
    int is_suspect;
    pay_transfer_t transfer;
    pay_event_end_t end;
    int status;
    const char *error, *answer;
    struct pay_outbox_try_t *next; /* of those that ended */
} pay_outbox_try_t;

struct pay_outbox_t {
    pay_store_t *store;
    const pay_keyring_t *keyring;
    apr_pool_t *pool;      /* with an allocator of its own */
    apr_pool_t *take_pool; /* of one take */
    apr_pool_t *finish_pool;
    pay_transfers_t *transfers;
    pay_outbox_settings_t *settings;
    apr_int64_t settings_due_ms; /* boot clock, as all below */
    apr_int64_t taken_ms;        /* the last take */
    int take_again;              /* 1: the next one may find something new */

    pay_outbox_host_t hosts[PAY_OUTBOX_IN_FLIGHT_MAX];
    int in_flight, suspects;
    int granted, suspects_granted; /* by the take under way */
    apr_int64_t denied_ms;         /* when an endpoint last got no place and was put off */
    apr_hash_t *desks;             /* of it: endpoint -> pay_outbox_desk_t * */
    pay_outbox_desk_t *desk;       /* of it: the one that served last */

    pay_outbox_try_t *ended, **ended_tail; /* whose results are not stored yet */
    int ended_count;
    apr_int64_t ended_since_ms;
    apr_int64_t finish_due_ms; /* not before: the store has just refused */
    int delivered;             /* by the step under way */

    apr_int64_t webhooks_told_ms, mails_told_ms; /* when the log said last that they wait */
    apr_int64_t withheld_told_ms; /* when the log said last that a receipt was not sent */
};

/* --- service/outbox/outbox_settings.c --- */
/* Sets outbox->settings, anew when a minute is over. What there is stays when the store fails. */
apr_status_t pay_outbox_settings_refresh(pay_outbox_t *outbox);
pay_outbox_settings_t *pay_outbox_settings_hold(pay_outbox_settings_t *settings);
void pay_outbox_settings_drop(pay_outbox_settings_t *settings);
/* Valid until it is called again. APR_NOTFOUND: there is no such account. */
apr_status_t pay_outbox_account(const pay_account_t **out, pay_outbox_t *outbox,
                                pay_outbox_settings_t *settings, apr_uint32_t number);

/* --- service/outbox/outbox_desk.c --- */
/* A take begins: nothing is granted. */
void pay_outbox_desks_clear(pay_outbox_t *outbox);
/* pay_event_budget_t; `baton` is the outbox. */
int pay_outbox_budget(void *baton, const pay_endpoint_t *endpoint, int taken);
/* In take_pool. */
const pay_outbox_desk_t *pay_outbox_desk(pay_outbox_t *outbox, const pay_endpoint_t *endpoint);
void pay_outbox_host_enter(pay_outbox_t *outbox, pay_outbox_try_t *one,
                           const pay_outbox_desk_t *desk);
void pay_outbox_host_leave(pay_outbox_t *outbox, pay_outbox_try_t *one);

/* --- service/outbox/outbox_try.c --- */
/* Sends it, or ends it at once. */
void pay_outbox_try_start(pay_outbox_t *outbox, const pay_taken_t *taken);
/* Takes over what has come out of the transfers. 1 when anything has. */
int pay_outbox_try_collect(pay_outbox_t *outbox);

/* --- service/outbox/outbox_finish.c --- */
void pay_outbox_ended(pay_outbox_t *outbox, pay_outbox_try_t *one);
/* Stores what has ended, unless it may wait; `now` 1: it may not. */
apr_status_t pay_outbox_finish(pay_outbox_t *outbox, int now);
/* Until when results that there are may wait (boot clock). */
apr_int64_t pay_outbox_finish_due_ms(const pay_outbox_t *outbox);

#endif
