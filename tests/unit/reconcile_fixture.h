/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECONCILE_FIXTURE_H
#define RECONCILE_FIXTURE_H

/* A shop in Live Mode whose acquirer is the scripted one. */

#include "service/reconcile/reconcile.h"
#include "shop_charge.h"
#include "watched.h"

#define SECOND apr_time_from_sec(1)
#define MINUTE apr_time_from_sec(60)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define NOW apr_time_from_sec(1800000000)

static shop_t *shop;
static pay_scope_t live;        /* the account's */
static pay_acquirer_t acquirer; /* the scripted one; a test may change it */

static inline void service_acquirers(pay_service_t *service, const pay_acquirer_t *first)
{
    apr_array_header_t *acquirers = apr_array_make(unit_pool, 1, sizeof(const pay_acquirer_t *));

    service->acquirer[PAY_LIVE] = first;
    if (first) {
        APR_ARRAY_PUSH(acquirers, const pay_acquirer_t *) = first;
    }
    service->acquirers = acquirers;
}

static inline void shop_mode(pay_mode_t mode)
{
    const pay_account_settings_t same = {0};

    ck_assert_int_eq(pay_store_account_set(&shop->account, shop->store, shop->account->name, &same,
                                           &mode, unit_pool),
                     APR_SUCCESS);
}

static inline void shop_set_up(const char *dir)
{
    shop_clock_set(NOW);
    shop = shop_open(dir);
    shop_mode(PAY_LIVE);
    shop->service.account_name = shop->account->name;
    shop->service.policy.late_after = HOUR;
    shop->service.policy.pending_alert = 100 * DAY;
    live = (pay_scope_t){shop->account->number, PAY_LIVE};
    acquirer = script_acquirer;
    service_acquirers(&shop->service, &acquirer);
    memset(&script, 0, sizeof(script));
    watch();
}

/* 'A' absent, 'P' pending, 'D' different, '+' approved, '-' declined, 'U' not understandable, 'T'
 * an approval that comes with an error. */
static inline void script_say(char what)
{
    script.status = what == 'T' ? APR_TIMEUP : APR_SUCCESS;
    script.verdict = PAYMENTS_UNKNOWN;
    script.doubted = what == 'X';
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_UNKNOWN};
    switch (what) {
    case 'A':
        script.verdict = PAYMENTS_ABSENT;
        return;
    case 'P':
        script.verdict = PAYMENTS_PENDING;
        return;
    case 'D':
        script.verdict = PAYMENTS_DIFFERENT;
        return;
    case '+':
    case 'T':
        script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                         .code = "00",
                                         .message = "Approved",
                                         .authorization_code = "A1B2C3"};
        return;
    case '-':
        script.outcome =
            (pay_outcome_t){.kind = PAY_OUTCOME_DECLINED, .code = "05", .message = "Do not honor"};
        return;
    default:
        ck_assert(what == 'U' || what == 'X');
    }
}

static inline int step_of(const pay_service_t *first, const pay_service_t *second)
{
    apr_array_header_t *services = apr_array_make(unit_pool, 2, sizeof(const pay_service_t *));
    int settled;

    if (first) {
        APR_ARRAY_PUSH(services, const pay_service_t *) = first;
    }
    if (second) {
        APR_ARRAY_PUSH(services, const pay_service_t *) = second;
    }
    ck_assert_int_eq(pay_reconcile_step(&settled, shop->store, services, unit_pool), APR_SUCCESS);
    return settled;
}

static inline int step(void)
{
    return step_of(&shop->service, NULL);
}

#endif
