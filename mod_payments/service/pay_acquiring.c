/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pay_acquiring.h"

#include "base/pay_log.h"
#include "base/pay_meter.h"
#include "service/pay_service.h"

#include <string.h>

#define MS_PER_SECOND 1000
#define NO_ACCOUNT 0 /* slots of an instance are one account's */

const pay_acquirer_t *pay_acquiring_find(const pay_service_t *service, pay_mode_t mode,
                                         const char *name)
{
    const pay_acquirer_t *acquirer = service->acquirer[mode];
    int i;

    if (acquirer && !strcmp(acquirer->name, name)) {
        return acquirer;
    }
    for (i = 0; mode == PAY_LIVE && service->acquirers && i < service->acquirers->nelts; i++) {
        acquirer = APR_ARRAY_IDX(service->acquirers, i, const pay_acquirer_t *);
        if (!strcmp(acquirer->name, name)) {
            return acquirer;
        }
    }
    return NULL;
}

/* ---- entering and leaving */

static const pay_problem_t *refuse(pay_meter_counter_t why, apr_int64_t retry_after_ms,
                                   apr_pool_t *p)
{
    pay_problem_t *problem = pay_problem_make(PAY_ERR_ACQUIRER_UNAVAILABLE, NULL, APR_SUCCESS, p);

    pay_meter_add(why, 1);
    problem->retry_after = (int)((retry_after_ms + MS_PER_SECOND - 1) / MS_PER_SECOND);
    return problem;
}

const pay_problem_t *pay_acquiring_enter(pay_acquiring_t *out, const pay_acquirer_t *acquirer,
                                         apr_pool_t *p)
{
    apr_int64_t retry_after_ms;

    *out = (pay_acquiring_t){acquirer, -1, 0};
    if (acquirer->slots) {
        out->slot = pay_slots_take(acquirer->slots, NO_ACCOUNT);
        if (out->slot < 0) {
            return refuse(PAY_METER_REFUSED_IN_FLIGHT, MS_PER_SECOND, p);
        }
    }
    if (!acquirer->breaker) {
        return NULL;
    }
    out->ticket = pay_breaker_enter(acquirer->breaker, &retry_after_ms);
    if (!out->ticket) {
        pay_acquiring_leave(out);
        return refuse(pay_breaker_is_faulty(acquirer->breaker) ? PAY_METER_REFUSED_CREDENTIALS
                                                               : PAY_METER_REFUSED_BREAKER,
                      retry_after_ms, p);
    }
    return NULL;
}

void pay_acquiring_leave(pay_acquiring_t *acquiring)
{
    if (acquiring->ticket) {
        pay_breaker_skip(acquiring->acquirer->breaker, acquiring->ticket);
        acquiring->ticket = 0;
    }
    if (acquiring->slot >= 0) {
        pay_slots_give(acquiring->acquirer->slots, acquiring->slot);
        acquiring->slot = -1;
    }
}

/* ---- what is learnt from a call */

static void observe(pay_meter_histogram_t histogram, apr_interval_time_t time)
{
    if (time > 0) {
        pay_meter_observe(histogram, time);
    }
}

static void times_observe(const pay_acquirer_t *acquirer, const payments_times_t *times,
                          apr_time_t began)
{
    if (pay_acquirer_is_pure(acquirer)) {
        return;
    }
    pay_meter_observe(PAY_METER_ACQUIRER, pay_meter_now() - began);
    observe(PAY_METER_ACQUIRER_CONNECT, times->connect);
    observe(PAY_METER_ACQUIRER_TLS, times->tls);
    observe(PAY_METER_ACQUIRER_FIRST_BYTE, times->first_byte);
}

/* `ticket`: the breaker's, which is owed a word; 0: it was not entered. */
static void breaker_tell(const pay_acquirer_t *acquirer, const pay_acquirer_news_t *news,
                         int ticket)
{
    pay_breaker_t *breaker = acquirer->breaker;

    if (!breaker) {
        return;
    }
    if (news->trouble == PAYMENTS_NO_TROUBLE) {
        if (news->present || news->absent) {
            pay_breaker_success(breaker, ticket);
        } else {
            pay_breaker_failure(breaker, ticket);
        }
        return;
    }
    if (news->trouble == PAYMENTS_CREDENTIALS) {
        if (!pay_breaker_is_faulty(breaker)) {
            pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                    PAYLOGNO(00450) "acquirer %s refuses the key: its charges and refunds are "
                                    "answered 503 until a question to it is answered, or the "
                                    "server is restarted with another key",
                    acquirer->name);
        }
        pay_breaker_fault(breaker);
    } else {
        pay_breaker_hold(breaker, apr_time_as_msec(news->retry_after));
    }
    pay_breaker_skip(breaker, ticket); /* last: a probe's place is not free before it is shut */
}

static void learn(pay_acquiring_t *acquiring, const pay_acquirer_news_t *news, apr_time_t began,
                  const pay_outcome_t *outcome, apr_status_t answered)
{
    times_observe(acquiring->acquirer, &news->times, began);
    breaker_tell(acquiring->acquirer, news, acquiring->ticket);
    acquiring->ticket = 0;
    if (answered == PAYMENTS_NOT_SENT) {
        pay_meter_add(PAY_METER_ACQUIRER_NOT_SENT, 1);
    } else if (outcome->kind == PAY_OUTCOME_UNKNOWN && !pay_acquirer_is_pure(acquiring->acquirer)) {
        pay_meter_add(PAY_METER_ACQUIRER_UNKNOWN, 1);
    }
}

/* ---- calls */

apr_status_t pay_acquiring_charge(pay_outcome_t *out, pay_acquiring_t *acquiring,
                                  const pay_charge_t *charge, apr_pool_t *p)
{
    const apr_time_t began = pay_meter_now();
    pay_acquirer_news_t news;
    apr_status_t rv;

    rv = pay_acquirer_charge(out, &news, acquiring->acquirer, charge, p);
    learn(acquiring, &news, began, out, rv);
    if (rv != APR_SUCCESS && rv != PAYMENTS_NOT_SENT) {
        pay_log(PAY_LOG_WARNING, rv,
                PAYLOGNO(00203) "acquirer %s failed on charge %s: its outcome is unknown",
                acquiring->acquirer->name, charge->reference);
    }
    return rv;
}

apr_status_t pay_acquiring_refund(pay_outcome_t *out, pay_acquiring_t *acquiring,
                                  const pay_refund_t *refund, const pay_charge_t *charge,
                                  apr_pool_t *p)
{
    const apr_time_t began = pay_meter_now();
    pay_acquirer_news_t news;
    apr_status_t rv;

    rv = pay_acquirer_refund(out, &news, acquiring->acquirer, refund, charge, p);
    learn(acquiring, &news, began, out, rv);
    if (rv != APR_SUCCESS && rv != PAYMENTS_NOT_SENT) {
        pay_log(PAY_LOG_WARNING, rv,
                PAYLOGNO(00213) "acquirer %s failed on refund %s: its outcome is unknown",
                acquiring->acquirer->name, refund->refund_reference);
    }
    return rv;
}

apr_status_t pay_acquiring_late_refund(pay_outcome_t *out, pay_acquiring_t *acquiring,
                                       const pay_charge_t *charge, apr_pool_t *p)
{
    const apr_time_t began = pay_meter_now();
    pay_acquirer_news_t news;
    apr_status_t rv;

    rv = pay_acquirer_late_refund(out, &news, acquiring->acquirer, charge, p);
    learn(acquiring, &news, began, out, rv);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_WARNING, rv,
                PAYLOGNO(00451) "acquirer %s failed on the refund of charge %s, which it had "
                                "approved late",
                acquiring->acquirer->name, charge->reference);
    }
    return rv;
}

apr_status_t pay_acquiring_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                 const pay_acquirer_t *acquirer, const pay_refund_t *refund,
                                 const pay_charge_t *charge, int late, apr_pool_t *p)
{
    const apr_time_t began = pay_meter_now();
    apr_status_t rv;

    if (refund) {
        rv = pay_acquirer_refund_query(out, news, acquirer, refund, charge, p);
    } else if (late) {
        rv = pay_acquirer_late_refund_query(out, news, acquirer, charge, p);
    } else {
        rv = pay_acquirer_charge_query(out, news, acquirer, charge, p);
    }
    times_observe(acquirer, &news->times, began);
    breaker_tell(acquirer, news, 0);
    if (!pay_acquirer_is_pure(acquirer)) {
        pay_meter_add(PAY_METER_ACQUIRER_QUERIES, 1);
    }
    return rv;
}
