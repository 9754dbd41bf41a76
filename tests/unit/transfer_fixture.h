/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRANSFER_FIXTURE_H
#define TRANSFER_FIXTURE_H

/* The common part of the tests of base/pay_transfer*.c. */

#include "base/net/network.h"
#include "base/net/transfer.h"

#include "curl_clock.h"
#include "peer.h"

#include <string.h>

/* Long enough for a busy machine, and short ones for transfers that must take too long. */
#define LONG_MS 120000
#define SHORT_MS 250
#define READ_MS 20 /* for data that is already in this end of the connection */

static inline pay_transfers_t *fixture_set(int connect_ms, int total_ms)
{
    pay_transfers_t *set;

    ck_assert_int_eq(pay_transfers_create(&set, unit_pool), APR_SUCCESS);
    pay_transfers_limits(set, connect_ms, total_ms);
    return set;
}

/* A POST of `{"a":1}`. */
static inline pay_transfer_t *fixture_post(const char *url)
{
    pay_transfer_t *transfer = apr_pcalloc(unit_pool, sizeof(*transfer));
    apr_array_header_t *headers = apr_array_make(unit_pool, 2, sizeof(const char *));

    APR_ARRAY_PUSH(headers, const char *) = "Content-Type: application/json";
    APR_ARRAY_PUSH(headers, const char *) = "webhook-id: evt_1";
    transfer->url = url;
    transfer->headers = headers;
    transfer->body = "{\"a\":1}";
    transfer->body_len = strlen(transfer->body);
    return transfer;
}

static inline pay_transfer_t *fixture_get(const char *url)
{
    pay_transfer_t *transfer = apr_pcalloc(unit_pool, sizeof(*transfer));

    transfer->url = url;
    return transfer;
}

static inline void fixture_start(pay_transfers_t *set, pay_transfer_t *transfer)
{
    ck_assert_int_eq(pay_transfer_start(set, transfer), APR_SUCCESS);
}

/* The next one that ends. */
static inline pay_transfer_t *fixture_next(pay_transfers_t *set)
{
    pay_transfer_t *transfer = pay_transfers_next(set);

    while (!transfer) {
        ck_assert_int_gt(pay_transfers_count(set), 0);
        pay_transfers_run(set, apr_time_from_sec(1));
        transfer = pay_transfers_next(set);
    }
    return transfer;
}

/* Until this one, the only one, has ended. */
static inline void fixture_run(pay_transfers_t *set, pay_transfer_t *transfer)
{
    fixture_start(set, transfer);
    ck_assert_ptr_eq(fixture_next(set), transfer);
    ck_assert_int_eq(pay_transfers_count(set), 0);
    ck_assert_ptr_null(pay_transfers_next(set));
}

/* Until it has ended because LONG_MS were over, after everything that the peer does was done and
 * read. */
static inline void fixture_run_late(pay_transfers_t *set, pay_transfer_t *transfer,
                                    const peer_t *peer)
{
    fixture_start(set, transfer);
    while (!peer_stuck(peer)) {
        pay_transfers_run(set, apr_time_from_msec(1));
    }
    pay_transfers_run(set, apr_time_from_msec(READ_MS));
    ck_assert_int_eq(pay_transfers_count(set), 1);
    curl_clock_pass(LONG_MS);
    ck_assert_ptr_eq(fixture_next(set), transfer);
    curl_clock_restore();
}

static inline const apr_array_header_t *fixture_networks(const char *text)
{
    apr_array_header_t *list;
    const char *word;

    ck_assert_int_eq(pay_network_list(&list, &word, text, unit_pool), APR_SUCCESS);
    return list;
}

/* The ends and sentences are compared by name, so that a failure can be read. */
static inline const char *fixture_end(const pay_transfer_t *transfer)
{
    static const char *const names[] = {"answered", "forbidden", "not sent", "broken"};

    return names[transfer->end];
}

#endif
