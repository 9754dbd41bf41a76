/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTBOX_FIXTURE_H
#define OUTBOX_FIXTURE_H

/* The common part of the tests of the outbox: a shop, an outbox over its store, and its log. */

#include "base/log.h"
#include "peer.h"
#include "service/outbox/outbox.h"
#include "service/webhook.h"
#include "shop_charge.h"

#include <unistd.h>

#define STEP apr_time_from_sec(10) /* ends by itself when there is nothing more to do */
#define PAYLOG_PARKED "PAY00264"
#define OK_204 "HTTP/1.1 204 No Content\r\n\r\n"

static shop_t *shop;
static pay_outbox_t *outbox;
static pay_keyring_t *keyring;
static pay_delivery_t delivery;
static pay_scope_t scope;
static char logged[65536];

static inline void log_sink(void *baton, pay_log_level_t level, apr_status_t status,
                            const char *text)
{
    (void)baton, (void)status;
    apr_cpystrn(
        logged + strlen(logged),
        apr_pstrcat(unit_pool, level <= PAY_LOG_WARNING ? "<warning>" : "", text, "\n", NULL),
        sizeof(logged) - strlen(logged));
}

static inline int log_count(const char *text)
{
    const char *at;
    int count = 0;

    for (at = strstr(logged, text); at; at = strstr(at + 1, text)) {
        count++;
    }
    return count;
}

static inline pay_keyring_t *keyring_make(const char *name)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/", name, NULL);
    pay_keyring_t *ring;
    const char *reason;
    int made;

    ck_assert_int_eq(pay_keyring_load(&ring, &made, &reason, path, 1, getuid(), unit_pool),
                     APR_SUCCESS);
    return ring;
}

static inline void deliver_as(const pay_delivery_t *how)
{
    delivery = *how;
    ck_assert_int_eq(pay_store_delivery_put(shop->store, &delivery, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_outbox_create(&outbox, shop->store, keyring, unit_pool), APR_SUCCESS);
}

/* A shop whose webhooks may go to this host by plain http. */
static inline void set_up(void)
{
    const pay_delivery_t how = {1, "", "127.0.0.0/8", "", "", "", ""};

    shop = shop_open(unit_dir());
    pay_log_set_sink(log_sink, NULL);
    keyring = keyring_make("key");
    scope = (pay_scope_t){shop->account->number, PAY_TEST};
    deliver_as(&how);
}

static inline pay_endpoint_t *endpoint_write(const pay_endpoint_t *endpoint)
{
    pay_endpoint_t *out;

    ck_assert_int_eq(pay_store_endpoint_put(&out, shop->store, endpoint, NULL, unit_pool),
                     APR_SUCCESS);
    return out;
}

static inline pay_endpoint_t *endpoint_put(const pay_scope_t *of, pay_endpoint_kind_t kind,
                                           const char *address)
{
    pay_endpoint_t endpoint = {.scope = *of,
                               .kind = kind,
                               .enabled = 1,
                               .address = address,
                               .secret = "",
                               .old_secret = "",
                               .error = ""};
    const char *secret;

    if (kind == PAY_ENDPOINT_WEBHOOK) {
        ck_assert_int_eq(pay_webhook_secret_make(&secret, unit_pool), APR_SUCCESS);
        ck_assert_int_eq(pay_keyring_seal(&endpoint.secret, keyring,
                                          pay_endpoint_secret_context(of, unit_pool), secret,
                                          unit_pool),
                         APR_SUCCESS);
    }
    return endpoint_write(&endpoint);
}

static inline void charges(const pay_scope_t *of, const char *prefix, int count)
{
    int i;

    for (i = 0; i < count; i++) {
        shop_charge(shop, of, apr_psprintf(unit_pool, "%s-%d", prefix, i));
    }
}

static inline int step_for(apr_interval_time_t time_max)
{
    int delivered;

    ck_assert_int_eq(pay_outbox_step(&delivered, outbox, time_max, NULL, NULL), APR_SUCCESS);
    return delivered;
}

static inline int step(void)
{
    return step_for(STEP);
}

static inline apr_array_header_t *waiting(const pay_scope_t *of)
{
    apr_array_header_t *list;

    ck_assert_int_eq(STORE_REAL(event_list)(&list, shop->store, of, 0, NULL, 1000, unit_pool),
                     APR_SUCCESS);
    return list;
}

/* Returns the only waiting one. */
static inline const pay_event_t *the_event(void)
{
    apr_array_header_t *list = waiting(&scope);

    ck_assert_int_eq(list->nelts, 1);
    return APR_ARRAY_IDX(list, 0, const pay_event_t *);
}

#endif
