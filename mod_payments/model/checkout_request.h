/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CHECKOUT_REQUEST_H
#define PAY_MODEL_CHECKOUT_REQUEST_H

/* The requests that make a checkout (docs/api.md, "Checkouts"). Pure. */

#include "model/checkout.h"

struct pay_json_t;
struct pay_problem_t;

#define PAY_CHECKOUT_REFERENCE_MIN 16 /* characters of initiate's transactionReference */
#define PAY_CHECKOUT_REFERENCE_MAX 50

/* Which operation asks: their bodies name things differently. */
typedef enum pay_checkout_form_t {
    PAY_CHECKOUT_FORM_INITIATE,
    PAY_CHECKOUT_FORM_LINK,
    PAY_CHECKOUT_FORM_ORDER
} pay_checkout_form_t;

/* What was asked for, validated and normalised. Strings live in the request's pool, "" when not
 * given. */
typedef struct pay_checkout_request_t {
    pay_checkout_form_t form;
    const char *reference; /* of PAY_CHECKOUT_FORM_LINK "": one is made up */
    const char *link;      /* of PAY_CHECKOUT_FORM_LINK: paymentLinkReference */
    pay_money_t money;
    int currency_defaulted;  /* none was given: the account's, which may change */
    const char *amount_text; /* the literal that was given */
    const char *email;       /* lower case */
    const char *first_name;
    const char *last_name;
    const char *phone;
    const char *redirect_url;
    const char *metadata; /* JSON, or the string that was given */
    const char *logo_url;
    const char *title;
    const char *description;
    unsigned char digest[PAY_SHA256_LEN]; /* "the same request" */
} pay_checkout_request_t;

/* NULL and *out set, or a problem that lists every field at fault. Judges form only.
 * `default_currency` fills in for an absent one. */
const struct pay_problem_t *pay_checkout_request_from_json(pay_checkout_request_t **out,
                                                           const struct pay_json_t *body,
                                                           pay_checkout_form_t form,
                                                           const char *default_currency,
                                                           apr_pool_t *p);

/* The request had the default currency been `currency` (upper case); fails as pay_money_parse. */
apr_status_t pay_checkout_request_rebase(pay_checkout_request_t **out,
                                         const pay_checkout_request_t *request,
                                         const char *currency, apr_pool_t *p);

#endif
