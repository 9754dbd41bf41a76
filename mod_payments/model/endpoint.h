/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_ENDPOINT_H
#define PAY_MODEL_ENDPOINT_H

/* Where an account's events of one mode go: its webhook, its payers, its merchant. Pure. */

#include "model/account.h"

#include <apr_pools.h>

struct pay_writer_t;

#define PAY_ENDPOINT_ADDRESS_MAX 1000 /* bytes of a URL or e-mail address */
#define PAY_ENDPOINT_ERROR_MAX 200    /* bytes of a sentence on what went wrong */
#define PAY_ENDPOINT_FAILURES_MAX 5   /* failures in a row, and it counts as failing */

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
    int enabled;            /* 0: no event is written for it, what waits is not sent */
    const char *address;    /* webhook: URL; notice: the merchant's address; receipt: "" */
    const char *secret;     /* webhook: sealed by the keyring, "" for mail */
    const char *old_secret; /* sealed; signs as well until old_secret_until; "": none */
    apr_time_t old_secret_until;
    apr_time_t created_at;
    apr_time_t updated_at;

    /* How deliveries go; kept by the store (docs/notifications.md, "Retries"). */
    apr_uint32_t failures;     /* in a row, of any event; PAY_ENDPOINT_FAILURES_MAX: it fails */
    apr_uint32_t probes;       /* failed probes since it counts as failing */
    int probing;               /* 1: it fails, and one event is out to probe it */
    apr_time_t failing_since;  /* 0: it does not fail */
    apr_time_t due_at;         /* when it is looked at next; 0: nothing waits */
    apr_uint32_t tests;        /* test events made so far */
    apr_time_t answered_at;    /* of the last try; 0: none yet */
    int status;                /* of the last try: HTTP status, SMTP reply; 0: no answer */
    const char *error;         /* of the last try; "": it was taken */
    apr_time_t parked_told_at; /* when the merchant was last told that events are given up */

    /* Receipts of Test Mode: to whom they may go beside the merchant (model/recipients.h). */
    const char *recipients;
} pay_endpoint_t;

const char *pay_endpoint_kind_name(pay_endpoint_kind_t kind); /* "webhook", "receipt", "notice" */
apr_status_t pay_endpoint_kind_parse(pay_endpoint_kind_t *out, const char *text);

/* 1 while only one event at a time probes it. */
int pay_endpoint_is_failing(const pay_endpoint_t *endpoint);

/* How long it is left alone after `probes` failed probes (docs/notifications.md, "Retries"). */
apr_interval_time_t pay_endpoint_wait(apr_uint32_t probes);

/*
 * What a sealed secret is bound to: "webhook account 12 test". Another endpoint's does not open
 * under it.
 */
const char *pay_endpoint_secret_context(const pay_scope_t *scope, apr_pool_t *p);

#endif
