/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_LINK_H
#define PAY_MODEL_LINK_H

/*
 * A payment link (docs/api.md, "Payment links"): a page of a shop that payers open, and that makes
 * a checkout for each payer. Pure.
 */

#include "model/checkout.h"

struct pay_problem_t;
struct pay_writer_t;

/* Strings are never NULL; "" if there is no value. */
typedef struct pay_link_t {
    pay_scope_t scope;
    const char *reference; /* 1 to PAY_LINK_REFERENCE_MAX characters */
    const char *page_id;   /* finds its page */
    const char *title;
    const char *description;
    const char *redirect_url; /* of checkouts that name none themselves */
    pay_money_t money;        /* amount_minor 0: the payer chooses the amount */
    int once;                 /* 1: only one payer can pay it, once */
    apr_time_t expires_at;    /* 0: never */
    apr_time_t disabled_at;   /* 0: not disabled */
    apr_time_t created_at;
    apr_uint64_t paid;     /* its checkouts that became successful */
    apr_uint64_t last_seq; /* of the last checkout made from it; 0: none */
    /* Of one that can be paid once: its checkouts that may yet turn out to be paid. `counted` 0:
     * the row was written by a version that did not count them. */
    apr_uint64_t holding;
    int counted;
} pay_link_t;

typedef enum pay_link_state_t {
    PAY_LINK_ACTIVE,
    PAY_LINK_EXPIRED,
    PAY_LINK_DISABLED,
    PAY_LINK_USED, /* can be paid once, and is paid */
    PAY_LINK_STATE_COUNT
} pay_link_state_t;

/* State at `now`, from the link alone. Precedence: paid, disabled, expired. */
pay_link_state_t pay_link_state(const pay_link_t *link, apr_time_t now);
const char *pay_link_state_name(pay_link_state_t state); /* "active", "expired", ... */

/* The input for a new link. */
typedef struct pay_link_form_t {
    const char *reference; /* here and below NULL or "": not given */
    const char *title;
    const char *description;
    const char *redirect_url;
    const char *amount; /* major units */
    const char *currency;
    int once;
    apr_time_t expires_at; /* 0: never */
} pay_link_form_t;

/*
 * Returns NULL and sets *out, without scope and page, its reference "" if not given; or returns a
 * problem that lists every field at fault ("/reference", "/title", "/description", "/redirect",
 * "/amount", "/currency", "/expires"). `currency` applies to a link that names none.
 */
const struct pay_problem_t *pay_link_read(pay_link_t **out, const pay_link_form_t *form,
                                          const char *currency, apr_time_t now, apr_pool_t *p);

/* Returns 1 if `text` may be the reference of a link. */
int pay_link_reference_is(const char *text);

/* Writes
 * {"reference","title","description","amount","currency","reusable","expiresAt","disabledAt",
 * "createdAt","paid","url","state"}; `url` is that of its page. */
void pay_link_to_json(struct pay_writer_t *w, const char *name, const pay_link_t *link,
                      const char *url, apr_time_t now);

#endif
