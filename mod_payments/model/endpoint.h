/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_ENDPOINT_H
#define PAY_MODEL_ENDPOINT_H

/* A destination of an account's events of one mode: its webhook, its payers, its merchant. Pure. */

#include "model/account.h"

#include <apr_pools.h>

struct pay_writer_t;

#define PAY_ENDPOINT_ADDRESS_MAX 1000 /* bytes of a URL or e-mail address */
#define PAY_ENDPOINT_ERROR_MAX 200    /* bytes of a sentence that describes a failure */
#define PAY_ENDPOINT_FAILURES_MAX 5   /* failures in a row that make it count as failing */

/* The number is part of keys of the store and of event ids. */
typedef enum pay_endpoint_kind_t {
    PAY_ENDPOINT_WEBHOOK = 1,
    PAY_ENDPOINT_RECEIPT = 2, /* e-mail to the payer of each transaction */
    PAY_ENDPOINT_NOTICE = 3   /* e-mail to the merchant */
} pay_endpoint_kind_t;
#define PAY_ENDPOINT_KIND_LAST PAY_ENDPOINT_NOTICE

typedef struct pay_endpoint_t {
    pay_scope_t scope;
    pay_endpoint_kind_t kind;
    int enabled;            /* 0: no event is written for it, waiting ones are not sent */
    const char *address;    /* webhook: URL; notice: the merchant's address; receipt: "" */
    const char *secret;     /* webhook: sealed by the keyring, "" for mail */
    const char *old_secret; /* sealed; also signs until old_secret_until; "": absent */
    apr_time_t old_secret_until;
    apr_time_t created_at;
    apr_time_t updated_at;

    /* The state of its deliveries, updated by the store (docs/notifications.md, "Retries"). */
    apr_uint32_t failures;     /* in a row, of any event; from PAY_ENDPOINT_FAILURES_MAX on it is
                                * failing */
    apr_uint32_t probes;       /* failed probes since it began to fail */
    int probing;               /* 1: it is failing, and one event is out to probe it */
    apr_time_t failing_since;  /* 0: it is not failing */
    apr_time_t due_at;         /* when it is due next; 0: nothing waits */
    apr_uint32_t tests;        /* test events made so far */
    apr_time_t answered_at;    /* of the last attempt; 0: none yet */
    int status;                /* of the last attempt: HTTP status, SMTP reply; 0: no answer */
    const char *error;         /* of the last attempt; "": it succeeded */
    apr_time_t parked_told_at; /* last notice to the merchant that events are parked */

    /* Receipts of Test Mode: allowed recipients in addition to the merchant
     * (model/recipients.h). */
    const char *recipients;
} pay_endpoint_t;

const char *pay_endpoint_kind_name(pay_endpoint_kind_t kind); /* "webhook", "receipt", "notice" */
apr_status_t pay_endpoint_kind_parse(pay_endpoint_kind_t *out, const char *text);

/* Returns 1 while only one event at a time probes it. */
int pay_endpoint_is_failing(const pay_endpoint_t *endpoint);

/*
 * Returns how long it is left alone after `probes` failed probes (docs/notifications.md,
 * "Retries").
 */
apr_interval_time_t pay_endpoint_wait(apr_uint32_t probes);

/*
 * Returns the context that a sealed secret is bound to: "webhook account 12 test". A secret of
 * another endpoint does not open under it.
 */
const char *pay_endpoint_secret_context(const pay_scope_t *scope, apr_pool_t *p);

#endif
