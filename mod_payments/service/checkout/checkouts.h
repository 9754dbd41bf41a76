/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHECKOUT_CHECKOUTS_H
#define PAY_SERVICE_CHECKOUT_CHECKOUTS_H

/*
 * A payer's actions on a hosted page (docs/api.md, "Checkouts"). Whatever the payer does, twice, in
 * two windows, after going back: a charge is paid once, by compare and set in the store. *out is
 * the charge in its present state, with its checkout; pay_checkout_stage says what to show.
 */

#include "model/card_entry.h"
#include "model/checkout.h"
#include "model/link.h"
#include "service/service.h"

/* The charge or link of a page's id: one of them is set. */
typedef struct pay_page_t {
    const pay_account_t *account;
    const pay_charge_t *charge; /* with its checkout */
    const pay_link_t *link;     /* service/checkout/link_page.h */
    const char *address;        /* of the viewer, set by the caller; NULL: not known */
} pay_page_t;

/* 404 N2 if there is no such page, or if it belongs to an account other than the virtual host's. */
const pay_problem_t *pay_page_get(pay_page_t *out, pay_service_t *service, const char *page_id,
                                  apr_pool_t *p);

/*
 * Judges whether its payer may go on to pay: NULL, or 429 L2 after too many failures. The functions
 * that pay judge this by themselves.
 */
const pay_problem_t *pay_checkout_judge_payer(pay_service_t *service, const pay_page_t *page,
                                              const pay_card_t *card, apr_pool_t *p);

/*
 * Test Mode: pays by card. 400 with the fields at fault (/number, /expiry, /csc): nothing was
 * stored. NULL: *out may ask for a code, be decided, wait for the acquirer, or be as another window
 * left it.
 */
const pay_problem_t *pay_checkout_pay_card(const pay_charge_t **out, pay_service_t *service,
                                           const pay_page_t *page, const pay_card_entry_t *entry,
                                           apr_pool_t *p);

/* Test Mode: enters the one-time code. An empty one is 400 on /code; a wrong one declines. */
const pay_problem_t *pay_checkout_pay_code(const pay_charge_t **out, pay_service_t *service,
                                           const pay_page_t *page, const char *code, apr_pool_t *p);

/*
 * Test Mode: pays by bank transfer from the test bank account; else 400 on /bankCode,
 * /accountNumber.
 */
const pay_problem_t *pay_checkout_pay_transfer(const pay_charge_t **out, pay_service_t *service,
                                               const pay_page_t *page, const char *bank_code,
                                               const char *account_number, apr_pool_t *p);

/* The payer gives up: abandoned at once, unless it was paid or sent before. */
const pay_problem_t *pay_checkout_cancel(const pay_charge_t **out, pay_service_t *service,
                                         const pay_page_t *page, apr_pool_t *p);

/* Live Mode, when the payer returns: queries the acquirer once, if there is a place for a call and
 * the acquirer is in order, and stores its answer. */
const pay_problem_t *pay_checkout_return(const pay_charge_t **out, pay_service_t *service,
                                         const pay_page_t *page, apr_pool_t *p);

#endif
