/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/shared/meter.h"
#include "base/text/time.h"
#include "service/outbox/mail.h"
#include "service/outbox/outbox_parts.h"
#include "service/webhook.h"

#include <apr_strings.h>
#include <string.h>

#define HTTP_TAKEN_FIRST 200
#define HTTP_TAKEN_LAST 204
#define SMTP_TAKEN_FIRST 200
#define SMTP_TAKEN_LAST 299
#define SMTP_REFUSED_FIRST 500 /* for good (RFC 5321, 4.2.1) */
#define SMTP_REFUSED_LAST 599

/* Copies the part that is needed after the take; the records of the event are not needed again. */
static const pay_event_t *event_keep(const pay_event_t *event, apr_pool_t *p)
{
    pay_event_t *kept = apr_pmemdup(p, event, sizeof(*event));

    kept->error = apr_pstrdup(p, event->error);
    kept->answer = apr_pstrdup(p, event->answer);
    kept->charge = NULL;
    kept->refund = NULL;
    kept->parked = NULL;
    return kept;
}

static pay_outbox_try_t *try_make(pay_outbox_t *outbox, const pay_taken_t *taken)
{
    pay_outbox_try_t *one;
    apr_pool_t *pool;
    apr_status_t rv;

    rv = apr_pool_create(&pool, outbox->pool);
    if (rv != APR_SUCCESS) {
        return NULL;
    }
    one = apr_pcalloc(pool, sizeof(*one));
    one->pool = pool;
    one->event = event_keep(taken->event, pool);
    one->id = pay_event_id(taken->event, pool);
    one->settings = pay_outbox_settings_hold(outbox->settings);
    one->transfer.baton = one;
    one->transfer.ca_file = one->settings->ca_file;
    one->error = "";
    one->answer = "";
    return one;
}

/* Ends it without sending. */
static void end_unsent(pay_outbox_t *outbox, pay_outbox_try_t *one, pay_event_end_t end,
                       const char *error)
{
    one->end = end;
    one->error = apr_pstrdup(one->pool, error);
    pay_outbox_ended(outbox, one);
}

static int fill_webhook(pay_outbox_t *outbox, pay_outbox_try_t *one, const pay_taken_t *taken,
                        const pay_outbox_destination_t *destination)
{
    apr_status_t rv;

    rv = pay_webhook_make(&one->transfer, taken->event, taken->endpoint, destination->secret,
                          destination->old_secret, pay_time_now(), one->pool);
    if (rv != APR_SUCCESS) {
        end_unsent(outbox, one, PAY_EVENT_FAILED, "The request could not be signed");
        return 0;
    }
    one->transfer.url = apr_pstrdup(one->pool, destination->url->text);
    one->transfer.judged = 1;
    one->transfer.allowed = one->settings->allowed;
    return 1;
}

/*
 * Returns the merchant's address: the notice endpoint's own, or the one that a receipt names for
 * questions.
 */
static const char *merchant_of(pay_outbox_t *outbox, const pay_taken_t *taken)
{
    pay_endpoint_t *notice;
    apr_status_t rv;

    if (taken->endpoint->kind == PAY_ENDPOINT_NOTICE) {
        return taken->endpoint->address;
    }
    rv = pay_store_endpoint_get(&notice, outbox->store, &taken->endpoint->scope,
                                PAY_ENDPOINT_NOTICE, outbox->take_pool);
    return rv == APR_SUCCESS ? notice->address : "";
}

static int fill_mail(pay_outbox_t *outbox, pay_outbox_try_t *one, const pay_taken_t *taken)
{
    const pay_outbox_settings_t *settings = one->settings;
    const pay_account_t *account;
    const char *fault = NULL;
    apr_status_t rv;

    rv = pay_outbox_account(&account, outbox, one->settings, taken->endpoint->scope.account);
    if (rv != APR_SUCCESS) {
        end_unsent(outbox, one, PAY_EVENT_FAILED, "The account could not be read");
        return 0;
    }
    rv = pay_mail_make(&one->transfer, &fault, taken->event, account, merchant_of(outbox, taken),
                       settings->delivery, one->pool);
    if (rv == APR_NOTFOUND) { /* there is no mail for it, or no recipient */
        end_unsent(outbox, one, PAY_EVENT_DELIVERED, "");
        return 0;
    }
    if (rv != APR_SUCCESS) {
        end_unsent(outbox, one, rv == APR_EINVAL ? PAY_EVENT_REFUSED : PAY_EVENT_FAILED,
                   fault ? fault : "The message could not be made");
        return 0;
    }
    pay_mail_relay_address(&one->transfer, &settings->mail);
    return 1;
}

/* Returns 0 if it ended instead. */
static int fill(pay_outbox_t *outbox, pay_outbox_try_t *one, const pay_taken_t *taken,
                const pay_outbox_destination_t *destination)
{
    if (destination->waits) { /* the endpoint has changed since it was taken */
        end_unsent(outbox, one, PAY_EVENT_RELEASED, "");
        return 0;
    }
    if (destination->fault) {
        end_unsent(outbox, one, PAY_EVENT_FAILED, destination->fault);
        return 0;
    }
    if (taken->withheld) {
        end_unsent(outbox, one, PAY_EVENT_WITHHELD, PAY_EVENT_NOT_LISTED);
        return 0;
    }
    return taken->endpoint->kind == PAY_ENDPOINT_WEBHOOK
               ? fill_webhook(outbox, one, taken, destination)
               : fill_mail(outbox, one, taken);
}

/*
 * An attempt takes at most PAY_TRANSFER_TOTAL_MS: it ends within the lease, or it does not begin.
 */
static int lease_lasts(const pay_event_t *event)
{
    return pay_time_boot_ms() + PAY_TRANSFER_TOTAL_MS < event->lease_until_ms;
}

void pay_outbox_try_start(pay_outbox_t *outbox, const pay_taken_t *taken)
{
    const pay_outbox_destination_t *destination = pay_outbox_destination(outbox, taken->endpoint);
    pay_outbox_try_t *one = try_make(outbox, taken);
    apr_status_t rv;

    if (!one) {
        return; /* out of memory: its lease ends by itself */
    }
    if (!fill(outbox, one, taken, destination)) {
        return;
    }
    if (!lease_lasts(one->event)) {
        end_unsent(outbox, one, PAY_EVENT_RELEASED, "");
        return;
    }
    rv = pay_transfer_start(outbox->transfers, &one->transfer);
    if (rv != APR_SUCCESS) {
        end_unsent(outbox, one, PAY_EVENT_FAILED, "The request could not be sent as it is");
        return;
    }
    pay_outbox_host_enter(outbox, one, destination);
}

static void judge_http(pay_outbox_try_t *one)
{
    const int status = one->transfer.status;

    if (status >= HTTP_TAKEN_FIRST && status <= HTTP_TAKEN_LAST) {
        one->end = PAY_EVENT_DELIVERED;
        return;
    }
    one->end = PAY_EVENT_FAILED;
    one->error =
        apr_psprintf(one->pool, "The receiver answered %d; 200 to 204 accept an event", status);
}

/* An answer counts for the receiver or the message; a refused login or sender is not an answer. */
static void judge_smtp(pay_outbox_try_t *one)
{
    const int status = one->transfer.status;

    if (status >= SMTP_TAKEN_FIRST && status <= SMTP_TAKEN_LAST) {
        one->end = PAY_EVENT_DELIVERED;
        return;
    }
    one->end = status >= SMTP_REFUSED_FIRST && status <= SMTP_REFUSED_LAST ? PAY_EVENT_REFUSED
                                                                           : PAY_EVENT_FAILED;
    one->error = apr_psprintf(one->pool, "The mail relay answered %d", status);
}

static void count(const pay_outbox_try_t *one)
{
    const int is_webhook = one->event->endpoint == PAY_ENDPOINT_WEBHOOK;

    pay_meter_observe(PAY_METER_DELIVERY, one->transfer.time);
    if (one->end == PAY_EVENT_DELIVERED) {
        pay_meter_add(is_webhook ? PAY_METER_WEBHOOK_DELIVERED : PAY_METER_MAIL_DELIVERED, 1);
    } else {
        pay_meter_add(is_webhook ? PAY_METER_WEBHOOK_FAILED : PAY_METER_MAIL_FAILED, 1);
    }
}

int pay_outbox_try_collect(pay_outbox_t *outbox)
{
    pay_transfer_t *transfer;
    pay_outbox_try_t *one;
    int any = 0;

    while ((transfer = pay_transfers_next(outbox->transfers)) != NULL) {
        one = transfer->baton;
        one->status = transfer->status;
        one->answer = transfer->answer;
        if (transfer->end != PAY_TRANSFER_ANSWERED) {
            one->end = PAY_EVENT_FAILED;
            one->error = transfer->error;
        } else if (one->event->endpoint == PAY_ENDPOINT_WEBHOOK) {
            judge_http(one);
        } else {
            judge_smtp(one);
        }
        count(one);
        pay_outbox_host_leave(outbox, one);
        pay_outbox_ended(outbox, one);
        any = 1;
    }
    return any;
}
