/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_VIEW_H
#define PAY_HTTPD_PAGE_VIEW_H

/*
 * The pages that payers see: whole pages as HTML, without script. Addresses in them are relative to
 * /payment/page/, so that a proxy may serve that elsewhere. Pure.
 */

#include "base/text/html.h"
#include "model/checkout.h"
#include "service/checkout/checkouts.h"

struct pay_problem_t;

#define PAY_PAGE_STYLE "checkout.css" /* a name among the pages' ids */
#define PAY_PAGE_RELOADS_MAX 20       /* how often a waiting page reloads itself */

/* The forms of a page: the value of their hidden field `action`. */
typedef enum pay_page_action_t {
    PAY_ACTION_CARD,
    PAY_ACTION_CODE,
    PAY_ACTION_TRANSFER,
    PAY_ACTION_CANCEL,
    PAY_ACTION_COUNT
} pay_page_action_t;

extern const char *const pay_page_actions[PAY_ACTION_COUNT];

typedef struct pay_page_view_t {
    const pay_account_t *account;
    const pay_charge_t *charge; /* with its checkout */
    pay_checkout_stage_t stage;
    const char *authority;              /* of the request: "shop.example:8443" */
    const char *return_url;             /* http or https; "": absent */
    const char *return_host;            /* the payer is asked first; NULL: redirected without
                                         * asking */
    const struct pay_problem_t *faults; /* of the form sent with `action`; NULL: none */
    pay_page_action_t action;
    int reloads;   /* how often a waiting page has reloaded itself */
    int came_back; /* Live Mode: WAITING, because the acquirer may or may not have been paid */
} pay_page_view_t;

/* Returns the shop's name of itself, else the account's name. */
const char *pay_page_shop_name(const pay_account_t *account);

/* Returns the page of the view's stage. */
const pay_html_t *pay_page_html(const pay_page_view_t *view, apr_pool_t *p);

/* Returns the page of Live Mode while the acquirer has no page for this payment yet. */
const pay_html_t *pay_page_unready(const pay_page_view_t *view, apr_pool_t *p);

/* Returns a page without a payment: what is wrong, and what to do. */
const pay_html_t *pay_page_notice(const char *title, const char *advice, const char *request_id,
                                  apr_pool_t *p);

#endif
