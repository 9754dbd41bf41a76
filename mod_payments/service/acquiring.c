/* SPDX-License-Identifier: Apache-2.0 */
#include "service/acquiring.h"

#include "base/log.h"
#include "base/shared/clock.h"
#include "base/shared/meter.h"
#include "base/text/id.h"
#include "service/service.h"

#include <string.h>

#define MS_PER_SECOND 1000
#define TOKEN_PREFIX "tok_"
#define NO_ACCOUNT 0 /* slots of an instance belong to one account */

/* For the log: many accounts may call one acquirer. */
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

/* ---- enter and leave */

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
                  "the maximum number of calls to it is in progress (PaymentsAcquirerMaxInFlight)",
                  MS_PER_SECOND, p);
}

static const pay_problem_t *refuse_full(const pay_acquirer_t *acquirer, apr_pool_t *p)
{
    pay_log(PAY_LOG_INFO, APR_SUCCESS,
            PAYLOGNO(00620) "acquirer %s of account %s is not called: this server has no free slot "
                            "for the call, and none became free within PaymentsSlotWait, or too "
                            "many calls wait (MaxRequestWorkers)",
            acquirer->name, account_of(acquirer));
    pay_meter_add(PAY_METER_REFUSED_SLOTS, 1);
    return pay_problem_make(PAY_ERR_BUSY, NULL, APR_SUCCESS, p);
}

/* Returns the owner of the work among those that share slots. */
static apr_uint64_t as(apr_uint32_t account, const pay_acquiring_t *acquiring)
{
    return acquiring->visitor ? account | PAY_SLOTS_VISITOR : account;
}

/* Returns 0 if none is free. */
static int take_place(pay_acquiring_t *out)
{
    pay_slots_t *slots = out->acquirer->slots;

    if (slots) {
        out->slot = pay_slots_take(slots, as(NO_ACCOUNT, out));
    }
    return !slots || out->slot >= 0;
}

/*
 * Takes both places. A call that finds no place at the acquirer waits in the queue for this
 * server's slots, whose length is limited, and meanwhile holds no slot that others could use.
 */
static const pay_problem_t *take_both(pay_acquiring_t *out, const pay_service_t *service,
                                      const pay_scope_t *scope, apr_int64_t until_ms, apr_pool_t *p)
{
    const apr_uint64_t account = as(service->slots_base + scope->account, out);
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

static pay_breaker_t *visitor_breaker_of(const pay_acquiring_t *acquiring)
{
    return acquiring->visitor ? acquiring->acquirer->visitor_breaker : NULL;
}

/*
 * Returns NULL if both were entered, or do not apply; else the one that refuses. A visitor's
 * own comes first: while it refuses, the other one is left alone.
 */
static pay_breaker_t *enter_both(pay_acquiring_t *out, apr_int64_t *retry_after_ms)
{
    pay_breaker_t *own = visitor_breaker_of(out), *breaker = out->acquirer->breaker;

    if (own) {
        out->visitor_ticket = pay_breaker_enter(own, retry_after_ms);
        if (!out->visitor_ticket) {
            return own;
        }
    }
    if (breaker) {
        out->ticket = pay_breaker_enter(breaker, retry_after_ms);
        if (!out->ticket) {
            return breaker;
        }
    }
    return NULL;
}

static void skip_both(pay_acquiring_t *acquiring)
{
    if (acquiring->visitor_ticket) {
        pay_breaker_skip(acquiring->acquirer->visitor_breaker, acquiring->visitor_ticket);
        acquiring->visitor_ticket = 0;
    }
    if (acquiring->ticket) {
        pay_breaker_skip(acquiring->acquirer->breaker, acquiring->ticket);
        acquiring->ticket = 0;
    }
}

static const pay_problem_t *enter_breaker(pay_acquiring_t *out, apr_pool_t *p)
{
    apr_int64_t retry_after_ms;
    const pay_breaker_t *breaker = enter_both(out, &retry_after_ms);

    if (!breaker) {
        return NULL;
    }
    pay_acquiring_leave(out);
    return pay_breaker_is_faulty(breaker)
               ? refuse(out->acquirer, PAY_METER_REFUSED_CREDENTIALS,
                        "its key is missing or was refused", retry_after_ms, p)
               : refuse(out->acquirer, PAY_METER_REFUSED_BREAKER,
                        "it is left alone for a while after failures", retry_after_ms, p);
}

static const pay_problem_t *enter(pay_acquiring_t *out, const pay_service_t *service,
                                  const pay_scope_t *scope, apr_pool_t *p)
{
    const apr_int64_t until_ms = pay_clock_ms() + apr_time_as_msec(service->policy.slot_wait);
    const pay_problem_t *problem;

    problem = take_both(out, service, scope, until_ms, p);
    return problem ? problem : enter_breaker(out, p);
}

const pay_problem_t *pay_acquiring_enter(pay_acquiring_t *out, const pay_service_t *service,
                                         const pay_scope_t *scope, const pay_acquirer_t *acquirer,
                                         apr_pool_t *p)
{
    *out = (pay_acquiring_t){.acquirer = acquirer, .slot = -1, .call = -1};
    return enter(out, service, scope, p);
}

const pay_problem_t *pay_acquiring_enter_visitor(pay_acquiring_t *out, const pay_service_t *service,
                                                 const pay_scope_t *scope,
                                                 const pay_acquirer_t *acquirer, apr_pool_t *p)
{
    *out = (pay_acquiring_t){.acquirer = acquirer, .slot = -1, .call = -1, .visitor = 1};
    return enter(out, service, scope, p);
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

    *out = (pay_acquiring_t){
        .acquirer = acquirer, .slot = -1, .call = -1, .calls = service->slots, .visitor = 1};
    if (out->calls) {
        out->call = pay_slots_take(out->calls, as(service->slots_base + scope->account, out));
    }
    if ((out->calls && out->call < 0) || !take_place(out) || enter_both(out, &retry_after_ms)) {
        pay_acquiring_leave(out);
        return 0;
    }
    skip_both(out);
    return 1;
}

void pay_acquiring_leave(pay_acquiring_t *acquiring)
{
    skip_both(acquiring);
    if (acquiring->slot >= 0) {
        pay_slots_give(acquiring->acquirer->slots, acquiring->slot);
        acquiring->slot = -1;
    }
    if (acquiring->call >= 0) { /* last: the next call wants both */
        pay_slots_give(acquiring->calls, acquiring->call);
        acquiring->call = -1;
    }
}

/* ---- the results of a call */

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

/* Logs that this call opened or closed it; two at the same time may both log it. */
static void breaker_moved(const pay_acquirer_t *acquirer, const pay_breaker_t *breaker,
                          pay_breaker_state_t was)
{
    const pay_breaker_state_t is = pay_breaker_state(breaker);
    const int visitors = breaker == acquirer->visitor_breaker;

    if (was == PAY_BREAKER_CLOSED && is == PAY_BREAKER_OPEN) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                visitors ? PAYLOGNO(00740) "acquirer %s of account %s gave no answer %d times in a "
                                           "row to checkouts of public keys and payment pages: "
                                           "these are answered 503, except for an occasional trial "
                                           "call; calls with its secret key go on"
                         : PAYLOGNO(00454) "acquirer %s of account %s gave no answer %d times in a "
                                           "row: its charges and refunds are answered 503, except "
                                           "for an occasional trial call",
                acquirer->name, account_of(acquirer), PAY_BREAKER_FAILURES);
    } else if (was != PAY_BREAKER_CLOSED && is == PAY_BREAKER_CLOSED) {
        pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
                visitors ? PAYLOGNO(00741) "acquirer %s of account %s answers checkouts of public "
                                           "keys and payment pages again"
                         : PAYLOGNO(00455) "acquirer %s of account %s answers again",
                acquirer->name, account_of(acquirer));
    }
}

static void tell_refused_key(const pay_acquirer_t *acquirer, const pay_breaker_t *breaker)
{
    if (breaker == acquirer->visitor_breaker) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00742) "acquirer %s refuses the key of account %s for a checkout of a "
                                "public key or payment page: these are answered 503, except for "
                                "one trial call a minute, until a call or a query succeeds; calls "
                                "with its secret key go on",
                acquirer->name, account_of(acquirer));
        return;
    }
    pay_log(PAY_LOG_ALERT, APR_SUCCESS,
            PAYLOGNO(00450) "acquirer %s refuses the key of account %s: its charges and refunds "
                            "are answered 503, except for one trial call a minute, until a call or "
                            "a query succeeds, or the server is restarted with another key",
            acquirer->name, account_of(acquirer));
}

/* `ticket`: of the breaker, which needs a result; 0: it was not entered. */
static void breaker_tell(const pay_acquirer_t *acquirer, pay_breaker_t *breaker,
                         const pay_acquirer_news_t *news, int ticket)
{
    pay_breaker_state_t was;

    if (!breaker) {
        return;
    }
    if (news->trouble == PAYMENTS_NO_TROUBLE) {
        was = pay_breaker_state(breaker);
        if (news->present || news->absent || news->doubted) {
            pay_breaker_success(breaker, ticket);
        } else {
            pay_breaker_failure(breaker, ticket);
        }
        breaker_moved(acquirer, breaker, was);
        return;
    }
    if (news->trouble == PAYMENTS_CREDENTIALS) {
        if (!pay_breaker_is_faulty(breaker)) {
            tell_refused_key(acquirer, breaker);
        }
        pay_breaker_fault(breaker);
    } else {
        pay_breaker_hold(breaker, apr_time_as_msec(news->retry_after));
    }
    pay_breaker_skip(breaker, ticket); /* last: a probe's place is not free before it is shut */
}

static int is_answered(const pay_acquirer_news_t *news)
{
    return news->trouble == PAYMENTS_NO_TROUBLE && (news->present || news->absent);
}

/*
 * A visitor's call counts at the visitors' breaker. The other one ignores its failures, which an
 * anonymous visitor may have caused; but if all calls wait for one probe, the visitor's call may be
 * that probe.
 */
static void breakers_tell(pay_acquiring_t *acquiring, const pay_acquirer_news_t *news)
{
    const pay_acquirer_t *acquirer = acquiring->acquirer;
    pay_breaker_t *own = visitor_breaker_of(acquiring);

    if (!own) {
        breaker_tell(acquirer, acquirer->breaker, news, acquiring->ticket);
    } else {
        breaker_tell(acquirer, own, news, acquiring->visitor_ticket);
        if (acquiring->ticket && is_answered(news)
            && pay_breaker_state(acquirer->breaker) == PAY_BREAKER_PROBING) {
            breaker_tell(acquirer, acquirer->breaker, news, acquiring->ticket);
            acquiring->ticket = 0;
        }
        acquiring->visitor_ticket = 0;
        skip_both(acquiring);
    }
    acquiring->ticket = 0;
}

/*
 * It has something else than the payment in question: a person must look, whatever it answers
 * later.
 */
static void tell_different(const pay_acquirer_t *acquirer, const char *noun, const char *reference)
{
    pay_log(PAY_LOG_ALERT, APR_SUCCESS,
            PAYLOGNO(00453) "acquirer %s answered %s %s of account %s with something other than "
                            "was requested (amount, currency, mode or name): it is held until this "
                            "is cleared up",
            acquirer->name, noun, reference, account_of(acquirer));
}

static void learn(pay_acquiring_t *acquiring, const pay_acquirer_news_t *news, apr_time_t began,
                  const pay_outcome_t *outcome, apr_status_t answered)
{
    times_observe(acquiring->acquirer, &news->times, began);
    breakers_tell(acquiring, news);
    if (answered == PAYMENTS_NOT_SENT) {
        pay_meter_add(PAY_METER_ACQUIRER_NOT_SENT, 1);
    } else if (outcome && outcome->kind == PAY_OUTCOME_UNKNOWN
               && !pay_acquirer_is_pure(acquiring->acquirer)) {
        pay_meter_add(PAY_METER_ACQUIRER_UNKNOWN, 1);
    }
}

/* ---- calls */

/*
 * Returns the status to log with the sentence. A status without a particular meaning is not logged,
 * and an answer without end is not a full disk: connectors log details in lines of their own.
 */
static apr_status_t cause_of(apr_status_t answered)
{
    return answered == APR_EGENERAL || answered == APR_ENOSPC || answered == APR_EEXIST
               ? APR_SUCCESS
               : answered;
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
        /* A report on this one checkout is for its shop to read; otherwise the acquirer may be out
         * of order. */
        pay_log(news.present ? PAY_LOG_INFO : PAY_LOG_WARNING, cause_of(rv),
                PAYLOGNO(00570) "acquirer %s opened no page for checkout %s of account %s",
                acquiring->acquirer->name, charge->reference, account_of(acquiring->acquirer));
    }
    return rv;
}

void pay_acquiring_is_known(const pay_acquirer_t *acquirer)
{
    if (acquirer->breaker) {
        pay_breaker_success(acquirer->breaker, 0);
    }
    if (acquirer->visitor_breaker) {
        pay_breaker_success(acquirer->visitor_breaker, 0);
    }
}

/* `breaker`: the one that the query belongs to. */
static void asked(const pay_acquirer_t *acquirer, pay_breaker_t *breaker,
                  const pay_acquirer_news_t *news, apr_time_t began)
{
    times_observe(acquirer, &news->times, began);
    breaker_tell(acquirer, breaker, news, 0);
    if (is_answered(news)) {
        pay_acquiring_is_known(acquirer);
    }
    if (!pay_acquirer_is_pure(acquirer)) {
        pay_meter_add(PAY_METER_ACQUIRER_QUERIES, 1);
    }
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
    asked(acquirer, acquirer->breaker, news, began);
    return rv;
}

apr_status_t pay_acquiring_visitor_query(pay_outcome_t *out, const pay_acquiring_t *acquiring,
                                         const pay_charge_t *charge, apr_pool_t *p)
{
    const pay_acquirer_t *acquirer = acquiring->acquirer;
    pay_breaker_t *own = visitor_breaker_of(acquiring);
    const apr_time_t began = pay_meter_now();
    pay_acquirer_news_t news;
    apr_status_t rv;

    rv = pay_acquirer_charge_query(out, &news, acquirer, charge, p);
    asked(acquirer, own ? own : acquirer->breaker, &news, began);
    return rv;
}

const pay_problem_t *pay_checkout_token_draw(pay_outcome_t *outcome, const pay_charge_t *charge,
                                             apr_pool_t *p)
{
    apr_status_t rv;

    if (charge->kind != PAY_CHARGE_CHECKOUT || charge->scope.mode != PAY_TEST
        || charge->channel != PAY_CHANNEL_CARD || outcome->kind != PAY_OUTCOME_APPROVED) {
        return NULL;
    }
    rv = pay_id_make(&outcome->token, TOKEN_PREFIX, PAY_KEY_BITS, p);
    return rv == APR_SUCCESS ? NULL : pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
}
