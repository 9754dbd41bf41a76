/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_ACQUIRER_H
#define PAY_ACQUIRER_ACQUIRER_H

/*
 * An acquirer as one account uses it: a connector (acquirer/mod_payments.h) with its settings, and
 * the state that all processes share about it. The functions convert records for connectors, check
 * the answers and convert them to outcomes. Many threads call them at once, never with a store
 * transaction open.
 */

#include "acquirer/mod_payments.h"
#include "base/shared/breaker.h"
#include "base/shared/slots.h"
#include "model/charge.h"
#include "model/refund.h"

#define PAY_ACQUIRER_NAME_MAX 64

typedef struct pay_acquirer_t {
    const payments_acquirer_t *connector;
    void *context;       /* of this process */
    const char *name;    /* as stored in the rows of its payments */
    const char *account; /* the account whose money it moves, for the log; NULL: several accounts */
    apr_interval_time_t timeout;
    int key_is_shared;              /* another account uses the same key: its lists cover both */
    pay_slots_t *slots;             /* calls under way in all processes; NULL: no limit */
    pay_breaker_t *breaker;         /* NULL: no breaker */
    pay_breaker_t *visitor_breaker; /* of calls for visitors, in addition; NULL: `breaker` alone */
} pay_acquirer_t;

/* Information beyond the outcome. */
typedef struct pay_acquirer_news_t {
    payments_trouble_t trouble;
    apr_interval_time_t retry_after;
    payments_times_t times;
    int present;                       /* the acquirer has it: decided, pending or different */
    int absent;                        /* it reports that it does not have it */
    int different;                     /* it has something else under the reference */
    int doubted;                       /* it reports absence, but its clock and ours differ */
    const apr_array_header_t *similar; /* of an absent refund; NULL: none exist */
} pay_acquirer_news_t;

/*
 * Returns a sentence that says why a provider cannot be used (size, ABI, missing slots, flags), or
 * NULL. A table that ends with refund_query, the last slot of the first version, is long enough:
 * slots behind its end count as NULL. They are read through pay_acquirer_has_refund_list() and
 * _has_checkout() only.
 */
const char *pay_acquirer_fault(const payments_acquirer_t *connector, apr_pool_t *p);

int pay_acquirer_is_pure(const pay_acquirer_t *acquirer);
int pay_acquirer_keeps_tokens(const pay_acquirer_t *acquirer);

/* 1 if the connector lists refunds: only then may its refund_list be called. */
int pay_acquirer_has_refund_list(const pay_acquirer_t *acquirer);

/*
 * APR_SUCCESS: *out can be stored. PAYMENTS_NOT_SENT as in mod_payments.h (charge and refund).
 * Otherwise *out is PAY_OUTCOME_UNKNOWN. *news is always set. Strings of *out live in `p`.
 */
apr_status_t pay_acquirer_charge(pay_outcome_t *out, pay_acquirer_news_t *news,
                                 const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                 apr_pool_t *p);
apr_status_t pay_acquirer_charge_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                       const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                       apr_pool_t *p);
/* `charge` is NULL if it is not known here (imported history). */
apr_status_t pay_acquirer_refund(pay_outcome_t *out, pay_acquirer_news_t *news,
                                 const pay_acquirer_t *acquirer, const pay_refund_t *refund,
                                 const pay_charge_t *charge, apr_pool_t *p);
apr_status_t pay_acquirer_refund_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                       const pay_acquirer_t *acquirer, const pay_refund_t *refund,
                                       const pay_charge_t *charge, apr_pool_t *p);

/*
 * Requests a page of the acquirer on which the payer of the checkout pays, https, in `p`.
 * `return_url`: where the payer returns to. PAYMENTS_NOT_SENT as in mod_payments.h; after any other
 * error the acquirer may know the checkout, but there is no page; news->present means that it
 * reported this itself, APR_EEXIST that it knew the reference already.
 */
apr_status_t pay_acquirer_checkout(const char **page_url, pay_acquirer_news_t *news,
                                   const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                   const char *return_url, apr_pool_t *p);
/* 1 if the connector has pages: only then may pay_acquirer_checkout() be called. */
int pay_acquirer_has_checkout(const pay_acquirer_t *acquirer);

/* Sends the full refund of a late approval under charge->late_tag, or queries its outcome. */
apr_status_t pay_acquirer_late_refund(pay_outcome_t *out, pay_acquirer_news_t *news,
                                      const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                      apr_pool_t *p);
apr_status_t pay_acquirer_late_refund_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                            const pay_acquirer_t *acquirer,
                                            const pay_charge_t *charge, apr_pool_t *p);

#endif
