/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pay_acquiring.h"

#include "base/pay_clock.h"
#include "base/pay_log.h"
#include "base/pay_meter.h"
#include "service/pay_service.h"

#include <string.h>

#define MS_PER_SECOND 1000
#define NO_ACCOUNT 0 /* slots of an instance are one account's */

/* In the log: many accounts may call one acquirer. */
static const char *account_of(const pay_acquirer_t *acquirer)
{
    return acquirer->account ? acquirer->account : "-";
}

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

static const pay_problem_t *refuse(const pay_acquirer_t *acquirer, pay_meter_counter_t why,
                                   const char *sentence, apr_int64_t retry_after_ms, apr_pool_t *p)
{
    pay_problem_t *problem = pay_problem_make(PAY_ERR_ACQUIRER_UNAVAILABLE, NULL, APR_SUCCESS, p);

    pay_log(PAY_LOG_INFO, APR_SUCCESS,
            PAYLOGNO(00452) "acquirer %s of account %s is not called: %s", acquirer->name,
            account_of(acquirer), sentence);
    pay_meter_add(why, 1);
    problem->retry_after = (int)((retry_after_ms + MS_PER_SECOND - 1) / MS_PER_SECOND);
    return problem;
}

static const pay_problem_t *refuse_crowded(const pay_acquirer_t *acquirer, apr_pool_t *p)
{
    return refuse(acquirer, PAY_METER_REFUSED_IN_FLIGHT,
                  "as many calls of it are under way as may be (PaymentsAcquirerMaxInFlight)",
                  MS_PER_SECOND, p);
}

static const pay_problem_t *refuse_full(const pay_acquirer_t *acquirer, apr_pool_t *p)
{
    pay_log(PAY_LOG_INFO, APR_SUCCESS,
            PAYLOGNO(00620) "acquirer %s of account %s is not called: this server has no slot for "
                            "the call, and none was given back in PaymentsSlotWait or too many "
                            "wait (MaxRequestWorkers)",
            acquirer->name, account_of(acquirer));
    pay_meter_add(PAY_METER_REFUSED_SLOTS, 1);
    return pay_problem_make(PAY_ERR_BUSY, NULL, APR_SUCCESS, p);
}

/* 0: none is free. */
static int take_place(pay_acquiring_t *out)
{
    pay_slots_t *slots = out->acquirer->slots;

    if (slots) {
        out->slot = pay_slots_take(slots, NO_ACCOUNT);
    }
    return !slots || out->slot >= 0;
}

/*
 * Both places. Who finds none at the acquirer waits in the line for one of this server, where as
 * many may stand as there is room for: without a slot that others could use.
 */
static const pay_problem_t *take_both(pay_acquiring_t *out, const pay_service_t *service,
                                      const pay_scope_t *scope, apr_int64_t until_ms, apr_pool_t *p)
{
    const apr_uint32_t account = service->slots_base + scope->account;
    const apr_uint64_t lane = (uintptr_t)out->acquirer->slots; /* the same in all processes */

    if (scope->mode == PAY_LIVE && service->slots) {
        out->calls = service->slots;
        out->call = pay_slots_take_until(out->calls, account, lane, until_ms);
        if (out->call < 0) {
            return refuse_full(out->acquirer, p);
        }
    }
    while (!take_place(out)) {
        if (out->calls) {
            out->call = pay_slots_again(out->calls, out->call, until_ms);
        }
        if (out->call < 0) {
            return refuse_crowded(out->acquirer, p);
        }
    }
    return NULL;
}

static const pay_problem_t *enter_breaker(pay_acquiring_t *out, apr_pool_t *p)
{
    pay_breaker_t *breaker = out->acquirer->breaker;
    apr_int64_t retry_after_ms;

    if (!breaker) {
        return NULL;
    }
    out->ticket = pay_breaker_enter(breaker, &retry_after_ms);
    if (out->ticket) {
        return NULL;
    }
    pay_acquiring_leave(out);
    return pay_breaker_is_faulty(breaker)
               ? refuse(out->acquirer, PAY_METER_REFUSED_CREDENTIALS,
                        "its key is missing or was refused", retry_after_ms, p)
               : refuse(out->acquirer, PAY_METER_REFUSED_BREAKER,
                        "it is left alone for a while after failures", retry_after_ms, p);
}

const pay_problem_t *pay_acquiring_enter(pay_acquiring_t *out, const pay_service_t *service,
                                         const pay_scope_t *scope, const pay_acquirer_t *acquirer,
                                         apr_pool_t *p)
{
    const apr_int64_t until_ms = pay_clock_ms() + apr_time_as_msec(service->policy.slot_wait);
    const pay_problem_t *problem;

    *out = (pay_acquiring_t){.acquirer = acquirer, .slot = -1, .call = -1};
    problem = take_both(out, service, scope, until_ms, p);
    return problem ? problem : enter_breaker(out, p);
}

const pay_problem_t *pay_acquiring_enter_own(pay_acquiring_t *out, const pay_acquirer_t *acquirer,
                                             apr_pool_t *p)
{
    *out = (pay_acquiring_t){.acquirer = acquirer, .slot = -1, .call = -1};
    return take_place(out) ? enter_breaker(out, p) : refuse_crowded(acquirer, p);
}

int pay_acquiring_enter_query(pay_acquiring_t *out, const pay_service_t *service,
                              const pay_scope_t *scope, const pay_acquirer_t *acquirer)
{
    apr_int64_t retry_after_ms;

    *out = (pay_acquiring_t){.acquirer = acquirer, .slot = -1, .call = -1, .calls = service->slots};
    if (out->calls) {
        out->call = pay_slots_take(out->calls, service->slots_base + scope->account);
    }
    if ((out->calls && out->call < 0) || !take_place(out)) {
        pay_acquiring_leave(out);
        return 0;
    }
    if (acquirer->breaker) {
        out->ticket = pay_breaker_enter(acquirer->breaker, &retry_after_ms);
        if (!out->ticket) {
            pay_acquiring_leave(out);
            return 0;
        }
        pay_breaker_skip(acquirer->breaker, out->ticket);
        out->ticket = 0;
    }
    return 1;
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
    if (acquiring->call >= 0) { /* the last: who is next wants both */
        pay_slots_give(acquiring->calls, acquiring->call);
        acquiring->call = -1;
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

/* When this call opened or closed it; of two at once each may say so. */
static void breaker_moved(const pay_acquirer_t *acquirer, pay_breaker_state_t was)
{
    const pay_breaker_state_t is = pay_breaker_state(acquirer->breaker);

    if (was == PAY_BREAKER_CLOSED && is == PAY_BREAKER_OPEN) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00454) "acquirer %s of account %s gave no answer %d times in a row: its "
                                "charges and refunds are answered 503, but for one that tries "
                                "now and then",
                acquirer->name, account_of(acquirer), PAY_BREAKER_FAILURES);
    } else if (was != PAY_BREAKER_CLOSED && is == PAY_BREAKER_CLOSED) {
        pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                PAYLOGNO(00455) "acquirer %s of account %s answers again", acquirer->name,
                account_of(acquirer));
    }
}

/* `ticket`: the breaker's, which is owed a word; 0: it was not entered. */
static void breaker_tell(const pay_acquirer_t *acquirer, const pay_acquirer_news_t *news,
                         int ticket)
{
    pay_breaker_t *breaker = acquirer->breaker;
    pay_breaker_state_t was;

    if (!breaker) {
        return;
    }
    if (news->trouble == PAYMENTS_NO_TROUBLE) {
        was = pay_breaker_state(breaker);
        if (news->present || news->absent) {
            pay_breaker_success(breaker, ticket);
        } else {
            pay_breaker_failure(breaker, ticket);
        }
        breaker_moved(acquirer, was);
        return;
    }
    if (news->trouble == PAYMENTS_CREDENTIALS) {
        if (!pay_breaker_is_faulty(breaker)) {
            pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                    PAYLOGNO(00450) "acquirer %s refuses the key of account %s: its charges and "
                                    "refunds are answered 503 until a question to it is answered, "
                                    "or the server is restarted with another key",
                    acquirer->name, account_of(acquirer));
        }
        pay_breaker_fault(breaker);
    } else {
        pay_breaker_hold(breaker, apr_time_as_msec(news->retry_after));
    }
    pay_breaker_skip(breaker, ticket); /* last: a probe's place is not free before it is shut */
}

/* What it has is not what it was asked for: a person must look, whatever it answers later. */
static void tell_different(const pay_acquirer_t *acquirer, const char *noun, const char *reference)
{
    pay_log(PAY_LOG_ALERT, APR_SUCCESS,
            PAYLOGNO(00453) "acquirer %s answered %s %s of account %s with something else than it "
                            "was asked for (amount, currency, mode or name): it is held until that "
                            "is clear",
            acquirer->name, noun, reference, account_of(acquirer));
}

static void learn(pay_acquiring_t *acquiring, const pay_acquirer_news_t *news, apr_time_t began,
                  const pay_outcome_t *outcome, apr_status_t answered)
{
    times_observe(acquiring->acquirer, &news->times, began);
    breaker_tell(acquiring->acquirer, news, acquiring->ticket);
    acquiring->ticket = 0;
    if (answered == PAYMENTS_NOT_SENT) {
        pay_meter_add(PAY_METER_ACQUIRER_NOT_SENT, 1);
    } else if (outcome && outcome->kind == PAY_OUTCOME_UNKNOWN
               && !pay_acquirer_is_pure(acquiring->acquirer)) {
        pay_meter_add(PAY_METER_ACQUIRER_UNKNOWN, 1);
    }
}

/* ---- calls */

/*
 * What the log says beside the sentence. A status that stands for nothing in particular says
 * nothing, and an answer without end is no full disk: connectors tell in lines of their own.
 */
static apr_status_t cause_of(apr_status_t answered)
{
    return answered == APR_EGENERAL || answered == APR_ENOSPC ? APR_SUCCESS : answered;
}

apr_status_t pay_acquiring_charge(pay_outcome_t *out, pay_acquiring_t *acquiring,
                                  const pay_charge_t *charge, apr_pool_t *p)
{
    const apr_time_t began = pay_meter_now();
    pay_acquirer_news_t news;
    apr_status_t rv;

    rv = pay_acquirer_charge(out, &news, acquiring->acquirer, charge, p);
    learn(acquiring, &news, began, out, rv);
    if (rv != APR_SUCCESS && rv != PAYMENTS_NOT_SENT) {
        pay_log(
            PAY_LOG_WARNING, cause_of(rv),
            PAYLOGNO(00203) "acquirer %s failed on charge %s of account %s: its outcome is unknown",
            acquiring->acquirer->name, charge->reference, account_of(acquiring->acquirer));
    }
    if (news.different) {
        tell_different(acquiring->acquirer, "charge", charge->reference);
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
        pay_log(
            PAY_LOG_WARNING, cause_of(rv),
            PAYLOGNO(00213) "acquirer %s failed on refund %s of account %s: its outcome is unknown",
            acquiring->acquirer->name, refund->refund_reference, account_of(acquiring->acquirer));
    }
    if (news.different) {
        tell_different(acquiring->acquirer, "refund", refund->refund_reference);
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
        pay_log(PAY_LOG_WARNING, cause_of(rv),
                PAYLOGNO(00451) "acquirer %s failed on the refund of charge %s, which it had "
                                "approved late",
                acquiring->acquirer->name, charge->reference);
    }
    return rv;
}

apr_status_t pay_acquiring_checkout(const char **page_url, pay_acquiring_t *acquiring,
                                    const pay_charge_t *charge, const char *return_url,
                                    apr_pool_t *p)
{
    const pay_outcome_t none = {.kind = PAY_OUTCOME_UNKNOWN};
    const apr_time_t began = pay_meter_now();
    pay_acquirer_news_t news;
    apr_status_t rv;

    rv = pay_acquirer_checkout(page_url, &news, acquiring->acquirer, charge, return_url, p);
    learn(acquiring, &news, began, news.present ? NULL : &none, rv);
    if (rv != APR_SUCCESS && rv != PAYMENTS_NOT_SENT) {
        /* Its own word on this one checkout is its shop's to read; else it may be out of order. */
        pay_log(news.present ? PAY_LOG_INFO : PAY_LOG_WARNING, cause_of(rv),
                PAYLOGNO(00570) "acquirer %s opened no page for checkout %s of account %s",
                acquiring->acquirer->name, charge->reference, account_of(acquiring->acquirer));
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
