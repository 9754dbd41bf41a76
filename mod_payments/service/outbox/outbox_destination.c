/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/text/time.h"
#include "service/outbox/outbox_parts.h"

#include <apr_strings.h>
#include <string.h>

#define COMPLAIN_MS (60 * 1000)

static const char need_https[] =
    "The URL must be https; http is for Test Mode with PaymentsWebhookInsecure";

static const char no_keyring[] = "there is no master key to open their secrets";
static const char not_open[] = "their secret does not open under the master key";

/* Other endpoints of the host share it: attempts are counted by host and port. */
static void host_key(unsigned char out[PAY_OUTBOX_HOST_KEY_LEN], const pay_url_t *url,
                     apr_pool_t *p)
{
    const char *text = apr_psprintf(p, "%s:%d", url->host, url->port);
    unsigned char digest[PAY_SHA256_LEN];

    (void)pay_sha256(digest, text, strlen(text)); /* all zero if it fails: one host for all */
    memcpy(out, digest, PAY_OUTBOX_HOST_KEY_LEN);
}

static apr_status_t open_secret(const char **out, const pay_outbox_t *outbox,
                                const pay_endpoint_t *endpoint, const char *sealed)
{
    const char *context = pay_endpoint_secret_context(&endpoint->scope, outbox->take_pool);

    return pay_keyring_open(out, outbox->keyring, context, sealed, outbox->take_pool);
}

static void open_secrets(pay_outbox_destination_t *destination, const pay_outbox_t *outbox)
{
    const pay_endpoint_t *endpoint = destination->endpoint;
    apr_status_t rv;

    if (!outbox->keyring) {
        destination->waits = no_keyring;
        return;
    }
    rv = open_secret(&destination->secret, outbox, endpoint, endpoint->secret);
    if (rv == APR_SUCCESS && *endpoint->old_secret && pay_time_now() < endpoint->old_secret_until) {
        rv = open_secret(&destination->old_secret, outbox, endpoint, endpoint->old_secret);
    }
    if (rv != APR_SUCCESS) {
        destination->waits = not_open;
    }
}

static void judge_webhook(pay_outbox_destination_t *destination, const pay_outbox_t *outbox)
{
    const pay_endpoint_t *endpoint = destination->endpoint;
    const int http =
        endpoint->scope.mode == PAY_TEST && outbox->settings->delivery->webhook_insecure;
    const char *fault;
    pay_url_t *url;
    apr_status_t rv;

    open_secrets(destination, outbox);
    rv = pay_url_parse(&url, &fault, endpoint->address, "https http", outbox->take_pool);
    if (rv != APR_SUCCESS) {
        destination->fault = fault;
        return;
    }
    destination->url = url;
    host_key(destination->host_key, url, outbox->take_pool);
    if (strcmp(url->scheme, "https") != 0 && !http) {
        destination->fault = need_https;
    }
}

static void judge_mail(pay_outbox_destination_t *destination, const pay_outbox_t *outbox)
{
    destination->waits = outbox->settings->mail.waits;
    destination->url = outbox->settings->mail.url;
    if (destination->url) {
        host_key(destination->host_key, destination->url, outbox->take_pool);
    }
}

static pay_outbox_destination_t *destination_make(const pay_outbox_t *outbox,
                                                  const pay_endpoint_t *endpoint)
{
    pay_outbox_destination_t *destination = apr_pcalloc(outbox->take_pool, sizeof(*destination));

    destination->endpoint = endpoint;
    if (endpoint->kind == PAY_ENDPOINT_WEBHOOK) {
        judge_webhook(destination, outbox);
    } else {
        judge_mail(destination, outbox);
    }
    return destination;
}

static pay_outbox_host_t *find_host(pay_outbox_t *outbox, const unsigned char *key)
{
    pay_outbox_host_t *host, *vacant = NULL;
    int i;

    for (i = 0; i < PAY_OUTBOX_IN_FLIGHT_MAX; i++) {
        host = &outbox->hosts[i];
        if (host->in_flight == 0 && host->granted == 0) {
            vacant = vacant ? vacant : host;
        } else if (memcmp(host->key, key, PAY_OUTBOX_HOST_KEY_LEN) == 0) {
            return host;
        }
    }
    if (vacant) {
        memcpy(vacant->key, key, PAY_OUTBOX_HOST_KEY_LEN);
    }
    return vacant;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/*
 * A host may have a quarter of the remaining places, so that however many of them are slow some are
 * left for the next one; those that failed last share a half.
 */
static void grant(pay_outbox_t *outbox, pay_outbox_destination_t *destination)
{
    int left = PAY_OUTBOX_IN_FLIGHT_MAX - outbox->in_flight - outbox->granted;
    int share = least(left > 4 ? left / 4 : 1, PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
    pay_outbox_host_t *host;
    int suspects_left;

    destination->grant = 0;
    host = left > 0 ? find_host(outbox, destination->host_key) : NULL;
    if (!host) {
        return;
    }
    share = least(left, share - host->in_flight - host->granted);
    if (destination->is_suspect) {
        suspects_left = PAY_OUTBOX_SUSPECTS_MAX - outbox->suspects - outbox->suspects_granted;
        share = least(share, suspects_left);
    }
    if (share <= 0) {
        return;
    }
    destination->host = host;
    destination->grant = share;
    host->granted += share;
    outbox->granted += share;
    outbox->suspects_granted += destination->is_suspect ? share : 0;
}

/* Releases all but `taken` of its granted places. */
static void give_back(pay_outbox_t *outbox, pay_outbox_destination_t *destination, int taken)
{
    const int rest = destination->grant - taken;

    if (rest <= 0) {
        return;
    }
    destination->grant = taken;
    destination->host->granted -= rest;
    outbox->granted -= rest;
    outbox->suspects_granted -= destination->is_suspect ? rest : 0;
}

/* Logs at most once a minute for each of the two. */
static void complain(pay_outbox_t *outbox, const pay_endpoint_t *endpoint, const char *waits)
{
    const int is_webhook = endpoint->kind == PAY_ENDPOINT_WEBHOOK;
    apr_int64_t *told_ms = is_webhook ? &outbox->webhooks_told_ms : &outbox->mails_told_ms;
    const apr_int64_t now_ms = pay_time_boot_ms();

    if (*told_ms && now_ms < *told_ms + COMPLAIN_MS) {
        return;
    }
    *told_ms = now_ms;
    if (is_webhook) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00261) "webhook events are waiting, for example those of account %u in "
                                "%s mode: %s",
                endpoint->scope.account, pay_mode_name(endpoint->scope.mode), waits);
    } else {
        pay_log(PAY_LOG_ERR, APR_SUCCESS, PAYLOGNO(00262) "e-mails are waiting: %s", waits);
    }
}

void pay_outbox_destinations_clear(pay_outbox_t *outbox)
{
    int i;

    for (i = 0; i < PAY_OUTBOX_IN_FLIGHT_MAX; i++) {
        outbox->hosts[i].granted = 0;
    }
    outbox->granted = 0;
    outbox->suspects_granted = 0;
    outbox->destinations = apr_hash_make(outbox->take_pool);
    outbox->destination = NULL;
}

/*
 * If the store asks again for the same endpoint in one take, it has begun the take again: earlier
 * grants are void.
 */
int pay_outbox_budget(void *baton, const pay_endpoint_t *endpoint, int taken)
{
    pay_outbox_t *outbox = baton;
    const char *name = apr_psprintf(outbox->take_pool, "%u %d %d", endpoint->scope.account,
                                    (int)endpoint->scope.mode, (int)endpoint->kind);
    pay_outbox_destination_t *destination =
        apr_hash_get(outbox->destinations, name, APR_HASH_KEY_STRING);

    if (destination) {
        give_back(outbox, destination, taken == PAY_EVENT_BUDGET_ASK ? 0 : taken);
    } else {
        destination = destination_make(outbox, endpoint);
        destination->endpoint = NULL; /* it lives as long as this call */
        apr_hash_set(outbox->destinations, name, APR_HASH_KEY_STRING, destination);
    }
    if (taken != PAY_EVENT_BUDGET_ASK) {
        return destination->grant;
    }
    if (destination->waits) {
        complain(outbox, endpoint, destination->waits);
        return -1;
    }
    destination->is_suspect = endpoint->failures > 0;
    grant(outbox, destination);
    if (destination->grant == 0) {
        outbox->denied_ms = pay_time_boot_ms();
    }
    return destination->grant;
}

const pay_outbox_destination_t *pay_outbox_destination(pay_outbox_t *outbox,
                                                       const pay_endpoint_t *endpoint)
{
    /* They come endpoint by endpoint. */
    if (!outbox->destination || outbox->destination->endpoint != endpoint) {
        outbox->destination = destination_make(outbox, endpoint);
    }
    return outbox->destination;
}

void pay_outbox_host_enter(pay_outbox_t *outbox, pay_outbox_try_t *one,
                           const pay_outbox_destination_t *destination)
{
    pay_outbox_host_t *host = find_host(outbox, destination->host_key);

    /* A URL that changed since the grant may find no place of its own: it shares one. */
    one->is_suspect = destination->endpoint->failures > 0;
    one->host = host ? host : &outbox->hosts[0];
    one->host->in_flight++;
    outbox->in_flight++;
    outbox->suspects += one->is_suspect;
}

void pay_outbox_host_leave(pay_outbox_t *outbox, pay_outbox_try_t *one)
{
    one->host->in_flight--;
    one->host = NULL;
    outbox->in_flight--;
    outbox->suspects -= one->is_suspect;
}
