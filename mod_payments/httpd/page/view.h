/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_VIEW_H
#define PAY_HTTPD_PAGE_VIEW_H

/*
 * What payers see: whole pages as HTML, without script. Addresses in them are relative to
 * /payment/page/, so that a proxy may put that elsewhere. Pure.
 */

#include "base/text/html.h"
#include "model/checkout.h"
#include "service/checkout/checkouts.h"

struct pay_problem_t;

#define PAY_PAGE_STYLE "checkout.css" /* a name beside the pages' ids */
#define PAY_PAGE_TURNS_MAX 20         /* how often a page that waits loads itself again */

/* The forms of a page: what their hidden field `action` says. */
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
    const char *return_url;             /* http or https; "": none */
    const char *return_host;            /* the payer is asked first; NULL: they go by themselves */
    const struct pay_problem_t *faults; /* of what was sent with `action`; NULL: none */
    pay_page_action_t action;
    int turn;      /* how often a page that waits has loaded itself */
    int came_back; /* Live Mode: WAITING, as the acquirer may have been paid or not */
} pay_page_view_t;

/* What is said of itself by the shop; else the account's name. */
const char *pay_page_shop_name(const pay_account_t *account);

/* The page of the view's stage. */
const pay_html_t *pay_page_html(const pay_page_view_t *view, apr_pool_t *p);

/* Live Mode: the acquirer has no page for this payment yet. */
const pay_html_t *pay_page_unready(const pay_page_view_t *view, apr_pool_t *p);

/* A page without a payment: what is the matter, and what to do. */
const pay_html_t *pay_page_notice(const char *title, const char *advice, const char *request_id,
                                  apr_pool_t *p);

#endif
