/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_OUTBOX_PARTS_H
#define PAY_SERVICE_OUTBOX_OUTBOX_PARTS_H

/*
 * Declarations that the pay_outbox*.c files share; no other file includes it. All of it belongs to
 * one thread.
 */

#include "base/crypto/crypto.h"
#include "base/net/transfer.h"
#include "base/net/url.h"
#include "service/outbox/mail_relay.h"
#include "service/outbox/outbox.h"

#include <apr_hash.h>

/* Attempts at a time that may go to endpoints whose last one failed: the others have the rest. */
#define PAY_OUTBOX_SUSPECTS_MAX (PAY_OUTBOX_IN_FLIGHT_MAX / 2)
#define PAY_OUTBOX_HOST_KEY_LEN 16

/* Delivery settings, as read from the store at one time. */
typedef struct pay_outbox_settings_t {
    apr_pool_t *pool; /* of its own: freed by the last user */
    int users;
    const pay_delivery_t *delivery;
    const apr_array_header_t *allowed;
    const char *ca_file; /* NULL: the system's certificates */
    pay_mail_relay_t mail;
    apr_pool_t *accounts_pool;
    apr_hash_t *accounts; /* number -> pay_account_t *; NULL: not read yet */
} pay_outbox_settings_t;

/* A host and port that attempts go to; free if both counts are 0. */
typedef struct pay_outbox_host_t {
    unsigned char key[PAY_OUTBOX_HOST_KEY_LEN];
    int in_flight;
    int granted; /* by the take under way, for events that it has not returned yet */
} pay_outbox_host_t;

/* How to reach an endpoint at this moment. */
typedef struct pay_outbox_destination_t {
    const pay_endpoint_t *endpoint;
    const char *waits; /* why its events wait; NULL: they do not */
    const char *fault; /* why an attempt fails before it begins; NULL: it does not */
    const pay_url_t *url;
    const char *secret, *old_secret; /* opened; old NULL: no second signature */
    unsigned char host_key[PAY_OUTBOX_HOST_KEY_LEN];
    pay_outbox_host_t *host; /* that has granted places; NULL: none */
    int is_suspect;
    int grant;
} pay_outbox_destination_t;

/* One attempt to deliver one event. */
typedef struct pay_outbox_try_t {
    apr_pool_t *pool; /* of its own, freed with the attempt */
    const pay_event_t *event;
    const char *id;
    pay_outbox_settings_t *settings;
    pay_outbox_host_t *host; /* NULL: it is not on its way */
    int is_suspect;
    pay_transfer_t transfer;
    pay_event_end_t end;
    int status;
    const char *error, *answer;
    struct pay_outbox_try_t *next; /* of those that have ended */
} pay_outbox_try_t;

struct pay_outbox_t {
    pay_store_t *store;
    const pay_keyring_t *keyring;
    apr_pool_t *pool;      /* with an allocator of its own */
    apr_pool_t *take_pool; /* of one take */
    apr_pool_t *finish_pool;
    pay_transfers_t *transfers;
    pay_outbox_settings_t *settings;
    apr_int64_t settings_due_ms; /* boot clock, like all below */
    apr_int64_t taken_ms;        /* the last take */
    int take_again;              /* 1: the next take may find something new */

    pay_outbox_host_t hosts[PAY_OUTBOX_IN_FLIGHT_MAX];
    int in_flight, suspects;
    int granted, suspects_granted; /* by the take under way */
    apr_int64_t denied_ms;         /* when an endpoint last got no place and was postponed */
    apr_hash_t *destinations;      /* of it: endpoint -> pay_outbox_destination_t * */
    pay_outbox_destination_t *destination; /* of it: the last one used */

    pay_outbox_try_t *ended, **ended_tail; /* whose results are not stored yet */
    int ended_count;
    apr_int64_t ended_since_ms;
    apr_int64_t finish_due_ms; /* not before: the store has just refused */
    int delivered;             /* by the step under way */

    apr_int64_t webhooks_told_ms, mails_told_ms; /* when the log last said that they wait */
    apr_int64_t withheld_told_ms; /* when the log last said that a receipt was not sent */
};

/* --- service/outbox/outbox_settings.c --- */
/* Sets outbox->settings, again after a minute. If the store fails, they stay as they are. */
apr_status_t pay_outbox_settings_refresh(pay_outbox_t *outbox);
pay_outbox_settings_t *pay_outbox_settings_hold(pay_outbox_settings_t *settings);
void pay_outbox_settings_drop(pay_outbox_settings_t *settings);
/* Valid until the next call. APR_NOTFOUND: there is no such account. */
apr_status_t pay_outbox_account(const pay_account_t **out, pay_outbox_t *outbox,
                                pay_outbox_settings_t *settings, apr_uint32_t number);

/* --- service/outbox/outbox_destination.c --- */
/* A take begins: nothing is granted. */
void pay_outbox_destinations_clear(pay_outbox_t *outbox);
/* pay_event_budget_t; `baton` is the outbox. */
int pay_outbox_budget(void *baton, const pay_endpoint_t *endpoint, int taken);
/* In take_pool. */
const pay_outbox_destination_t *pay_outbox_destination(pay_outbox_t *outbox,
                                                       const pay_endpoint_t *endpoint);
void pay_outbox_host_enter(pay_outbox_t *outbox, pay_outbox_try_t *one,
                           const pay_outbox_destination_t *destination);
void pay_outbox_host_leave(pay_outbox_t *outbox, pay_outbox_try_t *one);

/* --- service/outbox/outbox_try.c --- */
/* Sends it, or ends it at once. */
void pay_outbox_try_start(pay_outbox_t *outbox, const pay_taken_t *taken);
/* Collects ended transfers. Returns 1 if there were any. */
int pay_outbox_try_collect(pay_outbox_t *outbox);

/* --- service/outbox/outbox_finish.c --- */
void pay_outbox_ended(pay_outbox_t *outbox, pay_outbox_try_t *one);
/* Stores ended attempts, unless they may wait; `now` 1: they may not. */
apr_status_t pay_outbox_finish(pay_outbox_t *outbox, int now);
/* Returns until when the present results may wait (boot clock). */
apr_int64_t pay_outbox_finish_due_ms(const pay_outbox_t *outbox);

#endif
