/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_LINK_H
#define PAY_MODEL_LINK_H

/*
 * A payment link (docs/api.md, "Payment links"): a page of a shop's that payers open, and that
 * makes a checkout for each who pays. Pure.
 */

#include "model/checkout.h"

struct pay_problem_t;
struct pay_writer_t;

/* Strings are never NULL; "" where there is nothing. */
typedef struct pay_link_t {
    pay_scope_t scope;
    const char *reference; /* 1 to PAY_LINK_REFERENCE_MAX characters */
    const char *page_id;   /* its page is found by it */
    const char *title;
    const char *description;
    const char *redirect_url; /* of checkouts that name none themselves */
    pay_money_t money;        /* amount_minor 0: the payer says how much */
    int once;                 /* 1: it is paid by one payer, once */
    apr_time_t expires_at;    /* 0: never */
    apr_time_t disabled_at;   /* 0: it is not */
    apr_time_t created_at;
    apr_uint64_t paid;     /* its checkouts that became successful */
    apr_uint64_t last_seq; /* of the checkout made from it last; 0: none */
    /* Of one that is paid once: its checkouts that may yet turn out to be paid. `counted` 0: the
     * row is of a version that did not count them. */
    apr_uint64_t holding;
    int counted;
} pay_link_t;

typedef enum pay_link_state_t {
    PAY_LINK_ACTIVE,
    PAY_LINK_EXPIRED,
    PAY_LINK_DISABLED,
    PAY_LINK_USED, /* to be paid once, and paid */
    PAY_LINK_STATE_COUNT
} pay_link_state_t;

/* What it is at `now`, as far as itself tells. Paid goes before disabled, that before expired. */
pay_link_state_t pay_link_state(const pay_link_t *link, apr_time_t now);
const char *pay_link_state_name(pay_link_state_t state); /* "active", "expired", ... */

/* What somebody wants of a new link. */
typedef struct pay_link_form_t {
    const char *reference; /* here and below NULL or "": none was given */
    const char *title;
    const char *description;
    const char *redirect_url;
    const char *amount; /* major units */
    const char *currency;
    int once;
    apr_time_t expires_at; /* 0: never */
} pay_link_form_t;

/*
 * NULL and *out set, without scope and page, its reference "" when none was given; or a problem
 * that lists every field at fault ("/reference", "/title", "/description", "/redirect", "/amount",
 * "/currency", "/expires"). `currency`: of a link that names none.
 */
const struct pay_problem_t *pay_link_read(pay_link_t **out, const pay_link_form_t *form,
                                          const char *currency, apr_time_t now, apr_pool_t *p);

/* 1 when `text` may be the reference of a link. */
int pay_link_reference_is(const char *text);

/* {"reference","title","description","amount","currency","reusable","expiresAt","disabledAt",
 * "createdAt","paid","url","state"}; `url`: of its page. */
void pay_link_to_json(struct pay_writer_t *w, const char *name, const pay_link_t *link,
                      const char *url, apr_time_t now);

#endif
