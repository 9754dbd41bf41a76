/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CHECKOUT_REQUEST_H
#define PAY_MODEL_CHECKOUT_REQUEST_H

/* The requests that make a checkout (docs/api.md, "Checkouts"). Pure. */

#include "model/checkout.h"

struct pay_json_t;
struct pay_problem_t;

#define PAY_CHECKOUT_REFERENCE_MIN 16 /* characters of initiate's transactionReference */
#define PAY_CHECKOUT_REFERENCE_MAX 50

/* The operation of the request: bodies differ in the names of their members. */
typedef enum pay_checkout_form_t {
    PAY_CHECKOUT_FORM_INITIATE,
    PAY_CHECKOUT_FORM_LINK,
    PAY_CHECKOUT_FORM_ORDER
} pay_checkout_form_t;

/* A client's request, validated and normalised. Strings live in the request's pool, "" if not
 * given. */
typedef struct pay_checkout_request_t {
    pay_checkout_form_t form;
    const char *reference; /* of PAY_CHECKOUT_FORM_LINK "": the server generates one */
    const char *link;      /* of PAY_CHECKOUT_FORM_LINK: paymentLinkReference */
    pay_money_t money;
    int currency_defaulted;  /* not given: it is the account's, which may change */
    const char *amount_text; /* the literal as received */
    const char *email;       /* lower case */
    const char *first_name;
    const char *last_name;
    const char *phone;
    const char *redirect_url;
    const char *metadata; /* JSON, or the string as received */
    const char *logo_url;
    const char *title;
    const char *description;
    unsigned char digest[PAY_SHA256_LEN]; /* identifies "the same request" */
} pay_checkout_request_t;

/* Returns NULL and sets *out, or returns a problem that lists every field at fault. Judges form
 * only. `default_currency` replaces an absent one. */
const struct pay_problem_t *pay_checkout_request_from_json(pay_checkout_request_t **out,
                                                           const struct pay_json_t *body,
                                                           pay_checkout_form_t form,
                                                           const char *default_currency,
                                                           apr_pool_t *p);

/*
 * Makes the request as it would be if the default currency had been `currency` (upper case); fails
 * like pay_money_parse.
 */
apr_status_t pay_checkout_request_rebase(pay_checkout_request_t **out,
                                         const pay_checkout_request_t *request,
                                         const char *currency, apr_pool_t *p);

#endif
