/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_ACQUIRER_H
#define PAY_ACQUIRER_ACQUIRER_H

/*
 * An acquirer as one account uses it: a connector (acquirer/mod_payments.h) with its settings, and
 * what all processes share about it. The functions turn records into what connectors are told, and
 * their answers, which are checked, into outcomes. They are called by many threads at once, never
 * with a store transaction open.
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
    const char *name;    /* as stored in rows that went through it */
    const char *account; /* whose money it moves, for the log; NULL: no one account's */
    apr_interval_time_t timeout;
    int key_is_shared;              /* another account sends with it: its lists are of both */
    pay_slots_t *slots;             /* calls under way in all processes; NULL: no limit */
    pay_breaker_t *breaker;         /* NULL: none */
    pay_breaker_t *visitor_breaker; /* of calls for visitors beside it; NULL: `breaker` alone */
} pay_acquirer_t;

/* What was learnt beside the outcome. */
typedef struct pay_acquirer_news_t {
    payments_trouble_t trouble;
    apr_interval_time_t retry_after;
    payments_times_t times;
    int present;                       /* the acquirer has it: decided, pending or different */
    int absent;                        /* it says that it has none */
    int different;                     /* what it has is not what was asked for */
    int doubted;                       /* it reports none, but its clock and ours differ */
    const apr_array_header_t *similar; /* of an absent refund; NULL: there are none */
} pay_acquirer_news_t;

/*
 * A sentence on why a provider cannot be used (size, ABI, missing slots, flags), or NULL. A table
 * that ends with refund_query, the last slot of the first version, is long enough: slots behind its
 * end count as NULL. They are read through pay_acquirer_has_refund_list() and _has_checkout() only.
 */
const char *pay_acquirer_fault(const payments_acquirer_t *connector, apr_pool_t *p);

int pay_acquirer_is_pure(const pay_acquirer_t *acquirer);
int pay_acquirer_keeps_tokens(const pay_acquirer_t *acquirer);

/* 1 if the connector lists refunds: only then may its refund_list be called. */
int pay_acquirer_has_refund_list(const pay_acquirer_t *acquirer);

/*
 * APR_SUCCESS: *out is fit to be stored. PAYMENTS_NOT_SENT as there (of charge and refund). Else
 * *out is PAY_OUTCOME_UNKNOWN. *news is set in each case. Strings of *out live in `p`.
 */
apr_status_t pay_acquirer_charge(pay_outcome_t *out, pay_acquirer_news_t *news,
                                 const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                 apr_pool_t *p);
apr_status_t pay_acquirer_charge_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                       const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                       apr_pool_t *p);
/* `charge` NULL: it is not known here (imported history). */
apr_status_t pay_acquirer_refund(pay_outcome_t *out, pay_acquirer_news_t *news,
                                 const pay_acquirer_t *acquirer, const pay_refund_t *refund,
                                 const pay_charge_t *charge, apr_pool_t *p);
apr_status_t pay_acquirer_refund_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                       const pay_acquirer_t *acquirer, const pay_refund_t *refund,
                                       const pay_charge_t *charge, apr_pool_t *p);

/*
 * A page of the acquirer's on which the payer of the checkout pays, https, in `p`. `return_url`:
 * where the payer comes back to. PAYMENTS_NOT_SENT as there; any other status: the acquirer may
 * know of the checkout, but there is no page; news->present tells that it said so itself,
 * APR_EEXIST that it knows the reference from before.
 */
apr_status_t pay_acquirer_checkout(const char **page_url, pay_acquirer_news_t *news,
                                   const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                   const char *return_url, apr_pool_t *p);
/* 1 if the connector has pages: only then may pay_acquirer_checkout() be called. */
int pay_acquirer_has_checkout(const pay_acquirer_t *acquirer);

/* The refund of all of a late approval under charge->late_tag, and what became of it. */
apr_status_t pay_acquirer_late_refund(pay_outcome_t *out, pay_acquirer_news_t *news,
                                      const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                      apr_pool_t *p);
apr_status_t pay_acquirer_late_refund_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                            const pay_acquirer_t *acquirer,
                                            const pay_charge_t *charge, apr_pool_t *p);

#endif
